"""Goals: every term in closed form, sums, efforts, what broken rows cost, and the behaviours of the paper."""

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
    Goal,
    Term,
    balance,
    juggle,
    looking,
    on_ball,
    on_ball_reach,
    reach,
    reaching,
    steer,
    turbo,
)
from tumble.goals.terms import (
    AboveBall,
    Damage,
    Facing,
    FeetApart,
    HandAt,
    Height,
    LookAt,
    OverBall,
    OverFeet,
    Spin,
    Straight,
    UnderBall,
    Upright,
    Velocity,
)
from tumble.world.props import Ball, Box
from tumble.world.scene import Scene
from tumble.world.sims import Sims

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
    return next(term for term in balance(scene, facing=(1, 0)).terms if isinstance(term, kind))


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


@pytest.mark.parametrize("bend", [0.0, 0.5, 1.2])
def test_straight_is_the_trunks_own(scene, bend):
    sims = sims_at(scene, angles={"spine_bend": bend})
    assert value(Straight("torso"), sims) == pytest.approx(2 * np.sin(bend / 2), abs=1e-9)
    assert value(Upright("pelvis"), sims) == pytest.approx(0, abs=1e-9)


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
    term = looking(scene, (-3.0, 4.0)).terms[0]
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
    exact = Scene(humanoid(), drives=["torque"])
    assert not exact.drive.speculative
    assert value(Damage("head"), head_over_heels(exact, gap, fall)) == 0.0


# With targets and balls ------------------------------------------------------------------------------


@pytest.mark.parametrize("hand", ["left_hand", "right_hand"])
def test_reach_is_the_distance_of_the_hand(scene, hand):
    sims = sims_at(scene, quat=turned([0.6, 0, 0.8], 0.7))
    place = scene.show(sims.state[0]).body(hand).xipos
    for way, distance in (([0.03, -0.04, 0.12], 0.13), ([0, 0, 0], 0.0), ([-3, 4, 0], 5.0)):
        assert value(HandAt(hand, tuple(place + way)), sims) == pytest.approx(distance, abs=1e-9)


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.5])
@pytest.mark.parametrize("bearing", [0.0, 2.0, -1.0])
def test_look_at_is_the_turn_from_facing_to_the_point(scene, yaw, bearing):
    """Near or far, high or low: 2 sin of half the angle between the two horizontal directions."""
    sims = sims_at(scene, quat=turned([0, 0, 1], yaw))
    head = scene.show(sims.state[0]).body("head").xipos
    for away, higher in ((0.01, 0.0), (0.5, -1.0), (200.0, 3.0)):
        point = head + np.array([away * np.cos(bearing), away * np.sin(bearing), higher])
        wanted = 2 * abs(np.sin((yaw - bearing) / 2))
        assert value(LookAt("head", tuple(point)), sims) == pytest.approx(wanted, abs=1e-6)


def test_looking_at_a_point_that_is_straight_below_or_above_costs_nothing(scene):
    sims = sims_at(scene)
    head = scene.show(sims.state[0]).body("head").xipos
    for higher in (-1.5, 0.0, 1.5):
        assert value(LookAt("head", tuple(head + np.array([0, 0, higher]))), sims) == 0.0
        assert value(LookAt("head", tuple(head + np.array([0, 5e-4, higher]))), sims) == 0.0
        assert value(LookAt("head", tuple(head + np.array([-2e-3, 0, higher]))), sims) == pytest.approx(
            2.0
        )  # right behind


@pytest.mark.parametrize("nod", [0.3, -0.6])
def test_a_nod_changes_no_heading(scene, nod):
    """Looking down would else halve the cost of a point behind."""
    sims = sims_at(scene, angles={"neck_bend": nod})
    head = scene.show(sims.state[0]).body("head").xipos
    assert value(LookAt("head", tuple(head + np.array([2, 0, 0]))), sims) == pytest.approx(0, abs=1e-9)
    assert value(LookAt("head", tuple(head - np.array([2, 0, 0]))), sims) == pytest.approx(2)
    assert value(Facing("head", (-1.0, 0.0)), sims) == pytest.approx(2)


