"""Figures 4 and 8 of hamalainen2014: the kD-tree sampler throws a ball at a target, which then moves.

A ball is thrown from the left of a hall with two walls, under gravity, and bounces off the ground and the walls;
its speed and angle are what is sampled. The paper gives no numbers: the hall is ours (constants below).

Figure 4: A, two throws that hit the target; B, fitness exp(-|c - g|^2) with c the trajectory's closest point to
the target g; C, the same with c the place of the ball after 1.5 s; D, the 100 samples and their rectangles after
one time step on C. One should see ridges in B, peaks in C, and small rectangles on those peaks that were found.

Figure 8: fitness C while the target moves, 100 evaluations a step (10 kept, 20 uniform guesses, the last 25
greedy). Above, five steps: samples on the fitness, and below them the throws, the best in green. One should see
samples on several peaks at once, and the best on one of the highest, not always the one of before. At the bottom,
how far the best throw is from the target, for either fitness: uniform sampling, the sampler without memory (nothing
kept), Algorithm 2, and Algorithm 2 with the best of the step before as one more guess (section 4.5), one by one and
in batches. Tracking should be nearest; most so where the peaks are small, at the right.

About a minute on one core; --quick (5 seeds) a quarter of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from numba import njit
from report import BLUE, GREEN, GREY, INK, RED, main, rounded

from tumble.maths.tree_sampler import TreeSampler

GRAVITY, RESTITUTION = 9.81, 0.8  # m/s^2; speed across the surface after a bounce by that before
HALL, HAND = 10.0, (1.0, 1.0)  # m between the walls; where a throw begins, m from the left wall and up
LOW, HIGH = np.array([0.0, 2.0]), np.array([180.0, 14.0])  # angle, degrees from the right; speed, m/s
DT, STEPS, WHEN = 0.01, 250, 150  # s; steps a trajectory; the step of objective C: 1.5 s
TARGET = (7.0, 2.0)
BUDGET, KEPT, GUESSED, GREEDY = 100, 10, 20, 25  # evaluations a step; hamalainen2014 3.4, 4.5, 5.2
FRAMES, PICKED = 60, (0, 12, 24, 36, 48)  # steps of figure 8; those drawn
SEED = 0


@njit(cache=True)
def bounce(place, speed, pull, floor, left):  # type: ignore[no-untyped-def]
    """Place and speed after `left` s under a pull towards a floor below, exactly, bounces included."""
    for _ in range(20):  # then at rest, as far as eyes can tell
        # the floor is reached after t: place + speed t - pull t^2 / 2 = floor
        gap = place - floor
        if pull > 0.0:
            t = (speed + np.sqrt(speed * speed + 2.0 * pull * gap)) / pull
        else:
            t = -gap / speed if speed < 0.0 else np.inf
        if t > left:
            return place + speed * left - 0.5 * pull * left * left, speed - pull * left
        place, speed, left = floor, -RESTITUTION * (speed - pull * t), left - t
    return floor, 0.0


@njit(cache=True)
def throw(x):  # type: ignore[no-untyped-def]
    """(STEPS + 1, 2): places of the ball, m from the left wall and up, every DT s."""
    path = np.empty((STEPS + 1, 2))
    path[0] = HAND
    angle = np.radians(x[0])
    across, up = x[1] * np.cos(angle), x[1] * np.sin(angle)
    for k in range(STEPS):
        path[k + 1, 1], up = bounce(path[k, 1], up, GRAVITY, 0.0, DT)
        if across < 0.0:
            path[k + 1, 0], across = bounce(path[k, 0], across, 0.0, 0.0, DT)
        else:  # the right wall, seen from the other side
            place, across = bounce(-path[k, 0], -across, 0.0, -HALL, DT)
            path[k + 1, 0], across = -place, -across
    return path


@njit(cache=True)
def distances(points, target, timed):  # type: ignore[no-untyped-def]
    """(n,): m between target and ball, after 1.5 s if timed (objective C), else where it is closest (objective B)."""
    found = np.empty(len(points))
    for i in range(len(points)):
        path = throw(points[i])
        found[i] = np.hypot(path[WHEN, 0] - target[0], path[WHEN, 1] - target[1]) if timed else np.inf
        for k in range(0 if timed else STEPS):  # to the line between two places
            x, y = target[0] - path[k, 0], target[1] - path[k, 1]
            dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
            share = min(max((x * dx + y * dy) / max(dx * dx + dy * dy, 1e-12), 0.0), 1.0)
            found[i] = min(found[i], np.hypot(x - share * dx, y - share * dy))
    return found


@dataclass(frozen=True)
class Kind:
    """A way to spend a step's evaluations.

    Attributes:
      keep: samples kept from the step before; best: whether its best is a guess; batch: evaluated at a time.
      uniform: all evaluations are uniform guesses.
    """

    keep: int = KEPT
    best: bool = False
    batch: int = 1
    uniform: bool = False


KINDS = {
    "uniform sampling": Kind(uniform=True),
    "no memory (M = 0)": Kind(keep=0),
    "tracking": Kind(),
    "tracking, best as a guess": Kind(best=True),
    "that, in batches of 5": Kind(best=True, batch=5),
}
SHOWN = "tracking"
COLOURS = dict(zip(KINDS, ((GREY, "-"), (BLUE, "-"), (RED, "-"), (INK, "-"), (GREEN, "--")), strict=True))


def step(sampler: TreeSampler, kind: Kind, target: Sequence[float], timed: bool, rng: np.random.Generator) -> None:
    """One time step of Algorithm 2; the first has nothing to go on from and is uniform."""
    first = not len(sampler)
    best = sampler.points[[sampler.best]] if kind.best and not first else np.empty((0, 2))
    guesses = np.concatenate([best, rng.uniform(LOW, HIGH, (BUDGET if first or kind.uniform else GUESSED, 2))])
    sampler.begin(kind.keep)
    sampler.tell(-(distances(sampler.guess(guesses), target, timed) ** 2))
    spent = len(guesses)
    while spent < BUDGET:
        greedy = spent >= BUDGET - GREEDY
        points = sampler.ask(min(kind.batch, (BUDGET if greedy else BUDGET - GREEDY) - spent), greedy)
        sampler.tell(-(distances(points, target, timed) ** 2))
        spent += len(points)


def course() -> np.ndarray:
    """(FRAMES, 2): where the target is, once around an ellipse; 0.1 to 0.3 m a step."""
    turn = 2 * np.pi * np.arange(FRAMES) / FRAMES
    return np.stack([5.0 + 3.0 * np.cos(turn), 2.2 + 1.2 * np.sin(turn)], axis=1)


def start(seed: int) -> tuple[TreeSampler, np.random.Generator]:
    return TreeSampler(LOW, HIGH, np.random.default_rng([seed, 0])), np.random.default_rng([seed, 1])


def follow(kind: Kind, timed: bool, seed: int) -> np.ndarray:
    """(FRAMES,): m between the target and the best throw of each step."""
    sampler, rng = start(seed)
    found = []
    for target in course():
        step(sampler, kind, target, timed, rng)
        found.append(distances(sampler.points[[sampler.best]], target, timed)[0])
    return np.array(found)


def seen(sampler: TreeSampler) -> dict[str, Any]:
    """What is drawn of a sampler: angles and speeds, rectangles, which were evaluated in this step, the best."""
    points, cells = rounded(sampler.points), rounded(sampler.cells)
    return {"points": points, "cells": cells, "fresh": sampler.fresh.tolist(), "best": sampler.best}


# Figure 4 -------------------------------------------------------------------------------------------


def measure4(quick: bool) -> dict[str, Any]:
    """Two throws at the highest peaks of C on either side, and a time step from nothing: 20 guesses, then the tree."""
    sampler, rng = start(SEED)
    guesses = sampler.guess(rng.uniform(LOW, HIGH, (GUESSED, 2)))
    sampler.tell(-(distances(guesses, TARGET, True) ** 2))
    while len(sampler) < BUDGET:
        sampler.tell(-(distances(sampler.ask(1), TARGET, True) ** 2))
    angles, speeds = axes_of(361)
    fit = landscape(TARGET, True, angles, speeds)
    throws = []
    for half in (angles < 90, angles > 90):
        i, j = np.unravel_index(np.where(half, fit, 0).argmax(), fit.shape)
        throws.append([float(angles[j]), float(speeds[i])])
    return {"figure": 4, "seed": SEED, "target": TARGET, "throws": throws, "samples": seen(sampler)}


def axes_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles and speeds of a landscape."""
    return np.linspace(LOW[0], HIGH[0], count), np.linspace(LOW[1], HIGH[1], count)


