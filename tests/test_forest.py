"""The density forest: a plain search as oracle, the structure of trees, forgetting, bits, threads, bad calls."""

import threading

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tumble.errors import UserError
from tumble.learners import DensityForest
from tumble.learners import trees as kernels
from tumble.learners.pairs import RECENT
from tumble.learners.trees import AIM, MOST
from tumble.maths.bundles import Address
from tumble.maths.compiled import as_entry

between, leaf = as_entry(kernels.between), as_entry(kernels.leaf)

FEATURES, SIZE = 6, 2


def forest(features: int = FEATURES, seed: int = 0, **options: int) -> DensityForest:
    return DensityForest(features, SIZE, np.random.default_rng(seed), **options)


def pairs(count: int, seed: int = 0, features: int = FEATURES) -> tuple[np.ndarray, np.ndarray]:
    """Random states, and actions that tell which they belong to."""
    states = np.random.default_rng(seed).normal(size=(count, features)).astype(np.float32)
    return states, np.stack([np.arange(count), -np.arange(count)], axis=1).astype(float)


def clusters(count: int, features: int = 40, centres: int = 30) -> np.ndarray:
    """States around 30 centres, ten times closer to them than centres are to each other."""
    rng = np.random.default_rng(5)
    return rng.normal(size=(centres, features))[rng.integers(centres, size=count)] + 0.1 * rng.normal(
        size=(count, features)
    )


def filled(states, actions, work: int = 0, **options: int) -> DensityForest:
    """A forest to which pairs were added one by one, with some work after each."""
    made = forest(states.shape[1], **options)
    for state, action in zip(states, actions, strict=True):
        made.add(state, action)
        if work:
            made.work(work)
    return made


def rebuild(made: DensityForest, count: int) -> None:
    """Finish so many trees."""
    target = made.rebuilt + count
    while made.rebuilt < target:
        made.work(10**9)


def plain(states, queries) -> tuple[np.ndarray, np.ndarray]:
    """Index and L1 distance of the nearest of all states."""
    distances = cdist(queries.astype(np.float32), states.astype(np.float32), "cityblock")
    return distances.argmin(axis=1), distances.min(axis=1)


def held(made: DensityForest, tree: int) -> list[int]:
    """Slots in a tree, by walking all of it; nodes have two children or pairs, and are met once."""
    place, todo, met, slots = made._places[tree], [0], set(), []
    trees = made._trees
    while todo:
        node = todo.pop()
        assert node not in met
        met.add(node)
        child = int(trees.first[place, node])
        if child:
            assert trees.counts[place, node] == 0
            todo += [child, child + 1]
        else:
            count = trees.counts[place, node]
            assert count <= MOST and (count > 0 or (len(met) == 1 and not todo))
            inside = trees.leaves[place, node, :count].tolist()
            assert all(leaf(Address(trees), place, made._pairs.states[slot]) == node for slot in inside)
            slots += inside
    assert met == set(range(trees.used[place, 0]))
    assert len(slots) == len(set(slots)) == trees.used[place, 1]
    return slots


def check(made: DensityForest) -> None:
    """Pairs are in one leaf of each tree that has them; holders are counted; no other slot is taken."""
    stored, holders = made._pairs, np.zeros(made._pairs.holders.size, int)
    for tree in range(made.trees):
        slots = held(made, tree)
        assert len(slots) <= 2 * made.capacity
        holders[slots] += 1
    added = int(stored.totals[1])
    holders[stored.recent[: min(added, RECENT)]] += 1
    if made._tree >= 0:
        holders[made._order] += 1
    assert np.array_equal(holders, stored.holders)
    free = stored.free[: stored.totals[0]]
    assert np.array_equal(np.sort(free), np.flatnonzero(holders == 0))
    assert len(made) == (holders > 0).sum()
    last = np.sort(stored.numbers[stored.recent[: min(added, RECENT)]])
    assert np.array_equal(last, np.arange(max(0, added - RECENT), added))


# Neighbours -----------------------------------------------------------------------------------------


