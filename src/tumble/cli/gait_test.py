"""`tumble gait test`: 100 steps of a gait from 10 disturbed starts.

main(["big-bird", "walk"])          # stood 10 of 10, 0.83 m/s ahead, ...
"""

import json
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import tyro

from tumble.cli.gait_files import gait_named
from tumble.cli.options import CONFIG
from tumble.cli.progress import compile_line
from tumble.errors import check_number
from tumble.simbicon.fitting import measured_gait


def main(arguments: Sequence[str]) -> int:
    """Parse and test; the exit code: 0 where 9 of 10 stood or more."""

    def go(
        body: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BODY")],
        gait: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAIT")],
        starts: int = 10,
        steps: int = 100,
        seed: int = 1000,
        as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    ) -> int:
        """Test a gait: 100 steps from 10 starts whose speeds are all disturbed by 0.1 m/s and rad/s.

        The exit code is 0 where at least 9 of 10 stood, else 1. Rates are those after the first 2 s.

        Example: tumble gait test big-bird side-left.toml --seed 3

        Args:
          body: whose gait.
          gait: one of the body's, or a file that ends in .toml.
          starts: how many.
          steps: of each.
          seed: of the disturbances.
          as_json: print one JSON object instead.
        """
        check_number("starts", starts, 1, 10_000)
        check_number("steps", steps, 1, 1_000_000)
        check_number("seed", seed, 0)
        with compile_line("the walker"):
            found = measured_gait(gait_named(body, gait), starts, steps, seed)
        stood = int(found.stood.sum())
        mean = {name: float(np.mean(getattr(found, name))) for name in ("ahead", "side", "turn", "step", "lean")}
        mean["untouched"] = float(np.mean(found.untouched))
        if as_json:
            print(json.dumps({"body": body, "gait": gait, "stood": stood, "starts": starts, "steps": steps, **mean}))
        else:
            print(
                f"{body} {gait}: {stood} of {starts} made {steps} steps; {mean['ahead']:.2f} m/s ahead,"
                f" {mean['side']:.2f} to the left, {mean['turn']:.2f} rad/s, {mean['step']:.2f} s a step,"
                f" leaning {mean['lean']:.2f} rad; {100 * mean['untouched']:.0f} % of steps ended in the air"
            )
        return 0 if 10 * stood >= 9 * starts else 1

    return tyro.cli(go, prog="tumble gait test", args=list(arguments), config=CONFIG)
