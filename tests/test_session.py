"""The live loop: commands in closed form, what controllers see, what listeners hear."""

import json
import re

import msgspec
import mujoco
import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.control.controller import Controller
from tumble.errors import UserError
from tumble.goals import balance
from tumble.live.commands import Do, Drag, Explode, Push, Release, SetGoal, SetParameter, Throw, Walk, decode
from tumble.live.session import Session
from tumble.planners import CPBP, Planned
from tumble.planners.splines import CEM, CEMSettings
from tumble.skills.acts import Go, LetGo, Lift, Wait
from tumble.world.props import PARKED, Box
from tumble.world.scene import Scene

GRAVITY = np.array([0, 0, -9.81])


@pytest.fixture
def high(scene, still):
    """A session in which the character floats ten metres up at rest."""
    return Session(scene, still, scene.state(height=10.0))


def mass(scene: Scene) -> float:
    return float(scene.model.body_subtreemass[1])


def gained(session: Session) -> np.ndarray:
    """Momentum that one step gives a character, N s, weight aside; exact where it was at rest before.

    The rows of the inertia matrix that belong to the root's translation are the body's momentum.
    """
    data = session.scene.show(session.world.state[0])
    before = data.qvel.copy()
    session.step()
    momentum = np.zeros(session.scene.model.nv)
    mujoco.mj_mulM(session.scene.model, data, momentum, session.world.view("qvel")[0] - before)
    return momentum[:3] - mass(session.scene) * GRAVITY * session.scene.dt


def applied(session: Session) -> np.ndarray:
    """(nbody, 6): the outside forces of the next step, which is taken."""
    seen, act = [], session.world.act

    def spied(control):
        seen.append(session.world.view("xfrc_applied")[0].copy())
        act(control)

    session.world.act = spied
    session.step()
    del session.world.act
    return seen[0]


# Pushes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [(400.0, 0, 0), (0, -300.0, 200.0)])
@pytest.mark.parametrize("body", ["torso", "left_hand"])
def test_one_frame_of_a_push_is_force_times_dt(high, body, force):
    high.send(Push(body, force))
    assert gained(high) == pytest.approx(np.array(force) * high.scene.dt, abs=1e-6)


def test_a_push_of_a_tenth_of_a_second_is_three_frames(high, scene):
    high.send(Push("torso", (400, 0, 0), seconds=0.1))
    velocities = []
    for _ in range(6):
        high.step()
        velocities.append(high.world.view("com_velocity")[0].copy())
    momentum = mass(scene) * np.array(velocities)
    # the limbs swing a little during the push, so the body's momentum is right to a thousandth
    assert momentum[:, 0] == pytest.approx(400 * scene.dt * np.array([1, 2, 3, 3, 3, 3]), rel=2e-3)
    falling = mass(scene) * GRAVITY[2] * scene.dt * np.arange(1, 7)
    assert momentum[:, 2] == pytest.approx(falling, abs=0.2)


def test_pushes_add_up(high):
    high.send(Push("torso", (100, 0, 0), seconds=1.0))
    high.send(Push("torso", (20, 30, 0), seconds=0.01))
    torso = high.scene.body("torso")
    assert applied(high)[torso] == pytest.approx([120, 30, 0, 0, 0, 0])
    assert applied(high)[torso] == pytest.approx([100, 0, 0, 0, 0, 0])


def test_the_controller_never_sees_outside_forces(scene, still):
    session = Session(scene, still, scene.state())
    session.send(Push("torso", (300, 0, 0), seconds=1.0))
    session.send(Drag("left_hand", (1.0, 1.0, 1.0)))
    session.send(Explode((1.0, 0.0, 0.0)))
    frames = [session.step() for _ in range(5)]
    assert not np.any(still.forces)
    for state in (*still.states, *(frame.state for frame in frames)):
        assert not scene.show(state).xfrc_applied.any()
    assert session.world.view("com_velocity")[0, 0] > 0.1  # they did act


def test_a_planner_gets_states_without_outside_forces(scene, goal, small, monkeypatch):
    planned = Planned(CPBP(scene, small, 0, 1), goal)
    session = Session(scene, planned, scene.state())
    seen, plan = [], planned.planner.plan
    monkeypatch.setattr(planned.planner, "plan", lambda state, goal: (seen.append(state.copy()), plan(state, goal))[1])
    session.send(Push("torso", (300, 0, 0), seconds=1.0))
    for _ in range(3):
        session.step()
    assert len(seen) == 3
    assert not any(scene.show(state).xfrc_applied.any() for state in seen)


