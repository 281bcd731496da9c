"""Offline synthesis: how well stones are met over 100 steps, and by which optimiser for how much (section 3.3).

    python experiments/coros2010-ch3/offline.py             # what is not there yet; about half an hour on a core
    python experiments/coros2010-ch3/offline.py --quick     # ten steps of the planar walk, kept nowhere: a minute
    python experiments/coros2010-ch3/offline.py --table     # print what is there

The thesis, planar walk, 100 steps: mean error 4.3 cm, 77 % below 6 cm, 9 % above 12 cm. One should see less of all for
Gauss-Newton, for a sixth of the simulation that the thesis's gradient descent takes. Sequences are of a seed that no
database was made with. An error is from the stone to the heel that landed, sequences that fell without their last
steps. Results are kept one by one in results/offline.json.
"""

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path
from subprocess import run
from typing import Any

import numpy as np

from tumble.cli.stones_info import share_of_two
from tumble.files import replace_file
from tumble.stepping.base import BASES
from tumble.stepping.examples import examples_named, shipped
from tumble.stepping.optimising import THESIS_ITERATIONS, Optimising
from tumble.stepping.problems import GAMMA
from tumble.stepping.synthesis import Problem, Sequences

RESULTS = Path(__file__).parent / "results" / "offline.json"
SEED = 93000
ACCURACY = {  # base: sequences, steps of each, how, as its database is made
    "planar-walk": (2, 100, Optimising()),
    "planar-high-step": (1, 100, Optimising()),
    "bird": (1, 100, Optimising(uses=2)),
    "humanoid": (2, 20, Optimising(uses=2)),
}
COMPARED = {  # of the planar walk
    "gauss-newton": Optimising(),
    "gauss-newton, Jacobian used twice": Optimising(uses=2),
    "gauss-newton, 4 iterations": Optimising(iterations=4),
    "gradient, 15 iterations (thesis)": Optimising("gradient", THESIS_ITERATIONS),
}
COMPARED_SEQUENCES, COMPARED_STEPS = 2, 8


def measured(base: str, sequences: int, steps: int, how: Optimising) -> dict[str, float]:
    """Solve fresh sequences; errors in m, CPU seconds and simulated steps an example.

    `cost` is f of section 3.3.2 a step, without what is lateral.
    """
    began = time.process_time()
    made = Sequences(Problem(BASES[base](), steps, SEED, how), list(range(sequences)))
    begun = time.process_time()
    found = made.solve()
    missed = np.abs(found.arrays["wanted"] - found.arrays["lengths"])
    away = (found.arrays["actions"] - BASES[base]().action) ** 2 @ np.array(BASES[base]().weights)
    return {
        "steps": len(missed), "asked": sequences * steps, "fallen": found.fallen, "mean": float(missed.mean()),
        "cost": float((missed**2 + GAMMA * away).mean()),
        "median": float(np.median(missed)), "below_6_cm": float((missed < 0.06).mean()),
        "above_12_cm": float((missed > 0.12).mean()), "simulated": found.simulated / max(len(missed), 1),
        "cpu_seconds": (time.process_time() - begun) / max(len(missed), 1), "start_seconds": begun - began,
        "lateral": float(found.arrays["lateral"].mean()), "lateral_spread": float(found.arrays["lateral"].std()),
    }  # fmt: skip


def shares() -> dict[str, dict[str, float]]:
    """Of the databases that ship: examples, and the share of two components in the variance of their actions."""
    found = {name: examples_named(name) for name in shipped()}
    return {
        name: {"examples": len(one), "two": share_of_two(one.actions), **one.header.figures}
        for name, one in found.items()
    }


def about() -> dict[str, Any]:
    """What the results are of."""
    commit = run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=RESULTS.parent).stdout
    return {"seed": SEED, "commit": commit.strip(), "mujoco": version("mujoco"), "numpy": version("numpy")}


def table(kept: dict[str, Any]) -> None:
    """Print the rows of the README."""
    for part in ("accuracy", "optimisers"):
        print(f"| {part} | steps | fell | cost, cm² | mean, cm | below 6 cm | above 12 cm | simulated | CPU s |")
        for name, one in kept.get(part, {}).items():
            print(
                f"| {name} | {one['steps']} of {one['asked']} | {one['fallen']} | {1e4 * one['cost']:.0f}"
                f" | {100 * one['mean']:.1f}"
                f" | {100 * one['below_6_cm']:.0f} % | {100 * one['above_12_cm']:.0f} % | {one['simulated']:.0f}"
                f" | {one['cpu_seconds']:.2f} |"
            )
    for name, one in kept.get("databases", {}).items():
        print(f"| {name} | {one['examples']} examples | {100 * one['two']:.0f} % in two components |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for word in ("quick", "table", "again"):
        parser.add_argument(f"--{word}", action="store_true")
    parser.add_argument("--only", default="", help="only what holds this word")
    options = parser.parse_args()
    if options.quick:
        print(measured("planar-walk", 1, 10, Optimising()))
        return
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    if options.table:
        table(kept)
        return
    jobs = {("accuracy", name): (name, *how) for name, how in ACCURACY.items()}
    few = COMPARED_SEQUENCES, COMPARED_STEPS
    jobs |= {("optimisers", name): ("planar-walk", *few, how) for name, how in COMPARED.items()}
    for (part, name), job in jobs.items():
        if options.only not in f"{part} {name}" or (name in kept.get(part, {}) and not options.again):
            continue
        kept["about"] = about()
        kept.setdefault(part, {})[name] = measured(*job)
        kept["databases"] = shares()
        replace_file(RESULTS, lambda file: file.write((json.dumps(kept, indent=1) + "\n").encode()))
        print(part, name, kept[part][name], flush=True)
    table(kept)


if __name__ == "__main__":
    main()
