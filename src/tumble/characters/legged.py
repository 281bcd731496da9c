"""The characters of rajamaki2017: a humanoid that walks, a monoped, a quadruped, and the humanoid's legs in the plane.

    from tumble.characters import character
    hopper = character("monoped")

Sizes, masses and limits are those of the authors' code (facts 5.3). Axes are x forward, y left, z up; all angles are 0
when limbs hang straight. A positive angle flexes (hips, knees, elbows), lifts the toes, bends the spine forwards, and
moves a limb away from the middle; the monoped's goes to its left. Knees and elbows cannot be quite straight, as the
authors want it: 0 is outside their limits. That 45 degrees of the spine are forwards is our reading of their sign.

Traps: capsules are round, so that the monoped stands on a point, and a walker's foot tips over its side. The planar
walker is held in its plane by inertia: its root could move in all ways, and its qpos is that of a free joint, but
root_y, roll and yaw are too inert to do so (1e-5 rad in 30 s of stumbling).

Departures: the authors collide all capsules that share no joint; here a left leg meets a right one and nothing else, as
in `humanoid`. A shin collides up to 5 cm above the ankle only: its end would be in the foot, and touch the ground with
it. The quadruped's hips cannot twist (authors: within 0.1 degrees), and its elbows point back where the authors' knees
all bend one way. A drag on the monoped's root, without which MuJoCo's steps of 1/30 s can spin a folded one up until it
explodes. Where the quadruped's hips are, and what the planar walker (their 2D walker) is made of: not given; ours.
"""

import math
from collections.abc import Mapping
from typing import Any

import mujoco

from tumble.characters.character import Character
from tumble.characters.legged_parts import MOTOR_GAIN, SIDES, Hinge, LeggedMaker, Size, actuated, density, on
from tumble.characters.looks import SHIRT, SHOES, SKIN, TROUSERS, Colour, add_face
from tumble.characters.simbicon_parts import shade

# The walker: capsules and half widths in m, limits in degrees (facts 5.3), activities as in `humanoid`.
TRUNK = {"pelvis": Size(0.09, 0.25), "torso": Size(0.09, 0.25), "head": Size(0.065, 0.25)}
LEG = {"thigh": Size(0.05, 0.405), "shin": Size(0.05, 0.45), "foot": Size(0.05, 0.25)}
ARM = {"upper_arm": Size(0.04, 0.324), "forearm": Size(0.04, 0.405)}
WALKER = [*TRUNK.values(), *(2 * [*LEG.values(), *ARM.values()])]
HIP_OUT, SHOULDER_OUT, SHOULDER_DOWN = 0.11, 0.165, 0.025
HEEL, CLEAR = 0.07, 0.05  # of the foot's core behind the ankle; of the solid shin above it (ours)

SPINE = {
    "spine_bend": Hinge((0, 1, 0), -15, 45, 0.5),
    "spine_side": Hinge((1, 0, 0), -30, 30, 0.5),
    "spine_twist": Hinge((0, 0, 1), -30, 30, 0.5),
}
NECK = {  # half the spine's limits
    "neck_bend": Hinge((0, 1, 0), -7.5, 22.5, 0.4),
    "neck_side": Hinge((1, 0, 0), -15, 15, 0.4),
    "neck_twist": Hinge((0, 0, 1), -15, 15, 0.4),
}
SHOULDER = {
    "shoulder_side": Hinge((1, 0, 0), -15, 150, 1.0),
    "shoulder_bend": Hinge((0, -1, 0), -60, 150, 1.0),
    "shoulder_twist": Hinge((0, 0, 1), -15, 15, 1.0),
}
ELBOW = {"elbow": Hinge((0, -1, 0), 1, 120, 0.8)}
HIP = {
    "hip_bend": Hinge((0, -1, 0), -30, 130, 1.0),
    "hip_side": Hinge((1, 0, 0), -15, 70, 1.0),
    "hip_twist": Hinge((0, 0, 1), -30, 30, 1.0),
}
KNEE = {"knee": Hinge((0, 1, 0), 5, 160, 1.0)}
ANKLE = {"ankle": Hinge((0, -1, 0), -45, 15, 1.0)}
FLAT_HIP = {"hip_bend": HIP["hip_bend"]}

