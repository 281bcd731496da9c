"""Goals: every term in closed form, sums, efforts, and what broken rows cost."""

import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.optimize import brentq

from tumble.characters import humanoid
from tumble.errors import UserError
from tumble.goals import (
    GOALS,
    Damage,
    Facing,
    FeetApart,
    Goal,
    Height,
    OverFeet,
    Spin,
    Term,
    Upright,
    Velocity,
    balance,
    balance_terms,
)
from tumble.scene import Physics, Scene
from tumble.sims import Sims

FEET = ("left_foot", "right_foot")


def turned(axis: list[float], angle: float) -> np.ndarray:
    """The quaternion of a turn about an axis."""
    return np.r_[np.cos(angle / 2), np.sin(angle / 2) * np.array(axis)]


def sims_at(scene: Scene, height: float = 1.0, quat=(1, 0, 0, 0), angles=None, qvel=None) -> Sims:
    """One simulation in the rest pose with a root (m, quaternion), joint angles (rad) and speeds set."""
    data = scene.show(scene.state())
    data.qpos[2], data.qpos[3:7] = height, quat
    for joint, angle in (angles or {}).items():
        data.joint(joint).qpos[0] = angle
    if qvel is not None:
        data.qvel[: len(qvel)] = qvel
    sims = Sims(scene, 1, 1)
    sims.load(scene.read(data))
    return sims


def value(term: Term, sims: Sims) -> float:
    """sqrt of the term's value, times sigma: the size of its residual."""
    return float(np.sqrt(Goal(term).values(sims)[0, 0]) * term.sigma)


def of_kind(scene: Scene, kind: type) -> Term:
    return next(term for term in balance_terms(scene, facing=(1, 0)) if isinstance(term, kind))


# Closed forms ---------------------------------------------------------------------------------------


def test_velocity(scene):
    sims = sims_at(scene, qvel=[0.3, -0.4, 1.2])
    assert value(Velocity(), sims) == pytest.approx(1.3)
    assert value(Velocity(target=(0.3, -0.4, 1.2)), sims) == pytest.approx(0, abs=1e-9)
    assert value(Velocity(), sims_at(scene)) == pytest.approx(0, abs=1e-9)


def test_over_feet_is_the_distance_to_the_line_between_the_feet(scene):
    rng = np.random.default_rng(0)
    term = OverFeet(*FEET)
    beyond = 0
    for _ in range(30):
        quat = rng.standard_normal(4)
        angles = {joint: rng.uniform(-0.5, 0.5) for joint in scene.character.joints}
        sims = sims_at(scene, quat=quat / np.linalg.norm(quat), angles=angles)
        com, left, right = (sims.view(name)[0, :2] for name in ("com", "left_foot.pos", "right_foot.pos"))
        share = np.linspace(0, 1, 20001)[:, None]
        distances = np.linalg.norm(left + share * (right - left) - com, axis=1)
        beyond += distances.argmin() in (0, 20000)
        assert value(term, sims) == pytest.approx(distances.min(), abs=1e-4)
    assert 0 < beyond < 30  # beside the line, and beyond its ends


def test_over_feet_is_zero_where_the_body_leans_just_right(scene):
    def ahead(pitch: float) -> float:
        sims = sims_at(scene, quat=turned([0, 1, 0], pitch))
        return float(sims.view("com")[0, 0] - sims.view("left_foot.pos")[0, 0])

    pitch = brentq(ahead, -0.3, 0.3, xtol=1e-12)
    assert value(OverFeet(*FEET), sims_at(scene, quat=turned([0, 1, 0], pitch))) == pytest.approx(0, abs=1e-6)
    upright = sims_at(scene)
    assert value(OverFeet(*FEET), upright) == pytest.approx(abs(ahead(0.0)), abs=1e-9)


@pytest.mark.parametrize("bend", [0.2, 0.5, 0.9])
def test_height_in_a_crouch(scene, bend):
    """Thigh and shin both lean by `bend` with the foot flat: the root comes down (thigh + shin)(1 - cos)."""
    parts = {"hip_side": 0, "hip_bend": 1, "knee": 2, "ankle": 1}
    legs = {f"{side}_{joint}": k * bend for side in ("left", "right") for joint, k in parts.items()}
    leg = sum(-scene.model.body(f"left_{bone}").pos[2] for bone in ("shin", "foot"))
    tall = sims_at(scene, angles=dict.fromkeys(legs, 0.0))
    standing = float(tall.view("pelvis.pos")[0, 2] - tall.view("left_foot.pos")[0, 2])
    term = Height("pelvis", *FEET, standing=standing)
    assert value(term, tall) == pytest.approx(0, abs=1e-9)
    crouch = sims_at(scene, angles=legs)
    assert value(term, crouch) == pytest.approx(leg * (1 - np.cos(bend)), abs=1e-9)
    assert value(replace(term, standing=standing - 0.5), crouch) == 0.0  # taller than standing is no fault


