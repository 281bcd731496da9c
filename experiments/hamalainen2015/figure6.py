"""Figure 6 of hamalainen2015: convergence with and without transition noise and local refinement (LR).

The problem of figure 2, planned again and again from the same state without a shift in time, every
iteration with the previous one as its prior: the cost of the best trajectory, mean of 30 runs. One
should see Q != 0 with LR lowest, Q = 0 without LR highest. The left panel has the mutation of the
authors' example (sigma_m / sigma_0 = 0.25); the right one four times as much, because there the
order is another one.

About 2 minutes on one core; --quick (5 runs, 15 iterations) under half a minute. Seeds 0 to 29 were not
used to choose any number of the toy (those were 1000 to 1007).
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from report import BLUE, GREY, INK, RED, main, rounded

from tumble.planners import CPBP
from tumble.scenarios import toy

MUTATIONS = (0.25, 1.0)
KINDS = {"Q = 0": (False, False), "Q = 0, LR": (False, True), "Q ≠ 0": (True, False), "Q ≠ 0, LR": (True, True)}
LOOK = {"Q = 0": (GREY, "-"), "Q = 0, LR": (BLUE, "-"), "Q ≠ 0": (RED, "--"), "Q ≠ 0, LR": (INK, "-")}


def measure(quick: bool) -> dict[str, Any]:
    runs, iterations = (5, 15) if quick else (30, 40)
    scene, goal = toy.scene(), toy.goal()
    start = toy.start(scene)
    panels = []
    for mutation in MUTATIONS:
        costs = {}
        for kind, (noise, refine) in KINDS.items():
            settings = toy.settings(noise=noise, refine=refine, mutation=mutation)
            planners = [CPBP(scene, settings, seed, nthread=1) for seed in range(runs)]
            costs[kind] = rounded(
                np.array([[p.plan(start, goal, again=True).cost for _ in range(iterations)] for p in planners]), 2
            )
        panels.append({"mutation": mutation, "costs": costs})
    return {"figure": 6, "seeds": list(range(runs)), "samples": 32, "panels": panels}


def draw(data: Any) -> Figure:
    figure, row = plt.subplots(1, len(data["panels"]), figsize=(8.2, 3.6), sharey=True, layout="constrained")
    for axes, panel in zip(row, data["panels"], strict=True):
        for kind, costs in panel["costs"].items():
            runs = np.array(costs)
            x, mean = np.arange(1, runs.shape[1] + 1), runs.mean(axis=0)
            error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
            colour, line = LOOK[kind]
            axes.plot(x, mean, line, color=colour, lw=1.8, label=kind)
            axes.fill_between(x, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
        axes.set(xlabel="iteration", yscale="log", xlim=(1, runs.shape[1]), yticks=[15, 20, 30, 40, 60, 80])
        axes.yaxis.set_major_formatter("{x:.0f}")
        axes.yaxis.set_minor_formatter("")
        axes.set_title(f"mutation $\\sigma_m$ = {panel['mutation']:g} $\\sigma_0$", loc="left", fontsize=10)
        axes.grid(axis="y", color="#eeeeee")
    row[0].set_ylabel(f"best cost, mean of {len(data['seeds'])} runs")
    row[0].legend(frameon=False)
    return figure


if __name__ == "__main__":
    main("figure6", __doc__, measure, draw)
