"""Stones anywhere in space, and gaps, by the generalized walker.

    python experiments/coros2010-ch3/walker_stones.py [--quick]

Into results/walker_stones.json: for lateral offsets, heights, tilts and distances that grow, how many footfalls had
more than half of the sole on their stone, and how many trials got to the end so; then gaps in a straight line. Seeds
from 700 on, on which nothing was tuned. About five minutes on one core; --quick: one seed a cell.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from online import Kept, interval

from tumble.characters import character
from tumble.scenarios import Trial
from tumble.scenarios.footfalls import crossed
from tumble.scenarios.stones_walker import GapsWalked, SteppingStones
from tumble.stepping.placer import Placer
from tumble.stepping.terrain import HALF, footing_of

FROM, TRIALS = 700, 10  # first seed; trials of a cell
CELLS: dict[str, dict[str, float]] = {
    "flat": {},
    "lateral 0.15": {"lateral": 0.15},
    "tilt 10": {"tilt": 10.0},
    **{f"height {x:g}": {"height": x} for x in (0.05, 0.1, 0.15, 0.2)},
    **{f"spacing {x:g}": {"spacing": x} for x in (0.3, 0.5, 0.6)},
    "spacing 0.3 to 0.6": {"spacing": 0.45, "spread": 0.15},
    "mild": {"lateral": 0.05, "height": 0.05, "tilt": 5.0, "spread": 0.03},
    "all": {"lateral": 0.1, "height": 0.2, "tilt": 10.0, "spacing": 0.45, "spread": 0.15},
}
WIDTHS, SPACING = (0.2, 0.3), 1.0  # m


def stones(options: Mapping[str, Any], seeds: Iterable[int]) -> dict[str, Any]:
    """Footfalls on their stones, and trials to the end, of one cell; stones that were not reached are missed."""
    seeds, good, through, falls, landed, n = list(seeds), 0, 0, 0, 0, 0
    for seed in seeds:
        scenario = SteppingStones(**options)
        scene = scenario.scene(character("biped"), seed)
        trial = Trial(scenario, seed, "placer", scene=scene, made=Placer(scene))
        while not trial.over:
            trial.step()
        shares = scenario.footfalls(trial.history)
        good, landed, n = good + int((shares > HALF).sum()), landed + len(shares), n + scenario.count
        through, falls = through + scenario.success(trial.history), falls + trial.history.falls()
    return {
        "seeds": [seeds[0], seeds[-1]], "options": dict(options), "good": good,
        "landed": landed, "stones": n,
        "of all stones": round(good / n, 3), "of landed": round(good / max(landed, 1), 3),
        "successes": through, "trials": len(seeds), "interval": interval(through, len(seeds)), "falls": falls,
    }  # fmt: skip


def walked(width: float, seeds: Iterable[int]) -> dict[str, Any]:
    """The walker over gaps; counted as `online.gaps` counts."""
    seeds, good, n, through, falls, feet, well = list(seeds), 0, 0, 0, 0, 0, 0
    for seed in seeds:
        scenario = GapsWalked(width=width, spacing=SPACING)
        scene = scenario.scene(character("biped"), seed)
        trial = Trial(scenario, seed, "placer", scene=scene, made=Placer(scene))
        while not trial.over:
            trial.step()
        found = scenario.footfalls(trial.history)
        done = [crossed(found, gap) for gap in footing_of(trial.scene).gaps]
        good, n = good + sum(one is True for one in done), n + len(done)
        feet, well = feet + len(found.good), well + int(found.good.sum())
        through, falls = through + scenario.success(trial.history), falls + trial.history.falls()
    return {
        "seeds": [seeds[0], seeds[-1]], "crossed": good, "n": n, "rate": round(good / n, 3),
        "interval": interval(good, n), "footfalls": feet, "good footfalls": well, "falls": falls,
        "trials": len(seeds), "successes": through,
    }  # fmt: skip


def main(quick: bool) -> None:
    """All cells that are not there yet."""
    kept = Kept("walker_stones-quick" if quick else "walker_stones")
    seeds = range(FROM, FROM + (1 if quick else TRIALS))
    for name, options in CELLS.items():
        kept.cell(name, lambda options=options: stones(options, seeds))
    for width in WIDTHS:
        options = {"width": width, "spacing": SPACING}
        kept.cell(f"walker, gaps {width:g}", lambda width=width: walked(width, seeds))


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
