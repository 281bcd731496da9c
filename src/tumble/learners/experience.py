"""Experience: situations and the plans that did well in them, and the plans of the nearest ones.

    experience = Experience(features=45, size=120)
    experience.add(situation, plan)                # as planning goes on
    guesses = experience.recall(situation, 3)      # (3, 120) or fewer, the nearest first

A situation is a row of features, a plan a row of numbers; what they mean is the planner's affair. Both are kept
as float32.
"""

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from tumble.errors import UserError, check_number
from tumble.learners.learner import Learner
from tumble.maths.neighbours import ExactNeighbours, finite_rows


class Experience(Learner):
    """Situations and the plans that did well in them: what a planner may guess from (hamalainen2014 section 4.5).

    Near is meant in Euclidean distance, every feature divided by its root mean square over the stored set; one that
    is 0 in all of it counts nothing. Of equally near ones the older comes first.

    **Departures**: paper approximate neighbours by FLANN, here the exact ones, because they are quick enough, are
    the same whenever asked, and need nothing rebuilt when a pair is added.

    Attributes:
      features, size: numbers of a situation and of a plan.
      capacity: pairs kept at most; then the oldest is overwritten.
      growing: whether `add` keeps anything.
    """

    kind: ClassVar[str] = "experience"
    appends: ClassVar[bool] = True

    def __init__(self, features: int, size: int, capacity: int = 100_000) -> None:
        for name, value in (("features", features), ("size", size), ("capacity", capacity)):
            check_number(name, value, 1)
        self.features, self.size, self.capacity, self.growing = features, size, capacity, True
        self._situations = ExactNeighbours(features, capacity)
        self._plans = np.empty((capacity, size), np.float32)  # a page of it that is never used takes no memory

    @classmethod
    def new(cls, features: int, size: int, seed: int) -> Self:
        return cls(features, size)

    def __len__(self) -> int:
        return len(self._situations)

    @property
    def added(self) -> int:
        """Pairs ever added, those that were overwritten included."""
        return self._situations.added

    @property
    def progress(self) -> int:
        return self.added

    def add(self, state: np.ndarray, action: np.ndarray) -> None:
        """Keep a copy of a situation and its plan, (features,) and (size,), unless `growing` is off."""
        if self.growing:
            self.extend(np.asarray(state)[None], np.asarray(action)[None])

    def extend(self, situations: np.ndarray, plans: np.ndarray) -> None:
        """Keep copies of many pairs, (n, features) and (n, size), oldest first, whether `growing` is on or off."""
        situations = finite_rows("situations", situations, self.features)
        plans = finite_rows("plans", plans, self.size)
        if len(situations) != len(plans):
            raise UserError(f"every situation has one plan, got {len(situations)} and {len(plans)}")
        rows = self._situations.extend(situations)
        self._plans[rows] = plans[len(plans) - len(rows) :]

    def recall(self, situation: np.ndarray, count: int) -> np.ndarray:
        """Plans of the nearest situations, (count or fewer, size) float64 copies, the nearest first."""
        check_number("count", count, 0)
        query = finite_rows("a situation", np.asarray(situation)[None], self.features)
        rows, _ = self._situations.nearest(query, count)
        return self._plans[rows[0]].astype(float)

    def since(self, added: int) -> tuple[np.ndarray, np.ndarray]:
        """Situations and plans added after `added` was this; as many as are still there, oldest first, copies."""
        check_number("added", added, 0, self.added)
        rows = np.arange(max(added, self.added - self.capacity), self.added) % self.capacity
        return self._situations.at(rows), self._plans[rows]

    def kept(self, since: int = 0) -> dict[str, np.ndarray]:
        situations, plans = self.since(since)
        return {"situations": situations, "plans": plans}

    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Add pairs that were kept."""
        self.extend(kept["situations"], kept["plans"])

    def warm_up(self) -> None:
        other = Experience(self.features, self.size, 1)
        other.add(np.zeros(self.features), np.zeros(self.size))
        other.recall(np.zeros(self.features), 1)

    def stop(self) -> None:
        """Nothing to do: it has no threads."""
