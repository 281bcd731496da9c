"""Trials: putting a character back on its feet, what scenarios respond to, sets that change, time that turns back."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from bodies import ANY_LEGS
from conftest import Still
from histories import ran
from test_gaits import AHEAD, DT, world

from tumble.characters import character
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals.wants import WANTS, Balance, Go
from tumble.live.commands import Drag, Push, Reset, SetParameter, Throw, decode
from tumble.live.recording import Recorder, Recording
from tumble.live.session import Session
from tumble.planners import CPBPSettings
from tumble.scenarios import SCENARIOS, History, Scenario, Trial, run_trial
from tumble.scenarios import trial as trial_module
from tumble.scenarios.gaits import PlanarNet, placed
from tumble.scenarios.scenario import Setup
from tumble.studio.choice import Choice
from tumble.studio.director import Director
from tumble.studio.requests import decode as decode_request
from tumble.world.placing import lowest
from tumble.world.props import Box
from tumble.world.scene import Scene
from tumble.world.sims import Sims

GAITS = [name for name, kind in SCENARIOS.items() if kind.make.controllers[0] == "mcts"]
SMALL = CONTROLLERS["mcts"].settings(samples=8, horizon=0.2)


# Back on the feet -----------------------------------------------------------------------------------


def tossed(body: str, nsim: int = 1) -> Sims:
    """Characters that lie and roll at different places, and a ball in flight."""
    sims = Sims(world(body), nsim, 1)
    sims.load(world(body).state(lying="prone"))
    Throw((2.0, 0.0, 3.0), (1.0, -2.0, 0.5)).apply(sims)
    sims.view("qpos")[:, 0] = 3.0 + np.arange(nsim)
    sims.view("qpos")[:, 1] = 0 if body == "planar-walker" else -2.0
    sims.view("qvel")[:, :3] += 0.3
    for _ in range(5):
        sims.act(Still(world(body)).control(sims))
    return sims


@pytest.mark.parametrize("body", [*ANY_LEGS, "humanoid", "biped"])
def test_a_reset_is_the_pose_at_rest_where_it_is(body):
    scene, sims = world(body), tossed(body, 2)
    before, time = sims.view("qpos").copy(), sims.view("time").copy()
    flight, speed = sims.view("ball.pos").copy(), sims.view("ball.vel").copy()
    Reset().apply(sims)
    qpos, stood = sims.view("qpos"), scene.show(scene.state("rest"))
    ball = int(scene.model.joint("ball").qposadr[0])
    assert ball == scene.model.nq - 7  # so that what is before it is the character's
    assert np.array_equal(qpos[:, :2], before[:, :2])
    assert np.ptp(qpos[:, 0]) == pytest.approx(1, abs=0.1)  # each where it is
    assert np.array_equal(qpos[:, 2:ball], np.tile(stood.qpos[2:ball], (2, 1)))
    assert not sims.view("qvel")[:, : scene.model.nv - 6].any()
    assert np.array_equal(qpos[:, ball:], before[:, ball:])
    assert np.array_equal(sims.view("ball.vel"), speed) and np.array_equal(sims.view("ball.pos"), flight)
    assert speed.any() and np.array_equal(sims.view("time"), time)
    shown = scene.show(sims.state[1])
    assert lowest(scene.model, shown, scene.root()) == pytest.approx(0, abs=1e-12)
    assert np.array_equal(sims.view("com")[1], shown.sensor("com").data)  # all fields are current
    assert sims.view(f"{scene.character.root}.up")[0] == pytest.approx([0, 0, 1])


def test_a_reset_in_another_pose():
    scene, sims = world(), tossed("humanoid-walker")
    Reset("t-pose").apply(sims)
    assert sims.view("qpos")[0, scene.drive.qpos] == pytest.approx(scene.character.pose("t-pose"))
    with pytest.raises(UserError, match="no pose 'taiko'; there are: rest, t-pose"):
        Session(scene, Still(scene), scene.state()).send(Reset("taiko"))


def test_who_was_broken_is_whole_again():
    sims = tossed("monoped")
    sims.view("qvel")[0, 0] = np.nan
    sims.act(Still(world("monoped")).control(sims))
    assert sims.broken.all()
    Reset().apply(sims)
    assert not sims.broken.any() and np.isfinite(sims.state).all()


def test_a_reset_travels_as_json():
    assert decode('{"type": "reset"}') == decode_request('{"type": "reset"}') == Reset("rest")
    assert decode('{"type": "reset", "pose": "t-pose"}') == Reset("t-pose")


@pytest.mark.parametrize("body", ["humanoid-walker", "planar-walker"])
def test_a_recording_of_resets_replays_bit_for_bit(tmp_path, body, known):
    """And the controller is not told: it goes on from one state to the next."""
    scene, still = world(body), Still(world(body))
    session = Session(scene, still, scene.state("rest", "prone", 0.3))
    recorder = Recorder(session, "learn-walk", "still", 0)
    for frame in range(40):
        if frame in (10, 25):
            session.send(Throw((1.0, 0.0, 1.0), (-5.0, 0.0, 0.0), aimed=True), Reset())
        session.step()
    recorder.recording.save(tmp_path / "reset.npz")
    recording = Recording.load(tmp_path / "reset.npz")
    assert [timed.command for timed in recording.parts[0].about.commands].count(Reset()) == 2
    assert recording.first_difference() is None
    assert len(still.states) == 40 and not still.wants and not still.parameters
    heights = [scene.show(recording.state(frame)).qpos[2] for frame in range(41)]
    assert heights[10] < 0.5 < heights[11] and session.time == pytest.approx(40 * DT)


# Responses ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answering(Scenario):
    """Pushes itself in the third frame and is put on its feet in the fifth."""

    asked: ClassVar[list[tuple[int, float]]] = []
    name: ClassVar[str] = "answering"

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        def respond(history: History) -> list:
            self.asked.append((history.frames, history.time))
            assert history.of("com").shape == (history.frames, 3)
            return {2: [Push("torso", (100.0, 0.0, 0.0)), Reset()], 4: [Reset()]}.get(history.frames, [])

        return Setup(scene.state("rest"), 1.0, [(2 * DT, Push("torso", (0.0, 1.0, 0.0)))], respond)


def test_a_trial_is_asked_between_all_frames_and_its_answers_are_recorded(known):
    scene, heard, recorders = world(), [], []

    def watch(session: Session) -> None:
        session.listeners.append(lambda session, frame: heard.append(frame.commands))
        recorders.append(Recorder(session, "answering", "still", 0))

    Answering.asked.clear()
    result = ran(Answering(), scene, Still(scene), 0, 8 * DT, watch)
    assert result.frames == 8
    assert Answering.asked == [(n, pytest.approx(n * DT)) for n in range(1, 8)]
    answer = (Push("torso", (100.0, 0.0, 0.0)), Reset(), Push("torso", (0.0, 1.0, 0.0)))  # before events of the frame
    assert heard == [(), (), answer, (), (Reset(),), (), (), ()]
    assert recorders[0].recording.first_difference() is None
    assert len(Answering.asked) == 7  # a replay does not ask


def test_a_world_that_breaks_is_asked_no_more():
    def spoil(session: Session) -> None:
        session.listeners.append(lambda s, frame: frame.index == 2 and s.world.view("qvel").fill(np.nan))

    Answering.asked.clear()
    result = ran(Answering(), world(), Still(world()), 0, 8 * DT, spoil)
    assert (result.frames, result.success, len(Answering.asked)) == (4, False, 3)


@pytest.mark.parametrize("name", GAITS)
def test_a_short_run_of_every_gait(name):
    """Of what was learned from nothing in a second nothing is stable; a recording of it replays."""
    recorders = []
    trial = Trial(SCENARIOS[name].make(), 1, "mcts", settings=SMALL, threads=1, seconds=1.0)
    result = run_trial(trial, lambda session: recorders.append(Recorder(session, name, "mcts", 1)))
    assert result.finished and not result.success
    assert np.isfinite(list(result.metrics.values())).all()
    assert recorders[0].recording.first_difference() is None


def test_the_network_alone_is_a_parameter_of_the_controller():
    scene = PlanarNet().scene(character("planar-walker"))
    still, setup = Still(scene), PlanarNet().setup(scene, np.random.default_rng(0))
    assert list(setup.events) == [(60.0, SetParameter("search", 0.0))] and setup.seconds == 70
    ran(PlanarNet(learn=0.2, alone=1.0), scene, still, 0)
    assert still.parameters == [{"search": 0.0}]


# In the studio --------------------------------------------------------------------------------------


def hand_of(name: str, **options: float) -> Director:
    kind = SCENARIOS[name].make
    return Director(Choice(name, kind.body_for("mcts"), "mcts", 3, tuple(options.items())).trial(1, SMALL))


@pytest.mark.parametrize(
    ("name", "options", "seconds"),
    [("pole", {"within": 10.0}, 0.5), ("walk-projectiles", {}, 8.5), ("learn-hop", {}, 4.0)],
)
def test_a_choice_responds_as_the_headless_trial_to_the_last_bit(name, options, seconds):
    hand, states, commands = hand_of(name, **options), [], []

    def hear(session: Session, frame) -> None:
        states.append(frame.state)
        commands.append(frame.commands)

    trial = Trial(SCENARIOS[name].make(**options), 3, "mcts", settings=SMALL, threads=1, seconds=seconds)
    run_trial(trial, lambda session: session.listeners.append(hear))
    frames = [hand.trial.step() for _ in states]
    assert [frame.commands for frame in frames] == commands
    assert np.array_equal([frame.state for frame in frames], states)
    given = {type(command) for some in commands for command in some}
    assert given - {Reset} == {"pole": {Go}, "walk-projectiles": {Throw}, "learn-hop": set()}[name]
    assert name != "learn-hop" or given == {Reset}


def test_poles_in_a_trial():
    hand = hand_of("pole", within=10.0)  # every pole is reached at once
    targets = []
    for _ in range(4):
        (command,) = hand.trial.step().commands
        assert hand.target == command.target == hand.trial.session.wanted.target
        targets.append(hand.target)
    assert len({*targets}) == hand.trial.told == 4
    assert np.hypot(*np.diff(targets, axis=0)[:, :2].T) == pytest.approx([4.5] * 3, abs=1.5)


def test_who_goes_on_from_the_past_goes_to_the_pole_of_then_and_finds_the_same_ones():
    hand = hand_of("pole", within=10.0)
    frames = [hand.trial.step() for _ in range(6)]
    targets = [frame.commands[0].target for frame in frames]
    hand.trial.rewind(hand.trial.scene, frames[2].state, 3 * DT)
    assert hand.target == targets[2]
    assert [hand.trial.step().commands[0].target for _ in range(3)] == targets[3:]


def test_in_another_scene_it_still_responds():
    hand = hand_of("pole", within=10.0)
    hand.trial.step()
    hand.throw((9.0, 0.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    assert [type(command) for command in hand.trial.step().commands] == [Throw, Go]
    assert [type(command) for command in hand.trial.step().commands] == [Go]
    history = hand.trial.history
    assert history.frames == 3 and history.scene is hand.trial.scene
    assert history.of("com").shape == (3, 3) and history.of("com").all()


def test_people_know_better_where_to_go():
    hand = hand_of("pole", within=10.0)
    hand.trial.step()
    hand.send(Go(target=(9.0, 9.0, 0.0)))
    told = hand.trial.told
    for _ in range(3):
        hand.trial.step()
    assert (hand.target, hand.trial.told) == ((9.0, 9.0, 0.0), told)


def test_spheres_come_at_their_time_also_after_another_start():
    scene = world()
    trial = Trial(SCENARIOS["walk-projectiles"].make(), 3, seconds=60.0, scene=scene, made=Still(scene))
    frames = [trial.step() for _ in range(430)]
    throws = [frame.index for frame in frames if any(isinstance(command, Throw) for command in frame.commands)]
    assert throws == [240, 420]
    for start in (421, 420, 418, 239):
        trial.rewind(trial.scene, frames[start - 1].state, start * DT)
        assert (trial.history.frames, trial.history.time) == (start, pytest.approx(start * DT))
        again = [trial.step() for _ in range(5)]
        thrown = [frame.index for frame in again if any(isinstance(one, Throw) for one in frame.commands)]
        assert thrown == [throw for throw in throws if start <= throw < start + 5]


def test_a_trial_forgets_what_was_long_ago(monkeypatch):
    usual = hand_of("pole", within=10.0)
    expected = [usual.trial.step().commands for _ in range(20)]
    monkeypatch.setattr(trial_module, "RECALL", 0.1)
    trial, heard = hand_of("pole", within=10.0).trial, []
    for _ in range(20):
        heard.append(trial.step().commands)
        trial.recall()
    assert heard == expected
    assert trial.history.frames <= 9 and trial.history.time == pytest.approx(trial.time)
    assert len(trial.result().plan_seconds) <= 9
    assert placed(trial.history) == [command.target for some in expected for command in some]
    assert sum(len(some) for some in expected) >= 5


def test_steering_who_has_a_gait():
    hand = hand_of("learn-walk")
    hand.steer(0.0, 0.5)
    assert hand.trial.session.asked == Go(speed=0.5, heading=np.pi / 2, style="gait")
    hand.steer(0.0, 2.0, turbo=True)
    assert hand.trial.session.asked == Go(speed=1.0, heading=np.pi / 2, style="gait")
    hand.steer(0.0, 0.0)
    asked = hand.trial.session.asked
    assert (asked.speed, asked.heading) == (AHEAD.speed, AHEAD.heading)
    hand.want("gait")
    assert hand.trial.session.asked == Go(speed=1.0, heading=pytest.approx(0.0), style="gait")
    hand.send(Reset())
    assert Reset() in hand.trial.step().commands


# Sets that change -----------------------------------------------------------------------------------


def test_props_come_and_go_while_it_runs():
    trial = Trial(SCENARIOS["stand"].make(), 0, "cpbp", settings=CPBPSettings(samples=8, horizon=0.2), threads=1)
    for _ in range(3):
        trial.step()
    trial.send(Drag("left_hand", (0.5, 0.5, 1.5)))
    before = trial.session.world.view("qpos")[0].copy()
    trial.place(Box("step", (1.0, 0.0, 0.1), (0.1, 0.5, 0.1)))
    trial.place(Box("step", (2.0, 0.0, 0.1), (0.1, 0.5, 0.1)))
    assert [prop.middle for prop in trial.scene.props] == [(2.0, 0.0, 0.1)]
    assert np.array_equal(trial.session.world.view("qpos")[0], before)
    trial.throw((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    assert [type(command) for command in trial.step().commands] == [Drag, Throw]  # what waited still comes
    trial.send(Push("thrown", (10.0, 0.0, 0.0)), Push("torso", (1.0, 0.0, 0.0)))
    trial.remove("thrown")
    assert trial.step().commands == (Push("torso", (1.0, 0.0, 0.0)),)  # but for what is no longer there
    assert (trial.session.index, trial.history.frames) == (5, 5)
    with pytest.raises(UserError, match="no prop 'thrown' in the scene; there are: step"):
        trial.remove("thrown")
    assert trial.session.drag is not None and isinstance(trial.session.wanted, Balance)


def test_of_commands_that_wait_idle_ones_are_left_out():
    trial = Trial(SCENARIOS["stand"].make(), 0, "cpbp", settings=CPBPSettings(samples=8, horizon=0.2), threads=1)
    for i in range(100):
        trial.send(Drag("left_hand", (0.01 * i, 0.5, 1.0)), Go(speed=0.01 * i, heading=0.0))
    assert trial.session.waiting == (Drag("left_hand", (0.99, 0.5, 1.0)), Go(speed=0.99, heading=0.0))
    trial.send(Balance())
    assert [command for command in trial.session.waiting if isinstance(command, WANTS)] == [Balance()]
