"""Scenarios: the verdict on hand-made tracks, what a seed decides, one short trial of each."""

import re

import numpy as np
import pytest

from tumble.commands import Explode
from tumble.commands import Push as PushCommand
from tumble.errors import UserError
from tumble.planners import CPBP, Planned
from tumble.scenarios import SCENARIOS, Track, run_trial
from tumble.scenarios.balancing import Explosion, Push, Stand
from tumble.scenarios.track import FALLEN, SLOW, TALL, UPRIGHT

each_scenario = pytest.mark.parametrize("name", SCENARIOS)
RANDOM = {"push", "explosion"}


def track(scene, frames: int = 30) -> Track:
    """Standing perfectly still."""
    made = Track(scene)
    made.height, made.upright, made.speed = [1.0] * frames, [1.0] * frames, [0.0] * frames
    made.only_feet = [True] * frames
    made.joint_speeds = [np.zeros(30)] * frames
    return made


# The verdict ----------------------------------------------------------------------------------------


def test_standing_still_is_balanced(scene):
    assert track(scene).balanced()
    assert track(scene, 15).balanced()  # half a second
    assert not track(scene, 14).balanced()
    assert not track(scene, 0).balanced()


SPOILS = [
    ("height", TALL - 0.01),
    ("upright", UPRIGHT - 0.01),
    ("speed", SLOW),
    ("only_feet", False),
]


@pytest.mark.parametrize(("clause", "value"), SPOILS)
@pytest.mark.parametrize("frame", [-1, -8, -15])
def test_each_clause_counts_over_the_last_half_second(scene, clause, value, frame):
    made = track(scene)
    getattr(made, clause)[frame] = value
    assert not made.balanced()


@pytest.mark.parametrize(("clause", "value"), SPOILS)
def test_what_was_before_does_not_count(scene, clause, value):
    made = track(scene)
    getattr(made, clause)[-16] = value
    assert made.balanced()


@pytest.mark.parametrize(("clause", "value"), [("height", TALL), ("upright", UPRIGHT), ("speed", SLOW - 1e-9)])
def test_just_good_enough(scene, clause, value):
    made = track(scene)
    getattr(made, clause)[-3] = value
    assert made.balanced()


def test_a_broken_world_is_not_balanced(scene):
    made = track(scene)
    made.broken = True
    assert not made.balanced()


def test_the_words_of_the_verdict():
    assert (TALL, SLOW) == (0.85, 0.5)
    assert np.degrees(np.arccos(UPRIGHT)) == pytest.approx(25)


@pytest.mark.parametrize(
    ("heights", "feet", "falls"),
    [
        ([1, 1, 1], [1, 1, 1], 0),
        ([1, 0.7, 0.4, 0.3], [1, 1, 0, 0], 1),
        ([0.2, 0.3, 0.2], [0, 0, 0], 0),  # never stood
        ([0.2, 0.9, 1, 0.4, 0.2], [0, 1, 1, 0, 0], 1),
        ([1, 0.4, 1, 0.4], [1, 0, 1, 0], 2),
        ([1, 0.4, 0.6, 0.4, 0.6, 0.4], [1, 0, 0, 0, 0, 0], 1),  # one fall until it stands again
        ([1, 0.6, 1, 0.6], [1, 1, 1, 1], 0),  # a crouch
        ([0.9, 0.4], [0, 0], 0),  # leaning on a hand is not standing
    ],
)
def test_falls(scene, heights, feet, falls):
    made = Track(scene)
    made.height, made.only_feet = list(map(float, heights)), list(map(bool, feet))
    assert FALLEN == 0.5
    assert made.falls() == falls


def test_metrics_in_closed_form(scene):
    """Joint speeds 0.3 sin(w t) in every joint: rms 0.3 / sqrt 2, and w^2 of that for the jerk."""
    made = track(scene, 300)
    times, w = scene.dt * np.arange(300), 2 * np.pi  # whole periods in the last 5 s
    made.joint_speeds = [np.full(30, 0.3 * np.sin(w * t)) for t in times]
    made.joint_speeds[:150] = [np.full(30, 99.0)] * 150  # earlier than that does not count
    metrics = made.metrics()
    assert metrics["rms_joint_speed"] == pytest.approx(0.3 / np.sqrt(2), rel=1e-6)
    second = (2 * np.sin(w * scene.dt / 2) / scene.dt) ** 2  # of a second difference
    assert metrics["rms_jerk"] == pytest.approx(second * 0.3 / np.sqrt(2), rel=0.02)
    assert metrics["falls"] == 0


@pytest.mark.parametrize("frames", [0, 1, 2])
def test_metrics_of_hardly_anything_are_numbers(scene, frames):
    assert all(np.isfinite(value) for value in track(scene, frames).metrics().values())


def test_a_track_sees_the_live_world(scene, still):
    from tumble.session import Session

    session = Session(scene, still, scene.state())
    standing = Track(scene)
    session.listeners.append(standing)
    session.step()
    assert standing.height[0] == pytest.approx(1, abs=0.01)
    assert standing.upright[0] == pytest.approx(1, abs=0.01)
    assert standing.speed[0] < 0.1
    assert standing.only_feet == [True]
    session = Session(scene, still, scene.state("t-pose", "supine"))
    lying = Track(scene)
    session.listeners.append(lying)
    session.step()
    assert lying.height[0] < 0.2
    assert lying.upright[0] == pytest.approx(0, abs=0.1)
    assert lying.only_feet == [False]


