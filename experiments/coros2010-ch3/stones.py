"""Figures 3.7, 3.9, 3.10 and 3.11, and two negative examples: errors of steps onto stones, in the plane.

    python experiments/coros2010-ch3/stones.py            # 12 sequences of 20 stones a cell, about an hour
    python experiments/coros2010-ch3/stones.py --quick    # two sequences, two steps ahead: under a minute

Sequences are new ones: uniform steps of 0.1 to 0.9 m that no example was made of. One should see a mean error of 4 cm
or less two steps ahead (thesis 5), one step worse and three alike; errors that fall with the number of examples and
with the samples of the planner; and both negative examples worse: only the K observed actions, and direct regression
of an action on the state and the next one or two lengths. Steps are predicted by lines, and for the cells "nearest" by
the means over three examples of the thesis. Results: results/stones.json, cell by cell.
"""

import argparse
from collections.abc import Callable
from typing import Any

from online import Kept, Regressing, stones

from tumble.stepping.examples import examples_named

SEEDS = range(200, 212)
HORIZONS = (1, 2, 3)
EXAMPLES = (100, 200, 500, 1000, 1500, 2000)  # figure 3.9
GRIDS = (2, 3, 4, 6, 10, 15, 25)  # figure 3.11: squares of them are samples of a state


def main() -> None:
    """Measure what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--base", default="planar-walk", help="a base, or a file of examples")
    given = parser.parse_args()
    if given.quick:
        found = stones(given.base, {}, SEEDS[:2])
        print({key: value for key, value in found.items() if key != "errors"})
        return
    kept, base = Kept("stones"), given.base
    count = len(examples_named(base))

    def cell(key: str, *more: Any, **named: Any) -> None:
        job: Callable[[], dict[str, Any]] = lambda: {"examples": count, **stones(base, *more, SEEDS, **named)}  # noqa: E731
        kept.cell(key, job)

    for horizon in HORIZONS:
        cell(f"horizon {horizon}", {"horizon": horizon})
    for horizon in HORIZONS:
        cell(f"nearest, horizon {horizon}", {"horizon": horizon, "regression": "nearest"})
    cell("observed actions only", {"planner": "observed"})
    cell("regression on one length", {"horizon": 1}, kind=Regressing)
    cell("regression on two lengths", {"horizon": 2}, kind=Regressing)
    for some in EXAMPLES:
        if some < count:
            kept.cell(f"examples {some}", lambda n=some: {**stones(base, {}, SEEDS, examples=n)})  # type: ignore[misc]
    for grid in GRIDS:
        cell(f"samples {grid * grid}", {"grid": grid})


if __name__ == "__main__":
    main()
