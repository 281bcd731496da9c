"""C-PBP with and without walkers informed by the learners of rajamaki2017; no figure of a paper.

hamalainen2015 ends on the wish for online learning. Here C-PBP (N = 32, K = 1.2 s) goes for 30 s with `informed` 0 and
6 (3 walkers by the network, 3 by the forest), from knowing nothing: 'gait', the humanoid walker at 1 m/s; 'steer',
the humanoid at 1.25 m/s. Simulation steps are equal; who is down for 1.5 s is put back on its feet.

One should see, in windows of 5 s: what the world costs a step, the speed along the course, falls (a bone other than
feet and toes touches the ground), and the RMS jerk of the joints, in which jumps by being put back do not count. Thin
lines are seeds, thick ones their means. The last column of the table that is printed, Welch's t of the difference,
must be beyond about 2.2 to say anything.

About 25 minutes of one core for 5 seeds: 1 a trial of gait, 2 one of steer. --quick (3 s, seed 0) under a minute.
Every trial is stored as it ends, and the next run goes on with what is missing; Ctrl-C loses the trial that runs.

    python informed_cpbp.py --tasks gait --repetitions 5
    python informed_cpbp.py                  # goes on from there
"""

import argparse
import hashlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from tumble.characters import character
from tumble.errors import UserError, check_number
from tumble.files import replace_file
from tumble.goals import Goal, gait, steer
from tumble.planners import CPBP, CPBPSettings
from tumble.world.scene import Scene
from tumble.world.sims import Sims

RESULTS = Path(__file__).parent / "results"
TASKS: dict[str, tuple[str, Callable[..., Goal], float]] = {  # character, goal, m/s
    "gait": ("humanoid-walker", gait, 1.0),
    "steer": ("humanoid", steer, 1.25),
}
INFORMED = {0: "#9a9a9a", 6: "#3b6fd4"}  # walkers; colour
SECONDS, QUICK_SECONDS, WINDOW, RATE = 30, 3, 5, 30  # s; the same for --quick; s; frames a second
PATIENCE = 1.5  # s on the ground until it is put back on its feet
FIGURES = {
    "cost": "cost a step",
    "speed": "speed along, m/s",
    "falls": "falls in 5 s",
    "jerk": "RMS jerk of joints, rad/s³",
}


class Trial(NamedTuple):
    """What is to be run."""

    task: str
    informed: int
    seed: int
    seconds: int


def main() -> None:
    chosen = arguments()
    path = RESULTS / f"informed_cpbp{'-quick' if chosen.quick else ''}.json"
    if not chosen.draw:
        measure(path, trials(chosen), chosen.fresh)
    if not path.is_file():
        raise UserError(f"nothing to draw: there are no results in {path} yet")
    data = json.loads(path.read_text())
    figure = draw(data)
    replace_file(path.with_suffix(".png"), lambda file: figure.savefig(file, dpi=150, format="png"))
    print(text(data))
    print(f"wrote {path} and {path.with_suffix('.png').name}")


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known.add_argument("--quick", action="store_true", help="fewer runs, under a minute, into files of its own")
    known.add_argument("--draw", action="store_true", help="only draw the results that are there")
    known.add_argument("--repetitions", type=int, default=5, metavar="R", help="seeds 0 to R - 1 (default 5)")
    known.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="default: all")
    known.add_argument("--fresh", action="store_true", help="forget stored results and begin anew")
    chosen = known.parse_args()
    if chosen.quick:
        chosen.repetitions = 1
    check_number("repetitions", chosen.repetitions, 1, 10_000)
    return chosen


# Running --------------------------------------------------------------------------------------------


def trials(chosen: argparse.Namespace) -> list[Trial]:
    """All that are asked for, seed by seed, so that equal repetitions are there at any time."""
    seconds, seeds = QUICK_SECONDS if chosen.quick else SECONDS, range(chosen.repetitions)
    return [Trial(task, informed, seed, seconds) for task in chosen.tasks for seed in seeds for informed in INFORMED]


