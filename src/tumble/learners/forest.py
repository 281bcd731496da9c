"""A density forest: which action was taken in the most similar state, and slow forgetting.

    forest = DensityForest(features=175, size=24, rng=np.random.default_rng(0))
    forest.add(state, action)                       # every frame
    actions, distances = forest.recall(states)      # (n, 24), (n,): of the nearest state found for each
    rows, distances = forest.nearest(states, 6)     # (n, 6) each: where the nearest found lie
    forest.work(200)                                # every frame, or in a loop in a thread of its own

Trees cut the space of states by planes until few pairs are left in a leaf. A state falls into one leaf of each
tree, and what is there is compared with it; so are the last 100 pairs. Neighbours are near, not always nearest.

Traps: without `work` trees are never built anew, and what came first decides their planes for ever. `add`,
`nearest` and `recall` may run while another thread is in `work`; results then depend on who was quicker. What lies in a
row may be another pair after the next `add`. Compiled on first call.
"""

import threading

import numpy as np

from tumble.errors import UserError, check_number
from tumble.learners.pairs import RECENT, add, no_pairs, release
from tumble.learners.trees import NUMBERS, clear, gathered, nearest, new_tools, no_trees, tend
from tumble.maths.bundles import Address
from tumble.maths.neighbours import Neighbours

LARGEST = 1e15  # number in a state or action: squares and sums of so many fit into float32


