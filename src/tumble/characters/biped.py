"""Bipeds to walk with: 16 bones, 31 hinges and a free root, of any proportions (coros2010 figure 5.4).

    from tumble.characters.biped import biped
    limping = biped(legs=1.2, left_arm=1.4, left_knee=0.1)

The body with all multiples at 1 is the humanoid of coros2010: 37 degrees of freedom, 70.4 kg; its feet
have toes, its hands are part of the forearms. Axes are x ahead, y left, z up; all angles are 0 when it stands
straight with arms hanging. A positive angle flexes (hips, knees, elbows), lifts the toes, bends the back
forwards, and moves a limb away from the middle. Masses go with volume: lengths times girth squared.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import mujoco
import numpy as np

from tumble.characters.character import Character, Joint, add_sensors
from tumble.characters.humanoid import GROUND_BIT, knee_for, planted
from tumble.characters.looks import SHIRT, SHOES, SKIN, TROUSERS, add_face
from tumble.errors import UserError, check_number

MASS = 70.4  # kg of the humanoid, coros2010 section 5.6

# Joint: (axis, low and high in degrees, damping in N m s/rad, strength in N m). Dampings are k_d of the authors'
# code (facts 1.2); strengths ours, above the 200 and 100 N m that coros2010 section 5.4 found to change nothing.
BACK = {
    "back_bend": ((0, 1, 0), -35, 60, 17, 300),
    "back_side": ((1, 0, 0), -35, 35, 17, 200),
    "back_twist": ((0, 0, 1), -35, 35, 17, 200),
}
CHEST = {name.replace("back", "chest"): row for name, row in BACK.items()}
NECK = {
    "neck_bend": ((0, 1, 0), -45, 45, 5, 60),
    "neck_side": ((1, 0, 0), -35, 35, 5, 60),
    "neck_twist": ((0, 0, 1), -70, 70, 5, 60),
}
# Forwards before sideways: an arm that hangs before a body bent down, or is held out ahead, is free to move any way.
SHOULDER = {
    "shoulder_bend": ((0, -1, 0), -90, 175, 20, 100),
    "shoulder_side": ((1, 0, 0), -30, 175, 20, 100),
    "shoulder_twist": ((0, 0, 1), -90, 90, 20, 100),
}
ELBOW = {"elbow": ((0, -1, 0), 0, 150, 8, 100)}
HIP = {
    "hip_bend": ((0, -1, 0), -60, 130, 100, 400),
    "hip_side": ((1, 0, 0), -57, 57, 100, 400),
    "hip_turn": ((0, 0, 1), -57, 57, 100, 400),
}
KNEE = {"knee": ((0, 1, 0), 0, 150, 35, 400)}
ANKLE = {
    "ankle": ((0, -1, 0), -60, 50, 15, 250),
    "ankle_side": ((1, 0, 0), -35, 35, 5, 150),
}
TOE = {"toe": ((0, -1, 0), -6, 45, 0.3, 30)}

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


@dataclass(frozen=True)
class Proportions:
    """Multiples of the humanoid's lengths, m where said; checked when made."""

    size: float = 1.0  # of everything
    legs: float = 1.0
    arms: float = 1.0
    trunk: float = 1.0
    left_leg: float = 1.0  # times legs
    right_leg: float = 1.0
    left_arm: float = 1.0
    right_arm: float = 1.0
    left_knee: float = 0.0  # how much higher the knee is, m; the leg stays as long as it is
    right_knee: float = 0.0
    girth: float = 1.0  # thickness of all bones
    width: float = 1.0  # of hips and shoulders
    head: float = 1.0
    pelvis: float = 1.0  # mass of the pelvis

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name.endswith("knee"):
                check_number(name, value, -0.3, 0.3)
            else:
                check_number(name, value, 0.4, 8.0 if name == "pelvis" else 2.5)
        for side in ("left", "right"):
            thigh, shin, _ = self.leg(side)
            if min(thigh, shin) < 0.15 * (thigh + shin):
                raise UserError(
                    f"{side}_knee must leave thigh and shin 15 % of the leg each, got {getattr(self, side + '_knee'):g}"
                    f" with a thigh of {thigh:.2f} m and a shin of {shin:.2f} m"
                )
        tall, short = sorted((self.reach("left"), self.reach("right")), reverse=True)
        if short < 0.7 * tall:
            raise UserError(f"legs must differ by at most 30 % in length, got {short:.2f} m and {tall:.2f} m")

    def leg(self, side: str) -> tuple[float, float, float]:
        """Lengths of thigh and shin and height of the ankle, m; of a knee that is at its place, in units of size."""
        multiple = self.legs * float(getattr(self, f"{side}_leg"))
        up = float(getattr(self, f"{side}_knee")) / self.size
        return 0.40 * multiple - up, 0.46 * multiple + up, 0.06 * self.foot(side)

    def foot(self, side: str) -> float:
        """Multiple of the foot's lengths: feet grow with the leg."""
        return self.legs * float(getattr(self, f"{side}_leg"))

    def reach(self, side: str) -> float:
        """Length of the straight leg from hip to sole, in units of size."""
        return sum(self.leg(side))


