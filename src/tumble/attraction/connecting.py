"""Connecting: trajectory optimisation that steers a state into a tree, by CMA-ES (alborno2016 sections 4.1 and 6.1).

    found, spent = connect(tree, state, aim, rng)
    if found is not None:
        tree.add(found.points, found.trace, found.parent, level, found.aim, found.evaluations)

What is optimised are the points of the spline of references of the first 0.2 s or so. With full branches (section 6.1)
a rollout goes on along the aim's branch to the goal, and its cost is how far from the goal it ends, eq. 2; without,
the cost is the distance to the aim at the spline's end, and whether that end is inside is asked of the whole tree.
"""

from dataclasses import dataclass

import numpy as np

from tumble.attraction.asking import ask
from tumble.attraction.references import EVERY, kinematic, points_of, references
from tumble.attraction.tree import ROOT, Tree
from tumble.errors import check_number
from tumble.maths.evolution import optimiser

UNSTABLE = 1e4  # cost of a rollout that broke, kg rad: more than any other


@dataclass(frozen=True)
class Connecting:
    """How hard a connection is tried."""

    seconds: float = 0.2  # of the new spline, alborno2016 section 4.1
    population: int = 16  # rollouts a generation; paper: 150 (section 7)
    evaluations: int = 480  # rollouts at most; paper: 600 generations
    spread: float = 0.3  # sigma_0 of CMA-ES, rad; not given; ours
    full: bool = True  # whole branches, alborno2016 section 6.1
    candidates: int = 50  # V, alborno2016 section 4.2: 50 to 250

    def __post_init__(self) -> None:
        check_number("seconds", self.seconds, 0.1, 10.0)
        check_number("population", self.population, 4, 10_000)
        check_number("evaluations", self.evaluations, 1)
        check_number("spread", self.spread, 0, above=True)
        check_number("candidates", self.candidates, 1)


@dataclass(frozen=True)
class Found:
    """A way into the tree.

    Attributes:
      points: (count, joints) of its spline, rad, float32.
      trace: (frames, nstate), the start first.
      parent: the node at which it goes on.
      aim: the node that it was to reach.
      evaluations: rollouts that it took.
    """

    points: np.ndarray
    trace: np.ndarray
    parent: int
    aim: int
    evaluations: int


def connect(
    tree: Tree, state: np.ndarray, aim: int, rng: np.random.Generator, settings: Connecting = Connecting()
) -> tuple[Found | None, int]:
    """Steer a state towards a node, and so into the domain of attraction; also how many rollouts that took.

    With full branches it ends as soon as a rollout comes to the goal, and begins from the straight line to what the
    aim's branch refers to first. Without, it ends when the rollouts are spent, and begins from the straight line to the
    aim's own angles; the cheapest rollout counts, and its end may be inside the domain of any node, whose distance is
    eq. 3's among the nodes of all steps.
    """
    system, count = tree.system, points_of(settings.seconds)
    frames, rest = EVERY * (count - 1), tree.track(aim)
    towards = rest[0, : system.joints] if settings.full and aim != ROOT else system.angles(tree.states[[aim]])[0]
    start = kinematic(system.angles(state[None])[0], towards, count)
    search = optimiser(start.ravel(), settings.spread, settings.population, rng)
    spent, best = 0, (np.inf, start, state, state[None])
    while spent < settings.evaluations:
        asked = search.ask()
        if spent == 0:
            asked[0] = start.ravel()
        points = np.clip(np.reshape(asked, (len(asked), *start.shape)), system.low, system.high).astype(np.float32)
        tracks = list(references(points.astype(float)))
        if settings.full:
            tracks = [np.concatenate([track, rest]) for track in tracks]
        states = np.tile(state, (len(tracks), 1))
        rolled = system.roll(states, tracks, frames, first=settings.full, hold=settings.full)
        spent += len(tracks)
        if settings.full and rolled.reached.any():
            row = int(rolled.reached.argmax())
            return Found(points[row], rolled.trace[row, :frames], aim, aim, spent), spent
        costs = rolled.misses
        if not settings.full:
            costs = system.distances(rolled.ends, tree.states[aim]) + system.effort * rolled.efforts
        costs = np.where(np.isfinite(rolled.misses), costs, UNSTABLE)
        row = int(costs.argmin())
        if costs[row] < best[0]:
            best = (float(costs[row]), points[row], rolled.ends[row], rolled.trace[row, :frames])
        search.tell(asked, costs.tolist())
    if settings.full:
        return None, spent
    _, chosen, end, trace = best
    answer = ask(tree, end, settings.candidates, np.arange(len(tree)))
    if answer.node is None:
        return None, spent
    return Found(chosen, trace, answer.node, aim, spent), spent
