"""`tumble character info NAME|FILE`: what a robot's MJCF is taken for.

    main(["info", "my_robot.xml"])

A module `character_NAME` does each, see `group`.
"""

from tumble.cli.group import Group

GROUP = Group(
    "character",
    about="Characters, ours and your own: a robot's MJCF is one.",
    actions={"info": "tell parts, joints, poses, what it can do; write the file of a robot's parts"},
    examples=(
        "tumble character info my_robot.xml",
        "tumble character info my_robot.xml --again",
        "tumble character info humanoid --json",
        "tumble run push --character my_robot.xml",
    ),
    trailer=(
        "A robot is the path of an MJCF, which ends in .xml, or a name of mujoco-menagerie, where that is on this\n"
        "machine: the folder that MUJOCO_MENAGERIE names, an installed package, or what robot_descriptions has cloned."
    ),
)
main = GROUP.main
