"""Tasks over steps: metric, grids, exploration, iteration, policies, and the controller that acts by them."""

import math
import time
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from tumble.characters import character
from tumble.cli.task_plot import coverage_of, figure_of
from tumble.cli.task_run import summary
from tumble.errors import UserError
from tumble.goals.wants import Balance, Go
from tumble.offline.store import JobStore
from tumble.tasks.exploring import Exploration, displaced
from tumble.tasks.gaits import GaitStep, GaitStepper, between
from tumble.tasks.grid import Axis, around, check_grid, closest, points, spread
from tumble.tasks.hits import RADIUS, met, read, throw
from tumble.tasks.iterating import Model, iterate
from tumble.tasks.judging import Verdict, judged
from tumble.tasks.library import TASKS
from tumble.tasks.metric import TILT, VELOCITY, WEIGHTS, Metric, Stances, all_nearest, joined, nearest, plane
from tumble.tasks.policy import Policy, read_policy
from tumble.tasks.safety import safe
from tumble.tasks.task import JudgedStates, SampledSteps, Task, register, rewards_of
from tumble.tasks.tasked import Tasked
from tumble.tasks.training import preferred, scout_for, train
from tumble.world.props import Ball
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims


class Here(Executor):
    """Does jobs at once, in this process."""

    def submit(self, function, /, *arguments, **named):
        future = Future()
        future.set_result(function(*arguments, **named))
        return future


class Straight(Task):
    """Walk or step in place, to a line."""

    name, summary, character = "straight", "to a line", "big-bird"
    actions = (GaitStep("walk"), GaitStep("in-place"), *between("in-place", "walk", 1))
    grid = (Axis("ahead", spread(-1.0, 2.0, 9, 0.5)),)

    def reward(self, states, w):
        return np.abs(w[:, 0]) < 0.3


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    exploration = Exploration(Straight(), states=40)
    with JobStore(tmp_path_factory.mktemp("tasks") / "a.steps", exploration.about) as store:
        rounds = list(exploration.run(store, Here()))
    return exploration, rounds


@pytest.fixture(scope="module")
def trained(explored, tmp_path_factory):
    exploration = Exploration(Straight(), states=40)
    with JobStore(tmp_path_factory.mktemp("policy") / "a.steps", exploration.about) as store:
        return train(Straight(), exploration, store, Here(), "tumble task train straight")


@pytest.fixture(scope="module")
def bird():
    scene = Scene(character("big-bird"), ground=Ground(0.8))
    stepper = GaitStepper(scene)
    return stepper, stepper.walker, Metric(stepper)


def walked(bird, rows=6, steps=3):
    _, walker, _ = bird
    sims = Sims(walker.scene, rows, nthread=1)
    sims.use(walker.drive)
    sims.load(walker.opening("walk"))
    speeds = sims.view("qvel")
    speeds[:] = speeds + np.random.default_rng(3).normal(0, 0.1, speeds.shape)
    sims.load(sims.state.copy())
    walker.start(sims)
    for _ in range(steps):
        walker.step(sims)
    return sims


# ---- metric


def plain_distance(a, b, angles):
    """The formula of section 4.4.1, term by term."""
    vectors = len(a) - 4 * len(angles)
    moves = np.linalg.norm((a - b)[:vectors].reshape(-1, 3), axis=1).sum()
    p, q = a[vectors:].reshape(-1, 4), b[vectors:].reshape(-1, 4)
    return moves + (angles * 2 * np.arccos(np.minimum(1, np.abs((p * q).sum(axis=1))))).sum()


def test_the_nearest_are_those_of_the_formula(bird):
    rng = np.random.default_rng(0)
    states = bird[2].states(walked(bird, 40))
    queries = Stances(
        states.features + rng.normal(0, 0.05, states.features.shape).astype(np.float32), states.feet, states.angles
    )
    rows, distances = nearest(states, queries, 4)
    for i in range(len(queries)):
        found = np.array([
            plain_distance(states.features[s].astype(float), queries.features[i].astype(float), states.angles)
            if states.feet[s] == queries.feet[i] else np.inf for s in range(len(states))
        ])  # fmt: skip
        assert distances[i] == pytest.approx(np.sort(found)[:4], abs=1e-4)
        assert found[rows[i]] == pytest.approx(np.sort(found)[:4], abs=1e-4)


