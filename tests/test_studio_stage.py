"""The studio's show without browsers: pace, timeline, a person's hand, and the stage that plays a trial in a thread."""

import re
import threading
from dataclasses import replace

import numpy as np
import pytest

from tumble.errors import UserError
from tumble.goals.judging import goal_of
from tumble.goals.wants import Balance, Go, Juggle, Reach, StayOn
from tumble.live.commands import Drag, Explode, Push, Release, SetParameter, Throw
from tumble.live.recording import Recording
from tumble.planners import CEMSettings, MPPISettings
from tumble.scenarios import SCENARIOS, Trial, run_trial
from tumble.scenarios.locomotion import PACE
from tumble.studio import stage as stage_module
from tumble.studio.choice import Choice, bodies
from tumble.studio.director import WAITING, Director
from tumble.studio.pace import Clock
from tumble.studio.packet import BROKEN, HEADER, PAST, PAUSED, RECORDING
from tumble.studio.stage import Stage
from tumble.studio.timeline import SECONDS, Moment, Timeline
from tumble.world.props import Box

PATIENCE = 30.0  # s; a wait that takes as long has failed


# Clock -----------------------------------------------------------------------------------------------


class FakeClock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def played(pace: Clock, clock: FakeClock, frames: int, seconds: float = 0.0) -> list[float]:
    """When frames begin that take some seconds each, made as soon as they are due."""
    times = []
    for _ in range(frames):
        clock.now += pace.wait
        times.append(clock.now - 100)
        clock.now += seconds
        pace.ticked()
    return times


@pytest.mark.parametrize(("speed", "period"), [(1.0, 0.25), (0.5, 0.5), (2.0, 0.125)])
def test_frames_come_at_the_speed_that_is_asked_for(speed, period):
    pace = Clock(0.25, clock := FakeClock())
    pace.speed = speed
    assert played(pace, clock, 4, seconds=0.1) == pytest.approx([0, period, 2 * period, 3 * period])


def test_of_lost_time_one_frame_is_made_up_for():
    pace = Clock(0.25, clock := FakeClock())
    played(pace, clock, 1, seconds=10.0)
    # the one that was due at 9.75, the one that is due at 10, and then no hurry
    assert played(pace, clock, 4) == pytest.approx([10, 10, 10.25, 10.5])


def test_who_is_too_slow_never_waits_and_shows_it():
    pace = Clock(0.125, clock := FakeClock())
    assert played(pace, clock, 5, seconds=0.25) == pytest.approx([0, 0.25, 0.5, 0.75, 1.0])
    assert (pace.wait, pace.rate, pace.realtime) == (0, pytest.approx(4), pytest.approx(0.5))


def test_rates_are_of_the_last_second():
    pace = Clock(0.03125, clock := FakeClock())
    assert (pace.rate, pace.realtime) == (0, 0)
    played(pace, clock, 1)
    assert pace.rate == 0  # one frame has no rate
    played(pace, clock, 9)
    assert (pace.rate, pace.realtime) == (pytest.approx(32), pytest.approx(1))
    pace.speed = 0.25
    played(pace, clock, 20)
    assert (pace.rate, pace.realtime) == (pytest.approx(8), pytest.approx(0.25))
    clock.now += 5
    pace.ticked()
    assert (pace.rate, pace.realtime) == (pytest.approx(0.2), pytest.approx(0.2 * 0.03125))  # slower, never unknown


def test_a_restart_is_due_now_and_knows_nothing_of_before():
    pace = Clock(0.5, clock := FakeClock())
    played(pace, clock, 3)
    pace.restart(0.125)
    assert (pace.wait, pace.rate) == (0, 0)
    clock.now = 100.0
    pace.restart(0.125)
    assert played(pace, clock, 3) == pytest.approx([0, 0.125, 0.25])


# Timeline -------------------------------------------------------------------------------------------


def moment(tick: int) -> Moment:
    return Moment(tick, tick / 30, np.full(3, tick), b"", None, 1, ())


def test_a_timeline_keeps_the_last_moments():
    timeline = Timeline(SECONDS / 4)
    assert (len(timeline), timeline.oldest, timeline.newest) == (0, 0, 0)
    with pytest.raises(UserError, match="the timeline is empty; let the character move first"):
        timeline.at(0)
    for tick in range(7, 13):
        timeline.add(moment(tick))
    assert (len(timeline), timeline.oldest, timeline.newest) == (4, 9, 12)
    assert [timeline.at(tick).tick for tick in range(9, 13)] == [9, 10, 11, 12]
    for tick in (8, 13, -1, 10**30):
        with pytest.raises(UserError, match=f"the timeline holds ticks 9 to 12, not {tick}"):
            timeline.at(tick)


def test_a_timeline_forgets_what_came_after_a_cut():
    timeline = Timeline(SECONDS / 100)
    for tick in range(5, 20):
        timeline.add(moment(tick))
    timeline.cut(30)
    assert timeline.newest == 19
    timeline.cut(11)
    assert (timeline.oldest, timeline.newest, len(timeline)) == (5, 11, 7)
    timeline.add(moment(12))
    assert timeline.at(12).state[0] == 12
    timeline.cut(4)
    assert len(timeline) == 0
    timeline.add(moment(1))
    timeline.clear()
    assert (len(timeline), timeline.newest) == (0, 0)


def test_two_minutes_are_kept(scene):
    timeline = Timeline(scene.dt)
    for tick in range(5000):
        timeline.add(moment(tick))
    assert len(timeline) == pytest.approx(120 * 30)


# A person's hand -------------------------------------------------------------------------------------


def directed(choice: Choice, *settings) -> Director:
    return Director(choice.trial(*settings))


@pytest.fixture
def hand(small) -> Director:
    """The humanoid stands."""
    return directed(Choice("stand"), 1, small)


def stepped(hand: Director, frames: int) -> list[np.ndarray]:
    return [hand.trial.step().state for _ in range(frames)]


def state_of(hand: Director) -> np.ndarray:
    return hand.trial.session.world.state[0].copy()


@pytest.mark.parametrize(("scenario", "seconds"), [("push", 2.2), ("steer", 0.3), ("reach", 0.3), ("juggle", 0.3)])
def test_a_choice_makes_the_headless_trial_to_the_last_bit(small, scenario, seconds):
    hand, states = directed(Choice(scenario, seed=3), 1, small), []
    trial = Trial(SCENARIOS[scenario].make(), 3, "cpbp", settings=small, threads=1, seconds=seconds)
    run_trial(trial, lambda session: session.listeners.append(lambda session, frame: states.append(frame.state)))
    assert np.array_equal(stepped(hand, len(states)), states)
    assert len(states) == round(30 * seconds)
    assert hand.trial.time == pytest.approx(seconds)