def measure(path: Path, wanted: list[Trial], fresh: bool) -> None:
    """Run the trials that are missing at path; each is stored there as it ends."""
    data = resumed(path, fresh)
    had = {tuple(one[field] for field in Trial._fields) for one in data["trials"]}
    missing = [trial for trial in wanted if tuple(trial) not in had]
    print(f"{len(missing)} of {len(wanted)} trials to run", flush=True)
    before, began = data["wall_seconds"], time.perf_counter()
    for i, trial in enumerate(missing):
        result = run(trial)
        data["trials"].append(trial._asdict() | result)
        data["wall_seconds"] = round(before + time.perf_counter() - began, 1)
        content = json.dumps(data)
        replace_file(path, lambda file, content=content: file.write(content.encode()))
        about = " ".join(f"{key} {np.mean(result[key]):.4g}" for key in FIGURES)
        print(*trial, about, f"in {result['wall_seconds']} s; {len(missing) - i - 1} to go", flush=True)


def resumed(path: Path, fresh: bool) -> dict[str, Any]:
    """Results to go on with, none if fresh; refuses those of other settings. Code counts by its version only."""
    settings = {"cpbp": str(asdict(CPBPSettings())), "patience": PATIENCE}
    for task in TASKS:
        scene, goal = setting(task)
        settings |= {f"{task} scene": scene.fingerprint, f"{task} goal": str(vars(goal))}
    mark = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    if fresh or not path.is_file():
        versions = {package: version(package) for package in ("tumble", "mujoco", "numpy", "numba")}
        return {"fingerprint": mark, "versions": versions, "wall_seconds": 0.0, "trials": []}
    data: dict[str, Any] = json.loads(path.read_text())
    if data["fingerprint"] != mark:
        raise UserError(f"the trials in {path} were run with other settings; --fresh forgets them and begins anew")
    return data


@cache
def setting(task: str) -> tuple[Scene, Goal]:
    """Where a task happens and what is wanted."""
    name, goal, speed = TASKS[task]
    scene = Scene(character(name))
    return scene, goal(scene, velocity=(speed, 0.0))


def run(trial: Trial) -> dict[str, Any]:
    """Figures of every window, and of the whole the median processor time of a plan, ms."""
    scene, goal = setting(trial.task)
    began = time.perf_counter()
    planner = CPBP(scene, CPBPSettings(informed=trial.informed), trial.seed, nthread=1)
    world, frames = Sims(scene, 1, 1), list[Frame]()
    world.load(scene.state("rest"))
    for frame in live(planner, world, goal, trial.seconds * RATE):
        frames.append(frame)
    windows = [frames[i : i + WINDOW * RATE] for i in range(0, len(frames), WINDOW * RATE)]
    return {
        "cost": [rounded(np.mean([frame.cost for frame in window])) for window in windows],
        "speed": [rounded(np.mean([frame.speed for frame in window])) for window in windows],
        "falls": [sum(frame.fell for frame in window) for window in windows],
        "jerk": [rounded(jerk(window)) for window in windows],
        "put_back": sum(frame.put_back for frame in frames),
        "plan_ms": rounded(1000 * np.median([frame.seconds for frame in frames])),
        "wall_seconds": round(time.perf_counter() - began, 1),
    }


class Frame(NamedTuple):
    """One of the live world.

    Attributes:
      cost: of the state it led to.
      speed: of the centre of mass along x, m/s.
      joints: (joints,) speeds, rad/s.
      fell: whether it began to be down.
      put_back: whether it was put back on its feet afterwards.
      seconds: of a processor that planning took.
    """

    cost: float
    speed: float
    joints: np.ndarray
    fell: bool
    put_back: bool
    seconds: float


def live(planner: CPBP, world: Sims, goal: Goal, frames: int) -> Iterator[Frame]:
    """Plan and act."""
    scene = world.scene
    feet = (*scene.character.feet, *scene.character.toes)
    others = np.array([bone not in feet for bone in scene.bones])
    height, down = world.view("qpos")[:, 2], 0  # frames since it fell
    standing = height[0]
    for _ in range(frames):
        began = time.process_time()
        plan = planner.plan(world.state[0].copy(), goal)
        seconds = time.process_time() - began
        world.act(plan.controls[:1])
        touching = bool((world.view("grounded")[0, others] > 0).any())
        fell = touching and down == 0
        up = not touching and height[0] > 0.85 * standing
        down = down + 1 if touching or (down and not up) else 0
        put_back = down > PATIENCE * RATE
        joints = world.view("qvel")[0, scene.drive.qvel].copy()
        yield Frame(goal.cost(world)[0], world.view("com_velocity")[0, 0], joints, fell, put_back, seconds)
        if put_back:
            world.load(scene.state("rest"))
            down = 0


