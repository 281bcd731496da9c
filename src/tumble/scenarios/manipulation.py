"""Skills by script: pick up, push, pull, lift and carry, and the course. coros2010 section 5.5.4.

    trial = Trial(CrateCarry(mass=20.0, push=200.0), seed=3)
    run_trial(trial).success

Each is a scene that the seed strews with things and a script, `Do`, that names them: what a person would write in the
studio. Bodies need palms, which hold things by their handles; the ground has the thesis's friction. All are judged at
the end of a time that is long enough for who does it well, by where things are and by whether the body ever fell.

Traps: the place of things is drawn by the seed of the scene, not by the generator of `setup`, because the scene is
built from it. Torques of impacts are left out of `peak_torque`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import UserError, check_number
from tumble.goals.wants import Do, Want
from tumble.live.commands import Command, Push
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.walking import up, walking_scene
from tumble.world.props import Box, Crate
from tumble.world.scene import Scene

LIGHTEST, HEAVIEST = 5.0, 25.0  # kg, section 5.5.4
NEAR = 0.3  # m from its place at which a crate has been put there
HELD = 0.25  # m between a forearm's middle and the handle that its hand holds


class Manipulation(Scenario):
    """Things lie about as the seed decides, and a script says what to do with them.

    Attributes:
      seconds: simulated, that a trial takes; nobody ends earlier, who is done stands.
    """

    controllers: ClassVar[tuple[str, ...]] = ("walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("biped",)
    strewn: ClassVar[bool] = True
    seconds: ClassVar[float] = 40.0

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("rest"), self.seconds)

    def metrics(self, history: History) -> dict[str, float]:
        """peak_torque: the largest of any joint outside impacts, N m."""
        return {"peak_torque": history.peak_torque()}


def around(rng: np.random.Generator, near: float, far: float) -> tuple[float, float]:
    """A place somewhere around, so many m away."""
    angle, away = rng.uniform(-math.pi, math.pi), rng.uniform(near, far)
    return float(away * math.cos(angle)), float(away * math.sin(angle))


def held(history: History, name: str) -> np.ndarray:
    """(frames,): whether a hand has something, by its handle.

    Told from distances: a hand's bone within 25 cm of where a handle may be. It does not look at grips, so that it
    holds for any controller and in any recording.
    """
    thing, out = (
        history.of(f"{name}.pos"),
        max(math.hypot(*handle) for handle in history.scene.prop(name, Crate).handles),
    )
    hands = [history.of(f"{hand}.pos") for hand in history.scene.character.hands]
    return np.min([np.linalg.norm(hand - thing, axis=1) for hand in hands], axis=0) < HELD + out


def well(history: History) -> bool:
    """Whether it lasted, never fell, and is up."""
    return history.lasted(1.0) and history.falls() == 0 and up(history)


@dataclass(frozen=True)
class PickUpCup(Manipulation):
    """Walk to a cup on a post, or on the floor, anywhere around, and take it.

    The cup is 1.5 to 3.5 m away, at a height from --lowest up to a share of what a stretched arm reaches. Well done:
    through the last second it is in a hand and touches nothing else, and the body stands.
    """

    lowest: float = 0.05
    """Height of the lowest place that may come, m."""
    highest: float = 0.97
    """Of the highest, as a share of shoulder height and arm."""

    name: ClassVar[str] = "pick-up"
    summary: ClassVar[str] = "pick a cup up anywhere around, from the floor to above the head: in the hand, up, at 25 s"
    seconds: ClassVar[float] = 25.0

    def __post_init__(self) -> None:
        check_number("lowest", self.lowest, 0.05, 3.0)
        check_number("highest", self.highest, 0.1, 1.0)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        rng = np.random.default_rng(seed)
        (x, y), height = around(rng, 1.5, 3.5), float(rng.uniform(self.lowest, self.highest * _reach(character)))
        cup = Crate("cup", (x, y, height), half=(0.04, 0.04, 0.05), mass=0.4, handles=((0.0, 0.0, 0.0),))
        top = (height - 0.05) / 2
        post = [Box("post", (x, y, top), (0.02, 0.02, top))] if top > 0.02 else []
        return walking_scene(character, [cup, *post])

    def wants(self) -> Want:
        return Do("pick up cup")

    def success(self, history: History) -> bool:
        last = history.last(1.0)
        aloft = history.of("cup.ground")[last, 0] == 0
        return well(history) and bool(held(history, "cup")[last].all()) and bool(aloft.all())

    def metrics(self, history: History) -> dict[str, float]:
        """Also seconds until the cup was in a hand, the whole trial's if it never was."""
        return super().metrics(history) | {"taken_seconds": history.until(held(history, "cup"))}