def test_all_of_many_are_found_to_the_last_bit(bird):
    """By bounds and in pieces, as one by one; equally near ones too, and where there are fewer than k."""
    rng = np.random.default_rng(6)
    some = joined([bird[2].states(walked(bird, 60, steps)) for steps in (1, 2, 4)])
    states = joined([some, some.some(slice(0, 20))])
    vectors = states.features.shape[1] - 4 * len(states.angles)
    features = np.repeat(states.features, 3, axis=0)
    features += rng.normal(0, np.repeat([[0.0], [0.01], [0.3]], len(states), axis=1).T.reshape(-1, 1)).astype("f4")
    quats = features[:, vectors:].reshape(len(features), -1, 4)
    quats /= np.linalg.norm(quats, axis=2, keepdims=True)
    queries = Stances(features, np.repeat(states.feet, 3), states.angles)

    def in_pieces(part, count):
        for piece in (slice(7, count), slice(0, 7)):
            part(piece)

    for kept, k in ((states, 6), (states.some(slice(0, 4)), 6)):
        for one, two in zip(nearest(kept, queries, k), all_nearest(kept, queries, k, in_pieces), strict=True):
            assert one.tobytes() == two.tobytes()


def test_other_feet_are_infinitely_far(bird):
    states = bird[2].states(walked(bird, 3))
    other = Stances(states.features, 1 - states.feet, states.angles)
    rows, distances = nearest(states, other, 2)
    assert (rows == -1).all() and np.isinf(distances).all()


def test_states_do_not_depend_on_where_and_which_way(bird):
    sims = walked(bird, 1)
    before = bird[2].states(sims)
    qpos, turn = sims.view("qpos"), 0.9
    x, y = qpos[0, :2].copy()
    c, s = math.cos(turn), math.sin(turn)
    qpos[0, :2] = c * x - s * y + 3.0, s * x + c * y - 2.0
    w, i, j, k = qpos[0, 3:7].copy()
    cw, sw = math.cos(turn / 2), math.sin(turn / 2)
    qpos[0, 3:7] = cw * w - sw * k, cw * i - sw * j, cw * j + sw * i, cw * k + sw * w
    vx, vy = sims.view("qvel")[0, :2].copy()
    sims.view("qvel")[0, :2] = c * vx - s * vy, s * vx + c * vy
    sims.memory("simbicon").heading[0] += turn
    sims.batch.forward(stage=1)
    sims.load(sims.state.copy())
    assert nearest(before, bird[2].states(sims), 1)[1][0, 0] < 1e-2


def test_weights_are_those_of_table_4_1():
    assert WEIGHTS["biped34"] == {"waist": (1.0, 1.5), "hip": (0.5, 1.5), "knee": (0.2, 1.0)}
    assert WEIGHTS["raptor"]["tail_1"] == (0.05, 1.0) and WEIGHTS["big-bird"]["neck"] == (1.0, 1.5)
    assert (VELOCITY, TILT) == (1.0, (0.1, 1.0))


def test_displacements_are_in_the_frame_of_the_beginning():
    before, after = np.array([[1.0, 2.0, math.pi / 2]]), np.array([[1.0, 3.0, math.pi]])
    assert displaced(before, after)[0] == pytest.approx([1.0, 0.0, math.pi / 2])