def test_seeds_differ_and_threads_do_not(small):
    runs = [
        np.array(stepped(directed(Choice("getup", seed=seed), threads, small), 4))
        for seed, threads in ((1, 1), (1, 2), (2, 1))
    ]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_a_choice_decides_everything(small):
    hand = directed(Choice("ball", "humanoid-light", "cem", 5), 1)
    assert hand.trial.scene.character.name == "humanoid-light"
    assert [prop.name for prop in hand.trial.scene.props] == ["ball"]
    assert isinstance(hand.trial.controller.planner.settings, CEMSettings)
    assert (hand.trial.session.asked, hand.goal, hand.trial.controller.planner._seed) == (StayOn(), "ball", 5)
    assert directed(Choice(), 1, small).trial.controller.planner.settings == small


def test_options_of_a_scenario_count(small):
    plain, strong = (directed(Choice("push", options=options), 1, small) for options in ((), (("force", 900.0),)))
    ((_, push),), ((_, harder),) = plain.trial.setup.events, strong.trial.setup.events
    assert np.hypot(*push.force[:2]) == pytest.approx(400)
    assert np.hypot(*harder.force[:2]) == pytest.approx(900)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice("stnd"), "no scenario 'stnd'; there are: ball"),
        (Choice("push", options=(("farce", 1.0),)), "no setting 'farce'; there are: force (did you mean 'force'?)"),
        (Choice("push", options=(("force", -1.0),)), "force must be a number 0 or more"),
        (Choice(character="human"), "no character 'human'; there are: "),
        (Choice(controller="cpb"), "no controller 'cpb'; there are: cem, cpbp"),
        (Choice(seed=-1), "seed must be a number 0 or more"),
        (Choice(seed=2**64), "seed must be a number 0 or more"),
        (Choice("stand", "humanoid", "relay"), "controller 'relay' needs a body with: toes, palms, jointed-back"),
        (Choice("juggle", "biped", "walker"), "a walker does not juggle; controllers that take it: cpbp"),
        (Choice("pick-up", "biped", "cpbp"), "planners do no scripts; controllers that take it: walker, relay"),
    ],
    ids=str,
)
def test_bad_choices_are_refused_in_a_sentence(choice, message):
    with pytest.raises(UserError, match=re.escape(message)):
        directed(choice, 1)


# Steering

REACH = Reach((0.5, 0.1, 1.4), hand="right")
HALF = np.pi / 2


@pytest.mark.parametrize(
    ("x", "y", "turbo", "wanted"),
    [
        (1.0, 0.0, False, Go(speed=PACE, heading=0.0, style="steer")),
        (0.0, -0.5, False, Go(speed=0.5 * PACE, heading=-HALF, style="steer")),
        (0.0, 2.0, False, Go(speed=PACE, heading=HALF, style="steer")),  # no faster than the usual pace
        (-1.0, 0.0, True, Go(speed=PACE, heading=np.pi, style="turbo")),
    ],
)
def test_steering_asks_for_a_velocity(hand, x, y, turbo, wanted):
    hand.steer(x, y, turbo)
    assert hand.trial.step().commands == (wanted,)
    assert hand.trial.session.wanted == wanted
    assert hand.velocity == pytest.approx(wanted.velocity) and hand.goal == wanted.style
    assert "velocity" in hand.trial.controller.goal.names


@pytest.mark.parametrize("before", [REACH, Balance(facing=(0.0, 1.0))], ids=str)
def test_steering_ends_with_what_was_wanted_before(hand, before):
    hand.send(before)
    hand.trial.step()
    hand.steer(0.0, 0.0)  # not steered: nothing to let go of
    assert hand.trial.step().commands == ()
    for x in (1.0, 0.5, 0.7):
        hand.steer(x, 0.0, turbo=x == 0.5)
        hand.trial.step()
    hand.steer(0.03, 0.0)  # as good as let go
    assert hand.trial.step().commands == (before,)
    assert hand.trial.session.asked == before
    hand.steer(0.0, 0.0)
    assert hand.trial.step().commands == ()


def test_a_goal_during_steering_is_what_remains(hand):
    hand.steer(1.0, 0.0)
    hand.send(REACH)
    hand.steer(0.0, 0.0)
    assert hand.trial.session.asked == REACH
    hand.steer(0.0, 1.0)
    hand.steer(0.0, 0.0)
    assert hand.trial.session.asked == REACH


@pytest.mark.parametrize("scenario", ["steer", "turbo"])
def test_after_steering_a_walk_it_stands(small, scenario):
    hand = directed(Choice(scenario), 1, small)
    hand.trial.step()
    assert hand.goal == scenario
    hand.steer(0.0, 1.0)
    hand.steer(0.0, 0.0)
    assert hand.trial.session.asked == Balance()


@pytest.mark.parametrize(("x", "y"), [(2.1, 0.0), (float("nan"), 0.0), (float("inf"), 0.0)])
def test_steering_with_no_direction_is_refused(hand, x, y):
    with pytest.raises(UserError, match="length of a steering direction must be a number 0 or more and at most 2, got"):
        hand.steer(x, y)
    assert hand.trial.session.asked == Balance()
    hand.steer(0.0, 0.0)
    assert hand.trial.step().commands == ()


# Wants by name


def turned(hand: Director, angle: float) -> np.ndarray:
    """The present state, turned about the vertical."""
    data = hand.trial.scene.show(state_of(hand))
    data.qpos[3:7] = (np.cos(angle / 2), 0, 0, np.sin(angle / 2))
    return hand.trial.scene.read(data)


@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi])
def test_what_a_want_needs_is_ahead(hand, angle):
    hand.trial.rewind(hand.trial.scene, turned(hand, angle), 0.0)
    session = hand.trial.session
    middle, ahead = session.world.view("com")[0, :2], np.array([np.cos(angle), np.sin(angle)])
    hand.want("reach")
    assert hand.goal == "reach" and hand.target == session.asked.target
    assert session.asked.target == pytest.approx((*(middle + 0.45 * ahead), 1.3), abs=1e-6)
    for goal in ("steer", "turbo"):
        hand.want(goal)
        assert (session.asked.style, hand.goal, hand.velocity) == (goal, goal, pytest.approx(PACE * ahead, abs=1e-6))
    hand.want("balance")
    assert session.asked == Balance()
    assert hand.trial.step().commands[-1] == Balance() == session.wanted


