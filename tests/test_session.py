"""The live loop: commands in closed form, what controllers see, what listeners hear."""

import json
import re

import msgspec
import mujoco
import numpy as np
import pytest
from conftest import Still

from tumble.characters import biped
from tumble.control.controller import Controller
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals import balance
from tumble.goals.behaviours import HASTE
from tumble.goals.wants import Balance, Do, Go, Juggle, Meet, Reach, StayOn, Together
from tumble.live.commands import Drag, Explode, Push, Release, SetParameter, Throw, decode
from tumble.live.session import Session
from tumble.planners import CPBP, PLANNERS, Planned
from tumble.planners.splines import CEM, CEMSettings
from tumble.skills.acts import GoTo, LetGo, Wait
from tumble.world.props import PARKED, Ball, Box, Crate
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

    def spied(control, drive):
        seen.append(session.world.view("xfrc_applied")[0].copy())
        act(control, drive)

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
    assert applied(high)[torso] == pytest.approx([106, 9, 0, 0, 0, 0])  # 0.01 s are 0.3 of a frame
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
    place, reach = scene.show(session.entered.state).body("torso").xipos, np.array([0.1, -0.2, 0.3])
    session.send(Drag("torso", tuple(place + reach), stiffness=1e-3, damping=0.0))
    below = tuple(scene.show(session.entered.state).body("torso").xpos - place)
    force = mass(scene) * 1e-3 * (reach - below)
    assert applied(session)[scene.body("torso"), :3] == pytest.approx(force, rel=1e-4)


def test_a_drag_pulls_to_its_target_until_release(scene, still):
    session = Session(scene, still, scene.state())
    target = scene.show(session.entered.state).body("left_hand").xpos + np.array([0.3, 0.3, 0.2])

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
    hand = scene.show(session.entered.state).body("left_hand").xpos
    session.send(Drag("left_hand", tuple(hand + np.array([0, 0, 1.5]))))
    most = 1.5 * 20 * mass(scene)  # N, at the start; yielding and damping only take from it
    for _ in range(60):
        assert np.linalg.norm(applied(session)[scene.body("left_hand"), :3]) < most
    assert np.abs(session.world.view("qvel")[0, scene.drive.qvel]).max() < 1  # hangs there, unshaken
    assert session.world.view("left_hand.pos")[0, 2] > hand[2] + 0.7


def test_a_new_drag_replaces_the_old_one(high):
    high.send(Drag("left_hand", (0, 0, 0)))
    high.send(Drag("right_hand", (0, 0, 0)))
    forces = applied(high)
    assert not forces[high.scene.body("left_hand")].any()
    assert forces[high.scene.body("right_hand")].any()


# Balls and blasts -----------------------------------------------------------------------------------


def test_throw_places_the_ball(ball_scene, ball_still):
    session = Session(ball_scene, ball_still, ball_scene.state())
    session.send(Throw((2.0, 1.0, 3.0), (-5.0, 0.0, 1.0)))
    session.step()
    data = ball_scene.show(session.world.state[0])
    dt = ball_scene.dt
    speed = np.array([-5.0, 0.0, 1.0]) + GRAVITY * dt
    assert data.joint("ball").qvel == pytest.approx([*speed, 0, 0, 0], abs=1e-9)
    assert data.joint("ball").qpos == pytest.approx([*(np.array([2.0, 1.0, 3.0]) + speed * dt), 1, 0, 0, 0], abs=1e-9)
    seen = ball_scene.show(ball_still.states[0])  # the controller sees it coming, before it has moved
    assert seen.joint("ball").qpos[:3] == pytest.approx([2.0, 1.0, 3.0])


@pytest.mark.parametrize("height", [0, -0.5, -9.0])
def test_an_aimed_throw_counts_from_where_the_character_is(ball_scene, ball_still, height):
    session = Session(ball_scene, ball_still, ball_scene.place(ball_scene.state(), (3.0, -2.0)))
    root = session.world.view("qpos")[0, :3].copy()
    session.send(Throw((4, 1, height), (-5, 0, 1), aimed=True))  # whole numbers too
    session.step()
    seen = ball_scene.show(ball_still.states[0]).joint("ball")
    assert seen.qpos == pytest.approx([7.0, -1.0, max(root[2] + height, 0.15), 1, 0, 0, 0])  # not in the ground
    assert seen.qvel == pytest.approx([-5, 0, 1, 0, 0, 0])