# Drags ----------------------------------------------------------------------------------------------


def speed_of(session: Session, body: str, point: np.ndarray) -> np.ndarray:
    """Velocity of a point on a body, m/s."""
    data, jacobian = session.scene.show(session.world.state[0]), np.zeros((3, session.scene.model.nv))
    place = data.body(body).xpos + data.body(body).xmat.reshape(3, 3) @ point
    mujoco.mj_jac(session.scene.model, data, jacobian, None, place, data.body(body).id)
    return jacobian @ data.qvel


@pytest.mark.parametrize("body", ["left_hand", "torso"])
@pytest.mark.parametrize("speed", [(0.0, 0.0, 0.0), (0.5, 1.0, -0.7)])
def test_a_drag_is_the_spring_at_the_end_of_its_step(scene, still, body, speed):
    """Per kilogram, with the speed that the drag itself gives the point, beside a world without it."""
    data = scene.show(scene.state(height=10.0))
    data.qvel[:3] = speed
    dragged, free = (Session(scene, still, scene.read(data)) for _ in range(2))
    point, reach = np.array([0.01, 0.02, 0.05]), np.array([0.05, -0.1, 0.15])
    place = data.body(body).xpos + data.body(body).xmat.reshape(3, 3) @ point
    dragged.send(Drag(body, tuple(place + reach), tuple(point), stiffness=20.0, damping=4.0))
    wrench = applied(dragged)[scene.body(body)]
    free.step()
    later = speed + speed_of(dragged, body, point) - speed_of(free, body, point)
    force = mass(scene) * (20 * (reach - scene.dt * later) - 4 * later)
    assert wrench[:3] == pytest.approx(force, abs=0.05 * np.linalg.norm(force))
    assert wrench[3:] == pytest.approx(np.cross(place - data.body(body).xipos, wrench[:3]), abs=1e-9)


def test_a_spring_without_damping_pulls_a_heavy_thing_in_full(scene, still):
    """What is left out is of the order dt^2 stiffness."""
    session = Session(scene, still, scene.state(height=10.0))
    place, reach = scene.show(session.start).body("torso").xipos, np.array([0.1, -0.2, 0.3])
    session.send(Drag("torso", tuple(place + reach), stiffness=1e-3, damping=0.0))
    below = tuple(scene.show(session.start).body("torso").xpos - place)
    force = mass(scene) * 1e-3 * (reach - below)
    assert applied(session)[scene.body("torso"), :3] == pytest.approx(force, rel=1e-4)


def test_a_drag_pulls_to_its_target_until_release(scene, still):
    session = Session(scene, still, scene.state())
    target = scene.show(session.start).body("left_hand").xpos + np.array([0.3, 0.3, 0.2])

    def distance() -> float:
        return float(np.linalg.norm(scene.show(session.world.state[0]).body("left_hand").xpos - target))

    before = distance()
    session.send(Drag("left_hand", tuple(target)))
    for _ in range(20):
        session.step()
    assert distance() < 0.7 * before
    assert applied(session).any()
    session.send(Release())
    assert not applied(session).any()
    assert not applied(session).any()


def test_lifting_by_the_hand_takes_no_more_than_the_spring(scene, still):
    session = Session(scene, still, scene.state())
    hand = scene.show(session.start).body("left_hand").xpos
    session.send(Drag("left_hand", tuple(hand + np.array([0, 0, 1.5]))))
    most = 1.5 * 20 * mass(scene)  # N, at the start; yielding and damping only take from it
    for _ in range(60):
        assert np.linalg.norm(applied(session)[scene.body("left_hand"), :3]) < most
    assert np.abs(session.world.view("qvel")[0, scene.motors.qvel]).max() < 1  # hangs there, unshaken
    assert session.world.view("left_hand.pos")[0, 2] > hand[2] + 0.7


def test_a_new_drag_replaces_the_old_one(high):
    high.send(Drag("left_hand", (0, 0, 0)))
    high.send(Drag("right_hand", (0, 0, 0)))
    forces = applied(high)
    assert not forces[high.scene.body("left_hand")].any()
    assert forces[high.scene.body("right_hand")].any()


# Balls and blasts -----------------------------------------------------------------------------------


