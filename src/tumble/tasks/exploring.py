"""State exploration: all actions from all states that are new and trusted (coros2010 section 4.4.1, Algorithm 1).

    explored = Exploration(task)
    with JobStore(path, explored.about) as store, workers(jobs=2) as pool:
        for progress in explored.run(store, pool):
            ...
    explored.states, explored.steps

Work goes in rounds of a fixed number of states, whose results are taken in their order: what is found depends neither
on the number of workers nor on when somebody was interrupted. What was simulated is in the store.
"""

import io
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from tumble.characters import character, from_recipe
from tumble.control.stepping import step
from tumble.errors import UserError
from tumble.maths.rotations import wrapped_angles
from tumble.offline.store import JobStore, complete
from tumble.tasks.actions import StepKind
from tumble.tasks.kinds import KINDS, kind_of, read_actions
from tumble.tasks.metric import Metric, Stances, joined, nearest
from tumble.tasks.task import JudgedStates, SampledSteps, Task
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

VERSION = 1  # of what is in a store
FRICTION = 0.8  # of the ground, as SIMBICON's scenarios have it
ROUND, TOGETHER = 16, 4  # jobs of a round, states of a job
LONGEST = 1.2  # s that a step may take
SETTLING, CYCLE = 14, 4  # steps of an action alone, of which the last ones are its limit cycle
SEQUENCES, LENGTH = 5, 5  # of random actions, whose states are trusted; section 4.5
DRAWS = 40  # sequences that may be tried until so many stand
BLOWS = 30  # states after blows that are trusted, at most
BLOW, WAIT = 0.1, 10  # s that a blow lasts, frames after a strike within which it comes


class Who(NamedTuple):
    """Who steps, as plain data of jobs."""

    recipe: str  # of the character, JSON
    kind: str  # of the actions
    actions: str  # JSON


@dataclass(frozen=True)
class StepSims:
    """Many simulations of a body that takes steps; one a process."""

    scene: Scene
    stepper: StepKind
    metric: Metric
    table: np.ndarray

    @classmethod
    def of(cls, who: Who) -> "StepSims":
        scene = Scene(from_recipe(json.loads(who.recipe)), ground=Ground(FRICTION))
        stepper = KINDS[who.kind](scene)
        return cls(scene, stepper, Metric(stepper), stepper.table(read_actions(who.kind, json.loads(who.actions))))


@lru_cache(maxsize=2)
def world_of(who: Who) -> StepSims:
    """Who steps, in this process."""
    return StepSims.of(who)


@lru_cache(maxsize=4)
def sims_of(who: Who, rows: int) -> Sims:
    """So many simulations of who steps, in any state; who asks next gets the same."""
    sims = Sims(world_of(who).scene, rows, nthread=1)
    sims.use(world_of(who).stepper.walker.drive)
    return sims


def try_all(who: Who, states: np.ndarray, upright: bool = False) -> bytes:
    """Take a step of every action from every state (n, nstate), until it stands or, upright, falls; a job.

    Returns an npz: of all n * actions steps, the last axis fastest, `fine` (it stood), `ends` (states of those alone),
    `moved` and `seconds`.
    """
    world = world_of(who)
    stepper, count = world.stepper, len(world.table)
    sims = sims_of(who, len(states) * count)
    sims.load(np.repeat(states, count, axis=0))
    before, began = world.metric.places(sims), sims.view("time").copy().ravel()
    every = np.arange(sims.nsim)
    stepper.take(sims, every, world.table[every % count])
    fine = step(stepper.walker, sims, LONGEST, upright=upright)
    fine &= ~stepper.walker.fallen(sims)
    moved = displaced(before, world.metric.places(sims))
    seconds = sims.view("time").ravel() - began
    file = io.BytesIO()
    seen, rows = world.metric.states(sims, np.flatnonzero(fine)), sims.state[fine]
    np.savez(
        file, fine=fine, ends=rows, moved=moved[fine], seconds=seconds[fine], features=seen.features, feet=seen.feet
    )  # fmt: skip
    return file.getvalue()


