"""Beasts for Simbicon: `big_bird` and `raptor` of coros2010 section 4.5, and the bird in the plane of chapter 3.

    from tumble.characters.simbicon_beasts import big_bird, planar_bird, raptor
    scene = Scene(raptor())

Masses, inertias and places of joints are those of the authors' files. The bird's knees bend backwards, as a bird's
ankles do; the raptor has knees, ankles and toes, and a tail of six bones. What the angles mean: see `simbicon_parts`.

Traps: the trunk, which must be upright, is the neck of both. The bird has no hands. The
raptor's feet are held by the joint 'toe', and its 'ankle' holds the metatarsus.
"""

from typing import Any

import mujoco

from tumble.characters.character import Character
from tumble.characters.looks import EYES
from tumble.characters.simbicon_parts import SIDES, BallJoint, SimbiconMaker, actuated, both, planar_root, shade

YELLOW, FLUFF, ORANGE = (0.95, 0.77, 0.25, 1), (0.98, 0.86, 0.45, 1), (0.88, 0.46, 0.16, 1)
GREEN, BELLY, CLAW = (0.33, 0.47, 0.30, 1), (0.78, 0.74, 0.55, 1), (0.24, 0.22, 0.20, 1)
STRIPE = shade(GREEN, 0.7)
WHITE = (0.95, 0.95, 0.92, 1)

BIG_BIRD = {
    "neck": BallJoint(300, 20, bend=(-0.6, 1.0), side=(-0.6, 0.6), twist=(-0.6, 0.6)),
    "head": BallJoint(300, 20, bend=(-1.2, 0.8), side=(-0.6, 0.6), twist=(-0.6, 0.6)),
} | both(
    {
        "hip": BallJoint(1000, 30, bend=(-1.3, 1.9), side=(-1.0, 1.0), twist=(-0.6, 0.6), steady=150),
        "knee": BallJoint(1000, 30, bend=(-2.6, -0.3)),
        "ankle": BallJoint(500, 15, bend=(-1.5, 1.5), side=(-0.75, 0.75)),
    }
)
# the bird's own, in the plane
PLANAR_BIRD = both(
    {
        "hip": BallJoint(1000, 30, bend=(-1.3, 1.9)),
        "knee": BallJoint(1000, 30, bend=(-2.6, -0.3)),
        "ankle": BallJoint(500, 15, bend=(-1.5, 1.5)),
    }
)
TAIL = (  # place of the joint and centre of mass behind it, m; mass, kg; inertia across and along; capsule
    (-0.28, 0.08, 3.80, 0.020, 0.010, (0.00, 0.16, 0.080)),
    (-0.19, 0.09, 3.40, 0.018, 0.010, (0.03, 0.15, 0.065)),
    (-0.19, 0.10, 3.01, 0.016, 0.010, (0.04, 0.16, 0.050)),
    (-0.20, 0.10, 1.75, 0.010, 0.005, (0.04, 0.16, 0.040)),
    (-0.20, 0.09, 1.30, 0.010, 0.005, (0.01, 0.17, 0.030)),
    (-0.19, 0.22, 1.00, 0.010, 0.005, (0.02, 0.22, 0.020)),
)
RAPTOR = (
    {
        "neck": BallJoint(300, 10, bend=(-0.8, 1.0), side=(-0.6, 0.6), twist=(-0.6, 0.6)),
        "head": BallJoint(300, 20, bend=(-1.2, 0.8), side=(-0.6, 0.6), twist=(-0.6, 0.6)),
    }
    | {
        f"tail_{i}": BallJoint(300, kd, bend=(-0.5, 0.6), twist=(-0.5, 0.5))
        for i, kd in enumerate((20, 20, 20, 15, 8, 5), start=1)
    }
    | both(
        {
            "shoulder": BallJoint(100, 1, bend=(-1.5, 1.5)),
            "elbow": BallJoint(100, 1, bend=(-2.2, 0.5)),
            "hip": BallJoint(1000, 30, bend=(-1.4, 1.2), side=(-0.75, 0.75), twist=(-0.4, 0.4), steady=150),
            "knee": BallJoint(1000, 30, bend=(0.2, 2.2)),
            "ankle": BallJoint(1000, 20, bend=(-2.0, 0.5)),
            "toe": BallJoint(500, 5, bend=(-1.5, 1.75), side=(-0.5, 0.5)),
        }
    )
)
LIMBS = {"arm": ("shoulder", "elbow"), "leg": ("hip", "knee", "ankle", "toe")}
GROUPS = {"neck": "torso", "head": "torso", "tail": "tail"} | {
    f"{side}_{joint}": f"{side}_{limb}" for side, _ in SIDES for limb, joints in LIMBS.items() for joint in joints
}
BIRD_REST = {  # rad
    f"{side}_{joint}_bend": angle
    for side, _ in SIDES
    for joint, angle in (("hip", 0.35), ("knee", -0.75), ("ankle", 0.4))
}


