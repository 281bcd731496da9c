"""History: the verdict on readings made by hand, falls, speeds along what was wanted, torques, cutting, forgetting."""

from collections.abc import Sequence

import numpy as np
import pytest
from histories import put, readings, seen, world_of

from tumble.goals.wants import Balance, Do, Go, Reach, Together
from tumble.live.commands import Push, Reset
from tumble.live.session import Session
from tumble.scenarios import History
from tumble.scenarios.history import FALLEN, SLOW, TALL, UPRIGHT
from tumble.world.props import Ball
from tumble.world.scene import Scene

# The verdict ----------------------------------------------------------------------------------------


def test_standing_still_is_balanced(scene):
    assert seen(scene, readings(scene)).balanced() is True
    assert seen(scene, readings(scene, frames=15)).balanced() is True  # half a second
    assert seen(scene, readings(scene, frames=14)).balanced() is False
    assert seen(scene, readings(scene, frames=0)).balanced() is False


def spoiled(scene: Scene, clause: str, good: bool, frame: int, frames: int = 30) -> History:
    """Standing still, but for one frame in which a clause is just met or just not."""
    rows = readings(scene, frames=frames)
    slack = 1e-6 if good else -1e-6
    match clause:
        case "height":
            standing = rows[0, scene.channels["pelvis.pos"]][2]
            put(scene, rows, frame, "pelvis.pos", (0, 0, (TALL + slack) * standing))
        case "upright":
            lean = np.arccos(UPRIGHT + slack)
            put(scene, rows, frame, "torso.up", (0.6 * np.sin(lean), 0.8 * np.sin(lean), np.cos(lean)))
        case "speed":
            put(scene, rows, frame, "com_velocity", (SLOW - slack) * np.array([2, -1, 2]) / 3)
        case "only_feet":
            put(scene, rows, frame, "left_foot.ground" if good else "left_hand.ground", 1)
    return seen(scene, rows)


each_clause = pytest.mark.parametrize("clause", ["height", "upright", "speed", "only_feet"])


@each_clause
@pytest.mark.parametrize("frame", [-1, -8, -15])
def test_each_clause_counts_over_the_last_half_second(scene, clause, frame):
    assert not spoiled(scene, clause, False, frame).balanced()
    assert spoiled(scene, clause, True, frame).balanced()  # just good enough


@each_clause
def test_what_was_before_does_not_count(scene, clause):
    assert spoiled(scene, clause, False, -16).balanced()


def test_a_broken_world_is_not_balanced(scene):
    made = seen(scene, readings(scene), broken=True)
    assert made.broken
    assert not made.balanced()
    assert not made.lasted(0.1)


def test_the_words_of_the_verdict():
    assert (TALL, SLOW) == (0.85, 0.5)
    assert np.degrees(np.arccos(UPRIGHT)) == pytest.approx(25)


@pytest.mark.parametrize(("frames", "lasted"), [(30, True), (31, True), (29, False), (0, False)])
def test_lasted_counts_frames(scene, frames, lasted):
    assert seen(scene, readings(scene, frames=frames)).lasted(1.0) is lasted


def test_of_and_last(scene):
    rows = np.arange(40.0)[:, None] + np.arange(scene.model.nsensordata) / 1000
    made = seen(scene, rows)
    assert made.of("com").shape == (40, 3)
    assert np.array_equal(made.of("com"), rows[:, scene.channels["com"]])
    assert np.array_equal(made.of("com")[made.last(0.5)], rows[-15:, scene.channels["com"]])
    assert len(made.of("com")[made.last(1e-9)]) == 1
    assert len(made.of("com")[made.last(99)]) == 40
    assert seen(scene, rows[:0]).of("grounded").shape == (0, 15)


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
    assert FALLEN == 0.5
    assert fallen(scene, heights, feet).falls() == falls


def fallen(scene: Scene, heights: Sequence[float], feet: Sequence[int]) -> History:
    """The root at these heights, as multiples of its standing height, and something beside feet grounded or not."""
    rows = readings(scene, frames=len(heights))
    standing = rows[0, scene.channels["pelvis.pos"]][2]
    for i, (height, only_feet) in enumerate(zip(heights, feet, strict=True)):
        put(scene, rows, i, "pelvis.pos", (0, 0, height * standing))
        put(scene, rows, i, "right_hand.ground", 1 - only_feet)
    return seen(scene, rows)