def test_a_ball_waits_far_away_and_hits_when_thrown(ball_scene, ball_still):
    session = Session(ball_scene, ball_still, ball_scene.state())
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


def test_wants_and_parameters_reach_the_controller(scene, still):
    session = Session(scene, still, scene.state())
    session.send(Balance(facing=(0.0, 2.0)))
    session.send(SetParameter("calm.speed", 0.5))
    assert (still.wants, still.parameters, session.wanted) == ([], [], None)
    session.step()
    assert still.parameters == [{"calm.speed": 0.5}]
    assert still.wants == [Balance(facing=(0.0, 2.0))] == [session.wanted]


def test_wants_and_parameters_reach_a_planner(scene, goal, small):
    planned = Planned(CPBP(scene, small, 0, 1), goal)
    session = Session(scene, planned, scene.state())
    session.step()
    assert planned.latest.values.shape == (6, 7)
    session.send(Balance(facing=(0.0, 2.0)))
    session.send(SetParameter("samples", 4))
    session.step()
    assert planned.latest.values.shape == (6, 8)
    assert planned.latest.paths.shape[0] == 4
    assert planned.goal.names == balance(scene, (0, 1)).names
    assert planned.goal.terms[-1].direction == pytest.approx((0, 1))


@pytest.mark.parametrize(
    ("want", "name"),
    [
        (Reach((0.5, 0.2, 1.2), "right"), "reach"),
        (StayOn(), "above_ball"),
        (Together((StayOn(), Reach((0.5, 0.2, 2.2)))), "over_ball"),
        (Juggle("ball"), "under_ball"),
        (Go(speed=1.0), "velocity"),
        (Go(speed=1.0, style="turbo"), "velocity"),
        (Go(speed=1.0, style="gait"), "course_velocity"),
        (Go(target=(3.0, 1.0, 0.0)), "course_velocity"),
        (Meet("steer", {"velocity": (1.0, 0.0)}), "velocity"),
    ],
    ids=str,
)
def test_every_want_of_a_planner_can_be_sent(ball_scene, small, want, name):
    planned = Planned(CPBP(ball_scene, small, 0, 1), balance(ball_scene))
    session = Session(ball_scene, planned, ball_scene.state())
    session.send(want)
    assert session.step().commands == (want,)
    assert session.wanted == want
    assert name in planned.goal.names
    assert planned.latest.values.shape == (6, len(planned.goal.names))
    assert np.isfinite(planned.latest.cost)


def test_options_reach_the_goal(ball_scene, small):
    planned = Planned(CPBP(ball_scene, small, 0, 1), balance(ball_scene))
    session = Session(ball_scene, planned, ball_scene.state(), Reach((0.5, 0.2, 1.2), "right"))
    reach = planned.goal
    session.send(Go(speed=2.0, heading=-np.pi / 6))
    session.step()
    steer = planned.goal
    assert (reach.terms[-2].hand, reach.terms[-2].target) == ("right_hand", (0.5, 0.2, 1.2))
    assert steer.terms[steer.names.index("velocity")].target == pytest.approx(HASTE * np.array((np.sqrt(3), -1.0, 0.0)))


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
    hand = scene.show(session.entered.state).body("left_hand").xpos
    session.send(Drag("left_hand", tuple(hand + np.array([0.0, 0.005, 1.0]))))
    session.step()
    assert still.directions == [None]


def test_pushes_and_blasts_draw_no_look(scene, still):
    session = Session(scene, still, scene.state())
    session.send(Push("torso", (300, 0, 0), seconds=1.0))
    session.send(Explode((1.0, 0.0, 0.0)))
    session.step()
    assert still.directions == [None]


