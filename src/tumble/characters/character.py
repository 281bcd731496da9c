"""A Character: a recipe for an MjSpec, and the names of its parts.

A character knows its own body and nothing of any world. `Scene` puts it on the ground; goals and
planners speak of its parts by role (root, head, feet), so they work with any character.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco

from tumble.errors import choose


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
      recipe: JSON-able arguments that make this character again, kept in recordings.
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
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @property
    def groups(self) -> tuple[str, ...]:
        """The bone groups that have a torque limit of their own, in order of first mention."""
        return tuple(dict.fromkeys(joint.group for joint in self.joints.values()))

    @property
    def ends(self) -> tuple[str, ...]:
        """The parts whose motion sums the body up: root, head, hands, feet (section 4.3 of 2015)."""
        return tuple(dict.fromkeys((self.root, self.head, *self.hands, *self.feet)))

    def pose(self, name: str) -> list[float]:
        """Angles of the actuated joints in a named pose, rad, in the order of `joints`."""
        angles = choose("pose", name, self.poses)
        return [angles.get(joint, 0.0) for joint in self.joints]


def add_sensors(spec: mujoco.MjSpec, character: Character, bones: Sequence[str]) -> None:
    """Give a character's spec the sensors that goals and planners read.

    Names: com, com_velocity; PART.pos and PART.vel of the ends, in one run so that they are one
    slice; ROOT.up, TRUNK.up, HEAD.forward, ROOT.spin; BONE.ground, one per bone in one run, above 0
    where the bone touches the static world; HEAD.touch, above 0 where the head touches anything.

    Touches are MuJoCo's contacts. Where physics is speculative, parts that would meet within the next
    step are in contact already, so a touch is told up to a step ahead.
    """
    kinds = mujoco.mjtSensor
    # MuJoCo's 'body' is a bone's centre of mass, 'xbody' its frame: positions of the one, axes of the other
    body, frame = mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY

    def add(name: str, kind: mujoco.mjtSensor, part: str, objtype: Any = body, **more: Any) -> None:
        spec.add_sensor(name=name, type=kind, objtype=objtype, objname=part, **more)

    add("com", kinds.mjSENS_SUBTREECOM, character.root)
    add("com_velocity", kinds.mjSENS_SUBTREELINVEL, character.root)
    for part in character.ends:
        add(f"{part}.pos", kinds.mjSENS_FRAMEPOS, part)
    for part in character.ends:
        add(f"{part}.vel", kinds.mjSENS_FRAMELINVEL, part)
    for part in dict.fromkeys((character.root, character.trunk)):  # which may be one
        add(f"{part}.up", kinds.mjSENS_FRAMEZAXIS, part, frame)
    add(f"{character.head}.forward", kinds.mjSENS_FRAMEXAXIS, character.head, frame)
    add(f"{character.root}.spin", kinds.mjSENS_FRAMEANGVEL, character.root)
    found = [1 << mujoco.mjtConDataField.mjCONDATA_FOUND.value, 0, 1]  # fields, reduction, number
    contact = kinds.mjSENS_CONTACT
    for bone in bones:
        add(f"{bone}.ground", contact, bone, reftype=body, refname="world", intprm=found)
    add(f"{character.head}.touch", contact, character.head, intprm=found)
