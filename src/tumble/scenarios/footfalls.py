"""What scenarios of constrained walking share (coros2010 chapter 3): their start, and which footfalls are good.

    class Mine(SteppingScenario): ...
    scenario.footfalls(history).good                 # (n,) of every foot that landed
    crossed(scenario.footfalls(history), gap)        # whether a gap (2,) was, None where nobody was behind it

What is judged is measured on the body, ten times a second: a footfall is good where at least half of the foot, from
heel to toe, is above ground as it has landed and a tenth of a second later.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Go, Want
from tumble.live.commands import Command
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.simbicon.body import MEMORY
from tumble.stepping.base import Base
from tumble.stepping.examples import examples_named
from tumble.stepping.stepper import StepperSettings, base_for, opening_of
from tumble.stepping.terrain import HALF, Soles, footing_of
from tumble.world.scene import Scene
from tumble.world.sims import Sims

SETTLING = 6  # steps that the humanoid takes by its gait before anything is asked of it, as in its examples; ours
SLOWEST = 0.25  # m/s at which there is still time enough
BEYOND = 0.6  # m behind the last gap at which the feet have left it behind
DISTURBED = 0.1  # m/s and rad/s, standard deviation of all speeds of the start


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
    steps: ClassVar[str] = MEMORY  # the memory of whoever steps, which has `footstrikes` and `stance`

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
            memory = sims.memory(self.steps)
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
        return bool(history.frames) and bool(root_of(history)[-1, 0] > self.end(history.scene))

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


def root_of(history: History) -> np.ndarray:
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


def settling(base: Base) -> float:
    """m that a base goes before anything is asked of it."""
    return SETTLING * base.preferred if base.space else 0.0


@cache
def foot_of(body: str) -> float:
    """m from heel to toe."""
    return Soles(Scene(character(body))).foot.length


def too_far(settings: Any, body: str, width: float, what: str) -> list[str]:
    """A sentence where a step over that much is longer than all examples of who steps by examples."""
    if not isinstance(settings, StepperSettings):
        return []
    try:
        examples = examples_named(settings.base or base_for(body).name)
    except UserError as error:
        return [str(error)]
    foot, longest = foot_of(body), float(np.max(examples.lengths))
    if width + foot <= longest:
        return []
    return [
        f"{what} of {width:g} m need steps of {width + foot:.2f} m with a foot of {foot:.2f} m; the longest that"
        f" '{examples.header.base}' knows is {longest:.2f} m, which crosses {max(longest - foot, 0.0):.2f} m"
    ]
