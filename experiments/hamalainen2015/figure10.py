"""Figure 10 of hamalainen2015: how often it succeeds, against the samples N and the horizon K.

Trial A (scenario `getup`): supine in a T-pose, up at 5 s. Trial B (`ball`): dropped onto a rolling ball, on it at
5 s. Left: N from 8 to 256 at K = 1.2 s. Right: K from 0.4 to 2 s at N = 256. Bars are Wilson's 95 % intervals,
hollow markers the two values in the paper's text. One should see, as the paper says, success rise with N and K,
hardly any where one of them is low, and none of B below K = 1 s. Departure: success is the scenario's own test; the
paper's threshold on the state cost is not given.

About 4 hours on two cores for 25 repetitions (seeds 0 to 24 at every point); --quick (N = 8 and 16, seeds 0 and 1)
under a minute. Every finished trial is stored at once, and the next run goes on with what is missing: seed by seed,
cheap points first. Ctrl-C stops and draws what there is.

    python figure10.py --panels left --largest 64 --repetitions 10
    python figure10.py                       # goes on from there
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report import BLUE, RED, parser, picture, place, resumed, spread, store, versions, wilson

from tumble.characters import character
from tumble.errors import UserError, check_number
from tumble.goals import Goal
from tumble.goals.judging import goal_of
from tumble.planners import CPBP, CPBPSettings, Planned
from tumble.scenarios import SCENARIOS, Scenario, Trial, run_trial
from tumble.world.scene import Scene

PANELS = {
    "left": [(samples, 1.2) for samples in (8, 16, 32, 64, 128, 256)],
    "right": [(256, horizon) for horizon in (0.4, 0.8, 1.2, 1.6, 2.0)],
}
TRIALS = {"getup": ("A", "gets up", BLUE), "ball": ("B", "stays on the ball", RED)}
PAPER = {(32, 1.2): 0.6, (64, 1.2): 0.92}  # trial B, section 5.6


class Task(NamedTuple):
    """One trial that is to be run."""

    scenario: str
    samples: int
    horizon: float
    seed: int


def main() -> None:
    options = arguments()
    path = place("figure10", options.quick)
    complete = options.draw or measure(path, tasks(options), options.processes, options.fresh)
    if not path.is_file():
        raise UserError(f"nothing to draw: there are no results in {path} yet")
    picture(path, draw)
    if not complete:
        sys.exit(130)


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = parser(__doc__)
    known.add_argument("--repetitions", type=int, default=25, metavar="R", help="seeds 0 to R - 1 (default 25)")
    known.add_argument("--panels", nargs="+", choices=PANELS, default=list(PANELS), help="which to measure")
    known.add_argument("--largest", type=int, default=256, metavar="N", help="skip points with more samples than N")
    known.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="P", help="default: one per core")
    known.add_argument("--fresh", action="store_true", help="forget stored results and begin anew")
    options = known.parse_args()
    if options.quick:
        options.repetitions, options.panels, options.largest = 2, ["left"], 16
    for name, most in (("repetitions", 10_000), ("processes", 1024)):
        check_number(name, getattr(options, name), 1, most)
    return options


def tasks(options: argparse.Namespace) -> list[Task]:
    """All trials asked for, seed by seed, cheap points first, so that equal repetitions are there at any time."""
    points = {point for panel in options.panels for point in PANELS[panel] if point[0] <= options.largest}
    if not points:
        raise UserError(f"no point of {' and '.join(options.panels)} has {options.largest} samples or fewer")
    cheap_first = sorted(points, key=math.prod)
    return [Task(name, *point, seed) for seed in range(options.repetitions) for point in cheap_first for name in TRIALS]


def measure(path: Path, wanted: list[Task], processes: int, fresh: bool) -> bool:
    """Run the trials that are missing at path, each stored there as it ends; False if it was stopped."""
    data = {"figure": 10} | resumed(path, settings(), fresh)
    done = data["trials"]
    had = {Task(*(one[field] for field in Task._fields)) for one in done}
    missing = [task for task in wanted if task not in had]
    print(f"{len(missing)} of {len(wanted)} trials to run, {processes} at a time", flush=True)
    before, began = data["wall_seconds"], time.perf_counter()

    def finished(task: Task, result: dict[str, Any]) -> None:
        done.append(task._asdict() | result)
        missing.remove(task)
        data["wall_seconds"] = round(before + time.perf_counter() - began, 1)
        store(path, data)
        tell(done, missing, processes)

    complete = spread(run, list(missing), processes, finished)
    if not complete:
        print(f"stopped with {len(missing)} trials to go; run it again to go on", flush=True)
    return complete


def settings() -> dict[str, str]:
    """What results depend on beside N, K and the seed; code only by its version: after changing it, --fresh."""
    planner = {key: value for key, value in asdict(CPBPSettings()).items() if key not in ("samples", "horizon")}
    about = {f"cpbp {key}": str(value) for key, value in planner.items()} | {"tumble": versions()["tumble"]}
    for name in TRIALS:
        scenario, scene, goal = setting(name)
        about |= {name: str(scenario), f"{name} scene": scene.fingerprint, f"{name} goal": str(vars(goal))}
    return about


@cache
def setting(name: str) -> tuple[Scenario, Scene, Goal]:
    """A scenario and what it happens in, made once per process."""
    scenario = SCENARIOS[name]()
    scene = scenario.scene(character("humanoid"))
    return scenario, scene, goal_of(scene, scenario.wants())


def run(task: Task, stop: Callable[[], bool]) -> dict[str, Any] | None:
    """In a worker: one trial from start to verdict, None if it was stopped."""
    scenario, scene, _ = setting(task.scenario)
    chosen = replace(CPBPSettings(), samples=task.samples, horizon=task.horizon)
    began = time.perf_counter()
    trial = Trial(scenario, task.seed, "cpbp", scene=scene, made=Planned(CPBP(scene, chosen, task.seed, nthread=1)))
    result = run_trial(trial, stop=stop)
    seconds = round(time.perf_counter() - began, 2)
    return {"success": result.success, "wall_seconds": seconds} if result.finished else None


def tell(done: Sequence[dict[str, Any]], missing: Sequence[Task], processes: int) -> None:
    """A line on the trial that ended, and how long the rest may take: as long per N and K as the last ones did."""
    last, recent = done[-1], done[-20:]
    rate = sum(one["wall_seconds"] for one in recent) / sum(one["samples"] * one["horizon"] for one in recent)
    rest = timedelta(seconds=round(rate * sum(task.samples * task.horizon for task in missing) / processes))
    what = "seed {seed:2}  {scenario:5}  N = {samples:3}  K = {horizon} s  ".format(**last)
    how = f"{'success' if last['success'] else 'failure'} in {last['wall_seconds']:5.1f} s"
    print(f"{what}{how}; {len(missing)} to go, about {rest}", flush=True)


def draw(data: Any) -> Figure:
    won: dict[tuple[str, int, float], list[bool]] = {}
    for one in data["trials"]:
        won.setdefault((one["scenario"], one["samples"], one["horizon"]), []).append(one["success"])
    figure, row = plt.subplots(1, 2, figsize=(8.2, 4.2), sharey=True, layout="constrained")
    for axes, (panel, points) in zip(row, PANELS.items(), strict=True):
        left = panel == "left"
        axes.set(xlabel="samples N" if left else "horizon K, s", xlim=(-0.4, len(points) - 0.6), ylim=(-0.03, 1.03))
        axes.set_xticks(range(len(points)), [f"{point[0] if left else point[1]:g}" for point in points])
        axes.set_title("K = 1.2 s" if left else "N = 256", loc="left", fontsize=10)
        axes.grid(axis="y", color="#eeeeee")
        for shift, name in ((-0.07, "getup"), (0.07, "ball")):
            line(axes, [won.get((name, *point), []) for point in points], name, shift)
    where = [PANELS["left"].index(point) + 0.07 for point in PAPER]
    row[0].plot(where, list(PAPER.values()), "D", ms=7, mfc="none", mec=RED, mew=1.2, label="B, the paper's", zorder=5)
    row[0].set_ylabel("probability of success")
    figure.legend(*row[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


def line(axes: Axes, runs: list[list[bool]], name: str, shift: float) -> None:
    """One trial's line: rates where there are runs, their intervals, and below the axis how many runs there are."""
    letter, what, colour = TRIALS[name]
    there = [i for i, one in enumerate(runs) if one]
    rates = [sum(runs[i]) / len(runs[i]) for i in there]
    axes.plot([i + shift for i in there], rates, "o-", color=colour, lw=1.8, ms=4.5, label=f"{letter}, {what}")
    for i in there:
        axes.plot([i + shift] * 2, wilson(sum(runs[i]), len(runs[i])), color=colour, lw=1.2, alpha=0.55)
    height = -0.22 if letter == "A" else -0.29
    style: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "va": "center", "fontsize": 8, "color": colour}
    axes.text(-0.45, height, f"{letter}, runs", ha="right", **style)
    for i, one in enumerate(runs):
        axes.text(i, height, str(len(one)), ha="center", **style)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")
