"""TreeSampler: a kD-tree of samples that says where to sample next, the sampler of hamalainen2014 without simulation.

Each sample owns a cell of the box, and all cells together tile it. Fitness times volume, the weight, is
what a sample knows of the integral of the fitness. New samples are drawn where weights are large::

    import numpy as np
    from tumble.maths.tree_sampler import TreeSampler

    sampler = TreeSampler(np.zeros(2), np.ones(2), np.random.default_rng(0))
    for frame in range(10):
        target = np.array([0.05 * frame, 0.5])
        sampler.begin(keep=10)  # M = 0.1 N; what is kept is stale until it is evaluated again
        points = sampler.guess(np.random.default_rng(frame).random((20, 2)))
        sampler.tell(-100 * ((points - target) ** 2).sum(axis=1))
        for batch in range(20):
            points = sampler.ask(4, greedy=batch >= 15)
            sampler.tell(-100 * ((points - target) ** 2).sum(axis=1))
        print(sampler.points[sampler.best])

Traps: fitness is a logarithm, everywhere. Indices hold until the next `begin`, which shuffles. A sample that
is not `fresh` has the fitness of an earlier frame. A duplicate adds no sample. Greedy draws leave the best a tiny
cell, so that `begin` may prune it: guess it again (section 4.5 does). Compiled on first call.
"""

from collections.abc import Callable

import numpy as np

from tumble.errors import UserError, check_number
from tumble.maths.bundles import Address
from tumble.maths.kdtree import absorb, make, propose, prune, select


