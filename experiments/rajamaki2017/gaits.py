"""Time to a stable gait for each character, from knowing nothing: figure 1 and the abstract of rajamaki2017.

"The various characters learn a stable gait in under a minute on a 4-core desktop computer." The scenarios learn-walk
(humanoid walker), learn-trot (quadruped) and learn-hop (monoped) at 1 m/s; who is down for 1.5 s is put back on its
feet. A gait is stable when for 10 s only feet touched the ground and it kept 80 % of the pace; a run ends with the
first such 10 s, which count, or after 60 s of simulated time.

One should see most runs below the line at 60 s of wall time. Runs without a stable gait are crosses at the wall time
that they took. Wall time is measured, with two threads for the physics: NOTHING ELSE MAY RUN, one run at a time.
Compiling does not count.

About 30 minutes on two cores for 10 seeds and three characters, 45 where no gait is found. --quick (2 s, N = 16, a gait
of 1 s, one seed) under a minute. Every run is stored as it ends, and the next goes on with what is missing. The paper
had N = 256 for the monoped and a wider acceleration for all but the humanoid; settings are part of what is stored:

    python gaits.py --scenario learn-walk
    python gaits.py --scenario learn-hop --settings samples=256 acceleration_width=30
"""

import argparse
import os
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
    warm_up,
)
from matplotlib.figure import Figure

from tumble.errors import UserError
from tumble.planners import MCTSSettings
from tumble.scenarios import SCENARIOS, run_trial
from tumble.scenarios.gaits import MINUTE, SHARE, STEADY
from tumble.settings import replaced

FIRST, THREADS = 3000, 2  # seed; of the physics
COLOURS = {"learn-walk": BLUE, "learn-trot": GREEN, "learn-hop": RED}


class Trial(NamedTuple):
    """What is to be run.

    Attributes:
      overrides: settings that are not the scenario's, as on the command line, sorted.
      steady: seconds that make a stable gait.
    """

    scenario: str
    overrides: str
    seconds: float
    steady: float
    seed: int

    @property
    def settings(self) -> MCTSSettings:
        return parsed(self.overrides.split(), SCENARIOS[self.scenario].make.settings_for("mcts"))


def main() -> None:
    chosen = arguments()
    path = place("gaits", chosen.quick)
    overrides = " ".join(sorted(f"{name}={value}" for name, value in chosen.settings.items()))
    seconds, steady = (2.0, 1.0) if chosen.quick else (60.0, STEADY)
    seeds = range(FIRST, FIRST + chosen.repetitions)
    wanted = [Trial(name, overrides, seconds, steady, seed) for seed in seeds for name in chosen.scenario]
    if not chosen.draw and (load := os.getloadavg()[0]) > 0.5:
        print(f"warning: the load is {load:.1f}; wall time counts here, so nothing else may run", flush=True)
    complete = chosen.draw or measure(path, wanted, run, about, chosen, 0)
    conclude(path, complete, draw, text)


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = options(__doc__, 10, FIRST)
    known.add_argument("--scenario", nargs="+", choices=COLOURS, default=list(COLOURS), help="default: all")
    known.add_argument("--settings", nargs="+", default=[], metavar="NAME=VALUE", help="of mcts, for all that is run")
    chosen = checked(known)
    parsed(chosen.settings)  # refuses what there is not
    chosen.settings = ({"samples": "16"} if chosen.quick else {}) | dict(one.split("=") for one in chosen.settings)
    return chosen


def parsed(overrides: list[str], usual: MCTSSettings = MCTSSettings()) -> MCTSSettings:
    """Settings from NAME=VALUE, else those that are usual."""
    changes = dict[str, float]()
    for one in overrides:
        name, _, value = one.partition("=")
        try:
            changes[name] = float({"true": "1", "false": "0"}.get(value.lower(), value))
        except ValueError:
            raise UserError(f"a setting is NAME=NUMBER, got '{one}'") from None
    settings = replaced(usual, changes)
    assert isinstance(settings, MCTSSettings)
    return settings


def about(trial: Trial) -> dict[str, str]:
    cores = {"cores": str(os.cpu_count()), "threads": str(THREADS)}
    return settings_of(*setting(trial.scenario), trial.settings) | cores


