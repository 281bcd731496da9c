"""Over and under things while walking: obstacles, bars, stairs. coros2010 section 5.5.4, figures 5.11 and 5.12.

    trial = Trial(Duck(lowest=1.2, hurdles=False), seed=3)
    run_trial(trial).metrics["touches"]         # s that more than feet touched anything

The boxes are part of the ground: a walker looks at them, plans its steps over and bends under them, which takes the
part of its code that knows terrain. They lie across a way straight ahead, and the seed draws their measures.

Traps: limits of the options are what the `biped` can do (`HIGHEST`, `STEEPEST`, `LOWEST`, in m); for bodies of other
proportions they are too wide or too narrow. The time allowed grows with the way, at 0.2 m/s.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.walking import walking_scene
from tumble.world.props import Box
from tumble.world.scene import Scene

WIDE = 1.5  # m that things reach to either side of the way
START = 1.5  # m to the first of them
BEYOND = 1.0  # m behind the last, where the way ends
HIGHEST, STEEPEST, LOWEST = 0.47, 0.25, 0.95  # m that the biped steps over, goes up in one step, and goes under
SLOWEST = 0.2  # m/s, mean speed at which the way takes all the time there is


class CrossingCourse(Scenario):
    """Walk straight ahead along boxes that the seed decides on, all the way, and touch nothing but with the feet.

    Well done is the centre of mass a metre beyond the last box at any time, no fall, and in no frame anything but feet
    on the ground or on a box.

    Attributes:
      pace: m/s that are asked for.
    """

    controllers: ClassVar[tuple[str, ...]] = ("walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("biped",)
    strewn: ClassVar[bool] = True
    pace: float

    @abstractmethod
    def boxes(self, rng: np.random.Generator) -> Sequence[Box]:
        """What is on the way."""

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return walking_scene(character, self.boxes(np.random.default_rng(seed)))

    def wants(self) -> Want:
        return Go(speed=self.pace, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("rest"), 4.0 + end_of(scene) / SLOWEST)

    def success(self, history: History) -> bool:
        past = history.of("com")[:, 0] > end_of(history.scene)
        return history.lasted(1.0) and history.falls() == 0 and bool(past.any()) and bool(history.only_feet.all())

    def metrics(self, history: History) -> dict[str, float]:
        """Seconds until the end of the way was reached, the whole trial's if not; s that more than feet touched; the
        largest torque of any joint outside impacts, N m."""
        return {
            "peak_torque": history.peak_torque(),
            "way_seconds": history.until(history.of("com")[:, 0] > end_of(history.scene)),
            "touches": float((~history.only_feet).sum() * history.scene.dt),
        }


def end_of(scene: Scene) -> float:
    """m ahead where the way ends."""
    return BEYOND + max(box.middle[0] + box.half[0] for box in scene.props if isinstance(box, Box))


def across(name: str, first: float, thick: float, bottom: float, top: float, turn: float = 0.0) -> Box:
    """A box across the way, part of the ground.

    Args:
      first, thick: m along the way where it begins, and how far it goes on.
      bottom, top: heights, m.
      turn: rad from square to the way.
    """
    middle = (first + thick / 2, 0.0, (bottom + top) / 2)
    return Box(name, middle, (thick / 2, WIDE, (top - bottom) / 2), turn, ground=True)


def obstacles(rng: np.random.Generator, number: int, highest: float, skew: float) -> list[Box]:
    """Obstacles 5 to 30 cm thick with 1 to 1.8 m between them."""
    made, at = [], START + float(rng.uniform(0.0, 0.5))
    for i in range(number):
        height, thick = float(rng.uniform(min(0.1, highest), highest)), float(rng.uniform(0.05, 0.3))
        made.append(across(f"obstacle_{i}", at, thick, 0.0, height, float(rng.uniform(-skew, skew))))
        at += thick + float(rng.uniform(1.0, 1.8))
    return made


@dataclass(frozen=True)
class StepOver(CrossingCourse):
    """Walk over three obstacles of random heights, thicknesses and distances."""

    highest: float = 0.45
    """Of the highest obstacle that may come, m; the lowest is 0.1."""
    skew: float = 0.0
    """Largest angle between an obstacle and the square of the way, rad."""
    pace: float = 0.7
    """Speed that is asked for, m/s."""

    name: ClassVar[str] = "step-over"
    summary: ClassVar[str] = "walk over 3 obstacles of 0.1 to 0.45 m (--highest M), nothing but feet touches them"

    def __post_init__(self) -> None:
        check_number("highest", self.highest, 0.01, HIGHEST)
        check_number("skew", self.skew, 0.0, 0.7)
        check_number("pace", self.pace, 0.1, 1.5)

    def boxes(self, rng: np.random.Generator) -> Sequence[Box]:
        return obstacles(rng, 3, self.highest, self.skew)


@dataclass(frozen=True)
class Duck(CrossingCourse):
    """Walk under three bars at random heights, with hurdles before, under and behind them.

    Bars are 2.4 to 3 m apart; a hurdle stands up to 0.6 m before or behind each, where one is still bent.
    """

    lowest: float = 1.3
    """Of the lowest bar that may come, m; the highest is 1.65."""
    hurdles: bool = True
    """Whether there are hurdles as well."""
    highest: float = 0.3
    """Of the highest hurdle, m; the lowest is 0.1."""
    pace: float = 0.6
    """Speed that is asked for, m/s."""

    name: ClassVar[str] = "duck"
    summary: ClassVar[str] = "walk under 3 bars of 1.3 (--lowest M) to 1.65 m and over hurdles among them"

    def __post_init__(self) -> None:
        check_number("lowest", self.lowest, LOWEST, 1.65)
        check_number("highest", self.highest, 0.01, HIGHEST)
        check_number("pace", self.pace, 0.1, 1.5)

    def boxes(self, rng: np.random.Generator) -> Sequence[Box]:
        made, at = [], START + float(rng.uniform(0.5, 1.0))
        for i in range(3):
            bottom, off = float(rng.uniform(self.lowest, 1.65)), float(rng.uniform(-0.6, 0.6))
            height, thick = float(rng.uniform(min(0.1, self.highest), self.highest)), float(rng.uniform(0.05, 0.15))
            made.append(across(f"bar_{i}", at, 0.1, bottom, bottom + 0.1))
            if self.hurdles:
                made.append(across(f"hurdle_{i}", at + off, thick, 0.0, height))
            at += 2.4 + float(rng.uniform(0.0, 0.6))
        return made


@dataclass(frozen=True)
class Stairs(CrossingCourse):
    """Walk up stairs, along a landing, and down again. The seed draws where they begin and how long the landing is."""

    rise: float = 0.15
    """Of a step, m."""
    steps: int = 4
    """Up, and as many down."""
    tread: float = 0.3
    """Of a step, m from edge to edge."""
    pace: float = 0.6
    """Speed that is asked for, m/s."""

    name: ClassVar[str] = "stairs"
    summary: ClassVar[str] = "up 4 steps (--steps N) of 15 cm (--rise M), a landing, and down again, on feet only"

    def __post_init__(self) -> None:
        check_number("rise", self.rise, 0.01, STEEPEST)
        check_number("steps", self.steps, 1, 50)
        check_number("tread", self.tread, 0.1, 2.0)
        check_number("pace", self.pace, 0.1, 1.5)

    def boxes(self, rng: np.random.Generator) -> Sequence[Box]:
        at, landing = START + float(rng.uniform(0.0, 0.5)), float(rng.uniform(1.0, 2.0))
        made = []
        for i in range(2 * self.steps - 1):
            thick = landing if i == self.steps - 1 else self.tread
            level = min(i + 1, 2 * self.steps - 1 - i)
            made.append(across(f"step_{i}", at, thick, 0.0, self.rise * level))
            at += thick
        return made
