"""SIMBICON's characters, each in one of its gaits: coros2010 section 2.4.

    tumble run simbicon-humanoid --gait sad --push 100
    tumble run simbicon-bird --gait lope --slope -3 --trials 10

A start is disturbed at random; pushes, slopes and steps come on top where they are asked for, and do not change what
is drawn for the start. Which gaits there are depends on the body (`tumble list`): who asks for another is told when the
trial begins. What each bears is in experiments/coros2010-ch2.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import mujoco
import numpy as np

from tumble.characters import Character
from tumble.errors import UserError, check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Command, Push
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.walking import FRICTION
from tumble.simbicon.simbicon import Simbicon
from tumble.world.props import Box
from tumble.world.scene import Ground, Scene

PUSHED = 0.1  # s that a push lasts, as in 'walk-push'
SLAB = 2.0  # m along x of a slab, and between two; not a multiple of any gait's step
FAR, WIDE = 101.0, 50.0  # m to either side that slabs lie


@dataclass(frozen=True)
class SimbiconHumanoid(Scenario):
    """Walk on from a start whose speeds are disturbed at random, and in spite of a push, a slope or steps."""

    gait: str = "walk"
    """Which of the body's gaits: see 'tumble list'."""
    until: float = 30.0
    """How long, s."""
    disturbed: float = 0.1
    """Standard deviation of the disturbance of all speeds, m/s and rad/s."""
    push: float = field(default=0.0, metadata={"ends": (0.0, 600.0)})
    """Size of a horizontal force on the trunk, N, for 0.1 s from any side, between 4 and 5.2 s."""
    slope: float = field(default=0.0, metadata={"ends": (-10.0, 10.0)})
    """By which the ground rises ahead, degrees; negative falls."""
    step_height: float = field(default=0.0, metadata={"ends": (0.0, 0.1)})
    """Of slabs across the way, 2 m long with 2 m between them: a step up, then one down, m."""

    name: ClassVar[str] = "simbicon-humanoid"
    summary: ClassVar[str] = "the humanoid of SIMBICON walks 30 s (--gait, --push, --slope), without a fall"
    controllers: ClassVar[tuple[str, ...]] = ("simbicon",)
    characters: ClassVar[tuple[str, ...]] = ("biped34",)

    def __post_init__(self) -> None:
        check_number("until", self.until, 1, 3600)
        check_number("disturbed", self.disturbed, 0, 5)
        check_number("push", self.push, 0, 1e5)
        check_number("slope", self.slope, -30, 30)
        check_number("step_height", self.step_height, 0, 1)
        if self.slope and self.step_height:
            raise UserError("slabs lie on level ground: ask for a slope or for a step height")

    def scene(self, character: Character, seed: int = 0) -> Scene:
        """Level or sloping ground, or slabs; the same for every seed."""
        return Scene(character, slabs(self.step_height), Ground(FRICTION, slope=math.radians(self.slope)))

    def wants(self) -> Want:
        """The gait and no heading: gaits that turn do."""
        return Go(style=self.gait)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        """The gait's own start (`Simbicon.opening`), every speed of it disturbed by a normal deviate."""
        data = scene.show(Simbicon(scene).opening(self.gait))
        data.qvel[:] += rng.normal(0, self.disturbed, scene.model.nv)
        return Setup(scene.read(data), self.until, self._pushes(scene, rng))

    def _pushes(self, scene: Scene, rng: np.random.Generator) -> list[tuple[float, Command]]:
        """None, or one; who moves in a plane is pushed along it."""
        angle, when = rng.uniform(0, 2 * np.pi), rng.uniform(4.0, 5.2)
        if scene.model.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE:
            angle = math.pi * round(angle / math.pi)
        force = (self.push * math.cos(angle), self.push * math.sin(angle), 0.0)
        return [(when, Push(scene.character.trunk, force, PUSHED))] if self.push else []

    def success(self, history: History) -> bool:
        """Whether it never went down, and over the last 0.5 s the root was above 0.7 of its standing height."""
        return history.lasted(1.0) and history.falls() == 0 and bool(history.height[history.last(0.5)].min() > 0.7)

    def metrics(self, history: History) -> dict[str, float]:
        """Mean speed over ground in the second half, m/s."""
        half = history.of("com_velocity")[history.frames // 2 :, :2]
        return {"speed": float(np.linalg.norm(half.mean(axis=0))) if len(half) else 0.0}


def slabs(height: float) -> list[Box]:
    """Slabs of that height in m across the x axis, part of the ground, every other 2 m from 1 m on to either side.

    None for a height of 0. They do not depend on the seed: where feet meet their edges the disturbed start decides.
    """
    middles = np.arange(SLAB, FAR if height else 0.0, 2 * SLAB)
    half = (0.5 * SLAB, WIDE, 0.5 * height)
    return [
        Box(f"slab-{word}-{i}", (sign * float(x), 0.0, half[2]), half, ground=True)
        for i, x in enumerate(middles)
        for word, sign in (("ahead", 1), ("behind", -1))
    ]


@dataclass(frozen=True)
class SimbiconPlanar(SimbiconHumanoid):
    """The same for seven links in the plane."""

    name: ClassVar[str] = "simbicon-planar"
    summary: ClassVar[str] = "seven links in the plane walk or run 30 s (--gait), without a fall"
    characters: ClassVar[tuple[str, ...]] = ("planar",)


@dataclass(frozen=True)
class SimbiconBird(SimbiconHumanoid):
    """The same for the big bird."""

    name: ClassVar[str] = "simbicon-bird"
    summary: ClassVar[str] = "the big bird walks or runs 30 s (--gait), without a fall"
    characters: ClassVar[tuple[str, ...]] = ("big-bird",)


@dataclass(frozen=True)
class SimbiconRaptor(SimbiconHumanoid):
    """The same for the raptor."""

    name: ClassVar[str] = "simbicon-raptor"
    summary: ClassVar[str] = "the raptor walks 30 s (--gait), without a fall"
    characters: ClassVar[tuple[str, ...]] = ("raptor",)
