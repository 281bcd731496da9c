"""A Character: a recipe for an MjSpec, and the names of its parts.

    from tumble.characters import character
    body = character("biped", legs=1.2)
    body.pose("rest")                     # angles in rad, in the order of body.joints and so of controls
    model = body.build().compile()        # the body alone: no ground, no motors

A character knows its own body and nothing of any world. `Scene` puts it on the ground; goals and
planners speak of its parts by role (root, head, feet), so they work with any character.

Traps: `build` makes a new spec at every call, and changing one changes no other. A character made by hand has no
`origin`, and what has no origin cannot be recorded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco

from tumble.errors import UserError, choose

# What a body can be asked for, each word said by its anatomy; `Character.capabilities` has those of a body.
CAPABILITIES: Mapping[str, str] = {
    "biped": "two feet, a head of its own and the freedom of space: what goals of balance want",
    "planar": "it moves in the plane y = 0 alone",
    "legs-N": "so many feet: legs-1, legs-2, legs-4",
    "hands": "two hands, each moved by a joint group of its own",
    "palms": "places in the hands that grips hold with",
    "toes": "toes that are bodies of their own",
    "jointed-back": "a back of two joints, back_* below chest_*",
    "steps": "hips, knees and ankles of the left and the right named as the gaits of SIMBICON do: left_hip_bend",
    "pd": "joints that follow reference angles, as trees do: the drive 'pd' is among its own",
    "t-pose": "a pose with arms spread and legs straight",
}


@dataclass(frozen=True)
class Joint:
    """One actuated hinge.

    Attributes:
      group: the bone group whose torque limit it shares.
      strength: largest torque of its motor, N m.
      activity: how much it moves by habit, rad/s; sqrt(C_u) of hamalainen2015 eq. 22.
    """

    group: str
    strength: float
    activity: float


@dataclass(frozen=True)
class Character:
    """A body by recipe.

    Attributes:
      name: how people call it.
      build: makes a fresh MjSpec whose world holds one root body with a free joint; joints named
        as in `joints`, every bone a body.
      joints: the actuated hinges by name, in the order of the controls.
      root, trunk, head: body names; the trunk is what must be upright in a balanced pose.
      feet, hands, toes: body names, left before right; toes that are bodies of their own, or none.
      arms: the joint groups that move the hands, in the same order.
      palms: sites of the hands that grips hold with (`tumble.world.grips`), in the same order; or none.
      motor_gain: of the servos over their strength, s/rad: how stiffly they keep to a speed.
      poses: joint angles in rad by pose name; 'rest' must be there. Joints not named are at 0.
      planar: whether its root is held in the plane y = 0.
      drives: ways to move its joints (`tumble.world.drives`) that a scene has where it is not told which.
      origin: JSON-able arguments that make this character again, or None where nobody knows how; see `recipe`.
      notes: sentences on what was added to a stranger's body, and what was left out.

    What a body can do is asked by capabilities, never by its name: see `CAPABILITIES` for the words.

        assert "hands" in humanoid().capabilities
        monoped().require("goal 'balance'", "biped")  # goal 'balance' wants a body with biped; 'monoped' has: legs-1
    """

    name: str
    build: Callable[[], mujoco.MjSpec]
    joints: Mapping[str, Joint]
    root: str
    trunk: str
    head: str
    feet: tuple[str, ...]
    hands: tuple[str, ...]
    arms: tuple[str, ...]
    poses: Mapping[str, Mapping[str, float]]
    toes: tuple[str, ...] = ()
    palms: tuple[str, ...] = ()
    motor_gain: float = 1.0
    planar: bool = False
    drives: tuple[str, ...] = ("servo", "torque")
    origin: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    @staticmethod
    def from_mjcf(xml: str | Path, name: str | None = None, **parts: Any) -> "Character":
        """A character from MJCF, the path of a file or a text; see `tumble.characters.mjcf.from_mjcf` for `parts`."""
        from tumble.characters.mjcf import from_mjcf

        return from_mjcf(xml, name, **parts)

    @property
    def recipe(self) -> Mapping[str, Any]:
        """JSON-able arguments that make this character again (`from_recipe`), kept in recordings."""
        if self.origin is None:
            raise UserError(
                f"nobody knows how to make '{self.name}' again, as recordings must: register the function that makes it"
                f" (tumble.characters.register) and take it from tumble.characters.character, or read it with from_mjcf"
            )
        return self.origin

    @property
    def capabilities(self) -> frozenset[str]:
        """What the body can be asked for, in the words of `CAPABILITIES`."""
        bends = {f"{side}_{joint}_bend" for side in ("left", "right") for joint in ("hip", "knee", "ankle")}
        facts = {
            "biped": len(self.feet) == 2 and self.head != self.root and not self.planar,
            "planar": self.planar,
            f"legs-{len(self.feet)}": bool(self.feet),
            "hands": len(self.hands) == len(self.arms) == 2,
            "palms": bool(self.palms),
            "toes": bool(self.toes),
            "jointed-back": {"back_bend", "chest_bend"} <= set(self.joints),
            "steps": bends <= set(self.joints),
            "pd": "pd" in self.drives,
            "t-pose": "t-pose" in self.poses,
        }
        return frozenset(word for word, true in facts.items() if true)

    def require(self, who: str, *words: str) -> None:
        """Refuse to go on where the body lacks a capability that somebody wants."""
        missing = [word for word in words if word not in self.capabilities]
        if missing:
            has = ", ".join(sorted(self.capabilities)) or "nothing"
            raise UserError(
                f"{who} wants a body with {', '.join(missing)}; '{self.name}' has: {has} (see 'tumble list' for others)"
            )

    @property
    def groups(self) -> tuple[str, ...]:
        """The bone groups that have a torque limit of their own, in order of first mention."""
        return tuple(dict.fromkeys(joint.group for joint in self.joints.values()))

    @property
    def ends(self) -> tuple[str, ...]:
        """The parts whose motion sums the body up: root, head, hands, feet (section 4.3 of 2015)."""
        return tuple(dict.fromkeys((self.root, self.head, *self.hands, *self.feet)))

    def touch(self, side: int) -> str:
        """What reaches of a hand, 0 left, 1 right: its palm, where it has one, else the hand itself."""
        return (self.palms or self.hands)[side]

    def pose(self, name: str) -> list[float]:
        """Angles of the actuated joints in a named pose, rad, in the order of `joints`."""
        angles = choose("pose", name, self.poses)
        return [angles.get(joint, 0.0) for joint in self.joints]


def add_sensors(spec: mujoco.MjSpec, character: Character, bones: Sequence[str]) -> None:
    """Give a character's spec the sensors that goals and planners read.

    Names: com, com_velocity; PART.pos and PART.vel of the ends, in one run so that they are one
    slice; PALM.pos of palms; ROOT.up, TRUNK.up, HEAD.forward, ROOT.spin; BONE.ground, one per bone in one run, above 0
    where the bone touches the static world; HEAD.touch, above 0 where the head touches anything.

    Touches are MuJoCo's contacts. Where physics is speculative, parts that would meet within the next
    step are in contact already, so a touch is told up to a step ahead.
    """
    kinds = mujoco.mjtSensor
    # MuJoCo's 'body' is a bone's centre of mass, 'xbody' its frame: positions of the one, axes of the other
    body, frame = mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY

    def add(name: str, kind: mujoco.mjtSensor, part: str, objtype: Any = body, **more: Any) -> None:
        """One sensor of a part, by default of its centre of mass."""
        spec.add_sensor(name=name, type=kind, objtype=objtype, objname=part, **more)

    add("com", kinds.mjSENS_SUBTREECOM, character.root)
    add("com_velocity", kinds.mjSENS_SUBTREELINVEL, character.root)
    for part in character.ends:
        add(f"{part}.pos", kinds.mjSENS_FRAMEPOS, part)
    for part in character.ends:
        add(f"{part}.vel", kinds.mjSENS_FRAMELINVEL, part)
    for palm in character.palms:
        add(f"{palm}.pos", kinds.mjSENS_FRAMEPOS, palm, mujoco.mjtObj.mjOBJ_SITE)
    for part in dict.fromkeys((character.root, character.trunk)):  # which may be one
        add(f"{part}.up", kinds.mjSENS_FRAMEZAXIS, part, frame)
    add(f"{character.head}.forward", kinds.mjSENS_FRAMEXAXIS, character.head, frame)
    add(f"{character.root}.spin", kinds.mjSENS_FRAMEANGVEL, character.root)
    found = [1 << mujoco.mjtConDataField.mjCONDATA_FOUND.value, 0, 1]  # fields, reduction, number
    contact = kinds.mjSENS_CONTACT
    for bone in bones:
        add(f"{bone}.ground", contact, bone, reftype=body, refname="world", intprm=found)
    add(f"{character.head}.touch", contact, character.head, intprm=found)
