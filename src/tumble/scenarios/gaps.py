"""Across gaps and along paths over crevasses: constrained walking, coros2010 sections 3.5 and 3.6.

    tumble run gaps --spacing 0.5 --width 0.25 --trials 10 --seed 100
    tumble run gaps-3d --trials 10 --seed 100
    tumble run gaps-push --push 150

Gaps are real: who steps into one is in it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Command, Push
from tumble.scenarios.footfalls import SteppingScenario, crossed, root_of, settling, too_far
from tumble.scenarios.history import History
from tumble.stepping.stepper import base_for
from tumble.stepping.terrain import footing_of, gapped
from tumble.world.scene import Scene

FIRST = (0.8, 1.6)  # m from the start to the first gap, "random distances" (section 3.6); not given; ours
WIDTHS, SPACINGS = (0.2, 0.5), (0.25, 1.0)  # m, of Table 3.1, of gaps that the seed draws
PUSHED = 0.1  # s that a push lasts, as in other scenarios
WITHIN = 0.5  # m from a way-point, section 3.6: the next one is wanted


@dataclass(frozen=True)
class Gaps(SteppingScenario):
    """Cross gaps of Table 3.1: --width w, --spacing s, in metres; 0 draws each anew."""

    spacing: float = field(default=0.0, metadata={"ends": (0.0, 1.0)})
    """Of ground between gaps, m; 0: 0.25 to 1 m, by the seed."""
    width: float = field(default=0.0, metadata={"ends": (0.0, 0.8)})
    """Of gaps, m; 0: 0.2 to 0.5 m, by the seed."""
    gaps: int = 5
    """How many."""
    bumps: float = field(default=0.0, metadata={"ends": (0.0, 0.06)})
    """m that the ground behind a gap rises at most, by the seed (section 3.6: 0.04)."""

    name: ClassVar[str] = "gaps"
    summary: ClassVar[str] = "cross 5 gaps (--width W --spacing S) in the plane: half of each foot on ground, no fall"
    characters: ClassVar[tuple[str, ...]] = ("planar",)

    def __post_init__(self) -> None:
        check_number("spacing", self.spacing, 0.0, 10.0)
        check_number("width", self.width, 0.0, 3.0)
        check_number("gaps", self.gaps, 1, 100)
        check_number("bumps", self.bumps, 0.0, 0.2)

    def terrain(self, seed: int, before: float = 0.0) -> tuple[list[tuple[float, float]], list[float]]:
        """(from, width) of gaps, and how high the ground behind each is, m; the first is `before` m later."""
        rng = np.random.default_rng((seed, 3))
        at, gaps = before + float(rng.uniform(*FIRST)), []
        for _ in range(self.gaps):
            width, spacing = float(rng.uniform(*WIDTHS)), float(rng.uniform(*SPACINGS))
            gaps.append((at, self.width or width))
            at += gaps[-1][1] + (self.spacing or spacing)
        tops = rng.uniform(0.0, 1.0, self.gaps) * self.bumps
        return gaps, [float(top) for top in tops]

    def scene(self, character: Character, seed: int = 0) -> Scene:
        gaps, tops = self.terrain(seed, settling(base_for(character.name)))
        return Scene(character, *gapped(gaps, tops=tops))

    def notes(self, settings: Any) -> Sequence[str]:
        """Whether the gaps are wider than any step that is known."""
        return too_far(settings, self.characters[0], self.width or WIDTHS[1], "gaps")

    def metrics(self, history: History) -> dict[str, float]:
        """Gaps crossed with good footfalls, beside what others count."""
        feet = self.footfalls(history)
        done = [crossed(feet, gap) for gap in footing_of(history.scene).gaps]
        return {**super().metrics(history), "gaps_crossed": float(sum(one is True for one in done))}


@dataclass(frozen=True)
class GapsInSpace(Gaps):
    """The same for the humanoid in space."""

    name: ClassVar[str] = "gaps-3d"
    summary: ClassVar[str] = "the humanoid crosses 5 gaps (--width W --spacing S): half of each foot on ground, no fall"
    characters: ClassVar[tuple[str, ...]] = ("biped34",)


@dataclass(frozen=True)
class GapsPush(Gaps):
    """The same with pushes on the trunk in mid-stride, which change what is planned (figure 3.8)."""

    push: float = field(default=100.0, metadata={"ends": (0.0, 400.0)})
    """N on the trunk for 0.1 s, along the way or against it, every 2 to 3 s."""
    spacing: float = field(default=0.75, metadata={"ends": (0.0, 1.0)})
    """Of ground between gaps, m; 0: 0.25 to 1 m, by the seed."""
    width: float = field(default=0.3, metadata={"ends": (0.0, 0.8)})
    """Of gaps, m; 0: 0.2 to 0.5 m, by the seed."""

    name: ClassVar[str] = "gaps-push"
    summary: ClassVar[str] = "cross 5 gaps, pushed (--push N) every 2 to 3 s: half of each foot on ground, no fall"
    characters: ClassVar[tuple[str, ...]] = ("planar", "biped34")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("push", self.push, 0.0, 1e4)

    def pushes(self, scene: Scene, rng: np.random.Generator) -> list[tuple[float, Command]]:
        """Along x, either way; in space from any side."""
        when, found = float(rng.uniform(2.0, 3.0)), list[tuple[float, Command]]()
        while when < self.seconds(scene):
            side, angle = float(rng.choice((-1.0, 1.0))), float(rng.uniform(-math.pi, math.pi))
            if scene.character.planar:
                force = (side * self.push, 0.0, 0.0)
            else:
                force = (self.push * math.cos(angle), self.push * math.sin(angle), 0.0)
            found.append((when, Push(scene.character.trunk, force, PUSHED)))
            when += float(rng.uniform(2.0, 3.0))
        return found if self.push else []


@dataclass(frozen=True)
class Path(GapsInSpace):
    """Follow way-points over crevasses: the next one is wanted within 0.5 m of one (figure 3.6).

    Way-points lie 1.5 m apart along x and up to --sway to either side; crevasses run across, as many as there are.
    """

    gaps: int = 8
    """Crevasses."""
    points: int = 8
    """Way-points."""
    sway: float = 0.5
    """m to either side of the middle."""
    spacing: float = field(default=1.0, metadata={"ends": (0.0, 2.0)})
    """Of ground between crevasses, m; 0: 0.25 to 1 m, by the seed."""

    name: ClassVar[str] = "path-3d"
    summary: ClassVar[str] = "the humanoid follows 8 way-points (--points N) over crevasses: all reached, no fall"
    APART: ClassVar[float] = 1.5  # m along x

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("points", self.points, 1, 100)
        check_number("sway", self.sway, 0.0, 5.0)

    def way(self) -> list[Go]:
        """Way-points in their order, to the left and to the right."""
        return [
            Go(target=((i + 1) * self.APART, self.sway * math.sin(0.5 * math.pi * (i + 1)), 0.0))
            for i in range(self.points)
        ]  # fmt: skip

    def wants(self) -> Want:
        return self.way()[0]

    def reached(self, history: History) -> int:
        """How many way-points were come within 0.5 m of, one after the other."""
        places, since, count = root_of(history)[:, :2], 0, 0
        for goal in self.way():
            near = np.linalg.norm(places[since:] - np.array(goal.target or ())[:2], axis=1) < WITHIN
            if not near.any():
                break
            since, count = since + int(near.argmax()), count + 1
        return count

    def respond(self, history: History) -> Sequence[Command]:
        """The next way-point, where the one that is wanted was reached."""
        way, count = self.way(), self.reached(history)
        return [way[count]] if count < len(way) and history.wants[-1][1] != way[count] else ()

    def through(self, history: History) -> bool:
        """Whether all way-points were reached."""
        return self.reached(history) == self.points

    def told(self, history: History) -> str:
        return f"all {self.points} way-points, {super().told(history)}"

    def metrics(self, history: History) -> dict[str, float]:
        """Way-points reached, beside what others count."""
        return {**super().metrics(history), "way_points": float(self.reached(history))}
