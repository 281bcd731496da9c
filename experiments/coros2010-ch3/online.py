"""What the experiments of walking online share: trials of stones and gaps by settings, counted, kept cell by cell.

    kept = Kept("stones")                          # results/stones.json
    kept.cell("horizon 2", lambda: stones("planar-walk", {"horizon": 2}, seeds))

A cell that is there is not done again. Rates carry their count and Wilson's interval at 95 %.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tumble.characters import character
from tumble.files import replace_file
from tumble.scenarios import SCENARIOS, Trial
from tumble.scenarios.footfalls import SteppingScenario, crossed
from tumble.scenarios.stones import Stones
from tumble.stepping.examples import examples_named
from tumble.stepping.planning import StepPlan
from tumble.stepping.stepper import Stepper, StepperSettings
from tumble.stepping.terrain import footing_of
from tumble.world.scene import Scene

RESULTS = Path(__file__).parent / "results"
Z = 1.96  # of 95 %


def interval(good: int, n: int) -> list[float]:
    """Wilson's, at 95 %."""
    if not n:
        return [0.0, 1.0]
    p, z = good / n, Z * Z / n
    half = Z * math.sqrt(p * (1 - p) / n + z / (4 * n))
    return [round((p + z / 2 + sign * half) / (1 + z), 3) for sign in (-1, 1)]