def beside(scene: Scene, position: np.ndarray | list[float], sims: Sims | None = None) -> Sims:
    """A simulation with the scene's ball somewhere, at rest; the character standing a metre up unless told."""
    sims = sims or sims_at(scene)
    sims.load(scene.placed(sims.state[0], "ball", position))
    return sims


@pytest.mark.parametrize("way", [(0.3, -0.4, 0.0), (0.3, -0.4, 9.0), (-0.6, 0.8, -0.5), (0.0, 0.0, 3.0)])
def test_over_ball_is_horizontal(ball_scene, way):
    com = ball_scene.show(sims_at(ball_scene).state[0]).body("pelvis").subtree_com
    sims = beside(ball_scene, com + way)
    assert value(OverBall("ball"), sims) == pytest.approx(np.hypot(*way[:2]), abs=1e-9)


@pytest.mark.parametrize("lower", [0.25, 0.01, 0.0, -0.3])
def test_above_ball_counts_from_its_top_and_only_downwards(ball_scene, lower):
    pelvis = ball_scene.show(sims_at(ball_scene).state[0]).body("pelvis").xipos
    sims = beside(ball_scene, [5, 5, pelvis[2] - 0.9 - 0.15 + lower])
    term = AboveBall("pelvis", "ball", radius=0.15, standing=0.9)
    assert value(term, sims) == pytest.approx(max(0.0, lower), abs=1e-9)


@pytest.mark.parametrize(
    ("way", "distance"),
    [
        ((0.0, 0.0, 0.8), 0.0),  # right below
        ((0.3, -0.4, 0.8), 0.5),
        ((0.3, -0.4, 0.15), 0.5),  # as high as the ball's bottom
        ((0.6, 0.0, 0.15 - 0.8), 1.0),  # and 0.8 m above it
    ],
)
def test_without_a_touch_the_head_is_to_be_below_the_ball(ball_scene, way, distance):
    head = ball_scene.show(sims_at(ball_scene).state[0]).body("head").xipos
    sims = beside(ball_scene, head + way)
    assert not sims.view("ball.contact")[0].any()
    assert value(UnderBall("head", "ball", 0.15), sims) == pytest.approx(distance, abs=1e-9)


def upon(scene: Scene, sims: Sims, bone: str, lean: float, depth: float = 0.002) -> Sims:
    """The ball on a bone's capsule, upright or level, `lean` rad ahead of its top, pressed in by `depth` m."""
    data = scene.show(sims.state[0])
    (geom,) = [g for g in range(scene.model.ngeom) if scene.model.geom_bodyid[g] == scene.body(bone)]
    axis = data.geom_xmat[geom].reshape(3, 3)[:, 2]
    end = data.geom_xpos[geom] + scene.model.geom_size[geom, 1] * axis[2] * axis
    apart = scene.model.geom_size[geom, 0] + 0.15 - depth
    return beside(scene, end + apart * np.array([np.sin(lean), 0, np.cos(lean)]), sims)


@pytest.mark.parametrize("lean", [0.0, 0.3, -1.2])
def test_where_the_ball_touches_the_head_the_touch_is_to_be_at_its_bottom(ball_scene, lean):
    """A contact lies in the middle of the overlap: radius - depth / 2 from the ball's centre."""
    depth = 0.002
    sims = upon(ball_scene, sims_at(ball_scene), "head", lean, depth)
    assert sims.view("ball.contact")[0, 0] > 0
    arm = 0.15 - depth / 2
    wanted = np.hypot(arm * np.sin(lean), 0.15 - arm * np.cos(lean))
    assert value(UnderBall("head", "ball", 0.15), sims) == pytest.approx(wanted, abs=1e-6)


