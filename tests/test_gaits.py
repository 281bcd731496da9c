"""Learning gaits: what is stable and who is down, on histories made by hand; poles, turns and projectiles."""

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from conftest import Still
from histories import put, ran, readings, seen

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Balance, Go
from tumble.live.commands import Reset, Throw
from tumble.live.session import Session
from tumble.scenarios import History
from tumble.scenarios.gaits import LearnHop, LearnTrot, LearnWalk, PlanarNet, Pole, Stop, TurnGait, back_up, placed
from tumble.scenarios.projectiles import HopProjectiles, WalkProjectiles, hits, survived, thrown
from tumble.world.props import Ball
from tumble.world.scene import Scene
from tumble.world.sims import Sims

DT = 1 / 30
AHEAD = Go(speed=1.0, heading=0.0)


@cache
def world(body: str = "humanoid-walker") -> Scene:
    """A character and the sphere of projectiles."""
    return WalkProjectiles().scene(character(body))


def history_of(
    frames: int = 60, down: Sequence[int] = (), body: str = "humanoid-walker", wants=None, **more
) -> History:
    """Standing still, but for the frames in which the root is low and something beside a foot touches."""
    scene = world(body)
    rows = more.pop("rows", None)
    rows = readings(scene, frames=frames) if rows is None else rows
    for frame in down:
        put(scene, rows, frame, f"{scene.character.root}.ground", 1)
        put(scene, rows, frame, f"{scene.character.root}.pos", (0, 0, 0.1))
    return seen(scene, rows, want=wants, **more)


# What a history knows ---------------------------------------------------------------------------------


def test_a_history_counts_from_where_it_began():
    history = History(world(), began=20.0)
    assert (history.time, history.frames, history.frame(20.0), history.frame(20.5)) == (20.0, 0, 0, 15)
    session = Session(world(), Still(world()), world().state())
    session.listeners.append(history)
    session.step()
    session.send(Reset())
    for _ in range(99):
        session.step()
    assert history.time == pytest.approx(20 + 100 * DT)
    assert history.resets() == [pytest.approx(20 + DT)]
    assert history.of("com").shape == (100, 3)  # which is more than it had room for at first
    assert np.array_equal(history.of("com")[-1], session.world.view("com")[0])
    assert len(history.wall) == 100 and (np.diff([0, *history.wall]) > 0).all()


def walked(velocity: np.ndarray, contacts: Sequence[int] = (), upwards: float = 9.0, **more) -> History:
    """A history with these horizontal velocities (frames, 2), and a body contact in some frames."""
    rows = readings(world(), frames=len(velocity))
    rows[:, world().channels["com_velocity"]] = np.c_[velocity, np.full(len(velocity), upwards)]
    for frame in contacts:
        put(world(), rows, frame, "left_forearm.ground", 1)
    return history_of(rows=rows, **more)


def ahead(*runs: tuple[int, float]) -> np.ndarray:
    """(frames, 2): so many frames with that speed along x, one run after the other."""
    return np.concatenate([np.tile([speed, 0.5], (frames, 1)) for frames, speed in runs])


@pytest.mark.parametrize(
    ("velocity", "contacts", "frame"),
    [
        (ahead((400, 0.8)), [], 299),
        (ahead((300, 0.8)), [], 299),
        (ahead((299, 0.8)), [], None),
        (ahead((400, 0.79)), [], None),
        (ahead((400, -2.0)), [], None),
        (ahead((40, 0.0), (400, 1.0)), [], 299),  # 260 of 300 frames
        (ahead((100, 0.0), (400, 1.0)), [], 339),  # 240 of them are just enough
        (ahead((400, 1.0), (200, 0.0)), [299], None),
        (ahead((600, 1.0)), [50], 350),
        (ahead((600, 1.0)), [50, 200], 500),
        (ahead((500, 1.0)), [50, 200], None),
        (ahead((600, 1.0)), [300], 299),
        (ahead((10, 0.0)), [], None),
    ],
)
def test_stable_is_the_end_of_the_first_good_ten_seconds(velocity, contacts, frame):
    assert walked(velocity, contacts, wants=AHEAD).stable() == frame
    assert walked(velocity, contacts, commands={0: AHEAD}).stable() == frame
    assert walked(velocity, contacts).stable() is None  # nobody wanted to go anywhere


