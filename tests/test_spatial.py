"""The kD-tree sampler: cells that tile the box, a plain tree as oracle, integrals, statistics, bad calls."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from tumble.errors import UserError
from tumble.maths import kdtree, sampling
from tumble.maths.bundles import Address
from tumble.maths.compiled import as_entry
from tumble.maths.kdtree import make, select
from tumble.maths.tree_sampler import TreeSampler

find, insert, remove = as_entry(kdtree.find), as_entry(kdtree.insert), as_entry(kdtree.remove)
truncated_normal = as_entry(sampling.truncated_normal)

unhurried = settings(deadline=None, max_examples=60)
seeds = st.integers(0, 2**32 - 1)


def sampler(d: int = 2, seed: int = 0, low: float = 0.0, high: float = 1.0, **options: float) -> TreeSampler:
    return TreeSampler(np.full(d, low), np.full(d, high), np.random.default_rng(seed), **options)


def bump(points: np.ndarray) -> np.ndarray:
    """A Gaussian of width 0.1 at (0.4, 0.4, ...)."""
    return -0.5 * (((points - 0.4) / 0.1) ** 2).sum(axis=1)


def two_bumps(points: np.ndarray) -> np.ndarray:
    """Gaussians of width 0.1 at 0.25 and, half as high, at 0.75 of the diagonal."""
    return np.logaddexp(
        -0.5 * (((points - 0.25) / 0.1) ** 2).sum(axis=1),
        -0.5 * (((points - 0.75) / 0.1) ** 2).sum(axis=1) - math.log(2),
    )


def flat(points: np.ndarray) -> np.ndarray:
    return np.full(len(points), 0.7)


def run(tree: TreeSampler, log_f, count: int, batch: int = 1, greedy: bool = False) -> TreeSampler:
    """Evaluate `count` more points."""
    while count > 0:
        tree.tell(log_f(tree.ask(min(batch, count), greedy)))
        count -= batch
    return tree


def guessed(tree: TreeSampler, points, log_fitness) -> TreeSampler:
    """Insert these."""
    tree.guess(np.asarray(points, dtype=float))
    tree.tell(np.asarray(log_fitness, dtype=float))
    return tree


# Cells ----------------------------------------------------------------------------------------------


def check_tiling(points, cells, log_volumes, box) -> None:
    """Cells have their point, overlap nowhere, have the volumes that they say, and fill the box."""
    n, low, high = len(points), cells[:, 0], cells[:, 1]
    assert (low <= points).all() and (points <= high).all()
    assert (low >= box[0]).all() and (high <= box[1]).all() and (low < high).all()
    assert log_volumes == pytest.approx(np.log((high - low) / (box[1] - box[0])).sum(axis=1), abs=1e-9)
    assert np.exp(log_volumes).sum() == pytest.approx(1, abs=1e-11)
    apart = ((high[:, None] <= low) | (low[:, None] >= high)).any(axis=2)
    assert np.array_equal(apart, ~np.eye(n, dtype=bool))


def check(tree: TreeSampler) -> None:
    check_tiling(tree.points, tree.cells, tree.log_volumes, tree._tree.box)
    assert tree.volumes == pytest.approx(np.exp(tree.log_volumes))
    assert [find(tree._address, x)[0] for x in tree.points] == list(range(len(tree)))


steps = st.lists(
    st.tuples(st.sampled_from(["guess", "ask", "greedy", "begin", "drift", "same"]), st.integers(1, 30)), max_size=12
)


@unhurried
@given(steps, st.sampled_from([1, 2, 5]), seeds)
def test_cells_tile_the_box_after_anything(steps, d, seed):
    rng = np.random.default_rng(seed)
    tree = TreeSampler(rng.normal(size=d), 1 + rng.exponential(size=d) + 3, rng)
    for verb, count in steps:
        if verb == "guess":
            guessed(tree, rng.normal(0, 4, size=(count, d)), rng.normal(size=count))  # many on the boundary
        elif verb == "same":
            guessed(tree, np.repeat(rng.normal(0, 4, size=(1, d)), count, axis=0), rng.normal(size=count))
        elif verb == "begin":
            tree.begin(count)
        elif verb == "drift":
            tree.begin(count, lambda x: x + rng.normal(0, 1, size=x.shape))
        elif verb == "ask" or not tree.fresh.any():
            run(tree, bump, count, batch=4)
        else:
            run(tree, bump, count, batch=4, greedy=True)
        if len(tree):
            check(tree)


def test_cells_tile_the_box_in_136_dimensions():
    tree = sampler(136, low=-3.0, high=2.0)
    for _ in range(4):
        tree.begin(20)
        guessed(tree, np.random.default_rng(0).uniform(-3, 2, (20, 136)), np.random.default_rng(0).normal(size=20))
        run(tree, bump, 150, batch=6)
        check(tree)
        assert len(tree) > 150 and tree.volumes.min() > 0


@pytest.mark.parametrize("d", [1, 2, 4, 136])
def test_removed_cells_go_to_the_other_side_of_their_split(d):
    rng = np.random.default_rng(d)
    tree = make(np.array([np.zeros(d), np.ones(d)]), 60)
    for n in range(60):
        assert insert(Address(tree), n, rng.random(d)) == n
    alive = list(range(60))
    for i in rng.permutation(60)[:-1]:
        remove(Address(tree), i, np.empty(60, np.intp))
        alive.remove(i)
        check_tiling(tree.points[alive], tree.cells[alive], tree.log_volumes[alive], tree.box)
        assert [find(Address(tree), x)[0] for x in tree.points[alive]] == alive
    assert np.array_equal(tree.cells[alive[0]], tree.box)


def test_the_longest_side_is_split_halfway_between_samples():
    tree = TreeSampler(np.zeros(2), np.array([10.0, 1.0]), np.random.default_rng(0))
    guessed(tree, [[2, 0.2], [4, 0.9]], [0, 0])  # sides equal, in sides of the box; 0.2 and 0.7 apart
    assert tree.cells.tolist() == [[[0, 0], [10, 0.55]], [[0, 0.55], [10, 1]]]
    guessed(tree, [[2.5, 0.5]], [0])  # now 1 and 0.55 of the box's sides
    assert tree.cells[0].tolist() == [[0, 0], [2.25, 0.55]]
    guessed(tree, [[2.5, 0.1]], [0])  # the longest side, 0.775, does not tell them apart
    assert tree.cells[2].tolist() == [[2.25, 0.3], [10, 0.55]]
    assert tree.volumes == pytest.approx([0.225 * 0.55, 0.45, 0.775 * 0.25, 0.775 * 0.3])


def test_neighbouring_numbers_are_told_apart_or_are_one():
    """Two samples can only be kept apart where a third number fits between them."""
    x = 0.3
    near, next_near = np.nextafter(x, 1), np.nextafter(np.nextafter(x, 1), 1)
    tree = guessed(sampler(1), [[x], [near]], [1.0, 2.0])
    assert tree.points.tolist() == [[near]] and tree.log_fitness.tolist() == [2.0]
    tree = guessed(sampler(1), [[x], [next_near]], [1.0, 2.0])
    assert tree.points.tolist() == [[x], [next_near]]
    check(tree)
    for ends in ([0.0, np.nextafter(0, 1)], [1.0, np.nextafter(1, 0)], [1.0, 1 - 2.0**-52], [0.0, 1e-300]):
        assert np.isfinite(guessed(sampler(1), np.transpose([ends]), [0, 0]).log_volumes).all()


# A plain tree, and Algorithm 2 in its words ---------------------------------------------------------


class Plain:
    """Algorithm 2 as it is written: a tree of dicts, cells from the root each time, one sample at a time."""

    def __init__(self, low, high, rng):
        self.low, self.high, self.rng, self.root = low, high, rng, None

    def leaves(self):
        """All leaves, each with its cell."""

        def visit(node, low, high):
            if "x" in node:
                return [node | {"node": node, "low": low, "high": high}]
            cut = node["at"] * np.eye(len(low))[node["axis"]]
            on = np.arange(len(low)) == node["axis"]
            left, right = node["children"]
            return visit(left, low, np.where(on, cut, high)) + visit(right, np.where(on, cut, low), high)

        return visit(self.root, self.low, self.high) if self.root else []

    def weight(self, leaf):
        return leaf["f"] + np.log((leaf["high"] - leaf["low"]) / (self.high - self.low)).sum()

    def insert(self, x, f, stale=False):
        new = {"x": x, "f": f, "stale": stale, "age": len(self.leaves())}
        if self.root is None:
            self.root = new
            return
        (leaf,) = [one for one in self.leaves() if ((one["low"] <= x) & (x < one["high"])).all()]
        old = leaf["node"]
        sides = (leaf["high"] - leaf["low"]) / (self.high - self.low)
        apart = np.abs(x - leaf["x"]) / (self.high - self.low)
        axis = max(range(len(x)), key=lambda j: (sides[j], apart[j]))
        at = (x[axis] + old["x"][axis]) / 2
        moved = dict(old)
        old.clear()
        old |= {"axis": axis, "at": at, "children": [moved, new] if x[axis] > at else [new, moved]}

    def remove(self, gone):
        def without(node):
            if "x" in node:
                return None if node is gone else node
            left, right = map(without, node["children"])
            return node | {"children": [left, right]} if left and right else left or right

        self.root = without(self.root)

    def begin(self, keep):
        while len(self.leaves()) > keep:
            self.remove(min(self.leaves(), key=self.weight)["node"])
        kept = sorted(self.leaves(), key=lambda leaf: leaf["age"])
        self.root = None
        for i in self.rng.permutation(len(kept)):
            self.insert(kept[i]["x"], kept[i]["f"], stale=True)

    def sample(self, log_f, greedy=False):
        d = len(self.low)
        z, u, pick = self.rng.standard_normal((1, d))[0], self.rng.random((1, d))[0], self.rng.random(1)[0]
        leaves = sorted(self.leaves(), key=lambda leaf: leaf["age"])
        if not leaves:
            x = self.low + u * (self.high - self.low)
            return self.insert(x, log_f(x[None])[0])
        weights = special.softmax([self.weight(leaf) for leaf in leaves])
        leaf = leaves[np.searchsorted(np.cumsum(weights), pick)]
        if greedy:
            leaf = max((leaf for leaf in leaves if not leaf["stale"]), key=lambda leaf: leaf["f"])
        if leaf["stale"]:
            leaf["node"] |= {"stale": False, "f": log_f(leaf["x"][None])[0]}
            return None
        sd = (0.005 if greedy else 0.5) * (leaf["high"] - leaf["low"])
        x = [truncated_normal(leaf["x"][j], sd[j], self.low[j], self.high[j], z[j], u[j]) for j in range(d)]
        return self.insert(np.array(x), log_f(np.array(x)[None])[0])


@pytest.mark.parametrize("d", [1, 2, 3, 40])
def test_one_by_one_it_is_algorithm_2(d):
    """Same random numbers, same samples in the same cells, frame by frame, as a tree without any cleverness."""
    low, high = np.linspace(-2, 0, d), np.linspace(1, 5, d)
    tree = TreeSampler(low, high, np.random.default_rng(5))
    plain = Plain(low, high, np.random.default_rng(5))
    for frame in range(4):

        def log_f(points, goal=0.2 + 0.1 * frame):
            return -((points - goal) ** 2).sum(axis=1) / 0.3

        tree.begin(6)
        plain.begin(6)
        for k in range(30):
            greedy = k >= 25
            run(tree, log_f, 1, greedy=greedy)
            plain.sample(log_f, greedy)
        leaves = sorted(plain.leaves(), key=lambda leaf: leaf["age"])
        assert tree.points == pytest.approx(np.array([leaf["x"] for leaf in leaves]), abs=1e-9)
        assert np.array_equal(tree.fresh, [not leaf["stale"] for leaf in leaves])
        assert tree.log_fitness == pytest.approx([leaf["f"] for leaf in leaves], abs=1e-6)
        assert tree.cells[:, 0] == pytest.approx(np.array([leaf["low"] for leaf in leaves]), abs=1e-9)
        assert tree.cells[:, 1] == pytest.approx(np.array([leaf["high"] for leaf in leaves]), abs=1e-9)


# What the weights say -------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("d", [1, 2, 136])
def test_the_integral_of_a_constant_is_exact(d, batch):
    tree = run(sampler(d, low=-2, high=5), flat, 150, batch)
    assert tree.integral() == pytest.approx(0.7, abs=1e-12)
    tree.begin(10)
    assert tree.integral() == pytest.approx(0.7, abs=1e-12)


def estimates(log_f, d: int, count: int, batch: int, runs: int = 16) -> np.ndarray:
    """(runs,) integrals over the unit box. Sixteen uniform draws begin, so that no mode starts unseen."""
    first = [run(sampler(d, seed), log_f, 16, 16) for seed in range(runs)]
    return np.exp([run(tree, log_f, count, batch).integral() for tree in first])


def gaussian(at: float, d: int) -> float:
    """Integral of exp(-|x - at|^2 / (2 0.1^2)) over the unit box."""
    return (0.1 * math.sqrt(2 * math.pi) * np.diff(special.ndtr((np.arange(2) - at) / 0.1)).item()) ** d


INTEGRALS = {f"bump in {d}-D": (bump, d, gaussian(0.4, d)) for d in (1, 2, 3)} | {
    f"two in {d}-D": (two_bumps, d, gaussian(0.25, d) + gaussian(0.75, d) / 2) for d in (1, 2)
}


def coarseness(log_f, d: int) -> float:
    """C, where C n^(-1/d) bounds the relative error of n cells that all have the weight F / n, F = integral of f.

    Such a cell at x has the side (F / (n f(x)))^(1/d), and inside it f is off by |gradient|_1 half a side on average,
    if not less. Summed: integral of |gradient|_1 f^(-1/d) F^(1/d) / 2, by F.
    """
    side = (np.arange(100) + 0.5) / 100
    points = np.stack(np.meshgrid(*[side] * d, indexing="ij"), axis=-1)
    f = np.exp(log_f(points.reshape(-1, d))).reshape(points.shape[:-1])
    steep = sum(np.abs(np.gradient(f, side, axis=j)) for j in range(d))
    return (steep * f ** (-1 / d)).mean() * f.mean() ** (1 / d - 1) / 2


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("case", INTEGRALS)
def test_the_sum_of_weights_tends_to_the_integral(case, batch):
    log_f, d, exact = INTEGRALS[case]
    errors = {}
    for count in (50, 800):
        errors[count] = np.sqrt(((estimates(log_f, d, count, batch) / exact - 1) ** 2).mean())
        assert errors[count] < coarseness(log_f, d) * count ** (-1 / d)
    assert errors[800] < errors[50] / 2  # by the same rule a factor of 16, 4, 2.5


def test_batches_tend_to_the_same():
    """Means over 16 seeds differ by less than 4 of their standard errors, which are below a hundredth."""
    one, eight = (estimates(two_bumps, 2, 1000, batch) / INTEGRALS["two in 2-D"][2] for batch in (1, 8))
    error = math.sqrt((one.var(ddof=1) + eight.var(ddof=1)) / len(one))
    assert abs(one.mean() - eight.mean()) < 4 * error < 0.04


@pytest.mark.parametrize("batch", [1, 8])
def test_samples_are_distributed_as_the_fitness(batch):
    """Nine times as fit on the left as on the right: nine in ten go there, but for the cells at the border.

    A draw crosses the border from a cell that is within its own side of it; once some hundred samples are in, such
    cells are few. Five binomial standard deviations, and 0.02 for them.
    """

    def log_f(points):
        return np.where(points[:, 0] < 0.5, math.log(9), 0.0)

    tree = run(sampler(1), log_f, 300, batch)
    later = run(tree, log_f, 1000, batch).points[300:]
    assert abs((later < 0.5).mean() - 0.9) < 5 * math.sqrt(0.9 * 0.1 / 1000) + 0.02


@pytest.mark.parametrize("batch", [1, 8])
def test_samples_concentrate_on_both_modes(batch):
    """Of a mixture of 2 : 1 in 2-D, 86 % is within two widths of a centre, 4 pi 0.1^2 = 13 % of the area each."""
    shares = []
    for seed in range(8):
        points = run(run(sampler(2, seed), two_bumps, 16, 16), two_bumps, 400, batch).points
        shares.append([(np.linalg.norm(points - centre, axis=1) < 0.2).mean() for centre in (0.25, 0.75)])
    high, low = np.mean(shares, axis=0)
    assert high + low > 0.6 and high > low > 0.13


def test_selection_is_in_proportion_to_weights():
    weights = np.array([0.1, 0.0, 0.4, 0.3, 0.2, 0.0])
    with np.errstate(divide="ignore"):
        picks = select(np.log(weights) - 5000, np.random.default_rng(0).random(20000))
    counts = np.bincount(picks, minlength=6)
    assert counts[[1, 5]].tolist() == [0, 0]
    assert stats.chisquare(counts[weights > 0], 20000 * weights[weights > 0]).pvalue > 1e-4


def test_selection_at_the_ends_of_the_interval():
    ends = np.array([0.0, np.nextafter(1.0, 0.0)])
    assert select(np.array([-np.inf, 0.0, 0.0, -np.inf]), ends).tolist() == [1, 2]
    assert select(np.full(3, -np.inf), ends).tolist() == [0, 2]
    for n in range(1, 200):  # weights that add up to a little less or more than one, and two without any
        weights = np.concatenate([np.zeros(n), [-np.inf, -np.inf]])
        assert select(weights, ends).tolist() == [0, n - 1]


def test_logarithms_do_not_underflow():
    """Shifted by any constant, the fitness gives the same samples, and the integral shifted by it."""
    trees = [run(sampler(3), lambda x, shift=shift: bump(x) + shift, 80, 4) for shift in (0.0, -5000.0, -92.0, 5000.0)]
    for tree, shift in zip(trees[1:], (-5000, -92, 5000), strict=True):
        assert np.array_equal(tree.points, trees[0].points)
        assert tree.integral() == pytest.approx(trees[0].integral() + shift, abs=1e-9)


def test_a_roll_of_1e_minus_40_still_wins_over_nothing():
    """hamalainen2014 eq. 11 weighs a goal with 1e-40: where nothing else is possible, it draws all samples."""

    def log_f(points):
        return np.where(points[:, 0] > 0.9, math.log(1e-40), -np.inf)

    points = run(guessed(sampler(2), [[0.95, 0.5], [0.1, 0.1]], [math.log(1e-40), -np.inf]), log_f, 200).points
    assert (points[:, 0] > 0.8).mean() > 0.5


def test_if_nothing_is_fit_leaves_are_taken_uniformly():
    tree = guessed(sampler(1, width=1e-9), [[0.05], [0.15], [0.8]], np.full(3, -np.inf))
    near = np.abs(tree.ask(3000) - tree.points.T).argmin(axis=1)
    assert stats.chisquare(np.bincount(near, minlength=3)).pvalue > 1e-4
    assert tree.integral() == -np.inf


# Draws ----------------------------------------------------------------------------------------------


def test_draws_are_gaussians_of_the_leaf_truncated_to_the_box():
    tree = TreeSampler(np.array([0.0, -4.0]), np.array([1.0, 4.0]), np.random.default_rng(0))
    guessed(tree, [[0.2, 3.0]], [0])
    points = tree.ask(4000)
    for j, (mean, side) in enumerate([(0.2, 1.0), (3.0, 8.0)]):
        low, high = tree.cells[0, :, j]
        sd = 0.5 * side
        exact = stats.truncnorm((low - mean) / sd, (high - mean) / sd, loc=mean, scale=sd)
        assert stats.kstest(points[:, j], exact.cdf).pvalue > 1e-4


def test_a_leaf_is_drawn_from_in_its_own_size_and_beyond_it():
    """The cell [0, 0.3] of the point 0.2: deviation 0.15, cut off by the box and not by the cell."""
    tree = guessed(sampler(1), [[0.2], [0.4]], [0.0, -np.inf])
    points = tree.ask(4000)[:, 0]
    exact = stats.truncnorm(-0.2 / 0.15, 0.8 / 0.15, loc=0.2, scale=0.15)
    assert stats.kstest(points, exact.cdf).pvalue > 1e-4
    assert (points > 0.3).any()


def test_an_empty_tree_is_drawn_from_uniformly():
    points = sampler(2, low=-1, high=3).ask(4000)
    for j in range(2):
        assert stats.kstest(points[:, j], stats.uniform(-1, 4).cdf).pvalue > 1e-4


def test_greedy_draws_are_near_the_best_and_in_the_box():
    tree = run(sampler(5), bump, 100)
    best, (low, high) = tree.points[tree.best], tree.cells[tree.best]
    points = tree.ask(500, greedy=True)
    assert (np.abs(points - best) < 5.5 * 0.005 * (high - low)).all()  # 2500 draws exceed that once in 10^4 runs
    assert np.std(points - best, axis=0) == pytest.approx(0.005 * (high - low), rel=5 / math.sqrt(2 * 500))
    tree = guessed(sampler(3), [[0.0, 1.0, 0.5]], [0])
    points = tree.ask(500, greedy=True)
    assert (points >= 0).all() and (points <= 1).all() and (np.abs(points - [0, 1, 0.5]) < 0.03).all()


def test_greedy_improves_the_best():
    for seed in range(5):
        tree = run(sampler(4, seed), bump, 50)
        before = tree.log_fitness.max()
        run(tree, bump, 50, greedy=True)
        assert tree.log_fitness.max() > before


# Time steps -----------------------------------------------------------------------------------------


def test_pruning_keeps_the_heaviest():
    points = [[0.1], [0.3], [0.5], [0.7], [0.9]]  # cells of 0.2
    for order in ([5, 1, 4, 2, 3], [-np.inf, 0, -5000, 1, -np.inf]):
        tree = guessed(sampler(1), points, order)
        tree.begin(2)
        heaviest = np.sort(np.argsort(order, kind="stable")[-2:])
        assert sorted(tree.points.tolist()) == [points[i] for i in heaviest]
        check(tree)


def test_volume_counts_in_pruning_and_grows_as_neighbours_go():
    """Cells 0.05, 0.1, 0.85, fitness 4, 3, 1: the first two weigh 0.2 and 0.3. Once the first is gone, the second
    has 0.15 and weighs 0.45, less than 0.85."""
    tree = guessed(sampler(1), [[0.0], [0.1], [0.2]], np.log([4.0, 3.0, 1.0]))
    assert tree.volumes == pytest.approx([0.05, 0.1, 0.85])
    tree.begin(2)
    assert sorted(tree.points[:, 0]) == [0.1, 0.2]
    tree = guessed(sampler(1), [[0.0], [0.1], [0.2]], np.log([4.0, 3.0, 0.5]))  # now 0.45 is more than 0.425
    tree.begin(1)
    assert tree.points.tolist() == [[0.1]]


def test_among_equals_the_first_goes():
    tree = guessed(sampler(1), [[0.25], [0.75], [0.4]], np.full(3, -np.inf))
    tree.begin(1)
    assert tree.points.tolist() == [[0.4]]


@pytest.mark.parametrize(("keep", "left"), [(0, 0), (1, 1), (7, 7), (30, 30), (99, 30)])
def test_begin_keeps_no_more_than_asked_for(keep, left):
    tree = run(sampler(2), bump, 30)
    points = {tuple(x) for x in tree.points}
    fitness = dict(zip(map(tuple, tree.points), tree.log_fitness, strict=True))
    tree.begin(keep)
    assert len(tree) == left and not tree.fresh.any()
    assert {tuple(x) for x in tree.points} <= points
    assert [fitness[tuple(x)] for x in tree.points] == tree.log_fitness.tolist()
    assert tree.ask(3).shape == (3, 2)


def test_begin_shuffles_by_the_generator():
    """Every order of three is as frequent; the same seed gives the same."""

    def orders(seed):
        tree = guessed(sampler(1, seed), [[0.1], [0.5], [0.8]], np.zeros(3))
        found = []
        for _ in range(1200):
            tree.begin(3)
            found.append(tuple(tree.points[:, 0]))
        return found

    first = orders(1)
    counts = np.unique(first, axis=0, return_counts=True)[1]
    assert counts.size == 6 and stats.chisquare(counts).pvalue > 1e-4
    assert first == orders(1) != orders(2)


def test_a_stale_sample_is_evaluated_before_it_is_drawn_from():
    tree = guessed(sampler(2), [[0.3, 0.4]], [5.0])
    tree.begin(1)
    assert tree.ask(1).tolist() == [[0.3, 0.4]]
    tree.tell(np.array([2.0]))
    assert len(tree) == 1 and tree.fresh.tolist() == [True] and tree.log_fitness.tolist() == [2.0]
    point = tree.ask(1)
    assert point.tolist() != [[0.3, 0.4]]
    tree.tell(np.array([3.0]))
    assert len(tree) == 2 and tree.best == 1


def test_a_stale_sample_is_returned_once_in_a_batch():
    tree = guessed(sampler(2), [[0.3, 0.4]], [5.0])
    tree.begin(1)
    points = tree.ask(4)
    assert (points == [0.3, 0.4]).all(axis=1).tolist() == [True, False, False, False]
    tree.tell(np.array([1.0, 2.0, 3.0, 4.0]))
    assert len(tree) == 4 and tree.log_fitness.tolist() == [1, 2, 3, 4] and tree.fresh.all()


def test_stale_fitness_attracts_until_it_is_known():
    """Two modes; the one that vanished is looked at again at once, and then left."""
    tree = guessed(sampler(1), [[0.2], [0.8]], [10.0, 0.0])
    tree.begin(2)
    assert tree.ask(1).tolist() == [[0.2]]
    tree.tell(np.array([-np.inf]))
    run(tree, lambda x: np.where(x[:, 0] < 0.5, -np.inf, 0.0), 50)
    assert (tree.points[2:, 0] > 0.5).mean() > 0.5


def test_the_best_is_fresh_and_the_earliest():
    tree = guessed(sampler(1), [[0.1], [0.5], [0.9]], [1.0, 3.0, 3.0])
    assert tree.best == 1
    tree.begin(3)
    guessed(tree, [[0.2], [0.3]], [-np.inf, -np.inf])
    assert tree.best == 3 and tree.log_fitness[3] == -np.inf


def test_samples_can_move_with_time():
    tree = guessed(sampler(2), [[0.2, 0.2], [0.6, 0.9]], [1.0, 2.0])
    tree.begin(2, lambda x: x + np.array([0.1, 0.3]))
    order = np.argsort(tree.points[:, 0])
    assert tree.points[order] == pytest.approx(np.array([[0.3, 0.5], [0.7, 1.0]]))
    assert tree.log_fitness[order].tolist() == [1.0, 2.0]
    assert tree.clipped == 0 and not tree.fresh.any()
    check(tree)


def test_samples_that_move_onto_each_other_are_one():
    for seed in range(6):  # in whatever order they are inserted, the fittest counts
        tree = guessed(sampler(2, seed), [[0.2, 0.2], [0.6, 0.9], [0.1, 0.8]], [1.0, 2.0, 0.0])
        tree.begin(3, lambda x: np.full_like(x, 7.0))
        assert tree.points.tolist() == [[1.0, 1.0]] and tree.log_fitness.tolist() == [2.0]


def test_a_move_that_fails_leaves_a_tree_behind():
    tree = run(sampler(2), bump, 20)
    with pytest.raises(UserError, match="moved points must be numbers, got nan in coordinate 0 of point 0"):
        tree.begin(5, lambda x: x * np.nan)
    assert len(tree) == 5
    check(tree)
    run(tree, bump, 20)


# Guesses and duplicates -----------------------------------------------------------------------------


def test_guesses_are_clipped_and_counted():
    tree = sampler(2)
    points = tree.guess(np.array([[0.5, 0.5], [1.5, 0.5], [-1, 2], [0, 1], [np.inf, -np.inf]]))
    assert points.tolist() == [[0.5, 0.5], [1, 0.5], [0, 1], [0, 1], [1, 0]]
    assert tree.clipped == 3
    tree.tell(np.arange(5.0))
    assert tree.points.tolist() == [[0.5, 0.5], [1, 0.5], [0, 1], [1, 0]]
    tree.guess(np.array([[2.0, 0.0]]))
    assert tree.clipped == 4


def test_duplicates_only_update_their_fitness():
    tree = run(sampler(2), bump, 30)
    before = tree.points, tree.volumes
    new = np.arange(30.0)
    guessed(tree, tree.points, new)
    assert np.array_equal(tree.points, before[0]) and np.array_equal(tree.volumes, before[1])
    assert np.array_equal(tree.log_fitness, new)
    tree.begin(30)
    guessed(tree, tree.points[:2], [1.0, 2.0])
    assert tree.fresh.tolist() == [True, True] + 28 * [False]


def test_nan_counts_as_unfit():
    assert guessed(sampler(1), [[0.5], [0.6]], [np.nan, -1]).log_fitness.tolist() == [-np.inf, -1]


def test_nothing_is_nothing():
    tree = sampler(2)
    assert tree.ask(0).shape == (0, 2) and tree.guess(np.empty((0, 2))).shape == (0, 2)
    tree.tell(np.empty(0))
    tree.begin(3)
    assert len(tree) == 0 and tree.integral() == -np.inf and tree.points.shape == (0, 2)


def test_what_is_handed_out_is_a_copy():
    tree = run(sampler(2), bump, 5)
    kept = tree.points
    for array in (tree.points, tree.log_fitness, tree.fresh, tree.log_volumes, tree.volumes, tree.cells):
        array[:] = 0
    asked = tree.ask(2)
    was = asked.copy()
    asked[:] = 0
    tree.tell(np.zeros(2))
    assert np.array_equal(tree.points, np.concatenate([kept, was])) and tree.fresh.all()
    check(tree)


# Seeds ----------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same():
    def history(seed):
        tree = sampler(3, seed)
        for _ in range(3):
            tree.begin(8)
            run(tree, bump, 40, batch=3)
            run(tree, bump, 10, batch=3, greedy=True)
        return tree.points

    assert np.array_equal(history(3), history(3))
    assert not np.array_equal(history(3)[:8], history(4)[:8])


# Bad calls ------------------------------------------------------------------------------------------

rng = np.random.default_rng(0)
zero, one = np.zeros(2), np.ones(2)
BAD = {
    "shapes": (lambda: TreeSampler(zero, np.ones(3), rng), r"the same shape \(d,\), got \(2,\) and \(3,\)"),
    "no dimensions": (lambda: TreeSampler(np.empty(0), np.empty(0), rng), r"got \(0,\) and \(0,\)"),
    "a matrix": (lambda: TreeSampler(np.zeros((2, 2)), np.ones((2, 2)), rng), r"got \(2, 2\) and \(2, 2\)"),
    "order": (
        lambda: TreeSampler(zero, np.array([1.0, 0.0]), rng),
        "low must be below high, both finite; coordinate 1 has low 0 and high 0",
    ),
    "nan": (lambda: TreeSampler(np.array([np.nan, 0]), one, rng), "coordinate 0 has low nan and high 1"),
    "infinite": (lambda: TreeSampler(zero, np.array([1.0, np.inf]), rng), "coordinate 1 has low 0 and high inf"),
    "too wide": (lambda: TreeSampler(-one * 1e308, one * 1e308, rng), "coordinate 0 has low -1e\\+308"),
    "width": (lambda: TreeSampler(zero, one, rng, width=0.0), "width must be a number above 0, got 0"),
    "greedy width": (lambda: TreeSampler(zero, one, rng, greedy_width=-1.0), "greedy_width .* above 0, got -1"),
    "ask for less than none": (lambda: sampler().ask(-1), "count must be a number 0 or more, got -1"),
    "keep less than none": (lambda: sampler().begin(-2), "keep must be a number 0 or more, got -2"),
    "guess in 3-D": (lambda: sampler().guess(np.zeros((4, 3))), r"guesses must have shape \(k, 2\), got \(4, 3\)"),
    "guess one": (lambda: sampler().guess(zero), r"guesses must have shape \(k, 2\), got \(2,\)"),
    "guess nan": (lambda: sampler().guess(np.array([zero, [0, np.nan]])), "got nan in coordinate 1 of point 1"),
    "tell unasked": (lambda: sampler().tell(np.zeros(2)), r"0 points are pending, got log_fitness of shape \(2,\)"),
    "best of none": (lambda: sampler().best, "none of 0 samples was evaluated since begin; ask or guess, then tell"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_calls_say_what_to_do(case):
    call, message = BAD[case]
    with pytest.raises(UserError, match=message):
        call()


def test_what_is_pending_must_be_told():
    tree = sampler()
    tree.ask(3)
    for verb, call in (("ask", tree.ask), ("begin", tree.begin), ("guess", lambda _: tree.guess(np.zeros((1, 2))))):
        with pytest.raises(UserError, match=f"3 points are pending: tell their log_fitness before the next {verb}"):
            call(1)
    with pytest.raises(UserError, match=r"3 points are pending, got log_fitness of shape \(2,\)"):
        tree.tell(np.zeros(2))
    with pytest.raises(UserError, match="must be below inf, got inf for pending point 1"):
        tree.tell(np.array([0, np.inf, 0]))
    tree.tell(np.zeros(3))
    assert len(tree) == 3


def test_greedy_needs_a_fresh_sample():
    tree = run(sampler(), bump, 5)
    tree.begin(3)
    with pytest.raises(UserError, match="none of 3 samples was evaluated since begin"):
        tree.ask(1, greedy=True)
    tree.begin(2, None)
    with pytest.raises(UserError, match=r"moved points must have shape \(2, 2\), got \(1, 2\)"):
        tree.begin(2, lambda x: x[:1])
