"""The walker: its parts against MuJoCo and closed forms, its memory, its styles, and whether it walks."""

import math
from functools import partial
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.characters.biped import biped, robot
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.live.recording import Recorder, Recording
from tumble.live.session import Session
from tumble.maths import vectors
from tumble.maths.bundles import Address
from tumble.maths.compiled import as_entry
from tumble.walking import Walker, WalkSettings, builtin_styles, legs, pendulum, pose, torques
from tumble.walking.asking import wish_style
from tumble.walking.body import BACK, BONES, FOOT, LEGS, PELVIS, SHIN, THIGH, TORSO, body_of
from tumble.walking.memory import MEMORY, WALKER
from tumble.walking.settings import Parts, VelocityTuning
from tumble.walking.style import FOOT_HEIGHT, read_style, table_of
from tumble.walking.swing import _clear_of
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

about, multiply, turned = map(as_entry, (vectors.about, vectors.multiply, vectors.turned))
from_axes, turn_between = map(as_entry, (vectors.from_axes, vectors.turn_between))
spline, wrapped = map(as_entry, (vectors.spline, vectors.wrapped))
gait_ahead, gait_place, gait_side = map(as_entry, (pendulum.gait_ahead, pendulum.gait_place, pendulum.gait_side))
knee_for, leg_pose, leg_reach = map(as_entry, (legs.knee_for, legs.leg_pose, legs.leg_reach))
pendulum_later, pendulum_step = map(as_entry, (pendulum.pendulum_later, pendulum.pendulum_step))
add_gravity, tune_velocity = map(as_entry, (torques.add_gravity, torques.tune_velocity))
trajectory = as_entry(pose.trajectory)


def scene_of(made) -> Scene:
    return Scene(made, ground=Ground(friction=0.8))


@pytest.fixture(scope="module")
def scene() -> Scene:
    return scene_of(biped())


@pytest.fixture(scope="module")
def walker(scene) -> Walker:
    return Walker(scene)


def started(scene, walker, nsim=1, **wishes) -> Sims:
    sims = Sims(scene, nsim, nthread=1)
    sims.use(walker.drive)
    sims.load(scene.state())
    walker.start(sims)
    walker.wish(sims, **wishes)
    return sims


def go(sims, walker, seconds) -> None:
    for _ in range(round(seconds / sims.scene.dt)):
        sims.act(walker.control(sims), walker.drive)


def upright(sims) -> np.ndarray:
    return sims.view("qpos")[:, 2] > 0.75


# ---- parts


def random_rotations(n=200):
    rng = np.random.default_rng(0)
    for _ in range(n):
        quat = rng.normal(size=4)
        yield tuple(quat / np.linalg.norm(quat)), rng


def test_rotations_agree_with_mujoco():
    for q, rng in random_rotations():
        vector, out = rng.normal(size=3), np.zeros(3)
        mujoco.mju_rotVecQuat(out, vector, np.array(q))
        assert turned(q, tuple(vector)) == pytest.approx(out)
        p = next(random_rotations(1))[0]
        product = np.zeros(4)
        mujoco.mju_mulQuat(product, np.array(p), np.array(q))
        assert multiply(p, q) == pytest.approx(product)
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, np.array(q))
        axes = matrix.reshape(3, 3).T
        again = np.array(from_axes(*map(tuple, axes)))
        assert abs(again @ np.array(q)) == pytest.approx(1)


def test_turn_between_is_the_rotation_vector():
    for q, rng in random_rotations(50):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        angle = rng.uniform(0, 3.1)
        step = np.zeros(4)
        mujoco.mju_axisAngle2Quat(step, axis, angle)
        assert turn_between(q, multiply(tuple(step), q)) == pytest.approx(angle * axis, abs=1e-7)
    assert turn_between(about(2, 3.0), about(2, -3.0)) == pytest.approx((0, 0, 2 * math.pi - 6))
    assert wrapped(3.5) == pytest.approx(3.5 - 2 * math.pi)