def test_throw_places_the_ball(ball_scene, still):
    session = Session(ball_scene, still, ball_scene.state())
    session.send(Throw((2.0, 1.0, 3.0), (-5.0, 0.0, 1.0)))
    session.step()
    data = ball_scene.show(session.world.state[0])
    dt = ball_scene.dt
    speed = np.array([-5.0, 0.0, 1.0]) + GRAVITY * dt
    assert data.joint("ball").qvel == pytest.approx([*speed, 0, 0, 0], abs=1e-9)
    assert data.joint("ball").qpos == pytest.approx([*(np.array([2.0, 1.0, 3.0]) + speed * dt), 1, 0, 0, 0], abs=1e-9)
    seen = ball_scene.show(still.states[0])  # the controller sees it coming, before it has moved
    assert seen.joint("ball").qpos[:3] == pytest.approx([2.0, 1.0, 3.0])


@pytest.mark.parametrize("height", [0, -0.5, -9.0])
def test_an_aimed_throw_counts_from_where_the_character_is(ball_scene, still, height):
    session = Session(ball_scene, still, ball_scene.state())
    session.world.view("qpos")[0, :2] = (3.0, -2.0)
    root = session.world.view("qpos")[0, :3].copy()
    session.send(Throw((4, 1, height), (-5, 0, 1), aimed=True))  # whole numbers too
    session.step()
    seen = ball_scene.show(still.states[0]).joint("ball")
    assert seen.qpos == pytest.approx([7.0, -1.0, max(root[2] + height, 0.15), 1, 0, 0, 0])  # not in the ground
    assert seen.qvel == pytest.approx([-5, 0, 1, 0, 0, 0])


def test_a_ball_waits_far_away_and_hits_when_thrown(ball_scene, still):
    session = Session(ball_scene, still, ball_scene.state())
    for _ in range(5):
        session.step()
    waiting = ball_scene.show(session.world.state[0]).joint("ball").qpos
    assert waiting[:2] == pytest.approx(PARKED, abs=1e-6)
    assert abs(session.world.view("com_velocity")[0, 0]) < 0.1
    session.send(Throw((1.0, 0.0, 1.2), (-10.0, 0.0, 0.0)))
    for _ in range(6):
        session.step()
    assert session.world.view("com_velocity")[0, 0] < -0.2


@pytest.mark.parametrize("at", [(0.8, 0.3, 10.2), (0.0, 0.0, 11.0)])
def test_a_blast_gives_every_bone_its_speed(high, scene, at):
    data = scene.show(scene.state(height=10.0))
    high.send(Explode(at, speed=3.0))
    forces = applied(high)
    total = np.zeros(3)
    for bone in scene.bones:
        body = scene.body(bone)
        away = data.body(bone).xipos - at
        distance = np.linalg.norm(away)
        given = forces[body, :3] * scene.dt / scene.model.body_mass[body]  # m/s
        assert given @ away > 0
        assert np.linalg.norm(np.cross(given, away)) < 1e-6 * np.linalg.norm(given)
        if distance > 0.3:
            assert np.linalg.norm(given) == pytest.approx(3.0 / distance**2)
        assert np.linalg.norm(given) <= 3.0 / 0.3**2
        total += given * scene.model.body_mass[body]
    assert not applied(high).any()  # over in one frame
    again = Session(scene, high.controller, scene.state(height=10.0))
    again.send(Explode(at, speed=3.0))
    assert gained(again) == pytest.approx(total, rel=1e-6, abs=1e-6)


# Goals, parameters, the loop ------------------------------------------------------------------------


def test_goals_and_parameters_reach_the_controller(scene, still):
    session = Session(scene, still, scene.state())
    session.send(SetGoal("balance", facing=(0.0, 2.0)))
    session.send(SetParameter("calm.speed", 0.5))
    session.step()
    assert still.parameters == [{"calm.speed": 0.5}]
    assert still.goals[0].names == balance(scene, (0, 1)).names
    assert still.goals[0].terms[-1].direction == pytest.approx((0, 1))


