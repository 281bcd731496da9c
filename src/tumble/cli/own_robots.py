"""Robots of people's own in commands: what was guessed of them is said, and kept in a file that can be corrected.

introduce("my_robot.xml")       # the first time: a few lines on standard error, and my_robot.tumble.toml
introduce("humanoid")           # nothing
"""

import sys
from pathlib import Path

from tumble.characters import CHARACTERS, Character
from tumble.characters.mjcf_parts import keep_parts, parts_place
from tumble.characters.own import own_robot, robot_file


def introduce(name: str | None) -> None:
    """Say what the MJCF of a robot was taken for, where no file says so yet, and write that file."""
    place = own_place(name)
    if place is None or (place.is_file() and parts_place(place) is not None):
        return
    body, parts = own_robot(place)
    for line in lines(body):
        print(f"tumble: {line}", file=sys.stderr)
    print(f"tumble: kept in {keep_parts(place, parts)}, to be corrected there", file=sys.stderr)


def own_place(name: str | None) -> Path | None:
    """Where the MJCF of a robot is that somebody named; None where that is one of the registered characters."""
    return None if name is None or name in CHARACTERS else robot_file(name)


def lines(body: Character) -> list[str]:
    """What a body is taken for, and what was added and left out."""
    model = body.build().compile()
    named = {
        "root": body.root, "trunk": body.trunk, "head": body.head, "feet": ", ".join(body.feet),
        "hands": ", ".join(body.hands), "toes": ", ".join(body.toes), "palms": ", ".join(body.palms),
    }  # fmt: skip
    strongest = max((joint.strength for joint in body.joints.values()), default=0.0)
    return [
        f"{body.name}: {model.nbody - 1} bones, {len(body.joints)} joints, {model.body_mass.sum():.1f} kg",
        *(f"  {part:6} {what or 'none'}" for part, what in named.items()),
        f"  groups {', '.join(body.groups)}; motors up to {strongest:g} N m",
        f"  poses  {', '.join(body.poses)}",
        f"  it can {', '.join(sorted(body.capabilities)) or 'nothing'}",
        *(f"  {note}" for note in body.notes),
    ]