class DensityForest(Neighbours):
    """Pairs of state and action in random trees that forget independently (rajamaki2017 section 3.2).

    Near is meant in L1 distance, features as they are. A tree that is built anew keeps `capacity` of its pairs,
    drawn at random; so old pairs become rare, tree by tree, and one that no tree has is gone.

    **Departures**: paper determinants of covariances in eq. 4, here of their diagonals, because those of ten points
    in 175 dimensions are 0; and each variance is mixed with the node's own, which counts as one point, because
    else planes that cut off one point win (leaves of 3 instead of 7, recall 0.55 instead of 0.64 on a made-up gait).
    Paper judges planes by all points of a node, here by 64 random ones: half the time, recall 0.64 instead of 0.66.
    Authors' code L2 distance within leaves, here the paper's L1. Paper leaves open what becomes of a tree that is
    not built anew for long, or of equal states: here a tree of twice its capacity, and a leaf that no plane splits,
    put a new pair in the place of a random one of its leaf. Normals are stretches of 65 536 random numbers.

    Attributes:
      features, size: numbers of a state and of an action.
      trees: how many.
      capacity: pairs that a tree keeps when it is built anew; it has up to twice as many before.
      room: different pairs that all trees together have at most.
      rebuilt: trees built anew so far.
    """

    def __init__(
        self, features: int, size: int, rng: np.random.Generator, trees: int = 5, capacity: int = 3600
    ) -> None:  # 5 and 3600: rajamaki2017 Table 1
        for name, value in (("features", features), ("size", size), ("trees", trees), ("capacity", capacity)):
            check_number(name, value, 1)
        self.features, self.size, self.trees, self.capacity, self.rebuilt = features, size, trees, capacity, 0
        self._adding, self._working = (np.random.default_rng(rng.integers(2**63)) for _ in range(2))
        numbers = self._working.standard_normal(NUMBERS + features, np.float32)
        self._trees = no_trees(trees + 1, 4 * capacity, features, numbers)
        self.room = (2 * trees + 1) * capacity + RECENT + 1
        self._pairs = no_pairs(self.room, features, size)
        self._bundles = Address(self._trees), Address(self._pairs)
        self._tools = Address(new_tools(self._adding, features)), Address(new_tools(self._working, features))
        self._places = np.arange(trees + 1)  # of the trees in the arrays; the last is being built
        self._order = np.empty(0, np.int32)  # slots gathered for it
        self._stack = np.empty((2 * capacity, 3), np.int64)  # node, start, end in _order: what is to be split
        self._depth, self._tree, self._since = 0, -1, 0  # on the stack; tree to replace; first number not gathered
        self._lock, self._turn = threading.Lock(), threading.Lock()  # of what queries read; of `work`

    def __len__(self) -> int:
        """Different pairs that are still there."""
        return int(self._pairs.free.size - self._pairs.totals[0])

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """States (n, features) and actions (n, size) of all that are still there, oldest first; copies."""
        with self._lock:
            held = np.flatnonzero(self._pairs.holders > 0)
            order = held[np.argsort(self._pairs.numbers[held])]
            return self._pairs.states[order], self._pairs.actions[order]

    def add(self, state: np.ndarray, action: np.ndarray) -> None:
        """Keep a copy of a pair, (features,) and (size,), in all trees."""
        key, value = checked("a state", state, self.features), checked("an action", action, self.size)
        with self._lock:
            slot = add(self._pairs, key, value)
            self._insert(self._places[:-1], np.array([slot], np.int32), self._tools[0])

    def nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and L1 distances of the nearest states that are found; see `Neighbours`, here by float32.

        Of equally near ones the newest, if it is among the last 100. O(features (100 + trees (log pairs + 12))).
        """
        check_number("k", k, 0)
        queries = checked("states", x, self.features, rows=True)
        with self._lock:
            return self._nearest(queries, min(k, len(self)))

    def recall(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Actions (n, size) of the nearest states that are found, and the L1 distances (n,); 0, inf where none is."""
        queries = checked("states", states, self.features, rows=True)
        with self._lock:
            rows, distances = self._nearest(queries, 1)
            actions = np.where(rows >= 0, self._pairs.actions[rows[:, 0]], 0.0)
        return actions.astype(float), distances[:, 0]

    def _nearest(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows (n, k) and distances (n, k); under the lock."""
        found, best = np.empty((len(queries), k), np.intp), np.empty((len(queries), k))
        trees, pairs = self._bundles
        nearest(trees, self._places[:-1], pairs, queries, found, best)
        return found, best

    def _insert(self, places: np.ndarray, slots: np.ndarray, tools: Address) -> None:
        """Put pairs into the trees at those places; under the lock."""
        trees, pairs = self._bundles
        tend(trees, places, pairs, slots, 2 * self.capacity, 0, slots[:0], self._stack, 0, 0, tools)

    def work(self, points: int) -> None:
        """Go on building a tree anew: about so many points are put to 25 planes, and one tree is finished at most.

        With 175 features a point takes about 3 us, and a tree of 3600 pairs some 17 000 points. When it is finished
        it takes its place, with what was added meanwhile, and a random tree is next.
        """
        check_number("points", points, 1)
        with self._turn:
            if self._tree < 0 and not self._begin():
                return
            nothing = self._places[:0], self._bundles[1], self._order[:0], 0
            built = int(self._places[-1]), self._order, self._stack, self._depth, int(points)
            self._depth = tend(self._bundles[0], *nothing, *built, self._tools[1])
            if self._depth == 0:
                self._finish()

    def _begin(self) -> bool:
        """Gather the pairs of a random tree, `capacity` at most; False if there are none."""
        with self._lock:
            if not self._pairs.totals[1]:
                return False
            self._tree = int(self._working.integers(self.trees))
            slots = gathered(self._trees, int(self._places[self._tree]))
            self._order = self._working.permutation(slots)[: self.capacity]
            self._pairs.holders[self._order] += 1
            self._since = int(self._pairs.totals[1])
        clear(self._trees, int(self._places[-1]))
        self._stack[0], self._depth = (0, 0, len(self._order)), 1
        return True

    def _finish(self) -> None:
        """Put the new tree in the place of the old one."""
        with self._lock:
            old, new = int(self._places[self._tree]), int(self._places[-1])
            self._pairs.holders[gathered(self._trees, new)] += 1
            known = gathered(self._trees, old)
            since = known[self._pairs.numbers[known] >= self._since]  # added while the new one was built
            self._insert(self._places[-1:], since, self._tools[1])
            release(self._pairs, self._order)
            release(self._pairs, known)
            self._places[self._tree], self._places[-1] = new, old
        self._tree = -1
        self.rebuilt += 1


def checked(what: str, numbers: np.ndarray, width: int, rows: bool = False) -> np.ndarray:
    """(width,), or (n, width) with rows, as float32; refuses other shapes, and numbers that are too large or none."""
    given = np.asarray(numbers, float)
    if given.ndim != 1 + rows or given.shape[-1] != width:
        raise UserError(f"{what} must have shape ({f'n, {width}' if rows else f'{width},'}), got {given.shape}")
    fine = np.abs(given) <= LARGEST
    if not fine.all():
        raise UserError(f"{what} must be of numbers within +-{LARGEST:g}, got {given[~fine][0]:g}")
    return given.astype(np.float32, order="C")