def test_goals_and_parameters_reach_a_planner(scene, goal, small):
    planned = Planned(CPBP(scene, small, 0, 1), goal)
    session = Session(scene, planned, scene.state())
    session.step()
    assert planned.latest.values.shape == (6, 7)
    session.send(SetGoal("balance", facing=(1.0, 0.0)))
    session.send(SetParameter("samples", 4))
    session.step()
    assert planned.latest.values.shape == (6, 8)
    assert planned.latest.paths.shape[0] == 4


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (SetGoal("reach", target=(0.5, 0.2, 1.2), hand="right"), "reach"),
        (SetGoal("ball"), "above_ball"),
        (SetGoal("ball-reach", target=(0.5, 0.2, 2.2)), "over_ball"),
        (SetGoal("juggle", ball="ball"), "under_ball"),
        (SetGoal("steer", velocity=(1.0, 0.0)), "velocity"),
        (SetGoal("turbo", velocity=(1.0, 0.0)), "velocity"),
    ],
    ids=lambda part: getattr(part, "goal", part),
)
def test_every_goal_can_be_commanded(ball_scene, small, command, name):
    planned = Planned(CPBP(ball_scene, small, 0, 1), balance(ball_scene))
    session = Session(ball_scene, planned, ball_scene.state())
    session.send(command)
    assert session.step().commands == (command,)
    assert name in planned.goal.names
    assert planned.latest.values.shape == (6, len(planned.goal.names))
    assert np.isfinite(planned.latest.cost)


def test_options_reach_the_goal(ball_scene, still):
    session = Session(ball_scene, still, ball_scene.state())
    session.send(SetGoal("reach", target=(0.5, 0.2, 1.2), hand="right"))
    session.send(SetGoal("steer", velocity=(1.0, -0.5)))
    session.step()
    reach, steer = still.goals
    assert (reach.terms[-2].hand, reach.terms[-2].target) == ("right_hand", (0.5, 0.2, 1.2))
    assert steer.terms[steer.names.index("velocity")].target == (1.0, -0.5, 0.0)


# Attention ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [(0.3, -0.4, 0.2), (-2.0, 0.0, 0.0), (0.05, 0.05, -0.7)])
def test_a_drag_is_told_as_a_direction_from_the_point_that_is_held(scene, still, way):
    data = scene.show(scene.state())
    point = np.array([0.01, 0.02, -0.1])
    place = data.body("left_hand").xpos + data.body("left_hand").xmat.reshape(3, 3) @ point
    session = Session(scene, still, scene.state())
    session.step()
    place += scene.show(session.world.state[0]).body("left_hand").xpos - data.body("left_hand").xpos
    session.send(Drag("left_hand", tuple(place + np.array(way)), tuple(point)))
    session.step()
    session.step()
    session.send(Release())
    session.step()
    first, told, later, released = still.directions
    assert first is None and released is None
    assert told == pytest.approx(np.array(way[:2]) / np.hypot(*way[:2]), abs=0.01)  # the hand turned a little
    assert np.hypot(*told) == pytest.approx(1) and np.hypot(*later) == pytest.approx(1)


def test_a_pull_straight_up_has_no_direction(scene, still):
    session = Session(scene, still, scene.state())
    hand = scene.show(session.start).body("left_hand").xpos
    session.send(Drag("left_hand", tuple(hand + np.array([0.0, 0.005, 1.0]))))
    session.step()
    assert still.directions == [None]


def test_pushes_and_blasts_draw_no_look(scene, still):
    session = Session(scene, still, scene.state())
    session.send(Push("torso", (300, 0, 0), seconds=1.0))
    session.send(Explode((1.0, 0.0, 0.0)))
    session.step()
    assert still.directions == [None]


def test_dragging_a_ball_is_not_dragging_the_character(ball_scene, still):
    session = Session(ball_scene, still, ball_scene.state())
    session.send(Throw((2.0, 0.0, 0.15), (0.0, 0.0, 0.0)))
    session.send(Drag("ball", (3.0, 0.0, 0.15)))
    session.step()
    assert still.directions == [None]


def test_while_it_is_dragged_the_character_is_to_look_there(scene, goal, small, monkeypatch):
    planned = Planned(CPBP(scene, small, 0, 1), goal)
    session = Session(scene, planned, scene.state())
    wanted, plan = [], planned.planner.plan
    monkeypatch.setattr(planned.planner, "plan", lambda state, goal: (wanted.append(goal), plan(state, goal))[1])
    hand = scene.show(session.start).body("left_hand").xpos
    session.send(Drag("left_hand", tuple(hand + np.array([-0.6, 0.8, 0.3]))))
    session.step()
    dragged = planned.latest.values.shape
    session.send(Release())
    session.step()
    assert wanted[0].names == (*goal.names, "facing")
    facing = wanted[0].terms[-1]
    assert facing.head == "head"
    assert facing.direction == pytest.approx((-0.6, 0.8))
    assert wanted[1] is goal is planned.goal  # as it was before
    assert (dragged, planned.latest.values.shape) == ((6, 8), (6, 7))