def test_the_plane_keeps_distances_along_it(bird):
    """States that differ by one velocity on a plane, or by one rotation, lie as far from each other as they are."""
    one = bird[2].states(walked(bird, 1))
    rng = np.random.default_rng(5)
    features = np.repeat(one.features, 12, axis=0)
    features[:, 3:5] += rng.normal(0, 1.0, (12, 2)).astype(np.float32)
    states = Stances(features, np.repeat(one.feet, 12), one.angles)
    places, shares = plane(states)
    away = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert away == pytest.approx(np.linalg.norm(features[:, None, 3:5] - features[None, :, 3:5], axis=2), abs=1e-5)
    assert shares.sum() == pytest.approx(1.0)
    turns = np.repeat(one.features, 5, axis=0)
    last = turns[:, -4:].copy()
    for i, angle in enumerate(np.linspace(0, 0.1, 5)):
        w, x, y, z = last[i]
        c, s = math.cos(angle / 2), math.sin(angle / 2)
        turns[i, -4:] = (c * w - s * x, c * x + s * w, c * y + s * z, c * z - s * y)
    turns[::2, -4:] *= -1.0  # the same rotations
    states = Stances(turns, np.repeat(one.feet, 5), one.angles)
    places = plane(states)[0]
    distances = nearest(states, states.some(slice(0, 1)), 5)[1][0]
    assert np.linalg.norm(places - places[0], axis=1) == pytest.approx(distances, rel=2e-2, abs=2e-3)


# ---- grids


def test_points_are_spread_about_0():
    at = np.array(spread(-2.5, 6.0, 35, 0.25))
    assert len(at) == 35 and at[0] == -2.5 and at[-1] == 6.0 and 0.0 in at and (np.diff(at) > 0).all()
    assert np.diff(at).min() < 0.35 * np.diff(at).mean()
    turn = np.array(around(25, 0.15))
    assert len(turn) == 25 and turn[-1] == pytest.approx(math.pi) and turn[0] > -math.pi and 0.0 in turn


def test_the_closest_point_is_the_closest():
    grid, rng = (Axis("ahead", spread(-3, 3, 7, 0.4)), Axis("heading", around(9, 0.5))), np.random.default_rng(1)
    at = points(grid)
    for _ in range(200):
        w = (rng.uniform(-4, 4), rng.uniform(-math.pi, math.pi))
        turned = np.abs((at[:, 1] - w[1] + math.pi) % (2 * math.pi) - math.pi)
        number = closest(grid, w)
        assert abs(at[number, 0] - w[0]) == pytest.approx(np.abs(at[:, 0] - w[0]).min())
        assert turned[number] == pytest.approx(turned.min())


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((Axis("ahead", (1.0, 2.0)),), "the axis 'ahead' does not hold the goal, 0: it goes from 1 to 2"),
        ((Axis("ahead", (0.0, 0.0)),), "points of the axis 'ahead' must be finite and rise, got [0.0, 0.0] ..."),
        (
            (Axis("left", (0.0, 1.0)),),
            "a task with the axis 'left' needs 'ahead' as well: what is beside is ahead after a turn",
        ),
        ((Axis("ahead", (0.0,)), Axis("ahead", (0.0,))), "every axis of a task is there once, got ahead, ahead"),
        ((Axis("heading", (-math.pi, 0.0)),), "headings go from above -pi to pi, got -3.14159 to 0"),
        (tuple(Axis(name, (0.0,)) for name in "abcd"), "a task has 3 axes at most, got 4"),
    ],
)  # fmt: skip
def test_grids_that_no_task_can_have(grid, message):
    with pytest.raises(UserError) as error:
        check_grid(grid)
    assert str(error.value) == message


# ---- iteration


def chain(grid, moved, seconds=0.5):
    """One state, an action a row of `moved`, each of which leads back to it."""
    states = Stances(np.zeros((1, 7), np.float32), np.zeros(1, np.uint8), np.ones(1))
    states.features[0, 3] = 1.0
    count = len(moved)
    steps = SampledSteps(np.zeros(count, np.intp), np.arange(count), np.array(moved, float), np.full(count, seconds))
    ends = states.some(np.zeros(count, int))
    return Model.of(states, steps, ends, grid, 0.9, threads=1), count


def after(grid, w, moved):
    """Task states after a step, by the definition of their axes."""
    x, y, turn = moved
    names = [axis.name for axis in grid]
    out = w.copy()
    if "ahead" in names:
        p = np.column_stack([w[:, 0] - x, (w[:, 1] if "left" in names else 0 * w[:, 0]) - y])
        c, s = math.cos(turn), math.sin(turn)
        if "left" in names:
            out[:, 0], out[:, 1] = c * p[:, 0] + s * p[:, 1], c * p[:, 1] - s * p[:, 0]
        else:
            out[:, 0] = p[:, 0]
    if "heading" in names:
        out[:, names.index("heading")] -= turn
    return out


