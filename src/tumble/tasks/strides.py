"""Strides: steps of the generalized walker at a speed, with a turn, of a length: the wish of coros2010 chapter 6.

    actions = (Stride(0.06), Stride(0.8), Stride(0.8, turn=0.3), Stride(0.8, length=0.36))

Traps: a walker that is to go slower than 0.05 m/s stands, and steps no more; in place are 0.06 and -0.06 m/s.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import ClassVar

import msgspec
import numpy as np

from tumble.control.stepping import frames
from tumble.errors import UserError, check_number
from tumble.tasks.actions import StepKind, check_once
from tumble.walking.asking import WISHES
from tumble.walking.body import NEEDS
from tumble.walking.memory import MEMORY
from tumble.walking.settings import WalkSettings
from tumble.walking.steps import SLOWEST
from tumble.walking.style import builtin_styles
from tumble.walking.walker import Walker
from tumble.world.scene import Scene
from tumble.world.sims import Sims

TURN = 1.0  # rad either way in one step; a walker follows 2 rad/s


class Stride(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of the walker; its period is length / |speed|."""

    speed: float  # m/s ahead, below 0 back
    turn: float = 0.0  # rad to the left
    length: float = 0.0  # m; 0: as long as the style's period makes it

    def __str__(self) -> str:
        """'0.8 m/s', or '0.8 m/s, 0.36 m, +0.3 rad'."""
        length = f", {self.length:g} m" if self.length else ""
        return f"{self.speed:g} m/s{length}" + (f", {self.turn:+g} rad" if self.turn else "")

    @property
    def start(self) -> str:
        """A stand, whatever the step."""
        return "stand"

    @property
    def alone(self) -> bool:
        """Every stride has a limit cycle."""
        return True


class StrideStepper(StepKind):
    """Steps of `Walker` in its first style; its table has speed, turn and period.

    A stride is what the walker follows at once: it does not come nearer to it by and by, as to a wish. So speed and
    turn of one step are those of its action whatever was wanted before, and exploration finds which of them hold.
    """

    kind: ClassVar[str] = "strides"
    action: ClassVar[type[Stride]] = Stride
    needs: ClassVar[tuple[str, ...]] = NEEDS
    walker: Walker

    def __init__(self, scene: Scene) -> None:
        """Step with the settings and styles that come with tumble."""
        self.walker = Walker(scene)

    @classmethod
    def digest(cls, body: str) -> str:
        """Of the first style and the settings."""
        first = next(iter(builtin_styles().values()))
        return sha256(msgspec.json.encode((first, WalkSettings()))).hexdigest()[:16]

    def opening(self, start: str) -> np.ndarray:
        """The body at rest on its feet."""
        return self.walker.scene.state()

    def table(self, actions: Sequence[Stride]) -> np.ndarray:
        """(actions, 3); refuses speeds at which a walker stands, and periods and turns that it does not make."""
        check_once(actions)
        for action in actions:
            check_number(f"speed of the stride '{action}'", action.speed, *WISHES["speed"])
            check_number(f"turn of the stride '{action}'", action.turn, -TURN, TURN)
            if abs(action.speed) <= SLOWEST:
                raise UserError(f"a stride is faster than {SLOWEST} m/s, ahead or back, got {action.speed:g}")
        own = self.walker.styles[0].period
        rows = [(one.speed, one.turn, one.length / abs(one.speed) if one.length else own) for one in actions]
        for action, (_, _, period) in zip(actions, rows, strict=True):
            check_number(f"period of the stride '{action}', length / speed in s,", period, *WISHES["period"])
        return np.array(rows, float)

    def take(self, sims: Sims, rows: np.ndarray, chosen: np.ndarray) -> None:
        """Speed and period become the stride's, the heading the frame's; of integrals and means nothing is left."""
        memory, (speed, turn, period) = sims.memory(MEMORY), chosen.T
        heading = self.headings(sims)[rows]
        self.walker.wish(sims, rows=rows, speed=speed, heading=heading + turn, period=period)
        ahead = np.column_stack([np.cos(heading), np.sin(heading)])
        memory.heading[rows], memory.speed[rows], memory.period[rows] = heading, speed, period
        memory.mean_speed[rows] = (sims.view("com_velocity")[rows, :2] * ahead).sum(axis=1)
        memory.step_trim[rows] = memory.drift[rows] = 0.0

    def stance(self, sims: Sims) -> np.ndarray:
        """As the memory has it."""
        return sims.memory(MEMORY).stance

    def headings(self, sims: Sims) -> np.ndarray:
        """The followed ones, at most as far ahead of the root as the back twists."""
        return frames(sims, sims.memory(MEMORY).heading, self.walker.settings.follow.longest_twist)
