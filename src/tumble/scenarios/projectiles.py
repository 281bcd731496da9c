"""Going on while heavy spheres are thrown at one: rajamaki2017 section 4.3, figure 5.

    trial = Trial(WalkProjectiles(every=6.0), seed=3, controller="mcts")
    run_trial(trial).metrics          # throws, hits, survived, downs, resets

Throws answer to where the character is going, so they are responses and no events: each is drawn from the trial's seed
and its own number, and is the same whether one came there at once or went on from the past. Who stays down longer than
a hit is judged for is put back on its feet, and goes on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Command, Throw
from tumble.scenarios.gaits import ONE_LEG, PACE, back_up, ups_and_downs
from tumble.scenarios.history import SETTLED, History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.world.props import Ball
from tumble.world.scene import Scene

MASS, RADIUS = 50.0, 0.33  # kg, m: authors' code
AWAY, SPEED, RISE = 5.0, 5.0, 3.5  # m, m/s over the ground, m/s upwards: authors' code
FIRST = 8.0  # s, of the first throw; ours
AFTER = 5.0  # s after a hit, when it is judged; ours


@dataclass(frozen=True)
class WalkProjectiles(Scenario):
    """Go ahead for 60 s while a sphere of 50 kg is thrown at one from a random side every 6 s.

    A hit is the first touch of a throw. It is survived by who stands within 5 s: half a second on the feet, after
    the last time that the body touched the ground, and without having been put there. Who is hit in the last 5 s is
    not judged.
    """

    pace: float = PACE
    """Speed that is asked for, m/s."""
    every: float = 6.0
    """Time between throws, s."""

    name: ClassVar[str] = "walk-projectiles"
    summary: ClassVar[str] = "walk 60 s, 50 kg are thrown at one every 6 s (--every S): up 5 s after half of the hits"
    controllers: ClassVar[tuple[str, ...]] = ("mcts", "cpbp", "walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("humanoid-walker", "biped")

    def __post_init__(self) -> None:
        check_number("pace", self.pace, 0.1, 5)
        check_number("every", self.every, AWAY / SPEED, 60)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        return Scene(character, [Ball("ball", RADIUS, MASS)])

    def wants(self) -> Want:
        return Go(speed=self.pace, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        seed = int(rng.integers(2**63))

        def respond(history: History) -> Sequence[Command]:
            count = math.floor((history.time - FIRST + 1e-9) / self.every)
            late = history.time - FIRST - count * self.every
            throws = [thrown(history, seed, count)] if count >= 0 and late < history.scene.dt - 1e-9 else []
            return [*back_up(history, AFTER), *throws]

        return Setup(scene.state("rest"), 60.0, respond=respond)

    def success(self, history: History) -> bool:
        counted = self.metrics(history)
        return history.lasted(1.0) and counted["hits"] > 0 and counted["survived"] >= 0.5 * counted["hits"]

    def metrics(self, history: History) -> dict[str, float]:
        """Spheres thrown, hits that could be judged and those that were survived."""
        throws = [history.frame(when) for when, command in history.commands if isinstance(command, Throw)]
        judged = hits(history, throws)
        return {
            "throws": float(len(throws)),
            "hits": float(len(judged)),
            "survived": float(sum(survived(history, hit) for hit in judged)),
            **ups_and_downs(history),
        }


@dataclass(frozen=True)
class HopProjectiles(WalkProjectiles):
    """The same on one leg."""

    name: ClassVar[str] = "hop-projectiles"
    summary: ClassVar[str] = "hop 60 s, 50 kg are thrown at one every 6 s: up 5 s after half of the hits"
    controllers: ClassVar[tuple[str, ...]] = ("mcts", "cpbp")
    characters: ClassVar[tuple[str, ...]] = ("monoped",)
    settings: ClassVar[Mapping[str, Mapping[str, float]]] = {"mcts": ONE_LEG}


def thrown(history: History, seed: int, count: int) -> Throw:
    """The count-th throw of a seed, from any side.

    Whoever goes on as now is met in the middle, by a sphere that comes down.
    """
    angle = np.random.default_rng((seed, count)).uniform(0, 2 * np.pi)
    x, y = math.cos(angle), math.sin(angle)
    option, seconds = history.scene.model.opt, AWAY / SPEED
    # MuJoCo's n steps of h fall by g n (n + 1) h^2 / 2
    rise = seconds * (RISE + option.gravity[2] * (seconds + option.timestep) / 2)
    middle, velocity = history.of("com")[-1], history.of("com_velocity")[-1]
    place = (
        float(middle[0] + seconds * velocity[0] - AWAY * x),
        float(middle[1] + seconds * velocity[1] - AWAY * y),
        max(RADIUS, float(middle[2] - rise)),
    )
    return Throw(place, (SPEED * x, SPEED * y, RISE))


def hits(history: History, throws: Sequence[int]) -> list[int]:
    """Frames in which a sphere, thrown in these frames, first touched the character, early enough to be judged.

    A flight ends where the next sphere is thrown, as there is one sphere: at most one hit a throw.
    """
    touched = history.of("ball.contact")[:, 0] > 0
    judged = history.frames - round(AFTER / history.scene.dt)
    flights = [slice(start, end) for start, end in pairwise([*throws, history.frames])]
    first = [flight.start + int(touched[flight].argmax()) for flight in flights if touched[flight].any()]
    return [hit for hit in first if hit < judged]


def survived(history: History, hit: int) -> bool:
    """Whether within 5 s of a hit it stood for half a second, after its last body contact, and not by a `Reset`."""
    end = hit + 1 + round(AFTER / history.scene.dt)
    if any(hit < history.frame(when) < end for when in history.resets()):
        return False
    stood = 0
    for stands, only_feet in zip(history.stands[hit + 1 : end], history.only_feet[hit + 1 : end], strict=True):
        stood = stood + 1 if stands else stood if stood >= round(SETTLED / history.scene.dt) and only_feet else 0
    return stood >= round(SETTLED / history.scene.dt)
