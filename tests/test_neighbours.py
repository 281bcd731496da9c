"""Neighbours: all who find them against a search that sorts all distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tumble.errors import UserError
from tumble.learners import DensityForest
from tumble.maths.neighbours import ROWS, ExactNeighbours, Neighbours, Table

FEATURES = 6


def rows(count: int, seed: int = 0, features: int = FEATURES) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, features)).astype(np.float32)


def exact(stored: np.ndarray) -> Neighbours:
    made = ExactNeighbours(stored.shape[1], 1000, np.ones(stored.shape[1]))
    made.extend(stored)
    return made


def forest(stored: np.ndarray) -> Neighbours:
    """The last 100 pairs are searched one by one: up to there it is exact."""
    made = DensityForest(stored.shape[1], 1, np.random.default_rng(0))
    for row in stored:
        made.add(row, np.zeros(1))
    return made


METRICS = {"exact": (exact, "euclidean"), "table": (Table, "cityblock"), "forest": (forest, "cityblock")}


@pytest.mark.parametrize("stored", [0, 1, 5, 90])
@pytest.mark.parametrize("kind", METRICS)
def test_all_find_the_nearest(kind, stored):
    """Distances in order, no row twice, each as far as it says; as many as there are."""
    make, metric = METRICS[kind]
    known, queries = rows(stored), rows(7, 1)
    index, apart = make(known), cdist(queries.astype(float), known.astype(float), metric)
    for k in (0, 1, 3, 6, 200):
        found, distances = index.nearest(queries, k)
        assert len(index) == stored and found.shape == distances.shape == (7, min(k, stored))
        assert np.issubdtype(found.dtype, np.integer) and distances.dtype == float
        assert distances == pytest.approx(np.sort(apart, axis=1)[:, :k], rel=1e-5)
        if kind != "forest":  # whose rows are places of its own
            assert np.array_equal(found, np.argsort(apart, axis=1)[:, :k])
        assert all(len(set(row)) == len(row) for row in found.tolist())


@pytest.mark.parametrize("kind", ["exact", "table"])
def test_of_equally_near_ones_the_older_comes_first(kind):
    found, distances = METRICS[kind][0](np.ones((9, FEATURES), np.float32)).nearest(np.zeros((1, FEATURES)), 4)
    assert found.tolist() == [[0, 1, 2, 3]] and len(set(distances[0])) == 1


def test_of_equally_near_known_trajectories_the_better_comes_first():
    """Known trajectories are sorted by cost."""
    found, distances = Table(np.ones((3, 4), np.float32)).nearest(np.ones((1, 4), np.float32), 1)
    assert (found.item(), distances.item()) == (0, 0)


@pytest.mark.parametrize(("n", "known"), [(1, 1), (5, 1), (20, 16), (3, 100)])
def test_a_table_by_brute_force(n, known):
    states, others = rows(n, known, 175), rows(known, known + 1, 175)
    found, distances = Table(others).nearest(states, 1)
    apart = cdist(states.astype(float), others.astype(float), "cityblock")
    assert distances[:, 0] == pytest.approx(apart.min(axis=1), rel=175 * float(np.finfo(np.float32).eps))
    assert np.array_equal(found[:, 0], apart.argmin(axis=1))


def test_nothing_is_near_what_has_no_distance():
    found, distances = Table(rows(3)).nearest(np.full((1, FEATURES), np.nan, np.float32), 2)
    assert found.tolist() == [[-1, -1]] and np.array_equal(distances, [[np.inf, np.inf]])


@pytest.mark.parametrize("capacity", [1, 5, ROWS, ROWS + 3])
def test_weights_and_a_ring(capacity):
    """Rows come one after the other, the oldest go, and a row's place is where `extend` said."""
    weights, known, queries = np.array([1, 0, 3, 0.5, 2, 1]), rows(2 * capacity + 1), rows(20, 1)
    index, places = ExactNeighbours(FEATURES, capacity, weights), []
    for part in np.array_split(known, 3):
        places += index.extend(part).tolist()
    assert (len(index), index.added) == (capacity, len(known))
    places = np.array(places)[-capacity:]
    assert np.array_equal(np.sort(places), np.arange(capacity))
    assert np.array_equal(index.at(places), known[-capacity:])
    found, distances = index.nearest(queries, 6)
    apart = cdist(queries * weights, known[-capacity:] * weights)
    assert distances == pytest.approx(np.sort(apart, axis=1)[:, :6], abs=1e-6)
    assert np.array_equal(found, places[np.argsort(apart, axis=1, kind="stable")[:, :6]])


def test_without_weights_a_feature_counts_by_its_root_mean_square():
    scales = np.array([1e-3, 1, 1e3, 5, 0.2, 0])
    known, queries = rows(700) * scales, rows(5, 1) * scales
    index = ExactNeighbours(FEATURES)
    index.extend(known)
    size = np.sqrt(np.square(known.astype(np.float32), dtype=float).mean(axis=0))
    apart = cdist(queries[:, :5] / size[:5], known[:, :5] / size[:5])
    found, distances = index.nearest(queries, 6)
    assert distances == pytest.approx(np.sort(apart, axis=1)[:, :6], rel=1e-5)
    assert np.array_equal(found, np.argsort(apart, axis=1)[:, :6])


def test_what_is_given_and_found_is_copied():
    known, weights = rows(9), np.ones(FEATURES)
    index = ExactNeighbours(FEATURES, 20, weights)
    index.extend(known)
    before = [array.tobytes() for array in index.nearest(rows(3, 1), 2)]
    for array in (known, weights, *index.nearest(rows(3, 1), 2), index.at(np.arange(9))):
        array[:] = 7
    assert [array.tobytes() for array in index.nearest(rows(3, 1), 2)] == before


BAD = [
    (lambda: ExactNeighbours(0), "features must be a number 1 or more, got 0"),
    (lambda: ExactNeighbours(3, 0), "capacity must be a number 1 or more, got 0"),
    (lambda: ExactNeighbours(3, 5, np.ones(2)), "weights must be 3 finite numbers, 0 or more, got"),
    (lambda: ExactNeighbours(2, 5, np.array([1, -1])), "weights must be 2 finite numbers, 0 or more, got"),
    (lambda: ExactNeighbours(2, 5, np.array([1, np.nan])), "weights must be 2 finite numbers, 0 or more, got"),
    (lambda: exact(rows(3)).extend(rows(3, 0, 5)), r"rows must have 6 numbers each, got shape \(5,\)"),
    (lambda: exact(rows(3)).nearest(rows(3, 0, 5), 1), r"x must have 6 numbers each, got shape \(5,\)"),
    (lambda: exact(rows(3)).nearest(rows(3), -1), "k must be a number 0 or more, got -1"),
    (lambda: forest(rows(3)).nearest(rows(3), -1), "k must be a number 0 or more, got -1"),
    (lambda: forest(rows(3)).nearest(np.zeros(6), 1), r"states must have shape \(n, 6\), got \(6,\)"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:50] for _, message in BAD])
def test_mistakes_are_told(call, message):
    with pytest.raises(UserError, match=message):
        call()
