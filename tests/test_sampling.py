"""Random choices: closed forms, axioms, and statistics with tolerances from the sample size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from tumble.maths import sampling
from tumble.maths.compiled import as_entry
from tumble.maths.sampling import normalise, resample

effective_count, normal_quantile = as_entry(sampling.effective_count), as_entry(sampling.normal_quantile)
truncated_normal = as_entry(sampling.truncated_normal)

some_logs = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=30).map(np.array)
some_weights = st.lists(st.floats(0, 1), min_size=1, max_size=30).filter(lambda w: sum(w) > 1e-3).map(np.array)
uniform = st.floats(0, 1, exclude_max=True)
unhurried = settings(deadline=None)


# Weights --------------------------------------------------------------------------------------------


@unhurried
@given(some_logs, st.floats(-1e5, 1e5))
def test_normalise_sums_to_one_keeps_ratios_and_ignores_shifts(logs, shift):
    weights = normalise(logs)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert weights == pytest.approx(special.softmax(logs), abs=1e-12)
    assert normalise(logs + shift) == pytest.approx(weights, abs=1e-9)


def test_normalise_with_infinities():
    assert normalise(np.full(4, -np.inf)) == pytest.approx(np.full(4, 0.25))
    assert normalise(np.array([-np.inf, 0.0, -np.inf])) == pytest.approx([0, 1, 0])
    assert normalise(np.array([-1e300, -1e300])) == pytest.approx([0.5, 0.5])


@unhurried
@given(some_weights)
def test_effective_count_is_between_one_and_n(weights):
    weights = weights / weights.sum()
    assert 1 - 1e-9 <= effective_count(weights) <= weights.size + 1e-9


def test_effective_count_limits():
    assert effective_count(np.full(8, 1 / 8)) == pytest.approx(8)
    assert effective_count(np.eye(5)[2]) == pytest.approx(1)
    assert effective_count(np.array([0.5, 0.5, 0, 0])) == pytest.approx(2)


# Resampling -----------------------------------------------------------------------------------------


@unhurried
@given(some_weights, uniform, st.integers(1, 50))
def test_resample_gives_everyone_its_share_to_within_one(weights, u, n):
    weights = weights / weights.sum()
    ancestors = resample(weights, np.full(n, u))
    counts = np.bincount(ancestors, minlength=weights.size)
    assert ancestors.size == n == counts.sum()
    assert (np.diff(ancestors) >= 0).all()
    assert (np.abs(counts - n * weights) < 1 + 1e-6).all()


def test_resample_is_unbiased():
    """Over evenly spaced u, the mean count is n w to within the spacing."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        weights = rng.dirichlet(np.full(7, 0.5))
        offsets = (np.arange(1000) + 0.5) / 1000
        counts = [np.bincount(resample(weights, np.full(10, u)), minlength=7) for u in offsets]
        assert np.mean(counts, axis=0) == pytest.approx(10 * weights, abs=2e-3)


def test_resample_uses_the_first_number_only():
    weights = np.array([0.1, 0.4, 0.2, 0.3])
    assert np.array_equal(resample(weights, np.array([0.3, 0.9, 0.1])), resample(weights, np.array([0.3, 0.0, 0.5])))


@pytest.mark.parametrize("u", [0.0, 0.3, 0.999])
def test_resample_never_takes_a_row_without_weight(u):
    weights = np.array([0, 0, 0.5, 0, 0.5, 0])
    assert set(resample(weights, np.full(9, u))) == {2, 4}
    assert set(resample(np.array([0, 1.0, 0]), np.full(9, u))) == {1}


def test_resample_at_the_end_of_the_interval():
    almost_one = np.nextafter(1.0, 0.0)  # the largest number that Generator.random returns
    assert resample(np.array([0.5, 0.5, 0.0]), np.full(8, almost_one)).max() == 1


# Truncated Gaussians --------------------------------------------------------------------------------


def test_normal_quantile():
    p = np.concatenate([np.logspace(-300, -1, 600), np.linspace(0.1, 0.5, 200)])
    ours = np.array([normal_quantile(x) for x in p])
    assert ours == pytest.approx(special.ndtri(p), rel=1e-9, abs=1e-9)


def draws(mean: float, sd: float, low: float, high: float, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    z, u = rng.standard_normal(n), rng.random(n)
    return np.array([truncated_normal(mean, sd, low, high, z[i], u[i]) for i in range(n)])


CASES = {
    "wide": (1.0, 2.0, -100.0, 100.0),
    "middle": (0.0, 1.0, -1.0, 1.5),
    "narrow": (0.3, 1.0, 0.2, 0.25),
    "one side": (-0.5, 0.7, 0.0, 50.0),
    "far above": (0.0, 1.0, 6.0, 9.0),
    "far below": (0.0, 1.0, -9.0, -6.0),
    "very far": (0.0, 1.0, 25.0, 30.0),
    "scaled": (100.0, 5.0, 60.0, 80.0),
    "limit of a motor": (0.9, 0.3, 0.05, 1.0),
}


@pytest.mark.parametrize("case", CASES)
def test_truncated_normal_has_that_distribution(case):
    mean, sd, low, high = CASES[case]
    n = 4000
    x = draws(mean, sd, low, high, n)
    exact = stats.truncnorm((low - mean) / sd, (high - mean) / sd, loc=mean, scale=sd)
    assert (low <= x).all() and (x <= high).all()
    assert abs(x.mean() - exact.mean()) < 5 * exact.std() / np.sqrt(n)
    fourth = stats.kurtosis(x, fisher=False)  # the variance of a variance is (kurtosis - 1) sd^4 / n
    assert abs(x.var() - exact.var()) < 5 * np.sqrt(fourth - 1) * exact.var() / np.sqrt(n)
    assert stats.kstest(x, exact.cdf).pvalue > 1e-4


def test_bounds_beyond_all_digits_give_the_nearer_bound():
    assert (draws(0, 1, 50, 60, 100) == 50).all()
    assert (draws(0, 1, -60, -50, 100) == -50).all()
    assert (draws(1e6, 1e-3, -1, 1, 100) == 1).all()


def test_bounds_that_are_one_point():
    assert (draws(0, 1, 0.5, 0.5, 100) == 0.5).all()


@unhurried
@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e3), st.floats(-1e3, 1e3), st.floats(0, 1e3), st.floats(-40, 40), uniform)
def test_bounds_are_always_kept(mean, sd, low, width, z, u):
    x = truncated_normal(mean, sd, low, low + width, z, u)
    assert low <= x <= low + width


def test_a_draw_inside_is_kept_as_it_is():
    assert truncated_normal(1.0, 2.0, -5.0, 5.0, 0.25, 0.9) == 1.5


@pytest.mark.parametrize("z", [-9.0, 9.0])
def test_a_draw_outside_is_the_inverse_of_the_truncated_distribution(z):
    exact = stats.truncnorm(-1, 2)
    for u in (0.01, 0.3, 0.5, 0.99):
        x = truncated_normal(0.0, 1.0, -1.0, 2.0, z, u)
        assert min(abs(x - exact.ppf(u)), abs(x - exact.ppf(1 - u))) < 1e-8