def biped(name: str = "biped", **proportions: float) -> Character:
    """A biped of any proportions.

    Args:
      name: how the character is called.
      proportions: see `Proportions`; those not given are the humanoid's.
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
        for joint, group, (_, _, _, _, strength) in _joint_rows()
    }

    def build() -> mujoco.MjSpec:
        spec = _skeleton(shape)
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
    """Knees a little bent, the longer leg's more, both feet flat and level."""
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
    return {f"{side}_shoulder_side": math.pi / 2 for side in ("left", "right")}


def _hip_height(shape: Proportions, side: str, knee: float) -> float:
    thigh, shin, ankle = shape.leg(side)
    return math.sqrt(thigh**2 + shin**2 + 2 * thigh * shin * math.cos(knee)) + ankle


def _joint_rows() -> list[tuple[str, str, tuple[Any, ...]]]:
    """(name, group, row) of all joints, in the order of the body tree."""
    rows: list[tuple[str, str, tuple[Any, ...]]] = [
        (joint, "torso", row) for joint, row in (BACK | CHEST | NECK).items()
    ]
    for side in ("left", "right"):
        rows += [(f"{side}_{j}", f"{side}_arm", row) for j, row in (SHOULDER | ELBOW).items()]
    for side in ("left", "right"):
        rows += [(f"{side}_{j}", f"{side}_leg", row) for j, row in (HIP | KNEE | ANKLE | TOE).items()]
    return rows


def _total_mass(shape: Proportions) -> float:
    return float(_skeleton(shape).compile().body_subtreemass[0])


class _Maker:
    """Adds bones to a spec; positions in m of a body of size 1."""

    def __init__(self, shape: Proportions, spec: mujoco.MjSpec):
        self.shape, self.spec = shape, spec

    def bone(
        self, parent: Any, name: str, pos: Sequence[float], joints: Mapping[str, Any], centre: Sequence[float],
        mass: float, inertia: Sequence[float], longer: float = 1.0, side: str = "",
    ) -> Any:  # fmt: skip
        """A body with its hinges: mass and inertia are those of the humanoid, `longer` the multiple of its length."""
        size, girth = self.shape.size, self.shape.girth
        volume = size**3 * girth**2 * longer
        body = parent.add_body(
            name=name,
            pos=size * np.asarray(pos, float),
            ipos=size * np.asarray(centre, float),
            mass=mass * volume,
            inertia=np.asarray(inertia, float) * volume * (size * longer) ** 2,
            explicitinertial=True,
        )
        mirror = np.array([-1, 1, -1]) if side == "right" else np.ones(3)
        for joint, (axis, low, high, damping, strength) in joints.items():
            body.add_joint(
                name=f"{side}_{joint}" if side else joint,
                type=mujoco.mjtJoint.mjJNT_HINGE,
                axis=np.asarray(axis, float) * mirror,
                range=[low, high],
                damping=damping * size**3 * girth**2,  # with mass, as a walker's gains
                armature=0.01 * size**5 * girth**2 * (strength / 100) ** 0.5,
            )
        return body

    def capsule(self, body: Any, start: Any, end: Any, radius: float, rgba: Any, solid: bool = True) -> None:
        """A capsule from start to end: solid, or a drawing."""
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=self.shape.size * np.asarray([*start, *end], float),
            size=[self.shape.size * radius, 0, 0],
            mass=0,
            rgba=rgba,
            contype=0,
            conaffinity=GROUND_BIT if solid else 0,
            group=0 if solid else 1,
        )

    def ellipsoid(self, body: Any, pos: Any, radii: Any, rgba: Any) -> None:
        """A drawing that neither weighs nor collides."""
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_ELLIPSOID,
            pos=self.shape.size * np.asarray(pos, float),
            size=self.shape.size * np.asarray(radii, float),
            mass=0,
            rgba=rgba,
            contype=0,
            conaffinity=0,
            group=1,
        )