def big_bird() -> Character:
    """A bird of 64.1 kg with a heavy head: 9 bones, 18 hinges and a free root (coros2010 section 4.5)."""

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; the root's frame is in the body's centre of mass."""
        make = SimbiconMaker(BIG_BIRD)
        body = make.bone(make.spec.worldbody, "body", (0, 0, 0.8), None, (0, 0, 0), 20, (0.39, 0.34, 0.40))
        body.add_freejoint(name="root")
        _bird_parts(make, body)
        return make.finish(character)

    character = Character(
        name="big-bird", build=build, joints=actuated(BIG_BIRD, GROUPS), root="body", trunk="neck", head="head",
        feet=("left_foot", "right_foot"), hands=(), arms=(), poses={"rest": dict(BIRD_REST)},
        origin={"kind": "big-bird"},
    )  # fmt: skip
    return character


def planar_bird() -> Character:
    """The bird in the plane y = 0: 7 links, neck and head a part of the body (coros2010 section 3.6)."""

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; the root's frame is in the body's centre of mass."""
        make = SimbiconMaker(PLANAR_BIRD)
        body = make.bone(make.spec.worldbody, "body", (0, 0, 0), None, (0, 0, 0), 20, (0.39, 0.34, 0.40))
        planar_root(body)
        _bird_parts(make, body, stiff=True)
        return make.finish(character)

    character = Character(
        name="planar-bird", build=build, joints=actuated(PLANAR_BIRD, GROUPS), root="body", trunk="neck", head="head",
        feet=("left_foot", "right_foot"), hands=(), arms=(), poses={"rest": dict(BIRD_REST)}, planar=True,
        origin={"kind": "planar-bird"},
    )  # fmt: skip
    return character


def _bird_parts(make: SimbiconMaker, body: Any, stiff: bool = False) -> None:
    """All that hangs on the body; neck and head are a part of it where they are stiff."""
    _bird_trunk(make, body)
    _bird_head(make, body, stiff)
    for side, sign in SIDES:
        _bird_leg(make, body, side, sign)


def _bird_trunk(make: SimbiconMaker, body: Any) -> None:
    """What the body is drawn as; its first capsule collides."""
    make.capsule(body, (-0.04, 0, 0.0), (0.05, 0, 0.03), 0.18, YELLOW)
    make.ellipsoid(body, (0.02, 0, 0.0), (0.25, 0.205, 0.20), YELLOW)
    make.capsule(body, (-0.20, 0, 0.03), (-0.32, 0, 0.12), 0.055, FLUFF, False)
    make.capsule(body, (-0.18, 0, 0.0), (-0.29, 0, 0.04), 0.06, YELLOW, False)
    for y in (-1, 1):
        make.ellipsoid(body, (-0.05, 0.195 * y, 0.03), (0.16, 0.035, 0.10), FLUFF)