def test_a_goal_that_is_set_during_a_drag_is_what_remains(scene, goal, small):
    planned = Planned(CPBP(scene, small, 0, 1), goal)
    session = Session(scene, planned, scene.state())
    session.send(Drag("left_hand", (1.0, 1.0, 1.0)))
    session.step()
    session.send(SetGoal("reach", target=(0.5, 0.2, 1.2)))
    session.step()
    assert planned.latest.values.shape == (6, 7 + 2 + 1)
    session.send(Release())
    session.step()
    assert planned.latest.values.shape == (6, 7 + 2)


def test_listeners_hear_every_frame_in_order(scene, still):
    session = Session(scene, still, scene.state())
    heard: list[tuple[str, int]] = []
    frames = []
    session.listeners.append(lambda s, frame: heard.append(("first", frame.index)))
    session.listeners.append(lambda s, frame: heard.append(("second", frame.index)))
    push = Push("torso", (1, 0, 0))
    for i in range(4):
        if i == 2:
            session.send(push)
            session.send(Release())
        frames.append(session.step())
        assert np.array_equal(frames[-1].state, session.world.state[0])
    assert heard == [(who, i) for i in range(4) for who in ("first", "second")]
    assert [frame.commands for frame in frames] == [(), (), (push, Release()), ()]
    assert [frame.time for frame in frames] == pytest.approx(scene.dt * np.arange(1, 5))
    assert session.time == pytest.approx(4 * scene.dt)
    assert not any(frame.broken for frame in frames)


def test_frames_are_copies(scene, still):
    session = Session(scene, still, scene.state())
    first = session.step()
    state, control = first.state.copy(), first.control.copy()
    session.step()
    assert np.array_equal(first.state, state) and np.array_equal(first.control, control)
    assert not np.shares_memory(first.state, session.world.state)


def test_a_broken_world_is_told(scene, still):
    session = Session(scene, still, scene.state())
    session.world.view("qvel")[0, 0] = np.nan
    assert session.step().broken


def test_sessions_with_the_same_seed_are_the_same(scene, goal, small):
    def run() -> np.ndarray:
        session = Session(scene, Planned(CPBP(scene, small, 3, 1), goal), scene.state())
        session.send(Push("torso", (100, 0, 0)))
        return np.array([session.step().state for _ in range(5)])

    assert np.array_equal(run(), run())


# What is refused ------------------------------------------------------------------------------------

NAN = float("nan")
BAD_COMMANDS = [
    (Push("torzo", (1, 0, 0)), "no body 'torzo' in the scene of 'humanoid'; there are: head,"),
    (Push("torzo", (1, 0, 0)), "(did you mean 'torso'?)"),
    (Drag("left_hnad", (0, 0, 0)), "(did you mean 'left_hand'?)"),
    (Push("torso", (NAN, 0, 0)), "force must be three numbers within a million, got (nan, 0, 0)"),
    (Push("torso", (2e6, 0, 0)), "force must be three numbers within a million"),
    (Push("torso", (1, 0, 0), seconds=0), "seconds of a push must be a number above 0 and at most 60, got 0"),
    (Push("torso", (1, 0, 0), seconds=NAN), "seconds of a push must be a number above 0 and at most 60, got nan"),
    (Drag("torso", (0, NAN, 0)), "target must be three numbers within a million"),
    (Drag("torso", (0, 0, 0), point=(0, 0, float("inf"))), "point must be three numbers within a million"),
    (Drag("torso", (0, 0, 0), stiffness=-1), "stiffness must be a number 0 or more and at most 10000, got -1"),
    (Drag("torso", (0, 0, 0), damping=NAN), "damping must be a number 0 or more and at most 1000, got nan"),
    (Explode((0, 0, NAN)), "at must be three numbers within a million"),
    (Explode((0, 0, 0), speed=-1), "speed of an explosion must be a number 0 or more and at most 1000, got -1"),
    (Throw((0, 0, 1), (0, 0, 0)), "no ball 'ball' in the scene; it has none; build it with props=[Ball(...)]"),
    (SetParameter("samples", NAN), "value of 'samples' must be a number"),
    (SetParameter("samples", float("inf")), "value of 'samples' must be a number"),
]


@pytest.mark.parametrize(("command", "message"), BAD_COMMANDS, ids=[message[:40] for _, message in BAD_COMMANDS])
def test_bad_commands_are_refused_before_anything_happens(scene, still, command, message):
    session = Session(scene, still, scene.state())
    with pytest.raises(UserError, match=re.escape(message)):
        session.send(command)
    assert session.step().commands == ()