GRIDS = [
    (Axis("ahead", spread(-2, 3, 9, 0.4)),),
    (Axis("heading", around(11, 0.5)),),
    (Axis("ahead", spread(-2, 2, 7, 0.4)), Axis("left", spread(-2, 2, 8, 0.4))),
    (Axis("speed", (0.0, 0.5, 1.0)), Axis("heading", around(9, 0.5))),
    (Axis("ahead", spread(-2, 2, 6, 0.4)), Axis("left", spread(-2, 2, 5, 0.4)), Axis("heading", around(7, 0.8))),
]


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: "-".join(axis.name for axis in grid))
def test_values_are_the_fixed_point_of_bellmans_equation(grid):
    moved = [(0.31, 0.05, 0.2), (-0.2, 0.1, -0.35), (0.0, 0.0, 0.0)]
    model, count = chain(grid, moved)
    w = points(grid)
    reward = (np.abs(w).sum(axis=1) < 0.8).astype(float)[None]
    found = iterate(model, reward, np.zeros(count), np.zeros(len(w)), count, threads=1)
    axes, value = [np.array(axis.points) for axis in grid], found.value[0].reshape([len(axis.points) for axis in grid])
    for i, axis in enumerate(grid):
        if axis.name == "heading":  # round
            axes[i] = np.concatenate([[axes[i][-1] - 2 * math.pi], axes[i]])
            value = np.concatenate([np.take(value, [-1], axis=i), value], axis=i)
    between_points = RegularGridInterpolator(axes, value)
    tried = []
    for one in moved:
        later = after(grid, w, one)
        for i, axis in enumerate(grid):
            if axis.name == "heading":
                later[:, i] = (later[:, i] + math.pi) % (2 * math.pi) - math.pi
            later[:, i] = np.clip(later[:, i], axes[i][0], axes[i][-1])
        tried.append(reward[0] + 0.9**0.5 * between_points(later))
    best = np.max(tried, axis=0)
    assert np.abs(best - found.value[0]).max() < 0.02 * found.value.max()
    clear = np.sort(tried, axis=0)[-1] - np.sort(tried, axis=0)[-2] > 0.05 * found.value.max()
    assert (np.argmax(tried, axis=0) == found.best[0])[clear].all()


def test_tolls_are_paid_where_they_are():
    grid = GRIDS[0]
    model, count = chain(grid, [(0.1, 0.0, 0.0), (0.1, 0.0, 0.0)])
    reward = np.ones((1, len(points(grid))))
    paid = points(grid)[:, 0] > 0
    best = iterate(model, reward, np.array([1.0, 0.0]), paid, count, threads=1).best[0]
    assert (best[paid] == 1).all() and (best[~paid] == 0).all()


def test_threads_do_not_matter(explored):
    exploration, _ = explored
    task = Straight()
    model = Model.of(exploration.states, exploration.steps, exploration.ends, task.grid, 0.9)
    none = np.zeros(len(exploration.steps.state)), np.zeros(len(points(task.grid)))
    one, two = (iterate(model, rewards_of(task, exploration.seen), *none, 3, threads=n) for n in (1, 2))
    assert (one.value == two.value).all() and (one.best == two.best).all()


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (math.nan, "the reward of 'straight' must be finite, got nan somewhere"),
        (0.0, "the reward of 'straight' is above 0 nowhere: no state and goal is worth anything"),
        (np.ones((2, 3, 4)), "the reward of 'straight' must have the shape (40, 9), got (2, 3, 4)"),
    ],
)
def test_rewards_that_will_not_do(explored, reward, message, monkeypatch):
    monkeypatch.setattr(Straight, "reward", lambda self, states, w: reward)
    with pytest.raises(UserError) as error:
        rewards_of(Straight(), explored[0].seen)
    assert str(error.value) == message


