"""Course: which way a goal wants to go, and how fast."""

from dataclasses import dataclass

import numpy as np
from numba import njit

NEAR = 0.1  # m, within which the way to a point is no direction any more


@dataclass(frozen=True)
class Course:
    """A horizontal direction to face and a speed along it, or a point to go to.

    Attributes:
      speed: m/s.
      direction: unit vector; where there is a target, of those who are there already.
      target: m, or None.
    """

    speed: float
    direction: tuple[float, float] = (1.0, 0.0)
    target: tuple[float, float] | None = None

    def directions(self, com: np.ndarray) -> np.ndarray:
        """(n, 2) unit vectors for centres of mass (n, 3)."""
        if self.target is None:
            return _alike(len(com), *self.direction)
        return _towards(com, *self.target, *self.direction)


@njit(cache=True)
def _alike(n, x, y):  # type: ignore[no-untyped-def]
    directions = np.empty((n, 2))
    directions[:, 0], directions[:, 1] = x, y
    return directions


@njit(cache=True)
def _towards(place, x, y, forward, left):  # type: ignore[no-untyped-def]
    """(n, 2): unit vectors from places (n, 3) to a point; (forward, left) for those who are there."""
    directions = np.empty((place.shape[0], 2))
    for i in range(place.shape[0]):
        dx, dy = x - place[i, 0], y - place[i, 1]
        length = np.sqrt(dx * dx + dy * dy)
        if length > NEAR:
            directions[i, 0], directions[i, 1] = dx / length, dy / length
        else:
            directions[i, 0], directions[i, 1] = forward, left
    return directions