def test_splines_pass_their_knots_and_are_exact_for_lines_and_inner_parabolas():
    knots = np.array([(0.0, 1.0), (0.3, -1.0), (0.7, 2.0), (1.0, 0.0)])
    for x, y in knots:
        assert spline(knots, 4, x) == pytest.approx(y)
    line = np.array([(x, 3 * x - 1) for x in (0.0, 0.2, 0.5, 1.0)])
    for x in np.linspace(0, 1, 21):
        assert spline(line, 4, x) == pytest.approx(3 * x - 1)
    parabola = np.array([(x, x * x) for x in (0.0, 0.25, 0.5, 0.75, 1.0)])
    for x in np.linspace(0.25, 0.75, 11):
        assert spline(parabola, 5, x) == pytest.approx(x * x)
    assert spline(knots, 4, -1.0) == 1.0 and spline(knots, 4, 2.0) == 0.0 and spline(knots, 1, 0.6) == 1.0


def test_the_pendulum_steps_where_its_energy_is_spent():
    for v, h in ((0.6, 0.9), (1.7, 0.7), (-0.4, 1.1)):
        d = pendulum_step(v, h, 9.81)
        assert 0.5 * v * v + 9.81 * h == pytest.approx(9.81 * math.hypot(h, d))
        assert math.copysign(1, d) == math.copysign(1, v)


def test_the_pendulums_walk_repeats_itself():
    rate, period, speed, half = 3.3, 0.6, 0.8, 0.05
    place, now = -0.5 * speed * period, gait_ahead(speed, 0.0, period, rate)
    later, then = pendulum_later(place, now, period, rate)
    assert later == pytest.approx(0.5 * speed * period) and then == pytest.approx(now)
    for time in (0.0, 0.2, 0.6):
        assert gait_place(speed, time, period, rate) == pytest.approx(pendulum_later(place, now, time, rate)[0])
    y, v = gait_side(half, 0.0, period, rate)
    y2, v2 = pendulum_later(y, v, period, rate)
    assert (y, y2) == pytest.approx((half, half)) and v2 == pytest.approx(-v)


def test_the_leg_reaches_the_ankles_place():
    rng = np.random.default_rng(1)
    for _ in range(200):
        thigh, shin = rng.uniform(0.2, 0.7, 2)
        line = rng.normal(size=3) - np.array([0, 0, 2])
        line *= rng.uniform(abs(thigh - shin) + 0.01, 0.99 * (thigh + shin)) / np.linalg.norm(line)
        yaw = rng.uniform(-1, 1)
        side = (-math.sin(yaw), math.cos(yaw), 0.0)
        hip = rng.normal(size=3)
        thigh_pose, knee = leg_pose(tuple(hip), tuple(hip + line), thigh, shin, side, 0.993)
        upper = np.array(turned(thigh_pose, (0.0, 0.0, -thigh)))
        lower = np.array(turned(multiply(thigh_pose, about(1, knee)), (0.0, 0.0, -shin)))
        assert upper + lower == pytest.approx(line, abs=1e-6)
        assert knee >= 0 and leg_reach(thigh, shin, knee) == pytest.approx(np.linalg.norm(line), abs=1e-6)
        assert knee_for(thigh, shin, leg_reach(thigh, shin, min(knee, 2.5))) == pytest.approx(min(knee, 2.5), abs=1e-6)
        left = np.array(turned(thigh_pose, (0.0, 1.0, 0.0)))
        assert left @ line == pytest.approx(0, abs=1e-6) and left @ side > 0


def posed(scene, seed=2) -> mujoco.MjData:
    """Joints at random angles near rest."""
    data = scene.show(scene.state())
    data.qpos[7:] += np.random.default_rng(seed).uniform(-0.3, 0.3, scene.model.nq - 7)
    data.qvel[:] = 0
    mujoco.mj_forward(scene.model, data)
    return data


