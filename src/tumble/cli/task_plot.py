"""`tumble task plot NAME|FILE OUT.png`: a map of a policy's actions (coros2010 Figure 4.6), and how often each is best.

Rows are states drawn at random, by their speed, columns goals along the first axis, through 0 of the others. With
--coverage, instead, where the explored states lie, on the plane over which they are spread most, those on either foot
apart.
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from tumble.cli.options import CONFIG
from tumble.errors import UserError, check_number
from tumble.files import check_place, replace_file
from tumble.tasks.grid import closest
from tumble.tasks.metric import nearest, plane
from tumble.tasks.policy import Policy, policy_named

FEET = ("left", "right")  # by `Stances.feet`


def _figure(width: float, height: float) -> Any:
    """An empty matplotlib figure, inches; refuses where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("a plot needs matplotlib: pip install 'tumble[experiments]'") from None
    return Figure(figsize=(width, height), dpi=130)


def figure_of(policy: Policy, states: int, seed: int) -> Any:
    """A matplotlib figure: the map, and how often each action is best."""
    figure = _figure(9.0, 5.0)
    import matplotlib

    grid, count = policy.header.grid, len(policy.actions)
    rows = np.random.default_rng(seed).permutation(len(policy.states))[:states]
    ahead = policy.states.velocity[:, 0]
    rows = rows[np.argsort(ahead[rows])]
    first = grid[-1] if len(grid) == 1 or grid[0].name not in ("ahead",) else grid[0]
    zeros = [0.0 for _ in grid]
    columns = []
    for x in first.points:
        zeros[grid.index(first)] = x
        columns.append(closest(grid, zeros))
    colours = matplotlib.colormaps["turbo"](np.linspace(0, 1, count))
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    left.imshow(colours[policy.best[np.ix_(rows, np.array(columns))]], aspect="auto", interpolation="nearest")
    ticks = np.linspace(0, len(columns) - 1, min(9, len(columns))).round().astype(int)
    left.set_xticks(ticks, [f"{first.points[i]:.2g}" for i in ticks])
    unit = "rad" if first.name == "heading" else "m"
    some = np.linspace(0, len(rows) - 1, min(9, len(rows))).round().astype(int)
    left.set_yticks(some, [f"{ahead[rows[i]]:.1f}" for i in some])
    left.set(
        xlabel=f"{first.name}, {unit}",
        ylabel="states, by their speed ahead, m/s",
        title=f"{policy.header.task}: the best action",
    )
    shares = np.bincount(policy.best.ravel(), minlength=count) / policy.best.size
    right.barh(range(count), 100 * shares, color=colours)
    right.set_yticks(range(count), [str(action) for action in policy.actions], fontsize=6)
    right.set(xlabel="% of states and goals", title="how often each is best")
    right.invert_yaxis()
    figure.tight_layout()
    return figure


def coverage_of(policy: Policy) -> Any:
    """A matplotlib figure: states by their distance from the nearest trusted one, the trusted, and limit cycles.

    A policy whose file does not say how many of its first states were trusted shows those of limit cycles as such.
    """
    figure = _figure(10.0, 5.0)
    import matplotlib

    last = max(end for _, end in policy.header.cycles.values())
    trusted = np.arange(int(policy.header.figures.get("trusted", last)))
    away = nearest(policy.states.some(trusted), policy.states, 1)[1][:, 0]
    largest = max(float(away[np.isfinite(away)].max(initial=0.0)), 1e-9)
    colours = matplotlib.colormaps["tab10"](np.arange(len(policy.header.cycles)) % 10)
    axes = figure.subplots(1, 2)
    for foot, (name, one) in enumerate(zip(FEET, axes, strict=True)):
        rows = np.flatnonzero(policy.states.feet == foot)
        one.set_title(f"{policy.header.task}: {len(rows)} states on the {name} foot", fontsize=10)
        if not rows.size:
            continue
        places, shares = plane(policy.states.some(rows))
        shown = one.scatter(*places.T, c=away[rows], s=5, cmap="viridis", vmin=0.0, vmax=largest, lw=0)
        marked = np.isin(rows, trusted)
        one.scatter(*places[marked].T, marker="x", s=22, lw=0.9, c="#222222", label="trusted")
        for colour, (gait, ends) in zip(colours, policy.header.cycles.items(), strict=True):
            cycle = np.isin(rows, np.arange(*ends))
            one.scatter(*places[cycle].T, s=50, facecolors="none", edgecolors=[colour], lw=1.6, label=gait)
        one.set_xlabel(f"{100 * shares[0]:.0f} % of the variance", fontsize=9)
        one.set_ylabel(f"{100 * shares[1]:.0f} % of the variance", fontsize=9)
        one.tick_params(labelsize=8)
        one.set_aspect("equal", "datalim")
        one.spines[["top", "right"]].set_visible(False)
    figure.subplots_adjust(left=0.06, right=0.85, bottom=0.11, top=0.92, wspace=0.2)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.855, 0.93), fontsize=7)
    bar = figure.colorbar(shown, cax=figure.add_axes((0.88, 0.11, 0.015, 0.34)))
    bar.set_label("distance from the nearest trusted state", fontsize=7)
    bar.ax.tick_params(labelsize=7)
    return figure


def main(arguments: list[str]) -> int:
    """Parse and draw; the exit code."""

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
        out: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")],
        states: int = 60,
        seed: int = 0,
        coverage: bool = False,
    ) -> int:
        """Draw which action is best for which goal, for some states, and how often each is; or what was explored.

        Example: tumble task plot heading heading.png

        Example, what exploration found: tumble task plot heading states.png --coverage

        Args:
          name: of a policy that ships, or a file that ends in .policy.
          out: a picture to write, .png.
          states: to draw, at random.
          seed: of which.
          coverage: draw where the explored states lie instead, the trusted ones and limit cycles marked.
        """
        check_number("states", states, 1, 10_000)
        if out.suffix != ".png":
            raise UserError(f"a plot is a .png file, got {out}")
        check_place(out)
        policy = policy_named(name)
        if not (policy.header.grid or coverage):
            raise UserError(f"'{policy.header.task}' has no goals to draw a map over, but see --coverage")
        figure = coverage_of(policy) if coverage else figure_of(policy, states, seed)
        replace_file(out, lambda file: figure.savefig(file, format="png"))
        print(out)
        return 0

    return tyro.cli(go, prog="tumble task plot", args=arguments, config=CONFIG)
