"""Fitting gaits: CMA-ES over the numbers of a gait, until it goes as is wanted (coros2010 makes them by hand).

    aim = GaitAim(speed=0.0, side=0.3)
    with workers(jobs=2) as pool:
        for found in fit(pool, prepared(gait, "side-left", aim), aim, GaitFitting(generations=30)):
            print(found.generation, found.cost)
        best = chosen(pool, found, aim, fitting)

A generation is one batch of rows: every candidate walks from the same few disturbed starts, others in every generation.
What comes out depends neither on the number of workers nor on how often it was ended and gone on with (`store`).

**Departures** coros2010: gaits are made by hand, in about an hour each; here by CMA-ES.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from tumble.characters import character
from tumble.errors import UserError, check_number
from tumble.maths.evolution import optimiser
from tumble.offline.jobs import run
from tumble.offline.store import JobStore, complete
from tumble.simbicon.gait import Gait, Motion, State, check_gait
from tumble.simbicon.measuring import FRICTION, GaitMeasures, start_speeds, walk
from tumble.simbicon.numbers import changed, numbers_of
from tumble.simbicon.simbicon import Simbicon
from tumble.world.scene import Ground, Scene

TOGETHER = 4  # candidates of a job
JUDGED, JUDGED_SECONDS = 6, 15.0  # starts, and s of each, by which the last candidates are compared
ELITE = 3  # candidates that are compared at last beside the start and the mean of the search
replace = msgspec.structs.replace


@dataclass(frozen=True)
class GaitAim:
    """How a gait should go. What is None may be as it comes."""

    speed: float | None = None  # m/s ahead
    side: float = 0.0  # m/s to the left
    turn: float = 0.0  # rad/s to the left
    step_length: float | None = None  # m
    lean: float | None = None  # rad of the root ahead

    def __post_init__(self) -> None:
        bounds = {"speed": 5.0, "side": 3.0, "turn": 3.0, "lean": 1.0}
        for name, most in bounds.items():
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), -most, most)
        if self.step_length is not None:
            check_number("step_length", self.step_length, 0.0, 3.0)


@dataclass(frozen=True)
class GaitFitting:
    """How it is fitted, and what a miss costs: ((found - wanted) / tolerance)^2 each."""

    generations: int = 40
    population: int = 16
    starts: int = 3  # a candidate's, a generation
    seconds: float = 8.0  # of each
    spread: float = 0.6  # sigma_0, in scales of `numbers.WHAT`
    seed: int = 0
    speed: float = 0.05  # m/s; tolerance, as the next five; ours
    turn: float = 0.05  # rad/s
    length: float = 0.03  # m
    lean: float = 0.03  # rad
    untouched: float = 0.3  # share of steps that end in the air
    effort: float = 0.3  # root mean square of controls
    fall: float = 100.0  # the most that misses cost; a fall costs twice that, thrice at once

    def __post_init__(self) -> None:
        check_number("generations", self.generations, 1, 100_000)
        check_number("population", self.population, 4, 1000)
        check_number("starts", self.starts, 1, 100)
        check_number("seconds", self.seconds, 3.0, 600.0)
        check_number("spread", self.spread, 0.0, 5.0, above=True)
        check_number("seed", self.seed, 0)


@dataclass(frozen=True)
class GaitFound:
    """The state of a search after a generation."""

    generation: int  # 0 is that of the start alone
    cost: float  # of the best so far
    mean: float  # of the generation's candidates
    best: Gait  # so far
    candidates: tuple[Gait, ...]  # worth a longer look: the best of some generations, the mean of the search, the start


def prepared(gait: Gait, name: str, aim: GaitAim, sided: bool = False, until: str | None = None) -> Gait:
    """What a fit begins from: the gait under its new name, turning as is wanted, of one state a leg for side steps.

    Args:
      sided: make it so even without side steps.
      until: "strike" or "time" for all states; None as they are.
    """
    states = gait.states
    if (sided or aim.side) and not gait.sided:
        if len(states) != 1:
            raise UserError(
                f"side steps need a gait of one state, or of one a leg (sided = true);"
                f" '{gait.name}' has {len(states)}: start from another"
            )
        states, sided = states * 2, True
    if until is not None:
        states = tuple(replace(state, until=until) for state in states)
    if aim.lean is not None:
        states = tuple(_leaning(state, aim.lean) for state in states)
    return replace(gait, name=name, about="", turn=aim.turn, states=states, sided=sided or gait.sided)


def _leaning(state: State, lean: float) -> State:
    """A state whose root shall lean so much at all times."""
    root = replace(state.joints.get("root", Motion()), bend=((0.0, lean),))
    return replace(state, joints={**state.joints, "root": root})


def fit(
    pool: Executor, start: Gait, aim: GaitAim, fitting: GaitFitting = GaitFitting(), store: JobStore | None = None
) -> Iterator[GaitFound]:
    """Search from a start, one that `prepared` made; a `GaitFound` after the start and after every generation.

    Whoever has enough stops asking. With a store what was simulated is kept, and the same call goes on from there.
    """
    numbers = numbers_of(start, planar=character(start.character).planar)
    search = optimiser(np.zeros(len(numbers)), fitting.spread, fitting.population, _generator(fitting.seed, 0))
    cost = float(_costs(pool, [start], aim, fitting, 0, store)[0])
    found = GaitFound(0, cost, cost, start, (start,))
    kept = [(cost, start)]
    yield found
    for generation in range(1, fitting.generations + 1):
        asked = search.ask()
        gaits = [changed(start, numbers, x) for x in asked]
        costs = _costs(pool, gaits, aim, fitting, generation, store)
        search.tell(asked, costs.tolist())
        kept = sorted([*kept, (float(costs.min()), gaits[int(costs.argmin())])], key=lambda one: one[0])[:ELITE]
        centre = changed(start, numbers, search.result.xfavorite)
        others = tuple(gait for _, gait in kept)
        found = GaitFound(generation, kept[0][0], float(costs.mean()), kept[0][1], (*others, centre, start))
        yield found


def chosen(
    pool: Executor, found: GaitFound, aim: GaitAim, fitting: GaitFitting, store: JobStore | None = None
) -> tuple[float, Gait]:
    """The cheapest candidate of a search from more starts that are new, and over a longer time; its cost first."""
    longer = GaitFitting(**{**asdict(fitting), "starts": JUDGED, "seconds": max(JUDGED_SECONDS, fitting.seconds)})
    gaits = [gait for i, gait in enumerate(found.candidates) if gait not in found.candidates[:i]]
    costs = _costs(pool, gaits, aim, longer, -found.generation - 1, store)
    return float(costs.min()), gaits[int(costs.argmin())]


def cost_of(found: GaitMeasures, aim: GaitAim, fitting: GaitFitting) -> np.ndarray:
    """(n,) of what was measured: squared misses over tolerances, falls, steps without touching, effort."""

    def miss(values: np.ndarray, wanted: float, tolerance: float) -> np.ndarray:
        return ((values - wanted) / tolerance) ** 2

    cost = miss(found.side, aim.side, fitting.speed) + miss(found.turn, aim.turn, fitting.turn)
    cost += miss(found.untouched, 0.0, fitting.untouched) + found.effort / fitting.effort**2
    if aim.speed is not None:
        cost += miss(found.ahead, aim.speed, fitting.speed)
    if aim.step_length is not None:
        cost += miss(np.hypot(found.ahead, found.side) * found.step, aim.step_length, fitting.length)
    if aim.lean is not None:
        cost += miss(found.lean, aim.lean, fitting.lean)
    cost = fitting.fall * cost / (fitting.fall + cost)  # less than a fall costs: nobody falls rather than miss
    return np.where(found.stood, cost, fitting.fall * (3.0 - np.minimum(found.seconds / fitting.seconds, 1.0)))


def _costs(
    pool: Executor, gaits: list[Gait], aim: GaitAim, fitting: GaitFitting, generation: int, store: JobStore | None
) -> np.ndarray:
    """(gaits,) mean costs over a generation's starts, simulated in jobs of a few gaits each."""
    parts = [gaits[i : i + TOGETHER] for i in range(0, len(gaits), TOGETHER)]
    texts = [msgspec.json.encode(part).decode() for part in parts]
    jobs = {f"{generation}/{i}": (text, asdict(aim), asdict(fitting), generation) for i, text in enumerate(texts)}
    if store is None:
        return np.concatenate(run(pool, judged, list(jobs.values())))
    for _ in complete(store, pool, judged, jobs):
        pass
    results = store.results()
    return np.concatenate([results[key] for key in jobs])


