"""The humanoid of hamalainen2015: 15 capsule bones, 30 hinges and a free root, 1.75 m, 70 kg.

    from tumble.characters import humanoid
    tall = humanoid(height=2.0, mass=90, legs=1.1)

Axes are x forward, y left, z up; all angles are 0 when it stands straight with arms hanging. A
positive angle flexes (hips, knees, elbows), lifts the toes, bends the spine forwards, and moves a
limb away from the middle.
"""

import math
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from tumble.characters.character import Character, Joint, add_sensors
from tumble.characters.looks import SHIRT, SHOES, SKIN, TROUSERS, add_face
from tumble.errors import check_number

# Mass shares of the bones, per cent of the body (de Leva 1996, adult men; trunk split in two).
SHARES = {"pelvis": 15.0, "torso": 28.46, "head": 6.94}
LIMB_SHARES = {"upper_arm": 2.71, "forearm": 1.62, "hand": 0.61, "thigh": 14.16, "shin": 4.33, "foot": 1.37}

# Joint: (axis, low and high in degrees, strength in N m, activity in rad/s). Limits: an athletic
# adult. Strength: 300 N m (the largest force limit of hamalainen2015 section 4.4), less for the neck,
# the wrists and the twist of the shoulders; activities: not given in the paper; ours.
SPINE = {
    "spine_bend": ((0, 1, 0), -30, 75, 300, 0.5),
    "spine_side": ((1, 0, 0), -35, 35, 300, 0.5),
    "spine_twist": ((0, 0, 1), -45, 45, 300, 0.5),
}
NECK = {
    "neck_bend": ((0, 1, 0), -45, 45, 60, 0.4),
    "neck_side": ((1, 0, 0), -35, 35, 60, 0.4),
    "neck_twist": ((0, 0, 1), -70, 70, 60, 0.4),
}
# Sideways before forwards: in a T-pose the arm can then swing to the front (no gimbal lock there).
SHOULDER = {
    "shoulder_side": ((1, 0, 0), -20, 170, 300, 1.0),
    "shoulder_bend": ((0, -1, 0), -60, 170, 300, 1.0),
    "shoulder_twist": ((0, 0, 1), -90, 60, 200, 1.0),
}
ELBOW = {"elbow": ((0, -1, 0), 0, 150, 300, 0.8)}
WRIST = {
    "wrist_bend": ((-1, 0, 0), -70, 80, 100, 0.4),
    "wrist_side": ((0, 1, 0), -30, 20, 100, 0.4),
    "wrist_twist": ((0, 0, 1), -80, 80, 100, 0.4),
}
HIP = {
    "hip_bend": ((0, -1, 0), -30, 130, 300, 1.0),
    "hip_side": ((1, 0, 0), -25, 60, 300, 1.0),
    "hip_twist": ((0, 0, 1), -40, 50, 300, 1.0),
}
KNEE = {"knee": ((0, 1, 0), 0, 155, 300, 1.0)}
ANKLE = {"ankle": ((0, -1, 0), -50, 35, 300, 1.0)}
HINGES: Mapping[str, Mapping[str, Any]] = {
    "spine": SPINE, "neck": NECK, "shoulder": SHOULDER, "elbow": ELBOW, "wrist": WRIST, "hip": HIP, "knee": KNEE,
    "ankle": ANKLE,
}  # fmt: skip

# Stances of hamalainen2014 (sections 4.4 and 5.1), above the hips, rad. Angles: not given; ours.
READY = {
    "spine_bend": 0.06, "spine_twist": 0.15, "neck_bend": -0.05, "neck_twist": 0.30,
    "left_shoulder_side": 0.25, "left_shoulder_bend": 0.75, "left_shoulder_twist": -0.35, "left_elbow": 1.75,
    "right_shoulder_side": 0.25, "right_shoulder_bend": 0.55, "right_shoulder_twist": -0.40, "right_elbow": 1.80,
}  # fmt: skip
TAIKO = {
    "spine_bend": -0.10, "spine_twist": 0.10, "neck_twist": 0.10,
    "left_shoulder_side": 0.25, "left_shoulder_bend": 0.80, "left_shoulder_twist": -0.25, "left_elbow": 0.80,
    "right_shoulder_side": -0.20, "right_shoulder_bend": 2.50, "right_elbow": 0.80,
}  # fmt: skip

DAMPING = 0.1  # N m s/rad; not given; ours
GROUND_BIT, LEGS_BIT = 1, 2  # collision classes: the world; the other leg