class TreeSampler:
    """kD-tree sequential importance sampling (hamalainen2014 Algorithm 2) over a box.

    A time step is `begin`, then `guess` and `tell`, then `ask` and `tell` until the budget is spent, the last
    ones greedy. Without `begin` it is Algorithm 1. Everything is in the log domain: log_fitness may be -inf or
    -5000. All randomness is the generator's.

    Attributes:
      size: dimensions.
      clipped: guesses that were outside the box, and moved to its nearest point, since the sampler was made.
      width, greedy_width: standard deviations of draws in sides of a cell; they may be changed.

    **Departures.** The paper does not say where a cell is split. As in the authors' code it is halfway between
    the two samples on the longest side, in sides of the box; among equal sides (in 136 dimensions nearly all
    are) we take the one on which they are farthest apart, since a cut between coordinates that hardly differ
    leaves slivers. Draws are truncated to the box, as in the code. Pruning is the paper's (least weight, siblings
    grow into the cell), not the code's (of sibling leaves, the less fit). Points that are evaluated together
    are chosen together: with batches of one this is Algorithm 2 to the letter; in a batch of b, all leaves are
    selected, independently, by the weights from before the batch. So a leaf may be refined several times at the
    same width, where one by one the second draw would know the first one's split and fitness; a stale leaf that
    is selected again is drawn from before its new fitness is known; the first b draws of an empty tree are
    uniform. What it tends to is the same: the tree is the one that inserting the points one by one gives, and no
    part of the box has zero probability, as a Gaussian truncated to the box is zero nowhere.
    """

    def __init__(
        self,
        low: np.ndarray,
        high: np.ndarray,
        rng: np.random.Generator,
        width: float = 0.5,  # sigma, section 3.3: 0.5
        greedy_width: float = 0.005,  # sigma_g, section 3.5: 0.005
    ) -> None:
        box = _box(low, high)
        check_number("width", width, 0, above=True)
        check_number("greedy_width", greedy_width, 0, above=True)
        self.size, self.clipped = box.shape[1], 0
        self._rng, self.width, self.greedy_width = rng, float(width), float(greedy_width)
        self._tree, self._n = make(box, 64), 0
        self._address = Address(self._tree)
        self._pending, self._known = np.empty((0, self.size)), np.empty(0, np.intp)

    def __len__(self) -> int:
        return self._n

    @property
    def points(self) -> np.ndarray:
        """(n, d), a copy, in the order of insertion."""
        return self._tree.points[: self._n].copy()

    @property
    def log_fitness(self) -> np.ndarray:
        """(n,), a copy; of an earlier time step where not `fresh`."""
        return self._tree.log_fitness[: self._n].copy()

    @property
    def fresh(self) -> np.ndarray:
        """(n,), a copy: whether evaluated since `begin`."""
        return self._tree.fresh[: self._n].copy()

    @property
    def log_volumes(self) -> np.ndarray:
        """(n,), a copy: logarithms of the cells' shares of the box."""
        return self._tree.log_volumes[: self._n].copy()

    @property
    def volumes(self) -> np.ndarray:
        """(n,): the cells' shares of the box; they sum to one. May underflow in many dimensions."""
        return np.exp(self.log_volumes)

    @property
    def cells(self) -> np.ndarray:
        """(n, 2, d), a copy: low and high of each sample's cell."""
        return self._tree.cells[: self._n].copy()

    @property
    def best(self) -> int:
        """Index of the fittest fresh sample, the earliest among equals; UserError where none is fresh."""
        fresh = np.flatnonzero(self._tree.fresh[: self._n])
        if not fresh.size:
            raise UserError(f"none of {self._n} samples was evaluated since begin; ask or guess, then tell")
        return int(fresh[self._tree.log_fitness[fresh].argmax()])

    def integral(self) -> float:
        """Log of the sum of weights, which estimates the mean of the fitness over the box; -inf for an empty tree."""
        return float(np.logaddexp.reduce(self._log_weights(), initial=-np.inf))

    def begin(self, keep: int, move: Callable[[np.ndarray], np.ndarray] | None = None) -> None:
        """Begin a time step: prune to the `keep` heaviest, shuffle, build the tree anew, all fitness stale.

        For problems whose samples move in time, `move` maps the kept points (m, d) to where they are now; clipped
        to the box, not counted. Where some coincide afterwards, fewer are kept.
        """
        self._settled("begin")
        check_number("keep", keep, 0)
        alive = np.ones(self._n, bool)
        prune(self._address, keep, alive, np.empty(self._n, np.intp))
        kept = self._rng.permutation(np.flatnonzero(alive)[:keep])
        points, log_fitness = self._tree.points[kept], self._tree.log_fitness[kept]
        stale = np.full(len(kept), -1), log_fitness, False
        self._n = absorb(self._address, 0, points, *stale)
        if move is not None:  # only now: if it fails, the tree is whole
            points = self._checked("moved points", move(points), len(kept))
            self._n = absorb(self._address, 0, np.clip(points, *self._tree.box), *stale)

    def guess(self, points: np.ndarray) -> np.ndarray:
        """(k, d) as they are to be evaluated: the guesses, clipped to the box (counted). They become pending."""
        self._settled("guess")
        points = self._checked("guesses", points)
        self._pending, self._known = np.clip(points, *self._tree.box), np.full(len(points), -1)
        self.clipped += int((points != self._pending).any(axis=1).sum())
        return self._pending.copy()

    def ask(self, count: int, greedy: bool = False, spread: float = 1.0) -> np.ndarray:
        """(count, d): what to evaluate next. They become pending.

        Leaves are selected in proportion to their weights, uniformly where all are -inf. A stale one is itself
        to be evaluated, the first time; others are drawn from, standard deviation `width` times the cell's sides.
        Greedy: all from the leaf of the best fresh sample, with `greedy_width`. Of an empty tree: uniform draws.

        Args:
          spread: how much wider the last draw is than the first, which has the plain width; those between differ
            by equal ratios.
        """
        self._settled("ask")
        check_number("count", count, 0)
        check_number("spread", spread, 0, above=True)
        z, u = self._rng.standard_normal((count, self.size)), self._rng.random((count, self.size))
        pick = self._rng.random(count)
        if not self._n:
            low, high = self._tree.box
            self._pending, self._known = np.minimum(low + u * (high - low), high), np.full(count, -1)
        else:
            leaves = np.full(count, self.best) if greedy else select(self._log_weights(), pick)
            widths = (self.greedy_width if greedy else self.width) * np.geomspace(1.0, spread, count)
            self._pending, self._known = np.empty(z.shape), np.full(count, -1)
            propose(self._address, leaves, widths, z, u, self._pending, self._known, np.zeros(self._n, bool))
        return self._pending.copy()

    def tell(self, log_fitness: np.ndarray) -> None:
        """Log fitness (k,) of what is pending, in its order; NaN counts as -inf.

        New points are inserted; one that is in the tree already only updates its fitness, and is fresh.
        """
        values = np.asarray(log_fitness, dtype=float)
        if values.shape != self._known.shape:
            raise UserError(f"{len(self._known)} points are pending, got log_fitness of shape {values.shape}")
        values = np.where(np.isnan(values), -np.inf, values)
        if (values == np.inf).any():
            raise UserError(f"log_fitness must be below inf, got inf for pending point {values.argmax()}")
        self._reserve(self._n + len(values))
        self._n = absorb(self._address, self._n, self._pending, self._known, values, True)
        self._pending, self._known = self._pending[:0], self._known[:0]

    def _log_weights(self) -> np.ndarray:
        return self._tree.log_fitness[: self._n] + self._tree.log_volumes[: self._n]

    def _reserve(self, room: int) -> None:
        """Room for so many samples."""
        have = len(self._tree.at)
        if room > have:
            bigger = make(self._tree.box, max(room, 2 * have))
            for new, old in zip(bigger[1:], self._tree[1:], strict=True):
                new[:have] = old
            self._tree, self._address = bigger, Address(bigger)

    def _settled(self, verb: str) -> None:
        """Refuse a verb while points are pending."""
        if len(self._known):
            raise UserError(f"{len(self._known)} points are pending: tell their log_fitness before the next {verb}")

    def _checked(self, name: str, points: np.ndarray, count: int | None = None) -> np.ndarray:
        """Points as (k, d) floats without NaN, k = count if given."""
        points = np.asarray(points, dtype=float)
        if points.ndim != 2 or points.shape[1] != self.size or count not in (None, len(points)):
            raise UserError(f"{name} must have shape ({count or 'k'}, {self.size}), got {points.shape}")
        if np.isnan(points).any():
            i, j = np.argwhere(np.isnan(points))[0]
            raise UserError(f"{name} must be numbers, got nan in coordinate {j} of point {i}")
        return points


def _box(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(2, d), checked."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if low.ndim != 1 or low.shape != high.shape or not low.size:
        raise UserError(f"low and high must have the same shape (d,), got {low.shape} and {high.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        fine = np.isfinite(high - low) & (low < high)  # the side is finite only if both ends are
    if not fine.all():
        j = int(np.argmin(fine))
        raise UserError(f"low must be below high, both finite; coordinate {j} has low {low[j]:g} and high {high[j]:g}")
    return np.array([low, high])
