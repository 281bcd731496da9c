"""Course: which way a goal wants to go, and how fast."""

from dataclasses import dataclass

import numpy as np

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
        directions = np.empty((len(com), 2))
        directions[:] = self.direction
        if self.target is not None:
            way = self.target - com[:, :2]
            length = np.sqrt((way * way).sum(axis=1, keepdims=True))
            np.divide(way, length, out=directions, where=length > NEAR)
        return directions