# What a seed decides --------------------------------------------------------------------------------


def tell(trial) -> tuple:
    return trial.state.tobytes(), trial.seconds, tuple(trial.events)


@each_scenario
def test_a_trial_is_decided_by_its_seed(name, scene):
    scenario = SCENARIOS[name]()
    one, again, other = (tell(scenario.trial(scene, np.random.default_rng(seed))) for seed in (1, 1, 2))
    assert one == again
    assert (one != other) == (name in RANDOM)


@each_scenario
def test_scenarios_introduce_themselves(name, scene):
    kind = SCENARIOS[name]
    assert kind.name == name
    assert kind.summary and kind.__doc__
    trial = kind().trial(scene, np.random.default_rng(0))
    assert 0 < trial.seconds <= 60
    assert all(0 <= when < trial.seconds for when, _ in trial.events)
    assert [when for when, _ in trial.events] == sorted(when for when, _ in trial.events)
    for _, command in trial.events:
        command.check(scene)


def test_pushes_are_horizontal_of_the_asked_size_from_all_sides(scene):
    angles = []
    for seed in range(200):
        trial = Push(force=600.0).trial(scene, np.random.default_rng(seed))
        ((when, push),) = trial.events
        assert isinstance(push, PushCommand)
        assert push.body == "torso" and push.seconds == 0.1
        assert push.force[2] == 0
        assert np.hypot(*push.force[:2]) == pytest.approx(600)
        assert 1 <= when <= 2
        assert trial.seconds == pytest.approx(when + 5.1)
        angles.append(np.arctan2(*push.force[:2]))
    # the mean of 200 random directions has a length of 1/sqrt(200) = 0.07 or so; of 0.2, once in 3000
    assert abs(np.exp(1j * np.array(angles)).mean()) < 0.2


def test_blasts_are_beside_the_feet(scene):
    ((when, blast),) = Explosion(speed=4.0).trial(scene, np.random.default_rng(0)).events
    assert isinstance(blast, Explode)
    assert blast.speed == 4.0
    assert np.hypot(*blast.at[:2]) == pytest.approx(0.7) and blast.at[2] == 0
    assert 1 <= when <= 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Push(force=-1), "force must be a number 0 or more and at most 100000, got -1"),
        (lambda: Push(force=float("nan")), "force must be a number 0 or more and at most 100000, got nan"),
        (lambda: Explosion(speed=float("inf")), "speed must be a number 0 or more and at most 1000, got inf"),
    ],
)
def test_bad_options(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


# Running --------------------------------------------------------------------------------------------


@pytest.fixture
def planned(scene, goal, small):
    return Planned(CPBP(scene, small, 0, 1), goal)


@each_scenario
def test_a_short_trial(name, scene, planned):
    heard = []
    result = run_trial(
        SCENARIOS[name](),
        scene,
        planned,
        3,
        0.3,
        watch=lambda session: session.listeners.append(lambda s, f: heard.append(f)),
    )
    assert result.finished
    assert result.frames == 9 == len(heard)
    assert result.seconds == pytest.approx(0.3)
    assert len(result.plan_seconds) == 9 and min(result.plan_seconds) > 0
    assert result.sim_steps == 9 * 8 * 6
    assert result.broken_rows == 0
    assert set(result.metrics) == {"rms_joint_speed", "rms_jerk", "falls"}
    assert not result.success  # too short to judge
    again = run_trial(SCENARIOS[name](), scene, planned, 3, 0.3)
    assert again.metrics == result.metrics


def test_events_come_when_they_are_due(scene, still):
    heard = []
    scenario = Push(force=100.0)
    trial = scenario.trial(scene, np.random.default_rng(4))
    result = run_trial(
        scenario, scene, still, 4, watch=lambda session: session.listeners.append(lambda s, f: heard.append(f))
    )
    ((when, push),) = trial.events
    (frame,) = [frame for frame in heard if frame.commands]
    assert frame.commands == (push,)
    assert 0 <= frame.index * scene.dt - when < scene.dt
    assert result.frames == round(trial.seconds / scene.dt)


def test_holding_still_stands_for_a_second(scene, still):
    result = run_trial(Stand(), scene, still, 0, 1.0)
    assert result.success
    assert result.sim_steps == 0


def test_stopping_early_is_no_success(scene, still):
    left = iter([False] * 20 + [True] * 99)
    result = run_trial(Stand(), scene, still, 0, 1.0, stop=lambda: next(left))
    assert (result.finished, result.success, result.frames) == (False, False, 20)


def test_a_world_that_breaks_ends_the_trial(scene, still):
    def spoil(session):
        def hear(session, frame):
            if frame.index == 4:
                session.world.view("qvel")[0] = np.nan

        session.listeners.append(hear)

    result = run_trial(Stand(), scene, still, 0, 1.0, watch=spoil)
    assert (result.finished, result.success, result.frames, result.broken_rows) == (True, False, 6, 1)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), 1e9])
def test_bad_durations(scene, still, seconds):
    with pytest.raises(UserError, match=r"seconds must be a number 0\.0333333 or more and at most 86400"):
        run_trial(Stand(), scene, still, 0, seconds)