def test_a_ball_on_an_arm_is_as_good_as_on_the_head(ball_scene):
    arms = sims_at(ball_scene, angles={"left_shoulder_side": np.pi / 2, "left_elbow": 0.0})
    sims = upon(ball_scene, arms, "left_forearm", 0.0)
    assert value(UnderBall("head", "ball", 0.15), sims) == pytest.approx(0.001, abs=1e-6)
    ball = sims.view("ball.pos")[0].copy()
    off = beside(ball_scene, ball + np.array([0, 0, 0.02]), sims)  # a little up, the head counts again
    head = off.view("head.pos")[0]
    assert np.hypot(*(ball - head)[:2]) > 0.4
    wanted = np.r_[(ball - head)[:2], max(0.0, head[2] - (ball[2] + 0.02 - 0.15))]
    assert value(UnderBall("head", "ball", 0.15), off) == pytest.approx(np.linalg.norm(wanted), abs=1e-9)


def test_a_ball_on_the_head_is_no_damage_to_a_juggler(ball_scene):
    sims = upon(ball_scene, sims_at(ball_scene), "head", 0.0)
    assert value(Damage("head"), sims) == 1.0
    assert value(Damage("head", by="ground"), sims) == 0.0
    costs = {name: dict(zip(goal.names, goal.values(sims)[0], strict=True)) for name, goal in asked(ball_scene).items()}
    assert costs["balance"]["damage"] == pytest.approx(10000)
    assert costs["juggle"]["damage"] == 0.0
    fallen = head_over_heels(ball_scene, gap=-0.002)
    assert value(Damage("head", by="ground"), fallen) == 1.0
    assert juggle(ball_scene).cost(fallen)[0] > 10000


def test_a_wall_on_the_forehead_is_damage():
    plain = Scene(humanoid())
    head = plain.show(plain.state()).body("head").xipos
    wall = Scene(humanoid(), [Box("wall", (head[0] + 0.095 + 0.1 - 0.002, 0.0, head[2]), (0.1, 1.0, 0.3))])
    sims = Sims(wall, 1, 1)
    sims.load(wall.state())
    assert value(Damage("head"), sims) == 1.0


# Sums, efforts, contract ----------------------------------------------------------------------------


def shaken(scene: Scene, nsim: int = 6) -> Sims:
    """Simulations after some frames of random control."""
    rng = np.random.default_rng(7)
    sims = Sims(scene, nsim, 1)
    sims.load(scene.state("t-pose", "supine"))
    for _ in range(8):
        sims.act(rng.uniform(scene.drive.low, scene.drive.high, (nsim, scene.drive.size)))
    return sims


def asked(scene: Scene) -> dict[str, Goal]:
    """Every goal that has a name, with options where it needs them."""
    options = {
        "balance": {"facing": (1.0, 0.0)},
        "reach": {"target": (0.5, 0.2, 1.2)},
        "ball-reach": {"target": (0.5, 0.2, 2.0), "hand": "right"},
        "steer": {"velocity": (1.0, 0.5)},
        "turbo": {"velocity": (1.0, 0.5)},
        "gait": {"velocity": (1.0, 0.5)},
    }
    return {name: make(scene, **options.get(name, {})) for name, make in GOALS.items()}


def test_all_terms_are_under_contract(ball_scene):
    terms = {term for goal in asked(ball_scene).values() for term in goal.terms}
    assert {type(term) for term in terms} == {
        kind for kind in Term.__subclasses__() if kind.__module__ in ("tumble.goals.terms", "tumble.goals.gait")
    }
    sims = shaken(ball_scene)
    before = sims.state.copy()
    for term in terms:
        residual = term.residual(sims)
        assert residual.shape[0] == sims.nsim and residual.ndim in (1, 2)
        assert np.isfinite(residual).all()
        assert term.sigma > 0
    assert len({term.name for term in terms}) == len({type(term) for term in terms})
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