def test_metrics_in_closed_form(scene):
    """Joint speeds 0.3 sin(w t) in every joint: rms 0.3 / sqrt 2, and w^2 of that for the jerk."""
    times, w = scene.dt * np.arange(300), 2 * np.pi  # whole periods in the last 5 s
    speeds = np.tile(0.3 * np.sin(w * times)[:, None], (1, 30))
    speeds[:150] = 99.0  # earlier than that does not count
    metrics = seen(scene, readings(scene, frames=300), speeds).metrics()
    assert metrics["rms_joint_speed"] == pytest.approx(0.3 / np.sqrt(2), rel=1e-6)
    second = (2 * np.sin(w * scene.dt / 2) / scene.dt) ** 2  # of a second difference
    assert metrics["rms_jerk"] == pytest.approx(second * 0.3 / np.sqrt(2), rel=0.02)
    assert metrics["falls"] == 0


def test_a_history_sees_the_live_world(scene, still):
    session = Session(scene, still, scene.state())
    standing = History(scene)
    session.listeners.append(standing)
    push = Push("torso", (1.0, 0.0, 0.0))
    session.step()
    session.send(push)
    session.step()
    assert standing.height[0] == pytest.approx(1, abs=0.01)
    assert standing.upright[0] == pytest.approx(1, abs=0.01)
    assert standing.speed[0] < 0.1
    assert standing.only_feet.all()
    assert np.array_equal(standing.of("com")[-1], session.world.view("com")[0])
    assert standing.commands == [(pytest.approx(scene.dt), push)]
    session = Session(scene, still, scene.state("t-pose", "supine"))
    lying = History(scene)
    session.listeners.append(lying)
    session.step()
    assert lying.height[0] < 0.2
    assert lying.upright[0] == pytest.approx(0, abs=0.1)
    assert not lying.only_feet.any()


def test_seconds_until_something_happens(scene):
    made = seen(scene, readings(scene, frames=30))
    assert made.until(np.arange(30) >= 12) == pytest.approx(12 * scene.dt)
    assert made.until(np.zeros(30, bool)) == pytest.approx(30 * scene.dt)  # never: the whole trial


# What was wanted ------------------------------------------------------------------------------------


def test_wants_are_all_that_is_wanted_since_when(scene):
    commands = {3: Go(speed=0.5), 6: Go(heading=1.0), 9: Reach((0.4, 0.0, 1.2)), 12: Push("torso", (1.0, 0.0, 0.0))}
    history = seen(scene, readings(scene), want=Balance(), commands=commands)
    dt = scene.dt
    expected = [
        (0.0, Balance()),
        (3 * dt, Go(speed=0.5)),
        (6 * dt, Go(speed=0.5, heading=1.0)),
        (9 * dt, Reach((0.4, 0.0, 1.2))),
    ]
    assert [want for _, want in history.wants] == [want for _, want in expected]
    assert [when for when, _ in history.wants] == pytest.approx([when for when, _ in expected])
    assert [command for _, command in history.commands] == list(commands.values())
    # in the frames that end at these times
    for frame, want in ((0, 0), (1, 0), (3, 0), (4, 1), (6, 1), (7, 2), (9, 2), (10, 3), (30, 3)):
        assert history.wanted(frame * dt) == expected[want][1]
    assert seen(scene, readings(scene)).wanted(0.5) is None


def test_along_what_is_wanted_by_wants_that_add_up(scene):
    rows = readings(scene, frames=50)
    put(scene, rows, slice(None), "com", (1.0, 1.0, 1.0))
    put(scene, rows, slice(None), "com_velocity", (0.6, -0.8, 3.0))
    commands = {
        10: Go(heading=np.pi / 2),  # as fast as before, along y
        20: Together((Do("wait 1 s"), Go(style="happy"))),  # a manner alone goes nowhere
        30: Go(target=(4.0, -3.0, 0.0)),
        40: Go(speed=0.0),
    }
    history = seen(scene, rows, want=Go(speed=0.5), commands=commands)
    assert history.along == pytest.approx(np.repeat([0.6, -0.8, 0.0, 1.0, 0.0], 10))