def test_dragging_a_ball_is_not_dragging_the_character(ball_scene, ball_still):
    session = Session(ball_scene, ball_still, ball_scene.state())
    session.send(Throw((2.0, 0.0, 0.15), (0.0, 0.0, 0.0)))
    session.send(Drag("ball", (3.0, 0.0, 0.15)))
    session.step()
    assert ball_still.directions == [None]


def test_while_it_is_dragged_the_character_is_to_look_there(scene, goal, small, monkeypatch):
    planned = Planned(CPBP(scene, small, 0, 1), goal)
    session = Session(scene, planned, scene.state())
    wanted, plan = [], planned.planner.plan
    monkeypatch.setattr(planned.planner, "plan", lambda state, goal: (wanted.append(goal), plan(state, goal))[1])
    hand = scene.show(session.entered.state).body("left_hand").xpos
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
    session.send(Reach((0.5, 0.2, 1.2)))
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


def test_bad_throws(ball_scene, ball_still):
    session = Session(ball_scene, ball_still, ball_scene.state())
    with pytest.raises(UserError, match="no ball 'bal' in the scene of 'humanoid'; there are: ball"):
        session.send(Throw((0, 0, 1), (0, 0, 0), ball="bal"))
    with pytest.raises(UserError, match="velocity must be three numbers within a million"):
        session.send(Throw((0, 0, 1), (0, 0, NAN)))


