"""`tumble task info NAME|FILE`: what a policy is."""

import json
from collections import Counter
from typing import Annotated, Any

import tyro

from tumble.cli.options import CONFIG
from tumble.tasks.policy import Policy, policy_named
from tumble.tasks.tasked import needs


def summary(policy: Policy) -> dict[str, Any]:
    """The contract of `tumble task info --json`; actions with the share of states and goals that they are best for."""
    header = policy.header
    uses = Counter(policy.best.ravel().tolist())
    return {
        "task": header.task,
        "character": header.character,
        "wants": needs(policy),
        "grid": {axis.name: len(axis.points) for axis in header.grid},
        "states": len(policy.states),
        "actions": {str(action): uses[i] / policy.best.size for i, action in enumerate(policy.actions)},
        "figures": header.figures,
        "command": header.command,
    }


def main(arguments: list[str]) -> int:
    """Parse and tell; the exit code."""

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
        as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    ) -> int:
        """Tell what a policy is: its body, grid, states, how often each action is best, and the command that makes it.

        Example: tumble task info heading

        Args:
          name: of a policy that ships, or a file that ends in .policy.
          as_json: print one JSON object on standard output.
        """
        found = summary(policy_named(name))
        if as_json:
            print(json.dumps(found))
            return 0
        grid = " x ".join(f"{count} {axis}" for axis, count in found["grid"].items()) or "no grid"
        figures = ", ".join(f"{key} {value:g}" for key, value in found["figures"].items())
        print(f"{found['task']} of {found['character']}: {found['states']} states, {grid}\n  {figures}")
        print(f"  wants Go({', '.join(found['wants'])})")
        for action, share in sorted(found["actions"].items(), key=lambda item: -item[1]):
            print(f"  {action:28} best for {100 * share:5.1f} %")
        print(f"made by\n  {found['command']}")
        return 0

    return tyro.cli(go, prog="tumble task info", args=arguments, config=CONFIG)
