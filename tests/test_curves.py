"""Splines of plans: shifts that are exact to the last bit, and an independent evaluation of the cubics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tumble.planners.smc.curves import CurveStart, follow, shifted

unhurried = settings(deadline=None, max_examples=60)
seeds = st.integers(0, 2**32 - 1)
DT, POINTS, SIZE, SPARE = 1 / 30, 4, 5, 0.5


def plans_of(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(n, points (size + 1)) from (n, points) and (n, points, size)."""
    return np.concatenate([values, times[..., None]], axis=2).reshape(len(times), -1)


def random_plans(rng: np.random.Generator, count: int, awkward: bool = True) -> np.ndarray:
    """Plans whose times may be 0, tiny, whole steps, a few at once, or beyond any horizon."""
    times = rng.uniform(0.05, 1.0, (count, POINTS))
    if awkward:
        odd = [0.0, 1e-300, 1e-12, 1e-9, 0.3 * DT, DT, 2 * DT, np.nextafter(DT, 1), 0.4, 50.0]
        times = np.where(rng.random(times.shape) < 0.7, rng.choice(odd, times.shape), times)
    values = rng.uniform(-2, 2, (count, POINTS, SIZE))
    if awkward:  # flat stretches, and points that coincide
        values[:, 1:] = np.where(rng.random(values[:, 1:].shape) < 0.2, values[:, :-1], values[:, 1:])
    return plans_of(times, values)


def random_start(rng: np.random.Generator) -> CurveStart:
    """In the midst of some curve."""
    start = CurveStart.at_rest(rng.uniform(-2, 2, SIZE))
    for _ in range(rng.integers(0, 20)):
        start = start.moved(random_plans(rng, 1)[0], POINTS, DT)
    return start


