"""What the scripts of this folder share: options, trials in worker processes stored one by one, notes on a trial.

A trial is a NamedTuple with a seed; all but its seed is its point. `measure` runs those that a result file lacks:

    {"trials": [{<fields of the trial>, "settings": mark, "code": mark, <what run gave>}, ...],
     "settings": {mark: {...}}, ...}

A point whose settings have changed since is refused; changed code, comments and docstrings aside, is told of only.
"""

import argparse
import ast
import hashlib
import json
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import tumble
from tumble.characters import character
from tumble.errors import UserError, check_number
from tumble.files import replace_file
from tumble.goals.judging import goal_of
from tumble.live.commands import Reset
from tumble.live.session import Frame, Session
from tumble.offline.jobs import as_done
from tumble.offline.workers import workers
from tumble.planners import MCTS, MCTSSettings, Plan, Planned
from tumble.scenarios import SCENARIOS
from tumble.scenarios.gaits import LearnWalk
from tumble.scenarios.history import History
from tumble.world.scene import Scene

RESULTS = Path(__file__).parent / "results"
INK, GREY, BLUE, GREEN, RED = "#222222", "#9a9a9a", "#3b6fd4", "#2e9e4f", "#c8442f"
CODE = (  # what decides how a trial goes, in the package's folder
    "characters/*.py", "goals/*.py", "learners/*.py", "live/session.py", "maths/*.py", "planners/**/*.py",
    "scenarios/gaits.py", "scenarios/history.py", "scenarios/trial.py", "world/*.py",
)  # fmt: skip
Trial = Any  # a NamedTuple with a seed
Run = Callable[[Trial, Callable[[], bool]], dict[str, Any] | None]
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "font.family": "sans-serif"})


def options(about: str, repetitions: int, first: int) -> argparse.ArgumentParser:
    """Options that all scripts have."""
    known = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    known.add_argument("--quick", action="store_true", help="fewer runs, under a minute, into files of its own")
    known.add_argument("--draw", action="store_true", help="only draw the results that are there")
    text = f"seeds {first} to {first} + R - 1 (default {repetitions}; --quick: 1)"
    known.add_argument("--repetitions", type=int, default=repetitions, metavar="R", help=text)
    known.add_argument("--fresh", action="store_true", help="forget the stored trials of what is asked for")
    return known


def with_jobs(known: argparse.ArgumentParser) -> argparse.ArgumentParser:
    known.add_argument("--jobs", type=int, default=2, metavar="J", help="worker processes, a thread each (default 2)")
    return known


def checked(known: argparse.ArgumentParser) -> argparse.Namespace:
    """The command line, as far as it is the same for all."""
    chosen = known.parse_args()
    if chosen.quick:
        chosen.repetitions = 1
    check_number("repetitions", chosen.repetitions, 1, 10_000)
    check_number("jobs", getattr(chosen, "jobs", 1), 1, 1024)
    return chosen


def place(name: str, quick: bool) -> Path:
    """Where results are."""
    return RESULTS / f"{name}{'-quick' if quick else ''}.json"


def script(main: Callable[[], None]) -> None:
    """Run a script; errors of users are a line."""
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")


# One trial ------------------------------------------------------------------------------------------


@cache
def setting(scenario: str, body: str | None = None) -> tuple[LearnWalk, Scene]:
    """A scenario and the scene that it happens in, made once per process."""
    made = SCENARIOS[scenario]()
    assert isinstance(made, LearnWalk)
    return made, made.scene(character(body or made.characters[0]))


def searching(scene: Scene, settings: MCTSSettings, seed: int, threads: int) -> Planned:
    """A controller that searches, and knows nothing yet."""
    return Planned(MCTS(scene, settings, seed, threads))


def played(scenario: LearnWalk, scene: Scene, controller: Planned, seed: int, seconds: float) -> tumble.Trial:
    """A trial of a controller."""
    return tumble.Trial(scenario, seed, "mcts", scene=scene, made=controller, seconds=seconds)