def humanoid(
    height: float = 1.75,
    mass: float = 70.0,
    *,
    legs: float = 1.0,
    arms: float = 1.0,
    shoulders: float = 1.0,
    torso_mass: float = 1.0,
    name: str = "humanoid",
) -> Character:
    """A humanoid of any proportions.

    Args:
      height: with legs = 1, m.
      mass: of the whole body, kg, before torso_mass.
      legs, arms, shoulders: lengths and width as multiples of the average adult's.
      torso_mass: the torso's mass as a multiple; adds to the body's mass and lifts its centre.
      name: how the character is called.
    """
    for label, value, low, high in (
        ("height", height, 0.5, 4.0), ("mass", mass, 5.0, 1000.0), ("legs", legs, 0.5, 2.0),
        ("arms", arms, 0.5, 2.0), ("shoulders", shoulders, 0.5, 2.0), ("torso_mass", torso_mass, 0.2, 5.0),
    ):  # fmt: skip
        check_number(label, value, low, high)
    origin: dict[str, Any] = {"kind": "humanoid", "height": height, "mass": mass, "legs": legs, "arms": arms}
    origin |= {"shoulders": shoulders, "torso_mass": torso_mass, "name": name}
    strong = mass / 70.0 * height / 1.75  # torque grows with weight and lever
    joints = {
        joint: Joint(group, strength * strong, activity)
        for joint, group, (_, _, _, strength, activity) in joint_rows(HINGES)
    }
    arms_down = {"shoulder_side": 0.12, "elbow": 0.25}
    arms_out = {"shoulder_side": math.pi / 2}
    stance = {"hip_bend": 0.05, "knee": 0.20, "ankle": 0.15, "hip_side": 0.04}  # weight over mid-foot

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors, as `Character.build` wants it."""
        spec = skeleton(HINGES, height, mass, legs, arms, shoulders, torso_mass)
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
        hands=("left_hand", "right_hand"),
        arms=("left_arm", "right_arm"),
        poses={
            "rest": both_sides(arms_down | stance),
            "t-pose": both_sides(arms_out),
            "ready": READY | _stance(0.78, 0.14, -0.14, turn=0.5),
            "taiko": TAIKO | _stance(0.75, 0.29, -0.395, turn=0.15),
        },
        origin=origin,
    )
    return character


def both_sides(angles: Mapping[str, float]) -> dict[str, float]:
    """Angles of the left and the right limb alike, rad by the full names of the joints."""
    return {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in angles.items()}


def knee_for(thigh: float, shin: float, reach: float) -> float:
    """Knee angle, rad, at which hip and ankle are `reach` m apart; straight where the leg is too short."""
    cosine = (reach**2 - thigh**2 - shin**2) / (2 * thigh * shin)
    return math.acos(min(1.0, max(-0.9, cosine)))


def planted(
    thigh: float, shin: float, down: float, ahead: float, turn: float = 0.0, lean: float = 0.0
) -> tuple[float, float, float, float, float]:
    """Bend, side and twist of the hip, knee and ankle, rad, of a leg that stands under an upright pelvis.

    Knee and ankle have one axis each, across the leg: the leg stays in a plane, and the sole is level where that plane
    is upright. So a foot goes sideways by a turn of the plane, and points where the plane does; or the plane leans, and
    the sole with it.

    Args:
      thigh, shin: lengths, m.
      down, ahead: way from hip to ankle in the leg's plane, m.
      turn: of the plane about the vertical, away from the middle, rad.
      lean: of the plane to the side, away from the middle, rad.
    """
    knee = knee_for(thigh, shin, math.hypot(down, ahead))
    # of the thigh, in the plane
    lift = math.atan2(ahead, down) + math.atan2(shin * math.sin(knee), thigh + shin * math.cos(knee))
    (ct, st), (cs, ss), (cl, sl) = ((math.cos(angle), math.sin(angle)) for angle in (turn, lean, lift))
    bend = math.atan2(ct * sl - st * ss * cl, cs * cl)
    side = math.asin(st * sl + ct * ss * cl)
    twist = math.atan2(st * cl - ct * ss * sl, ct * cs)
    return bend, side, twist, knee, knee - lift


def _stance(down: float, front: float, back: float, turn: float) -> dict[str, float]:
    """Legs with the left foot in front, both soles level; m of legs of 0.85 m, rad. See `planted`.

    Without a lean: the ankle cannot roll, and on the inner edges of leaning feet it drifts or falls.
    """
    names = ("hip_bend", "hip_side", "hip_twist", "knee", "ankle")
    legs = {"left": planted(0.43, 0.42, down, front, turn), "right": planted(0.43, 0.42, down, back, -turn)}
    return {f"{side}_{joint}": angle for side, leg in legs.items() for joint, angle in zip(names, leg, strict=True)}


def joint_rows(hinges: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, tuple[Any, ...]]]:
    """(name, group, row) of all joints of a humanoid with such hinges, in the order of the body tree."""
    rows = [(joint, "torso", row) for place in ("spine", "neck") for joint, row in hinges[place].items()]
    for limb, places in (("arm", ("shoulder", "elbow", "wrist")), ("leg", ("hip", "knee", "ankle"))):
        for side in ("left", "right"):
            rows += [
                (f"{side}_{joint}", f"{side}_{limb}", row) for place in places for joint, row in hinges[place].items()
            ]
    return rows


class _Bones:
    """Adds bones to a spec in units of the average adult; lengths scale by `size`."""

    def __init__(
        self, spec: mujoco.MjSpec, size: float, mass: float, hinges: Mapping[str, Mapping[str, Any]], damping: float
    ) -> None:
        """Add to `spec`, in place; lengths are multiplied by `size`, shares of mass in % by `mass`, kg."""
        self.spec, self.size, self.mass, self.hinges, self.damping = spec, size, mass, hinges, damping

    def bone(self, parent: Any, name: str, pos: Any, place: str = "", side: str = "") -> Any:
        """A body at pos with the hinges of a place; on the right, axes that point sideways are mirrored."""
        body = parent.add_body(name=name, pos=self.size * np.asarray(pos, float))
        for joint, (axis, low, high, strength, _) in (self.hinges[place] if place else {}).items():
            mirror = np.array([-1, 1, -1]) if side == "right" else np.ones(3)
            body.add_joint(
                name=f"{side}_{joint}" if side else joint,
                type=mujoco.mjtJoint.mjJNT_HINGE,
                axis=np.asarray(axis, float) * mirror,
                range=[low, high],
                damping=self.damping * self.size,
                armature=0.02 * self.size**2 * (strength / 100) ** 0.5,
            )
        return body

    def capsule(
        self, body: Any, start: Any, end: Any, radius: float, rgba: Any, share: float = 0.0, side: str = ""
    ) -> None:
        """A capsule from start to end: with a mass share, % of the body, it is solid; else a drawing."""
        solid = share > 0
        limb = solid and side != ""
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=self.size * np.asarray([*start, *end], float),
            size=[self.size * radius, 0, 0],
            mass=self.mass * share / 100,
            rgba=rgba,
            contype=LEGS_BIT if limb and side == "left" else 0,
            conaffinity=(GROUND_BIT | (LEGS_BIT if limb and side == "right" else 0)) if solid else 0,
            group=0 if solid else 1,
        )

    def ellipsoid(self, body: Any, pos: Any, radii: Any, rgba: Any) -> None:
        """A drawing that neither weighs nor collides."""
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_ELLIPSOID,
            pos=self.size * np.asarray(pos, float),
            size=self.size * np.asarray(radii, float),
            mass=0,
            rgba=rgba,
            contype=0,
            conaffinity=0,
            group=1,
        )


def skeleton(
    hinges: Mapping[str, Mapping[str, Any]], height: float, mass: float, legs: float = 1.0, arms: float = 1.0,
    shoulders: float = 1.0, torso_mass: float = 1.0, damping: float = DAMPING,
) -> mujoco.MjSpec:  # fmt: skip
    """A fresh spec of the bones, straight, with the soles on z = 0.

    Args:
      hinges: of every joint, as `HINGES`; a joint without any is rigid.
      damping: of every hinge, N m s/rad at a height of 1.75 m.
      Others as of `humanoid`.
    """
    spec = mujoco.MjSpec()
    make = _Bones(spec, height / 1.75, mass, hinges, damping)
    thigh, shin, ankle = 0.43 * legs, 0.42 * legs, 0.08
    hip_height = thigh + shin + ankle

    pelvis = make.bone(spec.worldbody, "pelvis", (0, 0, hip_height + 0.05))
    pelvis.add_freejoint(name="root")
    make.capsule(pelvis, (0, -0.07, 0), (0, 0.07, 0), 0.105, TROUSERS, SHARES["pelvis"])
    for y in (-1, 0, 1):
        make.capsule(pelvis, (0, 0.045 * y, 0.07), (0, 0.02 * y, 0.15), 0.122, SHIRT)

    torso = make.bone(pelvis, "torso", (0, 0, 0.10), "spine")
    make.capsule(torso, (0, 0, 0.10), (0, 0, 0.285), 0.125, SHIRT, SHARES["torso"] * torso_mass)
    chest = max(0.02, 0.186 * shoulders - 0.126)
    for y in (-1, 1):
        make.capsule(torso, (0, 0.02 * y, 0.05), (0, chest * y, 0.27), 0.1255, SHIRT)
        make.capsule(torso, (-0.01, 0.03 * y, 0.38), (-0.005, 0.18 * shoulders * y, 0.347), 0.05, SHIRT)

    head = make.bone(torso, "head", (0, 0, 0.43), "neck")
    make.capsule(head, (0.015, 0, 0.105), (0.015, 0, 0.145), 0.095, SKIN, SHARES["head"])
    make.capsule(head, (-0.01, 0, -0.06), (0.0, 0, 0.08), 0.052, SKIN)
    _face(make, head)

    for side, sign in (("left", 1), ("right", -1)):
        _arm(make, torso, side, sign, arms, shoulders)
        _leg(make, pelvis, side, sign, thigh, shin)
    return spec


def _face(make: _Bones, head: Any) -> None:
    """A face on the head, 5 mm further back and 10 mm lower than `add_face` has it."""
    add_face(lambda place, radii, rgba: make.ellipsoid(head, np.subtract(place, (0.005, 0, 0.010)), radii, rgba))


def _arm(make: _Bones, torso: Any, side: str, sign: int, arms: float, shoulders: float) -> None:
    """Upper arm, forearm and hand; `arms` makes no hand longer. `sign` is 1 on the left and -1 on the right."""
    upper_arm = make.bone(torso, f"{side}_upper_arm", (0, sign * 0.20 * shoulders, 0.35), "shoulder", side)
    upper, fore = 0.29 * arms, 0.255 * arms
    make.capsule(upper_arm, (0, 0, 0), (0, 0, -upper), 0.047, SKIN, LIMB_SHARES["upper_arm"])
    make.capsule(upper_arm, (0, 0, -0.01), (0, 0, -0.42 * upper), 0.060, SHIRT)
    forearm = make.bone(upper_arm, f"{side}_forearm", (0, 0, -upper), "elbow", side)
    make.capsule(forearm, (0, 0, 0), (0, 0, -fore), 0.038, SKIN, LIMB_SHARES["forearm"])
    make.ellipsoid(forearm, (0, 0, -0.42 * fore), (0.044, 0.043, 0.58 * fore), SKIN)
    hand = make.bone(forearm, f"{side}_hand", (0, 0, -fore), "wrist", side)
    make.capsule(hand, (0, 0, -0.045), (0, 0, -0.12), 0.035, SKIN, LIMB_SHARES["hand"])
    make.ellipsoid(hand, (0.004, 0, -0.075), (0.043, 0.034, 0.060), SKIN)
    make.capsule(hand, (0.024, 0, -0.045), (0.050, 0, -0.098), 0.013, SKIN)


def _leg(make: _Bones, pelvis: Any, side: str, sign: int, thigh: float, shin: float) -> None:
    """Thigh, shin and foot on one side; the solid parts of a left leg collide with those of a right one.

    Args:
      sign: 1 on the left, -1 on the right.
      thigh, shin: lengths, m at a height of 1.75 m.
    """
    make.ellipsoid(pelvis, (-0.028, sign * 0.075, -0.045), (0.084, 0.088, 0.090), TROUSERS)
    upper = make.bone(pelvis, f"{side}_thigh", (0, sign * 0.095, -0.05), "hip", side)
    make.capsule(upper, (0, 0, -0.02), (0, 0, -thigh), 0.068, TROUSERS, LIMB_SHARES["thigh"], side)
    make.ellipsoid(upper, (0.003, 0, -0.35 * thigh), (0.086, 0.083, 0.59 * thigh), TROUSERS)
    lower = make.bone(upper, f"{side}_shin", (0, 0, -thigh), "knee", side)
    make.capsule(lower, (0, 0, 0), (0, 0, -shin), 0.052, TROUSERS, LIMB_SHARES["shin"], side)
    make.ellipsoid(lower, (-0.010, 0, -0.34 * shin), (0.064, 0.060, 0.46 * shin), TROUSERS)
    foot = make.bone(lower, f"{side}_foot", (0, 0, -shin), "ankle", side)
    for y in (-0.028, 0.028):
        make.capsule(foot, (-0.05, y, -0.045), (0.15, y, -0.045), 0.035, SHOES, LIMB_SHARES["foot"] / 2, side)
    for x in (-0.05, 0.15):
        make.capsule(foot, (x, -0.027, -0.044), (x, 0.027, -0.044), 0.036, SHOES)
    make.capsule(foot, (-0.048, 0, -0.041), (0.13, 0, -0.043), 0.038, SHOES)
    make.ellipsoid(foot, (0.000, 0, -0.030), (0.088, 0.062, 0.058), SHOES)
