"""Onto stepping stones, one footfall each: constrained walking, coros2010 section 3.3 and figure 3.7.

tumble run stones --count 20
tumble run stones-3d --trials 10 --seed 100
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.scenarios.footfalls import SETTLING, SteppingScenario, foot_of, too_far
from tumble.scenarios.history import History
from tumble.stepping.base import Base
from tumble.stepping.stepper import base_for, opening_of
from tumble.stepping.terrain import FRICTION, HALF, STUMBLED, Soles, footing_of, next_stone
from tumble.world.props import Stone
from tumble.world.scene import Ground, Scene


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
        return too_far(settings, self.characters[0], self.longest - foot_of(self.characters[0]), "stones")

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
        errors, length = np.abs(self.errors(history)), foot_of(history.scene.character.name)
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
