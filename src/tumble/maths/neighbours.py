"""Neighbours: which of the rows that were kept are nearest to a query, by one interface.

    index = ExactNeighbours(features=45, capacity=100_000)
    index.extend(states)                           # (n, 45), oldest first; where each was put, (n,)
    rows, distances = index.nearest(queries, 6)    # (m, 6) each, the nearest first

A row is an integer: where it lies. Who keeps something beside rows keeps it at the same places. Three ways to search:
`ExactNeighbours` many rows that come and go, `Table` a few that are there already, and `learners.DensityForest` some
of very many, near and not always nearest.
"""

from abc import ABC, abstractmethod

import numpy as np

from tumble.errors import UserError, check_number
from tumble.maths.compiled import entry, inner

TOGETHER = 8  # features that are added up before rows too far away are left
ROWS = 256  # rows that are looked at, and left, together; in a recorded motion they are alike


class Neighbours(ABC):
    """Something that finds rows near a query."""

    @abstractmethod
    def __len__(self) -> int:
        """Rows that are there."""

    @abstractmethod
    def nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows (n, m) and distances (n, m) of the k nearest to each of x (n, features), the nearest first; new arrays.

        m is k, or how many rows there are if that is less; where fewer are found, the row is -1 and its distance inf.
        """


class ExactNeighbours(Neighbours):
    """Rows that are added, the oldest overwritten at capacity, and searched exhaustively in a weighted metric.

    The distance of a and b is sqrt(sum_j (w_j (a_j - b_j))^2), and of equally near rows the older comes first. There is
    no index to be built: a query looks at all rows, and leaves most after a few features. It is O(rows features), 0.5
    to 1 ms among 100 000 rows of 45 features; to add is O(features ROWS). Rows are kept as float32.

    Attributes:
      features, capacity: numbers of a row, and rows at most.
      added: rows ever added, those that were overwritten included; the next one lies at added % capacity.
      weights: w (features,), as given; None for 1 / root mean square of what is there, 0 where all of it is 0.
    """

    def __init__(self, features: int, capacity: int = 100_000, weights: np.ndarray | None = None) -> None:
        check_number("features", features, 1)
        check_number("capacity", capacity, 1)
        self.features, self.capacity, self.added, self.weights = features, capacity, 0, None
        if weights is not None:
            self.weights = np.array(weights, float)
            if self.weights.shape != (features,) or not (self.weights.min() >= 0 and np.isfinite(self.weights).all()):
                raise UserError(f"weights must be {features} finite numbers, 0 or more, got {weights}")
        blocks = -(-capacity // ROWS)
        # a page of it that is never used takes no memory
        self._rows = np.zeros((blocks, features, ROWS), np.float32)  # one feature after the other
        self._squares = np.zeros((blocks, features))  # their sums over the blocks

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def extend(self, rows: np.ndarray) -> np.ndarray:
        """Keep copies of rows (n, features), oldest first; where they lie, (n or capacity,), the last ones."""
        rows = finite_rows("rows", rows, self.features)
        kept = min(len(rows), self.capacity)
        self.added += len(rows)
        places = np.arange(self.added - kept, self.added) % self.capacity
        self._rows[places // ROWS, :, places % ROWS] = rows[len(rows) - kept :]
        for i in np.unique(places // ROWS):  # anew, not by difference: what was overwritten leaves no rounding behind
            self._squares[i] = np.square(self._rows[i], dtype=float).sum(1)
        return places

    def at(self, places: np.ndarray) -> np.ndarray:
        """(n, features), copies of the rows that lie there."""
        return self._rows[places // ROWS, :, places % ROWS]

    def nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The nearest rows, exactly; see `Neighbours`."""
        check_number("k", k, 0)
        queries = finite_rows("x", x, self.features).astype(float)
        k = min(k, len(self))
        found, squares = np.zeros((len(queries), k), np.intp), np.full((len(queries), k), np.inf)
        if k:
            newest = (self.added - 1) % self.capacity
            _search(self._rows, len(self), newest, queries, self._scale(), np.empty(ROWS), found, squares)
        return found, np.sqrt(squares)

    def _scale(self) -> np.ndarray:
        """(features,): weights of features."""
        if self.weights is not None:
            return self.weights
        square = self._squares[: -(-len(self) // ROWS)].sum(0) / len(self)
        return np.divide(1.0, np.sqrt(square), out=np.zeros(self.features), where=square > 0)


class Table(Neighbours):
    """The rows (m, features) of an array, as they are now, searched by L1 distance; O(rows features).

    Of equally near rows the first comes first. Takes no copy and checks nothing.
    """

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The nearest rows, exactly; see `Neighbours`. None is near what has no distance, nan for instance."""
        k = min(k, len(self))
        found, best = np.empty((len(x), k), np.intp), np.empty((len(x), k))
        if k:
            _search_table(self._rows, x, found, best)
        return found, best


def finite_rows(what: str, rows: np.ndarray, width: int) -> np.ndarray:
    """Rows (n, width) as float32; refuses another width, and numbers that are not finite there."""
    with np.errstate(over="ignore"):  # becomes inf
        array = np.asarray(rows, np.float32)
    if array.ndim != 2 or array.shape[1] != width:
        raise UserError(f"{what} must have {width} numbers each, got shape {np.shape(rows)[1:]}")
    if not np.isfinite(array).all():
        raise UserError(f"{what} must be finite numbers up to 3e38, got {np.asarray(rows)[~np.isfinite(array)][0]}")
    return array


@entry
def _search(rows, length, newest, queries, scale, distances, found, best):  # type: ignore[no-untyped-def]
    """Rows (n, k) and squared distances (n, k) of the nearest of `length` rows, (blocks, features, ROWS); k <= length.

    From the newest to the oldest: the last frame's row is near the present one, so that the bound is tight at once.

    Args:
      distances: (ROWS,) room.
      found, best: out; best is inf before.
    """
    for q in range(len(queries)):
        for end, begin in ((newest + 1, 0), (length, newest + 1)):
            while end > begin:
                block = (end - 1) // ROWS
                start = block * ROWS
                if _measure(distances, rows[block], queries[q], scale, best[q, -1]):
                    for row in range(end - 1, max(begin, start) - 1, -1):
                        if distances[row - start] <= best[q, -1]:
                            _place_first(found[q], best[q], row, distances[row - start])
                end = start


@inner
def _measure(distances, block, query, scale, bound):  # type: ignore[no-untyped-def]
    """Squared distances of a block's rows into (ROWS,); False as soon as all are beyond the bound."""
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


@inner
def _add(distances, feature, value, scale):  # type: ignore[no-untyped-def]
    """Add a feature's squares; a function of its own over plain arrays, so that it becomes vector instructions."""
    for i in range(ROWS):
        difference = (feature[i] - value) * scale
        distances[i] += difference * difference


@inner
def _place_first(found, best, row, distance):  # type: ignore[no-untyped-def]
    """Put a row, no farther than the last, where it belongs among the nearest so far; before those as near."""
    place = best.size - 1
    while place > 0 and distance <= best[place - 1]:
        best[place], found[place] = best[place - 1], found[place - 1]
        place -= 1
    best[place], found[place] = distance, row


@inner
def place_last(found, best, row, distance):  # type: ignore[no-untyped-def]
    """Put a row, nearer than the last, where it belongs among the nearest so far; after those as near."""
    place = best.size - 1
    while place > 0 and distance < best[place - 1]:
        best[place], found[place] = best[place - 1], found[place - 1]
        place -= 1
    best[place], found[place] = distance, row


@inner(fastmath={"reassoc"})
def l1(a, b):  # type: ignore[no-untyped-def]
    """L1 distance in float32, summed in an order that suits the processor, which is four times as quick."""
    total = np.float32(0.0)
    for i in range(a.size):
        total += abs(a[i] - b[i])
    return total


@entry
def _search_table(rows, queries, found, best):  # type: ignore[no-untyped-def]
    """Rows (n, k) and distances (n, k) of the nearest by L1, -1 and inf where there are none; k is 1 or more."""
    found[:] = -1
    best[:] = np.inf
    for q in range(len(queries)):
        for row in range(len(rows)):
            distance = l1(queries[q], rows[row])
            if distance < best[q, -1]:
                place_last(found[q], best[q], row, distance)
