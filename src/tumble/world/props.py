"""Props: what a scene holds beside its character. Balls and crates move, boxes, ramps and stairs stay, companions are
characters too.

    Scene(humanoid(), [Ball(mass=250, radius=0.5), Box("step", (1, 0, 0.05), (0.2, 1, 0.05))])
    Scene(biped(), [Crate("crate", (2, 0, 0.2), mass=15)])
    Scene(biped(), [Companion("ana", biped(legs=1.2).recipe, place=(1.0, 0.5))])
    Scene(planar(), [Stone("stone-0", (0.5, 0.0, 0.0))])

A prop brings its own sensors: NAME.pos and NAME.vel of a ball, NAME.ground where it touches the
ground, NAME.contact with the place where it is nearest to the character. A box is a body of its
own, not part of the ground: a hand on a wall is not a hand on the ground. One that is to be stood on is made
with ground=True. Parts, joints and sensors of a companion are called NAME/PART, as 'ana/torso'.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeAlias

import mujoco
import numpy as np

from tumble.characters import Character, from_recipe
from tumble.characters.looks import SHIRT
from tumble.errors import UserError, check_number, choose

NET = 3  # of a contact sensor: the sum of all forces, in the world's axes
PAINT, VISIBLE = 0.01, 0.003  # m, half as thick as a stone is, and above the ground
PARKED = (0.0, -100.0)  # where balls wait to be thrown or placed, m
SPRING = 2000.0  # 1/s^2, of surfaces that bounce; ours: a rebound takes 0.07 s, two frames
GRIP = 1.0  # friction of a surface that bounces, and says none
GREY = (0.62, 0.66, 0.72, 1.0)


def _surface(geom: Any, name: str, friction: float | None, bounce: float) -> None:
    """Give a geom its own friction and bounce, which then count whatever touches it; None and 0 leave it the ground's.

    Bounce is a coefficient of restitution e, of a spring with a damper of the ratio -ln e / sqrt(pi^2 + ln^2 e). That
    holds where steps are short, to 0.1 at 1/510 s; a planner's of 1/30 s are longer than a rebound's half, and what
    is lively there bounces less: e of 0.8 comes out as 0.5.
    """
    check_number(f"bounce of '{name}'", bounce, 0.0, 0.95)
    if friction is not None:
        check_number(f"friction of '{name}'", friction, 0.0, 10.0)
    if friction is not None or bounce:
        geom.priority = 1
        geom.friction = [GRIP if friction is None else friction, 0.005, 0.0001]
    if bounce:
        ratio = -math.log(bounce) / math.hypot(math.pi, math.log(bounce))
        geom.solref = [-SPRING, -2.0 * ratio * math.sqrt(SPRING)]


@dataclass(frozen=True)
class Ball:
    """A ball that waits far away until it is thrown or placed. Radius in m, mass in kg.

    Attributes:
      place: of its middle where it lies from the first, m.
      friction, bounce: see `Box`.
    """

    name: str = "ball"
    radius: float = 0.15
    mass: float = 5.0
    place: tuple[float, float, float] | None = None
    friction: float | None = None
    bounce: float = 0.0

    def add(self, spec: mujoco.MjSpec, root: str) -> None:
        """Put it into a spec, with sensors for it and for its contact with the character of that root."""
        check_number("radius of a ball", self.radius, 0.01, 10.0)
        check_number("mass of a ball", self.mass, 0.001, 1e5)
        for value in self.place or ():
            check_number(f"place of ball '{self.name}'", value, -1e3, 1e3)
        body = spec.worldbody.add_body(name=self.name, pos=list(self.place or (*PARKED, self.radius)))
        body.add_freejoint(name=self.name)
        geom = body.add_geom(
            name=self.name,
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[self.radius, 0, 0],
            mass=self.mass,
            rgba=[0.9, 0.65, 0.15, 1],
            contype=1,
            conaffinity=1,
        )
        _surface(geom, self.name, self.friction, self.bounce)
        kinds, fields = mujoco.mjtSensor, mujoco.mjtConDataField
        here: dict[str, Any] = {"objtype": mujoco.mjtObj.mjOBJ_BODY, "objname": self.name}
        found, place, nearest = 1 << fields.mjCONDATA_FOUND.value, 1 << fields.mjCONDATA_POS.value, 1
        spec.add_sensor(name=f"{self.name}.pos", type=kinds.mjSENS_FRAMEPOS, **here)
        spec.add_sensor(name=f"{self.name}.vel", type=kinds.mjSENS_FRAMELINVEL, **here)
        spec.add_sensor(
            name=f"{self.name}.ground",
            type=kinds.mjSENS_CONTACT,
            reftype=mujoco.mjtObj.mjOBJ_BODY,
            refname="world",
            intprm=[found, 0, 1],
            **here,
        )
        spec.add_sensor(
            name=f"{self.name}.contact",
            type=kinds.mjSENS_CONTACT,
            reftype=mujoco.mjtObj.mjOBJ_XBODY,  # the root's whole subtree
            refname=root,
            intprm=[found | place, nearest, 1],
            **here,
        )


@dataclass(frozen=True)
class Box:
    """A block that never moves: a wall, a step, an obstacle. Middle and half sizes in m, turn about z in rad.

    With `ground` it is part of the ground: feet on it stand, and whatever else touches it has touched the ground. One
    that is `felt`, and is no ground, has a sensor NAME.force of what the character presses against it with, N.

    Attributes:
      friction: against everything; None: as the ground has it.
      bounce: share of a speed that comes back, 0 to 0.95; see `_surface`.
    """

    name: str
    middle: tuple[float, float, float]
    half: tuple[float, float, float]
    turn: float = 0.0
    ground: bool = False
    felt: bool = False
    friction: float | None = None
    bounce: float = 0.0

    def add(self, spec: mujoco.MjSpec, root: str) -> None:
        """Put it into a spec."""
        for value in (*self.middle, self.turn):
            check_number(f"place of box '{self.name}'", value, -1e3, 1e3)
        for value in self.half:
            check_number(f"half size of box '{self.name}'", value, 0.001, 100.0)
        at: dict[str, Any] = {"pos": self.middle, "quat": _turned(self.turn)}
        body = spec.worldbody if self.ground else spec.worldbody.add_body(name=self.name, **at)
        geom = body.add_geom(
            name=self.name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            **(at if self.ground else {}),
            size=self.half,
            rgba=GREY,
            contype=1,
            conaffinity=1,
        )
        _surface(geom, self.name, self.friction, self.bounce)
        if self.felt and not self.ground:
            spec.add_sensor(
                name=f"{self.name}.force",
                type=mujoco.mjtSensor.mjSENS_CONTACT,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                objname=self.name,
                reftype=mujoco.mjtObj.mjOBJ_XBODY,  # the root's whole subtree
                refname=root,
                intprm=[1 << mujoco.mjtConDataField.mjCONDATA_FORCE.value, NET, 1],
            )


@dataclass(frozen=True)
class Ramp:
    """A wedge that never moves and is ground: it rises along its own x axis over its whole length. As a box else.

    Walkers do not see it: they plan their steps over flat ground, boxes and stairs.
    """

    name: str
    middle: tuple[float, float, float]
    half: tuple[float, float, float]
    turn: float = 0.0
    friction: float | None = None
    bounce: float = 0.0

    def add(self, spec: mujoco.MjSpec, root: str) -> None:
        """Put it into a spec."""
        for value in (*self.middle, self.turn):
            check_number(f"place of ramp '{self.name}'", value, -1e3, 1e3)
        for value in self.half:
            check_number(f"half size of ramp '{self.name}'", value, 0.01, 100.0)
        a, b, c = self.half
        corners = [(x, y, z) for x, z in ((-a, -c), (a, -c), (a, c)) for y in (-b, b)]
        spec.add_mesh(name=self.name, uservert=np.array(corners, float).ravel().tolist())
        geom = spec.worldbody.add_geom(
            name=self.name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=self.name, pos=self.middle,
            quat=_turned(self.turn), rgba=GREY, contype=1, conaffinity=1,
        )  # fmt: skip
        _surface(geom, self.name, self.friction, self.bounce)


@dataclass(frozen=True)
class Staircase:
    """Steps of equal height and depth that rise along its own x axis, and are ground. Sizes are of the whole.

    Attributes:
      steps: how many; the last is as high as the whole.
    """

    name: str
    middle: tuple[float, float, float]
    half: tuple[float, float, float]
    turn: float = 0.0
    steps: int = 4
    friction: float | None = None
    bounce: float = 0.0

    @property
    def boxes(self) -> list[Box]:
        """What they are made of: a box for every step, each down to the bottom."""
        (x, y, z), (a, b, c) = self.middle, self.half
        made = []
        for i in range(self.steps):
            along, high = a * (2 * i + 1 - self.steps) / self.steps, c * (i + 1) / self.steps
            at = (x + along * math.cos(self.turn), y + along * math.sin(self.turn), z - c + high)
            name = f"{self.name}.{i}" if i else self.name
            half = (a / self.steps, b, high)
            made.append(Box(name, at, half, self.turn, True, friction=self.friction, bounce=self.bounce))
        return made

    def add(self, spec: mujoco.MjSpec, root: str) -> None:
        """Put them into a spec."""
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or not 1 <= self.steps <= 50:
            raise UserError(f"stairs '{self.name}' have 1 to 50 steps, got {self.steps}")
        for value in self.half:
            check_number(f"half size of stairs '{self.name}'", value, 0.02, 100.0)
        for box in self.boxes:
            box.add(spec, root)


@dataclass(frozen=True)
class Crate:
    """A box that moves, with handles that hands take (`tumble.world.grips`). Sizes in m, mass in kg, turn in rad.

    Attributes:
      middle, half, turn: where it begins, half its sizes.
      friction: against everything.
      handles: places in its own frame. Of two the first is the left hand's, for one who faces along its x axis.
      bounce: see `Box`.
    """

    name: str
    middle: tuple[float, float, float] = (0.0, 0.0, 0.2)
    half: tuple[float, float, float] = (0.2, 0.2, 0.2)
    mass: float = 10.0
    friction: float = 0.8
    turn: float = 0.0
    handles: tuple[tuple[float, float, float], ...] = ((0.0, 0.2, 0.1), (0.0, -0.2, 0.1))
    bounce: float = 0.0

    def add(self, spec: mujoco.MjSpec, root: str) -> None:
        """Put it into a spec, with sensors of its place, speed and turn and for its contact with the ground."""
        for value in (*self.middle, self.turn):
            check_number(f"place of crate '{self.name}'", value, -1e3, 1e3)
        for value in self.half:
            check_number(f"half size of crate '{self.name}'", value, 0.01, 10.0)
        check_number(f"mass of crate '{self.name}'", self.mass, 0.01, 1e4)
        if not 1 <= len(self.handles) <= 2:
            raise UserError(f"crate '{self.name}' must have one or two handles, got {len(self.handles)}")
        body = spec.worldbody.add_body(name=self.name, pos=self.middle, quat=_turned(self.turn))
        body.add_freejoint(name=self.name)
        geom = body.add_geom(
            name=self.name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=self.half,
            mass=self.mass,
            rgba=[0.72, 0.53, 0.32, 1],
            contype=1,
            conaffinity=1,
        )
        _surface(geom, self.name, self.friction, self.bounce)
        for i, place in enumerate(self.handles):
            body.add_site(name=handle_name(self.name, i), pos=place, size=[0.02, 0, 0], rgba=[0.25, 0.25, 0.28, 1])
        kinds = mujoco.mjtSensor
        here: dict[str, Any] = {"objtype": mujoco.mjtObj.mjOBJ_XBODY, "objname": self.name}
        spec.add_sensor(name=f"{self.name}.pos", type=kinds.mjSENS_FRAMEPOS, **here)
        spec.add_sensor(name=f"{self.name}.vel", type=kinds.mjSENS_FRAMELINVEL, **here)
        spec.add_sensor(name=f"{self.name}.up", type=kinds.mjSENS_FRAMEZAXIS, **here)
        spec.add_sensor(
            name=f"{self.name}.ground",
            type=kinds.mjSENS_CONTACT,
            reftype=mujoco.mjtObj.mjOBJ_BODY,
            refname="world",
            intprm=[1 << mujoco.mjtConDataField.mjCONDATA_FOUND.value, 0, 1],
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            objname=self.name,
        )


@dataclass(frozen=True)
class Stone:
    """A place for one footfall. Middle of its top in m, heading in rad from the x axis.

    Who steps from stone to stone takes them in the order in which the scene has them. It is painted on the ground, and
    nothing touches it; one with a depth is a block of that height, and part of the ground.

    Attributes:
      tilt: rad about its own axes, nose down and right side down.
      depth: m.
    """

    name: str
    place: tuple[float, float, float]
    heading: float = 0.0
    half: tuple[float, float] = (0.1, 0.05)  # m, along and across: a foot of 20 cm
    tilt: tuple[float, float] = (0.0, 0.0)
    depth: float = 0.0

    def add(self, spec: mujoco.MjSpec, root: str) -> None:
        """Put it into a spec."""
        for value in (*self.place, self.heading):
            check_number(f"place of stone '{self.name}'", value, -1e3, 1e3)
        for value in self.half:
            check_number(f"half size of stone '{self.name}'", value, 0.01, 10.0)
        for value in self.tilt:
            check_number(f"tilt of stone '{self.name}'", value, -0.5, 0.5)
        check_number(f"depth of stone '{self.name}'", self.depth, 0.0, 10.0)
        solid, turn = int(self.depth > 0), self.rotation
        half = 0.5 * self.depth if solid else PAINT
        under = half if solid else PAINT - VISIBLE
        spec.worldbody.add_geom(
            name=self.name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=(np.array(self.place) - under * turn[:, 2]).tolist(),
            quat=_turned(self.heading) if not any(self.tilt) else _quaternion(turn).tolist(),
            size=[*self.half, half],
            rgba=[0.85, 0.62, 0.25, 1],
            contype=solid,
            conaffinity=solid,
        )

    @property
    def rotation(self) -> np.ndarray:
        """(3, 3) whose columns are its axes ahead, left and up: R_z(heading) R_y(nose down) R_x(right side down)."""
        (c, s), (d, t), (e, u) = ((np.cos(a), np.sin(a)) for a in (self.heading, *self.tilt))
        yaw = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        return yaw @ np.array([[d, 0, t], [0, 1, 0], [-t, 0, d]]) @ np.array([[1, 0, 0], [0, e, -u], [0, u, e]])


def handle_name(crate: str, i: int) -> str:
    """The site of a crate's i-th handle."""
    return f"{crate}.handle{i}"


