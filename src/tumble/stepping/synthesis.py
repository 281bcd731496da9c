"""Offline synthesis: sequences of stepping stones, solved step by step, as examples (coros2010 section 3.3).

    synthesis = Synthesis(BASES["planar-walk"](), examples=2000)
    with JobStore(path, synthesis.about) as store, workers(jobs=2) as pool:
        for progress in synthesis.run(store, pool):
            print(progress.examples)
    synthesis.examples("tumble stones build planar-walk").write(Path("planar-walk.stones"))

A window of three steps is optimised, its first step is taken, and the window moves on by one. A job does a few
sequences side by side; which there are, and what comes of them, depends neither on the number of workers nor on when
somebody was interrupted. What was simulated is in the store.
"""

import io
import math
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from tumble.errors import check_number
from tumble.offline.store import JobStore, complete
from tumble.stepping.base import Base
from tumble.stepping.examples import ARRAYS, FEWEST, Examples, header_for
from tumble.stepping.optimising import Optimising, improved, rescued
from tumble.stepping.problems import STEPS, WINDOW, residuals, stones_of
from tumble.stepping.windows import StepWorld, Walked, world_of

FORM = 1  # of what is in a store
TOGETHER = 2  # sequences of a job; ours
DROPPED = 5  # steps before a fall that are no examples; section 3.3.2
DISTURBED, SETTLING = 0.1, 6  # m/s and rad/s of a sequence's opening; steps before its first stone; ours
FIRST_ITERATIONS = 4  # of the first window, whose plan is the base's; ours
GUESSES = 3  # examples that are tried as the action of a step that enters the window; ours


@dataclass(frozen=True)
class SynthesisProgress:
    """How far it is."""

    sequences: int
    examples: int
    error: float  # m, mean of |wanted - length|
    fallen: int  # sequences that ended early


class Solved(NamedTuple):
    """Steps of some sequences, and how the solving went; arrays by the names of `Examples`."""

    arrays: dict[str, np.ndarray]
    simulated: int  # steps
    fallen: int  # sequences


@dataclass(frozen=True)
class Problem:
    """What a job is of, plain data."""

    base: Base
    steps: int = STEPS
    seed: int = 0
    optimising: Optimising = Optimising()


def solved(problem: Problem, sequences: list[int]) -> bytes:
    """Solve some sequences side by side; a job. Returns an npz of `Solved`."""
    found = Sequences(problem, sequences).solve()
    file = io.BytesIO()
    np.savez(file, simulated=found.simulated, fallen=found.fallen, **found.arrays)  # type: ignore[arg-type]
    return file.getvalue()