GOALS = "ball, ball-reach, gait, juggle, reach, steer, turbo"
FAR = (0.0, 2000.0, 1.0)
BAD_WANTS = [
    (Meet("balanse"), f"no goal 'balanse'; there are: balance, {GOALS} (did you mean 'balance'?)"),
    (Meet(""), f"no goal ''; there are: balance, {GOALS}"),
    (Reach(FAR), "target must be 3 numbers within 1000 m, got (0.0, 2000.0, 1.0)"),
    (Reach((NAN, 0.0, 1.0)), "target must be 3 numbers within 1e+06 m, got (nan, 0.0, 1.0)"),
    (Together((StayOn(), Reach((0.0, 0.0, float("inf"))))), "target must be 3 numbers within 1e+06 m"),
    (Together((StayOn(), Reach(FAR))), "target must be 3 numbers within 1000 m"),
    (Meet("reach"), "goal 'reach' needs a target"),
    (Meet("reach", {"hand": "left"}), "goal 'reach' needs a target"),
    (Reach((0.5, 0.0, 1.0), "lefft"), "no hand 'lefft'; there are: left, right (did you mean 'left'?)"),
    (Go(speed=NAN), "speed must be a number -1e+06 or more and at most 1e+06, got nan"),
    (Go(speed=21.0, heading=np.pi / 2, style="turbo"), "velocity must be 2 numbers within 20 m/s, got ("),
    (Go(speed=1.0, style="happy"), "planners know no style 'happy'; they judge going by: steer, turbo, gait"),
    (Go(speed=1.0, bend=0.2), "planners go as they find out, and take no bend"),
    (Go(speed=1.0, target=(1.0, 0.0, 0.0)), "to go takes a target, or a speed and a heading, and not both"),
    (Together((Juggle(), Go(speed=1.0))), "planners do not judge juggle and go at once"),
    (Together((Juggle(), Reach((0.5, 0.0, 1.0)))), "planners reach alone, while going, or while staying on a ball"),
    (Together(()), "together are 1 to 7 wants, got 0"),
    (Meet("steer"), "goal 'steer' needs a velocity"),
    (Juggle("bal"), "no ball 'bal' in the scene of 'humanoid'; there are: ball (did you mean 'ball'?)"),
    (StayOn("torso"), "no ball 'torso' in the scene of 'humanoid'; there are: ball"),
    (Meet("balance", {"target": (0.5, 0.0, 1.0)}), "goal 'balance' takes no target; it takes: facing, pose, roll"),
    (Meet("juggle", {"hand": "left"}), "goal 'juggle' takes no hand; it takes: ball"),
    (
        Meet("reach", {"facing": (1.0, 0.0), "target": (0.5, 0.0, 1.0)}),
        "goal 'reach' takes no facing; it takes: target, hand",
    ),
    (Meet("steer", {"velocity": (1.0, 0.0), "ball": "ball"}), "goal 'steer' takes no ball; it takes: velocity"),
    (Balance(facing=(0.0, NAN)), "facing must be 2 numbers within 1e+06 m, got (0.0, nan)"),
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


@pytest.mark.parametrize(("command", "message"), BAD_WANTS, ids=[message[:50] for _, message in BAD_WANTS])
def test_bad_wants_are_refused_and_the_character_goes_on(ball_scene, small, undisturbed, command, message):
    def interrupt(session, i):
        if i == 1:
            with pytest.raises(UserError, match=f"^{re.escape(message)}"):
                session.send(command)

    assert unmoved(ball_scene, small, 3, interrupt) == undisturbed


def test_wants_for_a_ball_need_one(scene, goal, small):
    session = Session(scene, Planned(CPBP(scene, small, 0, 1), goal), scene.state())
    for want in (StayOn(), Juggle()):
        with pytest.raises(UserError, match=r"no ball 'ball' in the scene; it has none; build it with props=\[Ball"):
            session.send(want)
    assert session.step().commands == ()


class Deaf(Still):
    """Takes neither wants nor parameters."""

    takes = ()
    check_parameters, set_parameters = Controller.check_parameters, Controller.set_parameters

    def refuses(self, sims, want):
        return "Deaf takes no wants"


def test_controllers_without_wants_or_parameters_say_so(scene):
    for command, message in (
        (Balance(), "Deaf takes no wants; controllers that take it: cpbp, pf-mpc, smc, mcts, ps, cem, mppi, walker"),
        (SetParameter("x", 1), "Deaf has no parameter 'x'"),
        (Go(speed=1.0), "Deaf takes no wants; controllers that take it: cpbp"),
        (Do("go to 1 0"), "Deaf takes no wants; controllers that take it: walker, relay$"),
    ):
        session = Session(scene, Deaf(scene), scene.state())
        with pytest.raises(UserError, match=message):
            session.send(command)
        assert session.step().commands == ()
        assert session.wanted is None


REFUSED = [
    (SetParameter("mutatoin", 1.0), "no setting 'mutatoin'"),
    (SetParameter("samples", 1), "samples must be a number 2 or more"),
    (SetParameter("samples", 8.5), "samples must be a whole number, got 8.5"),
    (SetParameter("horizon", 0), "horizon must be a number"),
    (SetParameter("calm.speed", -1), "speed must be a number above 0"),
    (Balance((0.0, 0.0)), "length of the facing direction"),
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


WALKS = "cpbp, pf-mpc, smc, mcts, ps, cem, mppi"


@pytest.fixture(scope="module")
def post_scene() -> Scene:
    """The biped, a post and a crate."""
    return Scene(biped(), [Box("Post", (3.0, 0.0, 0.5), (0.1, 0.1, 0.5)), Crate("crate", (1.5, 0.5, 0.2), mass=15.0)])


def walking(scene: Scene, want=None, controller: str = "walker") -> Session:
    """A session of a walker, or of another controller by its name."""
    kind = CONTROLLERS[controller]
    settings = kind.settings(samples=8, horizon=0.2) if controller in PLANNERS else kind.settings()
    return Session(scene, kind.make(scene, settings, 0, 1), scene.state(), want)


@pytest.mark.parametrize(
    ("controller", "want", "message"),
    [
        ("cpbp", Do("go to 1 0"), "planners do no scripts; controllers that take it: walker, relay"),
        ("cpbp", Do("Jump; twist"), "planners do no scripts; controllers that take it: walker, tree, relay"),
        ("walker", Juggle(), f"a walker does not juggle; controllers that take it: {WALKS}"),
        ("walker", StayOn(), f"a walker does not stay on a ball; controllers that take it: {WALKS}"),
        ("relay", Meet("steer"), f"a walker does not meet a goal; controllers that take it: {WALKS}"),
        ("walker", Together((StayOn(), Reach((0.3, 0.2, 1.4)))), f"; controllers that take it: {WALKS}"),
        ("walker", Together((Do("wait 1 s"), Juggle())), "a walker does not juggle; controllers that take it: none"),
        ("walker", Together((Do("wait 1 s"), Reach((0.3, 0.2, 1.4)))), "a walker does not do and reach at once"),
        ("walker", Do("lfit post"), "line 1: no act 'lfit post'"),
        ("walker", Do(""), "there is no act in this script"),
        (
            "walker",
            Do("go to 1 0; lift crat"),
            "act 2, 'lift crat': no prop 'crat' in the scene; there are: Post, crate (did you mean 'crate'?)",
        ),
        ("walker", Go(style="hapy"), "no style 'hapy'; there are: "),
        ("walker", Go(speed=9.0), "speed must be a number -1 or more and at most 2, got 9"),
        (
            "walker",
            Reach((0.0, 0.0, 9.0)),
            "height in m of what is reached for must be a number 0 or more and at most 1.9",
        ),
    ],
    ids=str,
)
def test_what_a_controller_does_not_do_is_refused_and_who_does_it_is_named(post_scene, controller, want, message):
    session = walking(post_scene, controller=controller)
    with pytest.raises(UserError) as caught:
        session.send(want)
    assert message in str(caught.value)
    assert session.step().commands == ()
    assert session.wanted is None
    with pytest.raises(UserError) as again:
        walking(post_scene, want, controller)
    assert str(again.value) == str(caught.value)


def test_a_refused_want_leaves_the_one_before(post_scene):
    session = walking(post_scene, Go(speed=0.5))
    with pytest.raises(UserError):
        session.send(Juggle())
    session.step()
    assert session.wanted == Go(speed=0.5)


@pytest.mark.parametrize(
    "commands",
    [
        (Push("torso", (100, 0, 0), seconds=1.0), Go(speed=0.7), Juggle()),
        (Go(speed=0.7), Do("wait 1 s"), Go(style="nobody")),
        (Go(speed=0.7), SetParameter("stand.idle_after", 1.0), Push("torzo", (1, 0, 0))),
        (Go(speed=0.7), Drag("torso", (1, 0, 1)), SetParameter("nothing", 1.0)),
        (Do("wait 1 s"), Go(target=(float("nan"), 0.0, 0.0))),
    ],
    ids=str,
)
def test_several_commands_are_all_taken_or_none(post_scene, commands):
    told, other = walking(post_scene, Go(speed=0.5)), walking(post_scene, Go(speed=0.5))
    for session in (told, other):
        session.step()
    with pytest.raises(UserError):
        told.send(*commands)
    assert told.wanted == Go(speed=0.5)
    assert not told.forced
    for _ in range(3):
        frame = told.step()
        assert frame.commands == ()
        assert frame.state.tobytes() == other.step().state.tobytes()


def test_a_want_is_judged_with_those_that_wait(post_scene):
    """A planner takes a speed and takes a place, and a manner with neither."""
    session = walking(post_scene, controller="cpbp")
    session.send(Go(speed=0.5))
    with pytest.raises(UserError, match="planners go as they find out, and take no bend"):
        session.send(Go(bend=0.1))
    session.send(Balance())
    session.step()
    assert session.wanted == Balance()


def test_what_is_not_spoken_of_stays_wanted(post_scene):
    """Between frames and within one."""
    wanted = [
        ((Go(speed=0.5),), Go(speed=0.5)),
        ((Go(heading=1.0),), Go(speed=0.5, heading=1.0)),
        ((Go(style="happy"), Go(bend=0.2)), Go(speed=0.5, heading=1.0, style="happy", bend=0.2)),
        ((Go(speed=0.0),), Go(speed=0.0, heading=1.0, style="happy", bend=0.2)),
        ((Do("wait 9 s"),), Together((Do("wait 9 s"), Go(style="happy", bend=0.2)))),
        ((Go(style="sneak"),), Together((Do("wait 9 s"), Go(style="sneak", bend=0.2)))),
        ((Go(speed=0.3),), Go(speed=0.3, style="sneak", bend=0.2)),  # ends the script
        ((Go(target=(2.0, 0.0, 0.0)),), Go(target=(2.0, 0.0, 0.0), style="sneak", bend=0.2)),
        ((Balance(),), Balance()),
        ((Go(heading=2.0),), Go(heading=2.0)),
    ]
    session = walking(post_scene)
    for commands, expected in wanted:
        session.send(*commands)
        session.step()
        assert session.wanted == expected


def test_a_script_begins_again_only_when_one_is_sent(post_scene):
    session = walking(post_scene, Do("wait 0.1 s; wait 9 s; wait 9 s"))
    performer = session.controller

    def doing() -> str:
        session.step()
        return performer.report().doing

    def until_second() -> None:
        for _ in range(10):
            if doing() == "wait 9 s":
                return
        raise AssertionError

    assert doing() == "wait 0.1 s"
    until_second()
    for command in (
        Go(style="happy"),
        Go(bend=0.1),
        SetParameter("stand.idle_after", 1.0),
        Push("torso", (10.0, 0.0, 0.0)),
    ):
        session.send(command)
        assert doing() == "wait 9 s"
    session.enter(Scene(post_scene.character, [*post_scene.props, Ball()]))
    assert doing() == "wait 9 s"
    session.send(Do("wait 0.1 s; wait 9 s; wait 9 s"))  # the same words
    assert doing() == "wait 0.1 s"
    until_second()
    session.send(Go(speed=0.3))
    assert doing() == ""


def test_scripts_are_read_with_the_names_of_props(post_scene):
    session = walking(post_scene)
    session.send(Do("GO TO post; wait 2 s; let go"))
    assert session.controller.script == ()
    session.step()
    assert session.controller.script == (GoTo("Post"), Wait(2.0), LetGo())


# Another scene, another time ------------------------------------------------------------------------


def twin(scene: Scene) -> Scene:
    """The same scene, made again."""
    return Scene.from_recipe(scene.recipe)


def busy(scene: Scene, controller: str, want) -> Session:
    """A session in which much goes on."""
    session = walking(scene, want, controller)
    for _ in range(3):
        session.step()
    trunk, hand = scene.character.trunk, scene.character.hands[0]
    session.send(Push(trunk, (40.0, 20.0, 0.0), seconds=0.2), Drag(hand, (0.5, 0.5, 1.2)))
    session.step()
    return session


MINDS = [
    ("cpbp", Reach((0.4, 0.2, 1.3))),
    ("smc", Balance()),
    ("cem", Go(speed=0.5)),
    ("walker", Go(speed=0.6, style="happy")),
    ("walker", Do("go to 1 0; wait 1 s")),
    ("relay", Go(speed=0.6)),
]


@pytest.mark.parametrize(("controller", "want"), MINDS, ids=str)
def test_who_enters_the_same_scene_goes_on_to_the_last_bit(controller, want):
    """Plan, memory, wants, pushes, drags, time: all is kept."""
    scene = Scene(biped(), [Ball()])
    here, there = busy(scene, controller, want), busy(twin(scene), controller, want)
    for i in range(6):
        if i == 1:
            there.enter(twin(scene))
            assert (there.index, there.time, there.wanted, there.forced) == (here.index, here.time, want, True)
            assert there.scene is there.controller.scene is there.world.scene
        one, two = here.step(), there.step()
        assert one.state.tobytes() == two.state.tobytes()
        assert one.control.tobytes() == two.control.tobytes()
    assert here._forces.left() == there._forces.left() == (here.drag,)  # the pushes are over


def test_who_enters_another_scene_keeps_what_it_knows(scene, ball_scene, small):
    session = Session(scene, Planned(CPBP(scene, small, 0, 1)), scene.state(), Reach((0.4, 0.2, 1.3)))
    session.send(Push("torso", (50.0, 0.0, 0.0), seconds=0.2), SetParameter("calm.speed", 0.3))
    for _ in range(2):
        session.step()
    before, joints = session.world.state[0].copy(), scene.model.nq
    planner = session.controller.planner
    kept = {name: getattr(planner, name) for name in planner.carried}
    session.enter(ball_scene)
    planner = session.controller.planner
    assert all(getattr(planner, name) is value for name, value in kept.items()) and kept
    assert planner.settings.calm.speed == 0.3
    assert session.world.state[0, 0] == before[0] and session.time == pytest.approx(2 * scene.dt)
    assert np.array_equal(session.world.view("qpos")[0, :joints], before[1 : 1 + joints])
    assert applied(session)[ball_scene.body("torso")] == pytest.approx([50, 0, 0, 0, 0, 0])
    assert session.wanted == Reach((0.4, 0.2, 1.3))
    assert "reach" in session.controller.goal.names
    session.send(Juggle())  # there is a ball now
    session.step()


def test_learning_goes_on_in_another_scene(scene, ball_scene):
    mcts = CONTROLLERS["mcts"]
    session = Session(scene, mcts.make(scene, mcts.settings(samples=8, horizon=0.2), 0, 1), scene.state())
    for _ in range(3):
        session.step()
    learner = session.controller.planner.learner
    assert len(learner) == 3
    session.enter(ball_scene)
    session.step()
    assert session.controller.planner.learner is learner and len(learner) == 4


def test_forces_on_what_is_gone_end(ball_scene, ball_still, scene):
    session = Session(ball_scene, ball_still, ball_scene.state())
    session.send(Push("ball", (1.0, 0.0, 0.0), seconds=1.0), Drag("ball", (1.0, 0.0, 1.0)))
    session.step()
    assert session.forced
    session.enter(scene)
    assert not session.forced
    session.step()


def test_a_set_in_which_the_wanted_cannot_be_done_is_not_entered(ball_scene, scene, small):
    session = Session(ball_scene, Planned(CPBP(ball_scene, small, 0, 1)), ball_scene.state(), Juggle())
    session.step()
    with pytest.raises(UserError, match="no ball 'ball' in the scene; it has none"):
        session.enter(scene)
    session.step()
    assert session.scene is session.controller.scene is ball_scene


@pytest.mark.parametrize(("controller", "want"), MINDS[3:], ids=str)
def test_a_walker_that_is_rewound_does_the_same_again(controller, want):
    """Laws have all their memory in the state."""
    scene = Scene(biped(), [Ball()])
    session = walking(scene, want, controller)
    for _ in range(20):
        state = session.step().state
    frames = [session.step() for _ in range(15)]
    session.rewind(scene, state, 20, session.wanted)
    assert (session.index, session.wanted, session.forced) == (20, want, False)
    for frame in frames:
        again = session.step()
        assert (again.index, again.time) == (frame.index, frame.time)
        assert again.state.tobytes() == frame.state.tobytes()


def test_a_planner_that_is_rewound_begins_anew_from_that_state(scene, goal, small):
    session = Session(scene, Planned(CPBP(scene, small, 0, 1), goal), scene.state())
    state = session.step().state
    session.step()
    session.rewind(scene, state, 1)
    fresh = Session(scene, Planned(CPBP(scene, small, 0, 1), goal), state)
    for i in range(3):
        frame = session.step()
        assert frame.index == 1 + i
        assert frame.state.tobytes() == fresh.step().state.tobytes()


def test_time_that_is_turned_back_ends_pushes(scene, still):
    session = Session(scene, still, scene.state())
    session.send(Push("torso", (50.0, 0.0, 0.0), seconds=1.0))
    session.step()
    session.rewind(scene, scene.state(), 0)
    assert not session.forced and not applied(session).any()


# Frames ---------------------------------------------------------------------------------------------


def test_a_frame_tells_who_acted_and_how(post_scene):
    planned, walked, relayed = (walking(post_scene, controller=name).step() for name in ("cpbp", "walker", "relay"))
    assert (planned.law, planned.drive, planned.acting) == (False, "servo", "")
    assert (walked.law, walked.drive, walked.acting) == (True, "torque", "")
    assert (relayed.law, relayed.drive, relayed.acting) == (True, "torque", "walking")
    assert planned.control.shape == (post_scene.drives["servo"].size,)
    assert walked.control.shape == (post_scene.drives["torque"].size,)
    assert planned.time == walked.time == relayed.time == pytest.approx(1 / 30)


def test_the_control_of_a_law_is_its_mean_over_the_steps_of_a_frame(scene):
    drive, asked = scene.drives["torque"], []

    class Growing(Still):
        """A law whose controls grow from step to step."""

        @property
        def drive(self):
            return drive

        def control(self, sims):
            return self.law

        def law(self, sims):
            asked.append(0.001 * (1 + len(asked)))
            return np.full((1, drive.size), asked[-1])

    frame = Session(scene, Growing(scene), scene.state()).step()
    assert len(asked) == drive.steps == 17
    assert frame.law and frame.control == pytest.approx(np.full(drive.size, 0.009))


# JSON -----------------------------------------------------------------------------------------------

COMMANDS = [
    Push("torso", (400.0, 0.0, 0.0)),
    Drag("left_hand", (1.0, 2.0, 3.0), (0.1, 0.0, 0.0), 5.0, 1.0),
    Release(),
    Explode((0.0, 1.0, 0.0), 2.0),
    Throw((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), "ball"),
    Throw((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), aimed=True),
    Balance((1.0, 0.0)),
    Balance(pose="ready", roll=True),
    Balance(),
    Reach((0.5, -0.25, 1.5), "right"),
    Reach((0.5, -0.25, 1.5)),
    Together((StayOn("globe"), Reach((0.5, -0.25, 1.5)))),
    StayOn(),
    Juggle("ball"),
    Go(speed=0.5, heading=-1.0, style="happy"),
    Go(target=(1.0, 2.0, 0.0), period=0.5, step_height=0.1, step_width=0.2, bend=0.1, crouch=0.3),
    Go(),
    Meet("mine", {"depth": 2.0, "name": "x"}),
    SetParameter("calm.speed", 0.5),
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
        ('{"type": "reach", "target": [1, 0, 1.5]}', Reach((1.0, 0.0, 1.5))),
        ('{"type": "reach", "target": [1, 0, 1.5], "hand": "right"}', Reach((1.0, 0.0, 1.5), "right")),
        ('{"type": "go", "speed": 1, "heading": -1}', Go(speed=1.0, heading=-1.0)),
        ('{"type": "stayon", "ball": "globe"}', StayOn("globe")),
        ('{"type": "balance", "facing": null}', Balance()),
        ('{"type": "together", "wants": [{"type": "stayon"}, {"type": "go"}]}', Together((StayOn(), Go()))),
    ],
)
def test_wants_from_json(text, command):
    assert decode(text) == command


BAD_JSON = [
    ('{"type": "setgoal", "goal": "balance"}', "Invalid value 'setgoal'"),
    ('{"type": "reach"}', "missing required field `target`"),
    ('{"type": "reach", "target": [1, 2]}', "length 3"),
    ('{"type": "reach", "target": [1, 2, "x"]}', "Expected `float`"),
    ('{"type": "reach", "target": [1, 2, NaN]}', "malformed"),
    ('{"type": "balance", "facing": [1, 2, 3]}', "length 2"),
    ('{"type": "reach", "target": [1, 2, 3], "hand": 3}', "Expected `str`"),
    ('{"type": "reach", "target": [1, 2, 3], "foot": "left"}', "unknown field `foot`"),
    ('{"type": "go", "speed": "fast"}', "Expected `float | null`"),
    ('{"type": "together"}', "missing required field `wants`"),
    ('{"type": "together", "wants": [{"type": "together", "wants": []}]}', "Invalid value 'together'"),
    ('{"type": "together", "wants": [{"type": "release"}]}', "Invalid value 'release'"),
    ('{"type": "meet", "goal": "reach", "options": []}', "Expected `object`"),
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