def judged(gaits: str, aim: dict[str, Any], fitting: dict[str, Any], generation: int) -> list[float]:
    """Mean costs of some gaits, JSON of a list; a job for a worker. The starts are those of seed and generation."""
    read = msgspec.json.decode(gaits, type=list[Gait])
    settings = GaitFitting(**fitting)
    scene = _scene(read[0].character)
    walker = Simbicon(scene, [replace(gait, name=f"{i}") for i, gait in enumerate(read)])
    starts = start_speeds(scene, settings.starts, _generator(settings.seed, 1, abs(generation), int(generation < 0)))
    rows = np.repeat(np.arange(len(read)), settings.starts)
    found = walk(walker, rows, np.tile(starts, (len(read), 1)), settings.seconds)
    return cost_of(found, GaitAim(**aim), settings).reshape(len(read), -1).mean(axis=1).tolist()


def measured_gait(gait: Gait, starts: int = 10, steps: int = 100, seed: int = 0) -> GaitMeasures:
    """So many steps of a gait from disturbed starts; a job for a worker, or a call of one's own."""
    scene = _scene(gait.character)
    walker = Simbicon(scene, [check_gait(gait, scene.character)])
    return walk(walker, 0, start_speeds(scene, starts, _generator(seed, 2)), steps=steps)


def _generator(*seeds: int) -> np.random.Generator:
    return np.random.default_rng(seeds)


@lru_cache(maxsize=4)
def _scene(body: str) -> Scene:
    return Scene(character(body), ground=Ground(FRICTION))
