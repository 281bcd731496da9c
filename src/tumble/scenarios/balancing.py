"""Staying up and getting up: hamalainen2015 section 5.1, hamalainen2014 section 5.

    trial = Trial(Pushed(force=600.0), seed=3, controller="walker")
    run_trial(trial).success

All of them want `Balance` and are judged by `History.balanced` at the end of their time. A disturbance comes at a time
that the seed draws, 1 to 2 s after the beginning, so that nobody can wait for it; it is judged 5 s after it has ended.
The force is a person's choice, direction and time are the seed's: seeds of one force can be compared over controllers.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.errors import check_number
from tumble.live.commands import Explode, Push
from tumble.scenarios.scenario import PLANNING, Scenario, Setup
from tumble.world.scene import Scene

LATER = 5.0  # s after a disturbance, when it is judged


@dataclass(frozen=True)
class Stand(Scenario):
    """Stand at rest, undisturbed. The baseline: what a controller costs and how calm it is where nothing happens."""

    name: ClassVar[str] = "stand"
    summary: ClassVar[str] = "stand undisturbed for 10 s"

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("rest"), seconds=10.0)


@dataclass(frozen=True)
class Pushed(Scenario):
    """Stand, be pushed on the torso for 0.1 s from a random side at a random time, be up 5 s later.

    400 N for 0.1 s are 40 N s, which change the speed of 70 kg by 0.6 m/s: a shove. The body gets the force at the
    centre of mass of its trunk, in a horizontal direction that is uniform over the circle.
    """

    force: float = 400.0
    """Size of the horizontal force, N."""

    name: ClassVar[str] = "push"
    summary: ClassVar[str] = "a horizontal push on the torso for 0.1 s (--force N, default 400), judged 5 s later"

    def __post_init__(self) -> None:
        check_number("force", self.force, 0.0, 1e5)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle, when = rng.uniform(0, 2 * np.pi), rng.uniform(1.0, 2.0)
        force = (self.force * math.cos(angle), self.force * math.sin(angle), 0.0)
        push = Push(scene.character.trunk, force, seconds=0.1)
        return Setup(scene.state("rest"), when + push.seconds + LATER, [(when, push)])


@dataclass(frozen=True)
class GetUp(Scenario):
    """Lie on the back with the arms out; get up. Nothing is random but the controller: seeds differ by its draws."""

    name: ClassVar[str] = "getup"
    summary: ClassVar[str] = "get up from lying on the back in a T-pose, judged at 5 s"
    controllers: ClassVar[tuple[str, ...]] = (*PLANNING, "relay")

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("t-pose", lying="supine"), seconds=LATER)


@dataclass(frozen=True)
class GetUpProne(Scenario):
    """Lie on the face with the arms out; get up."""

    name: ClassVar[str] = "getup-prone"
    summary: ClassVar[str] = "get up from lying on the face in a T-pose, judged at 5 s"
    controllers: ClassVar[tuple[str, ...]] = (*PLANNING, "relay")

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("t-pose", lying="prone"), seconds=LATER)


@dataclass(frozen=True)
class Explosion(Scenario):
    """Stand; an explosion near the feet throws all body parts away from it; be up 5 s later."""

    speed: float = 4.0
    """Speed that the blast gives a body part at 1 m distance, m/s."""

    name: ClassVar[str] = "explosion"
    summary: ClassVar[str] = "a blast beside the feet (--speed M/S at 1 m, default 4), judged 5 s later"

    def __post_init__(self) -> None:
        check_number("speed", self.speed, 0.0, 1000.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle, when = rng.uniform(0, 2 * np.pi), rng.uniform(1.0, 2.0)
        place = (0.7 * math.cos(angle), 0.7 * math.sin(angle), 0.0)
        blast = Explode(place, self.speed)
        return Setup(scene.state("rest"), when + LATER, [(when, blast)])