def test_empty():
    made = forest()
    made.work(100)
    actions, distances = made.recall(np.zeros((3, FEATURES)))
    assert actions.shape == (3, SIZE) and np.array_equal(distances, np.full(3, np.inf))
    assert (len(made), made.rebuilt) == (0, 0)
    assert [array.shape for array in made.recall(np.zeros((0, FEATURES)))] == [(0, SIZE), (0,)]


@pytest.mark.parametrize("features", [1, 7, 8, 9, 175])
@pytest.mark.parametrize("work", [0, 50])
def test_among_the_last_100_the_nearest_is_found(features, work):
    queries = pairs(20, 99, features)[0]
    for count in (1, 2, MOST + 1, RECENT):
        states, actions = pairs(count, count, features)
        made = filled(states, actions, work)
        found, distances = made.recall(queries)
        index, expected = plain(states, queries)
        assert found.dtype == distances.dtype == float
        assert np.array_equal(found, actions[index])
        assert distances == pytest.approx(expected, rel=1e-5)  # features times the rounding of float32
        check(made)


def test_the_last_100_are_found_when_trees_forgot_them():
    states, actions = pairs(500)
    made = filled(states, actions, 10, capacity=1)
    found, distances = made.recall(states)
    assert np.array_equal(found[-RECENT:], actions[-RECENT:]) and not distances[-RECENT:].any()
    assert (distances == 0).sum() <= RECENT + 2 * made.trees
    check(made)


def test_a_state_that_was_added_is_found_in_the_leaves():
    """Every tree has it, in the leaf into which it falls: also those that are long past the last 100."""
    states, actions = pairs(2000)
    made = filled(states, actions)
    for _ in range(2):
        found, distances = made.recall(states)
        assert np.array_equal(found, actions) and not distances.any()
        rebuild(made, 10)
    check(made)


def test_recall():
    """Clusters that are far apart: a query shares a leaf with its neighbour more often than by chance, by far.

    A tree that only told the 30 clusters apart would put the nearest of about 100 pairs of a cluster into a leaf
    of 12 at most with chance 0.12 at best, 5 independent ones 1 - 0.88 ** 5 = 0.47. What planes inside
    clusters add comes on top; and all that is found is of the right cluster, where distances differ little.
    """
    states = clusters(3600)
    made = filled(states[:3000], np.zeros((3000, SIZE)), 50)
    _, distances = made.recall(states[3000:])
    _, expected = plain(states[:3000], states[3000:])
    assert (distances >= expected * (1 - 1e-5)).all()
    assert (distances <= expected * (1 + 1e-5)).mean() > 0.47
    across = 0.1 * np.sqrt(2) * np.sqrt(2 / np.pi) * 40  # the mean L1 distance within a cluster
    assert (distances < across).all()


def test_of_equally_near_ones_the_newest():
    made = filled(np.zeros((50, FEATURES)), pairs(50)[1])
    assert made.recall(np.ones((1, FEATURES)))[0][0, 0] == 49
    check(made)


# Trees ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", [0, 7, 1000])
def test_structure(work):
    states, actions = pairs(700)
    made = forest(capacity=300)
    for i, (state, action) in enumerate(zip(states, actions, strict=True)):
        made.add(state, action)
        if work:
            made.work(work)
        if i % 50 == 0:
            check(made)
    check(made)


def test_leaves_of_a_tree_built_anew():
    made = filled(*pairs(1000))
    rebuild(made, 30)  # all five, but for one time in 160
    for place in made._places[:-1]:
        assert made._trees.counts[place].max() <= AIM
    check(made)


