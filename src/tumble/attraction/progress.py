"""TreeProgress: what somebody who goes by trees does now, in figures, for those who watch.

progress = controller.progress
print(progress.phase, progress.left)
"""

import math
from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """What it is at."""

    STANDS = "stands"
    STAYS = "stays in a stance"
    SETTLES = "settles in a pose, to ask from there"
    ASKS = "asks"
    SEARCHES = "searches"
    FOLLOWS = "follows"


@dataclass(frozen=True)
class TreeProgress:
    """A controller of trees at one moment; a copy.

    Attributes:
      phase: what it is at.
      tree: by name, whose branch is followed; '' where none is, and the next four are 0.
      node, depth: where the branch entered the tree, and edges from there to the goal.
      left, whole: s of the branch that are to come, and that it takes.
      disturbed: whether it follows, and asks because it is not where the branch expects it.
      distance: kg rad, alborno2016 eq. 3, to the nearest node when trees were asked last; nan before.
      asked: nodes and rollouts that were asked: now, or for the branch that is followed.
    """

    phase: Phase = Phase.STANDS
    tree: str = ""
    node: int = 0
    depth: int = 0
    left: float = 0.0
    whole: float = 0.0
    disturbed: bool = False
    distance: float = math.nan
    asked: int = 0

    @property
    def share(self) -> float:
        """How much of the branch is done, 0 to 1."""
        return 1.0 - self.left / self.whole if self.whole else 0.0