def _turned(angle: float) -> list[float]:
    """The quaternion of a turn about z."""
    return [float(np.cos(angle / 2)), 0.0, 0.0, float(np.sin(angle / 2))]


def _quaternion(turn: np.ndarray) -> np.ndarray:
    """The quaternion of a rotation (3, 3)."""
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, turn.ravel())
    return quat


@dataclass(frozen=True)
class Companion:
    """Another character, which collides with all others and not with itself. Place in m, heading in rad from x to y.

    It has the sensors that walkers read and by which one sees it fall: NAME/com, NAME/com_velocity, NAME/ROOT.pos and
    NAME/FOOT.ground of feet and toes. All of a character's would cost a crowd a fifth of its physics.
    """

    name: str
    recipe: Mapping[str, Any]  # of the character, see `from_recipe`
    place: tuple[float, float] = (0.0, 0.0)
    heading: float = 0.0
    shirt: tuple[float, float, float] = SHIRT[:3]  # its colour

    @cached_property
    def character(self) -> Character:
        """The character that the recipe tells of."""
        return from_recipe(self.recipe)

    @property
    def prefix(self) -> str:
        """What the names of its parts begin with."""
        return f"{self.name}/"

    @property
    def root(self) -> str:
        """Name of its root."""
        return self.prefix + self.character.root

    def add(self, spec: mujoco.MjSpec, root: str) -> None:
        """Put it into a spec; `root` does not matter.

        All that is solid in the spec so far will meet it, by a bit of its own: companions meet those before them too.
        """
        if not self.name or "/" in self.name:
            raise UserError(f"the name of a companion must be a word without '/', got '{self.name}'")
        for value in (*self.place, self.heading):
            check_number(f"place of companion '{self.name}'", value, -1e3, 1e3)
        for value in self.shirt:
            check_number(f"colour of companion '{self.name}'", value, 0, 1)
        body, own = self.character, self.character.build()
        feet = [f"{foot}.ground" for foot in (*body.feet, *body.toes)]
        for sensor in list(own.sensors):
            if sensor.name not in ("com", "com_velocity", f"{body.root}.pos", *feet):
                own.delete(sensor)
        bit = _free_bit(spec)
        for geom in spec.geoms:  # all that was there before will meet it
            if geom.conaffinity:
                geom.conaffinity |= bit
        for geom in own.geoms:
            if geom.conaffinity:
                geom.contype |= bit
            if np.allclose(geom.rgba, SHIRT):
                geom.rgba[:3] = np.reshape(self.shirt, 3)
        own.body(body.root).pos[:2] = np.reshape(self.place, 2)
        own.body(body.root).quat[:] = _turned(self.heading)
        own.nuserdata = spec.nuserdata  # where they differ, attaching warns
        spec.attach(own, prefix=self.prefix, frame=spec.worldbody.add_frame())


