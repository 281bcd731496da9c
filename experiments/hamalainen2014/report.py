"""What the figure scripts of this folder share: options, result files, worker processes, the look of the toy."""

import argparse
import ctypes
import hashlib
import json
import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from multiprocessing.connection import wait
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
_stop: Any = None  # in a worker: shared with its parent


def spread(run: Run, tasks: Sequence[Any], processes: int, finished: Callable[[Any, Any], None]) -> bool:
    """Call run(task, stop) in worker processes, in order, and finished(task, result) here as each ends.

    The first Ctrl-C makes stop() true and skips what has not begun, the second raises. A result of None is
    not passed on. Returns whether all tasks were finished.
    """
    context = multiprocessing.get_context("spawn")
    stop, left = context.RawValue(ctypes.c_bool, False), len(tasks)
    pool = ProcessPoolExecutor(processes, context, _begin, (stop,))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as workers inherit: Ctrl-C is for this process

    def halt(*_: Any) -> None:
        stop.value = True
        signal.signal(signal.SIGINT, before)

    try:
        ends = {pool.submit(_call, run, task): task for task in tasks}
        signal.signal(signal.SIGINT, halt)
        for end in as_completed(ends):
            if end.result() is not None:
                finished(ends[end], end.result())
                left -= 1
    finally:
        stop.value = True
        pool.shutdown(cancel_futures=True)
        signal.signal(signal.SIGINT, before)
    return left == 0


def _begin(stop: Any) -> None:
    """A worker begins; it ends with its parent, even where that was killed."""
    global _stop
    _stop = stop
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


def _call(run: Run, task: Any) -> Any:
    return None if _stop.value else run(task, lambda: bool(_stop.value))


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
