"""Gaits that are learned while they are needed: rajamaki2017 section 4.

    trial = Trial(LearnWalk(), seed=3, controller="mcts")
    run_trial(trial).metrics["stable_wall_seconds"]

Who falls is put back on its feet, as in the paper's tests, and goes on with what it learned. Controllers that do not
learn may be put to them: they show what the learning is worth.

Traps: `stable_wall_seconds` is time of this machine, compiling left out only if somebody rehearsed before; settings for
one leg (`ONE_LEG`) are the scenario's, and are where a controller of that name begins in it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Command, Reset, SetParameter
from tumble.scenarios.history import UPRIGHT, History
from tumble.scenarios.locomotion import along
from tumble.scenarios.scenario import Scenario, Setup
from tumble.world.scene import Scene

PACE = 1.0  # m/s, section 4.1
SHARE = 0.8  # of the pace that counts as keeping it; ours
STEADY = 10.0  # s of a stable gait; ours
MINUTE = 60.0  # s of wall time, abstract
LYING = 1.5  # s until it is put back on its feet; authors' code: after 1 s of predicted falls, 2 s in recovery


def back_up(history: History, after: float = LYING) -> list[Command]:
    """A `Reset` for who has been down so long, s; asked between all frames, as `Setup.respond` is."""
    return [Reset()] if history.down > after - 0.5 * history.scene.dt else []


# rajamaki2017 section 4.3: 256 samples, Table 2: 30 degrees. With our defaults half of the runs keep falling.
ONE_LEG: Mapping[str, float] = {"samples": 128, "acceleration_width": 30.0}


@dataclass(frozen=True)
class LearnWalk(Scenario):
    """From standing and from nothing, learn to go ahead; who falls is put back on its feet.

    A gait is stable when for 10 s only feet touched the ground and it kept 80 % of the pace. A trial without one
    counts with its whole length in the means of stable_seconds and stable_wall_seconds, which are lower bounds then.
    """

    pace: float = PACE
    """Speed that is asked for, m/s."""
    until: float = 60.0
    """How long it may learn, s."""

    name: ClassVar[str] = "learn-walk"
    summary: ClassVar[str] = "learn to walk at 1 m/s (--pace) from nothing: 10 s of it without a fall within 60 s"
    controllers: ClassVar[tuple[str, ...]] = ("mcts", "cpbp", "walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("humanoid-walker", "biped")

    def __post_init__(self) -> None:
        check_number("pace", self.pace, 0.1, 5)
        check_number("until", self.until, STEADY, 3600)

    def wants(self) -> Want:
        return Go(speed=self.pace, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("rest"), self.until, respond=back_up)

    def success(self, history: History) -> bool:
        return history.lasted(STEADY) and history.stable(STEADY, SHARE * self.pace) is not None

    def metrics(self, history: History) -> dict[str, float]:
        """When the gait had been stable for 10 s, and whether that took under a minute of wall time."""
        stable = history.stable(STEADY, SHARE * self.pace)
        frame = history.frames - 1 if stable is None else stable
        wall = float(history.wall[frame]) if history.frames else 0.0
        return {
            "stable_seconds": (frame + 1) * history.scene.dt,
            "stable_wall_seconds": wall,
            "under_a_minute": float(stable is not None and wall < MINUTE),
            "speed_along": along(history),
            **ups_and_downs(history),
        }


@dataclass(frozen=True)
class LearnHop(LearnWalk):
    """The same on one leg, with settings of its own (`ONE_LEG`)."""

    name: ClassVar[str] = "learn-hop"
    summary: ClassVar[str] = "learn to hop on one leg at 1 m/s from nothing: 10 s without a fall within 60 s"
    controllers: ClassVar[tuple[str, ...]] = ("mcts", "cpbp")
    characters: ClassVar[tuple[str, ...]] = ("monoped",)
    settings: ClassVar[Mapping[str, Mapping[str, float]]] = {"mcts": ONE_LEG}


@dataclass(frozen=True)
class LearnTrot(LearnWalk):
    """The same on four legs."""

    name: ClassVar[str] = "learn-trot"
    summary: ClassVar[str] = "learn to go on four legs at 1 m/s from nothing: 10 s without a fall within 60 s"
    controllers: ClassVar[tuple[str, ...]] = ("mcts", "cpbp")
    characters: ClassVar[tuple[str, ...]] = ("quadruped",)


def ups_and_downs(history: History) -> dict[str, float]:
    """Falls by body contact, and how often it was put back on its feet."""
    return {"downs": float(history.downs()), "resets": float(len(history.resets()))}


@dataclass(frozen=True)
class Pole(Scenario):
    """Walk to a pole, which moves elsewhere when it is reached: figure 4.

    Poles are drawn from the trial's seed and their number, so that the third is the same whenever it comes; each is
    --near to --far from the one before, in any direction. Falling costs time and nothing else.
    """

    near: float = 3.0
    """Shortest way that the pole moves, m."""
    far: float = 6.0
    """Longest, m."""
    within: float = 0.5
    """Of the centre of mass from the pole that is reached, m."""
    poles: int = 6
    """How many must be reached."""

    name: ClassVar[str] = "pole"
    summary: ClassVar[str] = "walk to a pole that moves 3 to 6 m away when it is reached: 6 of them (--poles) in 60 s"
    controllers: ClassVar[tuple[str, ...]] = ("mcts", "cpbp", "walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("humanoid-walker", "biped")

    def __post_init__(self) -> None:
        check_number("near", self.near, 0.1, 100)
        check_number("far", self.far, self.near, 100)
        check_number("within", self.within, 0.1, 10)
        check_number("poles", self.poles, 1, 1000)

    def wants(self) -> Want:
        return Go(target=(self.near, 0.0, 0.0))

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        seed = int(rng.integers(2**63))

        def respond(history: History) -> Sequence[Command]:
            poles = placed(history)
            moved = [self.moved(poles[-1], seed, len(poles))] if poles and self.reached(history, poles[-1]) else []
            return [*back_up(history), *moved]

        return Setup(scene.state("rest"), 60.0, [(0.0, self.moved((0.0, 0.0, 0.0), seed, 0))], respond)

    def moved(self, pole: Sequence[float], seed: int, count: int) -> Want:
        """The goal of going to the next pole, the count-th of a seed: somewhere around a pole, m."""
        rng = np.random.default_rng((seed, count))
        angle, away = rng.uniform(-np.pi, np.pi), rng.uniform(self.near, self.far)
        return Go(target=(pole[0] + away * math.cos(angle), pole[1] + away * math.sin(angle), 0.0))

    def reached(self, history: History, pole: Sequence[float]) -> bool:
        """Whether it is there now."""
        return bool(history.frames) and math.dist(history.of("com")[-1, :2], pole[:2]) < self.within

    def success(self, history: History) -> bool:
        return history.lasted(1.0) and self.metrics(history)["poles"] >= self.poles

    def metrics(self, history: History) -> dict[str, float]:
        """Poles that were reached."""
        poles = placed(history)
        last = bool(poles) and self.reached(history, poles[-1])
        return {"poles": float(max(0, len(poles) - 1) + last), **ups_and_downs(history)}


def placed(history: History) -> list[tuple[float, float, float]]:
    """Where the poles were and the last one is, m: the targets of all `Go` that have one, also those of people."""
    goes = [command for _, command in history.commands if isinstance(command, Go)]
    return [go.target for go in goes if go.target is not None]


@dataclass(frozen=True)
class TurnGait(Scenario):
    """Walk; every 6 s the direction changes by 45 to 135 degrees to either side, for 30 s.

    Half of the pace along what is wanted is enough, as the speed along a new direction begins at 0 or below.
    """

    pace: float = PACE
    """Speed that is asked for, m/s."""

    name: ClassVar[str] = "turn"
    summary: ClassVar[str] = "walk at 1 m/s (--pace), turn by 45 to 135 degrees every 6 s: half of that along, no fall"
    controllers: ClassVar[tuple[str, ...]] = ("mcts", "cpbp", "walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("humanoid-walker", "biped")

    def __post_init__(self) -> None:
        check_number("pace", self.pace, 0.1, 5)

    def wants(self) -> Want:
        return Go(speed=self.pace, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angles = np.cumsum(rng.uniform(np.pi / 4, 3 * np.pi / 4, 4) * rng.choice([-1, 1], 4))
        events = [(6.0 * (i + 1), Go(speed=self.pace, heading=float(a))) for i, a in enumerate(angles)]
        return Setup(scene.state("rest"), 30.0, events, back_up)

    def success(self, history: History) -> bool:
        return history.lasted(1.0) and history.downs() == 0 and along(history) >= 0.5 * self.pace

    def metrics(self, history: History) -> dict[str, float]:
        return {"speed_along": along(history), **ups_and_downs(history)}


@dataclass(frozen=True)
class Stop(Scenario):
    """Walk for 5 s, then stand still. Who was put back on its feet meanwhile has not stopped by itself, and fails."""

    pace: float = PACE
    """Speed that is asked for at first, m/s."""
    walk: float = 5.0
    """How long, s."""

    name: ClassVar[str] = "stop"
    summary: ClassVar[str] = "walk 5 s (--walk S), stop: in the last of 5 more seconds upright and below 0.2 m/s"
    controllers: ClassVar[tuple[str, ...]] = ("mcts", "cpbp", "walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("humanoid-walker", "biped")
    SLOW: ClassVar[float] = 0.2  # m/s

    def __post_init__(self) -> None:
        check_number("pace", self.pace, 0.1, 5)
        check_number("walk", self.walk, 1, 55)

    def wants(self) -> Want:
        return Go(speed=self.pace, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        stand = Go(speed=0.0, heading=0.0)
        return Setup(scene.state("rest"), self.walk + 5.0, [(self.walk, stand)], back_up)

    def success(self, history: History) -> bool:
        """Whether over the last second only feet touched, the trunk was upright and it was slow; never by a Reset."""
        last = history.last(1.0)
        return (
            history.lasted(self.walk + 1.0)
            and not history.resets()
            and bool(history.only_feet[last].all())
            and bool(history.upright[last].min() >= UPRIGHT)
            and bool(history.speed[last].mean() < self.SLOW)
        )

    def metrics(self, history: History) -> dict[str, float]:
        """Mean speed over the last second, m/s."""
        speed = float(history.speed[history.last(1.0)].mean()) if history.frames else 0.0
        return {"speed_left": speed, **ups_and_downs(history)}


@dataclass(frozen=True)
class PlanarNet(Scenario):
    """Learn in the plane with search, then go on by the network alone: section 5.2.

    Search is switched off by its setting, in the same session: what was learned so far is all there is. Well done: no
    body contact while alone, and 80 % of the pace.
    """

    pace: float = PACE
    """Speed that is asked for, m/s."""
    learn: float = 60.0
    """How long it learns with search, s; 0 for who has learned before."""
    alone: float = 10.0
    """How long it goes on by the network alone, s."""

    name: ClassVar[str] = "planar-net"
    summary: ClassVar[str] = "learn to walk in the plane for 60 s (--learn S), then 10 s by the network alone, no fall"
    controllers: ClassVar[tuple[str, ...]] = ("mcts",)  # who has a network
    characters: ClassVar[tuple[str, ...]] = ("planar-walker",)

    def __post_init__(self) -> None:
        check_number("pace", self.pace, 0.1, 5)
        check_number("learn", self.learn, 0, 3600)
        check_number("alone", self.alone, 1, 3600)

    def wants(self) -> Want:
        return Go(speed=self.pace, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        events = [(self.learn, SetParameter("search", 0.0))]
        return Setup(scene.state("rest"), self.learn + self.alone, events, back_up)

    def success(self, history: History) -> bool:
        alone = self.metrics(history)
        return (
            history.lasted(self.learn + self.alone)
            and alone["net_seconds"] > self.alone - 0.5 * history.scene.dt
            and alone["speed_along"] >= SHARE * self.pace
        )

    def metrics(self, history: History) -> dict[str, float]:
        """Until the first body contact on the network alone, s; the mean speed in all of that time, m/s."""
        part = slice(round(self.learn / history.scene.dt), None)
        only_feet, speeds = history.only_feet[part], history.along[part]
        kept = int((~only_feet).argmax()) if not only_feet.all() else len(only_feet)
        return {
            "net_seconds": kept * history.scene.dt,
            "speed_along": float(speeds.mean()) if speeds.size else 0.0,
            **ups_and_downs(history),
        }
