"""Timeline: the last minutes of a show, to look at again and to go on from."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from tumble.errors import UserError
from tumble.studio.ghosts import NOBODY, Ghosts
from tumble.studio.packet import Packer

SECONDS = 120.0  # that are kept


@dataclass(frozen=True)
class Moment:
    """A frame that was shown.

    Attributes:
      tick: its number, counted over all trials of a show.
      time: simulated seconds.
      state: where it was, of the packer's scene; from here one can go on.
      message, packer, terms, names, ghosts: what browsers were sent, and what they need to read it; see `Shown`.
    """

    tick: int
    time: float
    state: np.ndarray
    message: bytes
    packer: Packer
    terms: int
    names: tuple[str, ...]
    ghosts: Ghosts = NOBODY


class Timeline:
    """Moments in order of their ticks, without gaps; the oldest are forgotten."""

    def __init__(self, dt: float) -> None:
        self._moments: deque[Moment] = deque(maxlen=round(SECONDS / dt))

    def __len__(self) -> int:
        return len(self._moments)

    @property
    def oldest(self) -> int:
        """Tick of the first moment kept; 0 if there is none."""
        return self._moments[0].tick if self._moments else 0

    @property
    def newest(self) -> int:
        """Tick of the last moment; 0 if there is none."""
        return self._moments[-1].tick if self._moments else 0

    def add(self, moment: Moment) -> None:
        """Keep a moment, the next one."""
        self._moments.append(moment)

    def at(self, tick: int) -> Moment:
        """The moment of a tick, or the error that says which there are."""
        if not self._moments:
            raise UserError("the timeline is empty; let the character move first")
        if not self.oldest <= tick <= self.newest:
            raise UserError(f"the timeline holds ticks {self.oldest} to {self.newest}, not {tick}")
        return self._moments[tick - self.oldest]

    def cut(self, tick: int) -> None:
        """Forget all that came after a tick."""
        while self._moments and self._moments[-1].tick > tick:
            self._moments.pop()

    def clear(self) -> None:
        """Forget all."""
        self._moments.clear()