def _skeleton(shape: Proportions) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    make = _Maker(shape, spec)
    wide, girth, bulk = shape.width, shape.girth, shape.pelvis ** (1 / 3)
    hips = max(shape.reach("left"), shape.reach("right"))
    pelvis = make.bone(
        spec.worldbody, "pelvis", (0, 0, hips + 0.03), {}, (0, 0, 0), 12.9 * shape.pelvis,
        np.array((0.13, 0.0705, 0.11)) * bulk**2,
    )  # fmt: skip
    pelvis.add_freejoint(name="root")
    belly = 0.10 * girth * bulk
    make.capsule(pelvis, (0, -0.05 * wide * bulk, 0), (0, 0.05 * wide * bulk, 0), belly, TROUSERS)
    _trunk(make, pelvis, belly)
    for side, sign in (("left", 1), ("right", -1)):
        _leg(make, pelvis, side, sign)
    return spec


def _trunk(make: _Maker, pelvis: Any, belly: float) -> None:
    shape = make.shape
    long, wide, girth = shape.trunk, shape.width, shape.girth
    back = make.bone(
        pelvis, "lower_back", (-0.015, 0, 0.07), BACK, (0.015, 0, 0.09 * long), 7.0, (0.15, 0.1, 0.08), long
    )
    for y in (-0.035, 0.035):
        make.capsule(back, (0.012, y * wide, 0.05 * long), (0.015, y * wide, 0.12 * long), 0.103 * girth, SHIRT, False)
    make.capsule(back, (0.012, 0, -0.03), (0.012, 0, 0.08 * long), min(belly, 0.106 * girth), SHIRT)
    torso = make.bone(
        back, "torso", (0, 0, 0.14 * long), CHEST, (0.012, 0, 0.138 * long), 15.5, (0.31, 0.21, 0.14), long
    )
    make.capsule(torso, (0.012, 0, 0.08 * long), (0.012, 0, 0.20 * long), 0.122 * girth, SHIRT)
    shoulder = 0.175 * wide
    for y in (-1, 1):
        rib, top = (0.012, (shoulder - 0.11) * y, 0.17 * long), (0.008, (shoulder - 0.01) * y, 0.243 * long)
        make.capsule(torso, (0.01, 0.02 * y, 0.03 * long), rib, 0.118 * girth, SHIRT, False)
        make.capsule(torso, (0.0, 0.03 * y, 0.285 * long), top, 0.05 * girth, SHIRT, False)
    _head(make, torso)
    for side, sign in (("left", 1), ("right", -1)):
        _arm(make, torso, side, sign, shoulder)


def _head(make: _Maker, torso: Any) -> None:
    shape = make.shape
    big = shape.head
    head = make.bone(
        torso, "head", (0.0, 0, 0.298 * shape.trunk), NECK, (0.02 * big, 0, 0.09 * big), 5.2 * big**2,
        (0.042, 0.04, 0.02), big,
    )  # fmt: skip

    def ellipsoid(pos: Sequence[float], radii: Sequence[float], rgba: Any) -> None:
        make.ellipsoid(head, big * np.asarray(pos), big * np.asarray(radii), rgba)

    make.capsule(head, (0.02 * big, 0, 0.115 * big), (0.02 * big, 0, 0.155 * big), 0.095 * big, SKIN)
    make.capsule(head, (-0.01 * big, 0, -0.05), (0.0, 0, 0.09 * big), 0.05 * big, SKIN, False)
    add_face(ellipsoid)