def test_gravity_compensation_is_mujocos_bias_force(scene):
    data, body = posed(scene), body_of(scene, WalkSettings())
    torque = np.zeros((len(BONES), 3))
    for bone in range(BACK, len(BONES)):
        add_gravity(Address(body), torque, data.subtree_com, data.xanchor, bone)
    for bone in range(BACK, len(BONES)):
        for j in range(body.joint[bone], body.joint[bone] + body.joints[bone]):
            bias = data.qfrc_bias[body.dof[j]]
            assert torque[bone] @ data.xaxis[j] == pytest.approx(bias, abs=1e-8)


def test_velocity_tuning_is_the_transposed_jacobian(scene):
    data, model = posed(scene), scene.model
    body = body_of(scene, WalkSettings())
    k = WalkSettings(tuning=VelocityTuning(back_share=1.0, chest_share=1.0))
    force = np.array([30.0, -20.0, 0.0])
    torque = np.zeros((len(BONES), 3))
    leg = LEGS
    tune_velocity(Address(body), Address(k), torque, data.xanchor, data.xipos, leg, tuple(force))
    chain = [TORSO, BACK, PELVIS, leg + THIGH, leg + SHIN]
    jacobian, foot = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    turn = np.zeros((3, model.nv))
    mass = body.mass[chain].sum()
    for bone in chain:
        one = np.zeros((3, model.nv))
        mujoco.mj_jacBodyCom(model, data, one, None, int(body.ids[bone]))
        jacobian += body.mass[bone] / mass * one
    # seen from the foot: move the whole body back so that the foot stays where it is
    mujoco.mj_jac(model, data, foot, turn, data.xanchor[body.joint[leg + FOOT]], int(body.ids[leg + FOOT]))
    centre = body.mass[chain] @ data.xipos[body.ids[chain]] / mass
    arm = centre - data.xanchor[body.joint[leg + FOOT]]
    seen = jacobian - foot - np.cross(turn.T, arm).T
    for bone in (TORSO, BACK, leg + THIGH, leg + SHIN, leg + FOOT):
        for j in range(body.joint[bone], body.joint[bone] + body.joints[bone]):
            assert torque[bone] @ data.xaxis[j] == pytest.approx(seen[:, body.dof[j]] @ force, abs=1e-8)


# ---- memory


def test_rows_do_not_see_each_other(scene, walker):
    alone = started(scene, walker, 1, speed=0.7)
    go(alone, walker, 1.5)
    kept = alone.state[0].copy()
    crowd = started(scene, walker, 3, speed=0.7)
    walker.wish(crowd, rows=[0, 2], speed=-0.4, heading=1.0, style="sneak")
    go(crowd, walker, 1.5)
    assert np.array_equal(crowd.state[1], kept)
    assert not np.array_equal(crowd.state[0], kept)


def test_rows_that_rest_do_not_change(scene, walker):
    sims, everybody = started(scene, walker, 4, speed=0.8), started(scene, walker, 4, speed=0.8)
    before, rows = sims.state.copy(), np.array([1, 3])
    for _ in range(10):
        sims.act(partial(walker.law, rows=rows), walker.drive, rows)
        everybody.act(walker.law, walker.drive)
    np.testing.assert_array_equal(sims.state[[0, 2]], before[[0, 2]])
    np.testing.assert_array_equal(sims.state[rows], everybody.state[rows])


def test_a_step_ends_when_its_foot_strikes(scene, walker):
    sims = started(scene, walker, 3, speed=0.8)
    walker.wish(sims, rows=[0], speed=0.0)  # stands
    stances = []
    for _ in range(4):
        assert list(walker.step(sims, 1.5, rows=[1, 2])) == [False, True, True]
        assert (walker.steps(sims)[1:] == len(stances) + 1).all()
        stances.append(int(sims.memory(MEMORY).stance[1]))
    assert stances[:2] == stances[2:] and stances[0] != stances[1]
    assert sims.view("time")[0] == 0.0 and not walker.step(sims, 0.5, rows=[0]).any()


