"""Growing: RRTFC and DFC, which make a tree cover more of a domain (alborno2016 Algorithms 1 and 2).

    with TreeFile.create(path, "pendulum", Growth(levels=(0.5, 1.0))) as file, workers(jobs=2) as pool:
        for outcome in file.grow(pool):
            ...                      # an attempt that is on the disk

One attempt draws a state, asks whether it is inside, and if not tries to connect it. Attempts run on any number of
workers, and attempt n always starts from the tree as it was after attempt n - `Growth.lag`, whoever does it: the same
seed gives the same tree with one worker or with eight, in one go or after any number of interruptions. The paper's
algorithms go one by one, lag = 1; with more, attempts that are under way together may cover the same gap twice.
"""

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from tumble.attraction.asking import ask
from tumble.attraction.connecting import Connecting, connect
from tumble.attraction.tree import ROOT, Tree
from tumble.attraction.upright import UprightSystem
from tumble.errors import UserError, check_number


class Method(StrEnum):
    """How a tree grows."""

    RRTFC = "rrtfc"  # towards all of the domain at once: Algorithm 1
    DFC = "dfc"  # through nested domains, each from the one before: Algorithm 2


class Aim(StrEnum):
    """Which node a state is steered to."""

    NEAREST = "nearest"  # by eq. 3: the paper's
    BEST = "best"  # of the nodes that were asked, the one whose branch ended nearest to the goal


@dataclass(frozen=True)
class Growth:
    """How a tree is grown, and how far; kept in its file.

    Attributes:
      levels: the nested domains, alpha or kappa, rising; RRTFC samples the last.
      attempts: K_N, samples of the last level at most; K_i is as much of it as the level is of the last (section 3.2).
      inside: consecutive samples that must be inside before the next level, or the end.
      share: of the last `window` samples that suffices for the next level; 1 asks for `inside` alone.
      aim: which nodes are aimed at.
      neighbours: N of section 4.5; the quickest of so many connections is kept.
      step: by which RRTFC extends the tree, eq. 3; inf connects the sample itself.
      first: levels that are grown by RRTFC before DFC begins, where the first domain is tiny (section 3.2).
      lag: attempts that may be under way at a time.
      after: name of a tree at whose branches' ends this one shall go on, '' for the system's own domain (section 4.6);
        levels are then those of that tree's domain.
      seed: of all that is random.
      connecting: how hard connections are tried.

    Departures: the paper aims at the nearest node by eq. 3, here at the one whose branch came nearest to the goal when
    it was asked (`Aim.BEST`), which needs fewer optimisations. Its V is 50 to 250, here up to 400, because rollouts
    that stray from their branch are left early (`tumble.attraction.rolling.WAYS`), which it does not do. It ends a
    level after K_i samples, here also where `inside` or `share` say that it is covered.
    """

    levels: tuple[float, ...]
    method: Method = Method.DFC
    attempts: int = 100
    inside: int = 10
    share: float = 0.9
    window: int = 20
    aim: Aim = Aim.BEST
    neighbours: int = 1
    step: float = np.inf
    first: int = 0
    lag: int = 8
    after: str = ""
    seed: int = 0
    connecting: Connecting = Connecting()

    def __post_init__(self) -> None:
        rising = all(a < b < np.inf for a, b in zip((0.0, *self.levels), self.levels, strict=False))
        if not self.levels or not rising:
            raise UserError(
                f"levels must rise from above 0, got {', '.join(f'{one:g}' for one in self.levels) or 'none'}"
            )
        if not self.step > 0:
            raise UserError(f"step must be above 0, or inf, got {self.step}")
        check_number("attempts", self.attempts, 1)
        check_number("inside", self.inside, 1)
        check_number("window", self.window, 1)
        check_number("neighbours", self.neighbours, 1)
        check_number("first", self.first, 0, len(self.levels))
        check_number("lag", self.lag, 1)
        check_number("share", self.share, 0.0, 1.0)
        check_number("seed", self.seed, 0, 2**63 - 1)


@dataclass(frozen=True)
class Outcome:
    """What an attempt came to.

    Attributes:
      number: of the attempt, from 0.
      level: of the domain its state was drawn from.
      stage: which of the growth's levels was being covered.
      inside: whether the state was inside already.
      optimised: how many trajectory optimisations it took: 0 where it was inside, else the connections tried.
      edge: what is added to the tree: points, trace, parent, aim; None where nothing is.
      evaluations: rollouts of the optimisation.
    """

    number: int
    level: float
    stage: int
    inside: bool
    optimised: int
    edge: tuple[np.ndarray, np.ndarray, int, int] | None
    evaluations: int


def attempt(tree: Tree, growth: Growth, number: int, stage: int, level: float) -> Outcome:
    """Draw a state of a domain and have it inside, if that can be done: a step of Algorithm 1 or 2."""
    rng = np.random.default_rng([growth.seed, number])
    system, settings = tree.system, growth.connecting
    state = drawn(tree, growth, level, rng)
    answer = ask(tree, state, settings.candidates)
    if answer.node is not None:
        return Outcome(number, level, stage, True, 0, None, 0)
    extending = growth.method is Method.RRTFC or stage < growth.first
    among = np.arange(len(tree)) if extending else within(tree, growth, stage)
    if growth.aim is Aim.BEST:
        order = answer.nodes[np.argsort(answer.misses, kind="stable")]
        order = order[order != ROOT]  # else the skill itself would be left out by whoever stands already
        among = order[np.isin(order, among)][: growth.neighbours] if np.isin(order, among).any() else among
    aims, distances = tree.nearest(state, growth.neighbours, among)
    spent, best = 0, None
    for aim, distance in zip(aims, distances, strict=True):
        start = state
        if extending and distance > growth.step:
            start = system.between(tree.states[aim], state, growth.step / distance)
        found, evaluations = connect(tree, start, int(aim), rng, settings)
        spent += evaluations
        if found is not None:
            frames = len(found.trace) + tree.duration(found.parent)
            if best is None or frames < best[0]:
                best = (frames, found)
    edge = None if best is None else (best[1].points, best[1].trace, best[1].parent, best[1].aim)
    return Outcome(number, level, stage, False, len(aims), edge, spent)