def warm_up(scenario: LearnWalk, scene: Scene, settings: MCTSSettings, threads: int) -> None:
    """Compile, or load, what frames and learners need."""
    controller = searching(scene, settings, 0, threads)
    session = Session(scene, controller, scene.state("rest"), scenario.wants())
    for _ in range(3):  # the first has no plan to carry on
        session.step()
    assert controller.planner.learner is not None
    controller.planner.learner.warm_up()


class Notes:
    """A listener that notes what the figures are made of.

    Attributes:
      history: the trial's own.
      costs: of the best trajectory that each frame found.
      seconds: of wall time that each frame's control took.
    """

    history: History

    def __init__(self) -> None:
        self.costs, self.seconds = list[float](), list[float]()
        self._joints, self._jumps = list[np.ndarray](), list[bool]()

    def watch(self, session: Session) -> None:
        """For `run_trial`."""
        self.history = next(one for one in session.listeners if isinstance(one, History))
        session.listeners.append(self)

    def __call__(self, session: Session, frame: Frame) -> None:
        plan = session.controller.report().plan
        assert isinstance(plan, Plan)
        self.costs.append(plan.cost)
        self.seconds.append(frame.control_seconds)
        self._joints.append(session.world.view("qvel")[0, session.scene.drive.qvel].copy())
        self._jumps.append(any(isinstance(command, Reset) for command in frame.commands))

    def jerk(self, part: slice) -> float:
        """RMS over joints and some frames, rad/s^3; being put back on its feet does not count."""
        joints, jumps = np.array(self._joints)[part], np.array(self._jumps)[part]
        third = np.diff(joints, n=2, axis=0) / self.history.scene.dt**2
        smooth = third[~(jumps[1:-1] | jumps[2:])] if len(third) else third
        return rounded(np.sqrt((smooth**2).mean())) if smooth.size else math.nan


def rounded(value: float | np.floating) -> float:
    """Short enough to commit."""
    return float(f"{value:.5g}")


# Many trials ----------------------------------------------------------------------------------------


def settings_of(scenario: LearnWalk, scene: Scene, settings: MCTSSettings) -> dict[str, str]:
    """What results depend on beside a trial's own fields."""
    goal = goal_of(scene, scenario.wants(), MCTS.go_style)
    about = {"scenario": str(scenario), "scene": scene.fingerprint, "goal": str(vars(goal))}
    return about | {key: str(value) for key, value in asdict(settings).items()} | versions()


def versions() -> dict[str, str]:
    return {package: version(package) for package in ("tumble", "mujoco", "numpy", "numba")}


def point(trial: Mapping[str, Any], fields: Sequence[str]) -> tuple[Any, ...]:
    """All of a trial but its seed."""
    return tuple(trial[field] for field in fields if field != "seed")


def resumed(path: Path, wanted: Sequence[Trial], about: Callable[[Trial], dict[str, str]], fresh: bool) -> Any:
    """Results to go on with; refuses trials of what is wanted that had other settings, unless fresh.

    Returns the results and the mark of every wanted point's settings.
    """
    data: dict[str, Any] = {"wall_seconds": 0.0, "settings": {}, "trials": []}
    if path.is_file():
        data |= json.loads(path.read_text())
    data["versions"] = versions()
    fields, marks = wanted[0]._fields, dict[tuple[Any, ...], str]()
    for trial in wanted:
        key = point(trial._asdict(), fields)
        if key not in marks:
            told = about(trial)
            marks[key] = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
            data["settings"][marks[key]] = told
    if fresh:
        data["trials"] = [one for one in data["trials"] if point(one, fields) not in marks]
    for one in data["trials"]:
        mark = marks.get(point(one, fields))
        if mark is not None and one["settings"] != mark:
            old, new = data["settings"][one["settings"]], data["settings"][mark]
            changed = ", ".join(sorted(key for key in new | old if new.get(key) != old.get(key)))
            raise UserError(
                f"trials in {path} were run with other settings (changed: {changed}); --fresh forgets the trials of"
                " what is asked for and begins anew"
            )
    used = {one["settings"] for one in data["trials"]} | set(marks.values())
    data["settings"] = {mark: told for mark, told in data["settings"].items() if mark in used}
    return data, marks


def missing(data: Any, wanted: Sequence[Trial]) -> list[Trial]:
    """Trials that results lack."""
    had = {tuple(one[field] for field in wanted[0]._fields) for one in data["trials"]}
    return [trial for trial in wanted if tuple(trial) not in had]


