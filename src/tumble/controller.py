"""Controller: a feedback law for all rows of a Sims at once."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from tumble.errors import UserError
from tumble.goals import Goal
from tumble.sims import Sims


class Controller(ABC):
    """Chooses controls for every row.

    Attributes:
      latest: what it thought last, for listeners to draw: a Plan where it plans, else None.
    """

    latest: Any = None

    @abstractmethod
    def start(self, sims: Sims) -> None:
        """Begin anew with these simulations."""

    @abstractmethod
    def control(self, sims: Sims) -> np.ndarray:
        """Controls (nsim, motors.size) for the simulations' present states; changes no state."""

    def check_goal(self, goal: Goal) -> None:
        """Refuse what `set_goal` would refuse; changes nothing."""
        raise UserError(f"{type(self).__name__} takes no goal")

    def set_goal(self, goal: Goal) -> None:
        """Want something else from the next control on."""
        self.check_goal(goal)

    def attend(self, direction: tuple[float, float] | None) -> None:  # noqa: B027 - most pay no attention
        """Somebody pulls in that horizontal direction, a unit vector, or nobody does; told before every control."""

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """Refuse what `set_parameters` would refuse; changes nothing."""
        for name in changes:
            raise UserError(f"{type(self).__name__} has no parameter '{name}'")

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name, all at once, from the next control on."""
        self.check_parameters(changes)
