"""SMC, C-PBP, predictive sampling, CEM and MPPI at equal simulation steps a frame; no figure of the paper.

Every planner has 1500 simulation steps a frame: 25 samples of 2 s (K = 60 steps), and C-PBP also at its own default
horizon of 1.2 s with 42 samples (1512 steps). Scenarios: stand, push, getup with the plain humanoid; dodge, as it is
made, with the light one in the ready pose. The goal is 'balance' throughout: the step-wise planners (all but SMC) add
up its terms over the steps of a plan, SMC judges a whole plan by its ways, the best moment of the best one. All
other settings are each planner's defaults, which were chosen at other budgets.

One should see who is balanced at the end, with Wilson's 95 % intervals, and at what price: RMS joint speed and jerk
over the last 5 s, falls after having stood, and the median time of a plan in a process with one thread (as many run at
once as there are cores).

10 seeds: at 70 ms a frame about 30 minutes on two cores. --quick (600 steps a frame, getup, seeds 0 and 1) under a
minute. Stored, resumed and stopped as figure 12.

    python comparison.py --scenarios dodge getup --repetitions 5
    python comparison.py                     # goes on from there
"""

import argparse
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from report import BLUE, GREEN, GREY, INK, RED, picture, place
from trials import Point, checked, conclude, markdown, measure, options, rate, script, tell_readme

from tumble.scenarios import SCENARIOS

STEPS, QUICK_STEPS, RATE = 1500, 600, 30  # simulation steps a frame; the same for --quick; frames a second
PLANNERS = {  # name, horizon in s; colour
    "SMC": (("smc", 2.0), BLUE),
    "C-PBP": (("cpbp", 2.0), RED),
    "C-PBP, 1.2 s": (("cpbp", 1.2), "#e39a8d"),
    "PS": (("ps", 2.0), GREY),
    "CEM": (("cem", 2.0), GREEN),
    "MPPI": (("mppi", 2.0), INK),
}
TRIALS = ("stand", "push", "getup", "dodge")


def main() -> None:
    chosen = arguments()
    path = place("comparison", chosen.quick)
    steps = QUICK_STEPS if chosen.quick else STEPS
    points = [point(planner, trial, steps) for planner in chosen.planners for trial in chosen.scenarios]
    complete = chosen.draw or measure(path, {"steps a frame": steps}, points, chosen)

    def tell(data: Any) -> None:
        picture(path, draw)
        tell_readme("comparison", text(data), chosen.quick)

    conclude(path, complete, tell)


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = options(__doc__, 10)
    known.add_argument("--scenarios", nargs="+", choices=TRIALS, help="which to measure; default: all")
    known.add_argument("--planners", nargs="+", choices=PLANNERS, default=list(PLANNERS), help="default: all")
    chosen = checked(known)
    chosen.scenarios = chosen.scenarios or (["getup"] if chosen.quick else list(TRIALS))
    return chosen


def point(planner: str, trial: str, steps: int) -> Point:
    """A planner with as many samples as the steps allow, in a scenario with the body that it is made for."""
    (name, horizon), _ = PLANNERS[planner]
    settings = (("samples", round(steps / (RATE * horizon))), ("horizon", horizon))
    return Point(trial, SCENARIOS[trial].make.characters[0], name, settings)


def mean(trials: list[dict[str, Any]], key: str) -> float:
    """Of a figure over trials; NaN where there are none."""
    return float(np.mean([one[key] for one in trials])) if trials else np.nan


def trials_of(data: Any, one: Point) -> list[dict[str, Any]]:
    return data["points"].get(one.name, {"trials": []})["trials"]


def draw(data: Any) -> Figure:
    figure, (won, jerk, plan) = plt.subplots(1, 3, figsize=(11.5, 3.8), width_ratios=(1.5, 1, 1), layout="constrained")
    for i, (planner, (_, colour)) in enumerate(PLANNERS.items()):
        points = [point(planner, trial, data["steps a frame"]) for trial in TRIALS]
        places = np.arange(len(TRIALS)) + 0.12 * (i - (len(PLANNERS) - 1) / 2)
        marks: dict[str, Any] = {"ls": "", "marker": "o", "color": colour, "ms": 5}
        rates = [rate(data, one) for one in points]
        shares = [one.share if one.runs else np.nan for one in rates]
        won.plot(places, shares, label=planner, **marks)
        for x, one in zip(places, rates, strict=True):
            if one.runs:
                won.plot([x, x], one.interval, color=colour, lw=1.2, alpha=0.55)
        for axes, key in ((jerk, "rms_jerk"), (plan, "plan_ms")):
            axes.plot(places, [mean(trials_of(data, one), key) for one in points], **marks)
    won.set(ylabel="balanced at the end", ylim=(-0.03, 1.03))
    jerk.set(ylabel="RMS jerk of joints over the last 5 s, rad/s³", yscale="log")
    jerk.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    jerk.yaxis.set_major_formatter("{x:g}")
    jerk.yaxis.set_minor_formatter("")
    plan.set(ylabel="median time of a plan, one thread, ms", ylim=(0, 1.05 * plan.get_ylim()[1]))
    for axes in (won, jerk, plan):
        named(axes)
    figure.legend(*won.get_legend_handles_labels(), loc="outside upper center", ncols=6, frameon=False)
    return figure


def named(axes: Axes) -> None:
    """The scenarios along an axis."""
    axes.set_xticks(range(len(TRIALS)), TRIALS)
    axes.set_xlim(-0.5, len(TRIALS) - 0.5)
    axes.grid(axis="y", color="#eeeeee")


def text(data: Any) -> str:
    """For the README: a row for every scenario and planner."""
    rows = []
    for trial in TRIALS:
        for planner in PLANNERS:
            one = point(planner, trial, data["steps a frame"])
            rows.append((trial, planner, *row(data, one)))
    head = ("scenario", "planner", "N x K", "steps a frame", "balanced at the end (95 %)", "RMS joint speed, rad/s",
            "RMS jerk, rad/s³", "falls", "plan, ms")  # fmt: skip
    return markdown(head, rows)


def row(data: Any, one: Point) -> tuple[str, ...]:
    """What is told of a point."""
    trials, got, chosen = trials_of(data, one), rate(data, one), dict(one.settings)
    size = f"{chosen['samples']} x {round(RATE * chosen['horizon'])}"
    if not trials:
        return size, "", "not run yet", "", "", "", ""
    spent = sum(each["sim_steps"] for each in trials) / sum(each["frames"] for each in trials)
    return (
        size,
        f"{spent:.0f}",
        "{} ({:.2f} to {:.2f})".format(got, *got.interval),
        f"{mean(trials, 'rms_joint_speed'):.2f}",
        f"{mean(trials, 'rms_jerk'):.0f}",
        f"{sum(each['falls'] for each in trials):.0f}",
        f"{mean(trials, 'plan_ms'):.0f}",
    )


if __name__ == "__main__":
    script(main)