def measure(path: Path, wanted: Sequence[Trial], run: Run, about: Callable[[Trial], dict[str, str]],
            chosen: argparse.Namespace, jobs: int) -> bool:  # fmt: skip
    """Run the trials that are missing at path, each stored there as it ends; False if it was stopped.

    Args:
      run: gives what is to be stored, or None if it was stopped.
      about: what a trial's results depend on beside its fields.
      jobs: worker processes; 0: in this one.
    """
    data, marks = resumed(path, wanted, about, chosen.fresh)
    if others := sum(one["code"] != code() for one in data["trials"] if point(one, wanted[0]._fields) in marks):
        print(f"warning: {others} stored trials were run by other code than today's; --fresh forgets", file=sys.stderr)
    left = missing(data, wanted)
    print(f"{len(left)} of {len(wanted)} trials to run, {max(1, jobs)} at a time", flush=True)
    before, began, done = data["wall_seconds"], time.perf_counter(), 0

    def finished(trial: Trial, result: dict[str, Any]) -> None:
        nonlocal done
        done += 1
        fields = trial._asdict()
        mark = {"settings": marks[point(fields, trial._fields)], "code": code()}
        data["trials"].append(fields | mark | result)
        data["wall_seconds"] = round(before + time.perf_counter() - began, 1)
        store(path, data)
        shown = " ".join(f"{key} {value}" for key, value in result.items() if not isinstance(value, list))
        rest = (time.perf_counter() - began) / done * (len(left) - done) / 60
        print(*trial, "|", shown, f"| {len(left) - done} to go, about {rest:.0f} min", flush=True)

    complete = spread(run, left, jobs, finished) if jobs else in_turn(run, left, finished)
    if not complete:
        print("stopped; run it again to go on", flush=True)
    return complete


def conclude(path: Path, complete: bool, draw: Callable[[Any], Figure], text: Callable[[Any], str]) -> None:
    """Draw and tell of the results that are there; exits with 130 if they were to be more."""
    if not path.is_file():
        raise UserError(f"nothing to draw: there are no results in {path} yet")
    data = json.loads(path.read_text())
    figure = draw(data)
    replace_file(path.with_suffix(".png"), lambda file: figure.savefig(file, dpi=150, format="png"))
    print(text(data))
    print(f"wrote {path} and {path.with_suffix('.png').name}")
    if not complete:
        sys.exit(130)


def store(path: Path, data: dict[str, Any]) -> None:
    """Write results beside their place, then rename: a crash leaves the old ones or the new."""
    content = json.dumps(data).encode()
    path.parent.mkdir(exist_ok=True)
    replace_file(path, lambda file: file.write(content))


@cache
def code() -> str:
    """Of the code that trials run, comments and docstrings aside; as it was when first asked for."""
    folder, mark = Path(tumble.__file__).parent, hashlib.sha256()
    for file in (file for pattern in CODE for file in sorted(folder.glob(pattern))):
        mark.update(ast.dump(_Bare().visit(ast.parse(file.read_text()))).encode())
    return mark.hexdigest()[:8]


class _Bare(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def wilson(won: int, runs: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a probability (1927); 95 % with z = 1.96."""
    middle, share = (won + z * z / 2) / (runs + z * z), won / runs
    half = z * math.sqrt(runs * share * (1 - share) + z * z / 4) / (runs + z * z)
    return middle - half, middle + half


# Processes ------------------------------------------------------------------------------------------

Finished = Callable[[Trial, dict[str, Any]], None]


def in_turn(run: Run, tasks: Sequence[Trial], finished: Finished) -> bool:
    """Call run in this process, one task after the other; Ctrl-C makes stop() true. Returns whether all finished."""
    with _interrupted() as stop:
        for task in tasks:
            if stop() or (result := run(task, stop)) is None:
                return False
            finished(task, result)
    return True


@contextmanager
def _interrupted() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; the second one raises."""
    seen, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def halt(*_: Any) -> None:
        seen.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, halt)
    try:
        yield seen.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def spread(run: Run, tasks: Sequence[Trial], processes: int, finished: Finished) -> bool:
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
