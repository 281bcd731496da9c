"""The humanoid of alborno2016: 25 hinges and a free root, 1.61 m, 40.5 kg, 150 N m in every joint (section 7).

    from tumble.characters import character
    body = character("humanoid25")

Its bones are those of `humanoid`, smaller: hands are rigid, the head does not bend aside, and the ankles roll. Angles
mean what they mean there; a positive roll of an ankle lifts the outer edge of the foot.
"""

from typing import Any

import mujoco

from tumble.characters.character import Character, Joint, add_sensors
from tumble.characters.humanoid import ANKLE, HINGES, NECK, both_sides, joint_rows, skeleton

HEIGHT, MASS = 1.61, 40.5  # m, kg, alborno2016 section 7
STRENGTH = 150.0  # N m, alborno2016 section 7: of every joint
DAMPING = 2.0  # N m s/rad of every joint; not given; ours: k_d = 1 of the PD drive alone lets limbs whip at 98 rad/s
HINGES_25 = {
    **HINGES,
    "neck": {joint: row for joint, row in NECK.items() if joint != "neck_side"},
    "wrist": {},
    "ankle": {**ANKLE, "ankle_side": ((1, 0, 0), -25, 25, 300, 0.5)},
}


def humanoid25() -> Character:
    """The body of alborno2016, whose proportions are fixed: trees are grown for one body."""
    joints = {joint: Joint(group, STRENGTH, row[4]) for joint, group, row in joint_rows(HINGES_25)}
    stance = {"hip_bend": 0.25, "knee": 0.50, "ankle": 0.25, "hip_side": 0.06, "ankle_side": -0.06}

    def build() -> mujoco.MjSpec:
        """A fresh spec with its sensors, as `Character.build` wants it."""
        spec = skeleton(HINGES_25, HEIGHT, MASS, damping=DAMPING)
        add_sensors(spec, character, [bone.name for bone in spec.bodies if bone.name != "world"])
        return spec

    origin: dict[str, Any] = {"kind": "humanoid25"}
    character = Character(
        name="humanoid25",
        build=build,
        joints=joints,
        root="pelvis",
        trunk="torso",
        head="head",
        feet=("left_foot", "right_foot"),
        hands=("left_hand", "right_hand"),
        arms=("left_arm", "right_arm"),
        poses={
            "rest": both_sides({"shoulder_side": 0.15, "elbow": 0.30, **stance}),
            "t-pose": both_sides({"shoulder_side": 1.5708}),
        },
        drives=("servo", "torque", "pd"),
        origin=origin,
    )
    return character