def test_bad_throws(ball_scene, still):
    session = Session(ball_scene, still, ball_scene.state())
    with pytest.raises(UserError, match="no ball 'bal' in the scene of 'humanoid'; there are: ball"):
        session.send(Throw((0, 0, 1), (0, 0, 0), ball="bal"))
    with pytest.raises(UserError, match="velocity must be three numbers within a million"):
        session.send(Throw((0, 0, 1), (0, 0, NAN)))


GOALS = "ball, ball-reach, gait, juggle, reach, steer, turbo"
BAD_GOALS = [
    (SetGoal("balanse"), f"no goal 'balanse'; there are: balance, {GOALS} (did you mean 'balance'?)"),
    (SetGoal(""), f"no goal ''; there are: balance, {GOALS}"),
    (SetGoal("reach", target=(0.0, 2000.0, 1.0)), "target must be 3 numbers within 1000 m, got (0.0, 2000.0, 1.0)"),
    (SetGoal("reach", target=(NAN, 0.0, 1.0)), "target must be 3 numbers within 1000 m, got (nan, 0.0, 1.0)"),
    (SetGoal("ball-reach", target=(0.0, 0.0, float("inf"))), "target must be 3 numbers within 1000 m"),
    (SetGoal("reach"), "goal 'reach' needs a target"),
    (SetGoal("reach", hand="left"), "goal 'reach' needs a target"),
    (
        SetGoal("reach", target=(0.5, 0.0, 1.0), hand="lefft"),
        "no hand 'lefft'; there are: left, right (did you mean 'left'?)",
    ),
    (SetGoal("steer", velocity=(NAN, 0.0)), "velocity must be 2 numbers within 20 m/s, got (nan, 0.0)"),
    (SetGoal("turbo", velocity=(0.0, 21.0)), "velocity must be 2 numbers within 20 m/s, got (0.0, 21.0)"),
    (SetGoal("steer"), "goal 'steer' needs a velocity"),
    (SetGoal("juggle", ball="bal"), "no ball 'bal' in the scene of 'humanoid'; there are: ball (did you mean 'ball'?)"),
    (SetGoal("ball", ball="torso"), "no ball 'torso' in the scene of 'humanoid'; there are: ball"),
    (SetGoal("balance", target=(0.5, 0.0, 1.0)), "goal 'balance' takes no target; it takes: facing, pose, roll"),
    (SetGoal("juggle", hand="left"), "goal 'juggle' takes no hand; it takes: ball"),
    (
        SetGoal("reach", facing=(1.0, 0.0), target=(0.5, 0.0, 1.0)),
        "goal 'reach' takes no facing; it takes: target, hand",
    ),
    (SetGoal("steer", velocity=(1.0, 0.0), ball="ball"), "goal 'steer' takes no ball; it takes: velocity"),
    (SetGoal("balance", facing=(0.0, NAN)), "facing must be 2 numbers within 1000 m, got (0.0, nan)"),
]


def unmoved(scene: Scene, small, frames: int, before=lambda session, i: None) -> tuple[bytes, ...]:
    """States of a balancing session to which something may happen before every frame."""
    session = Session(scene, Planned(CPBP(scene, small, 0, 1), balance(scene)), scene.state())
    states = []
    for i in range(frames):
        before(session, i)
        frame = session.step()
        assert frame.commands == ()
        states.append(frame.state.tobytes())
    return tuple(states)


@pytest.fixture(scope="module")
def undisturbed(ball_scene, small) -> tuple[bytes, ...]:
    return unmoved(ball_scene, small, 3)


@pytest.mark.parametrize(("command", "message"), BAD_GOALS, ids=[message[:50] for _, message in BAD_GOALS])
def test_bad_goals_are_refused_and_the_character_goes_on(ball_scene, small, undisturbed, command, message):
    def interrupt(session, i):
        if i == 1:
            with pytest.raises(UserError, match=f"^{re.escape(message)}"):
                session.send(command)

    assert unmoved(ball_scene, small, 3, interrupt) == undisturbed


def test_goals_for_a_ball_need_one(scene, still):
    session = Session(scene, still, scene.state())
    for name in ("ball", "juggle"):
        with pytest.raises(UserError, match=r"no ball 'ball' in the scene; it has none; build it with props=\[Ball"):
            session.send(SetGoal(name))
    assert session.step().commands == ()


class Deaf(Controller):
    """Takes neither goal nor parameters."""

    def start(self, sims):
        pass

    def control(self, sims):
        return np.zeros((1, sims.scene.motors.size))


