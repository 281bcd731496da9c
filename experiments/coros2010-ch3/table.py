"""Table 3.1: the fraction of gaps that are crossed, by width and spacing, in the plane.

    python experiments/coros2010-ch3/table.py            # 18 walks over 5 gaps a cell, about half an hour
    python experiments/coros2010-ch3/table.py --quick    # two walks of the hardest cell: under a minute

One should see no cell worse than the thesis's at 95 %, and 0.7 in the hardest (w 0.5, s 0.25; thesis 0.3). A gap is
crossed where at least half of each foot that touches it, and of the first one behind it, is above ground; a gap that is
not reached because of a fall before counts as failed. Steps are predicted by the thesis's means over three examples;
for the cells "line" by lines from them. Results: results/table.json, cell by cell.
"""

import argparse

from online import Kept, gaps

WIDTHS, SPACINGS = (0.2, 0.3, 0.4, 0.5), (1.0, 0.75, 0.5, 0.25)  # m
SEEDS = range(100, 118)  # 90 gaps a cell
THEIRS = {  # by spacing
    1.0: (1.0, 1.0, 1.0, 0.93), 0.75: (1.0, 1.0, 1.0, 0.93), 0.5: (0.86, 0.93, 0.86, 0.6), 0.25: (0.8, 0.93, 0.66, 0.3)
}  # fmt: skip


def main() -> None:
    """Measure what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--base", default="planar-walk", help="a base, or a file of examples")
    given = parser.parse_args()
    if given.quick:
        print(gaps(given.base, {}, SEEDS[:2], {"width": 0.5, "spacing": 0.25}))
        return
    kept = Kept("table")
    for regression in ("nearest", "line"):
        for spacing, row in reversed(THEIRS.items()):  # the hardest first
            for width, theirs in reversed(list(zip(WIDTHS, row, strict=True))):
                key = f"{'line, ' if regression == 'line' else ''}s {spacing:g} w {width:g}"
                kept.cell(key, lambda w=width, s=spacing, t=theirs, r=regression: {  # type: ignore[misc]
                    "theirs": t, **gaps(given.base, {"regression": r}, SEEDS, {"width": w, "spacing": s})
                })  # fmt: skip


if __name__ == "__main__":
    main()
