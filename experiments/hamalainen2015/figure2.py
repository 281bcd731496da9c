"""Figure 2 of hamalainen2015: one iteration of C-PBP on the toy, and the next.

The point flies from left to right past obstacles that are in the cost alone. A: the tree of sampled
trajectories; vertical blue lines are the instants of resampling, where branches end and others fork.
B: the same with the smoothed path of the local refinement in black. C: the trajectories of the next
iteration. One should see the tree of A thin out behind obstacles, a black path that is smoother than
any sampled one, and in C trajectories that keep to the ways A believed in.

A few seconds on two cores; --quick does the same.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from report import BLUE, INK, RED, main, rounded, segments, world

from tumble.planners import CPBP, Plan
from tumble.planners.cpbp.cpbp import WalkerTree
from tumble.scenarios import toy

SEED = 8  # of seeds 0 to 10 the one whose cost drops by the median


def measure(quick: bool) -> dict[str, Any]:
    scene, goal = toy.scene(), toy.goal()
    planner = CPBP(scene, toy.settings(), SEED, nthread=1)
    iterations = []
    for _ in range(2):
        plan = planner.plan(toy.start(scene), goal, again=True)
        iterations.append(account(plan, planner.tree(), scene.dt))
    return {"figure": 2, "seed": SEED, "samples": 32, "iterations": iterations}


def account(plan: Plan, tree: WalkerTree, dt: float) -> dict[str, Any]:
    """Segments of all samples, pruned ones too; paths; instants of resampling as places ahead."""
    ends = tree.states[1:, :, [0, 2]]
    starts = tree.states[np.arange(len(ends))[:, None], tree.ancestors][:, :, [0, 2]]
    lines = np.stack([starts, ends], axis=2).reshape(-1, 2, 2)
    return {
        "cost": round(plan.cost, 2),
        "segments": rounded(lines),
        "best": rounded(plan.path[:, [0, 2]]),
        "smoothed": rounded(plan.smoothed[:, [0, 2]]),
        "resampled": rounded(toy.SPEED * dt * np.flatnonzero(tree.resampled)),
    }


def draw(data: Any) -> Figure:
    figure, rows = plt.subplots(3, 1, figsize=(5.6, 9.4), sharex=True, layout="constrained")
    first, second = data["iterations"]
    titles = (
        f"A  sampled trajectories (N = {data['samples']}), resampling in blue",
        "B  with the smoothed path in black",
        f"C  next iteration (best cost {first['cost']:.0f} before, {second['cost']:.0f} now)",
    )
    for axes, title, one in zip(rows, titles, (first, first, second), strict=True):
        world(axes)
        for x in one["resampled"]:
            axes.axvline(x, color=BLUE, lw=0.9, alpha=0.8, zorder=1)
        segments(axes, one["segments"], colors=RED, linewidths=0.7, alpha=0.55, zorder=2)
        axes.set_title(title, loc="left", fontsize=10)
    rows[1].plot(*np.transpose(first["smoothed"]), color=INK, lw=2.2, zorder=4)
    rows[2].set_xlabel("ahead, m (2 m/s)")
    return figure


if __name__ == "__main__":
    main("figure2", __doc__, measure, draw)
