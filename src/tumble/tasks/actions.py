"""Actions and who takes them: one step of some kind, until the foot strikes (coros2010 section 4.3).

    stepper = kind_of(actions)(scene)                  # see `tumble.tasks.kinds`
    table = stepper.table(actions)
    stepper.take(sims, rows, table[chosen])            # from their next control on
    stepper.walker.step(sims, 1.2)

What explores, iterates, judges and acts knows no more of actions than this.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from tumble.control.stepping import StepTaker
from tumble.errors import UserError
from tumble.world.scene import Scene
from tumble.world.sims import Sims


class Action(Protocol):
    """One step; its class is a frozen `msgspec.Struct`, and its text the name that people read."""

    @property
    def start(self) -> str:
        """Name of what its character begins in, see `StepKind.opening`."""

    @property
    def alone(self) -> bool:
        """Whether it has a limit cycle that tasks may speak of; a mix has none."""


class StepKind(ABC):
    """Takes steps of one kind of actions, for all rows at once.

    Attributes:
      kind: its name in files.
      action: the class of its actions.
      needs: capabilities that a body must have.
      walker: who steps.
    """

    kind: ClassVar[str]
    action: ClassVar[type[Any]]
    needs: ClassVar[tuple[str, ...]]
    walker: StepTaker

    @abstractmethod
    def __init__(self, scene: Scene) -> None:
        """Step in a scene, which gets the walker's claim."""

    @classmethod
    @abstractmethod
    def digest(cls, body: str) -> str:
        """Of all that comes with tumble and decides how a body steps: steps of something else are other steps."""

    @abstractmethod
    def opening(self, start: str) -> np.ndarray:
        """A state to begin from."""

    @abstractmethod
    def table(self, actions: Sequence[Any]) -> np.ndarray:
        """(actions, numbers) what `take` needs of each; refuses actions that the walker cannot take."""

    @abstractmethod
    def take(self, sims: Sims, rows: np.ndarray, chosen: np.ndarray) -> None:
        """Have rows take steps from their next control on; chosen are rows of the table (len(rows), numbers).

        What lies behind a state is in its pose and speeds alone afterwards: memory that goes on from step to step
        becomes what these say.
        """

    @abstractmethod
    def stance(self, sims: Sims) -> np.ndarray:
        """(nsim,) the stance foot, 0 left, 1 right."""

    @abstractmethod
    def headings(self, sims: Sims) -> np.ndarray:
        """(nsim,) headings of the characters' frames, rad; unlike the root they do not swing with the step."""


def check_once(actions: Sequence[Any]) -> None:
    """Refuse actions that are there twice."""
    if len(set(actions)) < len(actions):
        raise UserError("every action is there once; got some twice")