def never(*arguments):
    raise AssertionError("steps were simulated")


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (math.nan, "the reward of 'straight' must be finite, got nan somewhere"),
        (0.0, "the reward of 'straight' is above 0 nowhere: no state and goal is worth anything"),
        (np.ones((2, 3, 4)), r"the reward of 'straight' must have the shape \(\d+, 9\), got \(2, 3, 4\)"),
    ],
)
def test_rewards_are_refused_before_anything_is_explored(reward, message, monkeypatch, tmp_path):
    monkeypatch.setattr(Straight, "reward", lambda self, states, w: reward)
    monkeypatch.setattr("tumble.tasks.exploring.try_all", never)
    exploration = Exploration(Straight(), states=40)
    with JobStore(tmp_path / "a.steps", exploration.about) as store, pytest.raises(UserError, match=message):
        train(Straight(), exploration, store, Here(), "tumble task train straight")


def test_actions_that_lead_nowhere_are_refused_after_a_round(monkeypatch, tmp_path):
    """No state is nearer than 0 to a trusted one."""
    monkeypatch.setattr(Straight, "trust", 0.0)
    exploration, rounds = Exploration(Straight()), []
    with (
        JobStore(tmp_path / "a.steps", exploration.about) as store,
        pytest.raises(UserError, match="no action of 'straight' leads from a trusted state to another"),
    ):
        rounds.extend(exploration.run(store, Here()))
    assert not rounds


# ---- exploration


def test_exploration_finds_states_and_steps_between_them(explored):
    exploration, rounds = explored
    assert rounds[-1].tried == len(exploration.states) == 40
    assert set(exploration.cycles) == {"walk", "in-place"}
    steps = exploration.steps
    assert (np.diff(steps.state) >= 0).all() and steps.action.max() < 3 and len(steps.state) == len(exploration.ends)
    assert (nearest(exploration.trusted, exploration.ends, 1)[1] < Straight.trust).all()
    assert steps.moved[steps.action == 0, 0].mean() > steps.moved[steps.action == 1, 0].mean()  # walks ahead
    assert ((steps.seconds > 0.1) & (steps.seconds < 1.2)).all()


def test_states_are_apart(explored):
    states = explored[0].states
    first = len(explored[0].trusted)
    assert (nearest(states, states, 2)[1][first:, 1] > Straight.novel).all()


def test_what_was_interrupted_comes_to_the_same(explored, tmp_path):
    again = Exploration(Straight(), states=40)
    with JobStore(tmp_path / "b.steps", again.about) as store:
        next(again.run(store, Here()))
    third = Exploration(Straight(), states=40)
    with JobStore(tmp_path / "b.steps", third.about) as store:
        list(third.run(store, Here()))
    assert (third.states.features == explored[0].states.features).all()
    assert (third.steps.moved == explored[0].steps.moved).all()


def test_a_step_in_a_batch_is_a_step_alone(bird):
    stepper, walker, _ = bird
    sims = walked(bird, 4)
    table, states = stepper.table(Straight.actions), sims.state.copy()
    stepper.take(sims, np.arange(4), table[[0, 1, 2, 0]])
    walker.step(sims)
    alone = Sims(walker.scene, 1, nthread=1)
    alone.use(walker.drive)
    alone.load(states[2])
    stepper.take(alone, np.arange(1), table[[2]])
    walker.step(alone)
    assert (alone.state[0] == sims.state[2]).all()


class Shoved(Straight):
    """The same, where balls hit."""

    name, states, first, novel, balls, wary, upright = "shoved", 40, 24, 0.4, (8.0,), True, True


def test_a_scout_says_what_is_tried_after_the_first(bird, explored, tmp_path):
    sims = walked(bird, 6, 4)
    stances, given = bird[2].states(sims), []

    def scout(exploration, seed):
        given.append((len(exploration.states), seed))
        return "way ", sims.state.copy(), stances

    exploration = Exploration(Shoved(), states=200)
    with JobStore(tmp_path / "c.steps", exploration.about) as store:
        list(exploration.run(store, Here(), scout))
        keys = store.keys()
    assert given[0] == (24, 24) and {"0", "20", "way 24"} <= keys and "24" not in keys
    new = exploration.states.features[24:]
    assert 0 < len(new) <= 6 and all((row == stances.features).all(axis=1).any() for row in new)
    assert given[1:] == [(24 + len(new), 24 + len(new))]  # nothing was new, and that was the end
    assert (nearest(exploration.states, stances, 1)[1] <= Shoved.novel).all()
    assert (exploration.steps.state >= 24).any() and (np.diff(exploration.steps.state) >= 0).all()
    assert (exploration.states.features[:16] == explored[0].states.features[:16]).all()  # trusted, as without a scout


