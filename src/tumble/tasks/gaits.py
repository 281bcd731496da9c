"""Steps of gaits, and of mixes of two (coros2010 section 4.3).

actions = (GaitStep("walk"), GaitStep("run"), *between("walk", "run", 2))
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import ClassVar

import msgspec
import numpy as np

from tumble.characters import character
from tumble.errors import check_number
from tumble.simbicon.body import MEMORY
from tumble.simbicon.gait import builtin_gaits
from tumble.simbicon.simbicon import Simbicon
from tumble.tasks.actions import StepKind, check_once
from tumble.world.scene import Scene
from tumble.world.sims import Sims


class GaitStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step with torques (1 - mix) tau_gait + mix tau_other."""

    gait: str
    other: str = ""  # '' for the gait alone
    mix: float = 0.0

    def __str__(self) -> str:
        """'walk', or 'walk+run 0.33'."""
        return f"{self.gait}+{self.other} {self.mix:.2g}" if self.other else self.gait

    @property
    def start(self) -> str:
        """The gait."""
        return self.gait

    @property
    def alone(self) -> bool:
        """Whether it is one gait."""
        return not self.other


def between(gait: str, other: str, count: int) -> tuple[GaitStep, ...]:
    """So many mixes of two gaits, evenly spaced, without the two themselves."""
    return tuple(GaitStep(gait, other, (i + 1) / (count + 1)) for i in range(count))


class GaitStepper(StepKind):
    """Steps of `Simbicon`; its table has numbers of both gaits and the weight."""

    kind: ClassVar[str] = "gaits"
    action: ClassVar[type[GaitStep]] = GaitStep
    needs: ClassVar[tuple[str, ...]] = ("steps",)
    walker: Simbicon

    def __init__(self, scene: Scene) -> None:
        """Step with the gaits that come with tumble for the body."""
        self.walker = Simbicon(scene)

    @classmethod
    def digest(cls, body: str) -> str:
        """Of the body's gaits."""
        return sha256(msgspec.json.encode(builtin_gaits(character(body)))).hexdigest()[:16]

    def opening(self, start: str) -> np.ndarray:
        """A state to begin a gait from, see `Simbicon.opening`."""
        return self.walker.opening(start)

    def table(self, actions: Sequence[GaitStep]) -> np.ndarray:
        """(actions, 3); refuses gaits that the walker has not, and mixes out of bounds."""
        check_once(actions)
        for action in actions:
            check_number(f"mix of '{action}'", action.mix, 0.0, 1.0)
        index = self.walker.index
        rows = [(index(action.gait), index(action.other or action.gait), action.mix) for action in actions]
        return np.array(rows, float)

    def take(self, sims: Sims, rows: np.ndarray, chosen: np.ndarray) -> None:
        """What is wanted of the heading becomes the frame's."""
        sims.memory(MEMORY).heading[rows] = self.headings(sims)[rows]
        gait, other = chosen[:, :2].T.astype(np.intp)
        self.walker.choose(sims, gait, other, chosen[:, 2], rows=rows)

    def stance(self, sims: Sims) -> np.ndarray:
        """As the memory has it."""
        return sims.memory(MEMORY).stance

    def headings(self, sims: Sims) -> np.ndarray:
        """Of the frame of SIMBICON's feedback: the wanted one, at most `TURN` ahead of the root."""
        return self.walker.headings(sims)
