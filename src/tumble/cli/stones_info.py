"""`tumble stones info NAME|FILE`: what examples of steps are."""

import json
from typing import Annotated, Any

import numpy as np
import tyro

from tumble.cli.options import CONFIG
from tumble.stepping.examples import Examples, examples_named


def share_of_two(actions: np.ndarray) -> float:
    """Share of the variance of actions (n, p) that lies in their first two principal components."""
    around = actions - actions.mean(axis=0)
    variance = np.linalg.svd(around.astype(float), compute_uv=False) ** 2
    return float(variance[:2].sum() / max(variance.sum(), 1e-12))


def summary(examples: Examples) -> dict[str, Any]:
    """The contract of `tumble stones info --json`; m, and actions in rad and s."""
    header, missed = examples.header, np.abs(examples.wanted - examples.lengths)
    spread = examples.actions.std(axis=0)
    return {
        "base": header.base,
        "character": header.character,
        "examples": len(examples),
        "sequences": len(np.unique(examples.sequence)),
        "lengths": [float(examples.lengths.min()), float(examples.lengths.max())],
        "mean_error": float(missed.mean()),
        "below_6_cm": float((missed < 0.06).mean()),
        "above_12_cm": float((missed > 0.12).mean()),
        "two_components": share_of_two(examples.actions),
        "actions": {
            name: [float(mean), float(away)]
            for name, mean, away in zip(header.parameters, examples.actions.mean(axis=0), spread, strict=True)
        },
        "figures": header.figures,
        "command": header.command,
    }


def main(arguments: list[str]) -> int:
    """Parse and tell; the exit code."""

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
        as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    ) -> int:
        """Tell what examples are: of which base, how many, how well they meet their stones, and who makes them.

        Example: tumble stones info planar-walk

        Args:
          name: of the base of examples that ship, or a file that ends in .stones.
          as_json: print one JSON object on standard output.
        """
        found = summary(examples_named(name))
        if as_json:
            print(json.dumps(found))
            return 0
        shortest, longest = found["lengths"]
        print(f"{found['base']} of {found['character']}: {found['examples']} steps of {found['sequences']} sequences")
        print(
            f"  {100 * shortest:.0f} to {100 * longest:.0f} cm, missed by {100 * found['mean_error']:.1f} cm in the"
            f" mean, {100 * found['below_6_cm']:.0f} % below 6 cm, {100 * found['above_12_cm']:.0f} % above 12 cm"
        )
        print(f"  {100 * found['two_components']:.0f} % of the variance of actions in two components")
        for parameter, (mean, away) in found["actions"].items():
            print(f"  {parameter:16} {mean:7.3f} +- {away:.3f} {'s' if parameter == 'T_hold' else 'rad'}")
        print(f"made by\n  {found['command']}")
        return 0

    return tyro.cli(go, prog="tumble stones info", args=arguments, config=CONFIG)