def _free_bit(spec: mujoco.MjSpec) -> int:
    """A bit by which no geom is met yet; the lowest two are the ground's and a humanoid's legs'."""
    used = 0
    for geom in spec.geoms:
        used |= geom.contype
    for place in range(2, 31):
        if not used >> place & 1:
            return 1 << place
    raise UserError("a scene has at most 29 companions: MuJoCo has no more bits to tell who meets whom")


Prop: TypeAlias = Ball | Box | Ramp | Staircase | Crate | Companion | Stone
PROPS: Mapping[str, type[Prop]] = {
    "ball": Ball, "box": Box, "ramp": Ramp, "stairs": Staircase, "crate": Crate, "companion": Companion, "stone": Stone,
}  # fmt: skip


def boxes_of(props: Sequence[Prop]) -> list[Box]:
    """All boxes among props, those of stairs included."""
    found: list[Box] = []
    for prop in props:
        found += prop.boxes if isinstance(prop, Staircase) else [prop] if isinstance(prop, Box) else []
    return found


def prop_recipe(prop: Prop) -> dict[str, Any]:
    """JSON-able account of a prop: its kind and its fields; see `remake_prop`."""
    kind = next(name for name, made in PROPS.items() if type(prop) is made)
    return {"kind": kind} | asdict(prop)


def remake_prop(recipe: Mapping[str, Any]) -> Prop:
    """The prop that a recipe tells of; lists that were tuples become tuples again, so that it equals the first."""
    fields = dict(recipe)
    kind = choose("kind of prop", fields.pop("kind"), PROPS)
    fields |= {key: tuple(fields[key]) for key in ("middle", "half", "place", "shirt", "tilt") if fields.get(key)}
    if kind is Crate:
        fields["handles"] = tuple(tuple(place) for place in fields["handles"])
    return kind(**fields)


def check_names(spec: mujoco.MjSpec, prop: Prop) -> None:
    """Refuse a prop whose name is taken."""
    if prop.name in {part.name.split("/")[0] for part in (*spec.bodies, *spec.joints, *spec.geoms)}:
        raise UserError(f"the scene has a part '{prop.name}' already; give every prop a name of its own")
