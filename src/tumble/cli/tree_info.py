"""`tumble tree info NAME|FILE`: what a tree is, without simulating anything."""

import json
import math
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import tyro

from tumble.attraction.building import usual_growth
from tumble.attraction.facts import facts_of, levels_of
from tumble.attraction.growing import stage_of
from tumble.attraction.shipped import ENDING, file_of
from tumble.attraction.store import Stored, read_file
from tumble.cli.options import CONFIG
from tumble.cli.tree_build import say
from tumble.cli.tree_options import words_of


def told(name: str) -> tuple[Path, Stored]:
    """A tree by its name or file, and where it is; people are told what is broken in it."""
    path = file_of(name)
    stored = read_file(path)
    for sentence in stored.mended:
        say(sentence)
    return path, stored


def commands_of(path: Path, stored: Stored) -> list[str]:
    """The commands that build a tree as it is, one after the other; the last goes on with one that is not done."""
    file = Path(path.name).with_suffix(ENDING)
    growths = [*(one.growth for one in stored.earlier), stored.growth]
    ends = [one.made for one in stored.earlier] + [len(stored.outcomes)]
    usual, found = usual_growth(stored.name), list[str]()
    for i, (growth, end) in enumerate(zip(growths, ends, strict=True)):
        words = ["extend", str(file)] if i else ["build", stored.name, str(file)]
        words += words_of(growth, growths[i - 1] if i else usual, further=i > 0)
        done = stage_of(growth, stored.outcomes[:end]) is None
        if i < len(growths) - 1 and not done:
            words += ["--stop", str(end)]
        found.append(shlex.join(["tumble", "tree", *words]))
    return found


def summary(path: Path, stored: Stored) -> dict[str, Any]:
    """The contract of `tumble tree info --json`: what it was grown for, `Facts`, `LevelFacts` and the commands.

    A share that is not known, as no state of that level was drawn, is null.
    """
    recipe = stored.tree.system.recipe
    levels = [asdict(one) for one in levels_of(stored)]
    for one in levels:
        one["inside"] = None if math.isnan(one["inside"]) else one["inside"]
    return {
        "file": str(path),
        "system": stored.name,
        "body": recipe.get("body", recipe.get("name")),
        "drive": recipe["drive"],
        "step": recipe["step"],
        "skill": recipe.get("skill"),
        "version": recipe["version"],
        "method": str(stored.growth.method),
        "done": stage_of(stored.growth, stored.outcomes) is None,
        **asdict(facts_of(stored)),
        "bytes": path.stat().st_size,
        "levels": levels,
        "commands": commands_of(path, stored),
    }


def _report(found: dict[str, Any]) -> None:
    """Tell people."""
    skill = f", skill {found['skill']}" if found["skill"] else ""
    done = "all levels are done" if found["done"] else "not done yet"
    print(
        f"{found['file']}: a tree of {found['system']}, {done}\n"
        f"  body {found['body']}, drive {found['drive']}, step {1000 * found['step']:.3g} ms{skill}\n"
        f"  {found['nodes']} nodes, {found['edges']} edges, height {found['height']}, mean depth {found['depth']:.1f},"
        f" {found['bytes'] / 1e6:.2f} MB\n"
        f"  branches of {found['seconds']:.1f} s, at most {found['longest']:.1f}; grown up to level"
        f" {found['largest']:g}\n"
        f"  {found['attempts']} attempts, {found['optimised']} optimisations, {found['evaluations']} rollouts of them"
    )
    if found["levels"]:
        print(f"  {'level':>8} {'attempts':>9} {'edges':>7} {'nodes':>8}  inside")
    for one in found["levels"]:
        inside = "-" if one["inside"] is None else f"{100 * one['inside']:.0f} % of the last {one['late']}"
        print(f"  {one['level']:8g} {one['attempts']:9} {one['edges']:7} {one['nodes'] or '-':>8}  {inside}")
    print("built by", *found["commands"], sep="\n  ")


def main(arguments: list[str]) -> int:
    """Parse and tell; the exit code."""

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
        as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    ) -> int:
        """Tell what a tree is: body and skill, size, levels with the share inside, and the commands that build it.

        A state of a level is inside if the tree leads it to the goal; 'tumble tree query' asks with fresh ones.
        It may be asked of a file that is being built.

        Example: tumble tree info getup-1

        Example: tumble tree info mine.tree --json

        Args:
          name: of a tree that ships, see 'tumble list', or a file that ends in .tree.
          as_json: print one JSON object on standard output.
        """
        found = summary(*told(name))
        if as_json:
            print(json.dumps(found))
        else:
            _report(found)
        return 0

    return tyro.cli(go, prog="tumble tree info", args=arguments, config=CONFIG)
