"""SIMBICON's characters, each in its walk: coros2010 section 2.4."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.walking import walking_scene
from tumble.simbicon.simbicon import Simbicon
from tumble.world.scene import Scene

GAIT = "walk"


@dataclass(frozen=True)
class SimbiconHumanoid(Scenario):
    """Walk on from a start whose speeds are disturbed at random."""

    until: float = 30.0
    """How long, s."""
    disturbed: float = 0.1
    """Standard deviation of the disturbance of all speeds, m/s and rad/s."""

    name: ClassVar[str] = "simbicon-humanoid"
    summary: ClassVar[str] = "the humanoid of SIMBICON walks 30 s from a disturbed start, without a fall (--disturbed)"
    controllers: ClassVar[tuple[str, ...]] = ("simbicon",)
    characters: ClassVar[tuple[str, ...]] = ("biped34",)

    def __post_init__(self) -> None:
        check_number("until", self.until, 1, 3600)
        check_number("disturbed", self.disturbed, 0, 5)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return walking_scene(character)

    def wants(self) -> Want:
        return Go(style=GAIT)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        data = scene.show(Simbicon(scene).opening(GAIT))
        data.qvel[:] += rng.normal(0, self.disturbed, scene.model.nv)
        return Setup(scene.read(data), self.until)

    def success(self, history: History) -> bool:
        return history.lasted(1.0) and history.falls() == 0 and bool(history.height[history.last(0.5)].min() > 0.7)


@dataclass(frozen=True)
class SimbiconPlanar(SimbiconHumanoid):
    """The same for seven links in the plane."""

    name: ClassVar[str] = "simbicon-planar"
    summary: ClassVar[str] = "seven links in the plane walk 30 s from a disturbed start, without a fall"
    characters: ClassVar[tuple[str, ...]] = ("planar",)


@dataclass(frozen=True)
class SimbiconBird(SimbiconHumanoid):
    """The same for the big bird."""

    name: ClassVar[str] = "simbicon-bird"
    summary: ClassVar[str] = "the big bird walks 30 s from a disturbed start, without a fall"
    characters: ClassVar[tuple[str, ...]] = ("big-bird",)


@dataclass(frozen=True)
class SimbiconRaptor(SimbiconHumanoid):
    """The same for the raptor."""

    name: ClassVar[str] = "simbicon-raptor"
    summary: ClassVar[str] = "the raptor walks 30 s from a disturbed start, without a fall"
    characters: ClassVar[tuple[str, ...]] = ("raptor",)
