"""Going somewhere: reaching, walking where steered, over obstacles. hamalainen2015 sections 5.2 and 5.5.

    trial = Trial(Steering(pace=1.25), seed=3, controller="cpbp")
    run_trial(trial).metrics["speed_along"]

These are the planners' scenarios, which find a way of going by themselves; `walking` and `terrain` are the same for
who walks by rules, on ground of another friction. Walkers may be put to them, and the tables say how they do.

Traps: blocks of `Obstacles` lie askew and are props, no ground that a walker looks at: it walks into them. A place in
events is in the world's frame, x ahead of where the character begins.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Go, Reach, Want
from tumble.live.commands import Push
from tumble.scenarios.history import History, hand_near
from tumble.scenarios.scenario import PLANNING, Scenario, Setup
from tumble.world.props import Box
from tumble.world.scene import Scene

PACE = 1.25  # m/s, section 5.5
BRISK = {"cpbp": {"calm.control_weight": 0.3}}  # who goes may move more than who stands


@dataclass(frozen=True)
class ReachPoint(Scenario):
    """Bring a hand, left or right, to a random point around: ahead, beside, behind, low or high.

    The seed draws the point and the hand. A hand is there within 10 cm, and who is there must stand: both are judged
    at 4 s, so that who falls into the target fails.
    """

    near: float = 0.3
    """Nearest horizontal distance of a target, m."""
    far: float = 1.2
    """Farthest: an arm's reach and a step, m."""

    name: ClassVar[str] = "reach"
    summary: ClassVar[str] = "reach a random point around, 0.7 to 1.9 m high: hand within 10 cm and balanced at 4 s"

    def __post_init__(self) -> None:
        check_number("near", self.near, 0, 100)
        check_number("far", self.far, self.near, 100)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle, away, height = rng.uniform(-np.pi, np.pi), rng.uniform(self.near, self.far), rng.uniform(0.7, 1.9)
        target = (away * math.cos(angle), away * math.sin(angle), height)
        hand = str(rng.choice(["left", "right"]))
        return Setup(scene.state("rest"), 4.0, [(0.0, Reach(target, hand))])

    def success(self, history: History) -> bool:
        return history.balanced() and hand_near(history)


@dataclass(frozen=True)
class Steering(Scenario):
    """Go with 1.25 m/s into a direction that changes every 5 s, for 30 s.

    The first direction comes at once. It has done well where the mean speed along what was wanted is 0.9 of 1.25 m/s,
    scaled with --pace, with no fall; turning around costs some of the speed, so 1 of 1 is out of reach.
    """

    pace: float = PACE
    """Speed that is asked for, m/s."""

    name: ClassVar[str] = "steer"
    settings: ClassVar[Mapping[str, Mapping[str, float]]] = BRISK
    summary: ClassVar[str] = "1.25 m/s (--pace), a new direction every 5 s: 0.9 m/s along it and no fall in 30 s"

    def __post_init__(self) -> None:
        check_number("pace", self.pace, 0.1, 5)

    def wants(self) -> Want:
        return Go(speed=self.pace, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angles = rng.uniform(-np.pi, np.pi, 6)
        events = [(5.0 * i, Go(speed=self.pace, heading=float(a))) for i, a in enumerate(angles)]
        return Setup(scene.state("rest"), 30.0, events)

    def success(self, history: History) -> bool:
        return history.lasted(1.0) and history.falls() == 0 and along(history) >= 0.9 / PACE * self.pace

    def metrics(self, history: History) -> dict[str, float]:
        return {"speed_along": along(history)}


def along(history: History) -> float:
    """Mean speed along the velocity, or to the target, that was wanted last, m/s."""
    return float(history.along.mean()) if history.frames else 0.0


@dataclass(frozen=True)
class Obstacles(Scenario):
    """Walk ahead over ground strewn with low blocks.

    Eleven blocks, 45 cm apart, of 0.4 to 1 of --height, each turned by up to 0.6 rad. They are the same for all seeds:
    a seed changes the controller's draws alone. Well done is 6 m ahead within 10 s, which is half of the pace.
    """

    height: float = 0.08
    """Of the highest block, m."""

    name: ClassVar[str] = "obstacles"
    settings: ClassVar[Mapping[str, Mapping[str, float]]] = BRISK
    summary: ClassVar[str] = "walk 6 m over blocks up to 8 cm high (--height M) in 10 s, without a fall"

    def __post_init__(self) -> None:
        check_number("height", self.height, 0.01, 0.3)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        rng = np.random.default_rng(20150)  # the same course for all seeds
        blocks = [
            Box(
                f"block_{i}",
                (0.8 + 0.45 * i, float(rng.uniform(-0.5, 0.5)), (h := float(rng.uniform(0.4, 1.0)) * self.height) / 2),
                (float(rng.uniform(0.06, 0.15)), float(rng.uniform(0.2, 0.5)), h / 2),
                float(rng.uniform(-0.6, 0.6)),
            )
            for i in range(11)
        ]
        return Scene(character, blocks)

    def wants(self) -> Want:
        return Go(speed=PACE, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("rest"), 10.0)

    def success(self, history: History) -> bool:
        return history.lasted(1.0) and history.falls() == 0 and bool(history.of("com")[-1, 0] > 6.0)


@dataclass(frozen=True)
class Turbo(Scenario):
    """Climb over a block that is wider than the way around it is short.

    It is 40 m wide. Well done is all ends of the body beyond it at one time; landing on the feet is not asked for.
    """

    height: float = 0.5
    """Of the block, m."""
    depth: float = 0.5
    """Of the block, m."""

    name: ClassVar[str] = "turbo"
    summary: ClassVar[str] = "climb over a block 0.5 m high (--height M) and be beyond it within 10 s"
    controllers: ClassVar[tuple[str, ...]] = PLANNING
    START: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        check_number("height", self.height, 0.05, 3)
        check_number("depth", self.depth, 0.05, 10)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        middle = (self.START + self.depth / 2, 0.0, self.height / 2)
        return Scene(character, [Box("block", middle, (self.depth / 2, 20.0, self.height / 2))])

    def wants(self) -> Want:
        return Go(speed=PACE, heading=0.0, style="turbo")

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("rest"), 10.0)

    def success(self, history: History) -> bool:
        """All ends of the body beyond the block at one time."""
        ends = np.stack([history.of(f"{part}.pos")[:, 0] for part in history.scene.character.ends])
        return history.lasted(1.0) and bool((ends.min(axis=0) > self.START + self.depth).any())


@dataclass(frozen=True)
class Wall(Scenario):
    """Stand beside a wall, be pushed towards it; a hand may use it.

    The wall's face is 0.65 m to the left. Directions of the push are within 45 degrees of square to it.
    """

    force: float = 400.0
    """Size of the push for 0.1 s, N."""

    name: ClassVar[str] = "wall"
    summary: ClassVar[str] = "pushed towards a wall half a metre beside (--force N), balanced 5 s later"

    def __post_init__(self) -> None:
        check_number("force", self.force, 0, 1e5)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return Scene(character, [Box("wall", (0.0, 0.75, 1.5), (5.0, 0.1, 1.5))])

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle, when = rng.uniform(np.pi / 4, 3 * np.pi / 4), rng.uniform(1.0, 2.0)
        force = (self.force * math.cos(angle), self.force * math.sin(angle), 0.0)
        push = Push(scene.character.trunk, force, seconds=0.1)
        return Setup(scene.state("rest"), when + push.seconds + 5.0, [(when, push)])
