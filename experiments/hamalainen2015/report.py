"""What the figure scripts of this folder share: options, result files, the look of the toy."""

import argparse
import json
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from tumble import toy
from tumble.recording import replace_file

RESULTS = Path(__file__).parent / "results"
INK, GREY, BLUE, GREEN, RED = "#222222", "#9a9a9a", "#3b6fd4", "#2e9e4f", "#c8442f"
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "font.family": "sans-serif"})


def main(name: str, about: str, measure: Callable[[bool], dict[str, Any]], draw: Callable[[Any], Figure]) -> None:
    """Measure, write results/NAME.json, draw results/NAME.png from it; --quick writes NAME-quick instead."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer runs, under a minute, into files of its own")
    parser.add_argument("--draw", action="store_true", help="only draw the results that are there")
    options = parser.parse_args()
    path = RESULTS / f"{name}{'-quick' if options.quick else ''}.json"
    if not options.draw:
        began = time.perf_counter()
        data = measure(options.quick)
        versions = {package: version(package) for package in ("tumble", "mujoco", "numpy", "numba")}
        data |= {"versions": versions, "wall_seconds": round(time.perf_counter() - began, 1)}
        text = json.dumps(data)
        replace_file(path, lambda file: file.write(text.encode()))
    figure = draw(json.loads(path.read_text()))
    replace_file(path.with_suffix(".png"), lambda file: figure.savefig(file, dpi=150, format="png"))
    print(f"wrote {path} and {path.with_suffix('.png').name}")


def rounded(array: np.ndarray, digits: int = 4) -> Any:
    """Nested lists of an array, short enough to commit."""
    return np.round(array, digits).tolist()


def world(axes: Axes, end: float = 3.0) -> None:
    """Obstacles, target and axes of the toy."""
    for x, z, radius in toy.OBSTACLES:
        axes.add_patch(plt.Circle((x, z), radius, color="#d9d4cc", ec="#b5aea3", lw=0.8, zorder=0))
    axes.plot([end], [0.0], "o", ms=9, color=GREEN, zorder=5, clip_on=False)
    axes.set(xlim=(-0.02, end + 0.06), ylim=(-1.0, 1.1), aspect="equal", ylabel="height, m")
    axes.tick_params(length=2)


def segments(axes: Axes, lines: Any, **style: Any) -> None:
    """Draw segments (n, 2, 2) of (ahead, up)."""
    axes.add_collection(LineCollection(list(np.asarray(lines)), capstyle="butt", **style))
