"""Other gaits, bumps and pushes in the plane: figures 3.5 and 3.8 and section 3.6.

    python experiments/coros2010-ch3/gaits.py            # 12 walks a cell, some minutes
    python experiments/coros2010-ch3/gaits.py --quick    # two walks of one cell
    python experiments/coros2010-ch3/gaits.py --table    # the table of the README

One should see that the high-stepping walk and the bird cross gaps and stones by examples of their own, as the walk
does, that a bump of 4 cm behind every gap does no harm, and that a push in mid-stride changes the plan and not its
success. The thesis shows these and counts none of them. Results: results/gaits.json, cell by cell.
"""

import argparse

from online import Kept, gaps, stones

SEEDS = range(2200, 2212)
IN_SPACE = range(4100, 4110)  # whose plans are timed
MIDDLE = {"width": 0.3, "spacing": 0.75}  # m, a gap of the middle of Table 3.1
BUMP = 0.04  # m, section 3.6
PUSHES = (50.0, 100.0, 150.0, 200.0)  # N for 0.1 s, every 2 to 3 s
REACHES = {"planar-walk": 0.9, "planar-high-step": 0.9, "bird": 1.0}  # m, the longest steps of section 3.3


def main() -> None:
    """Measure what is not there yet, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    kept = Kept("gaits")
    if given.table:
        print(table(kept))
        return
    if given.quick:
        print(gaps("bird", {}, SEEDS[:2], MIDDLE))
        return
    for base, longest in REACHES.items():
        kept.cell(f"{base}, gaps", lambda b=base: gaps(b, {}, SEEDS, MIDDLE))  # type: ignore[misc]
        kept.cell(f"{base}, stones", lambda b=base, m=longest: stones(b, {}, SEEDS, {"longest": m}))  # type: ignore[misc]
        kept.cell(f"{base}, bumps", lambda b=base: gaps(b, {}, SEEDS, {**MIDDLE, "bumps": BUMP}))  # type: ignore[misc]
        for push in PUSHES:
            kept.cell(  # type: ignore[misc]
                f"{base}, pushes of {push:g} N",
                lambda b=base, f=push: gaps(b, {}, SEEDS, {**MIDDLE, "push": f}, "gaps-push"),
            )
    kept.cell("humanoid, gaps in space", lambda: gaps("humanoid", {}, IN_SPACE, scenario="gaps-3d"))


def table(kept: Kept) -> str:
    """Markdown: gaps crossed, or errors on stones."""
    lines = ["| what | crossed or missed by | 95 % | falls |", "|---|---|---|---|"]
    for key, cell in kept.cells.items():
        if "crossed" in cell:
            low, high = cell["interval"]
            what = f"{cell['crossed']} of {cell['n']} gaps | {low:.2f} to {high:.2f}"
        else:
            what = f"{100 * cell['mean']:.1f} cm in the mean, {100 * cell['below 6 cm']:.0f} % below 6 cm |"
        lines.append(f"| {key} | {what} | {cell['falls']} of {cell['trials']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
