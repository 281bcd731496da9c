"""What the figure scripts of this folder share: options, result files, worker processes, the look of the toy."""

import argparse
import hashlib
import json
import math
import time
from collections.abc import Callable, Sequence
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

from tumble.errors import UserError
from tumble.files import replace_file
from tumble.offline.jobs import as_done
from tumble.offline.workers import workers
from tumble.scenarios import toy

RESULTS = Path(__file__).parent / "results"
INK, GREY, BLUE, GREEN, RED = "#222222", "#9a9a9a", "#3b6fd4", "#2e9e4f", "#c8442f"
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "font.family": "sans-serif"})


def main(name: str, about: str, measure: Callable[[bool], dict[str, Any]], draw: Callable[[Any], Figure]) -> None:
    """Measure, write results/NAME.json, draw results/NAME.png from it; --quick writes NAME-quick instead."""
    options = parser(about).parse_args()
    path = place(name, options.quick)
    if not options.draw:
        began = time.perf_counter()
        data = measure(options.quick)
        store(path, data | {"versions": versions(), "wall_seconds": round(time.perf_counter() - began, 1)})
    picture(path, draw)


def parser(about: str) -> argparse.ArgumentParser:
    """The options that every script has."""
    options = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer runs, under a minute, into files of its own")
    options.add_argument("--draw", action="store_true", help="only draw the results that are there")
    return options


def place(name: str, quick: bool) -> Path:
    """Where a figure's results are."""
    return RESULTS / f"{name}{'-quick' if quick else ''}.json"


def versions() -> dict[str, str]:
    """Of what results depend on."""
    return {package: version(package) for package in ("tumble", "mujoco", "numpy", "numba")}


def resumed(path: Path, settings: dict[str, str], fresh: bool) -> dict[str, Any]:
    """Results to go on with, their trials a list; none yet if fresh; refuses those of other settings."""
    mark = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    if fresh or not path.is_file():
        about = {"fingerprint": mark, "settings": settings, "versions": versions()}
        return about | {"wall_seconds": 0.0, "trials": []}
    data = json.loads(path.read_text())
    if data["fingerprint"] != mark:
        old = data["settings"]
        changed = sorted(key for key in settings | old if settings.get(key) != old.get(key))
        raise UserError(
            f"the {len(data['trials'])} trials in {path} were run with other settings (changed: {', '.join(changed)}),"
            " and one figure cannot have both; --fresh forgets them and begins anew"
        )
    return data


def store(path: Path, data: dict[str, Any]) -> None:
    """Write results beside their place, then rename: a crash leaves the old ones or the new."""
    text = json.dumps(data)
    replace_file(path, lambda file: file.write(text.encode()))


def picture(path: Path, draw: Callable[[Any], Figure]) -> None:
    """Draw the results at path into the PNG beside them."""
    figure = draw(json.loads(path.read_text()))
    replace_file(path.with_suffix(".png"), lambda file: figure.savefig(file, dpi=150, format="png"))
    print(f"wrote {path} and {path.with_suffix('.png').name}")


Run = Callable[[Any, Callable[[], bool]], Any]


def spread(run: Run, tasks: Sequence[Any], processes: int, finished: Callable[[Any, Any], None]) -> bool:
    """Call run(task, stop) in worker processes, in order, and finished(task, result) here as each ends.

    Ctrl-C ends it at once: what was under way is lost. Returns whether all tasks were finished.
    """
    try:
        with workers(processes) as pool:
            for index, result in as_done(pool, run, [(task, never) for task in tasks]):
                finished(tasks[index], result)
    except KeyboardInterrupt:
        return False
    return True


def never() -> bool:
    """Workers are not asked to stop, but killed."""
    return False


def wilson(won: int, runs: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a probability (1927); 95 % with z = 1.96."""
    middle, share = (won + z * z / 2) / (runs + z * z), won / runs
    half = z * math.sqrt(runs * share * (1 - share) + z * z / 4) / (runs + z * z)
    return middle - half, middle + half


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
