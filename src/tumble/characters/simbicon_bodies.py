"""Two bipeds for Simbicon: `planar`, seven links in the plane, and `biped34`, the humanoid of coros2010 chapter 4.

    from tumble.characters.simbicon_bodies import biped34, planar

Masses, inertias and places of joints are those of the authors' files (facts 1.1, 2.1, 2.2); hands and feet are
drawn larger than they collide. What the angles mean: see `simbicon_parts`.

The root of `planar` is three joints: the slides root_x and root_z, which are Cartesian because they come first, and the
hinge root_pitch.
"""

from typing import Any

import mujoco

from tumble.characters.character import Character
from tumble.characters.looks import SHIRT, SHOES, SKIN, TROUSERS, add_face
from tumble.characters.simbicon_parts import SIDES, BallJoint, SimbiconMaker, actuated, both, planar_root, shade

GROUPS = {"waist": "torso", "neck": "torso"} | {
    f"{side}_{joint}": f"{side}_{limb}"
    for side, _ in SIDES
    for limb, joints in {"arm": ("shoulder", "elbow"), "leg": ("hip", "knee", "ankle", "toe")}.items()
    for joint in joints
}

# |tau| <= 1000 N m and k_d = 30 N m s/rad for all, facts 2.2; the limits of the joints are ours.
PLANAR = both(
    {
        "hip": BallJoint(1000, 30, bend=(-2.4, 1.2)),
        "knee": BallJoint(1000, 30, bend=(0.0, 2.8)),
        "ankle": BallJoint(1000, 30, bend=(-0.9, 1.2)),
    }
)
BIPED34 = {
    "waist": BallJoint(500, 30, bend=(-0.6, 0.6), side=(-0.6, 0.6), twist=(-0.6, 0.6)),
    "neck": BallJoint(200, 20, bend=(-0.6, 1.0), side=(-0.6, 0.6), twist=(-0.6, 0.6)),
} | both(
    {
        "shoulder": BallJoint(200, 5, bend=(-3.0, 1.5), side=(-0.3, 2.9), twist=(-1.5, 1.5)),
        "elbow": BallJoint(200, 1, bend=(-2.7, 0.0)),
        "hip": BallJoint(1000, 30, bend=(-1.9, 1.3), side=(-1.0, 1.0), twist=(-0.6, 0.6), steady=150),
        "knee": BallJoint(1000, 30, bend=(0.0, 2.5)),
        "ankle": BallJoint(500, 10, bend=(-0.75, 1.0), side=(-0.75, 0.75)),
        "toe": BallJoint(50, 0.5, bend=(-0.52, 0.02)),
    }
)


def planar() -> Character:
    """Seven links in the plane y = 0: a trunk of 70 kg and two legs of 10 kg (facts 2.2)."""

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; the root's frame is between the hips."""
        make = SimbiconMaker(PLANAR)
        # with the head, which is a part of the trunk: 70 kg, centre 0.24 m above the hips, 1.475 kg m^2 about y
        torso = make.bone(make.spec.worldbody, "torso", (0, 0, 0), None, (0, 0, 0.2115), 65, (0.75, 0.72, 0.5))
        planar_root(torso)
        _planar_trunk(make, torso)
        for side, sign in SIDES:
            _planar_leg(make, torso, side, sign)
        return make.finish(character)

    rest = {f"{side}_{joint}_bend": angle for side, _ in SIDES
            for joint, angle in (("hip", -0.1), ("knee", 0.2), ("ankle", -0.1))}  # fmt: skip
    character = Character(
        name="planar", build=build, joints=actuated(PLANAR, GROUPS), root="torso", trunk="head", head="head",
        feet=("left_foot", "right_foot"), hands=(), arms=(), poses={"rest": rest},
        planar=True, origin={"kind": "planar"},
    )  # fmt: skip
    return character


def _planar_trunk(make: SimbiconMaker, torso: Any) -> None:
    """The trunk's shapes, and the head, a bone without joints that has 5 of the trunk's 70 kg."""
    make.capsule(torso, (0, 0, 0.04), (0, 0, 0.37), 0.09, SHIRT)
    for y in (-0.05, 0.05):
        make.capsule(torso, (0.0, 0.5 * y, 0.10), (0.012, 1.2 * y, 0.36), 0.085, SHIRT, False)
    make.capsule(torso, (0, -0.04, 0.01), (0, 0.04, 0.01), 0.085, TROUSERS, False)
    head = make.bone(torso, "head", (0, 0, 0.48), None, (0.02, 0, 0.13), 5, (0.02, 0.02, 0.02))  # of the trunk's 70 kg
    make.capsule(head, (0, 0, -0.06), (0.01, 0, 0.06), 0.045, SKIN, False)
    make.capsule(head, (0.02, 0, 0.12), (0.02, 0, 0.16), 0.092, SKIN)
    _face(make, head, 0.0, 0.005)


