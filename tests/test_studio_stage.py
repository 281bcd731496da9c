"""The studio's show without browsers: pace, timeline, a take, and the stage that plays it in a thread."""

import re
import threading
from dataclasses import replace

import numpy as np
import pytest

from tumble.errors import UserError
from tumble.live.commands import Drag, Explode, Push, Release, SetGoal, SetParameter, Throw
from tumble.planners import CPBP, CEMSettings, MPPISettings, Planned
from tumble.scenarios import SCENARIOS, run_trial
from tumble.scenarios.locomotion import PACE
from tumble.studio import stage as stage_module
from tumble.studio.pace import Clock
from tumble.studio.packet import BROKEN, HEADER, PAST, PAUSED, RECORDING
from tumble.studio.stage import Stage
from tumble.studio.timeline import SECONDS, Moment, Timeline
from tumble.studio.trial import WAITING, Choice, StudioTrial

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


# A take ---------------------------------------------------------------------------------------------


@pytest.fixture
def take(small) -> StudioTrial:
    """The humanoid stands."""
    return StudioTrial(Choice("stand"), 1, small)


def stepped(take: StudioTrial, frames: int) -> list[np.ndarray]:
    return [take.step().state for _ in range(frames)]


@pytest.mark.parametrize(("scenario", "seconds"), [("push", 2.2), ("steer", 0.3), ("reach", 0.3), ("juggle", 0.3)])
def test_a_take_is_the_headless_trial_to_the_last_bit(small, scenario, seconds):
    take, states = StudioTrial(Choice(scenario, seed=3), 1, small), []
    kind = SCENARIOS[scenario]()
    planned = Planned(CPBP(take.scene, small, 3, 1), kind.wants().build(take.scene))
    run_trial(
        kind, take.scene, planned, 3, seconds,
        watch=lambda session: session.listeners.append(lambda session, frame: states.append(frame.state)),
    )  # fmt: skip
    assert np.array_equal(stepped(take, len(states)), states)
    assert len(states) == round(30 * seconds)
    assert take.time == pytest.approx(seconds)


def test_seeds_differ_and_threads_do_not(small):
    runs = [
        np.array(stepped(StudioTrial(Choice("getup", seed=seed), threads, small), 4))
        for seed, threads in ((1, 1), (1, 2), (2, 1))
    ]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_a_choice_decides_everything(small):
    take = StudioTrial(Choice("ball", "humanoid-light", "cem", 5), 1)
    assert take.scene.character.name == "humanoid-light"
    assert [prop.name for prop in take.scene.props] == ["ball"]
    assert isinstance(take.controller.planner.settings, CEMSettings)
    assert (take.wanted.goal, take.controller.planner._seed) == ("ball", 5)
    assert StudioTrial(Choice(), 1, small).controller.planner.settings == small


def test_options_of_a_scenario_count(small):
    plain, strong = (StudioTrial(Choice("push", options=options), 1, small) for options in ((), (("force", 900.0),)))
    ((_, push),), ((_, harder),) = plain._events, strong._events
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
    ],
    ids=str,
)
def test_bad_choices_are_refused_in_a_sentence(choice, message):
    with pytest.raises(UserError, match=re.escape(message)):
        StudioTrial(choice, 1)


# Steering

REACH = SetGoal("reach", target=(0.5, 0.1, 1.4), hand="right")


@pytest.mark.parametrize(
    ("x", "y", "turbo", "wanted"),
    [
        (1.0, 0.0, False, SetGoal("steer", velocity=(PACE, 0.0))),
        (0.0, -0.5, False, SetGoal("steer", velocity=(0.0, -0.5 * PACE))),
        (0.0, 2.0, False, SetGoal("steer", velocity=(0.0, PACE))),  # no faster than the usual pace
        (-1.0, 0.0, True, SetGoal("turbo", velocity=(-PACE, 0.0))),
    ],
)
def test_steering_asks_for_a_velocity(take, x, y, turbo, wanted):
    take.steer(x, y, turbo)
    assert take.step().commands == (wanted,)
    assert take.wanted == wanted
    assert "velocity" in take.controller.goal.names


