"""Experience: situations and the plans that did well in them, and the plans of the nearest ones.

    experience = Experience(features=45, size=120)
    experience.add(situation, plan)                # as planning goes on
    guesses = experience.nearest(situation, 3)     # (3, 120) or fewer, the nearest first

A situation is a row of features, a plan a row of numbers; what they mean is the planner's affair. Both are kept
as float32. There is no index: a query looks at all situations, and leaves most after a few features. Among
100 000 of 45 features that takes 0.5 to 1 ms.
"""

import numpy as np
from numba import njit

from tumble.errors import UserError, check_number

TOGETHER = 8  # features that are added up before situations too far away are left
ROWS = 256  # situations that are looked at, and left, together; in a recorded motion they are alike


class Experience:
    """Situations and the plans that did well in them: what a planner may guess from (hamalainen2014 section 4.5).

    Near is meant in Euclidean distance, every feature divided by its root mean square over the stored set; one that
    is 0 in all of it counts nothing. Of equally near ones the older comes first.

    **Departures**: paper approximate neighbours by FLANN, here the exact ones, because they are quick enough, are
    the same whenever asked, and need nothing rebuilt when a pair is added.

    Attributes:
      features, size: numbers of a situation and of a plan.
      capacity: pairs kept at most; then the oldest is overwritten.
      growing: whether `add` keeps anything.
      added: pairs ever added, those that were overwritten included.
    """

    def __init__(self, features: int, size: int, capacity: int = 100_000) -> None:
        for name, value in (("features", features), ("size", size), ("capacity", capacity)):
            check_number(name, value, 1)
        self.features, self.size, self.capacity = features, size, capacity
        self.growing, self.added = True, 0
        self._situations = np.empty((0, features, ROWS), np.float32)  # in blocks, one feature after the other
        self._squares = np.empty((0, features))  # their sums over the blocks
        self._plans = np.empty((0, size), np.float32)

    def __len__(self) -> int:
        """Pairs that are there."""
        return min(self.added, self.capacity)

    def add(self, situation: np.ndarray, plan: np.ndarray) -> None:
        """Keep a copy of a pair, (features,) and (size,), unless `growing` is off."""
        if self.growing:
            self.extend(np.asarray(situation)[None], np.asarray(plan)[None])

    def extend(self, situations: np.ndarray, plans: np.ndarray) -> None:
        """Keep copies of many pairs, (n, features) and (n, size), oldest first, whether `growing` is on or off."""
        situations = _checked("situations", situations, self.features)
        plans = _checked("plans", plans, self.size)
        if len(situations) != len(plans):
            raise UserError(f"every situation has one plan, got {len(situations)} and {len(plans)}")
        self.added += len(plans)
        self._make_room(len(self))
        kept = min(len(plans), self.capacity)
        rows = np.arange(self.added - kept, self.added) % self.capacity
        self._situations[rows // ROWS, :, rows % ROWS] = situations[len(plans) - kept :]
        self._plans[rows] = plans[len(plans) - kept :]
        for i in np.unique(rows // ROWS):  # anew, not by difference: what was overwritten leaves no rounding behind
            self._squares[i] = np.square(self._situations[i], dtype=float).sum(1)

    def nearest(self, situation: np.ndarray, count: int) -> np.ndarray:
        """Plans of the nearest situations, (count or fewer, size) float64 copies, the nearest first."""
        check_number("count", count, 0)
        (query,) = _checked("a situation", np.asarray(situation)[None], self.features)
        if min(count, self.added) == 0:
            return np.empty((0, self.size))
        newest = (self.added - 1) % self.capacity
        count = min(count, len(self))
        found = _nearest(self._situations, len(self), newest, query.astype(float), self._scale(), count)
        return self._plans[found].astype(float)

    def since(self, added: int) -> tuple[np.ndarray, np.ndarray]:
        """Situations and plans added after `added` was this; as many as are still there, oldest first, copies."""
        check_number("added", added, 0, self.added)
        rows = np.arange(max(added, self.added - self.capacity), self.added) % self.capacity
        return self._situations[rows // ROWS, :, rows % ROWS], self._plans[rows]

    def _scale(self) -> np.ndarray:
        """(features,): 1 / root mean square; 0 where all are 0."""
        square = self._squares.sum(0) / len(self)
        return np.divide(1.0, np.sqrt(square), out=np.zeros(self.features), where=square > 0)

    def _make_room(self, needed: int) -> None:
        """Have the arrays hold so many pairs: twice what they held or more, up to the capacity."""
        if needed <= len(self._plans):
            return
        room = min(max(needed, 2 * len(self._plans), ROWS), self.capacity)
        self._situations = _longer(self._situations, -(-room // ROWS))
        self._squares = _longer(self._squares, -(-room // ROWS))
        self._plans = _longer(self._plans, room)


def _checked(what: str, rows: np.ndarray, width: int) -> np.ndarray:
    """Rows as float32; refuses another width, and numbers that are not finite there."""
    with np.errstate(over="ignore"):  # becomes inf
        array = np.asarray(rows, np.float32)
    if array.ndim != 2 or array.shape[1] != width:
        raise UserError(f"{what} must have {width} numbers each, got shape {np.shape(rows)[1:]}")
    if not np.isfinite(array).all():
        raise UserError(f"{what} must be finite numbers up to 3e38, got {np.asarray(rows)[~np.isfinite(array)][0]}")
    return array


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    """A copy with rows of 0 at its end."""
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True)
def _nearest(situations, length, newest, query, scale, count):  # type: ignore[no-untyped-def]
    """(count,) rows of the nearest of `length` situations, (blocks, features, ROWS); 1 <= count <= length.

    From the newest to the oldest: the last frame's situation is near the present one, so that the bound is tight
    at once.
    """
    found, best = np.zeros(count, np.intp), np.full(count, np.inf)
    distances = np.empty(ROWS)
    for end, begin in ((newest + 1, 0), (length, newest + 1)):
        while end > begin:
            block = (end - 1) // ROWS
            start = block * ROWS
            if _measure(distances, situations[block], query, scale, best[-1]):
                for row in range(end - 1, max(begin, start) - 1, -1):
                    _place(found, best, row, distances[row - start])
            end = start
    return found


@njit(cache=True)
def _measure(distances, block, query, scale, bound):  # type: ignore[no-untyped-def]
    """Squared distances of a block's situations into (ROWS,); False as soon as all are beyond the bound."""
    distances[:] = 0.0
    for first in range(0, query.size, TOGETHER):
        for j in range(first, min(first + TOGETHER, query.size)):
            _add(distances, block[j], query[j], scale[j])
        near = 0
        for i in range(ROWS):
            near += distances[i] <= bound
        if near == 0:
            return False
    return True


@njit(cache=True)
def _add(distances, feature, value, scale):  # type: ignore[no-untyped-def]
    """Add a feature's squares; a function of its own over plain arrays, so that it becomes vector instructions."""
    for i in range(ROWS):
        difference = (feature[i] - value) * scale
        distances[i] += difference * difference


@njit(cache=True)
def _place(found, best, row, distance):  # type: ignore[no-untyped-def]
    """Put a row where it belongs among the nearest so far; before those as near, because it is older."""
    if distance > best[-1]:
        return
    place = best.size - 1
    while place > 0 and distance <= best[place - 1]:
        best[place], found[place] = best[place - 1], found[place - 1]
        place -= 1
    best[place], found[place] = distance, row
