"""A Scene: a character, the ground and props, compiled to one MjModel. Props may be characters too.

    from tumble import Scene, humanoid
    scene = Scene(humanoid())
    state = scene.state("t-pose", lying="supine")

A state is one row of MuJoCo's integration state, a plain array: copying it forks a simulation. A scene knows the world
and not who will act in it: it has the actuators of all its drives, and room for the memory of controllers.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeVar

import mujoco
import numpy as np

from tumble.characters import Character, from_recipe
from tumble.errors import UserError, check_number, choose, unknown
from tumble.world.drives import FRAME, Drive, drives_named
from tumble.world.grips import let_hands_into_crates
from tumble.world.memory import Memory
from tumble.world.placing import LYING, lowest, place_root, raise_root, turned_about_z
from tumble.world.props import (
    Ball,
    Box,
    Companion,
    Crate,
    Prop,
    Ramp,
    Staircase,
    Stone,
    check_names,
    prop_recipe,
    remake_prop,
)

STATES = 16  # that a scene keeps, because trials begin with the same
P = TypeVar("P", Ball, Box, Ramp, Staircase, Crate, Companion, Stone)

ROOM = 192  # numbers of memory for each character: a walker, its skills and a relay take 131, a crowd 107 of each


@dataclass(frozen=True)
class Ground:
    """What everything stands on; the same for everybody who acts."""

    friction: float = 1.0  # not given by hamalainen2015; ours. coros2010 section 5.4: 0.8
    isotropic: bool = False  # friction alike in all directions, as what is dragged needs
    slope: float = 0.0  # rad by which it rises along x, about the origin
    depth: float = 0.0  # m that the plane lies below 0, where characters are put: boxes bear them, between are gaps

    def __post_init__(self) -> None:
        """Refuse a friction that is not above 0, slopes beyond 1 rad, depths below 0."""
        check_number("friction", self.friction, 0, above=True)
        check_number("slope", self.slope, -1.0, 1.0)
        check_number("depth", self.depth, 0.0, 100.0)

    @property
    def up(self) -> tuple[float, float, float]:
        """Unit vector away from it."""
        return (0.0 - math.sin(self.slope), 0.0, math.cos(self.slope))

    def height(self, x: np.ndarray) -> np.ndarray:
        """Of its surface at places along the x axis, m; boxes that lie on it, and how deep gaps are, do not count."""
        return x * math.tan(self.slope)


class Scene:
    """A character on the ground with props.

    Attributes:
      spec: with everything that can be drawn.
      model: compiled for physics, without what only looks good; that of the first drive.
      character, props, ground: what it was made of.
      cast: all characters, by what the names of their parts begin with: '' for the scene's own, 'NAME/' for companions.
      drives: ways to act, by name; see `tumble.world.drives`.
      drive: the first of them, which planners use.
      memory: room that controllers claim; see `claim`.
      channels: sensor readings by name, as slices of a sensordata row; 'ends' are position and
        velocity of the character's ends in one run, 'grounded' the bones' ground contacts, with
        a speculative drive up to a step ahead of the touch; 'NAME/grounded' those of a companion's feet and toes.
      bones: body names in the order of 'grounded'.
      dt: seconds a frame.
    """

    dt = FRAME

    def __init__(
        self, character: Character, props: Sequence[Prop] = (), ground: Ground = Ground(),
        drives: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """Build and compile; refuses drives that cannot be together, props of a taken name and numbers out of range.

        Drives that are not given are the character's.
        """
        self.character, self.props, self.ground = character, tuple(props), ground
        companions = [prop for prop in self.props if isinstance(prop, Companion)]
        self.cast = {"": character, **{companion.prefix: companion.character for companion in companions}}
        self.memory = Memory(ROOM * len(self.cast))
        kinds = drives_named(character.drives if drives is None else drives)
        self.spec = self._assemble(kinds)
        lean = self.spec.copy()
        lean.compiler.discardvisual = True
        model = lean.compile()
        self.drives: Mapping[str, Drive] = {kind.name: kind(model, self.cast) for kind in kinds}
        self.drive = next(iter(self.drives.values()))
        self.model = self.drive.model
        grounded = [name.removesuffix(".ground") for name in self._sensor_names() if name.endswith(".ground")]
        self.bones = tuple(name for name in grounded if name.split("/")[0] not in {prop.name for prop in self.props})
        self.channels = self._channels()
        self._states: dict[tuple[str, str, float], np.ndarray] = {}  # that were asked for
        self._nstate = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_INTEGRATION)

    def _assemble(self, drives: Sequence[type[Drive]]) -> mujoco.MjSpec:
        """The spec of everything: character, ground, props, actuators; contacts of all geoms are firm alike."""
        spec = self.character.build()
        spec.modelname = self.character.name
        spec.nuserdata = self.memory.room
        option = spec.option
        option.timestep = FRAME
        # Servos as stiff as ours need the integrator that solves them together with the contacts: with
        # implicitfast the feet of a standing character sink 6 cm.
        option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        option.iterations, option.ls_iterations = 15, 15
        if self.ground.isotropic:
            option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        half = 0.5 * self.ground.slope
        spec.worldbody.add_geom(
            name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=1, conaffinity=1,
            quat=[math.cos(half), 0.0, 0.0 - math.sin(half), 0.0], pos=[0.0, 0.0, 0.0 - self.ground.depth],
        )  # fmt: skip
        for prop in self.props:
            check_names(spec, prop)
            prop.add(spec, self.character.root)
        let_hands_into_crates(spec, self.character, self.props)
        for drive in drives:
            drive.add(spec, self.cast, self.props)
        for geom in spec.geoms:
            geom.solimp = [0.97, 0.995, 0.001, 0.5, 2]  # feet sink 0.1 cm at rest instead of 1.1
            if not geom.priority:
                geom.friction = [self.ground.friction, 0.005, 0.0001]
        return spec

    @property
    def used(self) -> int:
        """How many numbers of a state row mean something: all but the memory at its end that nobody has claimed."""
        return self._nstate - self.memory.room + sum(self.memory.claims.values())

    def claim(self, name: str, dtype: np.dtype) -> None:
        """Have room in every state row for a record, which `Sims.memory` shows; see `tumble.world.memory`."""
        self.memory.claim(name, dtype)

    @property
    def _others(self) -> dict[str, Character]:
        """The companions' characters by prefix."""
        return {prefix: character for prefix, character in self.cast.items() if prefix}

    def _sensor_names(self) -> list[str]:
        """Names of all sensors, in the order of sensordata."""
        return [self.model.sensor(i).name for i in range(self.model.nsensor)]

    def _channels(self) -> dict[str, slice]:
        """Slices of sensordata: one a sensor, and those of several sensors in one run."""
        model = self.model
        channels = {
            name: slice(int(model.sensor_adr[i]), int(model.sensor_adr[i] + model.sensor_dim[i]))
            for i, name in enumerate(self._sensor_names())
        }
        ends = self.character.ends
        channels["ends"] = slice(channels[f"{ends[0]}.pos"].start, channels[f"{ends[-1]}.vel"].stop)
        channels["grounded"] = slice(
            channels[f"{self.bones[0]}.ground"].start, channels[f"{self.bones[-1]}.ground"].stop
        )
        for prefix in self._others:
            grounded = [channels[f"{prefix}{bone}.ground"] for bone in self.feeling(prefix)]
            channels[f"{prefix}grounded"] = slice(grounded[0].start, grounded[-1].stop)
        return channels

    def feeling(self, prefix: str) -> tuple[str, ...]:
        """The bones of a character, by its prefix, that feel the ground, in the order of its 'grounded' channel."""
        if not prefix:
            return self.bones
        names = [name.removeprefix(prefix) for name in self._sensor_names() if name.startswith(prefix)]
        return tuple(name.removesuffix(".ground") for name in names if name.endswith(".ground"))

    def root(self, prefix: str = "") -> int:
        """MuJoCo's id of a character's root."""
        return self.body(prefix + self.cast[prefix].root)

    def whose(self, body: int) -> str | None:
        """The prefix of the character that a body belongs to; None where it belongs to none."""
        root = self.model.body_rootid[body]
        return next((prefix for prefix in self.cast if self.root(prefix) == root), None)

    @cached_property
    def standing(self) -> float:
        """Height of the root's centre of mass above the ground in the rest pose, m."""
        x, _, z = self.show(self.state("rest")).body(self.character.root).xipos
        return float(z - self.ground.height(x))

    def body(self, name: str) -> int:
        """MuJoCo's id of a body, or the error that lists the bodies there are."""
        found = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
        if found < 0:
            names = [self.model.body(i).name for i in range(self.model.nbody)]
            raise unknown("body", name, names, f" in the scene of '{self.character.name}'")
        return found

    def state(self, pose: str = "rest", lying: str = "upright", height: float = 0.0) -> np.ndarray:
        """A state in which the character holds a pose at rest, its lowest point `height` m up.

        Companions are in their rest poses, upright on the ground at their places.

        Args:
          pose: one of the character's poses.
          lying: 'upright', 'supine' on its back, 'prone' on its face.
          height: m above the ground.
        """
        quat = choose("way to lie", lying, LYING)
        check_number("height", height, -1e4, 1e4)
        if (found := self._states.get((pose, lying, height))) is not None:
            return found.copy()
        data = mujoco.MjData(self.model)
        for prefix, character in self.cast.items():
            data.qpos[self._angles(prefix)] = character.pose("rest" if prefix else pose)
        place_root(self.model, data, self.root(), (0.0, 0.0), quat)
        for prefix in self.cast:
            self.land(data, 0.0 if prefix else height, prefix)
        made = self.read(data)
        if len(self._states) < STATES:
            self._states[pose, lying, height] = made.copy()
        return made

    def _angles(self, prefix: str) -> np.ndarray:
        """Places in qpos of the actuated joints of a character."""
        return np.array([int(self.model.joint(prefix + name).qposadr[0]) for name in self.cast[prefix].joints], np.intp)

    def place(
        self, state: np.ndarray, at: Sequence[float] | None = None, heading: float | None = None,
        pose: str | None = None, lying: str = "upright", height: float = 0.0, prefix: str = "",
    ) -> np.ndarray:  # fmt: skip
        """A copy of a state with a character put somewhere, at rest, its lowest point `height` m above the plane.

        Args:
          at: x and y, m; None leaves it where it is.
          heading: rad from the x axis.
          pose: one of its poses; None leaves the joints as they are.
          lying: see `state`.
          prefix: which character; the scene's own where it is not given.
        """
        data, root = mujoco.MjData(self.model), self.root(prefix)
        mujoco.mj_setState(self.model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        if pose is not None:
            data.qpos[self._angles(prefix)] = self.cast[prefix].pose(pose)
        place_root(self.model, data, root, at, turned_about_z(choose("way to lie", lying, LYING), heading or 0.0))
        own = self.model.body_rootid[self.model.dof_bodyid] == root
        data.qvel[own] = 0.0
        self.land(data, height, prefix)
        return self.read(data)

    def land(self, data: mujoco.MjData, height: float = 0.0, prefix: str = "") -> None:
        """Lift or lower a character until its lowest point is so far from the plane, m; computes places.

        To the last bit it does not matter how high it was before.
        """
        root = self.root(prefix)
        raise_root(self.model, data, root, 0.0)
        mujoco.mj_kinematics(self.model, data)
        up = self.ground.up
        raise_root(self.model, data, root, (height - lowest(self.model, data, root, up)) / up[2])
        mujoco.mj_kinematics(self.model, data)

    def prop(self, name: str, kind: type[P]) -> P:
        """The prop of that name and kind, or the error that lists those there are."""
        props = {prop.name: prop for prop in self.props if isinstance(prop, kind)}
        if name in props:
            return props[name]
        word = kind.__name__.lower()
        if not props:
            raise UserError(f"no {word} '{name}' in the scene; it has none; build it with props=[{kind.__name__}(...)]")
        raise unknown(word, name, list(props), f" in the scene of '{self.character.name}'")

    def placed(
        self, state: np.ndarray, name: str, position: Sequence[float], velocity: Sequence[float] = (0.0, 0.0, 0.0),
        spin: Sequence[float] = (0.0, 0.0, 0.0), turn: float = 0.0,
    ) -> np.ndarray:  # fmt: skip
        """A copy of a state with a ball or crate at a place, moving and turning. m, m/s, rad/s in the world's axes.

        turn is a crate's about z, rad.
        """
        crate = any(prop.name == name and isinstance(prop, Crate) for prop in self.props)
        if not crate:
            self.prop(name, Ball)
        for label, vector in (("position", position), ("velocity", velocity), ("spin", spin)):
            if len(vector) != 3 or not np.isfinite(vector).all():
                word = "crate" if crate else "ball"
                raise UserError(f"{label} of a {word} must be three numbers, got {tuple(vector)}")
        data, joint = self.show(state), self.model.joint(name)
        data.qpos[int(joint.qposadr[0]) :][:7] = (*position, np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2))
        data.qvel[int(joint.dofadr[0]) :][:6] = (*velocity, *spin)
        return self.read(data)

    def carried(self, state: np.ndarray, source: "Scene") -> np.ndarray:
        """A state of this scene that takes time, and places and speeds of joints, from a state of another, by name.

        Joints that the other scene lacks, as those of a new ball, are where this scene puts them. What
        controllers remember goes along. Where the bodies differ, the root is lifted
        so that the lowest point stays as high as it was. Carried into a scene that is alike, a state stays as it is.
        """
        old, new = mujoco.MjData(source.model), mujoco.MjData(self.model)
        for scene, data, row in ((source, old, state), (self, new, self.state())):
            mujoco.mj_setState(scene.model, data, row, mujoco.mjtState.mjSTATE_INTEGRATION)
            mujoco.mj_kinematics(scene.model, data)
        new.time = old.time
        for i in range(self.model.njnt):
            name, kind = self.model.joint(i).name, self.model.jnt_type[i]
            j = mujoco.mj_name2id(source.model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if j >= 0 and source.model.jnt_type[j] == kind:
                new.joint(i).qpos, new.joint(i).qvel = old.joint(j).qpos, old.joint(j).qvel
                new.joint(i).qacc_warmstart = old.joint(j).qacc_warmstart
        for name, size in source.memory.claims.items():
            self.memory.reserve(name, size)
            new.userdata[self.memory.place(name)] = old.userdata[source.memory.place(name)]
        if self.character.origin != source.character.origin:
            self.land(new, lowest(source.model, old, source.root(), source.ground.up))
        return self.read(new)

    def read(self, data: mujoco.MjData) -> np.ndarray:
        """The state row of an MjData, a copy."""
        state = np.empty(self._nstate)
        mujoco.mj_getState(self.model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        return state

    def show(self, state: np.ndarray, data: mujoco.MjData | None = None) -> mujoco.MjData:
        """An MjData in that state with kinematics computed, for drawing or for any mj_ function."""
        if state.shape != (self._nstate,):
            raise UserError(f"a state of this scene has {self._nstate} numbers, got shape {state.shape}")
        data = data or mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(self.model, data)
        return data

    @property
    def recipe(self) -> dict[str, Any]:
        """JSON-able account of the scene, kept in recordings."""
        return {
            "character": dict(self.character.recipe),
            "props": [prop_recipe(prop) for prop in self.props],
            "ground": asdict(self.ground),
            "drives": list(self.drives),
            "memory": dict(self.memory.claims),
        }

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> "Scene":
        """The scene that a recipe tells of; refuses a recipe that this version does not know."""
        try:
            props = [remake_prop(prop) for prop in recipe["props"]]
            scene = cls(from_recipe(recipe["character"]), props, Ground(**recipe["ground"]), recipe["drives"])
            for name, size in recipe["memory"].items():
                scene.memory.reserve(name, int(size))
            return scene
        except UserError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"not a scene of this version of tumble: {error}") from None

    @property
    def fingerprint(self) -> str:
        """A hash of the compiled model: equal models, equal physics."""
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        return hashlib.sha256(buffer.tobytes()).hexdigest()