def test_controllers_without_goal_or_parameters_say_so(scene):
    for command, message in (
        (SetGoal("balance"), "Deaf takes no goal"),
        (SetParameter("x", 1), "Deaf has no parameter 'x'"),
        (Walk(speed=1.0), "Deaf does not walk by wishes"),
        (Do("go to 1 0"), "Deaf does no scripts; choose the controller 'walker'"),
    ):
        session = Session(scene, Deaf(), scene.state())
        with pytest.raises(UserError, match=message):
            session.send(command)
        assert session.step().commands == ()


class Doer(Deaf):
    """Notes the scripts it is given; refuses to lift."""

    scripts = True

    def __init__(self):
        self.given = []

    def check_script(self, sims, acts):
        assert sims.nsim == 1
        if any(isinstance(act, Lift) for act in acts):
            raise UserError("too heavy")

    def set_script(self, sims, acts):
        self.given.append(acts)

    def check_wishes(self, wishes):
        pass


def test_scripts_are_checked_when_sent_and_set_before_the_step():
    scene = Scene(humanoid(), [Box("Post", (3.0, 0.0, 0.5), (0.1, 0.1, 0.5))])
    doer = Doer()
    session = Session(scene, doer, scene.state())
    script, walk = Do("GO TO post; wait 2 s"), Walk(speed=0.5)
    session.send(script, walk)
    assert doer.given == []
    assert session.step().commands == (script, walk)
    assert doer.given == [(Go("Post"), Wait(2.0))]
    for refused, message in (("lift post", "too heavy"), ("lfit post", "line 1: no act 'lfit post'"), ("", "no act")):
        with pytest.raises(UserError, match=message):
            session.send(walk, Do(refused))
    assert session.step().commands == ()
    session.send(Do("let go"))
    session.step()
    assert doer.given[1:] == [(LetGo(),)]


REFUSED = [
    (SetParameter("mutatoin", 1.0), "no setting 'mutatoin'"),
    (SetParameter("samples", 1), "samples must be a number 2 or more"),
    (SetParameter("samples", 8.5), "samples must be a whole number, got 8.5"),
    (SetParameter("horizon", 0), "horizon must be a number"),
    (SetParameter("calm.speed", -1), "speed must be a number above 0"),
    (SetGoal("balance", (0.0, 0.0)), "length of the facing direction"),
]


@pytest.mark.parametrize(("command", "message"), REFUSED, ids=str)
def test_what_the_controller_cannot_do_is_refused_when_sent(scene, goal, small, command, message):
    session = Session(scene, Planned(CPBP(scene, small, 0, 1), goal), scene.state())
    session.send(SetParameter("calm.speed", 0.5))
    with pytest.raises(UserError, match=message):
        session.send(command)
    assert session.step().commands == (SetParameter("calm.speed", 0.5),)
    assert session.controller.planner.settings.calm.speed == 0.5


def test_commands_that_clash_with_those_that_wait_are_refused(scene, goal):
    planned = Planned(CEM(scene, CEMSettings(samples=8, horizon=0.2), 0, 1), goal)
    session = Session(scene, planned, scene.state())
    session.send(SetParameter("elites", 6))
    with pytest.raises(UserError, match=r"elites must be 1 to samples \(5\), got 6"):
        session.send(SetParameter("samples", 5))
    session.step()
    assert (planned.planner.settings.elites, planned.planner.settings.samples) == (6, 8)


def test_parameters_that_need_each_other_are_sent_together(scene, goal, small):
    planned = Planned(CPBP(scene, small, 0, 1), goal)
    session = Session(scene, planned, scene.state())
    both = SetParameter("transition_place", 0.1), SetParameter("transition_speed", 1.0)
    for one in both:
        with pytest.raises(UserError, match="must both be 0"):
            session.send(one)
    session.send(*both)
    assert session.step().commands == both
    assert (planned.planner.settings.transition_place, planned.planner.settings.transition_speed) == (0.1, 1.0)


def test_one_bad_command_of_several_takes_none(scene, goal, small):
    session = Session(scene, Planned(CPBP(scene, small, 0, 1), goal), scene.state())
    with pytest.raises(UserError, match="no body 'torzo'"):
        session.send(SetParameter("spread", 2), Push("torzo", (1, 0, 0)))
    assert session.step().commands == ()


# JSON -----------------------------------------------------------------------------------------------