# The monoped: all capsules are alike, and so are both joints. The narrow limit is that of the twist along the limb; it
# stands between the wide ones, so that no axis ever lies along another.
SEGMENT, DRAG = Size(0.05, 0.5), 0.3  # N s/m and N m s/rad: slows 10 kg by 3 % in a second


def _ball(name: str) -> dict[str, Hinge]:
    """The three hinges of a joint of the monoped, in series; limits in degrees."""
    return {
        f"{name}_bend": Hinge((0, -1, 0), -90, 90, 1.0),
        f"{name}_twist": Hinge((0, 0, 1), -15, 15, 1.0),
        f"{name}_side": Hinge((1, 0, 0), -90, 90, 1.0),
    }


# The quadruped. Its front knees, elbows in truth, bend the other way.
BARREL, HIP_AHEAD, HIP_ASIDE, HIP_BELOW = Size(0.1, 0.75), 0.375, 0.12, 0.03
BEAST = [BARREL, *(4 * [LEG["thigh"], LEG["shin"]])]
BEAST_HIP = {  # the twist, within 0.1 degrees, is left out
    "hip_bend": Hinge((0, -1, 0), -30, 30, 1.0),
    "hip_side": Hinge((1, 0, 0), -30, 30, 1.0),
}
BEAST_KNEES = {
    "front": {"knee": Hinge((0, -1, 0), 1, 90, 1.0)},
    "hind": {"knee": Hinge((0, 1, 0), 1, 90, 1.0)},
}
LEGS = [f"{side}_{end}" for end in BEAST_KNEES for side, _ in SIDES]
FUR, MUZZLE, DARK = (0.78, 0.57, 0.36, 1), (0.95, 0.88, 0.78, 1), (0.42, 0.29, 0.20, 1)


def humanoid_walker() -> Character:
    """The humanoid of rajamaki2017: 13 capsules, 24 hinges and a free root, 30 kg, 1.72 m."""

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; the pelvis has its origin between the hips."""
        make = LeggedMaker(density(30.0, WALKER))
        pelvis = make.bone(make.spec.worldbody, "pelvis", (0, 0, _leg_length()), {})
        pelvis.add_freejoint(name="root")
        torso = _trunk(make, pelvis, SPINE, NECK)
        for side, sign in SIDES:
            _arm(make, torso, side, sign)
            _leg(make, pelvis, side, sign, HIP, side)
        return make.finish(character)

    groups = {"torso": SPINE | NECK}
    groups |= {f"{side}_arm": on(side, SHOULDER | ELBOW) for side, _ in SIDES}
    groups |= {f"{side}_leg": on(side, HIP | KNEE | ANKLE) for side, _ in SIDES}
    elbows = {f"{side}_elbow": math.radians(ELBOW["elbow"].low) for side, _ in SIDES}
    spread = {f"{side}_shoulder_side": math.pi / 2 for side, _ in SIDES}
    character = Character(
        name="humanoid-walker", build=build, joints=actuated(groups), root="pelvis", trunk="torso", head="head",
        feet=("left_foot", "right_foot"), hands=("left_forearm", "right_forearm"), arms=("left_arm", "right_arm"),
        poses={"rest": _straight() | elbows, "t-pose": _straight() | elbows | spread},
        motor_gain=MOTOR_GAIN, origin={"kind": "humanoid-walker"},
    )  # fmt: skip
    return character


def planar_walker() -> Character:
    """The humanoid walker without arms in the plane y = 0: a stiff trunk, 6 hinges, 25 kg."""

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; the root has slides before a ball joint, see `keep_in_plane`."""
        make = LeggedMaker(density(30.0, WALKER))
        pelvis = make.bone(make.spec.worldbody, "pelvis", (0, 0, 0), {})  # slides count from here
        make.weigh(pelvis, TRUNK["pelvis"], TRUNK["pelvis"].length / 2)
        make.keep_in_plane(pelvis)
        _trunk(make, pelvis, {}, {})
        for side, sign in SIDES:
            _leg(make, pelvis, side, sign, FLAT_HIP)
        return make.finish(character)

    groups = {f"{side}_leg": on(side, FLAT_HIP | KNEE | ANKLE) for side, _ in SIDES}
    character = Character(
        name="planar-walker", build=build, joints=actuated(groups), root="pelvis", trunk="torso", head="head",
        feet=("left_foot", "right_foot"), hands=(), arms=(), poses={"rest": _straight()},
        motor_gain=MOTOR_GAIN, planar=True, origin={"kind": "planar-walker"},
    )  # fmt: skip
    return character


