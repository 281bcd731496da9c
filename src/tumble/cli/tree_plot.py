"""`tumble tree plot NAME|FILE OUT.png`: a picture of a tree.

Of a character: the share of each domain that is inside, the nodes that took (alborno2016 Figure 5), and how the tree
grew. Of a pendulum: its nodes in the phase plane.
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from tumble.attraction.facts import levels_of, nodes_after
from tumble.attraction.pendulum import Pendulum
from tumble.attraction.skills import SKILLS
from tumble.attraction.store import Stored
from tumble.cli.options import CONFIG
from tumble.cli.tree_info import told
from tumble.errors import UserError
from tumble.files import check_place, replace_file

BLUE, GREY = "#2166ac", "#777777"
WIDTH, HEIGHT, DOTS = 4.2, 3.6, 130  # inches of a panel, and dots in each


def figure_of(stored: Stored, title: str) -> Any:
    """A matplotlib figure of a tree.

    Raises:
      UserError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("a plot needs matplotlib: pip install 'tumble[experiments]'") from None
    pendulum = isinstance(stored.tree.system, Pendulum)
    figure = Figure(figsize=(1.6 * WIDTH if pendulum else 3 * WIDTH, 1.3 * HEIGHT if pendulum else HEIGHT), dpi=DOTS)
    figure.suptitle(title, fontsize=11)
    if pendulum:
        from tumble.attraction.pictures import draw_pendulum

        draw_pendulum(stored.tree, figure.subplots())
    else:
        _draw_growth(stored, figure.subplots(1, 3))
    figure.tight_layout()
    return figure


def _draw_growth(stored: Stored, axes: Any) -> None:
    """Coverage over level, nodes over level, nodes over attempts."""
    begun = [one for one in levels_of(stored) if one.attempts]
    levels = [one.level for one in begun]
    symbol = "kappa, N" if SKILLS[stored.name].domain == "push" else "alpha"
    late = max((one.late for one in begun), default=0)
    coverage, size, grown = axes
    coverage.plot(levels, [100 * one.inside for one in begun], "o-", color=BLUE, ms=4)
    coverage.set(xlabel=symbol, ylabel="%", ylim=(0, 103), title=f"inside, of the last {late} samples")
    through = [one for one in begun if one.nodes]
    size.plot([one.level for one in through], [one.nodes for one in through], "o-", color=BLUE, ms=4)
    size.set(xlabel=symbol, ylabel="nodes", yscale="log", title="nodes when a level was left")
    size.yaxis.set_major_formatter("{x:.0f}")
    size.yaxis.set_minor_formatter("{x:.0f}")
    size.tick_params(axis="y", which="minor", labelsize=7)
    nodes = nodes_after(stored)
    grown.plot(np.arange(1, len(nodes) + 1), nodes, color=BLUE)
    grown.set(xlabel="attempts", ylabel="nodes", ylim=(0, None), title="nodes over attempts")
    for level in levels:
        first = next(i for i, one in enumerate(stored.outcomes) if one.level == level)
        grown.axvline(first, color=GREY, lw=0.5, alpha=0.5)
    for one in axes:
        one.title.set_fontsize(10)
        one.grid(alpha=0.25)


def draw(
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
    out: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT.png")],
) -> int:
    """Draw a tree: of a character coverage and nodes by level, of a pendulum the phase plane.

    Thin upright lines are where a new level began.

    Example: tumble tree plot getup-1 getup-1.png

    Args:
      name: of a tree that ships, see 'tumble list', or a file that ends in .tree.
      out: the picture to write, .png.
    """
    if out.suffix.lower() != ".png":
        raise UserError(f"a picture is written as .png, got '{out.name}'")
    check_place(out)
    path, stored = told(name)
    figure = figure_of(stored, f"{path.name}: {len(stored.tree)} nodes, {len(stored.tree.edges)} edges")
    replace_file(out, lambda file: figure.savefig(file, format="png"))
    print(f"drew {path} into {out}")
    return 0


def main(arguments: list[str]) -> int:
    """Parse and draw; the exit code."""
    return tyro.cli(draw, prog="tumble tree plot", args=arguments, config=CONFIG)