# Torques --------------------------------------------------------------------------------------------


def test_the_peak_torque_is_the_largest_mean_of_a_frame():
    scene = world_of("crate-carry")
    drive = scene.drives["torque"]
    assert list(drive.names[: drive.joints]) == list(scene.character.joints)
    controls = np.zeros((20, drive.size))
    controls[7, 3], controls[12, 5] = -0.5, 0.25
    strengths = [joint.strength for joint in scene.character.joints.values()]
    history = seen(scene, readings(scene, frames=20), controls=controls, drive="torque")
    assert history.peak_torque() == pytest.approx(max(0.5 * strengths[3], 0.25 * strengths[5]))
    controls[7, 3] = 0.0
    controls[:, drive.joints :] = 1.0  # grips are no joints
    history = seen(scene, readings(scene, frames=20), controls=controls, drive="torque")
    assert history.peak_torque() == pytest.approx(0.25 * strengths[5])


def test_the_engines_damping_is_taken_off_the_torque():
    """A joint that turns at 3 rad/s under a torque that only makes up for its damping is not strained."""
    scene = world_of("crate-carry")
    drive, frames, speed = scene.drives["torque"], 10, 3.0
    damping = scene.model.dof_damping[drive.qvel[2]]
    assert damping > 0
    angles, controls = np.zeros((frames, drive.joints)), np.zeros((frames, drive.size))
    angles[:, 2] = speed * scene.dt * np.arange(frames)
    controls[:, 2] = speed * damping / drive.strength[2]
    rows = readings(scene, frames=frames)
    given = seen(scene, rows, controls=controls, drive="torque", angles=angles)
    assert given.peak_torque() == pytest.approx(0.0, abs=1e-9)
    idle = seen(scene, rows, controls=0 * controls, drive="torque", angles=angles)
    assert idle.peak_torque() == pytest.approx(speed * damping)


def test_servos_and_short_histories_tell_no_torque(scene):
    assert seen(scene, readings(scene)).peak_torque() == 0.0
    walks = world_of("crate-carry")
    full = np.ones((1, walks.drives["torque"].size))
    assert seen(walks, readings(walks, frames=1), controls=full, drive="torque").peak_torque() == 0.0


def test_torques_of_a_relay_are_those_of_its_walker():
    scene = world_of("crate-carry")
    torque, servo = scene.drives["torque"], scene.drives["servo"]
    history = seen(scene, readings(scene, frames=5), controls=np.full((5, torque.size), 0.1), drive="torque")
    seen(scene, readings(scene, frames=5), controls=np.full((5, servo.size), 0.9), history=history)
    strongest = max(joint.strength for joint in scene.character.joints.values())
    assert history.peak_torque() == pytest.approx(0.1 * strongest)
    assert history.frames == 10


# Cutting and forgetting -----------------------------------------------------------------------------


def long_ago(scene: Scene) -> History:
    """60 frames in which something can be told apart."""
    rows = readings(scene, frames=60)
    rows[:, scene.channels["com"]] = np.arange(60)[:, None]
    commands = {10: Go(speed=0.5), 20: Reset(), 40: Go(speed=1.0)}
    who = ["walking"] * 30 + ["rising"] * 30
    speeds = np.tile(np.arange(60.0)[:, None], (1, scene.drive.joints))
    return seen(scene, rows, want=Balance(), commands=commands, acting=who, speeds=speeds)


def same(one: History, two: History) -> bool:
    """Whether two histories tell the same but for wall time."""
    return (
        np.array_equal(one.of("com"), two.of("com"))
        and np.array_equal(one.acting, two.acting)
        and one.commands == two.commands
        and one.metrics() == two.metrics()
        and (one.frames, one.time, len(one.wall)) == (two.frames, two.time, len(two.wall))
    )