def _leg_length() -> float:
    """From the hip to the ground when it is straight, m."""
    return LEG["thigh"].length + LEG["shin"].length + LEG["foot"].radius


def _hip_above(knee: float) -> float:
    """Bend of a hip, rad, at which the shin ends below it."""
    thigh, shin = LEG["thigh"].length, LEG["shin"].length
    return math.atan2(shin * math.sin(knee), thigh + shin * math.cos(knee))


def _straight() -> dict[str, float]:
    """As straight as the knees can be, ankles below the hips and soles level."""
    knee = math.radians(KNEE["knee"].low)
    hip = _hip_above(knee)
    angles = {"hip_bend": hip, "knee": knee, "ankle": knee - hip}
    return {f"{side}_{joint}": angle for side, _ in SIDES for joint, angle in angles.items()}


def _trunk(make: LeggedMaker, pelvis: Any, spine: Mapping[str, Hinge], neck: Mapping[str, Hinge]) -> Any:
    """The torso, after pelvis and head were given their shapes. The pelvis has its origin between the hips."""
    radius, low = TRUNK["pelvis"]
    make.solid(pelvis, (0, 0, 0), (0, 0, low), radius, TROUSERS)
    torso = make.bone(pelvis, "torso", (0, 0, low), spine)
    radius, high = TRUNK["torso"]
    make.solid(torso, (0, 0, 0), (0, 0, high), radius, SHIRT)
    head = make.bone(torso, "head", (0, 0, high), neck)
    radius, length = TRUNK["head"]
    make.solid(head, (0, 0, 0), (0, 0, length), radius, SKIN)
    for y in (-1, 1):
        make.capsule(pelvis, (0, 0.04 * y, 0.01), (0, 0.03 * y, 0.10), 0.088, TROUSERS)
        make.capsule(pelvis, (0, 0.02 * y, 0.13), (0, 0.02 * y, low), 0.092, SHIRT)
        make.capsule(torso, (0, 0.02 * y, 0.0), (0, 0.07 * y, 0.17), 0.092, SHIRT)
        make.capsule(torso, (0, 0.03 * y, 0.265), (0, 0.145 * y, 0.225), 0.05, SHIRT)
    make.ellipsoid(head, (0.012, 0, 0.205), (0.092, 0.083, 0.110), SKIN)

    def ellipsoid(pos: tuple[float, float, float], radii: tuple[float, float, float], rgba: Colour) -> None:
        """Draw on the head, which is higher and narrower than that of `add_face`."""
        make.ellipsoid(head, (pos[0] - 0.008, 0.9 * pos[1], pos[2] + 0.07), radii, rgba)

    add_face(ellipsoid)
    return torso


def _arm(make: LeggedMaker, torso: Any, side: str, sign: int) -> None:
    """Upper arm and forearm, the hand a part of it; `sign` is 1 on the left and -1 on the right."""
    shoulder = (0, SHOULDER_OUT * sign, TRUNK["torso"].length - SHOULDER_DOWN)
    upper_arm = make.bone(torso, f"{side}_upper_arm", shoulder, on(side, SHOULDER))
    radius, upper = ARM["upper_arm"]
    make.solid(upper_arm, (0, 0, 0), (0, 0, -upper), radius, SKIN)
    make.capsule(upper_arm, (0, 0, 0), (0, 0, -0.4 * upper), 1.25 * radius, SHIRT)
    forearm = make.bone(upper_arm, f"{side}_forearm", (0, 0, -upper), on(side, ELBOW))
    radius, fore = ARM["forearm"]
    make.solid(forearm, (0, 0, 0), (0, 0, -fore), radius, SKIN)
    make.ellipsoid(forearm, (0.004, 0, -fore), (0.046, 0.041, 0.06), SKIN)
    make.capsule(forearm, (0.024, 0, 0.06 - fore), (0.048, 0, -fore), 0.014, SKIN)