def _planar_leg(make: SimbiconMaker, torso: Any, side: str, sign: int) -> None:
    """The legs are 12 cm apart to be seen; in the plane that is nothing."""
    light = 1.0 if side == "right" else 1.35
    cloth, shoe = shade(TROUSERS, light), shade(SHOES, 1.0 if side == "right" else 0.8)
    thigh = make.bone(
        torso, f"{side}_thigh", (0, 0.06 * sign, 0), f"{side}_hip", (0, 0, -0.225), 5, (0.0885, 0.0885, 0.02)
    )
    make.capsule(thigh, (0, 0, -0.02), (0, 0, -0.45), 0.058, cloth)
    make.ellipsoid(thigh, (0.004, 0, -0.15), (0.075, 0.068, 0.24), cloth)
    shin = make.bone(thigh, f"{side}_shin", (0, 0, -0.45), f"{side}_knee", (0, 0, -0.225), 4, (0.0696, 0.0696, 0.01))
    make.capsule(shin, (0, 0, 0), (0, 0, -0.33), 0.045, cloth)  # the foot is what stands
    make.capsule(shin, (0, 0, -0.30), (0, 0, -0.44), 0.043, cloth, False)
    make.ellipsoid(shin, (-0.012, 0, -0.15), (0.056, 0.052, 0.19), cloth)
    foot = make.bone(shin, f"{side}_foot", (0, 0, -0.45), f"{side}_ankle", (0.04, 0, -0.02), 1, (0.005, 0.01, 0.01))
    for y in (-0.025, 0.025):
        make.capsule(foot, (-0.04, y, -0.02), (0.12, y, -0.02), 0.02, shoe)
    make.ellipsoid(foot, (0.0, 0, -0.005), (0.065, 0.043, 0.045), shoe)
    make.capsule(foot, (-0.03, 0, -0.012), (0.115, 0, -0.018), 0.024, shoe, False)


def biped34() -> Character:
    """The humanoid of coros2010 section 4.5: 15 bones, 28 hinges and a free root, 70.4 kg, 1.75 m."""

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; the pelvis' frame is in its centre of mass."""
        make = SimbiconMaker(BIPED34)
        pelvis = make.bone(make.spec.worldbody, "pelvis", (0, 0, 1.033), None, (0, 0, 0), 12.9, (0.13, 0.0705, 0.11))
        pelvis.add_freejoint(name="root")
        make.capsule(pelvis, (0, -0.055, 0), (0, 0.055, 0), 0.105, TROUSERS)
        torso = _trunk(make, pelvis)
        for side, sign in SIDES:
            _arm(make, torso, side, sign)
            _leg(make, pelvis, side, sign)
        return make.finish(character)

    rest = {f"{side}_{joint}_bend": angle for side, _ in SIDES
            for joint, angle in (("hip", -0.1), ("knee", 0.2), ("ankle", -0.1), ("elbow", -0.3))}  # fmt: skip
    character = Character(
        name="biped34", build=build, joints=actuated(BIPED34, GROUPS), root="pelvis", trunk="torso", head="head",
        feet=("left_foot", "right_foot"), hands=("left_forearm", "right_forearm"), arms=("left_arm", "right_arm"),
        poses={"rest": rest}, origin={"kind": "biped34"},
    )  # fmt: skip
    return character


def _trunk(make: SimbiconMaker, pelvis: Any) -> Any:
    """The torso on the pelvis, with the head on it; returns the torso, which arms hang on."""
    torso = make.bone(pelvis, "torso", (-0.035, 0, 0.17), "waist", (0.01, 0, 0.23), 22.5, (0.46, 0.34, 0.21))
    make.capsule(torso, (0.03, -0.03, 0.0), (0.03, 0.03, 0.0), 0.107, SHIRT)
    make.capsule(torso, (0.03, -0.045, 0.20), (0.03, 0.045, 0.20), 0.120, SHIRT)
    make.capsule(torso, (0.03, 0, -0.10), (0.03, 0, 0.12), 0.108, SHIRT, False)
    for y in (-1, 1):
        make.capsule(torso, (0.03, 0.03 * y, 0.05), (0.03, 0.085 * y, 0.245), 0.104, SHIRT, False)
        make.capsule(torso, (0.015, 0.03 * y, 0.345), (0.028, 0.19 * y, 0.300), 0.052, SHIRT, False)
    head = make.bone(torso, "head", (0.01, 0, 0.33), "neck", (0.025, 0, 0.16), 5.2, (0.042, 0.04, 0.02))
    make.capsule(head, (0.03, 0, 0.155), (0.03, 0, 0.195), 0.095, SKIN)
    make.capsule(head, (0, 0, -0.03), (0.01, 0, 0.12), 0.05, SKIN, False)
    _face(make, head, 0.01, 0.04)
    return torso