def run(trial: Trial, stop: Callable[[], bool]) -> dict[str, Any] | None:
    """One run, until the gait is stable or its time is over."""
    scenario, scene = setting(trial.scenario)
    warm_up(scenario, scene, trial.settings, THREADS)
    notes, began = Notes(), time.perf_counter()
    pace = SHARE * scenario.pace

    def over() -> bool:
        return stop() or notes.history.stable(trial.steady, pace) is not None

    controller = searching(scene, trial.settings, trial.seed, THREADS)
    result = run_trial(played(scenario, scene, controller, trial.seed, trial.seconds), notes.watch, over)
    history = notes.history
    stable = history.stable(trial.steady, pace)
    if stable is None and not result.finished:
        return None
    wall = float(history.wall[-1])
    return {
        "stable": stable is not None,
        "under_a_minute": stable is not None and wall < MINUTE,
        "stable_wall_seconds": round(wall, 2),
        "stable_seconds": round(history.frames * scene.dt, 3),
        "downs": history.downs(),
        "resets": len(history.resets()),
        "broken": history.broken,
        "speed": rounded(history.along[history.last(trial.steady)].mean()),
        "jerk_last": notes.jerk(slice(-5 * round(1 / scene.dt), None)),
        "plan_ms": rounded(1000 * np.median(notes.seconds)),
        "load": round(os.getloadavg()[0], 2),
        "wall_seconds": round(time.perf_counter() - began, 1),
    }


# Telling --------------------------------------------------------------------------------------------


def groups(data: Any) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Runs by scenario and settings, in order."""
    keys = sorted(
        {(one["scenario"], one["overrides"]) for one in data["trials"]},
        key=lambda key: (list(COLOURS).index(key[0]), key[1]),
    )
    return {key: [one for one in data["trials"] if (one["scenario"], one["overrides"]) == key] for key in keys}


def body(scenario: str) -> str:
    return SCENARIOS[scenario].make.characters[0]


def draw(data: Any) -> Figure:
    found = groups(data)
    figure, axes = plt.subplots(figsize=(max(4.5, 1.7 * len(found)), 3.8), layout="constrained")
    for i, ((scenario, _), trials) in enumerate(found.items()):
        places = i + np.linspace(-0.18, 0.18, len(trials)) if len(trials) > 1 else np.array([i])
        walls, stable = (np.array([one[key] for one in trials]) for key in ("stable_wall_seconds", "stable"))
        axes.plot(places[stable], walls[stable], "o", color=COLOURS[scenario], ms=5)
        axes.plot(places[~stable], walls[~stable], "x", color=COLOURS[scenario], ms=6, mew=1.6)
        axes.plot([i - 0.28, i + 0.28], 2 * [np.median(walls)], color=COLOURS[scenario], lw=1.2, alpha=0.6)
    axes.axhline(MINUTE, color=INK, lw=0.8, ls="--")
    names = [f"{body(scenario)}\n{overrides.replace(' ', chr(10))}".strip() for scenario, overrides in found]
    axes.set_xticks(range(len(found)), names)
    axes.set(ylabel="wall time to a stable gait, s", ylim=(0, None), xlim=(-0.6, len(found) - 0.4))
    axes.grid(axis="y", color="#eeeeee")
    axes.set_title("dots: stable; crosses: not; bars: medians of all runs", loc="left", fontsize=8)
    return figure


def text(data: Any) -> str:
    """A table. Runs without a gait count with all of their time, so that a median may be a lower bound."""
    rows = []
    for (scenario, overrides), trials in groups(data).items():
        count, stable = len(trials), [one["stable"] for one in trials]
        bound = ">= " if 2 * sum(stable) <= count else ""
        middle = {key: np.median([one[key] for one in trials]) for key in ("stable_wall_seconds", "stable_seconds")}
        rows.append((
            body(scenario), overrides or "defaults", f"{sum(stable)} of {count}",
            f"{sum(one['under_a_minute'] for one in trials)} of {count}",
            f"{bound}{middle['stable_wall_seconds']:.1f}", f"{bound}{middle['stable_seconds']:.1f}",
            f"{np.mean([one['downs'] for one in trials]):.1f}", f"{np.mean([one['resets'] for one in trials]):.1f}",
            f"{np.median([one['plan_ms'] for one in trials]):.0f}",
        ))  # fmt: skip
    head = ("character", "settings", "stable within the time", "under 60 s of wall time", "median wall, s",
            "median simulated, s", "downs a run (mean)", "resets a run (mean)", "plan, ms")  # fmt: skip
    return markdown(head, rows)


if __name__ == "__main__":
    script(main)