def drawn(tree: Tree, growth: Growth, level: float, rng: np.random.Generator) -> np.ndarray:
    """A state of the domain that a level stands for, or the end of a branch of the tree that this one comes after."""
    if not growth.after:
        return tree.system.sample(level, 1, rng)[0]
    from tumble.attraction.sequencing import ends_of

    if not isinstance(tree.system, UprightSystem):
        raise UserError("only trees of a character come after each other")
    return ends_of(_before(growth.after), level, 1, rng, tree.system)[0]


@functools.lru_cache(maxsize=1)
def _before(name: str) -> Tree:
    """The tree that another comes after, read once in a process."""
    from tumble.attraction.shipped import tree_named

    return tree_named(name)


def within(tree: Tree, growth: Growth, stage: int) -> np.ndarray:
    """Nodes that DFC aims at while it covers a stage: those of smaller domains."""
    before = growth.levels[stage - 1] if stage else 0.0
    return np.flatnonzero(tree.level <= before)


def stage_of(growth: Growth, outcomes: Sequence[Outcome]) -> int | None:
    """Which level is next, given all attempts so far; None where all are done.

    A level is done after K_i = `attempts` level_i / level_N samples, after `inside` in a row that were inside, or where
    `share` of the last `window` were.
    """
    levels = range(len(growth.levels)) if growth.method is Method.DFC else [len(growth.levels) - 1]
    for stage in levels:
        mine = [outcome.inside for outcome in outcomes if outcome.stage == stage]
        late = mine[-growth.window :]
        row = len(mine) >= growth.inside and all(mine[-growth.inside :])
        enough = growth.share < 1 and len(late) == growth.window and np.mean(late) >= growth.share
        if len(mine) < most_of(growth, stage) and not row and not enough:
            return stage
    return None


def most_of(growth: Growth, stage: int) -> float:
    """K_i, samples of a level at most."""
    return growth.attempts * growth.levels[stage] / growth.levels[-1]


def left_at_most(growth: Growth, outcomes: Sequence[Outcome]) -> int:
    """Attempts that are to come if no level ends before its K_i."""
    stage = stage_of(growth, outcomes)
    if stage is None:
        return 0
    made = Counter(outcome.stage for outcome in outcomes)
    return sum(max(0, math.ceil(most_of(growth, i)) - made[i]) for i in range(stage, len(growth.levels)))


def level_of(growth: Growth, outcomes: Sequence[Outcome], stage: int, number: int) -> float:
    """The domain to sample: the stage's, or the one before as often as samples of it are outside (section 4.8)."""
    if stage == 0 or growth.method is Method.RRTFC:
        return growth.levels[stage]
    before = [outcome.inside for outcome in outcomes if outcome.level == growth.levels[stage - 1]][-growth.window :]
    outside = 1.0 - float(np.mean(before)) if before else 0.0
    chance = np.random.default_rng([growth.seed, number, 1]).uniform()
    return growth.levels[stage - 1] if chance < outside else growth.levels[stage]


def job(system: str, plain: Mapping[str, Any], growth: Growth, number: int, stage: int, level: float) -> Outcome:
    """An attempt as a job of plain data: the system by its name, the tree as arrays."""
    from tumble.attraction.systems import system_named

    return attempt(Tree.from_plain(system_named(system), plain), growth, number, stage, level)


def grow(name: str, tree: Tree, growth: Growth, outcomes: list[Outcome], pool: Executor) -> Iterator[Outcome]:
    """Go on growing a tree, attempt by attempt, in their order, until all levels are done.

    The tree has an outcome's nodes when it is yielded. Whoever stops asking drops what is under way.

    Args:
      name: of the system, by which workers make it.
      outcomes: of all attempts so far; those to come are added.
    """
    sizes = [0]  # edges after so many attempts
    for outcome in outcomes:
        sizes.append(sizes[-1] + (outcome.edge is not None))
    offset = len(tree.edges) - sizes[-1]  # edges that no attempt added: first controllers
    waiting: dict[int, Future[Outcome]] = {}
    try:
        while True:
            done = len(outcomes)
            while len(waiting) < growth.lag and (number := done + len(waiting)) not in waiting:
                known = outcomes[: max(0, number - growth.lag + 1)]
                stage = stage_of(growth, known)
                if stage is None and not waiting:  # the last of those under way may have opened a level again
                    known = outcomes[:]
                    stage = stage_of(growth, known)
                if stage is None:
                    break
                plain = tree.plain(offset + sizes[len(known)])
                level = level_of(growth, known, stage, number)
                waiting[number] = pool.submit(job, name, plain, growth, number, stage, level)
            if done not in waiting:
                return
            outcome = waiting.pop(done).result()
            if outcome.edge is not None:
                points, trace, parent, aim = outcome.edge
                tree.add(points, trace, parent, outcome.level, aim, outcome.evaluations)
            sizes.append(sizes[-1] + (outcome.edge is not None))
            outcomes.append(outcome)
            yield outcome
    finally:
        for future in waiting.values():
            future.cancel()