def test_height_is_zero_at_rest_and_anywhere_in_the_air(scene):
    term = of_kind(scene, Height)
    for height in (0.5, 3.0):
        assert value(term, sims_at(scene, height=height)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("spread", [0.1, 0.5, 0.8])
def test_feet_apart(scene, spread):
    """Legs turn about the hips: a foot's centre is out by the leg's length times sin."""
    model = scene.model
    legs = {f"{side}_{j}": 0.0 for side in ("left", "right") for j in ("hip_bend", "knee", "ankle")}
    legs |= {"left_hip_side": spread, "right_hip_side": spread}
    down = -sum(model.body(f"left_{bone}").pos[2] for bone in ("shin", "foot")) - model.body("left_foot").ipos[2]
    apart = 2 * (model.body("left_thigh").pos[1] + down * np.sin(spread))
    term = FeetApart(*FEET)
    assert value(term, sims_at(scene, angles=legs)) == pytest.approx(max(0.0, apart - term.limit), abs=1e-9)
    assert (apart > term.limit) == (spread > 0.4)


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]])
@pytest.mark.parametrize("tilt", [0.0, 0.3, np.pi / 2, 3.0])
def test_upright_at_a_known_tilt(scene, axis, tilt):
    sims = sims_at(scene, quat=turned(axis, tilt))
    assert value(Upright("pelvis"), sims) == pytest.approx(2 * np.sin(tilt / 2), abs=1e-9)


def test_upright_does_not_mind_turning(scene):
    assert value(Upright("pelvis"), sims_at(scene, quat=turned([0, 0, 1], 2.0))) == pytest.approx(0, abs=1e-9)


def test_spin(scene):
    sims = sims_at(scene, quat=turned([0, 1, 0], 1.0), qvel=[5, 5, 5, 1, -2, 2])
    assert value(Spin("pelvis"), sims) == pytest.approx(3.0)
    assert value(Spin("pelvis"), sims_at(scene, qvel=[5, 5, 5])) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.0])
def test_facing(scene, yaw):
    sims = sims_at(scene, quat=turned([0, 0, 1], yaw))
    term = of_kind(scene, Facing)
    assert value(term, sims) == pytest.approx(2 * abs(np.sin(yaw / 2)), abs=1e-9)
    there = replace(term, direction=(np.cos(yaw), np.sin(yaw)))
    assert value(there, sims) == pytest.approx(0, abs=1e-9)


def test_facing_takes_directions_of_any_length(scene):
    term = next(term for term in balance_terms(scene, facing=(-3.0, 4.0)) if isinstance(term, Facing))
    assert term.direction == pytest.approx((-0.6, 0.8))


def head_over_heels(scene: Scene, gap: float, fall: float = 0.0) -> Sims:
    """Upside down, the top of the head `gap` m above the ground, falling at a speed."""
    sims = sims_at(scene, quat=turned([1, 0, 0], np.pi))
    data = scene.show(sims.state[0])
    head = [g for g in range(scene.model.ngeom) if scene.model.geom_bodyid[g] == scene.body("head")]
    ground = scene.model.geom("ground").id
    lowest = min(mujoco.mj_geomDistance(scene.model, data, ground, g, 10.0, None) for g in head)
    return sims_at(scene, height=1.0 - lowest + gap, quat=turned([1, 0, 0], np.pi), qvel=[0, 0, -fall])


def test_damage(scene):
    term = Damage("head")
    assert value(term, head_over_heels(scene, gap=-0.002)) == 1.0
    assert Goal(term).cost(head_over_heels(scene, gap=-0.002))[0] == pytest.approx(10000)
    assert value(term, head_over_heels(scene, gap=0.01)) == 0.0
    standing = Sims(scene, 1, 1)
    standing.load(scene.state())
    assert value(term, standing) == 0.0


@pytest.mark.parametrize(("gap", "touch"), [(0.1, 1.0), (0.25, 0.0)])
def test_damage_is_told_up_to_a_step_ahead_of_the_touch(scene, gap, touch):
    fall = 5.0  # m/s, 0.17 m in a step
    assert value(Damage("head"), head_over_heels(scene, gap, fall)) == touch
    exact = Scene(humanoid(), physics=Physics(speculative=False))
    assert value(Damage("head"), head_over_heels(exact, gap, fall)) == 0.0


# Sums, efforts, contract ----------------------------------------------------------------------------


def shaken(scene: Scene, nsim: int = 6) -> Sims:
    """Simulations after some frames of random control."""
    rng = np.random.default_rng(7)
    sims = Sims(scene, nsim, 1)
    sims.load(scene.state("t-pose", "supine"))
    for _ in range(8):
        sims.act(rng.uniform(scene.motors.low, scene.motors.high, (nsim, scene.motors.size)))
    return sims


