"""Success against the number of samples N once a gait was learned: section 4.3 of rajamaki2017, no figure of its own.

"A stable gait can be achieved in real-time with a sampling budget N of 8 samples, once gait is learned"; figure 4 walks
with 16. A character learns from nothing at 1 m/s, 60 s at N = 64, then 60 s at N = 16 in stretches of 10 s that begin
from standing, in --trainings different ways. Then it goes 30 s from standing at N = 4, 8, 16 and 32 with seeds that
it has not seen, each run from a copy of what was learned, which goes on learning. Success: no body contact in these
30 s. Who stands still has none either, so that those are counted too who also kept 80 % of the pace (mean speed).
Training and runs have the same horizon (--horizon).

One should see success rise with N and be near 1 from N = 8 on. Frames a second are those of control, one thread for the
physics, while as many processes run as there are --jobs.

About 15 minutes on two cores for 2 trainings and 5 runs each, a horizon. --quick (tiny: 5 s of training, runs of
2 s) under a minute. Every run is stored as it ends; a script that goes on trains again, to the same bits, what it needs
unless --keep DIR has it.

    python samples.py --keep /tmp/learned
    python samples.py --keep /tmp/learned --horizon 1.6
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from common import (
    BLUE,
    GREEN,
    GREY,
    INK,
    RED,
    Notes,
    checked,
    code,
    conclude,
    markdown,
    measure,
    missing,
    options,
    place,
    played,
    resumed,
    rounded,
    script,
    searching,
    setting,
    settings_of,
    spread,
    warm_up,
    wilson,
    with_jobs,
)
from matplotlib.figure import Figure

from tumble.characters import character
from tumble.errors import check_number
from tumble.files import replace_file
from tumble.learners import Learners
from tumble.planners import MCTSSettings
from tumble.scenarios import run_trial
from tumble.scenarios.gaits import SHARE

FIRST, FIRST_TRAINING = 5000, 4000  # seeds
SAMPLES = (4, 8, 16, 32)
COLOURS = (BLUE, RED, GREEN, INK, GREY)


class Training(NamedTuple):
    """What is to be learned.

    Attributes:
      first: seconds with many samples, in one go.
      stretches, stretch: how many of how many seconds with few.
    """

    character: str
    horizon: float
    seed: int
    first: float = 60.0
    stretches: int = 6
    stretch: float = 10.0
    many: int = 64
    few: int = 16

    @property
    def file(self) -> str:
        """Of what was learned, by all that decides about it."""
        numbers = "-".join(f"{value:g}" for value in self[1:])
        return f"{self.character}-{numbers}-{code()}.learners.npz"


class Trial(NamedTuple):
    """What is to be run."""

    character: str
    horizon: float
    samples: int
    seconds: float
    training: int
    seed: int

    @property
    def settings(self) -> MCTSSettings:
        return MCTSSettings(samples=self.samples, horizon=self.horizon)


def main() -> None:
    chosen = arguments()
    path = place("samples", chosen.quick)
    complete = chosen.draw or everything(chosen, path)
    conclude(path, complete, draw, text)


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = with_jobs(options(__doc__, 5, FIRST))
    known.add_argument("--character", default="humanoid-walker", metavar="NAME", help="default: %(default)s")
    known.add_argument("--horizon", type=float, default=1.2, metavar="S", help="of training and runs (default 1.2)")
    known.add_argument("--samples", type=int, nargs="+", default=list(SAMPLES), metavar="N", help="default: 4 8 16 32")
    text = f"seeds {FIRST_TRAINING} and up (default 2; --quick: 1)"
    known.add_argument("--trainings", type=int, default=2, metavar="T", help=text)
    known.add_argument("--keep", type=Path, metavar="DIR", help="folder for what was learned; default: forget it")
    chosen = checked(known)
    if chosen.quick:
        chosen.trainings = 1
    check_number("trainings", chosen.trainings, 1, 1000)
    character(chosen.character)  # refuses unknown names
    return chosen


def everything(chosen: argparse.Namespace, path: Path) -> bool:
    """Train what is needed, then run; False if it was stopped."""
    seconds, seeds = 2.0 if chosen.quick else 30.0, range(FIRST, FIRST + chosen.repetitions)
    small: dict[str, Any] = {"first": 4.0, "stretches": 1, "stretch": 1.0, "many": 16, "few": 8} if chosen.quick else {}
    trainings = [
        Training(chosen.character, chosen.horizon, seed, **small)
        for seed in range(FIRST_TRAINING, FIRST_TRAINING + chosen.trainings)
    ]
    wanted = [
        Trial(chosen.character, chosen.horizon, samples, seconds, training.seed, seed)
        for seed in seeds for training in trainings for samples in chosen.samples
    ]  # fmt: skip
    needed = {trial.training for trial in missing(resumed(path, wanted, about, chosen.fresh)[0], wanted)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        lacking = [one for one in trainings if one.seed in needed and not (folder / one.file).is_file()]
        print(f"{len(lacking)} of {len(trainings)} trainings to do", flush=True)
        if lacking and not spread(partial(train, folder=folder), lacking, chosen.jobs, told):
            return False
        files = {one.seed: folder / one.file for one in trainings}
        return measure(path, wanted, partial(run, files=files), about, chosen, chosen.jobs)


def about(trial: Trial) -> dict[str, str]:
    training = {"training": str(Training(trial.character, trial.horizon, trial.training)[3:])}
    return settings_of(*setting("learn-walk", trial.character), trial.settings) | training


def told(training: Training, result: dict[str, Any]) -> None:
    print(*training[:3], "trained |", *(f"{key} {value}" for key, value in result.items()), flush=True)


def train(training: Training, stop: Callable[[], bool], folder: Path) -> dict[str, Any] | None:
    """In a worker: learn from nothing and write what was learned."""
    scenario, scene = setting("learn-walk", training.character)
    parts = [(training.many, training.first), *[(training.few, training.stretch)] * training.stretches]
    began, learners, downs = time.perf_counter(), None, list[int]()
    for i, (samples, seconds) in enumerate(parts):
        notes, seed = Notes(), 1000 * training.seed + i
        settings = MCTSSettings(samples=samples, horizon=training.horizon)
        controller = searching(scene, settings, seed, 1)
        if learners is not None:
            controller.planner.learner = learners
        result = run_trial(played(scenario, scene, controller, seed, seconds), notes.watch, stop)
        if not result.finished:
            return None
        learners = controller.planner.learner
        downs.append(notes.history.downs())
    assert learners is not None
    kept = learners.kept()
    replace_file(folder / training.file, lambda file: np.savez(file, allow_pickle=False, **kept))
    return {"downs": downs, "pairs": len(learners), "wall_seconds": round(time.perf_counter() - began, 1)}


def run(trial: Trial, stop: Callable[[], bool], files: dict[int, Path]) -> dict[str, Any] | None:
    """In a worker: one run with a copy of what was learned."""
    scenario, scene = setting("learn-walk", trial.character)
    warm_up(scenario, scene, trial.settings, 1)
    notes, began = Notes(), time.perf_counter()
    controller = searching(scene, trial.settings, trial.seed, 1)
    assert controller.planner.memory is not None
    learners = controller.planner.learner = Learners(*controller.planner.memory, trial.seed)
    with np.load(files[trial.training]) as kept:
        learners.restore(dict(kept))
    result = run_trial(played(scenario, scene, controller, trial.seed, trial.seconds), notes.watch, stop)
    if not result.finished:
        return None
    history = notes.history
    touched, pace = np.flatnonzero(~history.only_feet), SHARE * scenario.pace
    success = not touched.size and history.lasted(trial.seconds)
    return {
        "success": success,
        "kept_pace": success and bool(history.along.mean() >= pace),
        "contact_seconds": rounded((touched[0] + 1) * scene.dt) if touched.size else None,
        "speed": rounded(history.along.mean()),
        "frames_a_second": rounded(1 / np.mean(notes.seconds)),
        "jerk_last": notes.jerk(slice(-round(5 / scene.dt), None)),
        "downs": history.downs(),
        "resets": len(history.resets()),
        "broken": history.broken,
        "wall_seconds": round(time.perf_counter() - began, 1),
    }


# Telling --------------------------------------------------------------------------------------------


def points(data: Any) -> dict[tuple[str, float], dict[int, list[dict[str, Any]]]]:
    """Runs by character and horizon, then by N."""
    found: dict[tuple[str, float], dict[int, list[dict[str, Any]]]] = {}
    for one in sorted(data["trials"], key=lambda one: (one["character"], one["horizon"], one["samples"])):
        found.setdefault((one["character"], one["horizon"]), {}).setdefault(one["samples"], []).append(one)
    return found


def won(trials: list[dict[str, Any]], key: str = "success") -> int:
    return sum(one[key] for one in trials)


def draw(data: Any) -> Figure:
    figure, axes = plt.subplots(figsize=(5.4, 3.8), layout="constrained")
    ticks = set[int]()
    for i, ((body, horizon), by_samples) in enumerate(points(data).items()):
        colour, shift = COLOURS[i % len(COLOURS)], 1 + 0.025 * i
        xs = shift * np.array(list(by_samples))
        shares = [won(trials) / len(trials) for trials in by_samples.values()]
        axes.plot(xs, shares, "o-", color=colour, lw=1.8, ms=5, label=f"{body}, {horizon:g} s")
        paces = [won(trials, "kept_pace") / len(trials) for trials in by_samples.values()]
        axes.plot(xs, paces, "o:", color=colour, lw=1.1, ms=4, mfc="white", label="and kept 80 % of the pace")
        for x, trials in zip(xs, by_samples.values(), strict=True):
            axes.plot([x, x], wilson(won(trials), len(trials)), color=colour, lw=1.1, alpha=0.5)
        ticks |= set(by_samples)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(ticks), [str(tick) for tick in sorted(ticks)])
    axes.minorticks_off()
    axes.set(xlabel="samples N", ylabel="30 s without a body contact (95 %)", ylim=(-0.03, 1.03))
    axes.grid(axis="y", color="#eeeeee")
    axes.legend(frameon=False, loc="lower right")
    return figure


def text(data: Any) -> str:
    """A table: counts, and medians over runs."""
    rows = []
    for (body, horizon), by_samples in points(data).items():
        for samples, trials in by_samples.items():
            seeds = sorted({one["training"] for one in trials})
            each = [[one for one in trials if one["training"] == seed] for seed in seeds]
            low, high = wilson(won(trials), len(trials))
            contacts = [one["contact_seconds"] or one["seconds"] for one in trials]
            middle = {key: np.median([one[key] for one in trials]) for key in ("speed", "frames_a_second", "jerk_last")}
            rows.append((
                body, f"{horizon:g}", samples, f"{won(trials)} of {len(trials)} ({low:.2f} to {high:.2f})",
                ", ".join(f"{won(some)} of {len(some)}" for some in each),
                f"{won(trials, 'kept_pace')} of {len(trials)}", f"{np.median(contacts):.1f}",
                f"{middle['speed']:.2f}", f"{middle['frames_a_second']:.0f}", f"{middle['jerk_last']:.0f}",
            ))  # fmt: skip
    head = ("character", "horizon, s", "N", "no body contact (95 %)", "by training", "and kept 80 % of the pace",
            "median s to the first contact", "speed, m/s", "frames a second", "RMS jerk, last 5 s, rad/s³")  # fmt: skip
    return markdown(head, rows)


if __name__ == "__main__":
    script(main)
