"""The pendulums that trees grow over: closed forms of rods, torques, domains, and what rollouts promise."""

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from tumble.attraction.connecting import Connecting
from tumble.attraction.growing import Aim, Growth, Method, attempt
from tumble.attraction.pendulum import PENDULUMS, RADIUS, SPEEDS, UP, Pendulum
from tumble.attraction.tree import Tree
from tumble.world.drives import Pd

GRAVITY = 9.81  # m/s^2


@pytest.fixture(scope="module")
def pendulum():
    return Pendulum(PENDULUMS["pendulum"])


@pytest.fixture(scope="module")
def double():
    return Pendulum(PENDULUMS["double-pendulum"])


@pytest.fixture(params=["pendulum", "double"])
def system(request):
    return request.getfixturevalue(request.param)


def free(system):
    """The links without their springs, as model and data: what gravity alone does."""
    model = system.scene.character.build().compile()
    return model, mujoco.MjData(model)


def accelerations(system, state):
    model, data = free(system)
    data.qpos[:], data.qvel[:] = state[: system.joints], state[system.joints :]
    mujoco.mj_forward(model, data)
    return data.qacc.copy()


def held(system, frames):
    """References that stay where the links stand."""
    return np.full((frames, 2 * system.joints), UP)


# Physics --------------------------------------------------------------------------------------------


