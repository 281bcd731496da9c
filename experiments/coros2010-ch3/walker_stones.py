"""Stones anywhere in space by the generalized walker, and the walker and the humanoid over the same gaps.

    python experiments/coros2010-ch3/walker_stones.py [--quick]

Into results/walker_stones.json: for lateral offsets, heights and tilts that grow, how many footfalls had more than half
of the sole on their stone, and how many trials got to the end so; then gaps in a straight line, the same terrain for
both. Seeds from 500 on, on which nothing was tuned. About half an hour on two cores; --quick: one seed a cell.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from online import Kept, gaps, interval

from tumble.characters import character
from tumble.scenarios import Trial
from tumble.scenarios.footfalls import crossed
from tumble.scenarios.stones_walker import GapsWalked, SteppingStones
from tumble.stepping.examples import shipped
from tumble.stepping.placer import Placer
from tumble.stepping.placing import PlaceSettings
from tumble.stepping.terrain import HALF, footing_of

FROM, AGAIN, TRIALS, GAPS = 500, 600, 4, 3  # first seeds; trials of a cell
CELLS: dict[str, dict[str, float]] = {
    "flat": {},
    "lateral 0.15": {"lateral": 0.15},
    "height 0.1": {"height": 0.1},
    "tilt 10": {"tilt": 10.0},
    "height 0.2": {"height": 0.2},
    "height 0.05": {"height": 0.05},
    "all, mild": {"lateral": 0.05, "height": 0.05, "tilt": 5.0, "spread": 0.03},
    "all": {"lateral": 0.15, "height": 0.1, "tilt": 10.0, "spread": 0.05},
    "lateral 0.05": {"lateral": 0.05},
    "lateral 0.1": {"lateral": 0.1},
    "height 0.15": {"height": 0.15},
    "tilt 5": {"tilt": 5.0},
    **{f"spacing {x:g}": {"spacing": x} for x in (0.5, 0.6, 0.3)},
}
PLANNED = ("height 0.1", "all", "tilt 10")  # no, one and two steps ahead; other seeds: 500 and 501 chose the aims
WIDTHS, SPACING = (0.2, 0.3), 1.0  # m


def stones(options: Mapping[str, Any], settings: Mapping[str, Any], seeds: Iterable[int]) -> dict[str, Any]:
    """Footfalls on their stones, and trials to the end, of one cell; stones that were not reached are missed."""
    seeds, good, through, falls, landed, n = list(seeds), 0, 0, 0, 0, 0
    for seed in seeds:
        scenario = SteppingStones(**options)
        scene = scenario.scene(character("biped"), seed)
        trial = Trial(scenario, seed, "placer", scene=scene, made=Placer(scene, PlaceSettings(**settings), seed))
        while not trial.over:
            trial.step()
        shares = scenario.footfalls(trial.history)
        good, landed, n = good + int((shares > HALF).sum()), landed + len(shares), n + scenario.count
        through, falls = through + scenario.success(trial.history), falls + trial.history.falls()
    return {
        "seeds": [seeds[0], seeds[-1]], "options": dict(options), "settings": dict(settings), "good": good,
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
        trial = Trial(scenario, seed, "placer", scene=scene, made=Placer(scene, PlaceSettings(horizon=0), seed))
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
    others = range(AGAIN, AGAIN + len(seeds))
    some = range(FROM, FROM + (1 if quick else GAPS))
    for name, options in CELLS.items():
        kept.cell(name, lambda options=options: stones(options, {"horizon": 0}, seeds))
    for name in PLANNED:
        for horizon in (2, 0, 1):
            key = f"{name}, horizon {horizon}"
            kept.cell(key, lambda name=name, horizon=horizon: stones(CELLS[name], {"horizon": horizon}, others))
    for width in WIDTHS:
        options = {"width": width, "spacing": SPACING}
        kept.cell(f"walker, gaps {width:g}", lambda width=width: walked(width, some))
        if "humanoid" in shipped():  # its examples are another script's
            key = f"humanoid, gaps {width:g}"
            kept.cell(key, lambda options=options: gaps("humanoid", {}, some, options, "gaps-3d"))


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
