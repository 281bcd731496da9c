"""System: what a tree grows over. A simulated body, a goal, nested domains to draw states from, and a distance.

    system = ...                                        # an `UprightSystem`, or a pendulum
    states = system.sample(2.0, 8, rng)                 # (8, nstate) of the domain alpha = 2
    rolled = system.roll(states, [track] * 8)           # each row follows its references, then the goal's own law
    rolled.reached                                      # (8,): who came to the goal

A track is what references say for every frame of a branch: (frames, size) controls of the PD drive.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Followed:
    """What rows came to that followed tracks.

    Attributes:
      reached: (n,), whether the row is in the goal set.
      misses: (n,), how far from the goal the row was where its track ended, by `System.features`, plus what it fell
        short of in staying there; inf where it broke.
      efforts: (n,), sum of |u|^2 over the frames of the track, (N m)^2.
      ends: (n, nstate), where the tracks ended.
      trace: (n, frames + 1, nstate) of the first frames, the start included, as far as it was asked for.
      steps: physics steps that were simulated.
    """

    reached: np.ndarray
    misses: np.ndarray
    efforts: np.ndarray
    ends: np.ndarray
    trace: np.ndarray
    steps: int


class System(ABC):
    """A body with a goal.

    States here are (nstate,) rows of positions and speeds alone: MuJoCo's qpos and qvel, one after the other.

    Attributes:
      recipe: JSON-able, tells of body, drive, step, goal and version; a tree grown for another is refused.
      goal: x_goal (nstate,).
      target: x_target (nstate,), from which the first controller comes to the goal.
      joints: how many are driven; a track has 2 * joints numbers a frame.
      low, high: (joints,) bounds of references, rad.
      effort: w2 over w1 of eq. 2.
    """

    recipe: Mapping[str, Any]
    goal: np.ndarray
    target: np.ndarray
    joints: int
    low: np.ndarray
    high: np.ndarray
    effort: float

    @abstractmethod
    def sample(self, level: float, count: int, rng: np.random.Generator) -> np.ndarray:
        """States (count, nstate) of the domain that a level stands for, alpha or kappa; larger ones hold smaller."""

    @abstractmethod
    def features(self, states: np.ndarray) -> np.ndarray:
        """(n, d) of states (n, nstate), so that dist(x, x') of eq. 3 is the L1 distance."""

    @abstractmethod
    def angles(self, states: np.ndarray) -> np.ndarray:
        """(n, joints): joint angles of states, rad."""

    @abstractmethod
    def between(self, near: np.ndarray, far: np.ndarray, share: float) -> np.ndarray:
        """A state (nstate,) of the system part of the way from one to another; 0 is the first."""

    @abstractmethod
    def roll(
        self, states: np.ndarray, tracks: Sequence[np.ndarray], trace: int = 0, first: bool = False, hold: bool = True,
        ways: np.ndarray | None = None,
    ) -> Followed:  # fmt: skip
        """Follow a track from each state, then come to rest at the goal, in one batch.

        Args:
          states: (n, nstate), or whole state rows of the scene, which are then taken as they are.
          tracks: n of (frames, size), of any lengths.
          trace: frames of which states are told.
          first: whether to stop as soon as one row is in the goal set; rows under way have then not reached it.
          hold: whether rows come to the goal after their tracks; without, none reaches it.
          ways: (n, points, nstate) where tracks led those that they were made for, see `Tree.ways`; a system may leave
            rows that are so far from there that they will hardly reach the goal.
        """

    def distances(self, states: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """dist(x, x') of eq. 3 from states (n, nstate) to one (nstate,)."""
        return np.abs(self.features(states) - self.features(goal[None])).sum(1)
