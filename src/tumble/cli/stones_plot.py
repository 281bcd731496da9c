"""`tumble stones plot NAME|FILE OUT.png`: how far stones were missed (coros2010 Figure 3.9), and the actions."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from tumble.cli.options import CONFIG
from tumble.cli.stones_info import share_of_two
from tumble.errors import UserError
from tumble.files import check_place, replace_file
from tumble.stepping.examples import Examples, examples_named

BINS = np.arange(0.0, 0.26, 0.02)  # m


def figure_of(examples: Examples) -> Any:
    """A matplotlib figure; refuses where that is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("a plot needs matplotlib: pip install 'tumble[experiments]'") from None
    missed = np.clip(np.abs(examples.wanted - examples.lengths), 0.0, BINS[-1] - 1e-6)
    around = examples.actions - examples.actions.mean(axis=0)
    axes = np.linalg.svd(around.astype(float), full_matrices=False)[2][:2]
    figure = Figure(figsize=(12.0, 4.0), dpi=110)
    first, second, third = figure.subplots(1, 3)
    first.hist(100 * missed, bins=100 * BINS, weights=np.full(len(missed), 100 / len(missed)), color="tab:blue")
    first.set(xlabel="stone missed by, cm", ylabel="% of steps", title=f"{examples.header.base}: {len(examples)} steps")
    second.scatter(100 * examples.wanted, 100 * examples.lengths, s=3, alpha=0.5)
    second.axline((0, 0), slope=1.0, color="grey", linewidth=0.7)
    second.set(xlabel="stone ahead, cm", ylabel="step, cm", title="wanted and made")
    points = third.scatter(*(around @ axes.T).T, c=100 * examples.lengths, s=3, cmap="viridis")
    figure.colorbar(points, label="step, cm")
    share = 100 * share_of_two(examples.actions)
    third.set(xlabel="first component", ylabel="second", title=f"actions: {share:.0f} % of the variance")
    figure.tight_layout()
    return figure


def main(arguments: list[str]) -> int:
    """Parse and draw; the exit code."""

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
        out: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")],
    ) -> int:
        """Draw how far stones were missed, steps by what was wanted, and the actions in two dimensions.

        Example: tumble stones plot planar-walk steps.png

        Args:
          name: of the base of examples that ship, or a file that ends in .stones.
          out: a picture to write, .png.
        """
        if out.suffix != ".png":
            raise UserError(f"a plot is a .png file, got {out}")
        check_place(out)
        figure = figure_of(examples_named(name))
        replace_file(out, lambda file: figure.savefig(file, format="png"))
        print(out)
        return 0

    return tyro.cli(go, prog="tumble stones plot", args=arguments, config=CONFIG)
