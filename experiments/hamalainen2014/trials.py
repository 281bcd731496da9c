"""Many trials in worker processes, stored one by one: what figure12, figure13, comparison and gather share.

A Point is everything about a trial but its seed. `measure` runs the trials of points that a result file lacks, and
stores each as it ends:

    {"points": {name: {"settings": mark, "trials": [{"seed": 0, "success": true, ...}, ...]}},
     "settings": {mark: {...}}, ...}

A point whose settings have changed since is refused; changed code, comments and docstrings aside, is told of only.
"""

import argparse
import ast
import hashlib
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from report import parser, place, spread, store, versions, wilson

import tumble
from tumble.characters import character
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError, check_number
from tumble.files import replace_file
from tumble.goals import Goal
from tumble.goals.judging import goal_of
from tumble.learners.experience import Experience
from tumble.live.learned_file import LearnedFile
from tumble.planners import SMC, Planned
from tumble.scenarios import SCENARIOS, Scenario, Trial, run_trial
from tumble.world.scene import Scene

README = Path(__file__).parent / "README.md"
ALIKE = ("figure12", "figure13")  # results that may have trials in common
CODE = (  # what decides how a trial goes, in the package's folder
    "characters/*.py", "goals/*.py", "learners/experience.py", "live/session.py", "maths/*.py", "planners/**/*.py",
    "scenarios/balancing.py", "scenarios/dodging.py", "scenarios/history.py", "scenarios/trial.py", "world/*.py",
)  # fmt: skip


@dataclass(frozen=True)
class Point:
    """All of a trial but its seed.

    Attributes:
      settings: those of the controller that are not left to their defaults.
      learned: whether it guesses from a file of experience, without adding to it.
    """

    scenario: str
    character: str
    controller: str
    settings: tuple[tuple[str, float], ...]
    learned: bool = False

    @property
    def name(self) -> str:
        """In results."""
        values = [f"{key} {value:g}" for key, value in self.settings]
        return ", ".join([self.scenario, self.character, self.controller, *values, *["learned"] * self.learned])

    @property
    def cost(self) -> float:
        """Simulation steps of a trial, up to a factor."""
        chosen, (scenario, scene, _) = dict(self.settings), setting(self.scenario, self.character)
        return chosen["samples"] * chosen["horizon"] * scenario.setup(scene, np.random.default_rng(0)).seconds

    def make(self, seed: int, learned: Path | None) -> Planned:
        """The controller of a trial."""
        kind, (_, scene, _) = CONTROLLERS[self.controller], setting(self.scenario, self.character)
        made = kind.make(scene, kind.settings(**dict(self.settings)), seed, 1)
        assert isinstance(made, Planned)
        if self.learned:
            assert learned is not None
            about = json.dumps(made.planner.about)
            made.planner.learn_with(loaded(learned, made.planner.memory or (1, 1), about))
        return made

    def trial(self, seed: int, learned: Path | None) -> Trial:
        """A trial."""
        scenario, scene, _ = setting(self.scenario, self.character)
        return Trial(scenario, seed, self.controller, scene=scene, made=self.make(seed, learned))


class Task(NamedTuple):
    """One trial that is to be run."""

    point: Point
    seed: int
    learned: Path | None


@cache
def setting(scenario: str, body: str) -> tuple[Scenario, Scene, Goal]:
    """A scenario and what it happens in, made once per process."""
    made = SCENARIOS[scenario]()
    scene = made.scene(character(body))
    return made, scene, goal_of(scene, made.wants())


@cache
def loaded(path: Path, memory: tuple[int, int], about: str) -> Experience:
    """Experience of a file, frozen, loaded once per process."""
    experience = Experience(*memory)
    experience.growing = False
    LearnedFile(path, experience, json.loads(about), frozen=True)
    return experience


# Running --------------------------------------------------------------------------------------------


def options(about: str, repetitions: int) -> argparse.ArgumentParser:
    """Options that all scripts with trials have."""
    known = parser(about)
    text = f"seeds 0 to R - 1 (default {repetitions}; --quick: 2 at most)"
    known.add_argument("--repetitions", type=int, default=repetitions, metavar="R", help=text)
    known.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="W", help="default: one per core")
    known.add_argument("--fresh", action="store_true", help="forget the stored trials of what is asked for")
    return known


def checked(known: argparse.ArgumentParser) -> argparse.Namespace:
    """The command line, as far as it is the same for all."""
    chosen = known.parse_args()
    if chosen.quick:
        chosen.repetitions = min(chosen.repetitions, 2)
    for name, most in (("repetitions", 10_000), ("workers", 1024)):
        check_number(name, getattr(chosen, name), 1, most)
    return chosen


