"""Figure 3: cost of the best found trajectory while the humanoid walker learns to walk at 1 m/s.

The scenario learn-walk for 30 s from standing and from knowing nothing, N = 64, 1.2 s, in four settings: informed by
both learners (blue), by the network (green), by the forest (red), or by the previous frame alone (black). Simulation
steps are equal; who is down for 1.5 s is put back on its feet.

One should see medians over runs, smoothed over 1 s: with learners the cost falls within seconds and stays low, lowest
with both; with the previous frame alone it stays high. The table also has the RMS jerk of the joints, in which jumps
by being put back do not count, over the first and the last 5 s: learning takes noise away.

About 15 minutes on two cores for 5 seeds (the full run, --repetitions 20: an hour). --quick (5 s, N = 16, one seed)
under a minute. Every trial is stored as it ends, and the next run goes on with what is missing.

    python figure3.py
    python figure3.py --repetitions 20       # goes on from there
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from common import (
    BLUE,
    GREEN,
    INK,
    RED,
    Notes,
    checked,
    conclude,
    markdown,
    measure,
    options,
    place,
    played,
    rounded,
    script,
    searching,
    setting,
    settings_of,
    with_jobs,
)
from matplotlib.figure import Figure

from tumble.planners import MCTSSettings
from tumble.scenarios import run_trial

FIRST = 2000  # seed
SETTINGS = {  # whether the network and the forest inform; colour
    "both": (True, True, BLUE),
    "network": (True, False, GREEN),
    "forest": (False, True, RED),
    "previous": (False, False, INK),
}
LABELS = {"both": "both learners", "network": "network", "forest": "forest", "previous": "previous frame only"}
RATE, EDGE, LATE = 30, 5, 3  # frames a second; s at either end for jerks; s at the end for the final cost


class Trial(NamedTuple):
    """What is to be run."""

    setting: str
    samples: int
    seconds: int
    seed: int

    @property
    def settings(self) -> MCTSSettings:
        network, forest, _ = SETTINGS[self.setting]
        return MCTSSettings(samples=self.samples, horizon=1.2, network=network, forest=forest)


def main() -> None:
    chosen = arguments()
    path = place("figure3", chosen.quick)
    samples, seconds = (16, 5) if chosen.quick else (64, 30)
    seeds = range(FIRST, FIRST + chosen.repetitions)
    wanted = [Trial(name, samples, seconds, seed) for seed in seeds for name in chosen.settings]
    complete = chosen.draw or measure(path, wanted, run, about, chosen, chosen.jobs)
    conclude(path, complete, draw, text)


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = with_jobs(options(__doc__, 5, FIRST))
    known.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS), help="default: all")
    return checked(known)


def about(trial: Trial) -> dict[str, str]:
    return settings_of(*setting("learn-walk"), trial.settings)


def run(trial: Trial, stop: Callable[[], bool]) -> dict[str, Any] | None:
    """In a worker: one trial."""
    scenario, scene = setting("learn-walk")
    notes, began = Notes(), time.perf_counter()
    controller = searching(scene, trial.settings, trial.seed, 1)
    result = run_trial(played(scenario, scene, controller, trial.seed, trial.seconds), notes.watch, stop)
    if not result.finished:
        return None
    edge, along = EDGE * RATE, notes.history.along
    return {
        "cost": [rounded(cost) for cost in notes.costs],
        "jerk_first": notes.jerk(slice(edge)),
        "jerk_last": notes.jerk(slice(-edge, None)),
        "speed": rounded(along.mean()),
        "speed_last": rounded(along[-edge:].mean()),
        "downs": notes.history.downs(),
        "resets": len(notes.history.resets()),
        "broken": notes.history.broken,
        "plan_ms": rounded(1000 * np.median(notes.seconds)),
        "wall_seconds": round(time.perf_counter() - began, 1),
    }


# Telling --------------------------------------------------------------------------------------------


def costs_of(data: Any, name: str) -> np.ndarray:
    """(runs, frames): of a setting; NaN after a world broke."""
    trials = [one for one in data["trials"] if one["setting"] == name]
    frames = max((round(one["seconds"] * RATE) for one in trials), default=0)
    costs = np.full((len(trials), frames), np.nan)
    for row, one in zip(costs, trials, strict=True):
        row[: len(one["cost"])] = one["cost"]
    return costs


def smoothed(values: np.ndarray, width: int = RATE) -> np.ndarray:
    """Running means, of what is there at the ends."""
    window = np.ones(width)
    return np.convolve(values, window, "same") / np.convolve(np.ones(len(values)), window, "same")


def draw(data: Any) -> Figure:
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for name, (*_, colour) in SETTINGS.items():
        costs = costs_of(data, name)
        if not costs.size:
            continue
        seconds = np.arange(1, costs.shape[1] + 1) / RATE
        axes.plot(seconds, smoothed(np.nanmedian(costs, axis=0)), color=colour, lw=1.8,
                  label=f"{LABELS[name]} ({len(costs)})")  # fmt: skip
    axes.set(xlabel="simulated time, s", ylabel="cost of the best trajectory, median", xlim=(0, None), ylim=(0, None))
    axes.grid(axis="y", color="#eeeeee")
    axes.legend(frameon=False, title="informed by (runs)")
    return figure


def text(data: Any) -> str:
    """A table: medians over runs."""
    rows = []
    for name in SETTINGS:
        trials, costs = [one for one in data["trials"] if one["setting"] == name], costs_of(data, name)
        if not trials:
            continue
        early, late = (np.nanmean(part, axis=1) for part in (costs[:, : EDGE * RATE], costs[:, -LATE * RATE :]))
        low, middle, high = np.percentile(late, (25, 50, 75))
        of = {key: np.median([one[key] for one in trials]) for key in ("jerk_first", "jerk_last", "speed_last")}
        rows.append((
            LABELS[name], len(trials), f"{middle:.4g} ({low:.4g} to {high:.4g})", f"{np.median(early):.4g}",
            f"{of['jerk_first']:.0f}", f"{of['jerk_last']:.0f}", f"{of['speed_last']:.2f}",
            f"{np.mean([one['downs'] for one in trials]):.1f}",
        ))  # fmt: skip
    end = max((one["seconds"] for one in data["trials"]), default=0)
    head = ("informed by", "runs", f"cost at {end} s, mean of the last {LATE} s (quartiles)", f"cost, first {EDGE} s",
            f"RMS jerk, first {EDGE} s, rad/s³", f"last {EDGE} s", f"speed, last {EDGE} s, m/s",
            "downs a run (mean)")  # fmt: skip
    return markdown(head, rows)


if __name__ == "__main__":
    script(main)
