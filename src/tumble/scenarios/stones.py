"""Across gaps, onto stepping stones and along paths over crevasses: constrained walking, coros2010 chapter 3.

    tumble run gaps --spacing 0.5 --width 0.25 --trials 10 --seed 100
    tumble run stones --count 20
    tumble run gaps-push --push 150

Gaps are real: who steps into one is in it. What is judged is measured on the body, ten times a second: a footfall is
good where at least half of the foot, from heel to toe, is above ground as it has landed and a tenth of a second later.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

import numpy as np

from tumble.characters import Character, character
from tumble.errors import UserError, check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Command, Push
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.simbicon.body import MEMORY
from tumble.stepping.base import Base
from tumble.stepping.examples import examples_named
from tumble.stepping.stepper import StepperSettings, base_for, opening_of
from tumble.stepping.terrain import FRICTION, HALF, STUMBLED, Soles, footing_of, gapped, next_stone
from tumble.world.props import Stone
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

FIRST = (0.8, 1.6)  # m from the start to the first gap or stone, "random distances" (section 3.6); not given; ours
SETTLING = 6  # steps that the humanoid takes by its gait before anything is asked of it, as in its examples; ours
WIDTHS, SPACINGS = (0.2, 0.5), (0.25, 1.0)  # m, of Table 3.1, of gaps that the seed draws
PUSHED = 0.1  # s that a push lasts, as in other scenarios
SLOWEST = 0.25  # m/s at which there is still time enough
BEYOND = 0.6  # m behind the last gap at which the feet have left it behind
DISTURBED = 0.1  # m/s and rad/s, standard deviation of all speeds of the start
WITHIN = 0.5  # m from a way-point, section 3.6: the next one is wanted


@dataclass(frozen=True)
class Footfalls:
    """Of a trial, in their order.

    Attributes:
      heels, toes: (n, 3) m, as the foot has landed.
      share: (n,) of the foot above ground, the least of two looks.
      when: (n,) s.
    """

    heels: np.ndarray
    toes: np.ndarray
    share: np.ndarray
    when: np.ndarray

    @property
    def good(self) -> np.ndarray:
        """(n,) whether half of the foot was above ground."""
        return self.share >= HALF - 1e-9


@dataclass(frozen=True)
class SteppingScenario(Scenario):
    """What scenarios of constrained walking share: the start, and how footfalls are seen."""

    controllers: ClassVar[tuple[str, ...]] = ("stones",)
    strewn: ClassVar[bool] = True

    def wants(self) -> Want:
        """To go on."""
        return Go()

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        """The opening of the gait, all speeds disturbed, and pushes where there are some."""
        data = scene.show(opening_of(scene))
        data.qvel[:] += rng.normal(0, DISTURBED, scene.model.nv)
        return Setup(scene.read(data), self.seconds(scene), self.pushes(scene, rng), self.respond)

    def respond(self, history: History) -> Sequence[Command]:
        """What it wants next because of what was done, if anything."""
        return ()

    def pushes(self, scene: Scene, rng: np.random.Generator) -> list[tuple[float, Command]]:
        """None."""
        return []

    def seconds(self, scene: Scene) -> float:
        """That it may take."""
        return 5.0 + self.end(scene) / SLOWEST

    def end(self, scene: Scene) -> float:
        """m of the root along x, from where on it is through."""
        footing = footing_of(scene)
        last = [float(footing.ground[-1, 0])] if len(footing.ground) > 1 else []
        return max([*last, *footing.stones[:, 0]]) + BEYOND

    def sights(self, scene: Scene) -> Mapping[str, Callable[[Sims], np.ndarray]]:
        """'feet': steps done, the stance leg, and heel and toe of the foot that stands."""
        soles = Soles(scene)

        def look(sims: Sims) -> np.ndarray:
            memory = sims.memory(MEMORY)
            found = soles.places(sims.view("xpos")[:1], sims.view("xquat")[:1])[0, int(memory.stance[0])]
            return np.concatenate([[memory.footstrikes[0], memory.stance[0]], found.ravel()])

        return {"feet": look}

    def footfalls(self, history: History) -> Footfalls:
        """All feet that have landed so far; the one that stood at the start is none."""
        seen = history.seen("feet")
        if len(seen) < 2:
            return Footfalls(np.empty((0, 3)), np.empty((0, 3)), np.empty(0), np.empty(0))
        first = 1 + np.flatnonzero(np.diff(seen[:, 0]) > 0)
        then = np.minimum(first + 1, len(seen) - 1)
        then = np.where(seen[then, 0] == seen[first, 0], then, first)  # it may be in the air again
        heels, toes = seen[:, 2:5], seen[:, 5:8]
        shares = footing_of(history.scene).share(heels[:, 0], toes[:, 0])
        return Footfalls(heels[first], toes[first], np.minimum(shares[first], shares[then]), first * history.SIGHT)

    def through(self, history: History) -> bool:
        """Whether the root is where it was to go."""
        return bool(history.frames) and bool(_root(history)[-1, 0] > self.end(history.scene))

    def verdict(self, history: History) -> str:
        if history.falls():
            return f"fell after {len(self.footfalls(history).share)} steps"
        return self.told(history) if self.through(history) else ""

    def told(self, history: History) -> str:
        """How it went, where it is through."""
        feet = self.footfalls(history)
        return f"through with {int(feet.good.sum())} of {len(feet.good)} footfalls on the ground"

    def success(self, history: History) -> bool:
        """Whether it is through, never fell, and all footfalls are good."""
        feet = self.footfalls(history)
        return history.lasted(1.0) and history.falls() == 0 and self.through(history) and bool(feet.good.all())

    def metrics(self, history: History) -> dict[str, float]:
        """Footfalls, good ones, and s until it was through, or all."""
        feet = self.footfalls(history)
        return {
            "footfalls": float(len(feet.good)), "good_footfalls": float(feet.good.sum()),
            "course_seconds": history.frames * history.scene.dt,
        }  # fmt: skip


def _root(history: History) -> np.ndarray:
    """(frames, 3) m."""
    return history.of(f"{history.scene.character.root}.pos")


def crossed(feet: Footfalls, gap: np.ndarray) -> bool | None:
    """Whether a gap (2,) was crossed with good footfalls; None where no foot has landed behind it.

    Those that count touch it, or are the last before and the first behind it.
    """
    low, high = gap
    behind = np.flatnonzero(feet.heels[:, 0] + feet.toes[:, 0] > low + high)
    if not behind.size:
        return None
    last = int(behind[0])
    touching = (feet.toes[: last + 1, 0] > low) & (feet.heels[: last + 1, 0] < high)
    return bool(feet.good[: last + 1][touching].all()) and bool(feet.good[last])


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
        gaps, tops = self.terrain(seed, _settling(base_for(character.name)))
        return Scene(character, *gapped(gaps, tops=tops))

    def notes(self, settings: Any) -> Sequence[str]:
        """Whether the gaps are wider than any step that is known."""
        return _too_far(settings, self.characters[0], self.width or WIDTHS[1], "gaps")

    def metrics(self, history: History) -> dict[str, float]:
        """Gaps crossed with good footfalls, beside what others count."""
        feet = self.footfalls(history)
        done = [crossed(feet, gap) for gap in footing_of(history.scene).gaps]
        return {**super().metrics(history), "gaps_crossed": float(sum(one is True for one in done))}


def _settling(base: Base) -> float:
    """m that a base goes before anything is asked of it."""
    return SETTLING * base.preferred if base.space else 0.0


@cache
def _foot(body: str) -> float:
    """m from heel to toe."""
    return Soles(Scene(character(body))).foot.length


def _too_far(settings: Any, body: str, width: float, what: str) -> list[str]:
    """A sentence where a step over that much is longer than all examples of who steps by examples."""
    if not isinstance(settings, StepperSettings):
        return []
    try:
        examples = examples_named(settings.base or base_for(body).name)
    except UserError as error:
        return [str(error)]
    foot, longest = _foot(body), float(np.max(examples.lengths))
    if width + foot <= longest:
        return []
    return [
        f"{what} of {width:g} m need steps of {width + foot:.2f} m with a foot of {foot:.2f} m; the longest that"
        f" '{examples.header.base}' knows is {longest:.2f} m, which crosses {max(longest - foot, 0.0):.2f} m"
    ]


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
class Stones(SteppingScenario):
    """Step from stone to stone, one footfall each, in steps of lengths that the seed draws: section 3.3, figure 3.7."""

    count: int = 20
    """How many."""
    shortest: float = 0.1
    """m from a stone to the next."""
    longest: float = 0.9
    """m."""

    name: ClassVar[str] = "stones"
    summary: ClassVar[str] = "step onto 20 stones (--count N), 0.1 to 0.9 m apart: half of each foot on its stone"
    characters: ClassVar[tuple[str, ...]] = ("planar",)

    def __post_init__(self) -> None:
        check_number("count", self.count, 1, 500)
        check_number("shortest", self.shortest, 0.0, 3.0)
        check_number("longest", self.longest, self.shortest, 3.0)

    def lengths(self, seed: int, base: Base) -> np.ndarray:
        """(count,) m from one to the next: the first as the gait steps by itself, then uniform."""
        drawn = np.random.default_rng((seed, 3)).uniform(self.shortest, self.longest, self.count)
        drawn[: SETTLING if base.space else 1] = base.preferred
        return drawn

    def scene(self, character: Character, seed: int = 0) -> Scene:
        """Level ground with stones, left and right of the middle in space."""
        plain = Scene(character, (), Ground(FRICTION))
        base, soles = base_for(character.name), Soles(plain)
        data = plain.show(opening_of(plain))
        heel, toe = soles.places(data.xpos[None], data.xquat[None])[0, 0]  # of the left foot, which stands
        aside = abs(float(heel[1])) if base.space else 0.0
        x = 0.5 * (heel[0] + toe[0]) + np.cumsum(self.lengths(seed, base))
        half = (0.5 * soles.foot.length, 0.05)
        stones = [Stone(f"stone-{i}", (float(at), aside * (2 * (i % 2) - 1), 0.0), half=half) for i, at in enumerate(x)]
        return Scene(character, stones, Ground(FRICTION))

    def end(self, scene: Scene) -> float:
        """The last stone."""
        return float(footing_of(scene).stones[-1, 0])

    def notes(self, settings: Any) -> Sequence[str]:
        """Whether stones are farther apart than any step that is known."""
        return _too_far(settings, self.characters[0], self.longest - _foot(self.characters[0]), "stones")

    def errors(self, history: History) -> np.ndarray:
        """(n,) m by which feet were ahead of their stones, middle from middle; see `landed`."""
        return np.array([error for _, error in self.landed(history)])

    def landed(self, history: History) -> list[tuple[int, float]]:
        """Numbers of stones and by how much the middle of a foot was ahead of each, m, in order.

        A foot that stumbled counts for its stone, which then comes again; stones that were passed count by the foot
        that passed them (`next_stone`).
        """
        feet, stones = self.footfalls(history), footing_of(history.scene).stones[:, 0]
        found, number = list[tuple[int, float]](), 0
        for middle in 0.5 * (feet.heels[:, 0] + feet.toes[:, 0]):
            if number >= len(stones):
                break
            then = next_stone(stones - middle, number)
            found += [(i, float(middle - stones[i])) for i in range(number, max(then, number + 1))]
            number = then
        return found

    def through(self, history: History) -> bool:
        """Whether the last stone was stepped on, or passed."""
        landed, last = self.landed(history), len(footing_of(history.scene).stones) - 1
        return bool(landed) and landed[-1][0] == last and landed[-1][1] >= -STUMBLED

    def told(self, history: History) -> str:
        errors = np.abs(self.errors(history))
        count = len(dict(self.landed(history)))
        return f"on {count} stones, off by {errors.mean():.3f} m in the mean and {errors.max():.3f} m at most"

    def success(self, history: History) -> bool:
        """Whether it never fell and half of each foot was on its stone."""
        errors, length = np.abs(self.errors(history)), _foot(history.scene.character.name)
        on = self.through(history) and bool((errors <= (1.0 - HALF) * length).all())
        return history.lasted(1.0) and history.falls() == 0 and on

    def metrics(self, history: History) -> dict[str, float]:
        """Stones stepped on, and mean and largest error, m."""
        errors = np.abs(self.errors(history))
        return {
            "stones": float(len(errors)), "mean_error": float(errors.mean()) if errors.size else 0.0,
            "largest_error": float(errors.max(initial=0.0)),
        }  # fmt: skip


@dataclass(frozen=True)
class StonesInSpace(Stones):
    """The same for the humanoid in space."""

    count: int = 18
    """How many."""
    longest: float = 0.7
    """m."""

    name: ClassVar[str] = "stones-3d"
    summary: ClassVar[str] = "the humanoid steps onto 18 stones (--count N), 0.1 to 0.7 m apart: half of a foot on each"
    characters: ClassVar[tuple[str, ...]] = ("biped34",)


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
        places, since, count = _root(history)[:, :2], 0, 0
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