def test_stable_by_another_reckoning():
    """Against loops over all windows, of 1 s."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(40):
        velocity = np.repeat(rng.uniform(0, 1.4, (8, 2)), 15, axis=0)
        contacts = rng.choice(120, rng.integers(8), replace=False)
        history = walked(velocity, contacts, wants=AHEAD)
        ends = [
            end
            for end in range(29, 120)
            if velocity[end - 29 : end + 1, 0].mean() >= 0.8 and not {*range(end - 29, end + 1)} & {*contacts}
        ]
        assert history.stable(1.0, 0.8) == (ends[0] if ends else None)
        found.append(bool(ends))
    assert 5 < sum(found) < 35


def test_a_frame_that_broke_is_not_stable():
    assert walked(ahead((300, 1.0)), wants=AHEAD, broken=True).stable() is None
    assert walked(ahead((301, 1.0)), wants=AHEAD, broken=True).stable() == 299


def test_along_what_was_wanted_last():
    rows = readings(world(), frames=40)
    put(world(), rows, slice(None), "com", (1.0, 1.0, 1.0))
    put(world(), rows, slice(None), "com_velocity", (0.6, -0.8, 3.0))
    commands = {
        10: Go(speed=0.5, heading=np.pi / 2),
        20: Go(target=(4.0, -3.0, 0.0)),
        25: Go(target=(1.0, 1.0, 0.0)),  # there already
        30: Go(speed=0.0, heading=np.pi / 2),
        35: Balance(),  # goes nowhere either
    }
    along = history_of(rows=rows, commands=commands, wants=AHEAD).along
    assert along == pytest.approx(np.repeat([0.6, -0.8, 1.0, 0.0], [10, 10, 5, 15]))
    assert not history_of(10).along.any() and history_of(0).along.shape == (0,)


def down_so_far(stands: np.ndarray, contacts: np.ndarray, resets: Sequence[int]) -> list[float]:
    """By a machine that sees one frame after the other."""
    since, found = None, []
    for i in range(len(stands)):
        if i in resets:
            since = None
        if stands[i]:
            since = None
        elif contacts[i] and since is None:
            since = i
        found.append(0.0 if since is None else (i - since) * DT)
    return found


def test_down_is_since_the_first_contact_of_who_has_not_stood():
    scene, rng = world(), np.random.default_rng(0)
    longest = 0.0
    for _ in range(30):
        rows = readings(scene, frames=50)
        contacts, low = np.repeat(rng.random((2, 10)) < 0.6, 5, axis=1)
        resets = [int(frame) for frame in rng.choice(50, rng.integers(3), replace=False)]
        for i in range(50):
            put(scene, rows, i, "torso.ground", contacts[i])
            if low[i]:
                put(scene, rows, i, "pelvis.pos", (0, 0, 0.3))
        commands = {frame: Reset() for frame in resets}
        expected = down_so_far(~contacts & ~low, contacts, resets)
        for end in (10, 23, 37, 50):
            assert seen(scene, rows[:end], commands=commands).down == pytest.approx(expected[end - 1])
        longest = max(longest, *expected)
    assert longest > 0.5
    assert History(scene).down == 0.0


@pytest.mark.parametrize(
    ("down", "downs"),
    [([], 0), ([5], 1), ([5, 6, 7], 1), ([5, 7], 2), ([0, 1], 0), ([0, 1, 9], 1), (range(5, 60), 1)],
)
def test_downs_are_contacts_of_who_stood(down, downs):
    assert history_of(down=down).downs() == downs


@pytest.mark.parametrize(
    ("frames", "after", "due"), [(55, 1.5, False), (56, 1.5, True), (57, 1.5, True), (57, 2, False)]
)
def test_who_has_been_down_for_long_is_put_back(frames, after, due):
    """Down since frame 10, which is 45 frames before frame 55, the last of 56."""
    history = history_of(frames, down=range(10, frames))
    assert back_up(history, after) == ([Reset()] if due else [])
    assert not back_up(history_of(frames, down=range(10, frames), commands={frames - 20: Reset()}), after)


def test_who_lies_is_put_back_every_second_and_a_half():
    """A world in which nobody ever stands up by itself."""
    scene = LearnTrot().scene(character("quadruped"))

    class Folded(Still):
        """Bends everything as far as it goes."""

        def control(self, sims: Sims) -> np.ndarray:
            control = super().control(sims)
            control[:, : scene.drive.joints] = scene.drive.high[: scene.drive.joints]
            return control

    heard = []
    result = ran(
        LearnTrot(),
        scene,
        Folded(scene),
        0,
        12.0,
        lambda s: s.listeners.append(lambda s, frame: heard.append(frame.commands)),
    )
    frames = [i for i, commands in enumerate(heard) if commands]
    assert len(frames) >= 3 and all(heard[i] == (Reset(),) for i in frames)
    assert min(np.diff(frames)) > 45
    assert result.metrics["resets"] == len(frames) <= result.metrics["downs"] <= len(frames) + 1
    assert result.success is False


# Learning -------------------------------------------------------------------------------------------


@pytest.fixture
def ticking(monkeypatch):
    """A clock that goes on by a tenth of a second whenever it is looked at."""
    ticks = iter(range(10**6))
    monkeypatch.setattr("tumble.scenarios.history.time.perf_counter", lambda: 0.1 * next(ticks))


@pytest.mark.parametrize(
    ("pace", "frames", "contact", "stable"),
    [(1.0, 700, 20, 320), (1.0, 1000, 400, 299), (1.0, 700, 500, 299), (2, 700, 9, None)],
)
def test_when_a_gait_was_stable(ticking, pace, frames, contact, stable):
    scenario = LearnWalk(pace=pace)
    history = walked(ahead((frames, 1.0)), [contact], wants=scenario.wants())
    metrics, last = scenario.metrics(history), frames - 1 if stable is None else stable
    assert metrics["stable_seconds"] == pytest.approx((last + 1) * DT)
    assert metrics["stable_wall_seconds"] == pytest.approx((last + 1) / 10)
    assert metrics["under_a_minute"] == (stable is not None and last + 1 < 600)
    assert metrics["speed_along"] == pytest.approx(1.0)
    assert (metrics["downs"], metrics["resets"]) == (1, 0)
    assert scenario.success(history) is (stable is not None)


def test_a_stable_gait_that_took_more_than_a_minute(ticking):
    history = walked(ahead((700, 1.0)), [320], wants=AHEAD, commands={300: Reset()})
    slow = walked(ahead((299, 0.0), (400, 1.0)), [310], wants=AHEAD)
    assert LearnWalk().metrics(history)["under_a_minute"] == 1
    assert LearnWalk().metrics(slow)["stable_wall_seconds"] == pytest.approx(61.1)
    assert LearnWalk().success(slow) and LearnWalk().metrics(slow)["under_a_minute"] == 0
    assert LearnWalk().metrics(history)["resets"] == 1


def test_a_world_that_broke_has_not_learned():
    assert LearnWalk().success(walked(ahead((400, 1.0)), wants=AHEAD, broken=True)) is False


def test_who_learns():
    kinds = (LearnWalk, LearnHop, LearnTrot)
    assert [kind.characters[0] for kind in kinds] == ["humanoid-walker", "monoped", "quadruped"]
    for kind in kinds:
        scenario = kind(pace=0.7, until=33.0)
        scene = scenario.scene(character(kind.characters[0]))
        setup = scenario.setup(scene, np.random.default_rng(0))
        assert (kind.controllers[0], setup.seconds, list(setup.events)) == ("mcts", 33, [])
        assert scenario.wants() == Go(speed=0.7, heading=0.0)
        assert np.array_equal(setup.state, scene.state("rest"))
        assert setup.respond is back_up


# Poles ----------------------------------------------------------------------------------------------


def chased(seed: int, jumps: int, scenario: Pole = Pole()) -> list[tuple[float, float, float]]:
    """Poles that are shown to who is at each of them at once."""
    scene = world()
    setup = scenario.setup(scene, np.random.default_rng(seed))
    ((when, first),) = setup.events
    assert when == 0
    rows, commands = readings(scene, frames=jumps), {0: first}
    for frame in range(1, jumps):
        put(scene, rows, frame - 1, "com", (*commands[frame - 1].target[:2], 0.9))
        (commands[frame],) = setup.respond(seen(scene, rows[:frame], commands=commands))
    return [command.target for command in commands.values()]


def test_poles_are_decided_by_the_seed():
    one = chased(1, 8)
    assert one == chased(1, 8) and one[:5] == chased(1, 5)
    assert not {*one} & {*chased(2, 8)}


def test_a_pole_moves_three_to_six_metres_any_way():
    ways = np.concatenate([np.diff([(0, 0, 0), *chased(seed, 25)], axis=0) for seed in range(12)])
    lengths = np.hypot(*ways[:, :2].T)
    assert 3 <= lengths.min() < 3.1 and 5.9 < lengths.max() <= 6
    assert lengths.mean() == pytest.approx(4.5, abs=4 * 3 / np.sqrt(12 * 300))  # uniform
    # the mean of 300 random directions has a length of 1/sqrt(300) = 0.06 or so; of 0.2, once in 10^5
    assert abs(np.exp(1j * np.arctan2(*ways[:, :2].T)).mean()) < 0.2
    assert not ways[:, 2].any()
    short = np.diff(chased(0, 20, Pole(near=1.0, far=1.5)), axis=0)
    assert (np.abs(np.hypot(*short[:, :2].T) - 1.25) <= 0.25).all()


@pytest.mark.parametrize(("away", "moves"), [(0.49, True), (0.51, False)])
def test_a_pole_is_reached_within_half_a_metre(away, moves):
    scene = world()
    setup = Pole().setup(scene, np.random.default_rng(5))
    first = setup.events[0][1]
    rows = readings(scene, frames=9)
    put(scene, rows, -1, "com", (first.target[0] + 0.6 * away, first.target[1] - 0.8 * away, 0.9))
    history = seen(scene, rows, commands={0: first})
    assert len(setup.respond(history)) == moves
    assert Pole().metrics(history) == {"poles": moves, "downs": 0, "resets": 0}
    assert setup.respond(seen(scene, rows)) == []  # people wanted something else from the beginning


def test_six_poles_are_a_success():
    scene, poles = world(), chased(0, 8)
    rows = readings(scene, frames=90)
    put(scene, rows, slice(None), "com", (99.0, 99.0, 0.9))
    goals = {10 * i: Go(target=pole) for i, pole in enumerate(poles)}
    for count in (1, 2, 6, 7, 8):
        history = seen(scene, rows, commands=dict(list(goals.items())[:count]))
        assert Pole().metrics(history)["poles"] == count - 1
        assert Pole().success(history) is (count - 1 >= 6)
        assert Pole(poles=1).success(history) is (count > 1)
    assert placed(seen(scene, rows, commands={0: AHEAD, 1: Balance()})) == []
    assert not Pole().success(seen(scene, rows, commands=goals, broken=True))


# Turning and stopping -------------------------------------------------------------------------------


def test_turns_are_of_45_to_135_degrees_to_either_side():
    turns = []
    for seed in range(50):
        setup = TurnGait(pace=0.9).setup(world(), np.random.default_rng(seed))
        assert [when for when, _ in setup.events] == [6, 12, 18, 24] and setup.seconds == 30
        ways = [(0.9, 0.0), *(goal.velocity for _, goal in setup.events)]
        assert np.hypot(*np.transpose(ways)) == pytest.approx([0.9] * 5)
        angles = np.arctan2(*np.transpose(ways)[::-1])
        turns += [*((np.diff(angles) + np.pi) % (2 * np.pi) - np.pi)]
    sizes = np.degrees(np.abs(turns))
    assert 45 <= sizes.min() < 50 and 130 < sizes.max() <= 135
    assert 72 <= sum(turn > 0 for turn in turns) <= 128  # 4 standard deviations of 200 fair coins


@pytest.mark.parametrize(("speed", "contacts", "success"), [(0.51, [], True), (0.49, [], False), (0.9, [20], False)])
def test_turning_takes_half_of_the_pace_and_no_fall(speed, contacts, success):
    velocity = np.concatenate([np.tile([speed, 0.0], (30, 1)), np.tile([0.0, -speed], (30, 1))])
    there = {30: Go(speed=1.0, heading=-np.pi / 2)}
    assert TurnGait().success(walked(velocity, contacts, wants=AHEAD, commands=there)) is success
    assert TurnGait().success(walked(velocity, contacts, wants=AHEAD)) is False  # half of the way


def test_stopping():
    (event,) = Stop(walk=4.0).setup(world(), np.random.default_rng(0)).events
    assert event == (4.0, Go(speed=0.0, heading=0.0))
    event[1].check()
    good = np.zeros((180, 2))
    assert Stop().success(walked(good, upwards=0)) is True
    assert Stop().success(walked(good[1:], upwards=0)) is False  # it was told to stop after 5 s
    assert Stop().success(walked(good, [149], 0)) is True
    assert Stop().success(walked(good, [150], 0)) is False
    assert Stop().success(walked(good, upwards=0, commands={60: Reset()})) is False
    assert Stop().metrics(walked(good, upwards=0.3))["speed_left"] == pytest.approx(0.3)


@pytest.mark.parametrize(("speed", "success"), [(0.19, True), (0.21, False)])
def test_who_stopped_is_slow(speed, success):
    rows = readings(world(), frames=200)
    put(world(), rows, slice(None), "com_velocity", (0.6 * speed, 0.8 * speed, 0.0))
    put(world(), rows, -30, "com_velocity", (0.0, 0.0, 0.0))
    put(world(), rows, -1, "com_velocity", (1.2 * speed, 1.6 * speed, 0.0))  # on average
    assert Stop().success(history_of(rows=rows)) is success
    put(world(), rows, -9, "torso.up", (0.5, 0.0, 0.8))
    assert Stop().success(history_of(rows=rows)) is False


@pytest.mark.parametrize(
    ("speed", "contacts", "seconds", "success"),
    [
        (0.81, [], 2, True),
        (0.79, [], 2, False),
        (1.0, [29], 2, True),  # while it learned
        (1.0, [30], 0, False),
        (1.0, [45, 80], 0.5, False),
        (1.0, [89], 59 * DT, False),
    ],
)
def test_the_network_alone_is_judged_alone(speed, contacts, seconds, success):
    scenario = PlanarNet(learn=1.0, alone=2.0)
    history = walked(ahead((30, -3.0), (60, speed)), contacts, wants=AHEAD)
    metrics = scenario.metrics(history)
    assert (metrics["net_seconds"], metrics["speed_along"]) == (pytest.approx(seconds), pytest.approx(speed))
    assert scenario.success(history) is success
    assert scenario.success(walked(ahead((89, 1.0)), wants=AHEAD)) is False


# Projectiles ----------------------------------------------------------------------------------------


def test_the_sphere_of_the_authors():
    ball = world().prop("ball", Ball)
    assert (ball.mass, ball.radius) == (50, 0.33)
    assert (WalkProjectiles.characters[0], HopProjectiles.characters) == ("humanoid-walker", ("monoped",))


@pytest.mark.parametrize(("every", "frames"), [(6.0, [240, 420, 600]), (1.51, [240, 286, 331, 376])])
def test_spheres_are_thrown_when_it_is_time(every, frames):
    setup = WalkProjectiles(every=every).setup(world(), np.random.default_rng(0))
    rows, times = readings(world(), frames=frames[-1] + 1), []
    for frame in range(1, len(rows)):
        history = History(world())
        history._rows, history.frames = rows, frame
        times += [frame for command in setup.respond(history) if isinstance(command, Throw)]
    assert times == frames


@pytest.mark.parametrize("velocity", [(0.0, 0.0), (1.2, -0.4)])
def test_a_sphere_meets_who_goes_on_as_now(velocity):
    """The character is taken out of its way: nothing but gravity acts on the sphere."""
    scene = world()
    rows = readings(scene, frames=3)
    put(scene, rows, -1, "com", (7.0, 3.0, 0.8))
    put(scene, rows, -1, "com_velocity", (*velocity, 0.3))
    angles = []
    for count in range(40):
        throw = thrown(seen(scene, rows), 77, count)
        assert throw == thrown(seen(scene, rows), 77, count) != thrown(seen(scene, rows), 78, count)
        assert np.hypot(*throw.velocity[:2]) == pytest.approx(5) and throw.velocity[2] == 3.5
        meets = np.array([7.0 + velocity[0], 3.0 + velocity[1], 0.8])
        assert np.hypot(*(meets[:2] - throw.position[:2])) == pytest.approx(5)
        angles.append(np.arctan2(throw.velocity[1], throw.velocity[0]))
        if count < 3:
            sims = Sims(scene, 1, 1)
            sims.load(scene.state())
            sims.view("qpos")[0, 1] += 50
            throw.apply(sims)
            for _ in range(30):
                sims.act(Still(scene).control(sims))
            assert sims.view("ball.pos")[0] == pytest.approx(meets, abs=1e-9)
    # the mean of 40 random directions has a length of 1/sqrt(40) = 0.16 or so; of 0.5, once in 20000
    assert abs(np.exp(1j * np.array(angles)).mean()) < 0.5


SOME = Throw((0.0, 5.0, 2.0), (0.0, -5.0, 3.5))


@pytest.mark.parametrize(
    ("touched", "found"),
    [
        ([], []),
        ([29], []),  # before anything was thrown
        ([30], [30]),
        ([45, 46, 47, 100], [45]),  # a throw hits once
        ([199], [199]),
        ([199, 200], [199, 200]),
        ([260, 360], [260]),
        ([40, 349], [40, 349]),
        ([40, 350], [40]),  # too late to be judged
        ([201, 201 + 149, 499], [201]),
    ],
)
def test_hits_are_the_first_touches_of_throws(touched, found):
    """Thrown in frames 30 and 200 of 500; 5 s are 150 frames."""
    rows = readings(world(), frames=500)
    for frame in touched:
        put(world(), rows, frame, "ball.contact", (1, 0, 0, 0))
    history = history_of(rows=rows, commands={30: SOME, 200: SOME})
    assert hits(history, [30, 200]) == found
    assert WalkProjectiles().metrics(history) == {
        "throws": 2, "hits": len(found), "survived": len(found), "downs": 0, "resets": 0,
    }  # fmt: skip
    assert WalkProjectiles().success(history) is bool(found)


@pytest.mark.parametrize(
    ("down", "resets", "survives"),
    [
        ([], [], True),
        (range(20, 236), [], True),  # frames 236 to 250 are the last half second
        (range(20, 237), [], False),
        (range(101, 300), [], False),
        (range(120, 300), [], False),  # it stood a little before it fell, but fell
        ([*range(110, 150), 250], [], False),  # and again, in the last frame
        ([*range(110, 150), 251], [], True),
        (range(130, 160), [160], False),  # it was put there
        (range(60, 100), [100], True),  # before the hit
        (range(101, 200), [251], True),  # after it was judged
        (sorted({*range(101, 300)} - {*range(120, 134)}), [], False),  # 14 frames on its feet
    ],
)
def test_who_survives_stands_within_five_seconds_of_a_hit(down, resets, survives):
    """Hit in frame 100."""
    history = history_of(300, down=down, commands={frame: Reset() for frame in resets})
    assert survived(history, 100) is survives


def test_a_crouch_after_having_stood_is_no_fall():
    rows = readings(world(), frames=300)
    put(world(), rows, slice(200, 300), "pelvis.pos", (0, 0, 0.5))
    assert survived(history_of(rows=rows, down=range(110, 150)), 100)
    put(world(), rows, slice(160, 300), "pelvis.pos", (0, 0, 0.5))
    assert not survived(history_of(rows=rows, down=range(110, 150)), 100)


def test_half_of_the_hits():
    rows = readings(world(), frames=700)
    for frame in (60, 240, 420):
        put(world(), rows, frame, "ball.contact", (1, 0, 0, 0))
    throws = {30: SOME, 210: SOME, 390: SOME}
    verdicts = []
    for fallen in ([], [60], [60, 240], [60, 240, 420]):
        down = [frame for hit in fallen for frame in range(hit, hit + 160)]
        history = history_of(rows=rows.copy(), down=down, commands=throws)
        assert WalkProjectiles().metrics(history)["survived"] == 3 - len(fallen)
        verdicts.append(WalkProjectiles().success(history))
    assert verdicts == [True, True, False, False]


def test_who_stands_still_is_hit():
    """And lies until 5 s are over: no sooner is anybody put back here."""
    scene, hit, commands = world(), [], []

    def watch(session: Session) -> None:
        session.listeners.append(lambda s, frame: hit.append(bool(s.world.view("ball.contact")[0, 0] > 0)))
        session.listeners.append(lambda s, frame: commands.append(frame.commands))

    ran(WalkProjectiles(), scene, Still(scene), 2, 9.5, watch)
    assert not any(hit[:240]) and any(hit[240:285])
    first = [i for i, given in enumerate(commands) if given]
    assert [type(command) for command in commands[240]] == [Throw]
    assert all(isinstance(command, Reset) for i in first if i != 240 for command in commands[i])


# What is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LearnWalk(pace=0), "pace must be a number 0.1 or more and at most 5, got 0"),
        (lambda: LearnHop(until=9), "until must be a number 10 or more and at most 3600, got 9"),
        (lambda: LearnTrot(pace=float("nan")), "pace must be a number 0.1 or more and at most 5, got nan"),
        (lambda: Pole(near=0), "near must be a number 0.1 or more and at most 100, got 0"),
        (lambda: Pole(near=4, far=3), "far must be a number 4 or more and at most 100, got 3"),
        (lambda: Pole(within=0), "within must be a number 0.1 or more and at most 10, got 0"),
        (lambda: Pole(poles=0), "poles must be a number 1 or more and at most 1000, got 0"),
        (lambda: TurnGait(pace=6), "pace must be a number 0.1 or more and at most 5, got 6"),
        (lambda: Stop(walk=0), "walk must be a number 1 or more and at most 55, got 0"),
        (lambda: Stop(pace=-1), "pace must be a number 0.1 or more and at most 5, got -1"),
        (lambda: PlanarNet(learn=-1), "learn must be a number 0 or more and at most 3600, got -1"),
        (lambda: PlanarNet(alone=0), "alone must be a number 1 or more and at most 3600, got 0"),
        (lambda: WalkProjectiles(every=0.5), "every must be a number 1 or more and at most 60, got 0.5"),
        (lambda: HopProjectiles(pace=9), "pace must be a number 0.1 or more and at most 5, got 9"),
    ],
)
def test_bad_options(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()