def _bird_head(make: SimbiconMaker, body: Any, stiff: bool = False) -> None:
    """Neck and head, each a ball joint unless they are stiff, with beak, eyes and a crest that are drawn only."""
    neck = make.bone(body, "neck", (0.10, 0, 0.16), None if stiff else "neck", (0, 0, 0.04), 10, (0.12, 0.12, 0.08))
    make.capsule(neck, (0, 0, -0.06), (0, 0, 0.12), 0.075, YELLOW)
    make.ellipsoid(neck, (0, 0, -0.02), (0.11, 0.11, 0.09), FLUFF)
    head = make.bone(neck, "head", (0, 0, 0.13), None if stiff else "head", (0.06, 0, 0.085), 10.7, (0.12, 0.24, 0.24))
    make.capsule(head, (-0.02, 0, 0.085), (0.10, 0, 0.085), 0.10, YELLOW)
    make.ellipsoid(head, (0.24, 0, 0.075), (0.13, 0.055, 0.030), ORANGE)
    make.ellipsoid(head, (0.22, 0, 0.045), (0.10, 0.045, 0.022), shade(ORANGE, 0.85))
    for y in (-1, 1):
        make.ellipsoid(head, (0.125, 0.066 * y, 0.135), (0.034, 0.030, 0.036), WHITE)
        make.ellipsoid(head, (0.150, 0.076 * y, 0.138), (0.012, 0.014, 0.016), EYES)
    for x, z in ((-0.02, 0.21), (0.02, 0.225), (0.05, 0.21)):
        make.capsule(head, (x, 0, 0.16), (x - 0.05, 0, z), 0.014, FLUFF, False)


def _bird_leg(make: SimbiconMaker, body: Any, side: str, sign: int) -> None:
    """Thigh, shin and foot; two capsules of the foot stand, all else of it is drawn.

    `sign` is 1 on the left and -1 on the right.
    """
    thigh = make.bone(
        body, f"{side}_thigh", (-0.025, 0.16 * sign, -0.055), f"{side}_hip", (0, 0.02 * sign, -0.135), 3.7,
        (0.05, 0.05, 0.008),
    )  # fmt: skip
    make.capsule(thigh, (0, 0.02 * sign, -0.015), (0, -0.01 * sign, -0.335), 0.05, YELLOW)
    make.ellipsoid(thigh, (0, 0.018 * sign, -0.10), (0.088, 0.078, 0.17), FLUFF)
    shin = make.bone(
        thigh, f"{side}_shin", (0, -0.02 * sign, -0.355), f"{side}_knee", (0, 0, -0.18), 2.2, (0.023, 0.023, 0.003)
    )
    make.capsule(shin, (0, 0, -0.01), (0, 0.02 * sign, -0.20), 0.042, ORANGE)
    make.capsule(shin, (0, 0.02 * sign, -0.20), (-0.01, 0.04 * sign, -0.32), 0.036, ORANGE, False)
    foot = make.bone(
        shin, f"{side}_foot", (-0.01, 0.04 * sign, -0.32), f"{side}_ankle", (0.03, 0, -0.06), 5.8, (0.046, 0.046, 0.086)
    )
    for y in (-0.055 * sign, 0.055 * sign):
        make.capsule(foot, (-0.025, y, -0.07), (0.135, y, -0.07), 0.02, shade(ORANGE, 0.9))
    make.capsule(foot, (0, 0, -0.01), (0.01, 0, -0.055), 0.036, ORANGE, False)
    for y in (-0.075, 0.0, 0.075):
        make.capsule(foot, (0.01, 0.3 * y, -0.06), (0.15, y, -0.066), 0.024, ORANGE, False)
    make.capsule(foot, (0.0, 0, -0.06), (-0.055, 0, -0.068), 0.022, ORANGE, False)