def _reach(character: Character) -> float:
    """Height of a palm that is stretched up, m; refuses who has no palms."""
    if not character.palms:
        raise UserError(f"'{character.name}' has no palms to pick things up with; choose a biped")
    scene = walking_scene(character)
    stood, model = scene.show(scene.state()), scene.model
    palm = model.site(character.palms[0])
    forearm = int(model.site_bodyid[palm.id])
    shoulder = stood.xpos[model.body_parentid[forearm], 2]
    return float(shoulder - model.body_pos[forearm, 2] - model.site_pos[palm.id, 2])


class _Haul(Manipulation):
    """A crate of 80 kg with handles, friction 0.2, to be moved along its own axis.

    It stands 2 to 3 m away, turned anyhow. Its weight times its friction is 160 N, what the hands must keep up. The
    ground is isotropic here; see `Ground`.

    Attributes:
      way: 1 ahead, -1 back.
      distance: m that it is to be moved; well done is 0.9 of it, less than 0.5 m aside.
    """

    seconds: ClassVar[float] = 60.0
    way: ClassVar[float]
    distance: float
    mass: float

    def scene(self, character: Character, seed: int = 0) -> Scene:
        rng = np.random.default_rng(seed)
        x, y = around(rng, 2.0, 3.0)
        turn = float(rng.uniform(-math.pi, math.pi))
        handles = ((-0.7, 0.22, 0.5), (-0.7, -0.22, 0.5))
        crate = Crate("crate", (x, y, 0.4), (0.35, 0.4, 0.4), self.mass, 0.2, turn, handles)
        return walking_scene(character, [crate], isotropic=True)

    def moved(self, history: History) -> tuple[float, float]:
        """m that the crate has come along its way, and aside."""
        crate = history.scene.prop("crate", Crate)
        way = np.subtract(history.of("crate.pos")[-1, :2], crate.middle[:2]) if history.frames else np.zeros(2)
        ahead = np.array([math.cos(crate.turn), math.sin(crate.turn)])
        return self.way * float(way @ ahead), abs(float(way @ (-ahead[1], ahead[0])))

    def success(self, history: History) -> bool:
        along, aside = self.moved(history)
        return well(history) and along > 0.9 * self.distance and aside < 0.5

    def metrics(self, history: History) -> dict[str, float]:
        """Also m that the crate came along, and aside."""
        along, aside = self.moved(history)
        return super().metrics(history) | {"along": along, "aside": aside}


@dataclass(frozen=True)
class CratePush(_Haul):
    """Walk to a crate of 80 kg, take its handles, push it ahead."""

    distance: float = 2.0
    """m to push it."""
    mass: float = 80.0
    """kg."""

    name: ClassVar[str] = "crate-push"
    summary: ClassVar[str] = (
        "push a crate of 80 kg (friction 0.2) 2 m ahead (--distance): 1.8 m, 0.5 m aside, up, at 60 s"
    )
    way: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        check_number("distance", self.distance, 0.1, 20.0)
        check_number("mass", self.mass, 1.0, 500.0)

    def wants(self) -> Want:
        return Do(f"push crate {self.distance:g} m")


@dataclass(frozen=True)
class CratePull(_Haul):
    """Walk to a crate of 80 kg, take its handles, pull it back."""

    distance: float = 1.5
    """m to pull it."""
    mass: float = 80.0
    """kg."""

    name: ClassVar[str] = "crate-pull"
    summary: ClassVar[str] = "pull a crate of 80 kg (friction 0.2) 1.5 m (--distance): 1.35 m, 0.5 m aside, up, at 60 s"
    way: ClassVar[float] = -1.0

    def __post_init__(self) -> None:
        check_number("distance", self.distance, 0.1, 20.0)
        check_number("mass", self.mass, 1.0, 500.0)

    def wants(self) -> Want:
        return Do(f"pull crate {self.distance:g} m")