def measure(
    path: Path, head: dict[str, Any], points: Sequence[Point], chosen: argparse.Namespace, learned: Path | None = None
) -> bool:
    """Run the trials that are missing at path, each stored there as it ends; False if it was stopped.

    Seed by seed, cheap points first, so that equal repetitions are there at any time.

    Args:
      head: what else the file is to say.
      points: may be there more than once.
      learned: file of experience, for points that learn from one.
    """
    points = sorted(dict.fromkeys(points), key=lambda point: point.cost)
    if not points:
        raise UserError("nothing was asked for: no point has so few samples")
    data = _resumed(path, head, points, chosen.fresh, learned)
    _borrow(path, data, points, chosen)
    store(path, data)
    had = {(name, one["seed"]) for name, point in data["points"].items() for one in point["trials"]}
    wanted = [Task(point, seed, learned) for seed in range(chosen.repetitions) for point in points]
    missing = [task for task in wanted if (task.point.name, task.seed) not in had]
    print(f"{len(missing)} of {len(wanted)} trials to run, {chosen.workers} at a time", flush=True)
    if missing:
        warm_up(points, learned)
    before, began = data["wall_seconds"], time.perf_counter()
    recent: list[tuple[Task, float]] = []
    waiting = dict.fromkeys(missing)

    def finished(task: Task, result: dict[str, Any]) -> None:
        data["points"][task.point.name]["trials"].append(result | {"code": code()})
        data["wall_seconds"] = round(before + time.perf_counter() - began, 1)
        store(path, data)
        del waiting[task]
        recent.append((task, result["wall_seconds"]))
        _tell(task, result, recent[-20:], list(waiting), chosen.workers)

    complete = spread(run, missing, chosen.workers, finished)
    if not complete:
        print(f"stopped with {len(waiting)} trials to go; run it again to go on", flush=True)
    return complete


def warm_up(points: Sequence[Point], learned: Path | None) -> None:
    """Compile what a frame needs into Numba's cache, before workers would all do so at once."""
    for point in {(one.scenario, one.character, one.controller, one.learned): one for one in points}.values():
        fewer = tuple((key, min(value, 10) if key == "samples" else value) for key, value in point.settings)
        small = Point(point.scenario, point.character, point.controller, fewer, point.learned)
        trial = small.trial(0, learned)
        for _ in range(3):  # the first has no plan to carry on
            trial.step()


def run(task: Task, stop: Callable[[], bool]) -> dict[str, Any] | None:
    """In a worker: one trial from start to verdict, None if it was stopped."""
    trial = task.point.trial(task.seed, task.learned)
    began = time.perf_counter()
    result = run_trial(trial, stop=stop)
    if not result.finished:
        return None
    return {
        "seed": task.seed,
        "success": result.success,
        "wall_seconds": round(time.perf_counter() - began, 2),
        "plan_ms": round(1000 * float(np.median(result.plan_seconds)), 2),
        "frames": result.frames,
        "sim_steps": result.sim_steps,
        "broken_rows": result.broken_rows,
    } | {key: float(f"{value:.4g}") for key, value in result.metrics.items()}


def _tell(
    task: Task, result: dict[str, Any], recent: Sequence[tuple[Task, float]], waiting: Sequence[Task], workers: int
) -> None:
    """A line on the trial that ended, and how long the rest may take: as long per cost as the last ones did."""
    rate = sum(seconds for _, seconds in recent) / sum(one.point.cost for one, _ in recent)
    rest = timedelta(seconds=round(rate * sum(one.point.cost for one in waiting) / workers))
    how = f"{'success' if result['success'] else 'failure'} in {result['wall_seconds']:5.1f} s"
    print(f"seed {task.seed:2}  {task.point.name}: {how}; {len(waiting)} to go, about {rest}", flush=True)


# Results that are there -----------------------------------------------------------------------------


def _settings(point: Point, learned: Path | None) -> dict[str, str]:
    """What results depend on beside a point's name and the seed."""
    scenario, scene, goal = setting(point.scenario, point.character)
    chosen = asdict(CONTROLLERS[point.controller].settings(**dict(point.settings)))
    about = {f"{point.controller} {key}": str(chosen[key]) for key in chosen if key not in dict(point.settings)}
    about |= {"scenario": str(scenario), "scene": scene.fingerprint, "goal": str(vars(goal))} | versions()
    if point.learned:
        if learned is None or not learned.is_file():
            raise UserError(f"no file of experience {learned or ''}: make one with gather.py, and name it: --learned")
        planner = point.make(0, learned).planner
        assert isinstance(planner, SMC) and planner.learner is not None
        about["experience"] = f"{len(planner.learner)} situations, SHA-256 {_digest(learned)}"
    return about


