"""First controllers: what a tree begins with, fitted from the key poses of a skill (alborno2016 sections 4.1 and 6).

    system = UprightSystem(SKILLS["getup-1"])
    points = fit_first(system, np.random.default_rng(1), progress=lambda fit: ...)
    references(points)                     # the track that brings the target to the goal
    first_points("getup-1")                # one that was fitted before

The paper has key poses as targets of a trajectory optimisation from one state. Such a controller is fragile: a
thousandth of a radian at its beginning, and it falls. Here CMA-ES minimises the mean cost over states that are drawn
from a small domain around the target, other ones in every generation, and the domain grows as more of them succeed.
"""

import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np

from tumble.attraction.connecting import UNSTABLE
from tumble.attraction.references import SPACING, points_of, references
from tumble.attraction.skills import CROUCH, SKILLS, Skill, sides
from tumble.attraction.upright import UprightSystem
from tumble.errors import UserError, check_number, choose
from tumble.files import read_text
from tumble.maths.evolution import optimiser

FAILED = 30.0  # kg rad that a failure adds
LOW = 60.0  # kg rad of an end with the root on the ground, less the higher it is
TILTED = 60.0  # kg rad of a skill that begins upright, times the share of its time in which the root is tilted too far
TILT = math.cos(math.radians(45.0))
NEAR = 12.0  # kg rad from the beginning of another skill that is near enough
FADE = 0.5  # s over which offsets fade into the controller that goes on
UNEVEN = 3.0  # kg rad per rad^2 that offsets of neighbouring knots differ by, mean over joints
SMOOTHING = 0.2  # of the last generation in the running share of successes
TRIALS = 32  # states on which who is kept is chosen
MIDDLE = ("spine_side", "spine_twist", "neck_twist")  # joints that are 0 where both sides do the same
DECIMALS = 4  # of stored points, rad


@dataclass(frozen=True)
class Fitting:
    """How a first controller is fitted; numbers not given; ours.

    Attributes:
      knots: s between the offsets that are optimised, or 0 for one at every key.
      population: candidates a generation.
      samples: states on which each is tried.
      generations: on the skill's own keys; with 0 they are taken as they are.
      whole: generations on them together with the controller that goes on.
      spread: sigma_0 of CMA-ES, rad.
      levels: the domains, alpha or kappa, first and largest.
      begin: whether the first point is moved, too; a body that stands would be jerked by it.
      rise: running share of successes at which the domain grows, by `factor`.
      factor: of a level over the one before.
    """

    knots: float = 0.0
    population: int = 16
    samples: int = 5
    generations: int = 40
    whole: int = 0
    spread: float = 0.05
    levels: tuple[float, float] = (0.25, 2.0)
    begin: bool = True
    rise: float = 0.6
    factor: float = 1.3

    def __post_init__(self) -> None:
        check_number("knots", self.knots, 0.0, 10.0)
        check_number("population", self.population, 4, 10_000)
        check_number("samples", self.samples, 1)
        check_number("generations", self.generations, 0)
        check_number("whole", self.whole, 0)
        check_number("spread", self.spread, 0, above=True)
        check_number("rise", self.rise, 0.0, 1.0)
        check_number("factor", self.factor, 1.0, above=True)


@dataclass(frozen=True)
class Fit:
    """How far a fit is, after a generation.

    Attributes:
      generation: from 1.
      level: of the domain that was sampled.
      success: running share of rollouts of `points` that came to the goal.
      cost: mean of the generation's, kg rad.
      points: (count, joints) in the middle of the candidates, rad.
    """

    generation: int
    level: float
    success: float
    cost: float
    points: np.ndarray


Progress = Callable[[Fit], None]


def keyed(skill: Skill, joints: tuple[str, ...], end: np.ndarray) -> np.ndarray:
    """Points (count, joints) in straight lines from a skill's start through its keys to the angles it ends with."""
    poses = np.array([sides(pose, joints) for pose in (skill.start, *skill.keys)] + [end])
    times = np.arange(points_of(skill.times[-1])) * SPACING
    return np.stack([np.interp(times, (0.0, *skill.times), column) for column in poses.T], axis=1)


def fit_first(
    system: UprightSystem, rng: np.random.Generator, settings: Fitting = Fitting(), progress: Progress | None = None
) -> np.ndarray:
    """Points (count, joints) of a first controller, from the key poses of the system's skill; see `refine`.

    A skill that goes on with another is fitted first to come to where that one begins, and there states come together
    again: to the crouch, which must hold, or else near the other's target. Then both are fitted as a whole.
    """
    skill, names = system.skill, system.names
    if not skill.then:
        end = system.angles(system.goal[None])[0] if skill.end is None else np.array(sides(skill.end.pose, names))
        return refine(system, keyed(skill, names, end), rng, settings, progress)
    after = SKILLS[skill.then]
    points = keyed(skill, names, np.array(sides(after.start, names)))
    if after.start == CROUCH.pose:
        points = refine(UprightSystem(replace(skill, then="", end=CROUCH)), points, rng, settings, progress)
    else:
        points = refine(system, points, rng, settings, progress, UprightSystem(after).target)
    points = np.concatenate([points, first_points(skill.then)])
    return refine(system, points, rng, replace(settings, generations=settings.whole), progress)