def test_it_balances_on_end_and_hangs(pendulum, double):
    for system, rests in ((pendulum, [[UP], [0.0], [2 * UP]]), (double, [[UP, UP], [0.0, UP], [UP, 0.0], [0.0, 0.0]])):
        for angles in rests:
            assert accelerations(system, np.r_[angles, np.zeros(system.joints)]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("angle", [0.3, 1.2, UP - 0.2, UP + 0.5, 5.0])
def test_a_rod_falls_as_a_rod_does(pendulum, angle):
    """theta'' = -(3 g / 2 L) sin theta of a thin uniform rod about its end."""
    expected = -1.5 * GRAVITY / pendulum.links.length * math.sin(angle)
    assert accelerations(pendulum, np.array([angle, 0.0]))[0] == pytest.approx(expected, rel=1e-6)


def test_two_rods_accelerate_as_lagrange_says(double):
    """M(q) q'' = -dV/dq at rest, of absolute angles a = theta_1, b = theta_1 + theta_2 - pi."""
    m, length, (one, two) = double.links.mass, double.links.length, (2.7, 3.6)
    a, b = one, one + two - math.pi
    mass = m * length**2 * np.array([[4 / 3, math.cos(a - b) / 2], [math.cos(a - b) / 2, 1 / 3]])
    pull = -m * GRAVITY * length * np.array([1.5 * math.sin(a), 0.5 * math.sin(b)])
    absolute = np.linalg.solve(mass, pull)
    found = accelerations(double, np.array([one, two, 0.0, 0.0]))
    assert found == pytest.approx([absolute[0], absolute[1] - absolute[0]], rel=1e-6)


def test_energy_stays_where_nothing_drives(double):
    model, data = free(double)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-3
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY.value
    data.qpos[:] = 2.5, 3.5
    mujoco.mj_forward(model, data)
    before = data.energy.sum()
    mujoco.mj_step(model, data, 1000)
    assert data.energy[1] > 1.0 and data.energy.sum() == pytest.approx(before, abs=1e-4)


def test_the_drive_damps_more_than_k_d_and_euler_does_not():
    """k_d / 2 I = 1.9 / s for a rod of 0.5 m; the integrator of the PD drive makes that 10.5 / s: see Departures."""
    rates = {}
    for integrator in (None, mujoco.mjtIntegrator.mjINT_EULER):
        system = Pendulum(PENDULUMS["pendulum"])
        if integrator is not None:
            system.scene.drives[Pd.name].model.opt.integrator = integrator
        inertia = system.links.mass * system.links.length**2 / 3
        scale = np.array([1.0, 1 / math.sqrt(Pd.STIFFNESS / inertia)])
        trace = system.roll(system.goal[None] + [[0.05, 0.0]], [held(system, 60)], trace=60).trace[0]
        size = np.linalg.norm((trace - system.goal) * scale, axis=1)
        rates[integrator] = -math.log(size[-1] / size[0]) / 2.0
    assert rates[None] == pytest.approx(10.5, rel=0.02)
    assert rates[mujoco.mjtIntegrator.mjINT_EULER] == pytest.approx(Pd.DAMPING / (2 * inertia), rel=0.03)


def test_torques_stay_within_200_newton_metres(pendulum):
    """Far references saturate: a frame's effort is the limit's square, and the rod accelerates by the limit alone."""
    rolled = pendulum.roll(np.array([[0.0, 0.0]]), [np.full((1, 2), UP)], trace=1)
    assert rolled.efforts[0] == pytest.approx(200.0**2)
    inertia = pendulum.links.mass * pendulum.links.length**2 / 3
    assert rolled.ends[0, 1] == pytest.approx(
        200.0 / inertia / 30, rel=0.02
    )  # gravity hardly counts so near to hanging


# Domains --------------------------------------------------------------------------------------------


def test_omega_0_is_a_ball_of_angles_and_speeds(system):
    rng = np.random.default_rng(0)
    ways = rng.normal(size=(50, 2 * system.joints))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    assert system.arrived(system.goal + 0.999 * RADIUS * ways).all()
    assert not system.arrived(system.goal + 1.001 * RADIUS * ways).any()
    assert not system.arrived(system.goal[None] + 2 * UP).any()  # angles do not wrap


@pytest.mark.parametrize("level", [0.25, 0.5, 1.0])
def test_samples_fill_their_domain_at_rest(system, level):
    states = system.sample(level, 4000, np.random.default_rng(1))
    angles, reach = states[:, : system.joints] - UP, level * system.links.reach
    assert not states[:, system.joints :].any()
    assert (np.abs(angles) <= reach).all() and (np.abs(angles).max(0) > 0.99 * reach).all()
    spread = reach / math.sqrt(3 * 4000)  # standard error of a uniform's mean
    assert (np.abs(angles.mean(0)) < 5 * spread).all()


def test_domains_are_the_papers():
    """Section 5: theta from 0 to 2 pi; both of the double pendulum's within 0.2 of pi."""
    assert PENDULUMS["pendulum"].reach == pytest.approx(math.pi) and PENDULUMS["double-pendulum"].reach == 0.2


def test_distance_weighs_angles_by_mass_and_speeds_by_a_tenth(system):
    """Eq. 3."""
    for place in range(2 * system.joints):
        moved = system.goal.copy()
        moved[place] += 0.5
        weight = system.links.mass * (1.0 if place < system.joints else SPEEDS)
        assert system.distances(moved[None], system.goal)[0] == pytest.approx(0.5 * weight)


# Contracts ------------------------------------------------------------------------------------------


def test_between_goes_in_a_straight_line(system):
    near, far = np.random.default_rng(2).normal(size=(2, 2 * system.joints))
    assert np.array_equal(system.between(near, far, 0.0), near)
    assert system.between(near, far, 1.0) == pytest.approx(far)
    part = system.between(near, far, 0.3)
    whole = system.distances(far[None], near)[0]
    assert system.distances(part[None], near)[0] == pytest.approx(0.3 * whole)
    assert system.distances(part[None], far)[0] == pytest.approx(0.7 * whole)


def test_a_track_that_stays_leads_who_is_near_to_the_goal(system):
    near = system.goal[None] + 0.02
    rolled = system.roll(np.concatenate([near, near]), [held(system, 60), held(system, 1)], trace=60)
    assert rolled.reached.tolist() == [True, False] and rolled.misses[0] < rolled.misses[1]
    assert np.array_equal(rolled.trace[:, 0], np.tile(near, (2, 1)))
    assert np.array_equal(rolled.trace[0, -1], rolled.ends[0]) and np.array_equal(rolled.trace[1, 1], rolled.ends[1])
    expected = system.distances(rolled.ends, system.goal) + system.effort * rolled.efforts
    assert rolled.misses == pytest.approx(expected)


def test_an_empty_track_asks_where_one_is(system):
    states = np.stack([system.goal, system.goal + 0.1])
    rolled = system.roll(states, [held(system, 0)] * 2)
    assert rolled.reached.tolist() == [True, False] and rolled.steps == 0
    assert np.array_equal(rolled.ends, states) and not rolled.efforts.any()
    assert not system.roll(states, [held(system, 0)] * 2, hold=False).reached.any()


def test_rows_do_not_know_of_each_other(system):
    rng = np.random.default_rng(3)
    states, tracks = system.sample(1.0, 5, rng), [UP + rng.normal(size=(n, 2 * system.joints)) for n in (3, 6, 1, 9, 4)]
    together = system.roll(states, tracks)
    alone = [system.roll(state[None], [track]) for state, track in zip(states, tracks, strict=True)]
    assert np.array_equal(together.ends, [one.ends[0] for one in alone])
    assert np.array_equal(together.misses, [one.misses[0] for one in alone])


def test_effort_has_its_price_and_is_in_the_recipe(pendulum):
    dear = Pendulum(replace(PENDULUMS["pendulum"], effort=1e-3))
    state, track = np.array([[UP - 0.4, 0.0]]), held(pendulum, 3)
    cheap, priced = pendulum.roll(state, [track]), dear.roll(state, [track])
    assert np.array_equal(cheap.ends, priced.ends)
    assert priced.misses[0] - cheap.misses[0] == pytest.approx((1e-3 - pendulum.effort) * cheap.efforts[0])
    assert dear.recipe["effort"] == 1e-3 and dear.recipe != pendulum.recipe


@pytest.mark.parametrize("method", list(Method))
def test_the_same_seed_has_the_same_outcome(pendulum, method):
    growth = Growth(
        (0.1, 0.2), method, aim=Aim.NEAREST, first=1, seed=4, connecting=Connecting(evaluations=96, full=False)
    )
    first, again = (attempt(Tree(pendulum), growth, 0, 0, 0.1) for _ in range(2))
    other = attempt(Tree(pendulum), replace(growth, seed=5), 0, 0, 0.1)
    assert (first.inside, first.optimised, first.evaluations) == (False, 1, 96) == (
        again.inside, again.optimised, again.evaluations,
    )  # fmt: skip
    assert (first.edge is None) == (again.edge is None)
    if first.edge is not None:
        assert all(np.array_equal(a, b) for a, b in zip(first.edge, again.edge, strict=True))
        assert other.edge is None or not np.array_equal(first.edge[0], other.edge[0])