def test_a_history_that_was_cut_is_one_that_ended_there(scene):
    whole, rows = long_ago(scene), readings(scene, frames=60)
    rows[:, scene.channels["com"]] = np.arange(60)[:, None]
    speeds = np.tile(np.arange(60.0)[:, None], (1, scene.drive.joints))
    commands, who = {10: Go(speed=0.5), 20: Reset()}, ["walking"] * 30 + ["rising"] * 30
    for frames in (45, 40, 21, 20):
        whole.cut(frames)
        told = {i: command for i, command in {**commands, 40: Go(speed=1.0)}.items() if i < frames}
        short = seen(scene, rows[:frames], want=Balance(), commands=told, speeds=speeds, acting=who)
        assert same(whole, short)
        assert whole.wants[-1][1] == Go(speed=1.0)  # which stays wanted
    assert whole.resets() == []  # it came in frame 20
    whole.cut(5, want=Balance())
    assert [want for _, want in whole.wants] == [Balance()]
    whole.cut(99)
    assert whole.frames == 5
    whole.cut(-1)
    assert (whole.frames, whole.commands, whole.broken) == (0, [], False)


def test_a_history_goes_on_after_a_cut(scene):
    history = long_ago(scene)
    history.cut(30)
    seen(scene, readings(scene, frames=5), history=history, commands={2: Reset()})
    assert history.frames == 35
    assert history.resets() == pytest.approx([20 * scene.dt, 32 * scene.dt])


def test_a_broken_world_is_mended_by_a_cut(scene):
    history = seen(scene, readings(scene), broken=True)
    history.cut(29)
    assert not history.broken and history.balanced()


def test_what_is_forgotten_is_the_beginning(scene):
    history = long_ago(scene)
    history.forget(1.0)
    assert history.frames == 30
    assert history.began == pytest.approx(1.0) and history.time == pytest.approx(2.0)
    assert np.array_equal(history.of("com")[:, 0], np.arange(30, 60))
    assert set(history.acting) == {"rising"}
    assert [command for _, command in history.commands] == [Go(speed=0.5), Go(speed=1.0)]  # all that was wanted
    assert [want for _, want in history.wants] == [Balance(), Go(speed=0.5), Go(speed=1.0)]
    assert history.wanted(1.1) == Go(speed=0.5)
    before = history.metrics()
    history.forget(5.0)  # there is no more
    assert history.frames == 30 and history.metrics() == before
    seen(scene, readings(scene, frames=100), history=history)
    assert history.frames == 130 and history.of("com").shape == (130, 3)


def test_sights_are_cut_and_forgotten_with_their_frames(scene, still):
    """They are looked at in every third frame."""
    session = Session(scene, still, scene.state())
    history = History(scene, sights={"time": lambda sims: sims.view("time")[0].copy()})
    session.listeners.append(history)

    def run(frames: int) -> None:
        for _ in range(frames):
            session.step()

    def looked() -> list[int]:
        return [round(float(np.ravel(look)[0]) / scene.dt) for look in history.seen("time")]

    run(10)
    assert looked() == [1, 4, 7, 10]
    history.cut(7)
    assert looked() == [1, 4, 7]
    history.cut(6)
    assert looked() == [1, 4]
    run(9)
    assert len(looked()) == 5
    history.forget(10 * scene.dt)
    assert history.frames == 12 and len(looked()) == 4
    run(1)
    assert len(looked()) == 5


# Another scene --------------------------------------------------------------------------------------


def test_a_history_goes_on_in_another_scene(scene, ball_scene, still):
    """What sensors of things that were not there yet would have read is 0; those that go are gone."""
    session, history = Session(scene, still, scene.state()), History(scene)
    session.listeners.append(history)
    for _ in range(3):
        session.step()
    com = history.of("com").copy()
    session.enter(ball_scene)
    session.step()
    assert history.scene is ball_scene and history.frames == 4
    assert np.array_equal(history.of("com")[:3], com)
    assert not history.of("ball.pos")[:3].any() and history.of("ball.pos")[3].any()
    session.enter(Scene(scene.character, [Ball("other")]))
    session.step()
    assert history.of("com").shape == (5, 3) and "ball.pos" not in history.scene.channels
    assert np.array_equal(history.of("com")[:3], com)


def test_who_acted_is_kept(scene):
    who = ["walking", "rising", "rising", "walking"]
    history = seen(scene, readings(scene, frames=4), acting=who)
    assert history.acting.tolist() == who
    assert seen(scene, readings(scene, frames=2)).acting.tolist() == ["", ""]
    assert History(scene).acting.shape == (0,)