@dataclass(frozen=True)
class CrateCarry(Manipulation):
    """Walk to a crate on the floor, lift it, carry it somewhere else, put it down; maybe be pushed on the way.

    The goal is a mark on the ground, 1.5 to 3 m from the crate. Well done: the crate was above 0.7 m, stands upright
    on the floor within 0.3 m of the mark, and the body never fell.
    """

    mass: float = 0.0
    """kg; 0 for 5 to 25 as it comes."""
    push: float = 0.0
    """Force on the trunk for 0.1 s from any side 2 s after the crate is up, N."""

    name: ClassVar[str] = "crate-carry"
    summary: ClassVar[str] = (
        "lift a crate of 5 to 25 kg (--mass), carry it 1.5 to 3 m, put it down within 0.3 m, up, at 60 s"
    )
    seconds: ClassVar[float] = 60.0

    def __post_init__(self) -> None:
        check_number("mass", self.mass, 0.0, 200.0)
        check_number("push", self.push, 0.0, 1e4)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        rng = np.random.default_rng(seed)
        x, y = around(rng, 1.5, 2.5)
        turn, drawn = float(rng.uniform(-math.pi, math.pi)), float(rng.uniform(LIGHTEST, HEAVIEST))
        dx, dy = around(rng, 1.5, 3.0)
        goal = Box("goal", (x + dx, y + dy, 0.0), (0.25, 0.25, 0.001), ground=True)
        return walking_scene(character, [Crate("crate", (x, y, 0.2), mass=self.mass or drawn, turn=turn), goal])

    def wants(self) -> Want:
        return Do("lift crate; carry it to goal")

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle = float(rng.uniform(-math.pi, math.pi))
        force = (self.push * math.cos(angle), self.push * math.sin(angle), 0.0)

        def respond(history: History) -> Sequence[Command]:
            """Push once, 2 s after the crate has come up."""
            aloft = np.flatnonzero(history.of("crate.pos")[:, 2] > 0.7)
            due = aloft.size and history.frames == aloft[0] + round(2.0 / scene.dt)
            return [Push(scene.character.trunk, force)] if due else []

        return Setup(scene.state("rest"), self.seconds, respond=respond if self.push else None)

    def success(self, history: History) -> bool:
        if not well(history):
            return False
        place = history.of("crate.pos")[-1]
        stands = history.of("crate.up")[-1, 2] > 0.9 and abs(place[2] - 0.2) < 0.03
        lifted = history.of("crate.pos")[:, 2].max() > 0.7
        return bool(stands) and bool(lifted) and self.off_goal(history) < NEAR

    def off_goal(self, history: History) -> float:
        """m from the goal to the crate by now."""
        crate, goal = history.scene.prop("crate", Crate), history.scene.prop("goal", Box)
        place = history.of("crate.pos")[-1] if history.frames else crate.middle
        return math.dist(place[:2], goal.middle[:2])

    def metrics(self, history: History) -> dict[str, float]:
        """Also m from the goal that the crate stands."""
        return super().metrics(history) | {"off_goal": self.off_goal(history)}


@dataclass(frozen=True)
class ObstacleCourse(Manipulation):
    """Walk to a crate, pick it up, climb steps, step over obstacles, stop (figure 5.12).

    Steps of 15 cm lead to a level of 45 cm, on which the obstacles stand; the place is 11 m ahead. Through the last
    second the crate must be in the hands above 0.9 m, and the body within 0.8 m of the place.
    """

    mass: float = 15.0
    """Of the crate, kg."""
    hurdle: float = 0.2
    """Height of the obstacles, m."""

    name: ClassVar[str] = "course"
    summary: ClassVar[str] = (
        "lift 15 kg, climb 3 steps of 15 cm, step over 2 obstacles of 20 cm, stop: there, holding it, at 60 s"
    )
    seconds: ClassVar[float] = 60.0

    def __post_init__(self) -> None:
        check_number("mass", self.mass, 1.0, 50.0)
        check_number("hurdle", self.hurdle, 0.01, 0.5)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        rng = np.random.default_rng(seed)
        crate = Crate("crate", (float(rng.uniform(1.2, 1.8)), float(rng.uniform(-0.4, 0.4)), 0.2), mass=self.mass)
        at = 4.2 + float(rng.uniform(0.0, 0.5))
        boxes = []
        for i in range(3):
            end = at + 0.4 if i < 2 else 14.0
            boxes.append(_slab(f"step_{i}", at, end, 0.15 * (i + 1)))
            at = end
        at = boxes[-1].middle[0] - boxes[-1].half[0]
        for i in range(2):
            at += float(rng.uniform(1.6, 2.2))
            thick = float(rng.uniform(0.05, 0.2))
            boxes.append(_slab(f"obstacle_{i}", at, at + thick, 0.45 + self.hurdle))
        return walking_scene(character, [crate, *boxes])

    def wants(self) -> Want:
        return Do("lift crate; walk at 0.5; go to 11 0")

    def success(self, history: History) -> bool:
        if not well(history):
            return False
        last = history.last(1.0)
        there = np.linalg.norm(history.of("com")[last, :2] - (11.0, 0.0), axis=1).max() < 0.8
        carried = held(history, "crate")[last].all() and history.of("crate.pos")[last, 2].min() > 0.9
        return bool(there and carried)

    def metrics(self, history: History) -> dict[str, float]:
        """Also how far it came, m."""
        return super().metrics(history) | {"way": float(history.of("com")[:, 0].max(initial=0.0))}


def _slab(name: str, start: float, end: float, top: float) -> Box:
    """A part of the ground across the way."""
    return Box(name, ((start + end) / 2, 0.0, top / 2), ((end - start) / 2, 1.5, top / 2), ground=True)