def test_all_terms_are_under_contract(scene):
    terms = balance_terms(scene, facing=(1, 0))
    assert {type(term) for term in terms} == {
        kind for kind in Term.__subclasses__() if kind.__module__ == "tumble.goals"
    }
    sims = shaken(scene)
    before = sims.state.copy()
    for term in terms:
        residual = term.residual(sims)
        assert residual.shape[0] == sims.nsim and residual.ndim in (1, 2)
        assert np.isfinite(residual).all()
        assert term.sigma > 0
    assert len({term.name for term in terms}) == len(terms)
    assert np.array_equal(sims.state, before)


def test_values_are_squares_over_sigma_and_cost_their_sum(scene):
    sims = shaken(scene)
    goal = balance(scene, facing=(0, 1))
    values = goal.values(sims)
    assert values.shape == (sims.nsim, len(goal.names)) == (6, 8)
    for i, term in enumerate(goal.terms):
        residual = term.residual(sims).reshape(sims.nsim, -1)
        assert values[:, i] == pytest.approx((residual**2).sum(axis=1) / term.sigma**2)
    assert goal.cost(sims) == pytest.approx(values.sum(axis=1))


def test_at_rest_balance_costs_next_to_nothing(scene):
    sims = Sims(scene, 1, 1)
    sims.load(scene.state())
    assert balance(scene).cost(sims)[0] < 0.1
    sims.load(scene.state("t-pose", "supine"))
    assert balance(scene).cost(sims)[0] > 400


def test_goals_add_up(scene):
    sims = shaken(scene)
    one, two, three = Goal(Velocity()), Goal(Spin("pelvis"), Upright("pelvis")), Goal(Velocity(target=(1, 0, 0)))
    both = one + two + three
    assert both.names == ("velocity", "spin", "upright", "velocity")
    assert both.cost(sims) == pytest.approx(one.cost(sims) + two.cost(sims) + three.cost(sims))
    assert (one.names, two.names) == (("velocity",), ("spin", "upright"))


def test_efforts_rise_from_calm_to_alarmed_and_the_largest_wins():
    one = Goal(Velocity(), Spin("pelvis"), calm=10, alarmed=30)
    assert one.effort(np.array([[0, 0], [5, 5], [10, 10], [20, 10], [9e9, 0], [np.inf, 1]])) == pytest.approx(
        [0, 0, 0.5, 1, 1, 1]
    )
    both = one + Goal(Upright("pelvis"), calm=0, alarmed=100)
    assert both.effort(np.array([[0, 0, 25.0], [10, 10, 25], [10, 10, 75], [0, 0, 0]])) == pytest.approx(
        [0.25, 0.5, 0.75, 0]
    )
    assert both.effort(np.zeros((4, 2, 3))).shape == (4, 2)


def test_broken_rows_cost_infinity_and_nothing_is_not_a_number(scene):
    sims = shaken(scene)
    goal = balance(scene, facing=(1, 0))
    before = goal.values(sims)
    sims.view("qvel")[1] = np.nan
    sims.act(np.zeros((sims.nsim, scene.motors.size)))
    values = goal.values(sims)
    assert np.isinf(values[1]).all()
    assert np.isfinite(np.delete(values, 1, axis=0)).all()
    assert goal.cost(sims)[1] == np.inf
    assert goal.effort(values)[1] == 1.0
    assert np.isfinite(before).all()


BAD = [
    (lambda: Goal(Velocity(sigma=0)), "sigma of term 'velocity' must be a number above 0, got 0"),
    (lambda: Goal(Spin("pelvis", sigma=-1)), "sigma of term 'spin' must be a number above 0, got -1"),
    (lambda: Goal(Damage("head", sigma=float("nan"))), "sigma of term 'damage' must be a number above 0, got nan"),
    (lambda: Goal(Velocity(sigma=float("inf"))), "sigma of term 'velocity' must be a number above 0, got inf"),
    (lambda: Goal(calm=5, alarmed=5), "a goal needs 0 <= calm < alarmed < inf, got 5 and 5"),
    (lambda: Goal(calm=float("nan")), "a goal needs 0 <= calm < alarmed < inf, got nan and 400"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_bad_calls(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


def test_bad_facing(scene):
    with pytest.raises(UserError, match="length of the facing direction must be a number above 0, got 0"):
        balance(scene, facing=(0, 0))


def test_a_term_that_names_no_part_says_so(scene):
    with pytest.raises(UserError, match=r"no view 'hed\.touch'"):
        Goal(Damage("hed")).values(sims_at(scene))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_alarm_is_finite():
    with pytest.raises(UserError, match="alarmed"):
        Goal(Velocity(), alarmed=float("inf"))


@pytest.mark.parametrize("name", GOALS)
def test_named_goals_can_face_somewhere(scene, name):
    sims = shaken(scene)
    for facing in (None, (1.0, 0.0)):
        goal = GOALS[name](scene, facing)
        assert ("facing" in goal.names) == (facing is not None)
        assert np.isfinite(goal.cost(sims)).all()
