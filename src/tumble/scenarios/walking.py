"""Walking by wishes, without planning: coros2010 chapter 5.

    trial = Trial(WalkPush(force=600.0), seed=3)
    run_trial(trial).success

    scene = walking_scene(character("biped"), [Box("step", (2.0, 0.0, 0.05), (0.3, 1.0, 0.05), ground=True)])

The ground of all these has the thesis's friction, 0.8. They suggest walkers, and planners beside them, for
comparison. Headings are rad from x, positive to the left; speeds are along the heading, of the centre of mass.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.characters import Character, biped
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Push
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.world.props import Prop
from tumble.world.scene import Ground, Scene

FRICTION = 0.8  # coros2010 section 5.4
PACE = 0.6  # m/s of those who are pushed
LATER = 5.0  # s after a push, when it is judged


@dataclass(frozen=True)
class SteerWalk(Scenario):
    """Walk with a speed into a direction, both of which change every 5 s, for 30 s.

    A turn is up to 1.5 rad. Well done: no fall, and over the last 3 s before every next wish the mean speed along it
    is within 15 % on average; see `speed_error`.
    """

    fastest: float = 1.2
    """Largest speed that is asked for, m/s; the smallest is 0.3."""

    name: ClassVar[str] = "steer-walk"
    summary: ClassVar[str] = "walk where one is steered: another speed and heading every 5 s, no fall in 30 s"
    controllers: ClassVar[tuple[str, ...]] = ("walker", "relay", "cpbp", "smc", "mcts")
    characters: ClassVar[tuple[str, ...]] = ("biped",)

    def __post_init__(self) -> None:
        check_number("fastest", self.fastest, 0.3, 1.7)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return walking_scene(character)

    def wants(self) -> Want:
        return Go(speed=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        headings = np.cumsum(rng.uniform(-1.5, 1.5, 6))
        speeds = rng.uniform(0.3, self.fastest, 6)
        events = [(5.0 * i, Go(speed=float(speeds[i]), heading=float(headings[i]))) for i in range(6)]
        return Setup(scene.state("rest"), 30.0, events)

    def success(self, history: History) -> bool:
        return history.lasted(1.0) and history.falls() == 0 and speed_error(history) < 0.15

    def metrics(self, history: History) -> dict[str, float]:
        return {"speed_error": speed_error(history)}


def speed_error(history: History) -> float:
    """How far the mean speed along what was asked for is off it, over the last 3 s before every next wish.

    A share of what was asked for, |mean(v . h) - s| / |s|, averaged over the wishes; 1 for a wish that had no time.
    """
    velocity, dt = history.of("com_velocity")[:, :2], history.scene.dt
    walks = [(when, command) for when, command in history.commands if isinstance(command, Go)]
    asked = [(when, walk.speed, walk.heading or 0.0) for when, walk in walks if walk.speed]
    errors = []
    for i, (when, speed, heading) in enumerate(asked):
        end = asked[i + 1][0] if i + 1 < len(asked) else len(velocity) * dt
        part = velocity[round(max(when, end - 3.0) / dt) : round(end / dt)]
        along = part @ (math.cos(heading), math.sin(heading))
        errors.append(abs(along.mean() - speed) / abs(speed) if len(part) else 1.0)
    return float(np.mean(errors)) if errors else 0.0


@dataclass(frozen=True)
class WalkPush(Scenario):
    """Walk at 0.6 m/s, be pushed on the trunk for 0.1 s from any side in any phase, walk on 5 s later.

    The push comes 4.0 to 5.2 s after the beginning, when it walks steadily; the seed draws when, and from where.
    """

    force: float = 600.0
    """Size of the horizontal force, N."""

    name: ClassVar[str] = "walk-push"
    summary: ClassVar[str] = "pushed while walking (--force N, default 600, for 0.1 s): still walking 5 s later"
    controllers: ClassVar[tuple[str, ...]] = ("walker", "relay", "cpbp", "smc", "mcts")
    characters: ClassVar[tuple[str, ...]] = ("biped",)

    def __post_init__(self) -> None:
        check_number("force", self.force, 0.0, 1e5)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return walking_scene(character)

    def wants(self) -> Want:
        return Go(speed=PACE, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle, when = rng.uniform(0, 2 * np.pi), rng.uniform(4.0, 5.2)
        force = (self.force * math.cos(angle), self.force * math.sin(angle), 0.0)
        push = Push(scene.character.trunk, force, seconds=0.1)
        return Setup(scene.state("rest"), when + push.seconds + LATER, [(when, push)])

    def success(self, history: History) -> bool:
        return history.lasted(1.0) and history.falls() == 0 and up(history)


def up(history: History) -> bool:
    """Whether over the last 0.5 s only feet touched the ground and the trunk was within 45 degrees of the vertical."""
    last = history.last(0.5)
    return bool(history.only_feet[last].all()) and bool(history.upright[last].min() > math.cos(math.pi / 4))


@dataclass(frozen=True)
class WalkBodies(Scenario):
    """A random body per trial walks ahead, turns and stops; nothing is tuned for it.

    The seed draws factors of legs, arms and trunk, and left over right. Well done: no fall in 30 s, up at the end, and
    more than 5 m from where it began; who stands still all the time fails.
    """

    name: ClassVar[str] = "walk-bodies"
    summary: ClassVar[str] = "a random body per trial (limbs 0.7 to 1.4, 20 % askew): ahead, turn, stop, 30 s, no fall"
    controllers: ClassVar[tuple[str, ...]] = ("walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("biped",)

    def body(self, character: Character, seed: int) -> Character:
        rng = np.random.default_rng(seed)
        legs, arms, trunk = rng.uniform(0.7, 1.4, 3)
        askew = rng.uniform(0.8, 1.2, 2)
        return biped(
            f"body-{seed}", legs=float(legs), arms=float(arms), trunk=float(trunk),
            left_leg=float(askew[0]) ** 0.5, right_leg=float(askew[0]) ** -0.5,
            left_arm=float(askew[1]) ** 0.5, right_arm=float(askew[1]) ** -0.5,
        )  # fmt: skip

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return walking_scene(character)

    def wants(self) -> Want:
        return Go(speed=0.6, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        turn = float(rng.uniform(0.8, 1.6) * rng.choice([-1, 1]))
        return Setup(scene.state("rest"), 30.0, [(12.0, Go(heading=turn)), (24.0, Go(speed=0.0))])

    def success(self, history: History) -> bool:
        if not history.lasted(1.0) or history.falls() or not up(history):
            return False
        start, *_, end = history.of("com")[:, :2]
        return math.dist(start, end) > 5.0


def walking_scene(character: Character, props: Sequence[Prop] = (), isotropic: bool = False) -> Scene:
    """The world of the thesis, whose ground has its friction; see `Ground` for isotropic."""
    return Scene(character, props, Ground(FRICTION, isotropic))