def test_training_goes_where_the_policy_comes_to_when_it_is_hit(tmp_path):
    def once(file, stop):
        exploration = Exploration(Shoved())
        with JobStore(tmp_path / file, exploration.about) as store:
            scout = scout_for(Shoved(), store, Here())
            for rounds, _ in enumerate(exploration.run(store, Here(), scout)):
                if rounds == stop:
                    return exploration, store.keys()
            return exploration, store.keys()

    whole, keys = once("d.steps", None)
    assert len(whole.states) == 40 and any(key.endswith(" 8 kg") for key in keys)
    once("e.steps", 0)
    again, others = once("e.steps", None)
    assert others == keys and (again.states.features == whole.states.features).all()


def test_what_was_met_looks_the_same_without_the_ball(trained, bird):
    _, walker, metric = bird
    who = Exploration(Straight(), states=40).who
    found = read(met(who, trained, 8.0, 3))
    assert (read(met(who, trained, 8.0, 3)).states == found.states).all()
    assert len(found.states) == len(found.stances) > 20 and 0 <= found.fell <= 20
    sims = Sims(walker.scene, len(found.states), nthread=1)
    sims.use(walker.drive)
    sims.load(found.states)
    assert np.abs(metric.states(sims).features - found.stances.features).max() < 1e-4
    assert (metric.states(sims).feet == found.stances.feet).all()
    light, heavy = (read(met(who, trained, mass, 3)).fell for mass in (0.01, 30.0))
    assert heavy > light


def test_a_throw_meets_who_goes_on(bird):
    scene = Scene(character("big-bird"), [Ball("ball", RADIUS, 5.0)], Ground(0.8))
    walker = GaitStepper(scene).walker
    sims = Sims(scene, 4, nthread=1)
    sims.use(walker.drive)
    sims.load(walker.opening("walk"))
    walker.start(sims)
    hit = np.zeros(4, bool)
    throw(sims, np.array([0, 1, 3]), np.array([0.0, 2.0, 0.0, 4.0]))
    for _ in range(18):  # 0.42 s and a little
        sims.act(walker.law, walker.drive)
        hit |= sims.view("ball.contact")[:, 0] > 0
    assert hit.tolist() == [True, True, False, True]


def test_ends_far_from_what_was_tried_are_less_sure():
    states = Stances(np.zeros((1, 7), np.float32), np.zeros(1, np.uint8), np.ones(1))
    states.features[0, 3] = 1.0
    steps = SampledSteps(np.zeros(3, np.intp), np.arange(3), np.zeros((3, 3)), np.full(3, 0.5))
    ends = states.some(np.zeros(3, int))
    ends.features[:, 0] = 0.5, 2.0, 8.0
    assert Model.of(states, steps, ends, (), 0.9, threads=1).sure.tolist() == [1, 1, 1]
    model = Model.of(states, steps, ends, (), 0.9, threads=1, near=1.0)
    assert np.allclose(model.sure, [1, 0.5, 0.125])
    none = np.zeros(3), np.zeros(1)
    found = iterate(model, np.ones((1, 1)), *none, 3, threads=1)
    assert found.best[0, 0] == 0 and found.value[0, 0] == pytest.approx(1 / (1 - 0.9**0.5), rel=0.1)


def test_safe_is_from_where_one_can_go_on_for_ever():
    states = Stances(np.zeros((2, 7), np.float32), np.array([0, 1], np.uint8), np.ones(1))
    states.features[:, 3] = 1.0
    steps = SampledSteps(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), np.zeros((4, 3)), np.full(4, 0.5))
    ends = states.some(np.array([0, 1, 0, 1]))
    ends.features[2:, 0] = 5.0  # far from all that was tried
    assert safe(states, steps, ends, 3, near=1.0).tolist() == [[True, False, False], [False] * 3]
    assert safe(states, steps, ends, 3, near=6.0).tolist() == [[True] * 3, [True, False, False]]