def test_wants_of_a_ball_take_the_first_there_is(hand):
    for goal in ("ball", "juggle", "ball-reach"):
        with pytest.raises(UserError, match="no ball 'ball' in the scene; it has none"):
            hand.want(goal)
    with pytest.raises(UserError, match="no goal 'fly'; there are: balance"):
        hand.want("fly")
    hand.throw((2.0, 0.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    hand.want("ball-reach")
    on, reach = hand.trial.session.asked.wants
    assert (on, reach.target[2], hand.goal) == (StayOn("thrown"), 1.3, "ball-reach")
    for goal, want in (("ball", StayOn("thrown")), ("juggle", Juggle("thrown"))):
        hand.want(goal)
        assert (hand.trial.session.asked, hand.goal) == (want, goal)
    assert set(hand.goals) >= {"balance", "reach", "ball", "ball-reach", "juggle", "steer", "turbo", "gait"}


# Drags

HAND = Drag("left_hand", (0.6, 0.6, 1.6))


def test_of_many_drags_in_a_frame_the_last_one_is_sent(hand):
    for x in range(1000):
        hand.send(Drag("left_hand", (0.001 * x, 0.5, 1.0)))
    assert hand.trial.step().commands == (Drag("left_hand", (0.999, 0.5, 1.0)),)
    assert hand.trial.session.forced
    assert hand.trial.step().commands == ()
    assert hand.trial.session.forced  # and it holds
    hand.send(HAND, Release())
    assert hand.trial.step().commands == (Release(),)
    assert not hand.trial.session.forced
    hand.send(Release())
    hand.send(HAND)
    assert hand.trial.session.drag == HAND
    assert hand.trial.step().commands == (HAND,)
    hand.send(Release(), HAND)
    assert hand.trial.session.drag is HAND
    hand.send(Release())
    hand.send(Release())
    assert hand.trial.step().commands == (Release(),)


def test_a_bad_drag_is_refused_when_it_is_sent(hand):
    hand.send(HAND)
    with pytest.raises(UserError, match="did you mean 'left_hand'"):
        hand.send(Drag("left_hnad", (0.0, 0.0, 0.0)))
    assert hand.trial.session.drag == HAND
    assert hand.trial.step().commands == (HAND,)


def test_what_is_held_stays_held_in_another_scene(hand):
    hand.send(HAND)
    hand.trial.step()
    hand.throw((3.0, 3.0, 1.0), (0.0, 0.0, 0.0), 2.0)
    assert hand.trial.session.forced and hand.trial.session.drag == HAND
    assert HAND not in hand.trial.step().commands
    assert hand.trial.session.forced
    assert hand.trial.step().commands == ()


def test_what_is_not_there_cannot_stay_held(hand):
    scene, state = hand.trial.scene, hand.trial.session.world.state[0].copy()
    hand.throw((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2.0)
    hand.send(Drag("thrown", (1.0, 1.0, 1.0)))
    hand.trial.step()
    hand.trial.rewind(scene, state, 0.0)
    assert hand.trial.session.drag is None
    assert hand.trial.step().commands == ()


# Commands that wait


def test_commands_are_taken_all_or_none(hand):
    with pytest.raises(UserError, match="no body 'torzo'"):
        hand.send(HAND, REACH, Push("torzo", (1.0, 0.0, 0.0)))
    assert (hand.trial.session.drag, hand.trial.session.asked) == (None, Balance())
    assert hand.trial.step().commands == ()


def test_settings_that_need_each_other_are_sent_together(hand):
    both = SetParameter("transition_place", 0.1), SetParameter("transition_speed", 1.0)
    with pytest.raises(UserError, match="must both be 0"):
        hand.send(both[0])
    hand.send(*both)
    assert hand.trial.step().commands == both
    assert hand.trial.controller.planner.settings.transition_speed == 1.0


def test_no_more_commands_wait_than_is_good(hand):
    hand.send(HAND)
    hand.trial.step()
    for _ in range(WAITING):
        hand.send(Push("torso", (1.0, 0.0, 0.0)))
    with pytest.raises(UserError, match="256 commands wait for the next frame already"):
        hand.send(Explode((1.0, 0.0, 0.0)))
    hand.send(Drag("torso", (0.0, 0.0, 1.0)))
    hand.send(Release())  # always
    hand.send(REACH)
    hand.steer(1.0, 0.0)
    hand.steer(0.0, 0.0)
    assert hand.trial.step().commands == (*[Push("torso", (1.0, 0.0, 0.0))] * WAITING, Release(), REACH)


CHANGES = [SetParameter("spread", 2.5), SetParameter("samples", 4), SetParameter("weight.height", 3.0)]


@pytest.mark.parametrize("rebuilt", [False, True])
def test_goals_and_settings_that_wait_survive_another_start(hand, small, rebuilt):
    """As where somebody pauses, changes settings and goal, and then throws a ball or goes on from the past."""
    hand.trial.step()
    hand.send(*CHANGES, REACH)
    if rebuilt:
        hand.throw((2.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2.0)
    else:
        hand.trial.rewind(hand.trial.scene, state_of(hand), hand.trial.time)
    hand.trial.step()
    assert hand.trial.controller.planner.settings == replace(small, spread=2.5, samples=4)
    assert hand.trial.controller.planner.scene is hand.trial.scene
    assert hand.trial.controller.weights == {"height": 3.0}
    assert hand.trial.controller.goal.names == goal_of(hand.trial.scene, REACH).names
    assert hand.trial.controller.latest.paths.shape[0] == 4
    assert hand.trial.session.asked == REACH


def test_what_waits_is_told_before_it_is_done(hand, small):
    """Panels show it while the show is paused."""
    names = dict.fromkeys(hand.trial.controller.goal.names, 1.0)
    assert (hand.settings, hand.weights) == (small, names)
    hand.send(*CHANGES)
    changed = replace(small, spread=2.5, samples=4)
    for _ in range(2):
        assert (hand.settings, hand.weights) == (changed, {**names, "height": 3.0})
        hand.send(REACH)
        assert hand.weights == {**dict.fromkeys(goal_of(hand.trial.scene, REACH).names, 1.0), "height": 3.0}
        hand.send(Balance())
        hand.trial.step()
    assert hand.trial.controller.planner.settings == changed


def test_a_goal_that_the_other_scene_has_no_ball_for_is_refused(hand):
    scene, state = hand.trial.scene, hand.trial.session.world.state[0].copy()
    hand.throw((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2.0)
    hand.want("juggle")
    hand.trial.step()
    with pytest.raises(UserError, match="no ball 'thrown' in the scene"):
        hand.trial.rewind(scene, state, 0.0)
    assert hand.trial.scene is hand.trial.session.scene is hand.trial.controller.planner.scene is not scene
    hand.trial.step()


# Balls


def joints(hand: Director) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    data, model = hand.trial.scene.show(hand.trial.session.world.state[0]), hand.trial.scene.model
    names = [model.joint(i).name for i in range(model.njnt)]
    return {name: (data.joint(name).qpos.copy(), data.joint(name).qvel.copy()) for name in names}


@pytest.mark.parametrize("scenario", ["stand", "juggle", "obstacles"])
def test_a_first_throw_rebuilds_the_scene_and_nothing_else_is_lost(small, scenario):
    hand = directed(Choice(scenario, "humanoid-light"), 1, small)
    hand.send(*CHANGES, REACH, Push("torso", (300.0, 100.0, 0.0)))
    stepped(hand, 4)
    scene, before, clock = hand.trial.scene, joints(hand), hand.trial.time
    settings = hand.trial.controller.planner.settings
    hand.throw((2.0, 0.5, 3.0), (-5.0, 0.0, 1.0), 8.0)
    after = joints(hand)
    assert hand.trial.scene is not scene
    assert set(after) == set(before) | {"thrown"}
    for name, (qpos, qvel) in before.items():
        assert np.array_equal(after[name][0], qpos) and np.array_equal(after[name][1], qvel)
    assert hand.trial.scene.props[:-1] == scene.props
    assert hand.trial.scene.character is scene.character
    assert hand.trial.time == clock
    assert hand.trial.controller.planner.settings == settings
    assert hand.trial.controller.weights == {"height": 3.0}
    assert hand.trial.session.asked == REACH and "reach" in hand.trial.controller.goal.names
    hand.trial.step()
    dt = scene.dt
    place, speed = joints(hand)["thrown"]
    expected = np.array([-5.0, 0.0, 1.0 - 9.81 * dt])
    assert speed == pytest.approx([*expected, 0, 0, 0], abs=1e-9)
    assert place[:3] == pytest.approx(np.array([2.0, 0.5, 3.0]) + dt * expected, abs=1e-9)
    assert hand.trial.time == pytest.approx(clock + dt)


def test_only_another_mass_rebuilds_again(hand):
    hand.throw((2.0, 0.0, 3.0), (0.0, 0.0, 0.0), 8.0)
    scene, planned, session = hand.trial.scene, hand.trial.controller, hand.trial.session
    stepped(hand, 3)
    hand.throw((1.0, 1.0, 2.0), (0.0, 1.0, 0.0), 8.0)
    assert hand.trial.scene is scene and hand.trial.controller is planned and hand.trial.session is session
    assert hand.trial.step().commands == (Throw((1.0, 1.0, 2.0), (0.0, 1.0, 0.0), "thrown"),)
    assert joints(hand)["thrown"][1][1] == pytest.approx(1.0)
    hand.throw((2.0, 0.0, 3.0), (0.0, 0.0, 0.0), 64.0)
    assert hand.trial.scene is not scene
    assert [prop.name for prop in hand.trial.scene.props] == ["thrown"]
    body = hand.trial.scene.body("thrown")
    assert hand.trial.scene.model.body_mass[body] == pytest.approx(64)
    assert scene.model.body_mass[body] == pytest.approx(8)
    sizes = [one.model.geom("thrown").size[0] for one in (scene, hand.trial.scene)]
    assert sizes[1] == pytest.approx(2 * sizes[0])  # the same stuff
    assert 500 * 4 / 3 * np.pi * sizes[0] ** 3 == pytest.approx(8)


def test_pushes_that_wait_survive_a_throw(hand):
    push = Push("torso", (100.0, 0.0, 0.0))
    hand.send(push, Explode((1.0, 0.0, 0.0)))
    hand.throw((2.0, 0.0, 3.0), (0.0, 0.0, 0.0), 8.0)
    throw = Throw((2.0, 0.0, 3.0), (0.0, 0.0, 0.0), "thrown")
    assert hand.trial.step().commands == (push, Explode((1.0, 0.0, 0.0)), throw)


@pytest.mark.parametrize(
    ("position", "velocity", "mass", "message"),
    [
        (
            (0.0, 0.0, 1.0),
            (0.0, 0.0, 0.0),
            0.05,
            "mass of a ball must be a number 0.1 or more and at most 500, got 0.05",
        ),
        ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), float("nan"), "mass of a ball must be a number"),
        ((0.0, 0.0, float("nan")), (0.0, 0.0, 0.0), 5.0, "position must be three numbers within a million"),
        ((0.0, 0.0, 1.0), (0.0, 2e6, 0.0), 5.0, "velocity must be three numbers within a million"),
    ],
)
def test_bad_throws_change_nothing(hand, position, velocity, mass, message):
    scene, session = hand.trial.scene, hand.trial.session
    with pytest.raises(UserError, match=re.escape(message)):
        hand.throw(position, velocity, mass)
    assert hand.trial.scene is scene and hand.trial.session is session
    assert hand.trial.step().commands == ()


# Events


def test_events_come_at_their_time_also_after_another_start(small):
    """A push at 1 to 2 s, between two frames: it comes with the later one, exactly once, from wherever one goes on."""
    hand = directed(Choice("push"), 1, small)
    (when, push), start, dt = hand.trial.setup.events[0], state_of(hand), hand.trial.scene.dt
    frame = int(np.ceil(when / dt))
    assert (frame - 1) * dt + 1e-3 < when < frame * dt - 1e-3
    for begin in (frame - 2, frame - 1, frame):
        hand.trial.rewind(hand.trial.scene, start, begin * dt)
        came = [begin + i for i in range(5) if push in hand.trial.step().commands]
        assert came == [frame]
    hand.trial.rewind(hand.trial.scene, start, (frame + 1) * dt)
    assert not any(hand.trial.step().commands for _ in range(3))


def test_events_come_once_where_a_throw_rebuilds_the_scene(small):
    hand = directed(Choice("push"), 1, small)
    (when, push), start, dt = hand.trial.setup.events[0], state_of(hand), hand.trial.scene.dt
    hand.trial.rewind(hand.trial.scene, start, int(when / dt) * dt - dt)
    came = []
    for i in range(6):
        hand.throw((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 1.0 + i)
        came += [round(hand.trial.time / dt)] * hand.trial.step().commands.count(push)
    assert came == [int(np.ceil(when / dt))]


def test_an_event_on_a_frame_comes_with_it(small):
    """A new direction every 5 s, to the frame."""
    hand = directed(Choice("steer"), 1, small)
    start, dt = state_of(hand), hand.trial.scene.dt
    for begin in (148, 150, 151, 300, 301):
        hand.trial.rewind(hand.trial.scene, start, begin * dt)
        came = [begin + i for i in range(3) if hand.trial.step().commands]
        assert came == ([300] if begin == 300 else [150] if begin <= 150 else [])


def test_an_event_at_the_start_comes_in_the_first_frame_only(small):
    hand = directed(Choice("reach"), 1, small)
    (_, goal) = hand.trial.setup.events[0]
    assert hand.trial.step().commands == (goal,)
    assert hand.trial.session.asked == goal
    assert not any(hand.trial.step().commands for _ in range(3))


# The stage ------------------------------------------------------------------------------------------


class Seats:
    """An audience that notes everything, and can be waited for."""

    def __init__(self) -> None:
        self.shown, self.said, self.compiled, self.changes = [], [], [], 0
        self._news = threading.Condition()

    def show(self, shown) -> None:
        with self._news:
            self.shown.append(shown)
            self._news.notify_all()

    def say(self, text: str) -> None:
        with self._news:
            self.said.append(text)
            self._news.notify_all()

    def compiling(self, text: str) -> None:
        with self._news:
            self.compiled.append(text)
            self._news.notify_all()

    def changed(self) -> None:
        self.changes += 1

    def wait(self, what) -> None:
        with self._news:
            assert self._news.wait_for(what, PATIENCE)

    def last(self) -> tuple[int, int, int, int]:
        """Flags of the loop, tick, oldest and newest of the last message."""
        _, flags, _, tick, oldest, newest, *_ = HEADER.unpack_from(self.shown[-1].message)
        return flags & (PAST | PAUSED | RECORDING | BROKEN), tick, oldest, newest


@pytest.fixture
def seats() -> Seats:
    return Seats()


@pytest.fixture
def stage(small, seats):
    """A stage that runs and that nobody watches: it moves where it is told to advance."""
    stage = Stage(Choice("stand"), seats, 1, small)
    stage.start()
    yield stage
    stage.close()


def do(stage: Stage, *jobs) -> None:
    """Have jobs done, and what the stage does after each."""
    for job in jobs:
        stage.post(job).result(PATIENCE)
        stage.post(lambda: None).result(PATIENCE)


def advance(stage: Stage, frames: int) -> list[np.ndarray]:
    """The states of frames that are made one by one."""
    states = []
    for _ in range(frames):
        do(stage, stage.advance)
        states.append(stage.trial.session.world.state[0].copy())
    return states


def test_a_stage_advances_by_frames(stage, seats, small):
    states = advance(stage, 3)
    assert np.array_equal(states, stepped(directed(Choice("stand"), 1, small), 3))
    assert (stage.timeline.oldest, stage.timeline.newest) == (1, 3)
    assert [stage.timeline.at(i + 1).state.tobytes() for i in range(3)] == [state.tobytes() for state in states]
    assert stage.timeline.at(2).time == pytest.approx(2 * stage.trial.scene.dt)
    assert seats.last() == (PAUSED, 3, 1, 3)
    assert not stage.playing and stage.ready
    ticks = [HEADER.unpack_from(shown.message)[3:6] for shown in seats.shown]
    assert ticks[0] == (0, 0, 0)  # where it begins
    assert ticks[1::2] == ticks[2::2] == [(1, 1, 1), (2, 1, 2), (3, 1, 3)]  # a frame, and the same as a pause
    assert seats.shown[-1].names == stage.trial.controller.report().names


def test_nobody_watches_nothing_moves(stage, seats):
    do(stage, lambda: None, lambda: None)
    assert stage.playing and seats.last() == (0, 0, 0, 0)
    stage.watch(True)
    seats.wait(lambda: len(seats.shown) >= 4)
    stage.watch(False)
    do(stage, lambda: None)
    frames = len(seats.shown)
    do(stage, lambda: None, lambda: None)
    assert len(seats.shown) == frames
    assert stage.trial.session.index == frames - 1  # the first one shows where it begins


def test_pausing_stops_time_and_playing_goes_on_where_it_was(stage, seats, small):
    stage.watch(True)
    seats.wait(lambda: len(seats.shown) >= 2)
    changes = seats.changes
    do(stage, stage.pause)
    assert not stage.playing and seats.changes > changes
    tick = stage.timeline.newest
    assert seats.last() == (PAUSED, tick, 1, tick)
    shown = len(seats.shown)
    do(stage, lambda: None)
    assert len(seats.shown) == shown
    do(stage, stage.play)
    seats.wait(lambda: len(seats.shown) >= shown + 2)
    assert stage.playing
    do(stage, stage.pause)
    newest = stage.timeline.newest
    states = [stage.timeline.at(tick).state for tick in range(1, newest + 1)]
    assert np.array_equal(states, stepped(directed(Choice("stand"), 1, small), newest))


def test_a_pause_before_the_first_frame(stage, seats):
    do(stage, stage.pause)
    assert not stage.playing and seats.last() == (PAUSED, 0, 0, 0)
    with pytest.raises(UserError, match="the timeline is empty"):
        do(stage, lambda: stage.scrub(1))


def test_speeds(stage, seats):
    changes = seats.changes
    do(stage, lambda: stage.slow(0.25))
    assert stage.pace.speed == 0.25 and seats.changes > changes
    for speed in (0.01, 5.0, float("nan")):
        with pytest.raises(UserError, match=r"speed must be a number 0\.05 or more and at most 4, got"):
            do(stage, lambda speed=speed: stage.slow(speed))
    assert stage.pace.speed == 0.25
    do(stage, stage.reset, stage.advance)
    assert stage.pace.speed == 0.25
    assert HEADER.unpack_from(seats.shown[-1].message)[10] == 0.25


# The past


def test_scrubbing_shows_the_past_and_keeps_the_present(stage, seats):
    states = advance(stage, 6)
    first = seats.shown[1].message
    do(stage, lambda: stage.scrub(1))
    assert seats.last() == (PAST | PAUSED, 1, 1, 6)
    assert seats.shown[-1].message[16:] == first[16:]
    assert (stage.past, stage.playing) == (1, False)
    do(stage, stage.advance)
    assert (stage.past, seats.last()[1]) == (2, 2)
    assert stage.trial.session.world.state[0].tobytes() == states[-1].tobytes()
    do(stage, stage.pause)
    assert (stage.past, seats.last()[1]) == (2, 2)
    for tick, nearest in ((0, 1), (7, 6)):
        do(stage, lambda tick=tick: stage.scrub(tick))
        assert stage.past == nearest
    do(stage, stage.advance)
    assert (stage.past, stage.timeline.newest) == (None, 7)


def test_the_ends_of_the_timeline_are_told_as_they_are_now(stage, seats):
    stage.timeline = Timeline(SECONDS / 4)
    advance(stage, 9)
    do(stage, lambda: stage.scrub(7))
    assert seats.last() == (PAST | PAUSED, 7, 6, 9)


def test_going_on_from_the_past(stage, seats):
    states = advance(stage, 6)
    do(stage, lambda: stage.scrub(3), lambda: stage.resume(3))
    assert stage.playing and stage.past is None
    assert stage.trial.session.world.state[0].tobytes() == states[2].tobytes()
    assert stage.trial.time == pytest.approx(3 * stage.trial.scene.dt)
    assert (stage.timeline.oldest, stage.timeline.newest) == (1, 3)
    again = advance(stage, 4)
    assert seats.last() == (PAUSED, 7, 1, 7)  # ticks go on
    assert stage.timeline.at(7).time == pytest.approx(7 * stage.trial.scene.dt)
    assert stage.timeline.at(4).state.tobytes() == again[0].tobytes()
    do(stage, lambda: stage.resume(3))
    assert np.array_equal(advance(stage, 4), again)
    do(stage, lambda: stage.resume(3), lambda: stage.director.send(Push("torso", (300.0, 0.0, 0.0))))
    assert not np.array_equal(advance(stage, 4), again)


def test_playing_in_the_past_goes_on_from_there(stage):
    states = advance(stage, 5)
    do(stage, lambda: stage.scrub(2), stage.play)
    assert stage.playing and stage.past is None
    assert stage.timeline.newest == 2
    assert stage.trial.session.entered.state.tobytes() == states[1].tobytes()


def test_going_on_from_the_newest_moment_starts_nothing_anew(stage):
    advance(stage, 3)
    session = stage.trial.session
    do(stage, lambda: stage.scrub(3), lambda: stage.resume(3))
    assert stage.trial.session is session and session.index == 3
    assert stage.playing and stage.past is None


def test_goal_and_settings_are_the_present_ones(stage, small):
    advance(stage, 3)
    do(stage, lambda: stage.scrub(2), lambda: stage.director.send(*CHANGES, REACH), stage.play)
    advance(stage, 1)
    assert stage.trial.controller.planner.settings == replace(small, spread=2.5, samples=4)
    assert stage.trial.controller.goal.names == goal_of(stage.trial.scene, REACH).names


def test_going_on_from_before_a_ball_was_there(stage, seats):
    advance(stage, 2)
    plain, number = stage.trial.scene, seats.shown[-1].packer.number
    do(stage, lambda: stage.director.throw((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 5.0))
    advance(stage, 2)
    thrown = seats.shown[-1].packer
    assert thrown.number != number
    assert thrown.scene is stage.trial.scene is not plain
    do(stage, lambda: stage.scrub(1))
    assert seats.shown[-1].packer.number == number
    do(stage, lambda: stage.resume(2))
    assert stage.trial.scene is plain
    advance(stage, 1)
    assert (seats.shown[-1].packer.number, seats.shown[-1].packer.scene) == (number, plain)
    assert (stage.timeline.newest, stage.timeline.oldest) == (3, 1)


# Other choices


def test_beginning_again_is_the_same_again(stage, seats):
    states = advance(stage, 4)
    do(stage, stage.reset)
    assert (len(stage.timeline), stage.playing, stage.trial.time) == (0, True, 0)
    assert np.array_equal(advance(stage, 4), states)
    assert seats.last() == (PAUSED, 8, 5, 8)
    assert stage.choice == Choice("stand")


def test_the_next_seed_is_another_go(stage):
    states = advance(stage, 4)
    do(stage, stage.again)
    assert stage.choice == Choice("stand", seed=1) and stage.trial.seed == 1
    assert not np.array_equal(advance(stage, 4), states)


def test_settings_and_weights_stay_with_the_controller(stage, small, seats):
    advance(stage, 1)
    number = seats.shown[-1].packer.number
    do(stage, lambda: stage.director.send(*CHANGES))  # they wait for a frame that never comes
    do(stage, lambda: stage.choose(Choice("wall", seed=4)))
    changed = replace(small, spread=2.5, samples=4)
    assert stage.trial.controller.planner.settings == changed
    assert stage.trial.controller.weights == {"height": 3.0}
    assert (stage.choice, len(stage.timeline)) == (Choice("wall", seed=4), 0)
    advance(stage, 1)
    assert seats.shown[-1].packer.number != number
    assert [body["name"] for body in seats.shown[-1].packer.description["bodies"]][-1] == "wall"
    do(stage, lambda: stage.choose(Choice("wall", controller="mppi")))
    assert stage.trial.controller.planner.settings == MPPISettings()
    assert stage.trial.controller.weights == {}
    assert stage.choice.controller == "mppi"


def test_a_bad_choice_leaves_everything(stage):
    advance(stage, 2)
    before = stage.trial, stage.director, stage.choice
    do(stage, stage.record)
    for choice, message in (
        (Choice("stnd"), "no scenario 'stnd'"),
        (Choice("stand", "humanoid", "walker"), "controller 'walker' needs a body with: toes, palms"),
        (Choice("juggle", "biped", "relay"), "a walker does not juggle; controllers that take it: "),
    ):
        with pytest.raises(UserError, match=message):
            do(stage, lambda choice=choice: stage.choose(choice))
    assert (stage.trial, stage.director, stage.choice) == before
    assert stage.recording and len(stage.timeline) == 2


# Recordings


def everything(stage: Stage) -> None:
    """Some frames in which people do things."""
    advance(stage, 2)
    do(stage, lambda: stage.director.send(HAND, Push("torso", (200.0, 0.0, 0.0))))
    advance(stage, 3)
    do(stage, lambda: stage.director.send(Release(), Explode((0.5, 0.0, 0.0))), lambda: stage.director.steer(1.0, 0.0))
    advance(stage, 3)


def test_a_tape_replays_bit_for_bit(stage, seats, small):
    advance(stage, 2)
    assert seats.last()[0] == PAUSED
    do(stage, stage.record)
    assert stage.recording and stage.last_take is None
    everything(stage)
    assert seats.last()[0] == PAUSED | RECORDING
    do(stage, stage.cut)
    assert not stage.recording and not stage.last_take.saved
    tape = stage.last_take.recording
    (part,) = tape.parts
    assert tape.frames == len(part.controls) == 8
    assert tape.state(0).tobytes() == stage.timeline.at(2).state.tobytes()
    assert tape.first_difference() is None
    assert [timed.frame for timed in part.about.commands] == [2, 2, 5, 5, 5]
    assert (tape.header.scenario, tape.header.controller, tape.header.seed) == ("stand", "cpbp", 0)
    assert tape.header.settings["samples"] == small.samples
    do(stage, stage.cut, stage.advance)
    assert stage.last_take.recording is tape and tape.frames == 8


def test_a_tape_of_a_thrown_ball_replays(stage):
    do(stage, lambda: stage.director.throw((1.5, 0.0, 1.2), (-8.0, 0.0, 0.0), 3.0), stage.record)
    advance(stage, 8)
    do(stage, lambda: stage.director.throw((-1.5, 0.0, 1.2), (8.0, 0.0, 0.0), 3.0))
    assert stage.recording
    everything(stage)
    do(stage, stage.cut)
    assert [prop.name for prop in stage.last_take.recording.scene().props] == ["thrown"]
    assert [part.about.frames for part in stage.last_take.recording.parts] == [16]
    assert stage.last_take.recording.first_difference() is None


CHANGES_OF_SET = {
    "throw": lambda stage: stage.director.throw((3.0, 0.0, 1.0), (-9.0, 0.0, 0.5), 5.0),
    "reshape": lambda stage: stage.reshape({"legs": 1.1}),
    "place": lambda stage: stage.trial.place(Box("step", (0.6, 0.0, 0.1), (0.1, 0.3, 0.1))),
    "resume": lambda stage: stage.resume(2),
}


@pytest.mark.parametrize("change", CHANGES_OF_SET)
def test_a_recording_goes_on_where_the_set_changes_or_time_turns_back(stage, seats, change, tmp_path):
    """Also in the middle of a push and a drag; and the whole replays bit for bit."""
    advance(stage, 2)
    do(stage, stage.record)
    advance(stage, 2)
    do(stage, lambda: stage.director.send(HAND, Push("torso", (200.0, 0.0, 0.0), 0.2)))
    advance(stage, 2)
    said = list(seats.said)
    do(stage, lambda: CHANGES_OF_SET[change](stage))
    told = ["the recording goes on from here, in a second part of the same take"] if change == "resume" else []
    assert stage.recording and seats.said == said + told and stage.last_take is None
    advance(stage, 5)
    assert seats.last()[0] == PAUSED | RECORDING
    do(stage, stage.cut)
    stage.last_take.recording.save(tmp_path / "tape.npz")
    tape = Recording.load(tmp_path / "tape.npz")
    assert [part.about.frames for part in tape.parts] == [4, 5]
    assert HAND in tape.parts[1].about.forces
    assert len(tape.parts[1].about.forces) == (1 if change == "resume" else 2)  # of a turned-back time no push goes on
    assert tape.first_difference() is None


@pytest.mark.parametrize("change", ["throw", "reshape", "place"])
def test_plan_and_timeline_go_on_where_the_set_changes(stage, change):
    advance(stage, 3)
    old, plan = stage.trial.controller.planner, stage.trial.controller.latest
    carried = {name: getattr(old, name) for name in ("rng", *old.carried)}
    scene = stage.trial.scene
    do(stage, lambda: CHANGES_OF_SET[change](stage))
    planner = stage.trial.controller.planner
    assert planner is not old and planner.scene is stage.trial.scene is not scene
    assert old.carried and all(getattr(planner, name) is value for name, value in carried.items())
    assert stage.trial.controller.latest is plan
    assert (stage.timeline.oldest, stage.timeline.newest) == (1, 3)
    advance(stage, 1)
    assert (stage.timeline.newest, stage.trial.session.index) == (4, 4)
    assert stage.timeline.at(3).packer.scene is scene and stage.timeline.at(4).packer.scene is stage.trial.scene


ENDS = {
    "reset": lambda stage: stage.reset(),
    "choose": lambda stage: stage.choose(Choice("wall")),
    "record": lambda stage: stage.record(),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_recording_ends_where_its_trial_does(stage, end):
    advance(stage, 2)
    do(stage, stage.record)
    advance(stage, 3)
    do(stage, lambda: ENDS[end](stage))
    assert stage.recording == (end == "record")
    assert stage.last_take.recording.frames == 3
    assert stage.last_take.recording.first_difference() is None
    advance(stage, 1)
    assert stage.last_take.recording.frames == 3


def test_no_recording_begins_in_the_middle_of_a_drag(stage):
    do(stage, lambda: stage.director.send(HAND), stage.advance)
    with pytest.raises(UserError, match="a recording begins where no push or drag goes on"):
        do(stage, stage.record)
    assert not stage.recording
    do(stage, lambda: stage.director.send(Release()), stage.advance, stage.record)
    assert stage.recording


def test_a_recording_has_an_end(stage, seats, monkeypatch):
    monkeypatch.setattr(stage_module, "LONGEST", 3 * stage.trial.scene.dt - 1e-9)
    do(stage, stage.record)
    advance(stage, 2)
    assert stage.recording
    advance(stage, 3)
    assert not stage.recording and stage.last_take.recording.frames == 3
    assert re.fullmatch(r"a recording ends after .* minutes; download it", seats.said[-1])


# Who acts


def words(seats: Seats) -> list[str]:
    """Which way, who acts, what it does, as the last message tells it."""
    return seats.shown[-1].message.rpartition(b"\0")[2].decode("utf-8", "replace").split("\n")[-3:-1]


def test_who_is_pushed_over_gets_up_and_goes_where_it_was_going(seats):
    stage = Stage(Choice("stand", "biped", "relay"), seats, 0)
    director, session = stage.director, stage.trial.session
    director.steer(1.0, 0.0)
    for _ in range(60):
        stage._step()
    assert words(seats) == ["walking", ""]
    changes = seats.changes
    director.send(Push("torso", (-200.0, 1200.0, 0.0), 0.2))
    told = []
    for _ in range(15 * 30):
        stage._step()
        told.append(words(seats))
        assert told[-1] == [(report := stage.trial.controller.report()).acting, report.doing]
        if ["rising", "getting up"] in told and told[-30:] == 30 * [["walking", ""]]:
            break
    assert ["rising", "getting up"] in told and told[-1] == ["walking", ""]
    assert seats.changes >= changes + 2  # panels look again at every handover
    assert session.wanted == Go(speed=0.8, heading=0.0) and director.velocity == (0.8, 0.0)
    for _ in range(60):
        stage._step()
    assert session.world.view("com_velocity")[0, 0] > 0.3
    stage.close()


def test_every_body_can_be_chosen_and_brings_who_suits_it():
    assert {"humanoid", "biped", "quadruped", "raptor"} <= set(bodies("humanoid"))
    for body in bodies("humanoid"):
        assert Choice("stand", body).body().name == body
    hop = Choice("learn-walk", "humanoid-walker", "mcts").with_scenario("learn-hop")
    assert (hop.controller, hop.character) == ("mcts", "monoped")
    light = Choice("stand", "humanoid-light", "cem", proportions=(("legs", 1.1),))
    assert light.with_scenario("push") == replace(light, scenario="push")
    walk = light.with_scenario("steer-walk")
    assert (walk.controller, walk.character, walk.proportions) == ("walker", "biped", ())
    bird = Choice("simbicon-humanoid", "biped34", "simbicon").with_scenario("simbicon-bird")
    assert (bird.controller, bird.character) == ("simbicon", "big-bird")
    trot = Choice("learn-walk", "humanoid", "mcts").with_scenario("learn-trot")  # which a biped cannot do
    assert trot.character == "quadruped"
    assert Choice("steer-walk", "beast1", "relay").with_scenario("walk-push").character == "beast1"


# What goes wrong, and the end


def test_an_error_in_a_job_reaches_who_asked_and_nobody_else(stage):
    advance(stage, 1)
    for error in (UserError("no"), ZeroDivisionError("x"), KeyError("y")):

        def fail(error=error):
            raise error

        assert stage.post(fail).exception(PATIENCE) is error
    assert stage.post(lambda: 42).result(PATIENCE) == 42
    advance(stage, 1)


def test_who_no_longer_waits_for_a_job_does_no_harm(stage):
    """A browser that leaves cancels what it waits for."""
    began, go, done = threading.Event(), threading.Event(), []
    first = stage.post(lambda: (began.set(), go.wait(PATIENCE)))
    second = stage.post(lambda: done.append(1))
    assert began.wait(PATIENCE)
    assert second.cancel() and not first.cancel()
    go.set()
    assert stage.post(lambda: 42).result(PATIENCE) == 42
    assert done == []


@pytest.mark.parametrize("error", [UserError("oh no"), ZeroDivisionError("oh no")], ids=repr)
def test_an_error_in_a_frame_pauses_and_is_told(stage, seats, monkeypatch, capsys, error):
    advance(stage, 1)
    changes = seats.changes

    def fail(state, goal):
        raise error

    monkeypatch.setattr(stage.trial.controller.planner, "plan", fail)
    stage.watch(True)
    do(stage, stage.play)
    user = isinstance(error, UserError)
    said = "paused: oh no" if user else "paused by an error: ZeroDivisionError('oh no')"
    seats.wait(lambda: said in seats.said)
    do(stage, lambda: None)
    assert not stage.playing and seats.changes > changes
    assert stage.timeline.newest == 1
    assert ("Traceback" in capsys.readouterr().err) == (not user)
    monkeypatch.undo()
    shown = len(seats.shown)
    do(stage, stage.play)
    seats.wait(lambda: len(seats.shown) > shown)
    assert stage.timeline.at(2).tick == 2


def test_a_world_that_breaks_begins_again(stage, seats):
    start = stage.trial.session.world.state[0].copy()
    advance(stage, 3)
    do(stage, stage.record)
    stage.trial.session.world.view("qvel")[0, 0] = np.nan
    do(stage, stage.advance)
    assert "the simulation went unstable; it begins again" in seats.said
    assert (stage.trial.time, len(stage.timeline), stage.recording) == (0, 0, False)
    assert stage.trial.session.world.state[0].tobytes() == start.tobytes()
    advance(stage, 1)
    assert seats.last()[1:] == (5, 5, 5)


def test_closing_ends_the_thread_and_keeps_the_recording(small, seats):
    stage = Stage(Choice("stand"), seats, 1, small)
    stage.start()
    do(stage, stage.record)
    stage.watch(True)
    seats.wait(lambda: len(seats.shown) >= 4)
    stage.close()
    assert not stage._thread.is_alive()
    assert not stage.recording and not stage.last_take.saved
    assert stage.last_take.recording.frames == stage.trial.session.index >= 3
    assert stage.last_take.recording.first_difference() is None
    tape = stage.last_take
    stage.close()  # twice is fine
    assert stage.last_take is tape


def test_a_stage_that_never_started_can_be_closed(small, seats):
    Stage(Choice("stand"), seats, 1, small).close()
    assert not seats.shown


class Late(threading.Event):
    """An event that somebody sets, after having told what for, at the worst time: just before it is cleared."""

    def clear(self) -> None:
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell()
            self.set()
        super().clear()

    tell = None


def test_a_close_that_comes_between_two_looks_is_not_missed(small, seats):
    stage = Stage(Choice("stand"), seats, 1, small)
    stage._wake = late = Late()
    late.tell = lambda: setattr(stage, "_closing", True)
    job = stage.post(lambda: 42)
    stage.start()
    assert job.result(PATIENCE) == 42
    stage._thread.join(PATIENCE)
    assert not stage._thread.is_alive()
