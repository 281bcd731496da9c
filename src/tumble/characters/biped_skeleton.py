"""The bones of a biped: its joints, its proportions, and the spec that they make.

    from tumble.characters.biped_skeleton import Proportions, skeleton
    model = skeleton(Proportions(legs=1.2)).compile()

A spec of this file has bones, joints and drawings but no sensors: `biped` adds them, and the names of the parts. A
bone's frame has its origin in the joint that holds it, and all frames are parallel when all angles are 0: x ahead,
y left, z up. Places, masses and inertias are written as those of a body of size 1; `_Maker` multiplies them.

Traps: lengths that `Proportions` tells are in units of size, those of a spec in m. Bones collide with what is not of
the body, never with each other: legs can pass through one another. What is in geom group 1 is a drawing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tumble.characters.humanoid import GROUND_BIT
from tumble.characters.looks import SHIRT, SHOES, SKIN, TROUSERS, add_face
from tumble.errors import UserError, check_number

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
        """Refuse numbers out of range, a knee that leaves no thigh or shin, and legs that differ by more than 30 %."""
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


def joint_rows() -> list[tuple[str, str, tuple[Any, ...]]]:
    """(name, group, row) of all joints, in the order of the body tree.

    That is the order of a biped's controls. A row is (axis, low, high, damping, strength), as in the tables above.
    """
    rows: list[tuple[str, str, tuple[Any, ...]]] = [
        (joint, "torso", row) for joint, row in (BACK | CHEST | NECK).items()
    ]
    for side in ("left", "right"):
        rows += [(f"{side}_{j}", f"{side}_arm", row) for j, row in (SHOULDER | ELBOW).items()]
    for side in ("left", "right"):
        rows += [(f"{side}_{j}", f"{side}_leg", row) for j, row in (HIP | KNEE | ANKLE | TOE).items()]
    return rows


class _Maker:
    """Adds bones to a spec; positions in m of a body of size 1."""

    def __init__(self, shape: Proportions, spec: mujoco.MjSpec):
        """Add bones of this shape to `spec`, which is changed in place."""
        self.shape, self.spec = shape, spec

    def bone(
        self, parent: Any, name: str, pos: Sequence[float], joints: Mapping[str, Any], centre: Sequence[float],
        mass: float, inertia: Sequence[float], longer: float = 1.0, side: str = "",
    ) -> Any:  # fmt: skip
        """A body with its hinges: mass and inertia are those of the humanoid, `longer` the multiple of its length.

        With size s, girth g and length l, mass goes with s^3 g^2 l and inertia with that times (s l)^2.

        Args:
          parent: the body that it hangs on.
          pos: of its joint in the parent's frame, m at size 1.
          joints: rows (axis, low, high, damping, strength) by name, in series.
          centre: its centre of mass in its own frame, m at size 1.
          mass, inertia: kg, and kg m^2 about x, y and z.
          side: 'left' or 'right', the prefix of the joints' names; on the right, axes along x and z are reversed.
        """
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
        """A capsule from start to end, m at size 1: solid, or a drawing. Neither weighs: masses are those of `bone`."""
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


def skeleton(shape: Proportions) -> mujoco.MjSpec:
    """A fresh spec of the bones, with the longer leg's sole on z = 0 when all angles are 0."""
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
    """Lower back, torso and what hangs on it; the belly's radius, m at size 1, bounds that of the lower back."""
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
    """Head and neck in one bone, whose mass goes with the cube of its multiple."""
    shape = make.shape
    big = shape.head
    head = make.bone(
        torso, "head", (0.0, 0, 0.298 * shape.trunk), NECK, (0.02 * big, 0, 0.09 * big), 5.2 * big**2,
        (0.042, 0.04, 0.02), big,
    )  # fmt: skip

    def ellipsoid(pos: Sequence[float], radii: Sequence[float], rgba: Any) -> None:
        """Draw on the head, as large as it is."""
        make.ellipsoid(head, big * np.asarray(pos), big * np.asarray(radii), rgba)

    make.capsule(head, (0.02 * big, 0, 0.115 * big), (0.02 * big, 0, 0.155 * big), 0.095 * big, SKIN)
    make.capsule(head, (-0.01 * big, 0, -0.05), (0.0, 0, 0.09 * big), 0.05 * big, SKIN, False)
    add_face(ellipsoid)


def _arm(make: _Maker, torso: Any, side: str, sign: int, shoulder: float) -> None:
    """Upper arm and forearm; the hand is a part of the forearm, with the site SIDE_palm in its middle.

    `sign` is 1 on the left and -1 on the right, `shoulder` its distance from the middle, m at size 1.
    """
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
    """Thigh, shin and foot, the hip 3 cm below the pelvis' frame at size 1.

    `sign` is 1 on the left and -1 on the right.
    """
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