def test_the_robust_walk_takes_what_it_prefers_where_it_is_safe(explored):
    class Calm(Straight):
        prefers, safe = ("walk", "in-place"), 20.0  # the bird's few states are far from each other

    exploration = explored[0]
    fine = safe(exploration.states, exploration.steps, exploration.ends, 3, Calm.safe)
    best = preferred(Calm(), exploration)
    assert best.shape == (40, 9) and (best[:, 0] == np.where(fine[:, 0], 0, 1)).all()


# ---- policies


def test_a_policy_there_and_back(trained, tmp_path):
    path = tmp_path / "a.policy"
    trained.write(path)
    again = read_policy(path)
    assert again.header == trained.header
    assert (again.best == trained.best).all() and (again.states.features == trained.states.features).all()


def changed(policy: Policy, **header) -> Policy:
    fields = {name: getattr(policy.header, name) for name in policy.header.__struct_fields__}
    return replace(policy, header=type(policy.header)(**{**fields, **header}))


def test_policies_that_are_refused(trained, tmp_path):
    path = tmp_path / "a.policy"
    path.write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"a\.policy is no policy that can be read \(File is not a zip file\)"):
        read_policy(path)
    changed(trained, version=9).write(path)
    with pytest.raises(UserError, match="its format is 'tumble policy' 9, this is 'tumble policy' 1"):
        read_policy(path)
    changed(trained, digest="0").write(path)
    with pytest.raises(
        UserError, match="was trained with other gaits of 'big-bird' than these; train it again: tumble"
    ):
        read_policy(path)
    replace(trained, best=trained.best + 9).write(path)
    with pytest.raises(UserError, match="its numbers are out of bounds"):
        read_policy(path)
    with pytest.raises(UserError, match=r"b\.policy is no policy that can be read"):
        read_policy(tmp_path / "b.policy")


def test_a_policy_is_for_its_body(trained):
    with pytest.raises(
        UserError, match="no policy for 'raptor', but for 'big-bird'; train one with 'tumble task train'"
    ):
        Tasked(Scene(character("raptor")), policies=[trained])


# ---- the controller


@pytest.fixture
def tasked(trained, bird):
    controller = Tasked(bird[1].scene, policies=[trained])
    sims = Sims(bird[1].scene, 1, nthread=1)
    sims.use(controller.drive)
    sims.load(controller.stepper.opening("walk"))
    controller.start(sims)
    return controller, sims


def test_wants_that_no_policy_takes(tasked):
    controller, sims = tasked
    assert controller.refuses(sims, Go(target=(1.0, 0.0, 0.0))) is None
    assert controller.refuses(sims, Balance()) == "policies of tasks go where they are wanted, and do not balance"
    assert controller.refuses(sims, Go(heading=1.0)) == "no policy goes by heading alone: 'straight' wants target"


def test_it_decides_once_a_step(tasked):
    controller, sims = tasked
    controller.want(sims, Go(target=(1.0, 0.0, 0.0)))
    decided = []
    for _ in range(60):
        law = controller.control(sims)
        decided.append(sims.memory("task").strikes[0])
        sims.act(law, controller.drive)
    assert len(set(decided)) == controller.stepper.walker.steps(sims)[0] + (
        decided[-1] == controller.stepper.walker.steps(sims)[0]
    )
    assert controller.report().doing.startswith("straight: ")


def test_goals_are_seen_from_where_it_is(tasked):
    controller, sims = tasked
    controller.want(sims, Go(target=(1.0, 0.0, 0.0)))
    before = controller.task_states(sims)[0, 0]
    controller.want(sims, Go(target=(2.5, 0.0, 0.0)))  # in mid-walk
    assert controller.task_states(sims)[0, 0] == pytest.approx(before + 1.5)


