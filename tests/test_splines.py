"""Samplers of splines: contracts of every planner, closed forms of what each does with costs."""

from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.errors import UserError
from tumble.goals import Goal, Term, balance
from tumble.planners.planner import Plan
from tumble.planners.splines import (
    CEM,
    MPPI,
    CEMSettings,
    MPPISettings,
    PredictiveSampling,
    PredictiveSamplingSettings,
    SplinePlanner,
    interpolate,
    later,
    softmin,
)
from tumble.world.scene import Scene
from tumble.world.sims import Sims

SMALL: dict[str, Any] = {"samples": 8, "horizon": 0.3, "spacing": 0.1}
KINDS: dict[str, tuple[type[Any], Any]] = {
    "predictive sampling": (PredictiveSampling, PredictiveSamplingSettings(**SMALL)),
    "CEM": (CEM, CEMSettings(**SMALL, elites=3)),
    "MPPI": (MPPI, MPPISettings(**SMALL)),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(humanoid())


@pytest.fixture(scope="module")
def goal(scene: Scene) -> Goal:
    return balance(scene)


def make(kind: str, scene: Scene, seed: int = 0, nthread: int = 1, **changes: Any) -> Any:
    planner, settings = KINDS[kind]
    return planner(scene, replace(settings, **changes), seed, nthread)


def live(planner: SplinePlanner, goal: Goal, frames: int = 5, pose: str = "rest", lying: str = "upright") -> list[Plan]:
    """Plans of a few frames in which the first control of each is carried out."""
    world = Sims(planner.scene, 1, 1)
    world.load(planner.scene.state(pose, lying))
    plans = []
    for _ in range(frames):
        plans.append(planner.plan(world.state[0].copy(), goal))
        world.act(plans[-1].controls[:1])
    return plans


def same(a: list[Plan], b: list[Plan]) -> bool:
    return all(
        np.array_equal(p.controls, q.controls) and np.array_equal(p.paths, q.paths) and p.cost == q.cost
        for p, q in zip(a, b, strict=True)
    )


def cost_of(controls: np.ndarray, state: np.ndarray, goal: Goal, planner: SplinePlanner) -> float:
    """What controls (K, size) cost from a state, added up step by step in a world of their own."""
    world = Sims(planner.scene, 1, 1)
    world.load(state)
    total = 0.0
    for control in controls:
        world.act(control[None])
        effort = (control - planner.neutral) / planner.spread
        total += goal.cost(world)[0] + planner.settings.control_weight * (effort @ effort)
    return float(total)


# Every planner ------------------------------------------------------------------------------------


@each_kind
def test_same_seed_same_plans(kind: str, scene: Scene, goal: Goal) -> None:
    planner = make(kind, scene, seed=3)
    plans = live(planner, goal, pose="t-pose", lying="supine")
    assert same(plans, live(make(kind, scene, seed=3), goal, pose="t-pose", lying="supine"))
    assert not same(plans, live(make(kind, scene, seed=4), goal, pose="t-pose", lying="supine"))
    planner.reset()
    assert same(plans, live(planner, goal, pose="t-pose", lying="supine"))


@each_kind
def test_threads_do_not_matter(kind: str, scene: Scene, goal: Goal) -> None:
    one, two = (live(make(kind, scene, nthread=n), goal, pose="t-pose", lying="prone") for n in (1, 2))
    assert same(one, two)


@each_kind
def test_plan_leaves_state_and_earlier_plans_alone(kind: str, scene: Scene, goal: Goal) -> None:
    planner, state = make(kind, scene), scene.state("t-pose", "supine")
    before = state.copy()
    first = planner.plan(state, goal)
    kept = [x.copy() for x in (first.controls, first.values, first.path, first.paths)]
    planner.plan(scene.state("rest"), goal)
    assert np.array_equal(state, before)
    for now, then in zip((first.controls, first.values, first.path, first.paths), kept, strict=True):
        assert np.array_equal(now, then)


@each_kind
def test_cost_is_that_of_doing_it(kind: str, scene: Scene, goal: Goal) -> None:
    planner, state = make(kind, scene), scene.state("t-pose", "supine")
    for _ in range(3):
        plan = planner.plan(state, goal)
        assert plan.cost == pytest.approx(cost_of(plan.controls, state, goal, planner), rel=1e-12)


@each_kind
def test_plan_is_complete(kind: str, scene: Scene, goal: Goal) -> None:
    plan = live(make(kind, scene), goal, pose="t-pose", lying="supine")[-1]
    steps, terms = 9, len(goal.terms)
    assert plan.controls.shape == (steps, scene.drive.size)
    assert plan.values.shape == (steps, terms)
    assert plan.paths.shape == (8, steps, 3)
    assert np.array_equal(plan.path, plan.paths[int(plan.statistics["best_slot"])])
    assert plan.smoothed.shape == (0, 3)
    assert plan.effort == pytest.approx(goal.effort(plan.values).mean())
    assert (plan.sim_steps, plan.broken) == (8 * steps, 0)


@each_kind
def test_plan_costs_no_more_than_the_nominal_spline(kind: str, scene: Scene, goal: Goal) -> None:
    planner, world = make(kind, scene), Sims(scene, 1, 1)
    world.load(scene.state("t-pose", "supine"))
    for frame in range(6):
        state = world.state[0].copy()
        nominal = later(planner.nominal) if frame and frame % 3 == 0 else planner.nominal
        controls = interpolate(nominal[None], 3, frame % 3, planner.steps)[:, 0]
        plan = planner.plan(state, goal)
        assert plan.cost <= cost_of(controls, state, goal, planner) * (1 + 1e-12)
        world.act(plan.controls[:1])


@each_kind
def test_controls_keep_to_the_bounds(kind: str, scene: Scene, goal: Goal) -> None:
    planner = make(kind, scene, calm_noise=50.0, tense_noise=50.0)
    for plan in live(planner, goal, frames=4):
        assert (plan.controls >= scene.drive.low - 1e-12).all()
        assert (plan.controls <= scene.drive.high + 1e-12).all()
    assert (planner.nominal >= scene.drive.low - 1e-12).all() and (planner.nominal <= scene.drive.high + 1e-12).all()


@each_kind
def test_noise_follows_effort(kind: str, scene: Scene, goal: Goal) -> None:
    planner = make(kind, scene, calm_noise=0.1, tense_noise=0.7)
    assert planner.plan(scene.state("rest"), goal).statistics["noise"] == pytest.approx(0.1)
    planner.reset()
    assert planner.plan(scene.state("t-pose", "supine"), goal).statistics["noise"] == pytest.approx(0.7)


@each_kind
def test_splines_are_gaussian_around_the_nominal(kind: str, scene: Scene, goal: Goal) -> None:
    planner = make(kind, scene, calm_noise=0.2, samples=64)
    planner.plan(scene.state("rest"), goal)
    planner.reset()
    joints = planner.scene.drive.joints
    drawn = np.concatenate([planner.ask() for _ in range(10)])[..., :joints] / planner.spread[:joints]
    n = drawn.size
    assert abs(drawn.mean()) < 5 * 0.2 / n**0.5  # 5 standard errors
    assert abs(drawn.std() - 0.2) < 5 * 0.2 / (2 * n) ** 0.5


@each_kind
def test_ask_and_tell_find_a_minimum(kind: str, scene: Scene) -> None:
    """Without physics: the cost is the distance from a given spline."""
    planner = make(kind, scene, calm_noise=0.05, samples=64)
    target = planner.neutral + 0.5 * np.sin(np.arange(planner.nominal.size)).reshape(planner.nominal.shape)
    target = np.clip(target, scene.drive.low, scene.drive.high)
    away = [float(((planner.nominal - target) ** 2).sum())]
    for _ in range(100):
        knots = planner.ask()
        knots[0] = planner.nominal
        planner.nominal = planner.tell(knots, ((knots - target) ** 2).sum(axis=(1, 2)))
        away.append(float(((planner.nominal - target) ** 2).sum()))
    assert away[-1] < 0.5 * away[0]
    if kind == "predictive sampling":  # its nominal is one of those that were simulated
        assert (np.diff(away) <= 0).all()


@each_kind
def test_another_spacing_begins_a_new_spline(kind: str, scene: Scene, goal: Goal) -> None:
    planner = make(kind, scene)
    live(planner, goal, frames=4)
    assert len(planner.nominal) == 5
    other = planner.configured(replace(planner.settings, spacing=0.2))
    live(other, goal, frames=8)
    assert len(other.nominal) == 4
    assert other.frame == 8


# Rows that break ----------------------------------------------------------------------------------


class Sabotage(Term):
    """Wants nothing, and throws given rows out of the world when it is first asked."""

    name: ClassVar[str] = "sabotage"
    sigma = 1.0

    def __init__(self, rows: slice) -> None:
        self.rows, self.done = rows, False

    def residual(self, sims: Sims) -> np.ndarray:
        if not self.done:
            sims.state[self.rows, 1:8] = 1e30
            self.done = True
        return np.zeros(sims.nsim)


@each_kind
def test_a_broken_row_never_wins(kind: str, scene: Scene, goal: Goal) -> None:
    planner, state = make(kind, scene), scene.state("t-pose", "supine")
    planner.plan(state, goal)
    plan = planner.plan(state, goal + Goal(Sabotage(slice(1, None))))
    assert plan.broken == 7
    assert plan.statistics["best_slot"] == 0
    assert np.isfinite(plan.cost)
    assert np.isfinite(planner.nominal).all()
    assert np.isfinite(planner.plan(state, goal).cost)


@each_kind
def test_where_all_rows_break_the_nominal_stays(kind: str, scene: Scene, goal: Goal) -> None:
    planner, state = make(kind, scene), scene.state("t-pose", "supine")
    planner.plan(state, goal)
    nominal = planner.nominal.copy()
    plan = planner.plan(state, goal + Goal(Sabotage(slice(None))))
    assert (plan.cost, plan.broken, plan.effort) == (np.inf, 8, 1.0)
    assert np.array_equal(planner.nominal, nominal)
    assert np.isfinite(plan.controls).all()
    assert np.isfinite(planner.plan(state, goal).cost)


class Undefined(Term):
    """Not a number in all rows but one."""

    name: ClassVar[str] = "undefined"
    sigma = 1.0

    def __init__(self, row: int) -> None:
        self.row = row

    def residual(self, sims: Sims) -> np.ndarray:
        return np.where(np.arange(sims.nsim) == self.row, 0.0, np.nan)


@each_kind
def test_what_has_no_cost_never_wins(kind: str, scene: Scene, goal: Goal) -> None:
    planner = make(kind, scene)
    plan = planner.plan(scene.state("rest"), goal + Goal(Undefined(row=2)))
    assert plan.statistics["best_slot"] == 2
    assert np.isfinite(plan.cost) and np.isfinite(planner.nominal).all()
    plan = planner.plan(scene.state("rest"), goal + Goal(Undefined(row=-1)))
    assert (plan.cost, plan.effort) == (np.inf, 1.0)
    assert np.isfinite(planner.nominal).all()


# Splines in time ----------------------------------------------------------------------------------


def test_interpolation_passes_through_the_knots_in_straight_lines() -> None:
    knots = np.random.default_rng(0).normal(size=(4, 6, 3))
    out = interpolate(knots, every=5, phase=0, steps=26)
    assert np.array_equal(out[::5], knots.swapaxes(0, 1))
    for i in range(4):
        for d in range(3):
            expected = np.interp(np.arange(26) / 5, np.arange(6), knots[i, :, d])
            np.testing.assert_allclose(out[:, i, d], expected, rtol=0, atol=1e-14)
    assert np.array_equal(interpolate(knots, every=5, phase=24, steps=4)[1:], np.tile(knots[:, -1], (3, 1, 1)))


@pytest.mark.parametrize("every", [1, 3, 7])
def test_the_next_frame_sees_the_same_spline(every: int) -> None:
    knots = np.random.default_rng(1).normal(size=(2, 6, 3))
    for phase in range(every):
        now, next_ = interpolate(knots, every, phase, 9), interpolate(knots, every, phase + 1, 8)
        assert np.array_equal(now[1:], next_)
    moved = np.stack([later(row) for row in knots])
    assert np.array_equal(interpolate(knots, every, every, 9), interpolate(moved, every, 0, 9))


def test_a_line_in_time_stays_one_when_it_is_shifted() -> None:
    times = np.arange(8.0)
    line = (2.0 + 0.5 * times)[None, :, None]
    for frame in range(12):
        knots = later(line[0])[None] if frame >= 4 else line
        knots = later(knots[0])[None] if frame >= 8 else knots
        out = interpolate(knots, every=4, phase=frame % 4, steps=16)[:, 0, 0]
        np.testing.assert_allclose(out, 2.0 + 0.5 * (frame + np.arange(16)) / 4, rtol=0, atol=1e-14)


def test_the_nominal_spline_walks_the_path_that_was_planned(scene: Scene, goal: Goal) -> None:
    plans = live(make("predictive sampling", scene), goal, frames=11, pose="t-pose", lying="supine")
    for before, after in pairwise(plans):
        assert np.array_equal(after.paths[0, :-1], before.path[1:])


def test_predictive_sampling_never_gets_worse_on_a_frozen_state(scene: Scene, goal: Goal) -> None:
    planner, state = make("predictive sampling", scene), scene.state("t-pose", "supine")
    costs = []
    for _ in range(12):
        costs.append(planner.plan(state, goal).cost)
        planner.frame = 0  # the horizon does not move either
    assert (np.diff(costs) <= 0).all()
    assert costs[-1] < costs[0]


# What is made of the costs ------------------------------------------------------------------------


def test_softmin_in_closed_form() -> None:
    weights = softmin(np.array([5.0, 6.0, 7.0, np.inf]), temperature=2.0)  # median excess 1: lambda = 2
    expected = np.array([1.0, np.exp(-0.5), np.exp(-1.0), 0.0])
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-14)


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([np.inf, np.inf], [0.5, 0.5]),
        ([np.inf, 3.0], [0.0, 1.0]),
        ([3.0, 3.0, 3.0, np.inf], [1 / 3, 1 / 3, 1 / 3, 0.0]),
        ([3.0, 3.0, 3.0, 9.0], [1 / 3, 1 / 3, 1 / 3, 0.0]),
        ([1e300, 0.0, 1e308], [np.exp(-1e1), 1.0, 0.0]),
    ],
)
def test_softmin_at_its_edges(costs: list[float], expected: list[float]) -> None:
    with np.errstate(all="raise", under="ignore"):
        weights = softmin(np.array(costs), temperature=0.1)
    np.testing.assert_allclose(weights, np.array(expected) / np.sum(expected), rtol=1e-12)