def test_who_lies_has_fallen(scene, walker):
    sims = started(scene, walker, 2, speed=0.8)
    walker.step(sims)
    assert not walker.fallen(sims).any()
    sims.view("qvel")[1, 0] = -5.0
    sims.load(sims.state.copy())
    for _ in range(60):
        sims.act(walker.law, walker.drive)
    assert list(walker.fallen(sims)) == [False, True]


def test_a_copied_row_walks_on_in_the_same_way(scene, walker):
    sims = started(scene, walker, 1, speed=0.7)
    go(sims, walker, 1.3)
    fork = Sims(scene, 2, nthread=1)
    fork.use(walker.drive)
    fork.load(sims.state[0])
    sims.load(sims.state[0].copy())
    go(sims, walker, 0.7)
    go(fork, walker, 0.7)
    assert np.array_equal(fork.state[0], sims.state[0]) and np.array_equal(fork.state[1], sims.state[0])


def test_a_walk_can_be_recorded(scene, walker, tmp_path):
    session = Session(scene, walker, scene.state())
    session.send(Go(speed=0.5))
    recorder = Recorder(session, "steer-walk", "walker", 0)
    for _ in range(50):
        session.step()
    recorder.recording.save(tmp_path / "walk.npz")
    assert Recording.load(tmp_path / "walk.npz").first_difference() is None


def test_wishes_are_in_the_state(scene, walker):
    sims = started(scene, walker, 2, period=0.5)
    walker.wish(sims, rows=[1], speed=0.9, step_width=None, style="happy")
    memory = sims.memory(MEMORY)
    assert memory.wish_speed.tolist() == [0.0, 0.9]
    assert memory.wish_period.tolist() == [0.5, 0.5]
    assert walker.styles[int(memory.wish_style[1])].name == "happy"
    walker.wish(sims, speed=np.array([0.1, 0.2]))
    assert memory.wish_speed.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"speed": 9.0}, "speed must be a number -1 or more and at most 2, got 9"),
        ({"heading": float("nan")}, "heading must be a number"),
        ({"style": "hapy"}, "no style 'hapy'; there are: chicken, drunken, happy, lean"),
        ({"hopp": 1.0}, "no wish 'hopp'; there are: alpha, bend, crouch, drift, haul, heading"),
    ],
)
def test_bad_wishes_are_refused(scene, walker, wishes, message):
    with pytest.raises(UserError) as caught:
        walker.wish(started(scene, walker), **wishes)
    assert message in str(caught.value)


def test_scenes_that_cannot_be_walked_in_are_refused():
    with pytest.raises(UserError, match="'humanoid' lacks lower_back, left_toe, right_toe"):
        Walker(scene_of(humanoid()))
    with pytest.raises(UserError, match="no drive 'torque'; there are: servo"):
        Walker(Scene(biped(), drives=["servo"]))


# ---- styles


def test_at_least_eight_styles_come_with_it():
    styles = builtin_styles()
    assert {"normal", "happy", "sneak", "low", "tip-toe", "chicken", "drunken", "lean"} <= set(styles)
    assert next(iter(styles)) == "normal"
    table = table_of(list(styles.values()))
    assert np.isfinite(table.knots).all() and (table.counts > 0).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("period = 0.6", "not a style (text): Object missing required field `name`"),
        ('name = "x"\nwing = [[0, 1]]', "not a style (text): Object contains unknown field `wing`"),
        ('name = "x"\nperiod = 9', "period of style 'x' must be a number 0.15 or more and at most 2, got 9"),
        ('name = "x"\nstance_knee = [[0, 0], [0.5, nan]]', "stance_knee of style 'x' must have finite knots"),
        ('name = "x"\nstance_knee = [[0.5, 0], [0.2, 1]]', "must have knots in rising order, got 0.5 before 0.2"),
        (
            'name = "x"\nstance_knee = [[0, 0], [1.5, 1]]',
            "stance_knee of style 'x' must have phases from 0 to 1, got 1.5",
        ),
        ('name = "x"\nstance_knee = []', "stance_knee of style 'x' must have 1 to 12 knots, got 0"),
        ('name = "x"\nback_bend = [[0, 7]]', "back_bend of style 'x' must stay within 3.2, got 7 at 0"),
        ("name = [", "not a style (text):"),
    ],
)
def test_bad_styles_are_refused(text, message):
    with pytest.raises(UserError) as caught:
        read_style(text)
    assert message in str(caught.value)