def test_sums_do_not_mind_brackets(scene):
    one = Goal(Velocity(), calm=0, alarmed=10, pose="t-pose", loose=["left_arm"])
    two = Goal(Spin("pelvis"), Upright("pelvis"), least_effort=0.3)
    three = Goal(Damage("head"), calm=5, alarmed=50, pose="rest", loose=["right_arm", "left_arm"])
    left, right = (one + two) + three, one + (two + three)
    values = np.random.default_rng(0).exponential(20, (50, 4))
    assert left.terms == right.terms
    assert np.array_equal(left.effort(values), right.effort(values))
    assert (left.pose, left.loose) == (right.pose, right.loose) == ("rest", ("left_arm", "right_arm"))


def test_the_right_summands_pose_wins_where_it_has_one():
    plain, spread, rest = Goal(Velocity()), Goal(pose="t-pose"), Goal(pose="rest")
    assert plain.pose is None
    assert (plain + spread).pose == (spread + plain).pose == "t-pose"
    assert (spread + rest).pose == "rest"
    assert (rest + spread + plain).pose == "t-pose"


def test_least_effort_is_asked_even_where_all_is_well():
    keen = Goal(Velocity(), calm=10, alarmed=30, least_effort=0.4)
    values = np.array([[0.0], [18], [20], [30], [np.inf]])
    assert keen.effort(values) == pytest.approx([0.4, 0.4, 0.5, 1, 1])
    both = Goal(Spin("pelvis"), calm=0, alarmed=10) + keen
    assert both.effort(np.array([[0.0, 0], [3, 0], [5, 0], [5, 26]])) == pytest.approx([0.4, 0.4, 0.5, 0.8])


def test_without_takes_exactly_those_terms_out(scene):
    sims = shaken(scene)
    goal = balance(scene, facing=(1, 0))
    values = dict(zip(goal.names, goal.values(sims).T, strict=True))
    less = goal.without("height", "spin")
    assert less.names == tuple(name for name in goal.names if name not in ("height", "spin"))
    assert less.terms == tuple(term for term in goal.terms if term.name not in ("height", "spin"))
    assert less.cost(sims) == pytest.approx(sum(values[name] for name in less.names))
    assert len(goal.names) == 8  # the goal itself stays as it was
    assert goal.without().names == goal.names
    twice = Goal(Velocity()) + Goal(Spin("pelvis")) + Goal(Velocity(target=(1, 0, 0)))
    assert twice.without("velocity").names == ("spin",)


def test_without_keeps_each_summands_effort(scene):
    one = Goal(Velocity(), Spin("pelvis"), Upright("pelvis"), calm=10, alarmed=30)
    two = Goal(Damage("head"), FeetApart(*FEET), calm=0, alarmed=100, least_effort=0.1)
    less = (one + two).without("spin", "damage")
    assert less.names == ("velocity", "upright", "feet_apart")
    values = np.array([[0.0, 0, 0], [10, 10, 0], [0, 0, 25], [20, 5, 80], [10, 15, 40]])
    assert less.effort(values) == pytest.approx([0.1, 0.5, 0.25, 0.8, 0.75])
    more = less + Goal(Spin("pelvis"), calm=0, alarmed=1)
    assert more.effort(np.array([[0.0, 0, 0, 0.6]])) == pytest.approx([0.6])


def test_without_keeps_pose_and_loose_and_may_take_all():
    goal = Goal(Velocity(), Spin("pelvis"), pose="t-pose", loose=["left_arm"])
    less = goal.without("spin")
    assert (less.pose, less.loose) == ("t-pose", ("left_arm",))
    nothing = goal.without("spin", "velocity")
    assert nothing.effort(np.empty((3, 0))) == pytest.approx([0, 0, 0])


def test_a_goal_of_nothing_costs_nothing_but_broken_rows_do(scene):
    sims = sims_at(scene)
    nothing = Goal(Velocity()).without("velocity")
    assert nothing.values(sims).shape == (1, 0)
    assert nothing.cost(sims) == pytest.approx([0])


