"""Actions: what they mean to a drive.

actions = Actions(scene.drive)
controls = actions.controls(np.zeros((n, actions.size)))      # the middle of everything
"""

import numpy as np

from tumble.errors import UserError
from tumble.world.drives import Drive


class Actions:
    """Controls of a drive as numbers from -1 to 1: control = middle + action * (high - low) / 2, within its bounds.

    Trap: the bounds are those that samplers keep to. A planner that goes beyond them, as `mcts` does, is brought back
    to them; `normalized=False` leaves controls as they are.

    Attributes:
      drive: whose controls.
      low, high: (size,) of an action.
    """

    def __init__(self, drive: Drive, normalized: bool = True) -> None:
        """See the class.

        Args:
          normalized: False has actions be the controls themselves, in their units, to the last bit.
        """
        self.drive, self.normalized = drive, normalized
        self.low = -np.ones(self.size) if normalized else drive.low
        self.high = np.ones(self.size) if normalized else drive.high
        self._middle, self._half = 0.5 * (drive.low + drive.high), 0.5 * (drive.high - drive.low)

    @property
    def size(self) -> int:
        """Numbers of an action."""
        return self.drive.size

    def controls(self, actions: np.ndarray) -> np.ndarray:
        """Controls (n, size) of actions (n, size), a new array."""
        actions = np.asarray(actions, np.float64)
        if actions.ndim != 2 or actions.shape[1] != self.size or not np.isfinite(actions).all():
            what = "not all finite" if actions.shape[-1:] == (self.size,) else f"of the shape {actions.shape[1:]}"
            first = ", ".join(self.drive.names[:3])
            raise UserError(f"an action is {self.size} finite numbers ({first}, ...), got one that is {what}")
        if not self.normalized:
            return actions.copy()
        return np.clip(self._middle + actions * self._half, self.drive.low, self.drive.high)

    def actions(self, controls: np.ndarray) -> np.ndarray:
        """Actions (n, size) that come to controls (n, size): those of `controls`, but for rounding."""
        if not self.normalized:
            return np.array(controls)
        return np.clip((controls - self._middle) / np.where(self._half > 0, self._half, 1.0), -1.0, 1.0)