def test_softmin_does_not_see_units_or_offsets() -> None:
    costs = np.random.default_rng(2).exponential(size=20)
    np.testing.assert_allclose(softmin(30.0 * costs + 7.0, 0.3), softmin(costs, 0.3), rtol=1e-9)


def test_mppi_takes_the_weighted_mean(scene: Scene) -> None:
    planner = make("MPPI", scene, temperature=2.0)
    knots = planner.ask()
    costs = np.r_[5.0, 6.0, 7.0, np.full(5, np.inf)]
    w = np.exp([0.0, -0.5, -1.0])
    expected = (w[0] * knots[0] + w[1] * knots[1] + w[2] * knots[2]) / w.sum()
    np.testing.assert_allclose(planner.tell(knots, costs), expected, rtol=1e-12, atol=1e-15)


def test_cem_fits_the_elite(scene: Scene) -> None:
    planner = make("CEM", scene, calm_noise=0.2, least_noise=0.5)
    knots = planner.ask()
    costs = np.array([9.0, 2.0, np.inf, 8.0, 1.0, 7.0, 3.0, np.inf])
    elite = knots[[4, 1, 6]]
    np.testing.assert_allclose(planner.tell(knots, costs), elite.mean(axis=0), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(planner.deviation, elite.std(axis=0), rtol=1e-12)
    planner.frame = 1
    planner.ask()
    floor = 0.5 * 0.2 * planner.spread
    np.testing.assert_allclose(planner.deviation, np.maximum(elite.std(axis=0), floor), rtol=1e-12)


def test_cem_leaves_broken_rows_out_of_the_elite(scene: Scene) -> None:
    planner = make("CEM", scene)
    knots = planner.ask()
    costs = np.full(8, np.inf)
    costs[5] = 1.0
    assert np.array_equal(planner.tell(knots, costs), knots[5])
    assert not planner.deviation.any()


def test_predictive_sampling_takes_the_cheapest(scene: Scene) -> None:
    planner = make("predictive sampling", scene)
    knots = planner.ask()
    nominal = planner.tell(knots, np.array([9.0, 2.0, np.inf, 8.0, 1.0, 7.0, 3.0, np.inf]))
    assert np.array_equal(nominal, knots[4])
    assert not np.shares_memory(nominal, knots)


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("MPPI", {"temperature": 0.0}, "temperature must be a number above 0, got 0"),
        ("MPPI", {"spacing": 0.0}, "spacing must be a number above 0 and at most 60, got 0"),
        ("CEM", {"elites": 9}, r"elites must be 1 to samples \(8\), got 9"),
        ("predictive sampling", {"samples": 1}, "samples must be a number 2 or more"),
    ],
)
def test_bad_settings_are_told(kind: str, changes: dict[str, Any], message: str, scene: Scene) -> None:
    with pytest.raises(UserError, match=message):
        make(kind, scene, **changes)