def landscape(target: Sequence[float], timed: bool, angles: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """(speeds, angles): fitness."""
    points = np.stack(np.meshgrid(angles, speeds), axis=-1).reshape(-1, 2)
    return np.exp(-(distances(points, np.asarray(target), timed) ** 2)).reshape(len(speeds), len(angles))


def scenery(axes: Axes, target: Sequence[float], height: float = 8.0) -> None:
    """The hall, with the target."""
    axes.plot([0, 0, HALL, HALL], [height, 0, 0, height], color=INK, lw=1.5, solid_joinstyle="miter", clip_on=False)
    axes.plot(*target, "o", ms=9, color=INK, zorder=5)
    axes.plot(*HAND, "o", ms=4, mfc="white", mec=INK, zorder=5)
    axes.set(xlim=(0, HALL), ylim=(0, height), aspect="equal", xticks=[0, 5, 10], yticks=[0, 4, 8])
    axes.spines[:].set_visible(False)


def paths(points: Any) -> list[np.ndarray]:
    """Trajectories of throws."""
    return [throw(np.array(x)) for x in points]


def ground(axes: Axes, target: Sequence[float], timed: bool) -> None:
    """A landscape of the fitness in grey, white where it is 1."""
    image = landscape(target, timed, *axes_of(241))
    extent = (LOW[0], HIGH[0], LOW[1], HIGH[1])
    axes.imshow(image, origin="lower", aspect="auto", extent=extent, cmap="gray", vmin=0, vmax=1)
    axes.set(xlim=(LOW[0], HIGH[0]), ylim=(LOW[1], HIGH[1]), xticks=[0, 45, 90, 135, 180])


def draw4(data: Any) -> Figure:
    figure, ((a, b), (c, d)) = plt.subplots(2, 2, figsize=(9.2, 7.4), layout="constrained")
    scenery(a, data["target"])
    for axes, timed in ((b, False), (c, True), (d, True)):
        ground(axes, data["target"], timed)
        axes.set(xlabel="throw angle, degrees", ylabel="throw speed, m/s")
    for x, path, colour in zip(data["throws"], paths(data["throws"]), (RED, GREEN), strict=True):
        a.plot(*path[: WHEN + 1].T, color=colour, lw=1.8)
        for axes in (b, c):
            axes.plot(*x, "o", ms=9, mfc="none", mec=colour, mew=2.2)
    rectangles(d, data["samples"])
    a.set(xlabel="m", ylabel="m")
    a.set_title(f"A  two throws that hit the target after {WHEN * DT:g} s", loc="left", fontsize=10)
    b.set_title("B  fitness $\\exp(-|c - g|^2)$, closest point of the trajectory", loc="left", fontsize=10)
    c.set_title(f"C  the same, place of the ball after {WHEN * DT:g} s", loc="left", fontsize=10)
    d.set_title(f"D  {len(data['samples']['points'])} samples and their cells, one step on C", loc="left", fontsize=10)
    return figure


def rectangles(axes: Axes, samples: Any) -> None:
    """Cells and points of samples."""
    cells = np.array(samples["cells"])
    corners = cells[:, [0, 0, 1, 1, 0], [0, 0, 0, 0, 0]], cells[:, [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    axes.add_collection(LineCollection(list(np.stack(corners, axis=2)), colors=BLUE, linewidths=0.7))
    axes.plot(*np.transpose(samples["points"]), "o", ms=2.6, color=RED)


# Figure 8 -------------------------------------------------------------------------------------------


def measure8(quick: bool) -> dict[str, Any]:
    seeds = list(range(5 if quick else 40))
    sampler, rng = start(SEED)
    steps = []
    for k, target in enumerate(course()):
        step(sampler, KINDS[SHOWN], target, True, rng)
        if k in PICKED:
            steps.append({"step": k, "target": rounded(target), "samples": seen(sampler)})
    runs = {
        name: {kind: rounded(np.array([follow(KINDS[kind], timed, seed) for seed in seeds])) for kind in KINDS}
        for name, timed in (("closest point", False), ("place after 1.5 s", True))
    }
    summary = {name: {kind: summed(np.array(run)) for kind, run in kinds.items()} for name, kinds in runs.items()}
    about = {"figure": 8, "seed": SEED, "seeds": seeds, "evaluations": BUDGET, "summary": summary}
    return about | {"steps": steps, "distances": runs}


def summed(runs: np.ndarray) -> dict[str, float]:
    """Of runs (seeds, FRAMES), without the first step: mean, its standard error over seeds, and steps within 0.1 m."""
    each = runs[:, 1:].mean(axis=1)
    error = each.std(ddof=1) / np.sqrt(len(each))
    share = (runs[:, 1:] < 0.1).mean()
    return {"mean": round(each.mean(), 4), "error": round(error, 4), "within 0.1 m": round(float(share), 3)}


def draw8(data: Any) -> Figure:
    count = len(data["steps"])
    figure = plt.figure(figsize=(12.4, 8.8), layout="constrained")
    grid = figure.add_gridspec(3, 2 * count, height_ratios=(1, 0.8, 1.3))
    for k, one in enumerate(data["steps"]):
        above, below = (figure.add_subplot(grid[row, 2 * k : 2 * k + 2]) for row in (0, 1))
        points, best = np.array(one["samples"]["points"]), one["samples"]["best"]
        fresh = np.array(one["samples"]["fresh"])
        ground(above, one["target"], True)
        above.plot(*points[fresh].T, "o", ms=3, mfc="none", mec=RED, mew=0.8)
        above.plot(*points[best], "o", ms=8, mfc="none", mec=GREEN, mew=2.2)
        above.set_title(f"step {one['step'] + 1}", loc="left", fontsize=10)
        scenery(below, one["target"])
        flown = [path[: WHEN + 1] for path in paths(points[fresh])]
        below.add_collection(LineCollection(flown, colors=GREY, linewidths=0.4, alpha=0.6))
        below.plot(*throw(points[best])[: WHEN + 1].T, color=GREEN, lw=2.2)
        below.tick_params(labelleft=k == 0)
        above.tick_params(labelleft=k == 0)
        if k == 0:
            above.set(xlabel="throw angle, degrees", ylabel="throw speed, m/s")
            below.set(xlabel="m", ylabel="m")
    for k, (name, kinds) in enumerate(data["distances"].items()):
        axes = figure.add_subplot(grid[2, k * count : (k + 1) * count])
        merit(axes, kinds, data["summary"][name])
        axes.set_title(f"from the best throw to the target, fitness: {name}", loc="left", fontsize=10)
        axes.set(xlabel="step", ylabel=f"m, mean of {len(data['seeds'])} seeds")
    return figure


def merit(axes: Axes, kinds: Any, summary: Any) -> None:
    """Distances over time."""
    for kind, runs in kinds.items():
        colour, line = COLOURS[kind]
        label = f"{kind}: {summary[kind]['mean']:.4f} ± {summary[kind]['error']:.4f}"
        axes.plot(np.arange(1, FRAMES + 1), np.mean(runs, axis=0), line, color=colour, lw=1.5, label=label)
    axes.set(yscale="log", xlim=(1, FRAMES))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.grid(axis="y", color="#eeeeee")
    axes.legend(frameon=False, ncols=2, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16))


if __name__ == "__main__":
    main("figure4", __doc__, measure4, draw4)
    main("figure8", __doc__, measure8, draw8)
