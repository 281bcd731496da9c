"""Inner loops of the tree search against direct computations."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from tumble.planners.mcts.kernels import draw, fork

# Pruning and forking --------------------------------------------------------------------------------


def forked(totals, threshold, fixed=1, seed=0) -> tuple[np.ndarray, int]:
    parents = np.full(len(totals), -7, np.intp)
    uniform = np.random.default_rng(seed).random(len(totals))
    return parents, fork(np.asarray(totals, float), threshold, fixed, uniform, parents)


@pytest.mark.parametrize("seed", range(20))
def test_who_is_too_far_behind_goes_on_from_one_who_is_not(seed):
    rng = np.random.default_rng(seed)
    totals, threshold = rng.exponential(10, 30), rng.exponential(5)
    totals[rng.random(30) < 0.2] = np.inf
    parents, pruned = forked(totals, threshold, seed=seed)
    good = totals <= totals.min() + threshold
    good_or_first = good.copy()
    good_or_first[0] = True
    assert np.array_equal(parents[good_or_first], np.flatnonzero(good_or_first))
    assert good[parents[~good_or_first]].all()
    assert pruned == (~good_or_first).sum()


def test_the_choice_among_the_good_is_uniform():
    """A chi-square statistic that a fair choice exceeds once in 10^6."""
    n, good = 40_000, [3, 4, 100, 2000, 39_999]
    totals = np.full(n, 50.0)
    totals[good] = [1, 2, 3, 0, 4]
    parents, pruned = forked(totals, 5.0)
    assert pruned == n - len(good) - 1
    chosen = np.delete(parents, [0, *good])
    counts = [np.count_nonzero(chosen == row) for row in good]
    assert sum(counts) == pruned
    assert stats.chisquare(counts).statistic < stats.chi2.isf(1e-6, len(good) - 1)


@pytest.mark.parametrize("uniform", [0.0, 0.999999999, 1.0])
def test_the_ends_of_chance_choose_somebody_good(uniform):
    totals, parents = np.array([9.0, 1, 9, 1, 9]), np.empty(5, np.intp)
    assert fork(totals, 2.0, 1, np.full(5, uniform), parents) == 2
    assert parents.tolist() == [0, 1, *((1, 3, 1) if uniform == 0 else (3, 3, 3))]


@pytest.mark.parametrize(
    ("totals", "threshold", "parents"),
    [
        ([5, 1, 1e9, np.inf], np.inf, [0, 1, 2, 3]),  # no pruning at all
        ([np.inf] * 4, 3.0, [0, 1, 2, 3]),  # all are broken
        ([np.inf] * 4, 0.0, [0, 1, 2, 3]),
        ([7, 7, 7, 7], 0.0, [0, 1, 2, 3]),
        ([5, 1, 2, 1.0001], 0.0, [0, 1, 1, 1]),  # fully greedy
        ([5, 1, 3, 3.0001], 2.0, [0, 1, 2, "good"]),  # as far behind as it may be, and a little more
        ([np.inf, 4, 4, np.inf], 1e9, [0, 1, 2, "good"]),  # a broken one is always too far behind
        ([0, 0, 0, 0], 0.0, [0, 1, 2, 3]),
    ],
    ids=str,
)
def test_forks(totals, threshold, parents):
    found, pruned = forked(totals, threshold)
    good = np.flatnonzero(np.array(totals) <= np.min(totals) + threshold)
    for i, parent in enumerate(parents):
        assert found[i] in good if parent == "good" else found[i] == parent
    assert pruned == np.count_nonzero(found != np.arange(4))


def test_fixed_slots_are_never_pruned():
    for fixed in range(5):
        parents, pruned = forked([9, 9, 9, 9, 1], 1.0, fixed)
        assert parents.tolist() == [*range(fixed), *[4] * (5 - fixed)]
        assert pruned == 4 - min(fixed, 4)


# Draws ----------------------------------------------------------------------------------------------

ROLES = {"free": (0, 0), "guided": (1, 0), "advised": (0, 1), "both": (1, 1)}


def case(n: int = 4, guided: bool = False, advised: bool = False, seed: int = 0) -> SimpleNamespace:
    """Arguments of `draw` for two joints and one torque limit, limits of joints far away."""
    rng = np.random.default_rng(seed)
    return SimpleNamespace(
        actions=np.empty((n, 2)),
        control=np.empty((n, 3)),
        normal=rng.standard_normal((n, 2)),
        uniform=rng.random((n, 2)),
        before=np.tile([0.4, -0.3], (n, 1)),
        qpos=np.tile([9.0, 9.0, 0.2, -0.1], (n, 1)),
        qvel=np.tile([7.0, 2.0, -3.0], (n, 1)),
        angles=np.array([2, 3]),
        dofs=np.array([1, 2]),
        rest=np.array([0.25, 0.05]),
        precision=np.array([2.0, 3.0, 5.0, 40.0]),
        low=np.full(2, -50.0),
        high=np.full(2, 50.0),
        guides=np.tile([1.5, -0.6], (n, 1)),
        guided=np.full(n, guided),
        advice=np.tile([-0.8, 0.9], (n, 1)),
        advised=np.full(n, advised),
        given=np.zeros(n, np.intp),
        gain=10.0,
        strength=0.5,
    )


def drawn(c: SimpleNamespace) -> np.ndarray:
    draw(*(getattr(c, name) for name in inspect.signature(draw.py_func).parameters))
    return c.actions


def product(c: SimpleNamespace) -> tuple[np.ndarray, float]:
    """Mean and variance of the product of the Gaussians in row 0, written out (eqs. 1 to 3, with the erratum)."""
    pose, change, acceleration, variation = c.precision
    steady = c.qpos[0, c.angles] + c.qvel[0, c.dofs] / c.gain  # a_acc, section 4.1
    factors = [(c.rest, pose), (c.before[0], change), (np.clip(steady, c.low, c.high), acceleration)]
    factors += [(c.guides[0], variation)] * int(c.guided[0]) + [(c.advice[0], variation)] * int(c.advised[0])
    total = sum(p for _, p in factors)
    return sum(p * mean for mean, p in factors) / total, 1 / total


@pytest.mark.parametrize("role", ROLES)
def test_draws_are_a_product_of_gaussians(role):
    n = 20_000
    c = case(n, *map(bool, ROLES[role]))
    x, (mean, variance) = drawn(c), product(c)
    assert (np.abs(x.mean(axis=0) - mean) < 5 * np.sqrt(variance / n)).all()
    assert (np.abs(x.var(axis=0) - variance) < 5 * variance * np.sqrt(2 / n)).all()
    assert abs(np.corrcoef(x.T)[0, 1]) < 5 / np.sqrt(n)


@pytest.mark.parametrize("role", ROLES)
def test_one_draw_is_mean_plus_deviation_times_the_number_given(role):
    c = case(6, *map(bool, ROLES[role]))
    mean, variance = product(c)
    assert drawn(c) == pytest.approx(mean + np.sqrt(variance) * c.normal)


def test_rows_of_all_roles_side_by_side():
    rows = case(4)
    rows.guided[:], rows.advised[:] = np.array(list(ROLES.values()), bool).T
    found = drawn(rows)
    for i, (guided, advised) in enumerate(ROLES.values()):
        alone = case(4, bool(guided), bool(advised))
        assert np.array_equal(found[i], drawn(alone)[i])


def test_who_is_informed_by_nothing_does_not_care_for_guides_and_advice():
    one, two = case(), case()
    two.guides += 1.0
    two.advice -= 1.0
    assert np.array_equal(drawn(one), drawn(two))


@pytest.mark.parametrize("given", [1, 2])
def test_what_is_given_is_done_as_it_is(given):
    c = case(guided=True, advised=True)
    c.given[[1, 3]] = given
    x, wanted = drawn(c).copy(), c.advice if given == 1 else c.guides
    assert np.array_equal(x[[1, 3]], wanted[[1, 3]])
    assert not np.isin(x[[0, 2]], wanted).any()


@pytest.mark.parametrize("role", ROLES)
def test_angles_keep_to_the_limits_of_the_joints(role):
    c = case(2000, *map(bool, ROLES[role]))
    c.low, c.high = np.array([-0.1, 0.5]), np.array([0.1, 0.51])
    c.given[:5] = 1
    x = drawn(c)
    assert (c.low <= x).all() and (x <= c.high).all()
    assert (x[5:].std(axis=0) > 0).all()
    assert np.array_equal(x[:5], np.clip(c.advice[:5], c.low, c.high))


def test_keeping_a_speed_does_not_lead_beyond_the_limits():
    """The mean of the acceleration's Gaussian is kept to them, in the authors' code."""
    c = case()
    c.qvel[:, 1:] = [[70.0, -90.0]]  # to 7.2 and -9.1 rad
    c.low, c.high, c.normal[:] = np.full(2, -1.0), np.full(2, 1.0), 0.0
    mean, _ = product(c)
    assert (np.abs(mean) < 0.8).all()
    assert drawn(c) == pytest.approx(np.tile(mean, (4, 1)))


def test_within_limits_draws_are_truncated_not_clipped():
    """The mean of a truncated Gaussian, by scipy, within five standard errors."""
    n = 20_000
    c = case(n)
    mean, variance = product(c)
    sd = np.sqrt(variance)
    c.low, c.high = mean - 0.3 * sd, mean + 1.0 * sd
    mean, _ = product(c)  # the clipped a_acc moves it
    x = drawn(c)
    wanted = stats.truncnorm((c.low - mean) / sd, (c.high - mean) / sd, mean, sd)
    assert (np.abs(x.mean(axis=0) - wanted.mean()) < 5 * wanted.std() / np.sqrt(n)).all()
    assert np.isin(x, [c.low, c.high]).sum() == 0


@pytest.mark.parametrize("gain", [10.0, 50.0])
@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_controls_are_speeds_towards_the_angles_and_a_strength(gain, strength):
    c = case(guided=True)
    c.gain, c.strength, c.given[0] = gain, strength, 2
    x = drawn(c)
    assert np.array_equal(c.control[:, :2], gain * (x - c.qpos[:, c.angles]))
    assert (c.control[:, 2:] == strength).all()