def _leg(make: LeggedMaker, pelvis: Any, side: str, sign: int, hip: Mapping[str, Hinge], meets: str = "") -> None:
    """A leg; with `meets`, its side, it collides with the other."""
    cloth, shoe = (TROUSERS, SHOES) if meets or side == "right" else (shade(TROUSERS, 1.35), shade(SHOES, 0.8))
    upper = make.bone(pelvis, f"{side}_thigh", (0, HIP_OUT * sign, 0), on(side, hip))
    radius, thigh = LEG["thigh"]
    make.solid(upper, (0, 0, 0), (0, 0, -thigh), radius, cloth, meets)
    make.ellipsoid(upper, (0, -0.005 * sign, -0.30 * thigh), (0.072, 0.068, 0.5 * thigh), cloth)
    lower = make.bone(upper, f"{side}_shin", (0, 0, -thigh), on(side, KNEE))
    radius, shin = LEG["shin"]
    make.weigh(lower, LEG["shin"], -shin / 2)
    make.solid(lower, (0, 0, 0), (0, 0, CLEAR - shin), radius, cloth, meets)
    make.capsule(lower, (0, 0, 1.5 * CLEAR - shin), (0, 0, -shin), 0.97 * radius, cloth)
    foot = make.bone(lower, f"{side}_foot", (0, 0, -shin), on(side, ANKLE))
    radius, length = LEG["foot"]
    make.solid(foot, (-HEEL, 0, 0), (length - HEEL, 0, 0), radius, shoe, meets)


def monoped() -> Character:
    """The monoped of rajamaki2017: three capsules on end, two ball joints and a free root, 10 kg, 1.6 m."""
    hip, knee = _ball("hip"), _ball("knee")
    radius, length = SEGMENT

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; straight, its end is on z = 0."""
        make = LeggedMaker(density(10.0, 3 * [SEGMENT]))
        torso = make.bone(make.spec.worldbody, "torso", (0, 0, 2 * length + radius), {})
        torso.add_joint(name="root", type=mujoco.mjtJoint.mjJNT_FREE, damping=DRAG)
        make.solid(torso, (0, 0, 0), (0, 0, length), radius, SHIRT)
        thigh = make.bone(torso, "thigh", (0, 0, 0), hip)
        make.solid(thigh, (0, 0, 0), (0, 0, -length), radius, TROUSERS)
        shin = make.bone(thigh, "shin", (0, 0, -length), knee)
        make.solid(shin, (0, 0, 0), (0, 0, -length), radius, SKIN)
        make.eyes(torso, 0.040, 0.024, length - 0.01, 0.022)
        make.ellipsoid(torso, (0.047, 0, length - 0.075), (0.006, 0.018, 0.005), MUZZLE)
        make.capsule(shin, (0, 0, 0.10 - length), (0, 0, 0.002 - length), 1.03 * radius, SHOES)
        return make.finish(character)

    character = Character(
        name="monoped", build=build, joints=actuated({"leg": hip | knee}), root="torso", trunk="torso", head="torso",
        feet=("shin",), hands=(), arms=(), poses={"rest": {}},
        motor_gain=MOTOR_GAIN, origin={"kind": "monoped"},
    )  # fmt: skip
    return character


def quadruped() -> Character:
    """The quadruped of rajamaki2017: a torso and four legs of two capsules, 12 hinges and a free root, 30 kg."""

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors; feet are on z = 0 with all angles at 0, which its knees' limits forbid."""
        make = LeggedMaker(density(30.0, BEAST))
        radius, length = BARREL
        height = HIP_BELOW + LEG["thigh"].length + LEG["shin"].length + LEG["shin"].radius
        torso = make.bone(make.spec.worldbody, "torso", (0, 0, height), {})
        torso.add_freejoint(name="root")
        make.solid(torso, (-length / 2, 0, 0), (length / 2, 0, 0), radius, FUR)
        _beast_face(make, torso, length / 2)
        for leg in LEGS:
            _beast_leg(make, torso, leg)
        return make.finish(character)

    groups = {f"{leg}_leg": on(leg, BEAST_HIP | BEAST_KNEES[_end(leg)]) for leg in LEGS}
    character = Character(
        name="quadruped", build=build, joints=actuated(groups), root="torso", trunk="torso", head="torso",
        feet=tuple(f"{leg}_shin" for leg in LEGS), hands=(), arms=(), poses={"rest": _four_straight()},
        motor_gain=MOTOR_GAIN, origin={"kind": "quadruped"},
    )  # fmt: skip
    return character