@pytest.mark.parametrize("before", [REACH, SetGoal("balance", facing=(0.0, 1.0))], ids=str)
def test_steering_ends_with_what_was_wanted_before(take, before):
    take.send(before)
    take.step()
    take.steer(0.0, 0.0)  # not steered: nothing to let go of
    assert take.step().commands == ()
    for x in (1.0, 0.5, 0.7):
        take.steer(x, 0.0, turbo=x == 0.5)
        take.step()
    take.steer(0.03, 0.0)  # as good as let go
    assert take.step().commands == (before,)
    assert take.wanted == before
    take.steer(0.0, 0.0)
    assert take.step().commands == ()


def test_a_goal_during_steering_is_what_remains(take):
    take.steer(1.0, 0.0)
    take.send(REACH)
    take.steer(0.0, 0.0)
    assert take.wanted == REACH
    take.steer(0.0, 1.0)
    take.steer(0.0, 0.0)
    assert take.wanted == REACH


@pytest.mark.parametrize("scenario", ["steer", "turbo"])
def test_after_steering_a_walk_it_stands(small, scenario):
    take = StudioTrial(Choice(scenario), 1, small)
    take.step()
    assert take.wanted.goal == scenario
    take.steer(0.0, 1.0)
    take.steer(0.0, 0.0)
    assert take.wanted == SetGoal("balance")


@pytest.mark.parametrize(("x", "y"), [(2.1, 0.0), (float("nan"), 0.0), (float("inf"), 0.0)])
def test_steering_with_no_direction_is_refused(take, x, y):
    with pytest.raises(UserError, match="length of a steering direction must be a number 0 or more and at most 2, got"):
        take.steer(x, y)
    assert take.wanted == SetGoal("balance")
    take.steer(0.0, 0.0)
    assert take.step().commands == ()


# Wishes by name


def turned(take: StudioTrial, angle: float) -> np.ndarray:
    """The present state, turned about the vertical."""
    data = take.scene.show(take.session.world.state[0])
    data.qpos[3:7] = (np.cos(angle / 2), 0, 0, np.sin(angle / 2))
    return take.scene.read(data)


@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi])
def test_what_a_goal_needs_is_ahead(take, angle):
    take.enter(take.scene, turned(take, angle), 0.0)
    middle, ahead = take.session.world.view("com")[0, :2], np.array([np.cos(angle), np.sin(angle)])
    take.want("reach")
    assert take.wanted.goal == "reach"
    assert take.wanted.target == pytest.approx((*(middle + 0.45 * ahead), 1.3), abs=1e-6)
    for goal in ("steer", "turbo"):
        take.want(goal)
        assert (take.wanted.goal, take.wanted.velocity) == (goal, pytest.approx(PACE * ahead, abs=1e-6))
    take.want("balance")
    assert take.wanted == SetGoal("balance")
    assert take.step().commands[-1] == take.wanted