def hermite(start: CurveStart, plan: np.ndarray, when: np.ndarray) -> np.ndarray:
    """(len(when), size), all at once: cubics between points, slopes harmonic means of the straight lines beside."""
    rows = plan.reshape(POINTS, -1)
    knots = np.r_[0.0, np.cumsum(rows[:, -1])]
    values = np.vstack([start.value, rows[:, :-1]])
    gaps = np.diff(knots)[:, None]
    lines = np.diff(values, axis=0) / gaps
    lines[0] = (values[1] - start.behind) / (start.age + gaps[0])  # of the point behind, not of where the curve is now
    slopes = np.zeros_like(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = 2 / (1 / lines[:-1] + 1 / lines[1:])
    slopes[1:-1] = np.where(lines[:-1] * lines[1:] > 0, means, 0.0)
    straight = (values[1] - values[0]) / gaps[0]
    slopes[0] = np.clip(start.slope, np.minimum(0, 3 * straight), np.maximum(0, 3 * straight))
    out = np.empty((len(when), SIZE))
    for k, t in enumerate(when):
        i = min(int(np.searchsorted(knots, t, side="right")) - 1, POINTS)
        if i == POINTS:
            out[k] = values[-1]
            continue
        h = gaps[i]
        s = (t - knots[i]) / h
        out[k] = (
            (1 + 2 * s) * (1 - s) ** 2 * values[i]
            + s * (1 - s) ** 2 * h * slopes[i]
            + s**2 * (3 - 2 * s) * values[i + 1]
            + s**2 * (s - 1) * h * slopes[i + 1]
        )
    return out


# Shifting -------------------------------------------------------------------------------------------


@unhurried
@given(seeds)
def test_shifting_by_a_step_is_exact_over_the_whole_horizon(seed):
    rng = np.random.default_rng(seed)
    start, plans = random_start(rng), random_plans(rng, 4)
    whole = follow(start, plans, POINTS, DT, 60)
    for i, later in enumerate(shifted(plans, POINTS, DT, SPARE)):
        rest = follow(start.moved(plans[i], POINTS, DT), later[None], POINTS, DT, 59)
        assert np.array_equal(rest[:, 0], whole[1:, i])


@unhurried
@given(seeds)
def test_carrying_on_frame_after_frame_does_what_was_planned(seed):
    """Until all points are passed and held for long, to the last bit."""
    rng = np.random.default_rng(seed)
    start, plan = random_start(rng), random_plans(rng, 1)
    steps = 150
    whole = follow(start, plan, POINTS, DT, steps)[:, 0]
    for k in range(steps):
        start = start.moved(plan[0], POINTS, DT)
        assert np.array_equal(start.value, whole[k])
        plan = shifted(plan, POINTS, DT, SPARE)
        assert np.array_equal(follow(start, plan, POINTS, DT, steps - k - 1)[:, 0], whole[k + 1 :])


@pytest.mark.parametrize("spare", [0.0, 1e-12, 0.3 * DT, 0.5, 100.0])
def test_how_long_the_last_point_is_held_does_not_matter(spare):
    rng = np.random.default_rng(7)
    for _ in range(20):
        start, plan = random_start(rng), random_plans(rng, 1)
        whole = follow(start, plan, POINTS, DT, 60)[:, 0]
        for k in range(30):
            start, plan = start.moved(plan[0], POINTS, DT), shifted(plan, POINTS, DT, spare)
            assert np.array_equal(follow(start, plan, POINTS, DT, 29)[:, 0], whole[k + 1 : k + 30])


def test_what_was_passed_is_gone_and_the_last_point_is_held():
    values = np.arange(8.0).reshape(1, 4, 2)
    plan = plans_of(np.array([[0.25, 0.125, 0.5, 0.5]]), values)
    (later,) = shifted(plan, 4, 0.5, 2.0).reshape(1, 4, 3)
    assert later.tolist() == [[4, 5, 0.375], [6, 7, 0.5], [6, 7, 2], [6, 7, 2]]
    (last,) = shifted(plan, 4, 10.0, 2.0).reshape(1, 4, 3)
    assert last.tolist() == [[6, 7, 2]] * 4
    (same,) = shifted(plan, 4, 0.0, 2.0)
    assert np.array_equal(same, plan[0])


# The curve ------------------------------------------------------------------------------------------


@unhurried
@given(seeds)
def test_cubics_between_points(seed):
    """Against the closed form, evaluated at once.

    Times are 0.05 s or more and values within 2, so slopes are within 3 * 4 / 0.05. Rounding in 60 subtractions
    from times of 1 s or less is within 60 * 2^-53 s, and a step has about 20 operations on values within 4.
    """
    rng = np.random.default_rng(seed)
    plans = random_plans(rng, 4, awkward=False)
    start = CurveStart.at_rest(rng.uniform(-2, 2, SIZE))
    start.slope[:] = rng.uniform(-5, 5, SIZE)
    curves = follow(start, plans, POINTS, DT, 60)
    tolerance = 2.0**-53 * 60 * (240 + 20 * 4)
    for i, plan in enumerate(plans):
        assert np.abs(curves[:, i] - hermite(start, plan, DT * np.arange(1, 61))).max() < tolerance


def test_in_the_midst_of_a_curve_slopes_ahead_count_from_the_point_behind():
    """So that they stay what they were."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        plan = random_plans(rng, 1, awkward=False)
        before = CurveStart.at_rest(rng.uniform(-2, 2, SIZE))
        wanted = hermite(before, plan[0], DT * np.arange(1, 61))
        start = before
        for _ in range(10):
            start, plan = start.moved(plan[0], POINTS, DT), shifted(plan, POINTS, DT, SPARE)
        tolerance = 2.0**-53 * 60 * (240 + 20 * 4)
        assert np.abs(follow(start, plan, POINTS, DT, 50)[:, 0] - wanted[10:]).max() < tolerance


def test_passes_through_every_point_at_its_time():
    """To the last bit where times are whole steps, which 1/32 s can be added up to exactly."""
    rng = np.random.default_rng(0)
    dt = 1 / 32
    for _ in range(50):
        values, counts = rng.uniform(-2, 2, (1, POINTS, SIZE)), rng.integers(0, 20, POINTS)
        curve = follow(random_start(rng), plans_of(dt * counts[None], values), POINTS, dt, 100)[:, 0]
        last = np.append(np.diff(np.cumsum(counts)) > 0, True)  # of those at the same time
        for point, when in enumerate(np.cumsum(counts)):
            if last[point] and when > 0:
                assert np.array_equal(curve[when - 1], values[0, point])


@unhurried
@given(seeds)
def test_ends_at_rest_in_the_last_point(seed):
    rng = np.random.default_rng(seed)
    plan = random_plans(rng, 1)
    times = plan.reshape(POINTS, -1)[:, -1]
    np.minimum(times, 1.0, out=times)
    curve = follow(start := random_start(rng), plan, POINTS, DT, 125)[:, 0]
    over = int(np.ceil(times.sum() / DT + 1e-6))
    assert (curve[over:] == plan.reshape(POINTS, -1)[-1, :-1]).all()
    for _ in range(over + 1):
        start, plan = start.moved(plan[0], POINTS, DT), shifted(plan, POINTS, DT, SPARE)
    assert (start.slope == 0).all()


def check_between(curve: np.ndarray, when: np.ndarray, start: CurveStart, plan: np.ndarray) -> None:
    """Whether a curve stays between the points around each moment, and goes from one to the other without turning."""
    rows = plan.reshape(POINTS, -1)
    knots, values = np.r_[0.0, np.cumsum(rows[:, -1])], np.vstack([start.value, rows[:, :-1]])
    for i in range(POINTS):
        inside = curve[(when >= knots[i]) & (when <= knots[i + 1])]
        low, high = np.minimum(values[i], values[i + 1]), np.maximum(values[i], values[i + 1])
        assert (low - 1e-12 <= inside).all() and (inside <= high + 1e-12).all()
        turns = np.diff(inside, axis=0) * np.sign(values[i + 1] - values[i])
        assert (turns >= -1e-12).all()


@unhurried
@given(seeds)
def test_never_beyond_the_points_beside(seed):
    """Even where the start's slope points elsewhere."""
    rng = np.random.default_rng(seed)
    start, dt = CurveStart.at_rest(rng.uniform(-2, 2, SIZE)), 1 / 128
    start.slope[:] = rng.uniform(-30, 30, SIZE)
    plan = random_plans(rng, 1, awkward=False)
    curve = follow(start, plan, POINTS, dt, 500)[:, 0]
    check_between(curve, dt * np.arange(1, 501), start, plan[0])


@unhurried
@given(seeds)
def test_another_plan_in_the_midst_of_a_curve_does_not_go_beyond_its_points_either(seed):
    """As nearly all samples of a frame are."""
    rng = np.random.default_rng(seed)
    start, dt = CurveStart.at_rest(rng.uniform(-2, 2, SIZE)), 1 / 128
    before = random_plans(rng, 1, awkward=False)
    for _ in range(rng.integers(1, 100)):
        start, before = start.moved(before[0], POINTS, dt), shifted(before, POINTS, dt, SPARE)
    plan = random_plans(rng, 1, awkward=False)
    curve = follow(start, plan, POINTS, dt, 500)[:, 0]
    check_between(curve, dt * np.arange(1, 501), start, plan[0])


@unhurried
@given(seeds)
def test_a_curve_begins_where_the_start_is(seed):
    """A cubic between rests or clamped slopes is never steeper than three times the straight line."""
    rng = np.random.default_rng(seed)
    start, dt = CurveStart.at_rest(rng.uniform(-2, 2, SIZE)), 1e-6
    start.slope[:] = rng.uniform(-30, 30, SIZE)
    plan = random_plans(rng, 1, awkward=False)
    first = plan.reshape(POINTS, -1)[0]
    steepest = 3 * np.abs(first[:-1] - start.value) / first[-1]
    (here,) = follow(start, plan, POINTS, dt, 1)[:, 0]
    assert (np.abs(here - start.value) <= steepest * dt * (1 + 1e-6) + 1e-15).all()


# Bookkeeping ----------------------------------------------------------------------------------------


def test_rows_do_not_influence_each_other():
    rng = np.random.default_rng(1)
    start, plans = random_start(rng), random_plans(rng, 30)
    curves, later = follow(start, plans, POINTS, DT, 60), shifted(plans, POINTS, DT, SPARE)
    order = rng.permutation(30)
    assert curves.shape == (60, 30, SIZE)
    assert np.array_equal(follow(start, plans[order], POINTS, DT, 60), curves[:, order])
    assert np.array_equal(shifted(plans[order], POINTS, DT, SPARE), later[order])
    for i in range(30):
        assert np.array_equal(follow(start, plans[i : i + 1], POINTS, DT, 60)[:, 0], curves[:, i])


def test_values_do_not_influence_each_other():
    rng = np.random.default_rng(2)
    start, plans = random_start(rng), random_plans(rng, 10)
    curves = follow(start, plans, POINTS, DT, 60)
    other = plans.reshape(10, POINTS, -1).copy()
    other[:, :, 2] = rng.uniform(-2, 2, (10, POINTS))
    changed = follow(start, other.reshape(10, -1), POINTS, DT, 60)
    assert np.array_equal(np.delete(changed, 2, axis=2), np.delete(curves, 2, axis=2))
    assert not np.array_equal(changed, curves)


def test_what_is_given_stays_as_it_is():
    rng = np.random.default_rng(3)
    start, plans = random_start(rng), random_plans(rng, 5)
    kept = start.value.copy(), start.slope.copy(), start.behind.copy(), start.age, plans.copy()
    follow(start, plans, POINTS, DT, 60)
    start.moved(plans[0], POINTS, DT)
    shifted(plans, POINTS, DT, SPARE)
    now = start.value, start.slope, start.behind, start.age, plans
    assert all(np.array_equal(a, b) for a, b in zip(kept, now, strict=True))
    value = np.ones(SIZE)
    rest = CurveStart.at_rest(value)
    rest.value[:] = 5.0
    assert (value == 1).all() and (rest.behind == 1).all()


def test_no_plans():
    start = CurveStart.at_rest(np.zeros(SIZE))
    none = np.empty((0, POINTS * (SIZE + 1)))
    assert follow(start, none, POINTS, DT, 7).shape == (7, 0, SIZE)
    assert shifted(none, POINTS, DT, SPARE).shape == none.shape