def _face(make: SimbiconMaker, head: Any, x: float, z: float) -> None:
    """Hair, nose, mouth, eyes and ears of a skull around (x + 0.02, 0, z + 0.135)."""

    def ellipsoid(pos: tuple[float, float, float], radii: tuple[float, float, float], rgba: Any) -> None:
        """Draw on the head, moved by (x, 0, z)."""
        make.ellipsoid(head, (pos[0] + x, pos[1], pos[2] + z), radii, rgba)

    add_face(ellipsoid)


def _arm(make: SimbiconMaker, torso: Any, side: str, sign: int) -> None:
    """Upper arm and forearm, the hand a part of it; `sign` is 1 on the left and -1 on the right."""
    arm = make.bone(
        torso, f"{side}_upper_arm", (0.03, 0.20 * sign, 0.30), f"{side}_shoulder", (0, 0, -0.17), 2.2,
        (0.02, 0.02, 0.005),
    )  # fmt: skip
    make.capsule(arm, (0, 0, 0), (0, 0, -0.32), 0.045, SKIN)
    make.capsule(arm, (0, 0, -0.01), (0, 0, -0.15), 0.058, SHIRT, False)
    forearm = make.bone(
        arm, f"{side}_forearm", (0.006, 0, -0.32), f"{side}_elbow", (0, 0, -0.17), 1.7, (0.025, 0.025, 0.0024)
    )
    make.capsule(forearm, (0, 0, 0), (0, 0, -0.30), 0.036, SKIN)
    make.ellipsoid(forearm, (0, 0, -0.11), (0.043, 0.042, 0.15), SKIN)
    make.ellipsoid(forearm, (0.004, 0, -0.32), (0.042, 0.033, 0.065), SKIN)
    make.capsule(forearm, (0.024, 0, -0.28), (0.048, 0, -0.33), 0.013, SKIN, False)


def _leg(make: SimbiconMaker, pelvis: Any, side: str, sign: int) -> None:
    """Thigh, shin, foot and toes.

    `sign` is 1 on the left and -1 on the right, and mirrors the order of the capsules too (see `simbicon_parts`).
    """
    make.ellipsoid(pelvis, (-0.02, 0.095 * sign, -0.045), (0.088, 0.088, 0.09), TROUSERS)
    thigh = make.bone(
        pelvis, f"{side}_thigh", (0, 0.10 * sign, -0.05), f"{side}_hip", (0, 0, -0.21), 6.6, (0.15, 0.15, 0.022)
    )
    make.capsule(thigh, (0, 0, -0.02), (0, 0, -0.47), 0.062, TROUSERS)
    make.ellipsoid(thigh, (0.003, 0, -0.165), (0.082, 0.080, 0.26), TROUSERS)
    shin = make.bone(thigh, f"{side}_shin", (0, 0, -0.47), f"{side}_knee", (0, 0, -0.21), 3.2, (0.055, 0.055, 0.007))
    make.capsule(shin, (0, 0, 0), (0.005, 0, -0.33), 0.048, TROUSERS)  # the foot is what stands
    make.capsule(shin, (0.005, 0, -0.30), (0.01, 0, -0.44), 0.046, TROUSERS, False)
    make.ellipsoid(shin, (-0.010, 0, -0.155), (0.059, 0.056, 0.195), TROUSERS)
    foot = make.bone(
        shin, f"{side}_foot", (0.01, 0, -0.46), f"{side}_ankle", (0.04, 0, -0.02), 1.0, (0.002, 0.007, 0.008)
    )
    for y in (-0.026 * sign, 0.026 * sign):  # where the edges of the authors' box stand; see `simbicon_parts`
        make.capsule(foot, (-0.04, y, -0.035), (0.09, y, -0.035), 0.018, SHOES)
        make.capsule(foot, (-0.03, 0.6 * y, -0.022), (0.085, 0.6 * y, -0.025), 0.028, SHOES, False)
    make.ellipsoid(foot, (0.0, 0, -0.005), (0.064, 0.046, 0.042), SHOES)
    toe = make.bone(foot, f"{side}_toe", (0.09, 0, -0.037), f"{side}_toe", (0.025, 0, 0), 0.2, (0.0005, 0.002, 0.002))
    make.capsule(toe, (0.045, -0.018 * sign, 0), (0.045, 0.018 * sign, 0), 0.016, SHOES)
    for y in (-0.03, -0.012, 0.012, 0.03):
        make.capsule(toe, (0, y, 0.002), (0.045, 0.9 * y, 0), 0.017, SHOES, False)