def displaced(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(n, 3) m ahead, m left, rad to the left, from places (n, 3) to others, in the frames of the first."""
    away, c, s = after - before, np.cos(before[:, 2]), np.sin(before[:, 2])
    turn = wrapped_angles(away[:, 2])
    return np.column_stack([c * away[:, 0] + s * away[:, 1], c * away[:, 1] - s * away[:, 0], turn])


@dataclass(frozen=True)
class Explored:
    """How far an exploration is: states found, states tried, steps that are known, how many of all stood."""

    states: int
    tried: int
    steps: int
    share: float


class Known:
    """States that grow in number, of which the nearest is asked for each new one."""

    def __init__(self, width: int) -> None:
        self._features, self._feet, self._count = np.zeros((1024, width), np.float32), np.zeros(1024, np.uint8), 0

    def add(self, one: Stances, apart: float) -> bool:
        """Add a state where it is farther than that from all others; whether it was added."""
        there = Stances(self._features[: self._count], self._feet[: self._count], one.angles)
        if nearest(there, one, 1)[1][0, 0] <= apart:
            return False
        if self._count == len(self._feet):
            self._features = np.concatenate([self._features, np.zeros_like(self._features)])
            self._feet = np.concatenate([self._feet, np.zeros_like(self._feet)])
        self._features[self._count], self._feet[self._count] = one.features[0], one.feet[0]
        self._count += 1
        return True

    def keep(self, count: int) -> None:
        """Forget all but the first."""
        self._count = min(self._count, count)

    def all(self, metric: Metric) -> Stances:
        """As they are now; a copy."""
        return Stances(self._features[: self._count].copy(), self._feet[: self._count].copy(), metric.angles)


Scout: TypeAlias = Callable[["Exploration", int], tuple[str, np.ndarray, Stances]]
"""By what is explored so far: the name of a way, states on it (n, nstate), and how they look."""


class Exploration:
    """Algorithm 1 for a task.

    Attributes:
      about: what decides on the results; a store of another is refused.
      most: states that are tried at most.
      trusted: T, as the metric sees them; there once it has begun.
      cycles: by the name of an action, the first and the end of its limit cycle's states.
      states: all that were tried, those of T first.
      steps, ends: D: the steps from them, sorted by state, and where each leads.
      who: steps.

    **Departures**
      Thesis: sequences whose states are trusted are made by hand and looked at; here drawn at random, and good is
      who does not fall. Thesis: the queue runs dry; here it ends at `most` states, and states that were not tried
      any more are no states. Thesis (very robust walk): trusted states after hits by balls; here after blows of
      their momentum on the trunk, in 0.1 s. Thesis: first found, first tried; here, for tasks with balls, so
      until `first` states, and from then on where the policy of all steps so far comes to when balls hit its walker:
      the number of states that can be reached grows faster than any queue ends, and values of those that a policy
      comes to were of others far away.
    """

    def __init__(self, task: Task, seed: int = 0, states: int | None = None) -> None:
        """Of a task, with so many states at most where it is to be other than the task's own number."""
        self.task, self.most = task, task.states if states is None else states
        kind, actions = kind_of(task.actions), msgspec.json.encode(list(task.actions)).decode()
        self.who = Who(json.dumps(dict(character(task.character).recipe)), kind.kind, actions)
        self.about = {
            "work": "exploration", "version": VERSION, "character": self.who.recipe, "actions": actions,
            "trust": task.trust, "novel": task.novel, "pushes": list(task.pushes), "seed": seed,
            "gaits": kind.digest(task.character), "upright": task.upright,
        }  # fmt: skip
        self._seed, self._world = seed, world_of(self.who)
        self.cycles: dict[str, tuple[int, int]] = {}
        self._queue: list[np.ndarray] = []
        self._steps: list[tuple[np.ndarray, ...]] = []
        self._ends: list[Stances] = []

    # ---- trusted states

    def begin(self) -> None:
        """Find the trusted states, in seconds: limit cycles, sequences of actions, and what follows blows."""
        rng = np.random.default_rng(self._seed)
        self._trusted = Known(self._world.metric.width)
        for number, action in enumerate(self.task.actions):
            if action.alone:
                states, stances = self._settled(number)
                first = len(self._queue)
                self._trust(states, stances, -1.0)
                if len(self._queue) > first:
                    self.cycles[str(action)] = first, len(self._queue)
        if not self._queue:
            raise UserError(f"no action of '{self.task.name}' goes on for {SETTLING} steps: there is nothing to trust")
        for states, stances in self._sequences(rng):
            self._trust(states, stances, self.task.trust)
        for size in self.task.pushes:
            self._trust(*self._struck(size, rng), self.task.novel)
        self.trusted = self._trusted.all(self._world.metric)

    def _trust(self, states: np.ndarray, stances: Stances, apart: float) -> None:
        """Trust states (n, nstate) that are farther than that from all that are trusted."""
        for i in range(len(stances)):
            if self._trusted.add(stances.some(slice(i, i + 1)), apart):
                self._queue.append(states[i])

    def _settled(self, action: int) -> tuple[np.ndarray, Stances]:
        """States of an action's limit cycle, none where it falls."""
        sims = self._begun(action, 1)
        passed = self._go(sims, np.full(SETTLING, action))[SETTLING - CYCLE :]
        return self._gathered(passed, sims)

    def _begun(self, action: int, rows: int) -> Sims:
        """Simulations in what an action begins from."""
        sims, stepper = sims_of(self.who, rows), self._world.stepper
        sims.load(stepper.opening(self.task.actions[action].start))
        stepper.walker.start(sims)
        return sims

    def _go(self, sims: Sims, actions: np.ndarray) -> list[tuple[np.ndarray, Stances]]:
        """Take steps one after the other, with one row: the state after each; none at all where it falls."""
        world, passed = self._world, list[tuple[np.ndarray, Stances]]()
        walker = world.stepper.walker
        for action in actions:
            world.stepper.take(sims, np.arange(1), world.table[[action]])
            if not step(walker, sims, LONGEST)[0] or walker.fallen(sims)[0]:
                return []
            passed.append((sims.state.copy(), world.metric.states(sims)))
        return passed

    def _gathered(self, passed: list[tuple[np.ndarray, Stances]], sims: Sims) -> tuple[np.ndarray, Stances]:
        """States and how they look, in two pieces."""
        if not passed:
            return np.zeros((0, sims.state.shape[1])), self._world.metric.states(sims, slice(0, 0))
        return np.concatenate([state for state, _ in passed]), joined([stances for _, stances in passed])

    def _sequences(self, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, Stances]]:
        """States of five sequences of five random actions that stand; fewer, where hardly any does."""
        starts, good = list(self._queue), 0
        sims = sims_of(self.who, 1)
        for _ in range(DRAWS):
            sims.load(starts[rng.integers(len(starts))])
            passed = self._go(sims, rng.integers(len(self.task.actions), size=LENGTH))
            good += bool(passed)
            yield self._gathered(passed, sims)
            if good == SEQUENCES:
                return

    def _struck(self, size: float, rng: np.random.Generator) -> tuple[np.ndarray, Stances]:
        """States at the strike after a blow of so many N s on the trunk of who walks, from any side, at any moment."""
        world, first = self._world, self._settled(0)[0]
        sims, walker = sims_of(self.who, BLOWS), world.stepper.walker
        sims.load(first[rng.integers(len(first), size=BLOWS)])
        world.stepper.take(sims, np.arange(BLOWS), world.table[np.zeros(BLOWS, int)])
        trunk = world.scene.body(world.scene.character.trunk)
        angle, wait = rng.uniform(0, 2 * np.pi, BLOWS), rng.integers(0, WAIT, BLOWS)
        force = size / BLOW * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
        outside, frames = sims.view("xfrc_applied"), round(BLOW / world.scene.dt)
        for frame in range(WAIT + frames):
            outside[:, trunk, :3] = np.where(((frame >= wait) & (frame < wait + frames))[:, None], force, 0.0)
            sims.act(walker.law, walker.drive)
        outside[:] = 0.0
        fine = np.flatnonzero(step(walker, sims, LONGEST) & ~walker.fallen(sims))
        return sims.state[fine], world.metric.states(sims, fine)

    # ---- the queue

    def run(self, store: JobStore, pool: Executor, scout: Scout | None = None) -> Iterator[Explored]:
        """Explore until nothing new is found or there are enough states; how far it is, after every round.

        Begins where that was not done. With a scout, `first` states of the task are tried in the order in which they
        are found; then those that are new of where it comes to, again and again. Refuses a task of which no action
        leads from a trusted state to another, after the first round.
        """
        if not self._queue:
            self.begin()
        self._known, self._done = Known(self._world.metric.width), 0
        for i in range(len(self.trusted)):
            self._known.add(self.trusted.some(slice(i, i + 1)), -1.0)
        first = self.most if scout is None else min(self.most, self.task.first // TOGETHER * TOGETHER)
        results = store.results()
        yield from self._tried(store, pool, results, first)
        while scout is not None and self._done < self.most:
            self._finish()
            del self._queue[self._done :]
            self._known.keep(self._done)
            name, states, stances = scout(self, len(self._queue))
            new = [i for i in range(len(stances)) if self._known.add(stances.some(slice(i, i + 1)), self.task.novel)]
            if not new:
                break
            self._queue += [states[i] for i in new]
            yield from self._tried(store, pool, results, self.most, name)
        self._finish()

    def _tried(
        self, store: JobStore, pool: Executor, results: dict[str, Any], most: int, way: str = ""
    ) -> Iterator[Explored]:  # fmt: skip
        """Try what is queued, until `most` states are tried; on a scout's way, whose name is in the keys of jobs."""
        while self._done < min(len(self._queue), most):
            end = min(len(self._queue), most, self._done + ROUND * TOGETHER)
            jobs = {
                f"{way}{first}": (self.who, np.array(self._queue[first : first + TOGETHER]), self.task.upright)
                for first in range(self._done, end, TOGETHER)
            }
            results.update(complete(store, pool, try_all, jobs))
            for key, first in zip(jobs, range(self._done, end, TOGETHER), strict=True):
                self._taken(results.pop(key), first, not way)
            self._done = end
            if not any((state < end).any() for state, *_ in self._steps):
                raise UserError(f"no action of '{self.task.name}' leads from a trusted state to another")
            made = sum(len(seconds) for *_, seconds in self._steps)
            yield Explored(len(self._queue), end, made, made / (end * len(self.task.actions)))

    def _taken(self, result: bytes, first: int, queued: bool) -> None:
        """Take the steps of the job of four states from the first on: keep those that are trusted, queue the new."""
        arrays = np.load(io.BytesIO(result), allow_pickle=False)
        fine, ends, metric = np.flatnonzero(arrays["fine"]), arrays["ends"], self._world.metric
        stances = Stances(arrays["features"], arrays["feet"], metric.angles)
        trusted = nearest(self.trusted, stances, 1)[1][:, 0] < self.task.trust
        count = len(self.task.actions)
        steps = (first + fine // count, fine % count, arrays["moved"], arrays["seconds"])
        self._steps.append(tuple(one[trusted] for one in steps))
        self._ends.append(stances.some(trusted))
        for i in np.flatnonzero(trusted & queued):
            if self._known.add(stances.some(slice(i, i + 1)), self.task.novel):
                self._queue.append(ends[i])

    def _finish(self) -> None:
        """Keep the states that were tried, and the steps from them."""
        self.states = self._known.all(self._world.metric).some(slice(0, self._done))
        state, action, moved, seconds = (np.concatenate(part) for part in zip(*self._steps, strict=True))
        kept = state < self._done  # the last job may have tried some more
        self.steps = SampledSteps(state[kept], action[kept], moved[kept], seconds[kept])
        self.ends = joined(self._ends).some(kept)

    @property
    def seen(self) -> JudgedStates:
        """What rewards judge."""
        return self._judged(self.states)

    @property
    def seen_first(self) -> JudgedStates:
        """What rewards can judge as soon as it has begun: trusted states alone."""
        return self._judged(self.trusted)

    def _judged(self, states: Stances) -> JudgedStates:
        return JudgedStates(states, {name: states.some(slice(*ends)) for name, ends in self.cycles.items()})