def test_policies_are_judged_by_what_the_task_rewards(trained):
    found = judged(Straight(), trained, 12, seed=1, longest=10.0)
    again = judged(Straight(), trained, 12, seed=1, longest=10.0)
    assert (found.seconds[found.reached] == again.seconds[again.reached]).all()
    assert found.reached.sum() >= 6 and found.simulated > 0


def test_tasks_are_registered_with_what_they_need():
    class Nothing(Task):
        def reward(self, states, w):
            return 1.0

    with pytest.raises(UserError, match="task 'nothing' needs 'character'"):
        register("nothing", Nothing, "none")
    with pytest.raises(UserError, match="task 'other' must be a class that derives from Task"):
        register("other", dict, "none")
    assert "nothing" not in TASKS


def test_what_is_asked_of_cycles_that_are_not_there(explored):
    with pytest.raises(UserError, match="no limit cycle of 'run' was found; there are: walk, in-place"):
        JudgedStates(explored[0].states, explored[0].seen.cycles).away("run")


@pytest.mark.parametrize("name", list(TASKS))
def test_the_thesis_counts_actions_and_points(name):
    counts = {
        "go-to-line": (10, 35), "go-to-line-humanoid": (13, 35), "heading": (32, 25), "heading-raptor": (15, 25),
        "go-to-point": (36, 729), "go-to-point-heading": (36, 2048), "heading-speed": (32, 125),
        "very-robust-walk": (13, 1), "go-to-line-walker": (13, 35),
    }  # fmt: skip
    task = TASKS[name].make
    assert (len(task.actions), len(points(task.grid))) == counts[name]
    assert len(set(task.actions)) == len(task.actions)


def test_names_of_files(tmp_path):
    from tumble.cli import dispatch

    assert dispatch(["task", "train", "heading", str(tmp_path / "a.txt")]) == 2
    assert dispatch(["task", "nonsense"]) == 2
    assert dispatch(["task", "info", "nobody"]) == 2
    assert dispatch(["task", "plot", "nobody", str(Path(tmp_path) / "a.gif")]) == 2


def test_real_time_counts_cpu_seconds(monkeypatch):
    """Who sleeps, or waits for others on the machine, is not slower."""

    def slept(*arguments):
        time.sleep(0.2)
        return Verdict(np.ones(2, bool), np.zeros(2, bool), np.array([1.0, 3.0]), 8.0)

    monkeypatch.setattr("tumble.cli.task_run.judged", slept)
    told = summary("heading", 2, 0, 30.0)
    assert (told["reached"], told["seconds"], told["slowest"], told["simulated"]) == (2, 2.0, 3.0, 8.0)
    assert told["cpu_seconds"] < 0.1 and told["times_real_time"] == 8.0 / told["cpu_seconds"]


def test_a_map_is_by_the_speed_of_states(trained):
    figure = figure_of(trained, 12, 0)
    speeds = [float(label.get_text()) for label in figure.axes[0].get_yticklabels()]
    assert speeds == sorted(speeds) and speeds[-1] > speeds[0]


def test_a_picture_of_what_was_explored(trained, tmp_path, capsys):
    from tumble.cli import dispatch

    trained.write(tmp_path / "a.policy")
    assert dispatch(["task", "plot", str(tmp_path / "a.policy"), str(tmp_path / "a.png"), "--coverage"]) == 0
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    left, right = coverage_of(trained).axes[:2]
    drawn = [len(axes.collections[0].get_offsets()) for axes in (left, right)]
    assert drawn == [int((trained.states.feet == foot).sum()) for foot in (0, 1)]
    trusted = [len(axes.collections[1].get_offsets()) for axes in (left, right)]
    assert sum(trusted) == trained.header.figures["trusted"]
    assert [one.get_label() for one in left.collections[2:]] == list(trained.header.cycles)
    bare = Policy(msgspec.structs.replace(trained.header, grid=()), trained.states, trained.best[:, :1])
    bare.write(tmp_path / "b.policy")
    assert dispatch(["task", "plot", str(tmp_path / "b.policy"), str(tmp_path / "b.png")]) == 2
    assert "'straight' has no goals to draw a map over, but see --coverage" in capsys.readouterr().err