def jerk(frames: list[Frame]) -> float:
    """RMS over joints and frames, rad/s^3, but those next to where it was put back."""
    third = np.diff([frame.joints for frame in frames], n=2, axis=0) * RATE**2
    jumps = np.array([frame.put_back for frame in frames])
    return float(np.sqrt((third[~(jumps[:-2] | jumps[1:-1])] ** 2).mean()))


def rounded(value: float | np.floating) -> float:
    """Short enough to commit."""
    return float(f"{value:.5g}")


# Telling --------------------------------------------------------------------------------------------


def windows_of(data: Any, task: str, informed: int, figure: str) -> np.ndarray:
    """(trials, windows) of a figure; (0, 0) where there are none."""
    chosen = [one for one in data["trials"] if (one["task"], one["informed"]) == (task, informed)]
    return np.array([np.atleast_1d(one[figure]) for one in chosen], float).reshape(len(chosen), -1 if chosen else 0)


def draw(data: Any) -> Figure:
    tasks = [task for task in TASKS if windows_of(data, task, 0, "cost").size]
    figure, rows = plt.subplots(len(tasks), 4, figsize=(11.5, 2.7 * len(tasks)), layout="constrained", squeeze=False)
    for task, row in zip(tasks, rows, strict=True):
        for axes, (name, label) in zip(row, FIGURES.items(), strict=True):
            for informed, colour in INFORMED.items():
                values = windows_of(data, task, informed, name)
                ends = WINDOW * np.arange(1, values.shape[1] + 1)
                axes.plot(ends, values.T, color=colour, lw=0.7, alpha=0.4)
                axes.plot(ends, values.mean(axis=0), "o-", color=colour, lw=2.2, ms=4, label=f"{informed} informed")
            axes.set(xlabel="end of the window, s", ylabel=label, xticks=ends, ylim=(0, None))
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(axis="y", color="#eeeeee")
        row[0].set_title(f"{task}, {TASKS[task][0]}, {TASKS[task][2]:g} m/s", loc="left", fontsize=9)
    figure.legend(*rows[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    return figure


def text(data: Any) -> str:
    """A table: means over seeds with their standard deviations, of all windows and of those after 15 s."""
    lines = ["| task | figure | windows | 0 informed | 6 informed | difference | t |", "|---|---|---|---|---|---|---|"]
    for task in TASKS:
        if not all(len(windows_of(data, task, informed, "cost")) for informed in INFORMED):
            continue
        for name, label in (FIGURES | {"plan_ms": "processor time of a plan, ms"}).items():
            for span, first in (("all", 0), ("last half", 3)):
                one, other = (windows_of(data, task, informed, name)[:, first:] for informed in INFORMED)
                if not one.size:
                    continue
                one, other = one.mean(axis=1), other.mean(axis=1)
                lines.append(f"| {task} | {label} | {span} | {compared(one, other)} |")
    return "\n".join(lines)


def compared(one: np.ndarray, other: np.ndarray) -> str:
    """Cells of the table."""
    if min(one.size, other.size) < 2 or not np.isfinite([*one, *other]).all():
        return f"{one.mean():.4g} | {other.mean():.4g} | {other.mean() - one.mean():.3g} |"
    spreads = one.std(ddof=1), other.std(ddof=1)
    error = math.hypot(spreads[0] / one.size**0.5, spreads[1] / other.size**0.5)
    difference = other.mean() - one.mean()
    cells = [f"{values.mean():.4g} ± {spread:.2g}" for values, spread in zip((one, other), spreads, strict=True)]
    return f"{cells[0]} | {cells[1]} | {difference:+.3g} ± {error:.2g} | {difference / max(error, 1e-300):+.1f}"


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")