def test_a_change_of_style_jerks_no_leg(scene):
    """At any moment of two steps, feet that are to go higher or lower, or turned out, are driven there by and by."""
    high = "foot_height = [[0.0, -0.02], [0.5, 0.2], [1.0, -0.01]]\ntoe_out = 0.4"
    walker = Walker(scene, styles=[read_style('name = "low"'), read_style(f'name = "high"\n{high}')])
    for old, new in (("low", "high"), ("high", "low")):
        sims = started(scene, walker, 2, speed=0.5, style=old)
        go(sims, walker, 2.0)
        for _ in range(12):
            go(sims, walker, 0.1)
            sims.load(sims.state[0].copy())
            kept = sims.state[0].copy()
            walker.wish(sims, rows=[1], style=new)
            same, other = walker.law(sims)
            assert other == pytest.approx(same, abs=0.02)
            sims.load(kept)


def test_a_blend_of_styles_turns_round_or_goes_on_from_the_nearer(walker):
    (m,), table = np.zeros(1, WALKER).view(np.recarray), Address(walker._table)
    first, second, third = 0.0, 1.0, 2.0
    for blend, nearer in ((0.3, first), (0.7, second)):
        m.style, m.wish_style, m.blend = first, second, blend
        before = trajectory(table, m, FOOT_HEIGHT, 0.5)
        wish_style(m, second)
        assert m.blend == blend
        wish_style(m, first)
        assert m.wish_style == first and trajectory(table, m, FOOT_HEIGHT, 0.5) == pytest.approx(before)
        wish_style(m, third)
        assert (m.style, m.wish_style, m.blend) == (nearer, third, 0.0)


# ---- behaviour


def test_it_walks_and_turns(scene, walker):
    sims = started(scene, walker, 3, speed=0.6)
    walker.wish(sims, rows=[1], heading=1.0)
    walker.wish(sims, rows=[2], speed=-0.4)
    go(sims, walker, 4.0)
    start = sims.view("com").copy()
    go(sims, walker, 2.0)
    moved = (sims.view("com") - start)[:, :2] / 2
    assert upright(sims).all() and not sims.broken.any()
    assert moved[0] == pytest.approx([0.6, 0], abs=0.12)
    assert moved[1] == pytest.approx([0.6 * math.cos(1), 0.6 * math.sin(1)], abs=0.15)
    assert moved[2] == pytest.approx([-0.4, 0], abs=0.12)


@pytest.mark.parametrize("drift", [-0.2, 0.2])
def test_it_walks_sideways(scene, walker, drift):
    """A pendulum whose landings are shifted drifts at the speed asked for; it goes on ahead and faces ahead."""
    sims = started(scene, walker, speed=0.4, drift=drift)
    go(sims, walker, 3.0)
    start = sims.view("qpos")[0, :2].copy()
    go(sims, walker, 5.0)
    ahead, left = (sims.view("qpos")[0, :2] - start) / 5.0
    assert left == pytest.approx(drift, abs=0.05) and ahead == pytest.approx(0.4, abs=0.06)


def test_it_stands_still(scene, walker):
    sims = started(scene, walker)
    go(sims, walker, 4.0)
    assert sims.memory(MEMORY).footstrikes[0] == 0
    assert np.abs(sims.view("qvel")).max() < 0.05