@pytest.mark.parametrize("name", GOALS)
def test_broken_rows_cost_infinity_and_nothing_is_not_a_number(ball_scene, name):
    sims = shaken(ball_scene)
    goal = asked(ball_scene)[name]
    before = goal.values(sims)
    sims.view("qvel")[1] = np.nan
    sims.act(np.zeros((sims.nsim, ball_scene.drive.size)))
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
    (lambda: Goal(least_effort=1.5), "least_effort must be a number 0 or more and at most 1, got 1.5"),
    (lambda: Goal(least_effort=float("nan")), "least_effort must be a number 0 or more and at most 1, got nan"),
    (lambda: Goal(calm=float("nan")), "a goal needs 0 <= calm < alarmed < inf, got nan and 400"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_bad_calls(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


def test_bad_facing(scene):
    with pytest.raises(UserError, match="length of the facing direction must be a number above 0, got 0"):
        balance(scene, facing=(0, 0))


def test_taking_out_what_is_not_there(scene):
    with pytest.raises(
        UserError, match=r"no term 'heigth' in the goal; there are: damage, .* \(did you mean 'height'\?\)"
    ):
        balance(scene).without("spin", "heigth")


def test_a_term_that_names_no_part_says_so(scene):
    with pytest.raises(UserError, match=r"no view 'hed\.touch'"):
        Goal(Damage("hed")).values(sims_at(scene))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_alarm_is_finite():
    with pytest.raises(UserError, match="alarmed"):
        Goal(Velocity(), alarmed=float("inf"))


# Behaviours: hamalainen2015 section 5 ----------------------------------------------------------------

BALANCE = {"velocity", "over_feet", "height", "feet_apart", "spin", "upright", "damage"}  # eq. 31


@pytest.fixture(scope="module")
def big_ball() -> Scene:
    """The humanoid and the ball of section 5.3."""
    return Scene(humanoid(), [Ball(radius=0.5, mass=250)])


def one(goal: Goal, name: str) -> Term:
    (term,) = [term for term in goal.terms if term.name == name]
    return term


def test_tolerances_are_the_papers(big_ball):
    paper = {
        "velocity": 0.25, "over_feet": 0.025, "height": 0.025, "feet_apart": 0.05, "spin": 2.0, "upright": 0.1,
        "facing": 0.1, "look_at": 0.1, "reach": 0.05, "over_ball": 0.025, "above_ball": 0.025, "under_ball": 0.025,
        "damage": 10000**-0.5,
        "torque": 1.0, "turned": np.radians(10), "course_velocity": 0.05, "over_legs": 0.025,  # rajamaki2017 eq. 7
    }  # fmt: skip
    ours = {
        "reach": {"reach": 0.03, "look_at": 0.5},
        "turbo": {"velocity": 0.1, "height": 0.1},
        "steer": {"velocity": 0.1, "straight": 0.1, "ahead": 0.3},
    }  # Departures
    ours["ball-reach"] = ours["reach"]
    for name, goal in asked(big_ball).items():
        wanted = {term.name: (paper | ours.get(name, {}))[term.name] for term in goal.terms}
        assert {term.name: term.sigma for term in goal.terms} == pytest.approx(wanted)


def test_balance_is_equation_31(scene):
    assert set(balance(scene).names) == BALANCE
    assert set(balance(scene, facing=(0, 1)).names) == BALANCE | {"facing"}
    assert (balance(scene).pose, balance(scene).loose) == (None, ())


@pytest.mark.parametrize(("hand", "arm"), [("left", "left_arm"), ("right", "right_arm")])
def test_reach_adds_the_hand_and_a_look_and_loosens_that_arm(scene, hand, arm):
    goal = reach(scene, (0.5, 0.2, 1.2), hand)
    assert goal.names == (*balance(scene).names, "reach", "look_at")
    assert one(goal, "reach") == HandAt(f"{hand}_hand", (0.5, 0.2, 1.2), sigma=0.03)
    assert one(goal, "look_at") == LookAt("head", (0.5, 0.2, 1.2), sigma=0.5)
    assert goal.loose == (arm,)
    assert goal.pose is None
    assert reaching(scene, (0.5, 0.2, 1.2), hand).names == ("reach", "look_at")
    assert reach(scene, (0.5, 0.2, 1.2)).loose == ("left_arm",)  # the paper's hand


def test_reaching_with_both_hands_loosens_both_arms(scene):
    both = reach(scene, (0.5, 0.2, 1.2)) + reaching(scene, (0.5, -0.2, 1.2), "right")
    assert both.loose == ("left_arm", "right_arm")


def test_on_a_ball_height_and_spin_make_way_for_the_balls_terms(big_ball):
    goal = on_ball(big_ball)
    assert len(goal.names) == len(set(goal.names))
    assert set(goal.names) == BALANCE - {"height", "spin"} | {"over_ball", "above_ball"}
    assert goal.pose == "t-pose"
    assert goal.loose == ()
    above, height = one(goal, "above_ball"), one(balance(big_ball), "height")
    assert above.radius == 0.5
    assert above.standing == pytest.approx(0.9 / 1.04 * height.standing)


def test_beside_a_ball_balance_is_at_ease_and_on_ball_is_not(big_ball):
    """The ball's terms are mapped to effort, else it would not climb back on."""
    sims = Sims(big_ball, 1, 1)
    sims.load(big_ball.placed(big_ball.state("rest"), "ball", (1.0, 0, 0.5)))
    goal = on_ball(big_ball)
    assert balance(big_ball).effort(balance(big_ball).values(sims))[0] == 0
    assert goal.effort(goal.values(sims))[0] == 1
    assert goal.without("over_ball", "above_ball").effort(
        goal.without("over_ball", "above_ball").values(sims)
    ) == pytest.approx([0.3])  # on a ball one is never quite at ease


def test_standing_on_top_of_the_ball_costs_next_to_nothing(big_ball):
    sims = Sims(big_ball, 1, 1)
    sims.load(big_ball.placed(big_ball.state("t-pose", height=1.0), "ball", (0, 0, 0.5)))
    com = sims.view("com")[0, :2].copy()
    sims.load(big_ball.placed(big_ball.state("t-pose", height=1.0), "ball", (*com, 0.5)))
    values = dict(zip(on_ball(big_ball).names, on_ball(big_ball).values(sims)[0], strict=True))
    assert values["over_ball"] == pytest.approx(0, abs=1e-9)
    assert values["above_ball"] == 0.0
    assert values["upright"] == pytest.approx(0, abs=1e-9)


def test_reaching_on_a_ball_is_both(big_ball):
    goal = on_ball_reach(big_ball, (0.4, 0.1, 2.2), "right")
    assert goal.names == (*on_ball(big_ball).names, "reach", "look_at")
    assert (goal.pose, goal.loose) == ("t-pose", ("right_arm",))


def test_juggling_is_balance_under_a_ball(ball_scene):
    goal = juggle(ball_scene)
    assert len(goal.names) == len(BALANCE) + 1
    assert set(goal.names) == BALANCE | {"under_ball"}
    assert one(goal, "under_ball") == UnderBall("head", "ball", 0.15)
    assert one(goal, "damage") == Damage("head", by="ground")
    assert (goal.pose, goal.loose) == (None, ())


def test_steering_replaces_the_wanted_velocity(scene):
    goal = steer(scene, (0.9, -0.4))
    assert len(goal.names) == len(BALANCE) + 2
    assert set(goal.names) == BALANCE | {"straight", "ahead"}
    assert one(goal, "velocity").target == pytest.approx((1.15 * 0.9, 1.15 * -0.4, 0.0))  # HASTE
    assert goal.effort(np.zeros((1, 9)))[0] == 0.35
    assert (goal.course.speed, goal.reflexes) == (pytest.approx(np.hypot(0.9, 0.4)), ("stepping",))
    assert steer(scene, (0, 0)).course is None and "ahead" not in steer(scene, (0, 0)).names


@pytest.mark.parametrize(("speed", "cost"), [(0.9, 0.0), (0.6, 0.3**2), (0.0, 0.4 * (2 * 0.9 - 0.4))])
def test_far_from_the_wanted_velocity_the_cost_grows_evenly(scene, speed, cost):
    """From 0.4 m/s on; below it is the square. It aims at 1.15 of what was asked."""
    goal, at = steer(scene, (0.9 / 1.15, 0.0)), sims_at(scene, qvel=[speed, 0.0])
    assert goal.cost(at)[0] - balance(scene).cost(sims_at(scene))[0] == pytest.approx(cost / 0.1**2, abs=1e-6)


def test_the_pelvis_is_to_face_where_it_goes(scene):
    goal, sims = steer(scene, (0.0, 0.9)), sims_at(scene)
    assert one(goal, "ahead").residual(sims)[0] == pytest.approx([1.0, -1.0])


def test_turbo_gives_up_posture_and_asks_for_everything(scene):
    goal = turbo(scene, (0.75, -1.0))
    assert len(goal.names) == len(BALANCE) - 2
    assert set(goal.names) == BALANCE - {"upright", "over_feet"}
    x, y, up = one(goal, "velocity").target
    assert (x, y) == (0.75, -1.0)
    assert 0 < up < 0.5 * 1.25  # slightly upwards
    assert (goal.effort(np.zeros((4, len(goal.names)))) == 1).all()


def test_goals_speak_of_the_ball_they_are_told():
    scene = Scene(humanoid(), [Ball("small", 0.1), Ball("large", 0.6, 100)])
    assert one(on_ball(scene, "large"), "above_ball").radius == 0.6
    assert one(on_ball(scene, "large"), "over_ball") == OverBall("large")
    assert one(juggle(scene, "small"), "under_ball") == UnderBall("head", "small", 0.1)
    assert one(on_ball_reach(scene, (0, 0, 2), ball="large"), "over_ball").ball == "large"


@pytest.mark.parametrize("name", GOALS)
def test_named_goals_are_finite_anywhere(ball_scene, name):
    goal, sims = asked(ball_scene)[name], shaken(ball_scene)
    assert np.isfinite(goal.cost(sims)).all()
    assert ((goal.effort(goal.values(sims)) >= 0) & (goal.effort(goal.values(sims)) <= 1)).all()


NAN = float("nan")
BAD_WISHES = [
    (lambda s: reach(s, (0, 0, 1001.0)), "target must be 3 numbers within 1000 m, got (0, 0, 1001.0)"),
    (lambda s: reach(s, (NAN, 0, 0)), "target must be 3 numbers within 1000 m, got (nan, 0, 0)"),
    (lambda s: reach(s, (0, 0)), "target must be 3 numbers within 1000 m, got (0, 0)"),
    (lambda s: reach(s, (0, 0, 1), "lefthand"), "no hand 'lefthand'; there are: left, right (did you mean 'left'?)"),
    (lambda s: steer(s, (NAN, 0)), "velocity must be 2 numbers within 20 m/s, got (nan, 0)"),
    (lambda s: steer(s, (0, -21)), "velocity must be 2 numbers within 20 m/s, got (0, -21)"),
    (lambda s: turbo(s, (1, 0, 0)), "velocity must be 2 numbers within 20 m/s, got (1, 0, 0)"),
    (lambda s: juggle(s), "no ball 'ball' in the scene; it has none; build it with props=[Ball(...)]"),
    (lambda s: on_ball(s, "globe"), "no ball 'globe' in the scene; it has none; build it with props=[Ball(...)]"),
    (lambda s: looking(s, (NAN, 1.0)), "facing must be 2 numbers within 1000 m, got (nan, 1.0)"),
]


@pytest.mark.parametrize(("call", "message"), BAD_WISHES, ids=[message[:40] for _, message in BAD_WISHES])
def test_bad_wishes(scene, call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call(scene)