def _four_straight() -> dict[str, float]:
    """As straight as the knees can be, with the feet below the hips."""
    knees = {leg: math.radians(BEAST_KNEES[_end(leg)]["knee"].low) for leg in LEGS}
    bends = {leg: (-1 if _end(leg) == "front" else 1) * _hip_above(knee) for leg, knee in knees.items()}
    return {f"{leg}_hip_bend": bend for leg, bend in bends.items()} | {f"{leg}_knee": a for leg, a in knees.items()}


def _end(leg: str) -> str:
    """'front' or 'hind' of a leg such as 'left_front'."""
    return leg.partition("_")[2]


def _beast_face(make: LeggedMaker, torso: Any, end: float) -> None:
    """Neck, head, ears and tail, drawn only: the authors' beast is a torso with legs."""
    make.capsule(torso, (end - 0.02, 0, 0.03), (end + 0.10, 0, 0.17), 0.075, FUR)
    make.ellipsoid(torso, (end + 0.13, 0, 0.21), (0.105, 0.088, 0.085), FUR)
    make.ellipsoid(torso, (end + 0.225, 0, 0.185), (0.075, 0.052, 0.046), MUZZLE)
    make.ellipsoid(torso, (end + 0.295, 0, 0.200), (0.014, 0.020, 0.014), DARK)
    make.eyes(torso, end + 0.200, 0.042, 0.245, 0.018)
    for y in (-1, 1):
        make.ellipsoid(torso, (end + 0.075, 0.075 * y, 0.235), (0.028, 0.020, 0.065), DARK)
    make.capsule(torso, (-end - 0.08, 0, 0.04), (-end - 0.22, 0, 0.20), 0.022, FUR)
    make.capsule(torso, (-end - 0.22, 0, 0.20), (-end - 0.25, 0, 0.27), 0.020, MUZZLE)


def _beast_leg(make: LeggedMaker, torso: Any, leg: str) -> None:
    """Thigh and shin of a leg such as 'left_front'; the end of the shin is its foot."""
    side, _, end = leg.partition("_")
    place = (HIP_AHEAD * (1 if end == "front" else -1), HIP_ASIDE * (1 if side == "left" else -1), -HIP_BELOW)
    upper = make.bone(torso, f"{leg}_thigh", place, on(leg, BEAST_HIP))
    radius, thigh = LEG["thigh"]
    make.solid(upper, (0, 0, 0), (0, 0, -thigh), radius, FUR, side)
    make.ellipsoid(upper, (0, 0, -0.2 * thigh), (0.085, 0.06, 0.45 * thigh), FUR)
    lower = make.bone(upper, f"{leg}_shin", (0, 0, -thigh), on(leg, BEAST_KNEES[end]))
    radius, shin = LEG["shin"]
    make.solid(lower, (0, 0, 0), (0, 0, -shin), radius, FUR, side)
    make.capsule(lower, (0, 0, 0.07 - shin), (0, 0, 0.002 - shin), 1.03 * radius, MUZZLE)
