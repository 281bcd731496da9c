"""Spheres to dodge and blows to take: hamalainen2014 section 5.

    trial = Trial(Dodge(throws=3, speed=5.0), seed=7, controller="smc")
    run_trial(trial).metrics          # throws 3, balanced after so many, hit by so many

The sphere weighs three times what the body does: who is hit falls, and is judged by whether it is balanced again in
time. Planners see the sphere coming, as it is in the state that they simulate. Metrics tell apart who dodged (no hit)
from who got up (a hit, and balanced): the paper's rate counts both.

Departures: the density of a sphere is not given; water's is ours, which makes a radius of some 0.37 m for 70 kg.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Balance, Want
from tumble.live.commands import Push, Throw
from tumble.scenarios.balancing import LATER
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.world.props import Ball
from tumble.world.scene import Scene

HEAVIER = 3.0  # a sphere's mass over the character's, section 5.2
DENSITY = 1000.0  # kg/m^3 of a sphere: water's; not given; ours
BLOW = 0.1  # s that a blow takes


@dataclass(frozen=True)
class Dodge(Scenario):
    """Stand ready; a sphere three times as heavy is thrown at the trunk from a random side; be balanced 5 s later.

    Who dodges it is, and who gets up again in time. A throw is aimed at where the root is when it is thrown, from
    --distance, and comes at a height between hip and chest that the seed draws.
    """

    throws: int = 1
    """How many, one after the other: each when the one before has been judged."""
    speed: float = 5.0
    """Of a sphere over the ground, m/s."""
    distance: float = 5.0
    """From which it is thrown, m."""
    after: float = 5.0
    """When it is judged, s after a throw."""

    name: ClassVar[str] = "dodge"
    summary: ClassVar[str] = "a sphere of 3 x the own mass from any side (--throws N --speed M/S), judged 5 s later"
    controllers: ClassVar[tuple[str, ...]] = ("smc", "cpbp")
    characters: ClassVar[tuple[str, ...]] = ("humanoid-light",)
    pose: ClassVar[str] = "ready"
    roll: ClassVar[bool] = False  # whether turning onto the face is a goal too

    def __post_init__(self) -> None:
        check_number("throws", self.throws, 1, 10000)
        check_number("speed", self.speed, 1, 50)
        check_number("distance", self.distance, 2, 50)
        check_number("after", self.after, self.distance / self.speed, 60)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        model = character.build().compile()
        mass = HEAVIER * float(model.body(character.root).subtreemass[0])
        radius = (3 * mass / (4 * math.pi * DENSITY)) ** (1 / 3)
        return Scene(character, [Ball("ball", radius, mass)])

    def wants(self) -> Want:
        return Balance(pose=self.pose, roll=self.roll)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        state = scene.state(self.pose)
        when, events = rng.uniform(0.5, 1.0), []
        for _ in range(self.throws):
            when = scene.dt * round(when / scene.dt)  # where a frame begins: none is judged late
            events.append((when, self._throw(scene, state, rng)))
            when += self.after
        return Setup(state, when, events)

    def _throw(self, scene: Scene, state: np.ndarray, rng: np.random.Generator) -> Throw:
        """From a random side and height between hip and chest; it is at that height again when it is at the root."""
        data, angle = scene.show(state), rng.uniform(0, 2 * np.pi)
        chest = data.body(scene.character.trunk).xipos[2] - data.body(scene.character.root).xpos[2]
        x, y = math.cos(angle), math.sin(angle)
        option = scene.model.opt
        # MuJoCo's n steps of h fall by g n (n + 1) h^2 / 2
        rise = -option.gravity[2] * (self.distance / self.speed + option.timestep) / 2
        return Throw(
            (-self.distance * x, -self.distance * y, rng.uniform(0, chest)),
            (self.speed * x, self.speed * y, float(rise)),
            aimed=True,
        )

    def success(self, history: History) -> bool:
        return self.metrics(history)["balanced"] == self.throws

    def metrics(self, history: History) -> dict[str, float]:
        """Spheres thrown, after how many of them it was balanced, and how many touched it.

        A sphere counts from its throw until it is judged, `after` s later; where throws follow each other, that is when
        the next one comes.
        """
        times = [when for when, command in history.commands if isinstance(command, Throw)]
        touched = history.of("ball.contact")[:, 0] > 0
        flights = [
            slice(round(when / history.scene.dt), round((when + self.after) / history.scene.dt)) for when in times
        ]
        return {
            "throws": float(len(times)),
            "balanced": float(sum(history.balanced(when + self.after) for when in times)),
            "hits": float(sum(touched[flight].any() for flight in flights)),
        }


@dataclass(frozen=True)
class DodgeHeavy(Dodge):
    """The same with a high centre of mass, more time to get up, and rolling off the back: HV2 of figure 12.

    Turning onto the face is a way of the goal here, which planners of whole plans choose among; see `Balance.roll`.
    """

    after: float = 8.0
    """When it is judged, s after a throw."""

    name: ClassVar[str] = "dodge-heavy"
    summary: ClassVar[str] = "dodge with a heavy torso, judged 8 s later; use --horizon 3.5"
    characters: ClassVar[tuple[str, ...]] = ("humanoid-heavy",)
    roll: ClassVar[bool] = True


@dataclass(frozen=True)
class Impulse(Scenario):
    """Stand ready; be hit on a random bone for 0.1 s, sideways or upwards, at a random time; be balanced 5 s later.

    Directions are uniform on the upper half of a sphere, bones as likely as each other whatever their size. 60 N s
    change the speed of 70 kg by 0.9 m/s.
    """

    impulse: float = 60.0
    """Of the blow, N s: force times 0.1 s."""

    name: ClassVar[str] = "impulse"
    summary: ClassVar[str] = "a blow at a random bone from a random side (--impulse N*s, default 60), judged 5 s later"
    controllers: ClassVar[tuple[str, ...]] = ("smc", "cpbp")
    characters: ClassVar[tuple[str, ...]] = ("humanoid-light",)
    pose: ClassVar[str] = "ready"

    def __post_init__(self) -> None:
        check_number("impulse", self.impulse, 0, 1e4)

    def wants(self) -> Want:
        return Balance(pose=self.pose)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle, up, when = rng.uniform(0, 2 * np.pi), rng.uniform(0, 1), rng.uniform(1.0, 2.0)
        bone = scene.bones[rng.integers(len(scene.bones))]
        level, force = math.sqrt(1 - up**2), self.impulse / BLOW  # uniform on the upper half of a sphere
        blow = Push(bone, (force * level * math.cos(angle), force * level * math.sin(angle), force * up), BLOW)
        return Setup(scene.state(self.pose), when + BLOW + LATER, [(when, blow)])
