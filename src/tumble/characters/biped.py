"""Bipeds to walk with: 16 bones, 31 hinges and a free root, of any proportions (coros2010 figure 5.4).

    from tumble.characters.biped import biped
    limping = biped(legs=1.2, left_arm=1.4, left_knee=0.1)

The body with all multiples at 1 is the humanoid of coros2010: 37 degrees of freedom, 70.4 kg; its feet
have toes, its hands are part of the forearms. Axes are x ahead, y left, z up; all angles are 0 when it stands
straight with arms hanging. A positive angle flexes (hips, knees, elbows), lifts the toes, bends the back
forwards, and moves a limb away from the middle. Masses go with volume: lengths times girth squared.
"""

import math
from dataclasses import asdict

import mujoco

from tumble.characters.biped_skeleton import Proportions, joint_rows, skeleton
from tumble.characters.character import Character, Joint, add_sensors
from tumble.characters.humanoid import knee_for, planted
from tumble.errors import UserError

MASS = 70.4  # kg of the humanoid, coros2010 section 5.6

# The humanoid's stances, above the hips; rad.
READY = {
    "back_bend": 0.06, "chest_twist": 0.15, "neck_bend": -0.05, "neck_twist": 0.15,
    "left_shoulder_side": 0.25, "left_shoulder_bend": 0.75, "left_shoulder_twist": -0.35, "left_elbow": 1.75,
    "right_shoulder_side": 0.25, "right_shoulder_bend": 0.55, "right_shoulder_twist": -0.40, "right_elbow": 1.80,
}  # fmt: skip
TAIKO = {
    "back_bend": -0.10, "chest_twist": 0.10, "neck_twist": 0.10,
    "left_shoulder_side": 0.25, "left_shoulder_bend": 0.80, "left_shoulder_twist": -0.25, "left_elbow": 0.80,
    "right_shoulder_side": -0.20, "right_shoulder_bend": 2.50, "right_elbow": 0.80,
}  # fmt: skip


def biped(name: str = "biped", **proportions: float) -> Character:
    """A biped of any proportions.

    Motors grow with the body: strengths are those of the tables times mass over `MASS` times size. To know the mass,
    the bones are compiled once.

    Args:
      name: how the character is called.
      proportions: see `Proportions`; those not given are the humanoid's. Names that are none are refused.
    """
    try:
        shape = Proportions(**proportions)
    except TypeError:
        known = ", ".join(vars(Proportions()))
        wrong = ", ".join(sorted(set(proportions) - set(vars(Proportions()))))
        raise UserError(f"no proportion '{wrong}' of a biped; there are: {known}") from None
    strong = _total_mass(shape) / MASS * shape.size  # torque grows with weight and lever
    joints = {
        joint: Joint(group, strength * strong, 1.0 if "leg" in group else 0.5)
        for joint, group, (_, _, _, _, strength) in joint_rows()
    }

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors, as `Character.build` wants it."""
        spec = skeleton(shape)
        add_sensors(spec, character, [bone.name for bone in spec.bodies if bone.name != "world"])
        return spec

    character = Character(
        name=name,
        build=build,
        joints=joints,
        root="pelvis",
        trunk="torso",
        head="head",
        feet=("left_foot", "right_foot"),
        toes=("left_toe", "right_toe"),
        hands=("left_forearm", "right_forearm"),
        arms=("left_arm", "right_arm"),
        palms=("left_palm", "right_palm"),
        poses={
            "rest": _standing(shape),
            "t-pose": _t_pose(shape),
            "ready": READY | _stance(shape, 0.92, 0.12, -0.10, turn=0.3, lean=0.12),
            "taiko": TAIKO | _stance(shape, 0.89, 0.30, -0.42, turn=0.1, lean=0.08),
        },
        origin={"kind": "biped", "name": name, **asdict(shape)},
    )
    return character


def robot() -> Character:
    """The robot of coros2010 section 5.4: left arm 40 % longer and heavier, left knee 20 cm higher."""
    return biped("robot", left_arm=1.4, left_knee=0.2)


def beast1() -> Character:
    """A stout beast: much of the mass in the pelvis, short legs, long arms (coros2010 figure 5.5, row 2)."""
    return biped("beast1", legs=0.8, arms=1.2, trunk=0.75, pelvis=3.0, width=1.2, girth=1.15)


def beast2() -> Character:
    """A bird of a beast: much of the mass in the pelvis, long legs, small above (coros2010 figure 5.5, row 3)."""
    return biped("beast2", legs=1.25, arms=0.6, trunk=0.6, pelvis=2.5, head=0.8)


def _standing(shape: Proportions) -> dict[str, float]:
    """Knees a little bent, the longer leg's more, both feet flat and level; rad.

    Hips are as high as those of the shorter leg with its knee bent by 0.2 rad.
    """
    level = min(_hip_height(shape, side, 0.2) for side in ("left", "right"))
    angles: dict[str, float] = {}
    for side in ("left", "right"):
        thigh, shin, ankle = shape.leg(side)
        knee = knee_for(thigh, shin, level - ankle)
        hip = math.atan2(shin * math.sin(knee), thigh + shin * math.cos(knee))  # ankle below the hip
        angles |= {f"{side}_hip_bend": hip, f"{side}_knee": knee, f"{side}_ankle": knee - hip}
        angles |= {f"{side}_shoulder_side": 0.12, f"{side}_elbow": 0.25}
    return angles


def _stance(shape: Proportions, height: float, front: float, back: float, turn: float, lean: float) -> dict[str, float]:
    """Legs with the left foot in front, both soles level; lengths in units of the shorter leg, rad. See `planted`."""
    names = ("hip_bend", "hip_side", "hip_turn", "knee", "ankle")
    short = min(shape.reach("left"), shape.reach("right"))
    angles: dict[str, float] = {}
    for side, ahead, turned in (("left", front, turn), ("right", back, -turn)):
        thigh, shin, ankle = shape.leg(side)
        leg = planted(thigh, shin, (height * short - ankle) / math.cos(lean), ahead * short, turned, lean)
        angles |= {f"{side}_{joint}": angle for joint, angle in zip(names, leg, strict=True)}
        angles[f"{side}_ankle_side"] = -lean
    return angles


def _t_pose(shape: Proportions) -> dict[str, float]:
    """Arms out to the sides and everything else straight, rad; the same for all shapes."""
    return {f"{side}_shoulder_side": math.pi / 2 for side in ("left", "right")}


def _hip_height(shape: Proportions, side: str, knee: float) -> float:
    """Of the hip above the sole with a knee bent by so many rad, in units of size.

    From hip to ankle it is sqrt(a^2 + b^2 + 2 a b cos(knee)), a the thigh and b the shin.
    """
    thigh, shin, ankle = shape.leg(side)
    return math.sqrt(thigh**2 + shin**2 + 2 * thigh * shin * math.cos(knee)) + ankle


def _total_mass(shape: Proportions) -> float:
    """Of the whole body, kg."""
    return float(skeleton(shape).compile().body_subtreemass[0])
