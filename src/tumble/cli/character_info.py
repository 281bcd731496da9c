"""`tumble character info NAME|FILE`: parts, joints and poses of a body; of a robot also the file that keeps them."""

import json
from typing import Annotated, Any

import tyro

from tumble.characters import Character, character
from tumble.characters.mjcf_parts import keep_parts, parts_place
from tumble.characters.own import own_robot, unread
from tumble.cli.options import CONFIG
from tumble.cli.own_robots import lines, own_place


def summary(body: Character) -> dict[str, Any]:
    """The contract of `tumble character info --json`."""
    return {
        "name": body.name, "root": body.root, "trunk": body.trunk, "head": body.head, "feet": list(body.feet),
        "hands": list(body.hands), "toes": list(body.toes), "palms": list(body.palms),
        "mass": float(body.build().compile().body_mass.sum()),
        "joints": {name: [joint.group, joint.strength, joint.activity] for name, joint in body.joints.items()},
        "poses": {name: dict(pose) for name, pose in body.poses.items()},
        "capabilities": sorted(body.capabilities), "notes": list(body.notes),
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    """Parse, tell and keep; the exit code."""

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME|FILE")],
        again: bool = False,
        as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    ) -> int:
        """Tell what a body is taken for. Of a robot's MJCF, write a file of its parts beside it, to be corrected.

        The file is called as the MJCF and ends in .tumble.toml. Where the folder of the MJCF cannot be written, it is
        in the current one. One that is there is read, and stays as it is.

        Example: tumble character info my_robot.xml

        Args:
          name: of a character, or the path of an MJCF, or a robot of mujoco-menagerie.
          again: of a robot, guess anew, and write the file anew.
          as_json: print one JSON object on standard output.
        """
        place, kept = own_place(name), ""
        if place is None:
            body = character(name)
        else:
            body, parts = unread(place) if again else own_robot(place)
            there = parts_place(place)
            kept = f"as {there} says" if there and not again else f"kept in {keep_parts(place, parts)}"
        if as_json:
            print(json.dumps(summary(body)))
        else:
            print("\n".join([*lines(body), *([kept] if kept else [])]))
        return 0

    return tyro.cli(go, prog="tumble character info", args=arguments, config=CONFIG)
