"""Reflex: state feedback that planners may draw controls near."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from tumble.goals import Goal
from tumble.world.scene import Scene
from tumble.world.sims import Sims


class Reflex(ABC):
    """State feedback as one Gaussian among those that controls are drawn from: its mean, and how wide it is.

    It need not be right, nor go on for long: it is a guess that walkers start from, judged as all others are.

    Attributes:
      columns: of the controls that it speaks of.
      width: standard deviation of its Gaussian, rad/s.
      needs: capabilities of the bodies that it is for.
    """

    columns: np.ndarray
    width: ClassVar[float]
    needs: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def __init__(self, scene: Scene) -> None:
        """Get ready for a scene's character, which has what it needs."""

    @abstractmethod
    def advise(self, sims: Sims, parents: np.ndarray, goal: Goal, moods: np.ndarray, advice: np.ndarray) -> None:
        """Write controls into its columns of advice (n, size), which holds those that go back to the pose.

        Args:
          sims: simulations before a step; sensors and what MuJoCo derives are at the rows `parents` (n,).
          goal: what is wanted.
          moods: (n, 2) numbers from 0 to 1 of each row's own, which it keeps: for rows to differ by.
        """