def _arm(make: _Maker, torso: Any, side: str, sign: int, shoulder: float) -> None:
    shape = make.shape
    long, girth = shape.arms * float(getattr(shape, f"{side}_arm")), shape.girth
    upper, fore = 0.27 * long, 0.24 * long
    top = (0.008, sign * shoulder, 0.233 * shape.trunk)
    arm = make.bone(
        torso, f"{side}_upper_arm", top, SHOULDER, (0, 0, -0.13 * long), 2.2, (0.02, 0.02, 0.005), long, side
    )
    make.capsule(arm, (0, 0, 0), (0, 0, -upper), 0.045 * girth, SKIN)
    make.capsule(arm, (0, 0, -0.01), (0, 0, -0.45 * upper), 0.058 * girth, SHIRT, False)
    forearm = make.bone(
        arm, f"{side}_forearm", (0, 0, -upper), ELBOW, (0, 0, -0.17 * long), 1.7, (0.025, 0.025, 0.0024), long, side
    )
    make.capsule(forearm, (0, 0, 0), (0, 0, -fore - 0.06 * long), 0.037 * girth, SKIN)
    forearm.add_site(name=f"{side}_palm", pos=shape.size * np.array((0, 0, -fore - 0.07 * long)), group=4)
    make.ellipsoid(forearm, (0, 0, -0.42 * fore), (0.043 * girth, 0.042 * girth, 0.58 * fore), SKIN)
    make.ellipsoid(forearm, (0.004, 0, -fore - 0.07 * long), (0.042 * girth, 0.033 * girth, 0.062 * long), SKIN)
    make.capsule(forearm, (0.024, 0, -fore - 0.03 * long), (0.048, 0, -fore - 0.08 * long), 0.013 * girth, SKIN, False)


def _leg(make: _Maker, pelvis: Any, side: str, sign: int) -> None:
    shape = make.shape
    thigh, shin, ankle = shape.leg(side)
    girth, out = shape.girth, sign * 0.085 * shape.width
    make.ellipsoid(pelvis, (-0.02, out, -0.04), (0.084 * girth, 0.085 * girth, 0.088 * girth), TROUSERS)
    upper = make.bone(
        pelvis, f"{side}_thigh", (-0.01, out, -0.03), HIP, (0, 0, -0.425 * thigh), 6.6, (0.15, 0.15, 0.022),
        thigh / 0.40, side,
    )  # fmt: skip
    make.capsule(upper, (0, 0, -0.02), (0, 0, -thigh), 0.062 * girth, TROUSERS)
    make.ellipsoid(upper, (0.003, 0, -0.35 * thigh), (0.080 * girth, 0.078 * girth, 0.56 * thigh), TROUSERS)
    lower = make.bone(
        upper,
        f"{side}_shin",
        (0, 0, -thigh),
        KNEE,
        (0, 0, -0.478 * shin),
        3.2,
        (0.055, 0.055, 0.007),
        shin / 0.46,
        side,
    )
    make.capsule(lower, (0, 0, 0), (0, 0, -shin + 0.01), 0.048 * girth, TROUSERS)
    make.ellipsoid(lower, (-0.010, 0, -0.33 * shin), (0.059 * girth, 0.056 * girth, 0.42 * shin), TROUSERS)
    _foot(make, lower, side, shin, ankle)


def _foot(make: _Maker, lower: Any, side: str, shin: float, ankle: float) -> None:
    """Two capsules from heel to ball, and the toes across: six points to stand on."""
    k, half, radius = make.shape.foot(side), 0.048, 0.018
    foot = make.bone(
        lower, f"{side}_foot", (0, 0, -shin), ANKLE, (0.03 * k, 0, -0.02 * k), 1.0, (0.002, 0.007, 0.008), k, side
    )
    low, inner = radius * k - ankle, (half - radius) * k
    for y in (-inner, inner):
        make.capsule(foot, (-0.05 * k, y, low), (0.085 * k, y, low), radius * k, SHOES)
    make.capsule(foot, (-0.038 * k, 0, 0.03 * k - ankle), (0.085 * k, 0, 0.028 * k - ankle), 0.0295 * k, SHOES, False)
    make.capsule(foot, (-0.05 * k, -inner, low), (-0.05 * k, inner, low), radius * k, SHOES, False)
    for y in (-0.016 * k, 0.016 * k):
        make.capsule(
            foot, (-0.036 * k, y, 0.03 * k - ankle), (0.085 * k, y, 0.028 * k - ankle), 0.0275 * k, SHOES, False
        )
    make.ellipsoid(foot, (0.002 * k, 0, 0.045 * k - ankle), (0.062 * k, 0.044 * k, 0.04 * k), SHOES)
    toe = make.bone(
        foot, f"{side}_toe", (0.085 * k, 0, low), TOE, (0.03 * k, 0, 0), 0.2, (0.0005, 0.002, 0.002), k, side
    )
    tip = 0.047 * k
    make.capsule(toe, (tip, -inner, 0), (tip, inner, 0), radius * k, SHOES)
    for y in (-inner, -0.4 * inner, 0.4 * inner, inner):
        make.capsule(toe, (0, y, 0), (tip, 0.9 * y, 0), (radius + 0.002) * k, SHOES, False)