def test_planes_lie_between_pairs():
    """Both sides of every plane have pairs: no leaf is empty (see `held`), and offsets separate what they should."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        side = rng.normal(size=5).astype(np.float32)
        i, j = rng.integers(5, size=2)
        offset = between(side, i, j, rng.random())
        other = j if i != j else (j + 1) % 5
        assert min(side[i], side[other]) < offset <= max(side[i], side[other])
    near = np.array([1, np.nextafter(np.float32(1), np.float32(2))], np.float32)
    assert [between(near, 0, 1, u) for u in (0.0, 0.4, 0.99)] == [near[1]] * 3
    assert np.isnan(between(np.ones(4, np.float32), 0, 1, 0.5))


def test_planes_separate_clusters():
    """Two clusters far apart: eq. 4 is least for a plane between them, and some of 25 random ones are."""
    rng = np.random.default_rng(1)
    states = rng.normal(size=(400, 3)) + np.where(np.arange(400) % 2, 50, -50)[:, None]
    made = filled(states, np.zeros((400, SIZE)))
    rebuild(made, 30)
    for place in made._places[:-1]:
        normal, offset = made._trees.normals[place, 0], made._trees.offsets[place, 0]
        sides = states @ normal < offset
        assert len(set(sides[::2])) == len(set(sides[1::2])) == 1 and sides[0] != sides[1]


def test_the_same_state_again_and_again():
    """No plane separates them: a leaf keeps 12, old and new by chance, and the rest is forgotten after 100."""
    made = filled(np.ones((1000, FEATURES)), pairs(1000)[1], 20)
    check(made)
    assert len(made) <= RECENT + (made.trees + 1) * MOST
    mixed = pairs(1000)[0]
    mixed[::2] = 1.0
    check(filled(mixed, pairs(1000)[1], 20))


def test_extreme_states():
    states = pairs(300)[0] * np.array([1e15, 1e-20, 1, 0, 1e-40, -1e7], np.float32) / 8
    made = filled(states, pairs(300)[1], 30)
    check(made)
    assert np.isfinite(made.recall(-states)[1]).all()


# Forgetting -----------------------------------------------------------------------------------------


def test_nothing_is_forgotten_below_capacity():
    made = filled(*pairs(500), work=200, capacity=500)
    assert made.rebuilt > 10 and len(made) == 500
    assert all(len(held(made, tree)) == 500 for tree in range(made.trees))


def test_old_pairs_become_rare():
    """One pair comes in each time, so a pair stays as long as a tree has pairs (Little's law), and dies at random.

    A tree is built anew every 40 pairs on average, at random times: it has 140 on average. Shares of the pairs of
    some ages that are left in a tree are those of lifetimes with the density exp(-age / 140) / 140, to 4 sigma of
    5 trees that have their next rebuild at one of the first 40 ages.
    """
    made = forest(capacity=100)
    for i, (state, action) in enumerate(zip(*pairs(3000), strict=True)):
        made.add(state, action)
        if i % 8 == 0:
            rebuild(made, 1)
    check(made)
    assert len(made) <= made.trees * 200 + RECENT
    ages = np.concatenate([2999 - made._pairs.numbers[held(made, tree)] for tree in range(made.trees)])
    edges = np.array([0, 40, 200, 400, 3000])
    shares = np.histogram(ages, edges)[0] / np.diff(edges) / made.trees
    expected = -np.diff(140 * np.exp(-edges / 140)) / np.diff(edges)
    for share, mean, count in zip(shares, expected, 5 * np.diff(edges) / 40, strict=True):
        assert abs(share - mean) < 4 * np.sqrt(mean * (1 - mean) / count), (shares, expected)


@pytest.mark.parametrize("work", [0, 1])
def test_without_enough_work_memory_is_bounded(work):
    """Twice the capacity is all that a tree takes; new pairs still come in."""
    states, actions = pairs(3000)
    made = filled(states, actions, work, capacity=50, trees=2)
    check(made)
    assert len(made) <= 2 * 2 * 50 + 50 + RECENT
    newest = [made._pairs.numbers[held(made, tree)].max() for tree in range(2)]
    assert newest == [2999, 2999]


def test_trees_forget_independently():
    made = filled(*pairs(1000), capacity=100)
    rebuild(made, 30)
    kept = [set(held(made, tree)) for tree in range(made.trees)]
    assert all(len(one) == 100 for one in kept)
    assert len(set.union(*kept)) > 120


# Bits and threads -----------------------------------------------------------------------------------


def test_same_calls_same_bits():
    def story() -> bytes:
        made, out = forest(capacity=120, seed=3), b""
        for i, (state, action) in enumerate(zip(*pairs(600), strict=True)):
            made.add(state, action)
            made.work(1 + i % 40)
            out += b"".join(array.tobytes() for array in made.recall(pairs(3, i)[0]))
        return out

    assert story() == story()


def test_queries_do_not_change_what_follows():
    states, actions = pairs(600)
    quiet, asked = forest(capacity=120), forest(capacity=120)
    for state, action in zip(states, actions, strict=True):
        quiet.add(state, action)
        asked.add(state, action)
        quiet.work(25)
        asked.recall(states[:5])
        asked.work(25)
    queries = pairs(50, 9)[0]
    assert [a.tobytes() for a in quiet.recall(queries)] == [a.tobytes() for a in asked.recall(queries)]


def test_work_in_a_thread():
    """Trees are built and swapped while pairs are added and looked for; all is in order at the end."""
    made, states, errors = forest(capacity=400), pairs(4000)[0], []
    stop = threading.Event()

    def run() -> None:
        try:
            while not stop.is_set():
                made.work(300)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=run) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        for i, state in enumerate(states):
            made.add(state, np.full(SIZE, i))
            actions, distances = made.recall(states[i : i + 1])
            assert distances[0] == 0 and actions[0, 0] == i
        while not errors and made.rebuilt < 6:
            stop.wait(0.01)
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert not errors
    check(made)  # also that states still fall into the leaves they are in: no slot was used again too early


def test_nobody_adds_or_looks_while_another_does():
    """Whether threads meet is chance; that they would wait is not."""
    made, states = filled(*pairs(20)), pairs(3, 1)[0]
    calls = [made.pairs, lambda: made.add(states[0], np.zeros(SIZE)), lambda: made.nearest(states, 2)]
    for call in (*calls, lambda: made.recall(states)):
        with made._lock:
            thread = threading.Thread(target=call, daemon=True)
            thread.start()
            thread.join(0.05)
            assert thread.is_alive()
        thread.join(60.0)
        assert not thread.is_alive()


# Mistakes -------------------------------------------------------------------------------------------

WRONG = [
    (lambda f: forest(0), "features must be a number 1 or more, got 0"),
    (lambda f: DensityForest(3, 0, np.random.default_rng(0)), "size must be a number 1 or more, got 0"),
    (lambda f: forest(trees=0), "trees must be a number 1 or more, got 0"),
    (lambda f: forest(capacity=-5), "capacity must be a number 1 or more, got -5"),
    (lambda f: f.add(np.zeros(5), np.zeros(2)), r"a state must have shape \(6,\), got \(5,\)"),
    (lambda f: f.add(np.zeros(6), np.zeros(1)), r"an action must have shape \(2,\), got \(1,\)"),
    (lambda f: f.add(np.full(6, np.nan), np.zeros(2)), "a state must be of numbers within \\+-1e\\+15, got nan"),
    (lambda f: f.add(np.full(6, 1e300), np.zeros(2)), "a state must be of numbers within \\+-1e\\+15, got 1e\\+300"),
    (lambda f: f.add(np.zeros(6), np.full(2, np.inf)), "an action must be of numbers within \\+-1e\\+15, got inf"),
    (lambda f: f.recall(np.zeros(6)), r"states must have shape \(n, 6\), got \(6,\)"),
    (lambda f: f.recall(np.zeros((2, 5))), r"states must have shape \(n, 6\), got \(2, 5\)"),
    (lambda f: f.work(0), "points must be a number 1 or more, got 0"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_mistakes_are_told_and_change_nothing(call, message):
    made = filled(*pairs(20))
    with pytest.raises(UserError, match=message):
        call(made)
    check(made)
    assert len(made) == 20 and made.rebuilt == 0