class Kept:
    """Cells of an experiment in a file, with what they were measured on."""

    def __init__(self, name: str) -> None:
        self.path = RESULTS / f"{name}.json"
        self.cells: dict[str, Any] = json.loads(self.path.read_text()) if self.path.exists() else {}

    def cell(self, key: str, job: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A cell, done where it is not there yet."""
        if key not in self.cells:
            began = time.time()
            self.cells[key] = {**job(), "wall": round(time.time() - began, 1), **_versions()}
            text = json.dumps(self.cells, indent=1) + "\n"
            replace_file(self.path, lambda file: file.write(text.encode()))
        print(self.path.stem, key, {k: v for k, v in self.cells[key].items() if k != "errors"}, flush=True)
        found: dict[str, Any] = self.cells[key]
        return found


def _versions() -> dict[str, str]:
    commit = run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    return {"commit": commit, "mujoco": version("mujoco")}


class Regressing(Stepper):
    """A negative example: no model and no plan, but A = q(s, l_1) or q(s, l_1, l_2) by regression (section 3.7).

    q is the mean over the k = 3 examples nearest in (s, l_1, l_2), by 1 / distance; lengths in m count as d does. Their
    l_1 is the length that was made, l_2 that of the next step of the sequence.
    """

    def _planned(self, state: np.ndarray, landings: Any, *others: Any) -> StepPlan:
        examples, ahead = self.model.examples, 1 if self.settings.horizon == 1 else 2
        rows = np.arange(len(examples) - 1)
        rows = rows[examples.sequence[rows] == examples.sequence[rows + 1]]
        lengths = np.column_stack([examples.lengths[rows], examples.lengths[rows + 1]])[:, :ahead]
        wanted = np.diff(np.concatenate([[0.0], landings.targets[:ahead]]))
        wanted = np.where(np.isnan(wanted), self.base.preferred, wanted)
        away = self.model.scaled(examples.states[rows]) - self.model.scaled(state[None])
        distance = np.sqrt((away**2).sum(axis=1) + 2.0 * ((lengths - wanted) ** 2).sum(axis=1))
        some = np.argsort(distance, kind="stable")[:3]
        weights = 1.0 / np.maximum(distance[some], 1e-9)
        weights /= weights.sum()
        action = weights @ np.asarray(examples.actions, float)[rows[some]]
        places = np.cumsum(wanted)
        return StepPlan(np.zeros(2), action, places, 0 * places, 0 * places, True, "regression", 0, landings.targets)


def stones(
    base: str, settings: Mapping[str, Any], seeds: Iterable[int], options: Mapping[str, Any] = {},
    scenario: str = "stones", kind: type[Stepper] = Stepper, examples: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Errors of all footfalls of trials of stepping stones.

    Args:
      base: whose examples; `examples` of them, the first, or 0 for all.
      kind: of controller.
    """
    errors, steps, plans, falls, on = list[float](), 0, list[float](), 0, 0
    seeds = list(seeds)
    with TemporaryDirectory() as folder:
        name = _some(base, examples, Path(folder))
        for seed in seeds:
            trial, played = _trial(SCENARIOS[scenario].make(**options), seed, name, settings, kind)
            assert isinstance(played, Stones)
            errors += played.errors(trial.history).round(4).tolist()
            steps += played.count
            falls += trial.history.falls()
            on += played.success(trial.history)
            plans += _plan_times(trial)
    size = np.abs(errors)
    return {
        "seeds": [seeds[0], seeds[-1]], "n": len(errors), "wanted": steps, "falls": falls, "trials": len(seeds),
        "all on": on, "mean": round(float(size.mean()), 4), "median": round(float(np.median(size)), 4),
        "below 6 cm": round(float((size < 0.06).mean()), 3), "above 12 cm": round(float((size > 0.12).mean()), 3),
        "bias": round(float(np.mean(errors)), 4), "plan ms": _plan_ms(plans), "errors": errors,
    }  # fmt: skip


def gaps(
    base: str, settings: Mapping[str, Any], seeds: Iterable[int], options: Mapping[str, Any] = {},
    scenario: str = "gaps",
) -> dict[str, Any]:  # fmt: skip
    """Gaps crossed and footfalls of trials; a gap that was not reached after a fall counts as failed."""
    good, n, reached, feet, well, falls, through = 0, 0, 0, 0, 0, 0, 0
    plans, seeds, simulated, began = list[float](), list(seeds), 0.0, time.perf_counter()
    for seed in seeds:
        trial, played = _trial(SCENARIOS[scenario].make(**options), seed, base, settings)
        found = played.footfalls(trial.history)
        done = [crossed(found, gap) for gap in footing_of(trial.scene).gaps]
        good, n = good + sum(one is True for one in done), n + len(done)
        reached += min(len(done), sum(one is not None for one in done) + trial.history.falls())
        feet, well = feet + len(found.good), well + int(found.good.sum())
        falls, through = falls + trial.history.falls(), through + played.success(trial.history)
        simulated += trial.time
        plans += _plan_times(trial)
    return {
        "seeds": [seeds[0], seeds[-1]], "crossed": good, "n": n, "rate": round(good / n, 3),
        "interval": interval(good, n), "reached": reached, "footfalls": feet, "good footfalls": well,
        "falls": falls, "trials": len(seeds), "successes": through, "plan ms": _plan_ms(plans),
        "times real time": round(simulated / (time.perf_counter() - began), 1),
    }  # fmt: skip


def _some(base: str, count: int, folder: Path) -> str:
    """A name for the first so many examples of a base: its own, or a file."""
    if not count:
        return base
    file = folder / f"{count}.stones"
    examples_named(base).some(count).write(file)
    return str(file)


def _trial(
    scenario: SteppingScenario, seed: int, base: str, settings: Mapping[str, Any], kind: type[Stepper] = Stepper
) -> tuple[Trial, SteppingScenario]:
    """A trial that has run to its end."""
    body = character(examples_named(base).base.character)
    scene: Scene = scenario.scene(body, seed)
    made = kind(scene, StepperSettings(base=base, **settings), seed)
    trial = Trial(scenario, seed, "stones", scene=scene, made=made)
    while not trial.over:
        trial.step()
    return trial, scenario


def _plan_times(trial: Trial) -> list[float]:
    """s of the frames in which something was planned: those that took longest, one a step."""
    taken = np.sort(trial.result().plan_seconds)[::-1]
    steps = int(trial.session.world.memory("simbicon").footstrikes[0])
    return [float(one) for one in taken[: max(steps, 1)]]


def _plan_ms(seconds: list[float]) -> dict[str, float]:
    """Median and 95 % of planning a step, ms; the first compiles."""
    return {
        "median": round(1e3 * float(np.median(seconds)), 2),
        "95 %": round(1e3 * float(np.percentile(seconds, 95)), 2),
    }
