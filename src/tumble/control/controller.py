"""Controller: a feedback law for all rows of a Sims at once."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tumble.errors import UserError
from tumble.goals import Goal
from tumble.world.sims import Sims


class Controller(ABC):
    """Chooses controls for every row.

    Attributes:
      latest: what it thought last, for listeners to draw: a Plan where it plans, else None.
      names: of the terms in the latest plan's values; none where it does not plan.
      weights: factors on terms, by name; none where it has no terms.
      settings: a dataclass of its parameters.
      scripts: whether it does scripts.
      doing: the act of a script that it does, in words; '' where it does none.
    """

    latest: Any = None
    names: tuple[str, ...] = ()
    weights: Mapping[str, float] = MappingProxyType({})
    settings: Any = None
    scripts: bool = False
    doing: str = ""

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

    def check_wishes(self, wishes: Mapping[str, Any]) -> None:
        """Refuse what `set_wishes` would refuse; changes nothing."""
        raise UserError(f"{type(self).__name__} does not walk by wishes; choose a walking controller")

    def set_wishes(self, sims: Sims, wishes: Mapping[str, Any]) -> None:
        """Walk otherwise from the next control on: speed, heading, style and the like, by name."""
        self.check_wishes(wishes)

    def check_script(self, sims: Sims, acts: Sequence[Any]) -> None:
        """Refuse what `set_script` would refuse now; changes nothing. Acts are those of `tumble.skills.acts`."""
        raise UserError(f"{type(self).__name__} does no scripts; choose the controller 'walker'")

    def set_script(self, sims: Sims, acts: Sequence[Any]) -> None:
        """Do these acts one after the other from the next control on; who walks otherwise meanwhile ends them."""
        self.check_script(sims, acts)

    def attend(self, direction: tuple[float, float] | None) -> None:  # noqa: B027 - most pay no attention
        """Somebody pulls in that horizontal direction, a unit vector, or nobody does; told before every control."""

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """Refuse what `set_parameters` would refuse; changes nothing."""
        for name in changes:
            raise UserError(f"{type(self).__name__} has no parameter '{name}'")

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name, all at once, from the next control on."""
        self.check_parameters(changes)

    def close(self) -> None:  # noqa: B027 - most have none
        """End threads of its own, which the next control may start again; raises what went wrong in one."""


@contextlib.contextmanager
def closing(controller: Controller) -> Iterator[None]:
    """Close a controller in the end. What goes wrong before is raised rather than what went wrong in its threads."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            controller.close()
        raise
    controller.close()