@pytest.mark.parametrize("part", ["foot_placement", "velocity_tuning", "gravity_compensation"])
def test_parts_can_be_switched_off(scene, walker, part):
    lame = Walker(scene, WalkSettings(parts=Parts(**{part: False})))
    whole, less = started(scene, walker, 1, speed=0.6), started(scene, lame, 1, speed=0.6)
    go(whole, walker, 1.0)
    go(less, lame, 1.0)
    assert not np.array_equal(whole.state, less.state)


@pytest.mark.slow
def test_speeds_and_periods(scene, walker):
    grid = [(v, 0.6) for v in (-0.6, 0.3, 0.6, 1.0, 1.4)] + [(0.6, t) for t in (0.2, 0.4, 0.8, 1.0)]
    sims = started(scene, walker, len(grid))
    walker.wish(sims, speed=np.array([v for v, _ in grid]), period=np.array([t for _, t in grid]))
    go(sims, walker, 10.0)
    start = sims.view("com").copy()
    go(sims, walker, 20.0)
    speed = (sims.view("com") - start)[:, 0] / 20
    assert upright(sims).all()
    assert speed == pytest.approx([v for v, _ in grid], rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("style", list(builtin_styles()))
def test_every_style_walks(scene, walker, style):
    sims = started(scene, walker, 1, speed=0.6, style=style)
    go(sims, walker, 15.0)
    assert sims.view("qpos")[0, 2] > 0.45 and sims.view("com")[0, 0] > 5


@pytest.mark.slow
def test_the_robot_walks():
    scene = scene_of(robot())
    walker = Walker(scene)
    sims = started(scene, walker, 1, speed=0.6)
    go(sims, walker, 15.0)
    assert upright(sims).all() and sims.view("com")[0, 0] > 6


def test_who_stands_idles_from_foot_to_foot():
    """The weight goes to and fro by some cm, after a while, and both feet stay where they are."""
    scene = scene_of(biped())
    walker = Walker(scene)
    sims = started(scene, walker)
    feet = sims.view("left_foot.pos")[0, :2].copy(), sims.view("right_foot.pos")[0, :2].copy()
    sway = []
    for _ in range(round(9.0 / scene.dt)):
        sims.act(walker.control(sims), walker.drive)
        sway.append(float(sims.view("com")[0, 1]))
    early, late = np.array(sway[: round(1.4 / scene.dt)]), np.array(sway[round(1.5 / scene.dt) :])
    assert np.ptp(early) < 0.01
    assert 0.03 < np.ptp(late) < 0.12
    for foot, before in zip(("left_foot", "right_foot"), feet, strict=True):
        assert np.abs(sims.view(f"{foot}.pos")[0, :2] - before).max() < 0.02


def test_a_swing_foot_keeps_clear_of_the_stance_foot_unless_pushed():
    """Beside the stance foot it is moved to its own side; far ahead, far to the side, or after a push it is not."""
    scene = scene_of(biped())
    body, constants = Walker(scene)._body, WalkSettings()
    look = SimpleNamespace(ahead=(1.0, 0.0, 0.0), left=(0.0, 1.0, 0.0))
    clear = _clear_of.py_func
    gap = constants.steps.clear_side * body.size
    assert clear(body, constants, look, (0.0, 0.0, 0.0), 1.0, 1.0, 0.0, 0.02) == pytest.approx((0.0, gap))
    assert clear(body, constants, look, (0.0, 0.0, 0.0), -1.0, 1.0, 0.0, 0.02) == pytest.approx((0.0, -gap))
    assert clear(body, constants, look, (0.0, 0.0, 0.0), 1.0, 0.0, 0.0, 0.02) == (0.0, 0.02)
    assert clear(body, constants, look, (0.0, 0.0, 0.0), 1.0, 1.0, 0.5, 0.02) == (0.5, 0.02)
    assert clear(body, constants, look, (0.0, 0.0, 0.0), 1.0, 1.0, 0.0, 0.3) == (0.0, 0.3)