def raptor() -> Character:
    """A raptor of 77.8 kg with a tail: 21 bones, 36 hinges and a free root (coros2010 section 4.5)."""

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; the root's frame is in the body's centre of mass."""
        make = SimbiconMaker(RAPTOR)
        body = make.bone(make.spec.worldbody, "body", (0, 0, 0.75), None, (0, 0, 0), 25.7, (0.22, 2.5, 2.35))
        body.add_freejoint(name="root")
        make.capsule(body, (-0.14, 0, 0.02), (0.24, 0, 0.02), 0.12, GREEN)
        make.ellipsoid(body, (0.18, 0, 0.02), (0.24, 0.125, 0.145), GREEN)
        make.ellipsoid(body, (-0.12, 0, 0.03), (0.24, 0.115, 0.13), GREEN)
        make.ellipsoid(body, (0.10, 0, -0.045), (0.30, 0.10, 0.10), BELLY)
        for x in (-0.2, -0.08, 0.04, 0.16, 0.28):
            make.ellipsoid(body, (x, 0, 0.085), (0.022, 0.10, 0.075), STRIPE)
        _raptor_head(make, body)
        _raptor_tail(make, body)
        for side, sign in SIDES:
            _raptor_arm(make, body, side, sign)
            _raptor_leg(make, body, side, sign)
        return make.finish(character)

    pose = (("hip", -0.35), ("knee", 0.95), ("ankle", -0.75), ("toe", 0.15), ("shoulder", 0.2), ("elbow", -1.2))
    rest = {f"{side}_{joint}_bend": angle for side, _ in SIDES for joint, angle in pose}
    rest |= {"neck_bend": 0.4, "head_bend": -0.5}
    character = Character(
        name="raptor", build=build, joints=actuated(RAPTOR, GROUPS), root="body", trunk="neck", head="head",
        feet=("left_foot", "right_foot"), hands=("left_forearm", "right_forearm"), arms=("left_arm", "right_arm"),
        poses={"rest": rest}, origin={"kind": "raptor"},
    )  # fmt: skip
    return character


def _raptor_head(make: SimbiconMaker, body: Any) -> None:
    """Neck and head, each a ball joint, with jaws and eyes that are drawn only."""
    neck = make.bone(body, "neck", (0.35, 0, 0.05), "neck", (-0.02, 0, 0.16), 5, (0.073, 0.074, 0.013))
    make.capsule(neck, (-0.02, 0, 0.0), (-0.02, 0, 0.26), 0.07, GREEN)
    make.capsule(neck, (-0.07, 0, -0.04), (-0.02, 0, 0.08), 0.09, GREEN, False)
    make.capsule(neck, (0.01, 0, 0.0), (0.01, 0, 0.20), 0.052, BELLY, False)
    head = make.bone(neck, "head", (-0.01, 0, 0.28), "head", (0.12, 0, -0.03), 5.4, (0.02, 0.053, 0.04))
    make.capsule(head, (0.0, 0, -0.01), (0.08, 0, -0.02), 0.08, GREEN)
    make.ellipsoid(head, (0.18, 0, -0.015), (0.15, 0.055, 0.048), GREEN)
    make.ellipsoid(head, (0.16, 0, -0.062), (0.14, 0.047, 0.026), BELLY)
    for y in (-1, 1):
        make.ellipsoid(head, (0.085, 0.066 * y, 0.028), (0.022, 0.016, 0.022), (0.93, 0.72, 0.20, 1))
        make.ellipsoid(head, (0.094, 0.076 * y, 0.030), (0.007, 0.009, 0.015), EYES)
        make.ellipsoid(head, (0.08, 0.055 * y, 0.055), (0.035, 0.018, 0.012), STRIPE)


def _raptor_tail(make: SimbiconMaker, body: Any) -> None:
    """Six bones behind one another, tail_1 to tail_6, by the rows of `TAIL`."""
    parent = body
    for i, (at, behind, mass, across, along, (start, end, radius)) in enumerate(TAIL, start=1):
        z = 0.03 if i == 1 else 0.0
        bone = make.bone(parent, f"tail_{i}", (at, 0, z), f"tail_{i}", (-behind, 0, 0), mass, (along, across, across))
        make.capsule(bone, (-start, 0, 0), (-end - 0.02, 0, 0), radius, GREEN)
        thinner = TAIL[i][5][2] if i < len(TAIL) else 0.4 * radius
        make.capsule(bone, (0, 0, 0), (-end, 0, 0), 0.5 * (radius + thinner), GREEN, False)
        make.ellipsoid(bone, (-0.5 * (start + end), 0, 0.4 * radius), (0.02, 0.85 * radius, 0.68 * radius), STRIPE)
        parent = bone


def _raptor_arm(make: SimbiconMaker, body: Any, side: str, sign: int) -> None:
    """Upper arm and forearm, a hinge each, with claws that are drawn only."""
    arm = make.bone(
        body, f"{side}_upper_arm", (0.33, 0.08 * sign, 0.0), f"{side}_shoulder", (0, 0, -0.08), 0.8,
        (0.003, 0.003, 0.001),
    )  # fmt: skip
    make.capsule(arm, (0, 0.02 * sign, 0.0), (0, 0.02 * sign, -0.16), 0.03, GREEN)
    forearm = make.bone(
        arm, f"{side}_forearm", (0, 0.02 * sign, -0.17), f"{side}_elbow", (0, 0, -0.12), 0.7, (0.003, 0.003, 0.001)
    )
    make.capsule(forearm, (0, 0, -0.01), (0.01, 0, -0.15), 0.025, GREEN)
    for y in (-0.018, 0.0, 0.018):
        make.capsule(forearm, (0.01, 0.5 * y, -0.15), (0.025, y, -0.215), 0.010, CLAW, False)


def _raptor_leg(make: SimbiconMaker, body: Any, side: str, sign: int) -> None:
    """Thigh, shin, metatarsus and foot; `sign` is 1 on the left and -1 on the right.

    The foot's capsules are given in mirrored order, so that both feet meet the ground alike (see `simbicon_parts`).
    """
    thigh = make.bone(
        body, f"{side}_thigh", (-0.1, 0.07 * sign, 0.03), f"{side}_hip", (0, 0, -0.06), 5.12, (0.05, 0.06, 0.02)
    )
    make.capsule(thigh, (0.01, 0.02 * sign, -0.03), (0.035, 0.01 * sign, -0.24), 0.065, GREEN)
    make.ellipsoid(thigh, (0.015, 0.03 * sign, -0.09), (0.095, 0.075, 0.17), GREEN)
    shin = make.bone(
        thigh, f"{side}_shin", (0.04, 0, -0.26), f"{side}_knee", (-0.03, 0, -0.135), 3.6, (0.035, 0.04, 0.009)
    )
    make.capsule(shin, (0, 0, 0), (-0.035, 0, -0.25), 0.046, GREEN)
    make.ellipsoid(shin, (-0.018, 0, -0.09), (0.062, 0.055, 0.13), GREEN)
    metatarsus = make.bone(
        shin, f"{side}_metatarsus", (-0.04, 0.005 * sign, -0.275), f"{side}_ankle", (0.01, 0, -0.09), 1.92,
        (0.01, 0.01, 0.003),
    )  # fmt: skip
    make.capsule(metatarsus, (0, 0, 0), (0.008, 0, -0.11), 0.04, GREEN)
    make.capsule(metatarsus, (0.008, 0, -0.10), (0.02, 0, -0.19), 0.036, STRIPE, False)
    foot = make.bone(
        metatarsus, f"{side}_foot", (0.02, 0, -0.19), f"{side}_toe", (0.07, 0, -0.03), 1.6, (0.003, 0.007, 0.007)
    )
    for y in (-0.052 * sign, 0.052 * sign):
        make.capsule(foot, (-0.012, y, -0.052), (0.132, y, -0.052), 0.018, STRIPE)
    for y in (-0.055, 0.0, 0.055):
        make.capsule(foot, (0.0, 0.4 * y, -0.025), (0.125, y, -0.048), 0.022, STRIPE, False)
        make.capsule(foot, (0.135, y, -0.045), (0.172, 1.05 * y, -0.06), 0.010, CLAW, False)
    make.capsule(foot, (0.005, -0.02 * sign, -0.01), (0.05, -0.05 * sign, 0.02), 0.014, CLAW, False)