class Sequences:
    """Sequences that are solved side by side.

    **Departures**
      Thesis: gradient descent, at most 15 iterations at each place of the window; here Gauss-Newton, once at each
      place, which misses less for a sixth of the simulation (the thesis's is an option). Thesis: a step that
      enters the window begins with the base's action; here with the cheapest of that and of those in similar examples
      of the same job. Thesis: who falls in a window falls; here plans are drawn around one that falls, and the
      cheapest is gone on with. Thesis: the window ends at the last stone; here two more lie behind it.
      Thesis: stones stay where they are; here bases may have them move along with who misses one by far
      (`Base.carried`), as one stone that is out of reach puts the next ones there. Thesis: how a
      sequence begins is not told; here from the gait, its speeds disturbed, after six steps of its own.
    """

    def __init__(self, problem: Problem, numbers: list[int]) -> None:
        """Begin sequences by their numbers, each on its own stones from its own start."""
        self.problem, self.going = problem, np.array(numbers)
        self.world: StepWorld = world_of(problem.base)
        self._before, self._fallen, seed = self.world.taken, 0, problem.seed
        base, n = self.world.base, len(numbers)
        self._stones = np.array([stones_of(base, number, problem.steps, seed) for number in numbers])
        starts = [self._start(np.random.default_rng((seed, number, 1))) for number in numbers]
        self._state, self._reduced = (np.concatenate(part) for part in zip(*starts, strict=True))
        self._x, self._rng = np.zeros(n), np.random.default_rng((seed, numbers[0], 2))
        self._plans = np.broadcast_to(base.action, (n, WINDOW, len(base.action))).copy()
        self._made: list[dict[str, np.ndarray]] = []  # examples, a row each, by step

    def _start(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(1, nstate) that a sequence begins with, and (1, q) what it reduces to."""
        begun = self.world.opening(1, rng, SETTLING, DISTURBED)
        return begun.states[:, -1], begun.reduced[:, -1]

    def solve(self) -> Solved:
        """Take all steps."""
        how, steps = self.problem.optimising, self.problem.steps
        first = replace(how, iterations=max(FIRST_ITERATIONS, how.iterations))
        run = self.world.rolled(self._state, self._plans)
        for k in range(steps):
            targets = self._stones[:, k : k + WINDOW] - self._x[:, None]
            self._plans, run = improved(
                self.world, self._state, targets, self._plans, run, how if k else first
            )  # fmt: skip
            self._plans, run = rescued(self.world, self._state, targets, self._plans, run, self._rng)
            run = self._take(run, targets[:, 0])
            if not self.going.size or k + 1 == steps:
                break
            run = self._enter(run, self._stones[:, k + WINDOW] - self._x)
        return self._solved()

    def _take(self, run: Walked, wanted: np.ndarray) -> Walked:
        """Take the first step of all windows; what comes of the rest of them, for those that stand."""
        up = run.stood[:, 0]
        one = run.cut(0, 1).some(np.flatnonzero(up))
        self._made.append(
            {
                "states": self._reduced[up], "actions": self._plans[up, 0], "ends": one.reduced[:, 0],
                "lengths": one.lengths[:, 0], "lateral": one.lateral[:, 0], "wanted": wanted[up],
                "sequence": self.going[up],
            }
        )  # fmt: skip
        for number in self.going[~up]:
            self._drop(number)
        self._fallen += int((~up).sum())
        self.going, self._stones, self._plans = self.going[up], self._stones[up], self._plans[up]
        self._state, self._reduced = one.states[:, 0], one.reduced[:, 0]
        self._x = self._x[up] + one.lengths[:, 0]
        missed, most = one.lengths[:, 0] - wanted[up], self.world.base.carried
        self._stones += (missed - np.clip(missed, -most, most))[:, None]
        return run.some(np.flatnonzero(up)).cut(1)

    def _drop(self, number: int) -> None:
        """Forget the last steps of a sequence that fell."""
        for step in self._made[-DROPPED - 1 :]:
            others = step["sequence"] != number
            for name in ARRAYS:
                step[name] = step[name][others]

    def _enter(self, run: Walked, targets: np.ndarray) -> Walked:
        """Move the windows on by a step: the one that enters takes the cheapest action of some guesses.

        Args:
          run: of the steps that the windows keep.
          targets: (n,) m from the heel that stands first to the stone of the step that enters.
        """
        world, n = self.world, len(targets)
        wanted = targets - run.lengths.sum(axis=1)
        guesses = self._guesses(run.reduced[:, -1], wanted)
        c = guesses.shape[1]
        flat = guesses.reshape(n * c, 1, -1)
        tried = world.onward(
            np.repeat(run.states[:, -1], c, axis=0), flat[:, 0], np.repeat(run.stood[:, -1], c)
        )  # fmt: skip
        missed = tried.lengths - np.repeat(wanted, c)[:, None]
        cost = (residuals(world.base, missed, tried.lateral, flat, ~tried.stood) ** 2).sum(axis=1).reshape(n, c)
        best = np.arange(n) * c + cost.argmin(axis=1)
        self._plans = np.concatenate([self._plans[:, 1:], flat[best]], axis=1)
        return run.then(tried.some(best))

    def _guesses(self, reduced: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """(n, c, p) actions: the base's, and those of similar examples, alone and in the mean."""
        n, base = len(wanted), self.world.base.action
        found = [np.broadcast_to(base, (n, 1, len(base)))]
        states, lengths, actions = (
            np.concatenate([step[name] for step in self._made]) for name in ("states", "lengths", "actions")
        )
        if len(lengths) >= GUESSES:
            metric = self.world.base.metric
            away = (metric * (reduced[:, None] - states) ** 2).sum(axis=2) + (wanted[:, None] - lengths) ** 2
            near = actions[np.argsort(away, axis=1, kind="stable")[:, :GUESSES]]
            found += [near, near.mean(axis=1, keepdims=True)]
        return np.concatenate(found, axis=1)

    def _solved(self) -> Solved:
        """All examples, those of a sequence one after the other."""
        arrays = {name: np.concatenate([step[name] for step in self._made]) for name in ARRAYS}
        order = np.argsort(arrays["sequence"], kind="stable")
        kinds = {name: np.int32 if name == "sequence" else np.float32 for name in ARRAYS}
        arrays = {name: array[order].astype(kinds[name]) for name, array in arrays.items()}
        return Solved(arrays, self.world.taken - self._before, self._fallen)


class Synthesis:
    """As many examples of a base as are wanted, solved by jobs.

    Attributes:
      about: what decides on the results; a store of another is refused.
      problem: what every job is of.
      simulated: steps that the solving took.
    """

    def __init__(
        self, base: Base, examples: int, seed: int = 0, steps: int = STEPS, optimising: Optimising = Optimising()
    ) -> None:
        """Of a base, in sequences of so many steps."""
        check_number("examples", examples, FEWEST, 1_000_000)
        check_number("seed", seed, 0)
        check_number("steps", steps, DROPPED + 1, 10_000)
        self.base = base
        self.wanted, self.simulated, self.fallen = examples, 0, 0
        self.problem = Problem(base, steps, seed, optimising)
        self.about = {"work": "stones", "form": FORM, "gait": self.base.digest, **asdict(self.problem)}
        self._parts: list[dict[str, np.ndarray]] = []

    def run(self, store: JobStore, pool: Executor) -> Iterator[SynthesisProgress]:
        """Solve sequences until there are enough examples; how far it is, after every job."""
        results, first = store.results(), 0
        while self._count < self.wanted:
            missing = math.ceil((self.wanted - self._count) / (TOGETHER * self.problem.steps))  # if nobody falls
            jobs = {str(i): (self.problem, self._numbers(i)) for i in range(first, first + missing)}
            for key, result in complete(store, pool, solved, jobs):
                results[key] = result
                yield self._progress(first, [results[key] for key in jobs if key in results])
            for key in jobs:
                self._keep(results.pop(key))
            first += missing
            yield self._progress(first, [])

    def _numbers(self, job: int) -> list[int]:
        return list(range(job * TOGETHER, (job + 1) * TOGETHER))

    @property
    def _count(self) -> int:
        return sum(len(part["lengths"]) for part in self._parts)

    def _keep(self, result: bytes) -> None:
        """Take what a job found."""
        solved_ = _read(result)
        self._parts.append(solved_.arrays)
        self.simulated += solved_.simulated
        self.fallen += solved_.fallen

    def _progress(self, jobs: int, more: list[bytes]) -> SynthesisProgress:
        """With what the jobs of this round found that are done."""
        found = [_read(result) for result in more]
        parts = self._parts + [one.arrays for one in found]
        missed = np.concatenate([np.abs(part["wanted"] - part["lengths"]) for part in parts])
        return SynthesisProgress(
            (jobs + len(more)) * TOGETHER, len(missed), float(missed.mean()) if missed.size else 0.0,
            self.fallen + sum(one.fallen for one in found),
        )  # fmt: skip

    def examples(self, command: str) -> Examples:
        """The first of them, as many as were wanted."""
        arrays = {name: np.concatenate([part[name] for part in self._parts])[: self.wanted] for name in ARRAYS}
        missed = np.abs(arrays["wanted"] - arrays["lengths"])
        figures = {
            "mean_error": float(missed.mean()), "below_6_cm": float((missed < 0.06).mean()),
            "above_12_cm": float((missed > 0.12).mean()), "sequences": float(arrays["sequence"].max() + 1),
            "fallen": float(self.fallen), "simulated_steps": float(self.simulated),
        }  # fmt: skip
        return Examples(header_for(self.base, command, figures), **arrays)


def _read(result: bytes) -> Solved:
    """What a job returned."""
    file = np.load(io.BytesIO(result), allow_pickle=False)
    return Solved({name: file[name] for name in ARRAYS}, int(file["simulated"]), int(file["fallen"]))
