"""With a ball: standing on one, juggling one. hamalainen2015 sections 5.3 and 5.4.

    trial = Trial(OnBall(mass=250.0, rolling=0.5), seed=3)
    run_trial(trial).metrics

The ball is a prop called 'ball', of the radius of section 5.3. Who stands on it wants `StayOn`, who juggles `Juggle`;
both can be wanted with a `Reach` together. Success is told from what touched what and where, by `on_top`, not from what
the planner judges by.

Traps: the ball rolls without slipping at the start (its spin is v / r), so that the first frames have no jolt. A light
ball rolls away under a step: who steps off and back on again in time has done well.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Juggle, Reach, StayOn, Together, Want
from tumble.live.commands import Push
from tumble.scenarios.history import History, hand_near
from tumble.scenarios.scenario import PLANNING, Scenario, Setup
from tumble.world.props import Ball
from tumble.world.scene import Scene

RADIUS = 0.5  # m, section 5.3
DROP = 0.05  # m that the feet fall onto the ball
KEPT = 1.0  # s at the end over which it must be on the ball
REACHING = 1.0  # s, when a target is given
LEANING = math.cos(math.pi / 4)  # of the trunk's angle from the vertical that still balances


@dataclass(frozen=True)
class OnBall(Scenario):
    """Dropped onto a rolling ball of 50 cm radius, stay on it. Setup B of hamalainen2015 section 5.6.

    It begins in a T-pose 5 cm above the ball, which rolls into a direction that the seed draws. Judged over the last
    second before --until.
    """

    mass: float = 250.0
    """Of the ball, kg."""
    rolling: float = 0.5
    """Speed at which the ball rolls at the start, in a random direction, m/s."""
    until: float = 5.0
    """When it is judged, s."""
    force: float = 0.0
    """Of a push on the trunk for 0.1 s at 2 s, in a random direction, N."""

    name: ClassVar[str] = "ball"
    summary: ClassVar[str] = "dropped onto a rolling ball (--mass KG --rolling M/S --force N), on it at 5 s (--until S)"
    controllers: ClassVar[tuple[str, ...]] = PLANNING

    def __post_init__(self) -> None:
        check_number("mass", self.mass, 0.1, 1e4)
        check_number("rolling", self.rolling, 0, 10)
        check_number("until", self.until, KEPT, 3600)
        check_number("force", self.force, 0, 1e5)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return Scene(character, [Ball("ball", RADIUS, self.mass)])

    def wants(self) -> Want:
        return StayOn()

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle = rng.uniform(0, 2 * np.pi)
        x, y = self.rolling * math.cos(angle), self.rolling * math.sin(angle)
        above = scene.state("t-pose", height=2 * RADIUS + DROP)
        state = scene.placed(above, "ball", (0, 0, RADIUS), (x, y, 0), (-y / RADIUS, x / RADIUS, 0))
        if self.force == 0:
            return Setup(state, self.until)
        angle = rng.uniform(0, 2 * np.pi)
        push = Push(scene.character.trunk, (self.force * math.cos(angle), self.force * math.sin(angle), 0.0))
        return Setup(state, self.until, [(2.0, push)])

    def success(self, history: History) -> bool:
        return history.lasted(KEPT) and bool(on_top(history)[history.last(KEPT)].all())


def on_top(history: History) -> np.ndarray:
    """(frames,): whether the ball alone carries it, head up: nothing touches the ground, the trunk is within
    45 degrees of the vertical, the feet are on the upper half of the ball and the centre of mass above it.
    """
    ball, character = history.of("ball.pos"), history.scene.character
    over = history.of("com") - ball
    feet = np.min([history.of(f"{foot}.pos")[:, 2] for foot in character.feet], axis=0)
    return (
        ~(history.of("grounded") > 0).any(axis=1)
        & (np.hypot(over[:, 0], over[:, 1]) < RADIUS)
        & (feet > ball[:, 2])
        & (history.upright > LEANING)
    )


@dataclass(frozen=True)
class OnLightBall(OnBall):
    """The same on a ball of 10 kg, which rolls away under a step: at 5 s, on it still or again."""

    mass: float = 10.0
    """Of the ball, kg."""

    name: ClassVar[str] = "ball-light"
    summary: ClassVar[str] = "dropped onto a rolling ball of 10 kg, on it at 5 s (--until S)"


@dataclass(frozen=True)
class OnBallReach(OnBall):
    """On a resting heavy ball, reach for a point in the air with the left hand.

    The point is given at 1 s, 0.3 to 0.6 m away and 1.9 to 2.5 m above the ground. At the end the hand must be within
    10 cm, and the ball alone carry the body.
    """

    rolling: float = 0.0
    """Speed at which the ball rolls at the start, in a random direction, m/s."""

    name: ClassVar[str] = "ball-reach"
    summary: ClassVar[str] = "on a heavy ball, reach for a point from 1 s on: hand within 10 cm, on the ball, at 5 s"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("until", self.until, REACHING + KEPT, 3600)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        trial = super().setup(scene, rng)
        angle, away, height = rng.uniform(-0.5, 1.2), rng.uniform(0.3, 0.6), rng.uniform(1.9, 2.5)
        target = (away * math.cos(angle), away * math.sin(angle), height)
        goal = Together((StayOn(), Reach(target)))
        return Setup(trial.state, self.until, [(REACHING, goal), *trial.events])

    def success(self, history: History) -> bool:
        return super().success(history) and hand_near(history)


@dataclass(frozen=True)
class JuggleBall(Scenario):
    """Keep a ball off the ground, on the head or any other body part.

    It is dropped from 25 cm above the head, up to 3 cm beside its middle. Falling is allowed where the ball stays up.
    """

    mass: float = 1.0
    """Of the ball, kg."""
    radius: float = 0.15
    """Of the ball, m."""

    name: ClassVar[str] = "juggle"
    summary: ClassVar[str] = "a ball dropped upon the head never touches the ground in 10 s"
    controllers: ClassVar[tuple[str, ...]] = PLANNING

    def __post_init__(self) -> None:
        check_number("mass", self.mass, 0.01, 100)
        check_number("radius", self.radius, 0.05, 0.5)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return Scene(character, [Ball("ball", self.radius, self.mass)])

    def wants(self) -> Want:
        return Juggle()

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        state = scene.state("rest")
        head = scene.show(state).body(scene.character.head).xipos
        x, y = rng.uniform(-0.03, 0.03, 2)
        place = (head[0] + x, head[1] + y, head[2] + 0.25 + self.radius)
        return Setup(scene.placed(state, "ball", place), seconds=10.0)

    def success(self, history: History) -> bool:
        return history.lasted(1.0) and not (history.of("ball.ground") > 0).any()