@cache
def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def _resumed(
    path: Path, head: dict[str, Any], points: Sequence[Point], fresh: bool, learned: Path | None
) -> dict[str, Any]:
    """Results to go on with, with a place for all points; refuses trials of other settings, unless fresh."""
    data, now = {"wall_seconds": 0.0, "settings": {}, "points": {}}, code()
    if path.is_file():
        data |= json.loads(path.read_text())
    data |= head | {"versions": versions()}
    others = 0
    for point in points:
        about = _settings(point, learned)
        mark = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
        stored = data["points"].get(point.name)
        if stored is None or fresh or not stored["trials"]:
            stored = data["points"][point.name] = {"settings": mark, "trials": []}
        elif stored["settings"] != mark:
            old = data["settings"][stored["settings"]]
            changed = sorted(key for key in about | old if about.get(key) != old.get(key))
            raise UserError(
                f"the {len(stored['trials'])} trials of '{point.name}' in {path} were run with other settings"
                f" (changed: {', '.join(changed)}); --fresh forgets the trials of what is asked for and begins anew"
            )
        data["settings"][mark] = about
        others += sum(one["code"] != now for one in stored["trials"])
    used = {point["settings"] for point in data["points"].values()}
    data["settings"] = {mark: about for mark, about in data["settings"].items() if mark in used}
    if others:
        print(f"warning: {others} stored trials were run by other code than today's; --fresh forgets", file=sys.stderr)
    return data


def _borrow(path: Path, data: dict[str, Any], points: Sequence[Point], chosen: argparse.Namespace) -> None:
    """Take over trials of another figure that were run with the same settings by the same code."""
    for other in (place(name, chosen.quick) for name in ALIKE):
        if other == path or not other.is_file():
            continue
        theirs = json.loads(other.read_text())["points"]
        for point in points:
            mine, there = data["points"][point.name], theirs.get(point.name)
            if there is None or there["settings"] != mine["settings"]:
                continue
            had = {one["seed"] for one in mine["trials"]}
            fits = [one for one in there["trials"] if one["seed"] < chosen.repetitions and one["code"] == code()]
            mine["trials"] += [one for one in fits if one["seed"] not in had]


# Telling --------------------------------------------------------------------------------------------


class Rate(NamedTuple):
    """Successes in so many trials."""

    won: int
    runs: int

    def __str__(self) -> str:
        return f"{self.won} of {self.runs}" if self.runs else "not run yet"

    @property
    def share(self) -> float:
        return self.won / self.runs

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, 95 %."""
        return wilson(*self)


def rate(data: Any, *points: Point) -> Rate:
    """Of some points together, over the seeds that all of them have."""
    trials = [data["points"].get(point.name, {"trials": []})["trials"] for point in points]
    seeds = set.intersection(*({one["seed"] for one in some} for some in trials)) if trials else set()
    successes = [one["success"] for some in trials for one in some if one["seed"] in seeds]
    return Rate(sum(successes), len(successes))


def gain(more: Rate, less: Rate) -> tuple[float, float, float]:
    """Difference of two probabilities and its 95 % interval: Newcombe's of 1998, from Wilson's."""
    (low, high), (lower, higher), middle = more.interval, less.interval, more.share - less.share
    return (
        middle,
        middle - math.hypot(more.share - low, higher - less.share),
        middle + math.hypot(high - more.share, less.share - lower),
    )


def verdict(more: Rate, less: Rate, most: float | None = None) -> str:
    """On the claim that one is better than the other; or, with `most`, that it is not better by that much."""
    if not more.runs or not less.runs:
        return "not run yet"
    middle, low, high = gain(more, less)
    right, wrong = (low > 0, high < 0) if most is None else (high < most, low > most)
    word = "as theirs" if right else "**not as theirs**" if wrong else "cannot be told"
    return f"{word} ({middle:+.2f}, 95 %: {low:+.2f} to {high:+.2f})"


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def tell_readme(name: str, text: str, quick: bool) -> None:
    """Print a text, and unless quick put it between the README's marks of that name."""
    print(text)
    if quick:
        return
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    readme = README.read_text()
    if begin not in readme or end not in readme:
        raise UserError(f"{README} has no place for it: lines '{begin}' and '{end}'")
    new = re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{text}\n{end}", readme, flags=re.DOTALL)
    replace_file(README, lambda file: file.write(new.encode()))


def conclude(path: Path, complete: bool, tell: Callable[[Any], None]) -> None:
    """Tell of the results that are there; exits with 130 if they were to be more."""
    if not path.is_file():
        raise UserError(f"nothing to draw: there are no results in {path} yet")
    tell(json.loads(path.read_text()))
    if not complete:
        sys.exit(130)


def script(main: Callable[[], None]) -> None:
    """Run a script; errors of users are a line."""
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")
