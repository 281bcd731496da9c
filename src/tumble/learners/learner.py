"""Learner: what a planner learns with, whatever it is, and what of it can be kept.

    learner.add(state, action)                 # every frame
    kept = learner.kept()                      # arrays by name, to be saved
    another.restore(kept)                      # one like it that knows nothing yet goes on from there

Who recalls or predicts something from what was learned knows which kind it has; who keeps it in a file need not.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np


class Learner(ABC):
    """Learns pairs of a state and of what was done in it.

    Attributes:
      kind: in one word, what it learns into; 'a file of experience' is called so.
      appends: whether what it learned is tables of float32, one row a pair, to which rows are only ever added.
      features, size: numbers of a state, and of what is done in it.
      capacity: pairs that it knows at most.
      growing: whether it learns anything.
    """

    kind: ClassVar[str]
    appends: ClassVar[bool]
    features: int
    size: int
    capacity: int
    growing: bool

    @classmethod
    @abstractmethod
    def new(cls, features: int, size: int, seed: int) -> Self:
        """One that knows nothing yet; the seed is for those who need random numbers."""

    @abstractmethod
    def __len__(self) -> int:
        """Pairs that are known."""

    @property
    @abstractmethod
    def progress(self) -> int:
        """A number that grows whenever something is learned."""

    @abstractmethod
    def add(self, state: np.ndarray, action: np.ndarray) -> None:
        """Learn a copy of a pair, (features,) and (size,), if `growing`; raises what went wrong in a thread."""

    @abstractmethod
    def kept(self, since: int = 0) -> dict[str, np.ndarray]:
        """What was learned, by name; copies. Who `appends` gives what is new since its progress was this."""

    @abstractmethod
    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from what `kept` gave, `growing` or not; UserError, and nothing changed, where it cannot be that."""

    @abstractmethod
    def warm_up(self) -> None:
        """Compile all that learning, and asking for what was learned, needs; changes nothing."""

    @abstractmethod
    def stop(self) -> None:
        """End threads of its own; raises what went wrong in one."""
