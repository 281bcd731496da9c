"""TimedLaw: a law that tells how long it took, and what it chose on the whole."""

import time

import numpy as np

from tumble.world.sims import Law, Sims


class TimedLaw:
    """A law of a frame, watched.

    Attributes:
      seconds: wall time that it took so far.
    """

    def __init__(self, law: Law) -> None:
        self._law, self._sum, self._count = law, np.zeros(1), 0
        self.seconds = 0.0

    def __call__(self, sims: Sims) -> np.ndarray:
        began = time.perf_counter()
        control = self._law(sims)
        self.seconds += time.perf_counter() - began
        self._sum, self._count = self._sum + control, self._count + 1
        return control

    @property
    def mean(self) -> np.ndarray:
        """(nsim, size): mean of its controls."""
        return self._sum / max(1, self._count)
