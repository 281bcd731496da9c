"""Skills: what first controllers do, by 1 to 3 key poses made by hand and the seconds between them (section 6).

    skill = SKILLS["getup-1"]
    skill.keys, skill.times

A first controller is fitted from these by `tumble.attraction.first`. Poses of legs and arms are those of both sides
where a name has no side.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Pose = Mapping[str, float]  # rad by joint; 'hip_bend' is that of both sides


@dataclass(frozen=True)
class Stance:
    """A pose that it can stay in, held by PD control alone.

    Attributes:
      pose: rad by joint.
      lean: rad by which the root leans ahead.
      tilt: rad, the trunk's largest angle from the vertical.
    """

    pose: Pose
    lean: float
    tilt: float


@dataclass(frozen=True)
class Skill:
    """What a first controller does: where it begins, the poses it goes through, and how states around that are drawn.

    Attributes:
      name: how it is called.
      summary: what it does, in a line.
      start: pose at the beginning; `STAND` is where the standing controller comes to rest.
      keys: poses on the way; the last comes before the end.
      times: s at which the keys are reached, and then the end; one more than keys.
      lying: 'upright', 'supine' or 'prone' at the beginning.
      lean: rad by which the root leans ahead at the beginning.
      heading: rad that it faces at the beginning, where 0 is how it shall face in the end.
      domain: states around the beginning by dropping it in another pose, or by pushing it.
      symmetric: whether both sides do the same.
      free: joints that fitting may move from the keys, without their sides; all where it is empty.
      end: the stance that it shall come to; standing where it is None.
      flight: m that both feet must be above where they stand, at once and touching nothing, at some time on the way.
      then: the skill whose first controller goes on where the keys have come to the crouch; '' for none.
      first: the skill whose first controller it has; its own where that is ''.
      facing: whether it shall face right in the end; else it may face anywhere (section 6.2).
    """

    name: str
    summary: str
    start: Pose
    keys: tuple[Pose, ...]
    times: tuple[float, ...]
    lying: Literal["upright", "supine", "prone"] = "upright"
    lean: float = 0.0
    heading: float = 0.0
    domain: Literal["drop", "push"] = "drop"
    symmetric: bool = True
    free: tuple[str, ...] = ()
    end: Stance | None = None
    flight: float = 0.0
    then: str = ""
    first: str = ""
    facing: bool = True


STAND: Pose = {
    "shoulder_side": 0.15, "elbow": 0.30, "hip_bend": 0.25, "knee": 0.50, "ankle": 0.25, "hip_side": 0.06,
    "ankle_side": -0.06,
}  # fmt: skip
ARMS: Pose = {"shoulder_side": 0.15, "elbow": 0.30}
CROUCH = Stance(
    {
        **ARMS, "shoulder_bend": 1.0, "spine_bend": 0.2, "neck_bend": -0.2, "hip_bend": 1.98, "hip_side": 0.1,
        "knee": 2.1, "ankle": 0.6, "ankle_side": -0.1,
    },
    lean=0.48,
    tilt=math.radians(45.0),
)  # fmt: skip
# On the way from there to standing, with the centre of mass over the middle of the feet.
HALF: Pose = {
    **ARMS, "shoulder_bend": 0.8, "spine_bend": 0.15, "hip_bend": 1.2, "hip_side": 0.08, "knee": 1.5, "ankle": 0.58,
    "ankle_side": -0.08,
}  # fmt: skip
NEARLY: Pose = {
    **ARMS, "shoulder_bend": 0.35, "spine_bend": 0.05, "hip_bend": 0.53, "hip_side": 0.07, "knee": 0.9, "ankle": 0.43,
    "ankle_side": -0.07,
}  # fmt: skip
APART: Pose = {"hip_side": 0.16, "ankle_side": -0.16}  # feet to land on
# A turn to the left in a hop: wound up, taking off, about to land.
WOUND: Pose = {
    **NEARLY, "knee": 1.1, "hip_bend": 0.75, "ankle": 0.45, "left_hip_twist": 0.3, "right_hip_twist": -0.3,
    "spine_twist": -0.5, "neck_twist": 0.5, "left_shoulder_bend": 0.7, "right_shoulder_bend": -0.6,
    "shoulder_side": 0.3,
}  # fmt: skip
TURNING: Pose = {
    **STAND, "shoulder_side": 0.3, "left_shoulder_bend": -0.5, "right_shoulder_bend": 0.8, "hip_bend": 0.1,
    "knee": 0.1, "ankle": -0.5, "left_hip_twist": -0.6, "right_hip_twist": 0.6, "spine_twist": 0.6, "neck_twist": 0.3,
}  # fmt: skip
TURNED: Pose = {
    **NEARLY, **APART, "left_hip_twist": 0.2, "right_hip_twist": -0.2, "shoulder_bend": 0.3, "hip_bend": 0.4,
    "knee": 0.7, "ankle": 0.2,
}  # fmt: skip
PRONE: Pose = {"shoulder_side": 0.5, "elbow": 1.8, "shoulder_bend": -0.3}  # hands beside the chest
REACH: Pose = {"shoulder_side": 0.2, "neck_bend": -0.4}
ROCKED: Pose = {
    "hip_bend": 2.1, "hip_twist": -0.6, "hip_side": 0.05, "knee": 2.6, "ankle": 0.55, "spine_bend": 0.6,
}  # fmt: skip
FROG: Pose = {"hip_bend": 2.25, "hip_twist": -0.6, "hip_side": 0.05, "knee": 2.65, "ankle": 0.6, "spine_bend": 0.7}
ACROSS: Pose = {
    "left_shoulder_side": 2.7, "left_elbow": 0.2, "right_shoulder_bend": 1.6, "right_elbow": 0.2, "neck_twist": 0.6,
}  # fmt: skip
# On the back with the feet on the ground and the arms above the head; arms and knees on the way from there.
DRAWN_UP: Pose = {
    "shoulder_side": 0.3, "shoulder_bend": 2.2, "elbow": 0.3, "hip_side": 0.15, "hip_bend": 1.05, "knee": 2.2,
    "ankle": 0.2,
}  # fmt: skip
SWUNG: Pose = {"shoulder_side": 0.2, "hip_side": 0.15}

_skills = (
    Skill(
        "getup-1", "from the face: push up, draw the legs in, stand up",
        start=PRONE,
        keys=(
            {**REACH, "shoulder_bend": 1.3, "elbow": 0.3, "hip_bend": 0.5, "knee": 1.2, "ankle": 0.3},
            {**REACH, "shoulder_bend": 1.6, "elbow": 0.4, "hip_bend": 1.6, "knee": 1.9, "ankle": 0.5, "hip_side": 0.1},
            {**REACH, **ROCKED, "shoulder_bend": 1.8, "elbow": 0.8},
            {**REACH, **FROG, "shoulder_bend": 1.2, "elbow": 0.3},
        ),
        times=(0.8, 1.4, 2.0, 2.4, 2.9),
        then="crouch-stand",
        lying="prone",
    ),
    Skill(
        "getup-2", "from the back: roll over to the left, then as getup-1",
        start={"shoulder_side": 0.4, "elbow": 0.3, "hip_side": 0.1, "ankle": -0.3},
        keys=(
            {
                **ACROSS, "right_shoulder_side": 0.6, "spine_twist": -0.3, "right_hip_bend": 1.1, "right_hip_side": 0.3,
                "right_knee": 2.1, "right_ankle": 0.2,
            },
            {
                **ACROSS, "right_shoulder_side": -0.35, "spine_twist": 0.7, "left_hip_bend": 0.1,
                "right_hip_bend": -0.3, "right_hip_side": 0.6, "right_hip_twist": 0.6, "right_knee": 1.8,
                "right_ankle": -0.5,
            },
            {
                "left_shoulder_side": 2.4, "left_elbow": 0.5, "right_shoulder_bend": 0.3, "right_shoulder_side": 1.0,
                "right_elbow": 1.8,
            },
            PRONE,
        ),
        times=(0.7, 1.2, 2.1, 2.7, 3.0),
        lying="supine",
        heading=math.pi,
        symmetric=False,
        then="getup-1",
    ),
    Skill(
        "getup-3", "from the back, knees drawn up: swing the arms, rock forwards onto the feet, stand up",
        start=DRAWN_UP,
        keys=(
            {
                **SWUNG, "neck_bend": 0.6, "spine_bend": 1.3, "shoulder_bend": 1.5, "hip_bend": 1.1, "hip_twist": -0.3,
                "knee": 2.3, "ankle": 0.3,
            },
            {
                **SWUNG, "neck_bend": 0.3, "spine_bend": 1.3, "shoulder_bend": 1.3, "hip_bend": 2.2, "hip_twist": -0.5,
                "knee": 2.6, "ankle": 0.5,
            },
            {**SWUNG, **FROG, "spine_bend": 1.2, "shoulder_bend": 1.5, "elbow": 0.2},
            {**REACH, **FROG, "shoulder_bend": 1.2, "elbow": 0.3},
        ),
        times=(0.4, 0.7, 1.1, 1.6, 2.1),
        then="crouch-stand",
        lying="supine",
    ),
    Skill(
        "crouch-stand", "from a deep crouch to standing",
        start=CROUCH.pose, keys=(HALF, NEARLY), times=(0.6, 1.1, 1.6), lean=CROUCH.lean, domain="push",
    ),
    Skill(
        "jump", "from standing: crouch with the arms back, leap, land on feet apart and stand",
        start=STAND,
        keys=(
            {**HALF, "hip_bend": 1.3, "shoulder_bend": -0.7, "spine_bend": 0.2},
            {**STAND, "shoulder_bend": 1.3, "hip_bend": 0.1, "knee": 0.1, "ankle": -0.5},
            {**NEARLY, **APART, "shoulder_bend": 1.0, "hip_bend": 0.5, "knee": 0.7, "ankle": 0.2},
            {**NEARLY, **APART, "shoulder_bend": 0.7, "hip_bend": 0.75, "knee": 1.1, "ankle": 0.5},
        ),
        times=(0.5, 0.7, 0.9, 1.1, 1.3),
        domain="push",
        free=("spine_bend", "shoulder_bend", "hip_bend", "hip_side", "knee", "ankle", "ankle_side"),
        flight=0.1,
    ),
    Skill(
        "twist", "from standing turned away: wind up, turn to the left in a hop, land and stand",
        start=STAND,
        keys=(WOUND, TURNING, TURNED),
        times=(0.4, 0.6, 0.9, 1.1),
        heading=math.radians(-75.0),
        domain="push",
        symmetric=False,
        free=(
            "spine_bend", "spine_twist", "shoulder_bend", "hip_bend", "hip_side", "hip_twist", "knee", "ankle",
            "ankle_side",
        ),
    ),
    Skill(
        "stand-crouch", "from standing to a deep crouch, and to stay there",
        start=STAND, keys=(NEARLY, HALF), times=(0.5, 1.0, 1.6), domain="push", end=CROUCH,
    ),
)  # fmt: skip
_rise = replace(_skills[0], name="rise", summary="as getup-1, to face anywhere", first="getup-1", facing=False)
SKILLS: Mapping[str, Skill] = {skill.name: skill for skill in (*_skills, _rise)}


def sides(pose: Pose, joints: tuple[str, ...]) -> list[float]:
    """Angles of joints in a pose, rad in their order; a name without a side is that of both, others are 0."""
    return [pose.get(name, pose.get(name.removeprefix("left_").removeprefix("right_"), 0.0)) for name in joints]