def test_goals_of_a_ball_take_the_first_there_is(take):
    for goal in ("ball", "juggle", "ball-reach"):
        with pytest.raises(UserError, match="no ball 'ball' in the scene; it has none"):
            take.want(goal)
    with pytest.raises(UserError, match="no goal 'fly'; there are: balance"):
        take.want("fly")
    take.hurl((2.0, 0.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    take.want("ball-reach")
    assert (take.wanted.ball, take.wanted.goal, take.wanted.target[2]) == ("thrown", "ball-reach", 1.3)


# Drags

HAND = Drag("left_hand", (0.6, 0.6, 1.6))


def test_of_many_drags_in_a_frame_the_last_one_is_sent(take):
    for x in range(1000):
        take.send(Drag("left_hand", (0.001 * x, 0.5, 1.0)))
    assert take.step().commands == (Drag("left_hand", (0.999, 0.5, 1.0)),)
    assert take.session.forced
    assert take.step().commands == ()
    assert take.session.forced  # and it holds
    take.send(HAND, Release())
    assert take.step().commands == (Release(),)
    assert not take.session.forced
    take.send(Release())
    take.send(HAND)
    assert take.drag == HAND
    assert take.step().commands == (HAND,)
    take.send(Release(), HAND)
    assert take.drag is HAND
    take.send(Release())
    take.send(Release())
    assert take.step().commands == (Release(),)


def test_a_bad_drag_is_refused_when_it_is_sent(take):
    take.send(HAND)
    with pytest.raises(UserError, match="did you mean 'left_hand'"):
        take.send(Drag("left_hnad", (0.0, 0.0, 0.0)))
    assert take.drag == HAND
    assert take.step().commands == (HAND,)


def test_what_is_held_stays_held_in_another_scene(take):
    take.send(HAND)
    take.step()
    take.hurl((3.0, 3.0, 1.0), (0.0, 0.0, 0.0), 2.0)
    assert not take.session.forced
    assert HAND in take.step().commands
    assert take.session.forced
    assert take.step().commands == ()


def test_what_is_not_there_cannot_stay_held(take):
    scene, state = take.scene, take.session.world.state[0].copy()
    take.hurl((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2.0)
    take.send(Drag("thrown", (1.0, 1.0, 1.0)))
    take.step()
    take.enter(scene, state, 0.0)
    assert take.drag is None
    assert take.step().commands == ()


# Commands that wait


def test_commands_are_taken_all_or_none(take):
    with pytest.raises(UserError, match="no body 'torzo'"):
        take.send(HAND, REACH, Push("torzo", (1.0, 0.0, 0.0)))
    assert (take.drag, take.wanted) == (None, SetGoal("balance"))
    assert take.step().commands == ()


def test_settings_that_need_each_other_are_sent_together(take):
    both = SetParameter("transition_place", 0.1), SetParameter("transition_speed", 1.0)
    with pytest.raises(UserError, match="must both be 0"):
        take.send(both[0])
    take.send(*both)
    assert take.step().commands == both
    assert take.controller.planner.settings.transition_speed == 1.0


def test_no_more_commands_wait_than_is_good(take):
    take.send(HAND)
    take.step()
    for _ in range(WAITING):
        take.send(Push("torso", (1.0, 0.0, 0.0)))
    with pytest.raises(UserError, match="256 commands wait for the next frame already"):
        take.send(Explode((1.0, 0.0, 0.0)))
    take.send(Drag("torso", (0.0, 0.0, 1.0)))
    take.send(Release())  # always
    take.send(REACH)
    take.steer(1.0, 0.0)
    take.steer(0.0, 0.0)
    assert take.step().commands == (*[Push("torso", (1.0, 0.0, 0.0))] * WAITING, Release(), REACH)


CHANGES = [SetParameter("spread", 2.5), SetParameter("samples", 4), SetParameter("weight.height", 3.0)]


@pytest.mark.parametrize("rebuilt", [False, True])
def test_goals_and_settings_that_wait_survive_another_start(take, small, rebuilt):
    """As where somebody pauses, changes settings and goal, and then throws a ball or goes on from the past."""
    take.step()
    take.send(*CHANGES, REACH)
    if rebuilt:
        take.hurl((2.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2.0)
    else:
        take.enter(take.scene, take.session.world.state[0].copy(), take.time)
    take.step()
    assert take.controller.planner.settings == replace(small, spread=2.5, samples=4)
    assert take.controller.planner.scene is take.scene
    assert take.controller.weights == {"height": 3.0}
    assert take.controller.goal.names == REACH.build(take.scene).names
    assert take.controller.latest.paths.shape[0] == 4
    assert take.wanted == REACH


def test_what_waits_is_told_before_it_is_done(take, small):
    """Panels show it while the show is paused."""
    names = dict.fromkeys(take.controller.goal.names, 1.0)
    assert (take.settings, take.weights) == (small, names)
    take.send(*CHANGES)
    changed = replace(small, spread=2.5, samples=4)
    for _ in range(2):
        assert (take.settings, take.weights) == (changed, {**names, "height": 3.0})
        take.send(REACH)
        assert take.weights == {**dict.fromkeys(REACH.build(take.scene).names, 1.0), "height": 3.0}
        take.send(SetGoal("balance"))
        take.step()
    assert take.controller.planner.settings == changed


def test_a_goal_that_the_other_scene_has_no_ball_for_is_refused(take):
    scene, state = take.scene, take.session.world.state[0].copy()
    take.hurl((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2.0)
    take.want("juggle")
    take.step()
    with pytest.raises(UserError, match="no ball 'thrown' in the scene"):
        take.enter(scene, state, 0.0)
    assert take.scene is take.session.scene is take.controller.planner.scene is not scene
    take.step()


# Balls


def joints(take: StudioTrial) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    data, model = take.scene.show(take.session.world.state[0]), take.scene.model
    names = [model.joint(i).name for i in range(model.njnt)]
    return {name: (data.joint(name).qpos.copy(), data.joint(name).qvel.copy()) for name in names}


@pytest.mark.parametrize("scenario", ["stand", "juggle", "obstacles"])
def test_a_first_throw_rebuilds_the_scene_and_nothing_else_is_lost(small, scenario):
    take = StudioTrial(Choice(scenario, "humanoid-light"), 1, small)
    take.send(*CHANGES, REACH, Push("torso", (300.0, 100.0, 0.0)))
    stepped(take, 4)
    scene, before, clock, settings = take.scene, joints(take), take.time, take.controller.planner.settings
    take.hurl((2.0, 0.5, 3.0), (-5.0, 0.0, 1.0), 8.0)
    after = joints(take)
    assert take.scene is not scene
    assert set(after) == set(before) | {"thrown"}
    for name, (qpos, qvel) in before.items():
        assert np.array_equal(after[name][0], qpos) and np.array_equal(after[name][1], qvel)
    assert take.scene.props[:-1] == scene.props
    assert take.scene.character is scene.character
    assert take.time == clock
    assert take.controller.planner.settings == settings
    assert take.controller.weights == {"height": 3.0}
    assert take.wanted == REACH and "reach" in take.controller.goal.names
    take.step()
    dt = scene.dt
    place, speed = joints(take)["thrown"]
    expected = np.array([-5.0, 0.0, 1.0 - 9.81 * dt])
    assert speed == pytest.approx([*expected, 0, 0, 0], abs=1e-9)
    assert place[:3] == pytest.approx(np.array([2.0, 0.5, 3.0]) + dt * expected, abs=1e-9)
    assert take.time == pytest.approx(clock + dt)


def test_only_another_mass_rebuilds_again(take):
    take.hurl((2.0, 0.0, 3.0), (0.0, 0.0, 0.0), 8.0)
    scene, planned, session = take.scene, take.controller, take.session
    stepped(take, 3)
    take.hurl((1.0, 1.0, 2.0), (0.0, 1.0, 0.0), 8.0)
    assert take.scene is scene and take.controller is planned and take.session is session
    assert take.step().commands == (Throw((1.0, 1.0, 2.0), (0.0, 1.0, 0.0), "thrown"),)
    assert joints(take)["thrown"][1][1] == pytest.approx(1.0)
    take.hurl((2.0, 0.0, 3.0), (0.0, 0.0, 0.0), 64.0)
    assert take.scene is not scene
    assert [prop.name for prop in take.scene.props] == ["thrown"]
    body = take.scene.body("thrown")
    assert take.scene.model.body_mass[body] == pytest.approx(64)
    assert scene.model.body_mass[body] == pytest.approx(8)
    sizes = [one.model.geom("thrown").size[0] for one in (scene, take.scene)]
    assert sizes[1] == pytest.approx(2 * sizes[0])  # the same stuff
    assert 500 * 4 / 3 * np.pi * sizes[0] ** 3 == pytest.approx(8)


def test_pushes_that_wait_survive_a_throw(take):
    push = Push("torso", (100.0, 0.0, 0.0))
    take.send(push, Explode((1.0, 0.0, 0.0)))
    take.hurl((2.0, 0.0, 3.0), (0.0, 0.0, 0.0), 8.0)
    throw = Throw((2.0, 0.0, 3.0), (0.0, 0.0, 0.0), "thrown")
    assert take.step().commands == (push, Explode((1.0, 0.0, 0.0)), throw)


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
def test_bad_throws_change_nothing(take, position, velocity, mass, message):
    scene, session = take.scene, take.session
    with pytest.raises(UserError, match=re.escape(message)):
        take.hurl(position, velocity, mass)
    assert take.scene is scene and take.session is session
    assert take.step().commands == ()


# Events


def test_events_come_at_their_time_also_after_another_start(small):
    """A push at 1 to 2 s, between two frames: it comes with the later one, exactly once, from wherever one goes on."""
    take = StudioTrial(Choice("push"), 1, small)
    (when, push), start, dt = take._events[0], take.session.start, take.scene.dt
    frame = int(np.ceil(when / dt))
    assert (frame - 1) * dt + 1e-3 < when < frame * dt - 1e-3
    for begin in (frame - 2, frame - 1, frame):
        take.enter(take.scene, start, begin * dt)
        came = [begin + i for i in range(5) if push in take.step().commands]
        assert came == [frame]
    take.enter(take.scene, start, (frame + 1) * dt)
    assert not any(take.step().commands for _ in range(3))


def test_events_come_once_where_a_throw_rebuilds_the_scene(small):
    take = StudioTrial(Choice("push"), 1, small)
    (when, push), start, dt = take._events[0], take.session.start, take.scene.dt
    take.enter(take.scene, start, int(when / dt) * dt - dt)
    came = []
    for i in range(6):
        take.hurl((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 1.0 + i)
        came += [round(take.time / dt)] * take.step().commands.count(push)
    assert came == [int(np.ceil(when / dt))]


def test_an_event_on_a_frame_comes_with_it(small):
    """A new direction every 5 s, to the frame."""
    take = StudioTrial(Choice("steer"), 1, small)
    start, dt = take.session.start, take.scene.dt
    for begin in (148, 150, 151, 300, 301):
        take.enter(take.scene, start, begin * dt)
        came = [begin + i for i in range(3) if take.step().commands]
        assert came == ([300] if begin == 300 else [150] if begin <= 150 else [])


def test_an_event_at_the_start_comes_in_the_first_frame_only(small):
    take = StudioTrial(Choice("reach"), 1, small)
    (_, goal) = take._events[0]
    assert take.step().commands == (goal,)
    assert take.wanted == goal
    assert not any(take.step().commands for _ in range(3))


# The stage ------------------------------------------------------------------------------------------


class Seats:
    """An audience that notes everything, and can be waited for."""

    def __init__(self) -> None:
        self.shown, self.said, self.changes = [], [], 0
        self._news = threading.Condition()

    def show(self, shown) -> None:
        with self._news:
            self.shown.append(shown)
            self._news.notify_all()

    def say(self, text: str) -> None:
        with self._news:
            self.said.append(text)
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
        states.append(stage.take.session.world.state[0].copy())
    return states


def test_a_stage_advances_by_frames(stage, seats, small):
    states = advance(stage, 3)
    assert np.array_equal(states, stepped(StudioTrial(Choice("stand"), 1, small), 3))
    assert (stage.timeline.oldest, stage.timeline.newest) == (1, 3)
    assert [stage.timeline.at(i + 1).state.tobytes() for i in range(3)] == [state.tobytes() for state in states]
    assert stage.timeline.at(2).time == pytest.approx(2 * stage.take.scene.dt)
    assert seats.last() == (PAUSED, 3, 1, 3)
    assert not stage.playing and stage.ready
    ticks = [HEADER.unpack_from(shown.message)[3:6] for shown in seats.shown]
    assert ticks[::2] == ticks[1::2] == [(1, 1, 1), (2, 1, 2), (3, 1, 3)]  # a frame, and the same as a pause
    assert seats.shown[-1].names == stage.take.controller.names


def test_nobody_watches_nothing_moves(stage, seats):
    do(stage, lambda: None, lambda: None)
    assert stage.playing and not seats.shown
    stage.watch(True)
    seats.wait(lambda: len(seats.shown) >= 3)
    stage.watch(False)
    do(stage, lambda: None)
    frames = len(seats.shown)
    do(stage, lambda: None, lambda: None)
    assert len(seats.shown) == frames
    assert stage.take.session.index == frames


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
    assert np.array_equal(states, stepped(StudioTrial(Choice("stand"), 1, small), newest))


def test_a_pause_before_the_first_frame(stage, seats):
    do(stage, stage.pause)
    assert not stage.playing and not seats.shown
    with pytest.raises(UserError, match="the timeline is empty"):
        do(stage, lambda: stage.scrub(1))


def test_speeds(stage, seats):
    changes = seats.changes
    do(stage, lambda: stage.slow(0.25))
    assert stage.pace.speed == 0.25 and seats.changes > changes
    for speed in (0.01, 3.0, float("nan")):
        with pytest.raises(UserError, match=r"speed must be a number 0\.05 or more and at most 2, got"):
            do(stage, lambda speed=speed: stage.slow(speed))
    assert stage.pace.speed == 0.25
    do(stage, stage.reset, stage.advance)
    assert stage.pace.speed == 0.25
    assert HEADER.unpack_from(seats.shown[-1].message)[10] == 0.25


# The past


def test_scrubbing_shows_the_past_and_keeps_the_present(stage, seats):
    states = advance(stage, 6)
    first = seats.shown[0].message
    do(stage, lambda: stage.scrub(1))
    assert seats.last() == (PAST | PAUSED, 1, 1, 6)
    assert seats.shown[-1].message[16:] == first[16:]
    assert (stage.past, stage.playing) == (1, False)
    do(stage, stage.advance)
    assert (stage.past, seats.last()[1]) == (2, 2)
    assert stage.take.session.world.state[0].tobytes() == states[-1].tobytes()
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
    assert stage.take.session.world.state[0].tobytes() == states[2].tobytes()
    assert stage.take.time == pytest.approx(3 * stage.take.scene.dt)
    assert (stage.timeline.oldest, stage.timeline.newest) == (1, 3)
    again = advance(stage, 4)
    assert seats.last() == (PAUSED, 7, 1, 7)  # ticks go on
    assert stage.timeline.at(7).time == pytest.approx(7 * stage.take.scene.dt)
    assert stage.timeline.at(4).state.tobytes() == again[0].tobytes()
    do(stage, lambda: stage.resume(3))
    assert np.array_equal(advance(stage, 4), again)
    do(stage, lambda: stage.resume(3), lambda: stage.take.send(Push("torso", (300.0, 0.0, 0.0))))
    assert not np.array_equal(advance(stage, 4), again)


def test_playing_in_the_past_goes_on_from_there(stage):
    states = advance(stage, 5)
    do(stage, lambda: stage.scrub(2), stage.play)
    assert stage.playing and stage.past is None
    assert stage.timeline.newest == 2
    assert stage.take.session.start.tobytes() == states[1].tobytes()


def test_going_on_from_the_newest_moment_starts_nothing_anew(stage):
    advance(stage, 3)
    session = stage.take.session
    do(stage, lambda: stage.scrub(3), lambda: stage.resume(3))
    assert stage.take.session is session and session.index == 3
    assert stage.playing and stage.past is None


def test_goal_and_settings_are_the_present_ones(stage, small):
    advance(stage, 3)
    do(stage, lambda: stage.scrub(2), lambda: stage.take.send(*CHANGES, REACH), stage.play)
    advance(stage, 1)
    assert stage.take.controller.planner.settings == replace(small, spread=2.5, samples=4)
    assert stage.take.controller.goal.names == REACH.build(stage.take.scene).names


def test_going_on_from_before_a_ball_was_there(stage, seats):
    advance(stage, 2)
    plain, number = stage.take.scene, seats.shown[-1].packer.number
    do(stage, lambda: stage.take.hurl((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 5.0))
    advance(stage, 2)
    thrown = seats.shown[-1].packer
    assert thrown.number != number
    assert thrown.scene is stage.take.scene is not plain
    do(stage, lambda: stage.scrub(1))
    assert seats.shown[-1].packer.number == number
    do(stage, lambda: stage.resume(2))
    assert stage.take.scene is plain
    advance(stage, 1)
    assert (seats.shown[-1].packer.number, seats.shown[-1].packer.scene) == (number, plain)
    assert (stage.timeline.newest, stage.timeline.oldest) == (3, 1)


# Other choices


def test_beginning_again_is_the_same_again(stage, seats):
    states = advance(stage, 4)
    do(stage, stage.reset)
    assert (len(stage.timeline), stage.playing, stage.take.time) == (0, True, 0)
    assert np.array_equal(advance(stage, 4), states)
    assert seats.last() == (PAUSED, 8, 5, 8)
    assert stage.choice == Choice("stand")


def test_the_next_seed_is_another_go(stage):
    states = advance(stage, 4)
    do(stage, stage.again)
    assert stage.choice == stage.take.choice == Choice("stand", seed=1)
    assert not np.array_equal(advance(stage, 4), states)


def test_settings_and_weights_stay_with_the_controller(stage, small, seats):
    advance(stage, 1)
    number = seats.shown[-1].packer.number
    do(stage, lambda: stage.take.send(*CHANGES))  # they wait for a frame that never comes
    do(stage, lambda: stage.choose(Choice("wall", seed=4)))
    changed = replace(small, spread=2.5, samples=4)
    assert stage.take.controller.planner.settings == changed
    assert stage.take.controller.weights == {"height": 3.0}
    assert (stage.choice, len(stage.timeline)) == (Choice("wall", seed=4), 0)
    advance(stage, 1)
    assert seats.shown[-1].packer.number != number
    assert [body["name"] for body in seats.shown[-1].packer.description["bodies"]][-1] == "wall"
    do(stage, lambda: stage.choose(Choice("wall", controller="mppi")))
    assert stage.take.controller.planner.settings == MPPISettings()
    assert stage.take.controller.weights == {}
    assert stage.choice.controller == "mppi"


def test_a_bad_choice_leaves_everything(stage):
    advance(stage, 2)
    take = stage.take
    do(stage, stage.record)
    with pytest.raises(UserError, match="no scenario 'stnd'"):
        do(stage, lambda: stage.choose(Choice("stnd")))
    assert stage.take is take and stage.recording and len(stage.timeline) == 2


# Recordings


def everything(stage: Stage) -> None:
    """Some frames in which people do things."""
    advance(stage, 2)
    do(stage, lambda: stage.take.send(HAND, Push("torso", (200.0, 0.0, 0.0))))
    advance(stage, 3)
    do(stage, lambda: stage.take.send(Release(), Explode((0.5, 0.0, 0.0))), lambda: stage.take.steer(1.0, 0.0))
    advance(stage, 3)


def test_a_tape_replays_bit_for_bit(stage, seats, small):
    advance(stage, 2)
    assert seats.last()[0] == PAUSED
    do(stage, stage.record)
    assert stage.recording and stage.tape is None
    everything(stage)
    assert seats.last()[0] == PAUSED | RECORDING
    stage.taken = True
    do(stage, stage.cut)
    assert not stage.recording and not stage.taken
    tape = stage.tape
    assert tape.states.shape[0] == 9
    assert tape.states[0].tobytes() == stage.timeline.at(2).state.tobytes()
    assert tape.first_difference() is None
    assert [timed.frame for timed in tape.header.commands] == [2, 2, 5, 5, 5]
    assert (tape.header.scenario, tape.header.controller, tape.header.seed) == ("stand", "cpbp", 0)
    assert tape.header.settings["samples"] == small.samples
    do(stage, stage.cut, stage.advance)
    assert stage.tape is tape and len(tape.states) == 9
    assert not stage.take.session.listeners


def test_a_tape_of_a_thrown_ball_replays(stage):
    do(stage, lambda: stage.take.hurl((1.5, 0.0, 1.2), (-8.0, 0.0, 0.0), 3.0), stage.record)
    advance(stage, 8)
    do(stage, lambda: stage.take.hurl((-1.5, 0.0, 1.2), (8.0, 0.0, 0.0), 3.0))
    assert stage.recording
    everything(stage)
    do(stage, stage.cut)
    assert [prop.name for prop in stage.tape.scene().props] == ["thrown"]
    assert len(stage.tape.controls) == 16
    assert stage.tape.first_difference() is None


ENDS = {
    "rebuild": lambda stage: stage.take.hurl((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 5.0),
    "resume": lambda stage: stage.resume(2),
    "reset": lambda stage: stage.reset(),
    "choose": lambda stage: stage.choose(Choice("wall")),
    "record": lambda stage: stage.record(),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_recording_ends_where_its_session_does(stage, end):
    advance(stage, 2)
    do(stage, stage.record)
    advance(stage, 3)
    do(stage, lambda: ENDS[end](stage))
    assert stage.recording == (end == "record")
    assert len(stage.tape.controls) == 3
    assert stage.tape.first_difference() is None
    advance(stage, 1)
    assert len(stage.tape.controls) == 3


def test_no_recording_begins_in_the_middle_of_a_drag(stage):
    do(stage, lambda: stage.take.send(HAND), stage.advance)
    with pytest.raises(UserError, match="a recording begins where no push or drag goes on"):
        do(stage, stage.record)
    assert not stage.recording
    do(stage, lambda: stage.take.send(Release()), stage.advance, stage.record)
    assert stage.recording


def test_a_recording_has_an_end(stage, seats, monkeypatch):
    monkeypatch.setattr(stage_module, "LONGEST", 3 * stage.take.scene.dt - 1e-9)
    do(stage, stage.record)
    advance(stage, 2)
    assert stage.recording
    advance(stage, 3)
    assert not stage.recording and len(stage.tape.controls) == 3
    assert re.fullmatch(r"a recording ends after .* minutes; download it", seats.said[-1])


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

    monkeypatch.setattr(stage.take.controller.planner, "plan", fail)
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
    start = stage.take.session.start
    advance(stage, 3)
    do(stage, stage.record)
    stage.take.session.world.view("qvel")[0, 0] = np.nan
    do(stage, stage.advance)
    assert "the simulation went unstable; it begins again" in seats.said
    assert (stage.take.time, len(stage.timeline), stage.recording) == (0, 0, False)
    assert stage.take.session.world.state[0].tobytes() == start.tobytes()
    advance(stage, 1)
    assert seats.last()[1:] == (5, 5, 5)


def test_closing_ends_the_thread_and_keeps_the_recording(small, seats):
    stage = Stage(Choice("stand"), seats, 1, small)
    stage.start()
    do(stage, stage.record)
    stage.watch(True)
    seats.wait(lambda: len(seats.shown) >= 3)
    stage.close()
    assert not stage._thread.is_alive()
    assert not stage.recording and not stage.taken
    assert len(stage.tape.controls) == stage.take.session.index >= 3
    assert stage.tape.first_difference() is None
    tape = stage.tape
    stage.close()  # twice is fine
    assert stage.tape is tape


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