def refine(
    system: UprightSystem,
    points: np.ndarray,
    rng: np.random.Generator,
    settings: Fitting = Fitting(),
    progress: Progress | None = None,
    aim: np.ndarray | None = None,
) -> np.ndarray:
    """Points (count, joints) that come to the goal from more states than those it begins with.

    p + W K S: p points (count, joints); K what is optimised, offsets of knots (knots, free); W from knots to points in
    straight lines; S from a joint of one side to both where the skill is symmetric.

    Args:
      points: what it begins with; those after the skill's last key stay as they are.
      aim: a state to come near instead of the goal.
    """
    spans, both = _spans(system.skill, len(points), settings.knots), _both(system)
    spans = spans if settings.begin else spans[:, 1:]
    shape = (spans.shape[1], len(both))

    def offset(flat: np.ndarray) -> np.ndarray:
        """Points of offsets."""
        return np.clip(points + spans @ flat.reshape(shape) @ both, system.low, system.high)

    search = optimiser(np.zeros(shape[0] * shape[1]), settings.spread, settings.population, rng)
    middle, level, success = points, settings.levels[0], 0.0
    for generation in range(1, settings.generations + 1):
        asked = [np.asarray(one) for one in search.ask()]
        states = system.sample(level, settings.samples, rng)
        costs, reached = _costs(system, states, [middle, *(offset(one) for one in asked)], aim)
        costs = costs[1:] + [UNEVEN * np.square(np.diff(one.reshape(shape), axis=0)).sum(0).mean() for one in asked]
        search.tell(asked, costs.tolist())
        success += SMOOTHING * (float(reached[0].mean()) - success)
        if progress is not None:
            progress(Fit(generation, level, success, float(costs.mean()), middle))
        if success > settings.rise:
            level, success = min(level * settings.factor, settings.levels[1]), 0.5 * success
        middle = offset(np.asarray(search.result.xfavorite))
    return _best(system, [points, middle], level, rng, aim)


def _best(
    system: UprightSystem, choices: list[np.ndarray], level: float, rng: np.random.Generator, aim: np.ndarray | None
) -> np.ndarray:
    """The choice with the most successes on fresh states, as it will be stored; the later one where none is ahead."""
    rounded = [np.clip(choice, system.low, system.high).round(DECIMALS) for choice in choices]
    _, reached = _costs(system, system.sample(level, TRIALS, rng), rounded, aim)
    return rounded[len(rounded) - 1 - int(reached.mean(1)[::-1].argmax())]


def _costs(
    system: UprightSystem, states: np.ndarray, choices: list[np.ndarray], aim: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean costs (n,) of n choices of points over some states, and what reached the goal, or the aim (n, states)."""
    tracks = [track for choice in choices for track in [references(choice)] * len(states)]
    rolled = system.roll(np.tile(states, (len(choices), 1)), tracks, len(tracks[0]), hold=aim is None)
    stable = np.isfinite(rolled.misses)
    if aim is None:
        height, reached = np.clip(rolled.ends[:, 2] / system.goal[2], 0.0, 1.0), rolled.reached
        costs = np.where(stable, rolled.misses, UNSTABLE) + LOW * (1.0 - height) + FAILED * ~reached
        if system.skill.lying == "upright":
            up = 1.0 - 2.0 * np.square(rolled.trace[..., 4:6]).sum(-1)
            costs += TILTED * (up < TILT).mean(1)
    else:
        costs = np.where(stable, system.distances(rolled.ends, aim), UNSTABLE)
        reached = costs < NEAR
    return costs.reshape(len(choices), -1).mean(1), reached.reshape(len(choices), -1)


def _spans(skill: Skill, count: int, knots: float) -> np.ndarray:
    """W (count, knots): hats of knots every so many s, or at the keys; the last fades where points go on."""
    length = skill.times[-1]
    places = np.linspace(0.0, length, round(length / knots) + 1) if knots else np.array((0.0, *skill.times))
    hats = np.eye(len(places))
    if (count - 1) * SPACING > length + FADE:
        places, hats = np.append(places, length + FADE), np.append(hats, np.zeros((len(hats), 1)), axis=1)
    times = np.arange(count) * SPACING
    return np.stack([np.interp(times, places, hat) for hat in hats], axis=1)


def _both(system: UprightSystem) -> np.ndarray:
    """S (free, joints)."""
    names, skill, one = system.names, system.skill, np.eye(system.joints)
    moved = [
        name for name in names if not skill.free or name.removeprefix("left_").removeprefix("right_") in skill.free
    ]
    if not skill.symmetric:
        return one[[names.index(name) for name in moved]]
    free = [name for name in moved if not name.startswith("right_") and name not in MIDDLE]
    twins = [name.replace("left_", "right_") for name in free]
    rows = [one[names.index(a)] + (a != b) * one[names.index(b)] for a, b in zip(free, twins, strict=True)]
    return np.array(rows)


@functools.cache
def first_points(name: str) -> np.ndarray:
    """Points (count, joints), rad, of the first controller of a skill that comes with the package; read only.

    Raises:
      UserError: there is no such skill, or none was fitted for it.
    """
    skill = choose("skill", name, SKILLS)
    file = resources.files("tumble.attraction") / "firsts" / f"{skill.first or name}.json"
    if not file.is_file():
        raise UserError(f"no first controller was fitted for the skill '{name}' yet")
    found = json.loads(read_text(Path(str(file)), f"the first controller of '{name}'"))
    joints, points = found["joints"], np.array(found["points"], float)
    if points.ndim != 2 or len(points) < 2 or points.shape[1] != len(joints) or not np.isfinite(points).all():
        raise UserError(f"the first controller of '{name}' is damaged: points of shape {points.shape}")
    points.flags.writeable = False
    return points
