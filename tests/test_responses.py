"""Putting a character back on its feet, and what trials respond to: headless, replayed and in the studio."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from bodies import ANY_LEGS
from conftest import Still
from test_gaits import AHEAD, DT, made, settings_of, world

from tumble.characters import character
from tumble.errors import UserError
from tumble.live.commands import Push, Reset, SetGoal, SetParameter, Throw, decode
from tumble.live.recording import Recorder, Recording
from tumble.live.session import Session
from tumble.scenarios import SCENARIOS, History, Scenario, Trial, run_trial
from tumble.scenarios.gaits import PlanarNet, placed
from tumble.studio.panels import chosen_scenario
from tumble.studio.requests import decode as decode_request
from tumble.studio.trial import Choice, StudioTrial
from tumble.world.scene import Scene
from tumble.world.sims import Sims

GAITS = [name for name, kind in SCENARIOS.items() if kind.make.controller == "mcts"]


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
        sims.act(Still().control(sims))
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
    assert scene._lowest(shown) == pytest.approx(0, abs=1e-12)
    assert np.array_equal(sims.view("com")[1], shown.sensor("com").data)  # all fields are current
    assert sims.view(f"{scene.character.root}.up")[0] == pytest.approx([0, 0, 1])


def test_a_reset_in_another_pose():
    scene, sims = world(), tossed("humanoid-walker")
    Reset("t-pose").apply(sims)
    assert sims.view("qpos")[0, scene.motors.qpos] == pytest.approx(scene.character.pose("t-pose"))
    with pytest.raises(UserError, match="no pose 'taiko'; there are: rest, t-pose"):
        Session(scene, Still(), scene.state()).send(Reset("taiko"))


def test_who_was_broken_is_whole_again():
    sims = tossed("monoped")
    sims.view("qvel")[0, 0] = np.nan
    sims.act(Still().control(sims))
    assert sims.broken.all()
    Reset().apply(sims)
    assert not sims.broken.any() and np.isfinite(sims.state).all()


def test_a_reset_travels_as_json():
    assert decode('{"type": "reset"}') == decode_request('{"type": "reset"}') == Reset("rest")
    assert decode('{"type": "reset", "pose": "t-pose"}') == Reset("t-pose")


@pytest.mark.parametrize("body", ["humanoid-walker", "planar-walker"])
def test_a_recording_of_resets_replays_bit_for_bit(tmp_path, body):
    """And the controller is not told: it goes on from one state to the next."""
    scene, still = world(body), Still()
    session = Session(scene, still, scene.state("rest", "prone", 0.3))
    recorder = Recorder(session, "learn-walk", "mcts", 0)
    for frame in range(40):
        if frame in (10, 25):
            session.send(Throw((1.0, 0.0, 1.0), (-5.0, 0.0, 0.0), aimed=True), Reset())
        session.step()
    recorder.recording.save(tmp_path / "reset.npz")
    recording = Recording.load(tmp_path / "reset.npz")
    assert [timed.command for timed in recording.header.commands].count(Reset()) == 2
    assert recording.first_difference() is None
    assert len(still.states) == 40 and not still.goals and not still.parameters
    heights = [scene.show(state).qpos[2] for state in recording.states]
    assert heights[10] < 0.5 < heights[11] and session.time == pytest.approx(40 * DT)


# Responses ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answering(Scenario):
    """Pushes itself in the third frame and is put on its feet in the fifth."""

    asked: ClassVar[list[tuple[int, float]]] = []
    name: ClassVar[str] = "answering"

    def trial(self, scene: Scene, rng: np.random.Generator) -> Trial:
        def respond(history: History) -> list:
            self.asked.append((history.frames, history.time))
            assert history.of("com").shape == (history.frames, 3)
            return {2: [Push("torso", (100.0, 0.0, 0.0)), Reset()], 4: [Reset()]}.get(history.frames, [])

        return Trial(scene.state("rest"), 1.0, [(2 * DT, Push("torso", (0.0, 1.0, 0.0)))], respond)


def test_a_trial_is_asked_between_all_frames_and_its_answers_are_recorded():
    scene, heard, recorders = world(), [], []

    def watch(session: Session) -> None:
        session.listeners.append(lambda session, frame: heard.append(frame.commands))
        recorders.append(Recorder(session, "answering", "still", 0))

    Answering.asked.clear()
    result = run_trial(Answering(), scene, Still(), 0, 8 * DT, watch)
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
    result = run_trial(Answering(), world(), Still(), 0, 8 * DT, spoil)
    assert (result.frames, result.success, len(Answering.asked)) == (4, False, 3)


@pytest.mark.parametrize("name", GAITS)
def test_a_short_run_of_every_gait(name):
    """Of what was learned from nothing in a second nothing is stable; a recording of it replays."""
    scenario, recorders = SCENARIOS[name](), []
    scene = scenario.scene(character(scenario.character))
    result = run_trial(
        scenario, scene, made(scenario, scene), 1, 1.0, lambda s: recorders.append(Recorder(s, name, "mcts", 1))
    )
    assert result.finished and not result.success
    assert np.isfinite(list(result.metrics.values())).all()
    assert recorders[0].recording.first_difference() is None


def test_the_network_alone_is_a_parameter_of_the_controller():
    scene, still = PlanarNet().scene(character("planar-walker")), Still()
    trial = PlanarNet().trial(scene, np.random.default_rng(0))
    assert list(trial.events) == [(60.0, SetParameter("search", 0.0))] and trial.seconds == 70
    run_trial(PlanarNet(learn=0.2, alone=1.0), scene, still, 0)
    assert still.parameters == [{"search": 0.0}]


# In the studio --------------------------------------------------------------------------------------


def take_of(name: str, **options: float):
    kind = SCENARIOS[name].make
    return StudioTrial(Choice(name, kind.character, "mcts", 3, tuple(options.items())), 1, settings_of(kind))


@pytest.mark.parametrize(
    ("name", "options", "seconds"),
    [("pole", {"within": 10.0}, 0.5), ("walk-projectiles", {}, 8.5), ("learn-hop", {}, 4.0)],
)
def test_a_take_responds_as_the_headless_trial_to_the_last_bit(name, options, seconds):
    take, states, commands = take_of(name, **options), [], []
    scenario = SCENARIOS[name](**options)

    def hear(session: Session, frame) -> None:
        states.append(frame.state)
        commands.append(frame.commands)

    run_trial(scenario, take.scene, made(scenario, take.scene, 3), 3, seconds, lambda s: s.listeners.append(hear))
    frames = [take.step() for _ in states]
    assert [frame.commands for frame in frames] == commands
    assert np.array_equal([frame.state for frame in frames], states)
    given = {type(command) for some in commands for command in some}
    assert given - {Reset} == {"pole": {SetGoal}, "walk-projectiles": {Throw}, "learn-hop": set()}[name]
    assert name != "learn-hop" or given == {Reset}


def test_poles_in_a_take():
    take = take_of("pole", within=10.0)  # every pole is reached at once
    targets = []
    for _ in range(4):
        (command,) = take.step().commands
        assert take.target == command.target == take.wanted.target
        targets.append(take.target)
    assert len({*targets}) == take.told == 4
    assert np.hypot(*np.diff(targets, axis=0)[:, :2].T) == pytest.approx([4.5] * 3, abs=1.5)


def test_who_goes_on_from_the_past_goes_to_the_present_pole():
    take = take_of("pole", within=10.0)
    frames = [take.step() for _ in range(6)]
    present = take.target
    take.enter(take.scene, frames[2].state, 3 * DT)
    assert take.step().commands == () and take.target == present  # it has seen nothing yet
    (command,) = take.step().commands
    assert 3 <= np.hypot(*np.subtract(command.target, present)[:2]) <= 6
    assert command.target not in [frame.commands[0].target for frame in frames]


def test_in_another_scene_it_still_responds():
    take = take_of("pole", within=10.0)
    take.step()
    take.hurl((9.0, 0.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    take.step()
    assert [type(command) for command in take.step().commands] == [SetGoal]


def test_people_know_better_where_to_go():
    take = take_of("pole", within=10.0)
    take.step()
    take.send(SetGoal("gait", target=(9.0, 9.0, 0.0)))
    told = take.told
    for _ in range(3):
        take.step()
    assert (take.target, take.told) == ((9.0, 9.0, 0.0), told)


def test_spheres_come_at_their_time_also_after_another_start():
    take = take_of("walk-projectiles")
    for start in (8.0, 14.0 - DT, 13.99):
        take.enter(take.scene, take.scene.state(), start)
        thrown = [any(isinstance(command, Throw) for command in take.step().commands) for _ in range(3)]
        assert thrown == [False, start != 8.0, False]  # before the first frame there is nothing to see


def test_a_take_forgets_what_was_long_ago(monkeypatch):
    usual = take_of("pole", within=10.0)
    expected = [usual.step().commands for _ in range(20)]
    monkeypatch.setattr("tumble.studio.responses.RECALL", 0.05)
    take = take_of("pole", within=10.0)
    assert [take.step().commands for _ in range(20)] == expected
    history = take._responses._track
    assert history.frames <= 3 and history.time == pytest.approx(take.time)
    assert len(take.session.listeners) == 1
    assert placed(history) == [command.target for some in expected for command in some]
    assert sum(len(some) for some in expected) >= 5


def test_a_scenario_without_responses_is_not_followed(small):
    take = StudioTrial(Choice("stand"), 1, small)
    take.step()
    assert take.session.listeners == []


def test_steering_who_has_a_gait():
    take = take_of("learn-walk")
    take.steer(0.0, 0.5)
    assert take.wanted == SetGoal("gait", velocity=(0.0, 0.5))
    take.steer(0.0, 2.0, turbo=True)
    assert take.wanted == SetGoal("gait", velocity=(0.0, 1.0))
    take.steer(0.0, 0.0)
    assert take.wanted == AHEAD
    take.want("gait")
    assert take.wanted == SetGoal("gait", velocity=(pytest.approx(1.0), pytest.approx(0.0)))
    take.send(Reset())
    assert Reset() in take.step().commands


def test_another_scenario_brings_its_body():
    hop = chosen_scenario(Choice("learn-walk", "humanoid-walker", "mcts"), "learn-hop")
    assert (hop["controller"], hop["character"]) == ("mcts", "monoped")
    assert "character" not in chosen_scenario(Choice("stand", "humanoid-light", "cpbp"), "push")
    bird = chosen_scenario(Choice("simbicon-humanoid", "biped34", "simbicon"), "simbicon-bird")
    assert bird["character"] == "big-bird"
    trot = chosen_scenario(Choice("learn-walk", "humanoid", "mcts"), "learn-trot")  # which a biped cannot do
    assert trot["character"] == "quadruped"
