"""From stone to stone anywhere in space, with nothing between them: beyond coros2010 section 3.7.

    tumble run stepping-stones --lateral 0.15 --height 0.1 --tilt 5 --trials 10 --seed 100

Stones are blocks in the order in which they are to be stepped on, one footfall each, in two rows as feet go. What is
judged is measured on the body: of every footfall more than half of the sole is above its own stone, within 5 cm of its
top, as the foot has landed and a tenth of a second later.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tumble.characters import Character, character
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.scenarios.gaps import GapsInSpace
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.stepping.terrain import DEPTH, FRICTION, HALF, Soles
from tumble.walking.memory import MEMORY
from tumble.world.props import Box, Stone
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

FIRST = (0.2, 0.3, 0.37, 0.37)  # m of the steps on the ground before the stones
LAST = 3  # steps on the ground behind them
WIDTH = 0.2  # m between the rows; the biped's feet in a stand are as far apart
FEET = 0.03  # m ahead of the origin that the middles of its feet are in a stand
NEAR = 0.05  # m that a sole may be above or below its stone
SLACK = 5.0  # s more than the steps take
SLOWEST = 1.0  # s a step, at which there is still time enough
POINTS = (9, 5)  # of a sole, along and across, that are looked at


@dataclass(frozen=True)
class SteppingStones(Scenario):
    """Step onto stones at random places in space; --lateral, --height and --tilt say how random."""

    count: int = 20
    """How many, besides those painted on the ground before and behind."""
    spacing: float = field(default=0.37, metadata={"ends": (0.2, 0.6)})
    """m from a stone to the next, ahead."""
    spread: float = field(default=0.0, metadata={"ends": (0.0, 0.2)})
    """m that this is more or less at most, by the seed."""
    lateral: float = field(default=0.0, metadata={"ends": (0.0, 0.2)})
    """m that each step is wider or narrower than 0.2 m at most, by the seed."""
    height: float = field(default=0.0, metadata={"ends": (0.0, 0.2)})
    """m that tops are above the ground at most, by the seed."""
    tilt: float = field(default=0.0, metadata={"ends": (0.0, 10.0)})
    """Degrees by which tops are tilted at most, about both axes, by the seed."""
    long: float = 0.3
    """m of a stone, ahead."""
    wide: float = 0.2
    """m of a stone, aside."""

    name: ClassVar[str] = "stepping-stones"
    summary: ClassVar[str] = "a biped on 20 stones anywhere (--lateral M --height M --tilt DEG): half of each sole on"
    controllers: ClassVar[tuple[str, ...]] = ("placer",)
    characters: ClassVar[tuple[str, ...]] = ("biped",)
    strewn: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number("count", self.count, 1, 200)
        check_number("spacing", self.spacing, 0.1, 1.0)
        check_number("spread", self.spread, 0.0, 0.5)
        check_number("lateral", self.lateral, 0.0, 0.3)
        check_number("height", self.height, 0.0, 0.5)
        check_number("tilt", self.tilt, 0.0, 20.0)
        check_number("long", self.long, 0.05, 1.0)
        check_number("wide", self.wide, 0.05, 1.0)

    def wants(self) -> Want:
        """To go on."""
        return Go()

    def stones(self, seed: int) -> list[Stone]:
        """All of them in order; the first and the last are painted on the ground."""
        rng, found = np.random.default_rng((seed, 3)), list[Stone]()
        x, y = FEET, 0.5 * WIDTH
        for j in range(len(FIRST) + self.count + LAST):
            own = len(FIRST) <= j < len(FIRST) + self.count
            u, v, w, pitch, roll = rng.uniform(-1.0, 1.0, 5) * own
            x += FIRST[j] if j < len(FIRST) else self.spacing + u * self.spread
            y += (WIDTH + v * self.lateral) * (1.0 if j % 2 else -1.0)  # the first foot is the right one
            top = 0.5 * (1.0 + w) * self.height if own else 0.0
            tilt = (float(np.radians(pitch * self.tilt)), float(np.radians(roll * self.tilt)))
            found.append(
                Stone(
                    f"stone-{j}", (float(x), float(y), float(top)), 0.0, (0.5 * self.long, 0.5 * self.wide), tilt,
                    DEPTH + top if own else 0.0,
                )
            )  # fmt: skip
        return found

    def scene(self, character: Character, seed: int = 0) -> Scene:
        """Ground, stones with nothing between them, and ground."""
        stones = self.stones(seed)
        before, behind = stones[len(FIRST) - 1], stones[len(FIRST) + self.count]
        first, last = before.place[0] + 0.5 * self.long, behind.place[0] - 0.5 * self.long
        boxes = [_ground("start", first - 3.0, first), _ground("end", last, last + 5.0)]
        return Scene(character, [*boxes, *stones], Ground(FRICTION, depth=DEPTH))

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        """Stand at rest before the first stone."""
        return Setup(scene.state("rest"), SLACK + SLOWEST * len(_stones(scene)))

    def sights(self, scene: Scene) -> Mapping[str, Callable[[Sims], np.ndarray]]:
        """'feet': steps begun, and how much of the sole that stands is on the stone of the step before, 0 to 1."""
        soles, stones = Soles(scene), _stones(scene)

        def look(sims: Sims) -> np.ndarray:
            memory = sims.memory(MEMORY)
            stone, side = int(memory.footstrikes[0]) - 2, int(memory.stance[0])
            if not 0 <= stone < len(stones):
                return np.array([memory.footstrikes[0], -1.0])
            heel, toe = soles.places(sims.view("xpos")[:1], sims.view("xquat")[:1])[0, side]
            return np.array([memory.footstrikes[0], share_of(stones[stone], heel, toe, soles.foot.width)])

        return {"feet": look}

    def footfalls(self, history: History) -> np.ndarray:
        """(n,) shares of soles on their stones, the least of two looks, of all feet that have landed on the blocks."""
        seen = history.seen("feet")
        if len(seen) < 2:
            return np.empty(0)
        first = 1 + np.flatnonzero(np.diff(seen[:, 0]) > 0)
        then = np.minimum(first + 1, len(seen) - 1)
        then = np.where(seen[then, 0] == seen[first, 0], then, first)  # it may be in the air again
        own = (seen[first, 0] >= len(FIRST) + 2) & (seen[first, 0] < len(FIRST) + self.count + 2)
        found: np.ndarray = np.minimum(seen[first, 1], seen[then, 1])[own]
        return found

    def through(self, history: History) -> bool:
        """Whether a foot has landed on the ground behind the stones, and stepped on from there."""
        seen = history.seen("feet")
        return bool(len(seen)) and bool(seen[-1, 0] >= len(FIRST) + self.count + LAST)

    def verdict(self, history: History) -> str:
        shares = self.footfalls(history)
        if history.falls():
            return f"fell after {len(shares)} stones"
        return f"through with {int((shares > HALF).sum())} of {self.count} stones hit" if self.through(history) else ""

    def success(self, history: History) -> bool:
        """Whether it is through, never fell, and more than half of every sole was on its stone."""
        shares = self.footfalls(history)
        on = len(shares) == self.count and bool((shares > HALF).all())
        return history.lasted(1.0) and history.falls() == 0 and self.through(history) and on

    def metrics(self, history: History) -> dict[str, float]:
        """Footfalls, good ones, and the mean share of soles on their stones."""
        shares = self.footfalls(history)
        return {
            "footfalls": float(len(shares)), "good_footfalls": float((shares > HALF).sum()),
            "mean_share": float(shares.mean()) if len(shares) else 0.0,
        }  # fmt: skip


def share_of(stone: Stone, heel: np.ndarray, toe: np.ndarray, width: float) -> float:
    """How much of a sole from heel (3,) to toe (3,) m, of a width, is above a stone and within 5 cm of its top."""
    along = toe - heel
    left = np.array([-along[1], along[0], 0.0]) * width / max(float(np.hypot(along[0], along[1])), 1e-6)
    s, t = np.meshgrid(np.linspace(0, 1, POINTS[0]), np.linspace(-0.5, 0.5, POINTS[1]), indexing="ij")
    points = heel + s[..., None] * along + t[..., None] * left - stone.place
    inside = points @ stone.rotation
    on = (np.abs(inside[..., :2]) <= stone.half).all(axis=-1) & (np.abs(inside[..., 2]) < NEAR)
    return float(on.mean())


def _humanoid() -> Character:
    """Whom `GapsInSpace` is for."""
    return character(GapsInSpace.characters[0])


def _stones(scene: Scene) -> Sequence[Stone]:
    """Those of a scene, in order."""
    return [prop for prop in scene.props if isinstance(prop, Stone)]


def _ground(name: str, first: float, last: float) -> Box:
    """Ground from first to last, m along x."""
    return Box(name, (0.5 * (first + last), 0.0, -0.5 * DEPTH), (0.5 * (last - first), 4.0, 0.5 * DEPTH), ground=True)


@dataclass(frozen=True)
class GapsWalked(GapsInSpace):
    """The same terrain for the generalized walker, from a stand."""

    name: ClassVar[str] = "gaps-walker"
    summary: ClassVar[str] = "the biped crosses 5 gaps (--width W --spacing S): half of each foot on ground, no fall"
    characters: ClassVar[tuple[str, ...]] = ("biped",)
    controllers: ClassVar[tuple[str, ...]] = ("placer",)
    steps: ClassVar[str] = MEMORY

    def scene(self, character: Character, seed: int = 0) -> Scene:
        """The terrain that the humanoid of `GapsInSpace` gets by that seed."""
        own = GapsInSpace.scene(self, _humanoid(), seed)
        return Scene(character, own.props, own.ground)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        """Stand at rest."""
        return Setup(scene.state("rest"), self.seconds(scene))