COMMANDS = [
    Push("torso", (400.0, 0.0, 0.0)),
    Drag("left_hand", (1.0, 2.0, 3.0), (0.1, 0.0, 0.0), 5.0, 1.0),
    Release(),
    Explode((0.0, 1.0, 0.0), 2.0),
    Throw((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), "ball"),
    Throw((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), aimed=True),
    SetGoal("balance", (1.0, 0.0)),
    SetGoal("balance"),
    SetGoal("reach", target=(0.5, -0.25, 1.5), hand="right"),
    SetGoal("ball-reach", target=(0.5, -0.25, 1.5), hand="left", ball="globe"),
    SetGoal("steer", velocity=(1.25, 0.0)),
    SetGoal("juggle", ball="ball"),
    SetParameter("calm.speed", 0.5),
    Walk(speed=0.5, heading=-1.0, style="happy"),
    Walk(),
    Do("go to crate; lift it"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_commands_travel_as_json(command):
    text = msgspec.json.encode(command)
    assert decode(text) == command
    assert decode(text.decode()) == command
    assert json.loads(text)["type"] == type(command).__name__.lower()


def test_the_documented_form():
    assert decode('{"type": "push", "body": "torso", "force": [400, 0, 0]}') == Push("torso", (400.0, 0.0, 0.0))
    assert decode('{"type": "do", "script": "go to crate; lift it"}') == Do("go to crate; lift it")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('{"goal": "reach", "target": [1, 0, 1.5]}', SetGoal("reach", target=(1.0, 0.0, 1.5))),
        ('{"goal": "reach", "target": [1, 0, 1.5], "hand": "right"}', SetGoal("reach", None, (1.0, 0.0, 1.5), "right")),
        ('{"goal": "steer", "velocity": [0, -1]}', SetGoal("steer", velocity=(0.0, -1.0))),
        ('{"goal": "ball", "ball": "globe"}', SetGoal("ball", ball="globe")),
        ('{"goal": "balance", "facing": null}', SetGoal("balance")),
    ],
)
def test_goals_with_options_from_json(text, command):
    assert decode('{"type": "setgoal", ' + text[1:]) == command


BAD_JSON = [
    ('{"type": "setgoal"}', "missing required field `goal`"),
    ('{"type": "setgoal", "goal": "reach", "target": [1, 2]}', "length 3"),
    ('{"type": "setgoal", "goal": "reach", "target": [1, 2, "x"]}', "Expected `float`"),
    ('{"type": "setgoal", "goal": "reach", "target": [1, 2, NaN]}', "malformed"),
    ('{"type": "setgoal", "goal": "steer", "velocity": [1, 2, 3]}', "length 2"),
    ('{"type": "setgoal", "goal": "reach", "hand": 3}', "Expected `str | null`"),
    ('{"type": "setgoal", "goal": "reach", "foot": "left"}', "unknown field `foot`"),
    ('{"type": "do"}', "missing required field `script`"),
    ('{"type": "do", "script": ["lift"]}', "Expected `str`"),
    ("", "truncated"),
    ("push", "malformed"),
    ("[]", "Expected `object`"),
    ("{}", "missing required field `type`"),
    ('{"type": "kick"}', "Invalid value 'kick'"),
    ('{"type": "release", "now": 1}', "unknown field `now`"),
    ('{"type": "push", "body": "torso"}', "missing required field `force`"),
    ('{"type": "push", "body": 3, "force": [1, 2, 3]}', "Expected `str`"),
    ('{"type": "push", "body": "torso", "force": [1, 2]}', "length 3"),
    ('{"type": "push", "body": "torso", "force": [1, 2, "3"]}', "Expected `float`"),
    ('{"type": "push", "body": "torso", "force": [1, 2, NaN]}', "malformed"),
    ('{"type": "push", "body": "torso", "force": [1, 2, 1e999]}', "out of range"),
    ('{"type": "setparameter", "name": "samples", "value": Infinity}', "malformed"),
    ("[" * 100_000, "Expected `object`"),
    ('{"type": "release", "x": ' + "[" * 100_000 + "}", "unknown field"),
]


@pytest.mark.parametrize(("text", "message"), BAD_JSON, ids=[text[:40] for text, _ in BAD_JSON])
def test_bad_json_is_refused(text, message):
    with pytest.raises(UserError, match="^not a command: .*" + re.escape(message)):
        decode(text)


def test_bad_bytes_are_refused():
    with pytest.raises(UserError, match="not a command"):
        decode(b'{"type": "push", "body": "\xff", "force": [1, 2, 3]}')
