"""Recordings: replay to the last bit, and files that are whole, refused or untouched."""

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from dataclasses import asdict, replace
from importlib.metadata import version

import msgspec
import numpy as np
import pytest
from conftest import Still

from tumble.characters import humanoid
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals import balance
from tumble.goals.wants import Balance, Do, Go, Juggle, Reach, StayOn
from tumble.live import recording as recording_module
from tumble.live.commands import Drag, Explode, Push, Release, SetParameter, Throw
from tumble.live.recording import FORMAT, Part, Recorder, Recording
from tumble.live.session import Session
from tumble.planners import CPBP, PLANNERS, Planned
from tumble.scenarios import SCENARIOS, Trial
from tumble.scenarios.crowd import CrowdDance
from tumble.world.props import Ball, Box
from tumble.world.scene import Scene

COMMANDS = {
    2: [Push("torso", (300.0, 0.0, 0.0)), Throw((1.0, 0.0, 1.2), (-6.0, 0.0, 0.0))],
    4: [Drag("left_hand", (1.0, 1.0, 1.0))],
    6: [Explode((0.5, 0.0, 0.0))],
    8: [Release(), Balance((1.0, 0.0)), SetParameter("calm.speed", 0.4)],
}
FRAMES = 12
MEMBERS = ("header", *recording_module.MEMBERS)


@pytest.fixture(scope="module")
def recording(ball_scene, small):
    """A session in which everything happens."""
    planned = Planned(CPBP(ball_scene, small, 0, 1), balance(ball_scene))
    session = Session(ball_scene, planned, ball_scene.state())
    recorder = Recorder(session, "test", "cpbp", 7, {"samples": 8})
    for i in range(FRAMES):
        for command in COMMANDS.get(i, ()):
            session.send(command)
        session.step()
    return recorder.recording


@pytest.fixture
def path(recording, tmp_path):
    """The recording as a file."""
    path = tmp_path / "a.npz"
    recording.save(path)
    return path


def again(recorder: Recorder, folder) -> Recording:
    """What was recorded, saved and loaded."""
    recorder.recording.save(folder / "again.npz")
    return Recording.load(folder / "again.npz")


def bits(recording: Recording) -> list[bytes]:
    """All numbers of a recording."""
    arrays = [(part.start, part.motion, part.memory, part.controls, part.acting) for part in recording.parts]
    return [array.tobytes() for part in arrays for array in part]


# Replaying ------------------------------------------------------------------------------------------


def test_saved_loaded_and_replayed_to_the_last_bit(recording, path):
    loaded = Recording.load(path)
    assert bits(loaded) == bits(recording)
    assert loaded.header == recording.header
    (part,) = loaded.parts
    assert [timed.frame for timed in part.about.commands] == [2, 2, 4, 6, 8, 8, 8]
    assert [timed.command for timed in part.about.commands] == [one for some in COMMANDS.values() for one in some]
    assert (loaded.header.scenario, loaded.header.controller, loaded.header.seed) == ("test", "cpbp", 7)
    assert set(loaded.header.versions) == {"tumble", "mujoco", "numpy", "numba"}
    assert loaded.frames == FRAMES
    assert loaded.first_difference() is None


CHEAP = {"samples": 8, "horizon": 0.2}


def trial_of(name: str, controller: str, seed: int = 3, **options) -> tuple[Trial, Recorder]:
    """A cheap trial, recorded from its beginning."""
    settings = CONTROLLERS[controller].settings(**(CHEAP if controller in PLANNERS else {}))
    trial = Trial(SCENARIOS[name](**options), seed, controller, settings=settings, threads=1)
    return trial, Recorder(trial.session, name, controller, seed, asdict(settings))


@pytest.mark.parametrize(
    ("name", "controller", "frames"),
    [
        ("walk-push", "walker", 30),
        ("crate-carry", "walker", 30),
        ("reach", "walker", 30),
        ("pole", "walker", 30),
        ("simbicon-humanoid", "simbicon", 30),
        ("simbicon-planar", "simbicon", 30),
        ("getup", "cpbp", 10),
        ("ball-reach", "cem", 40),
        ("getup", "smc", 8),
        ("learn-walk", "mcts", 10),
        ("walk-push", "relay", 30),
    ],
)
def test_every_kind_of_controller_is_replayed_to_the_last_bit(name, controller, frames, tmp_path):
    trial, recorder = trial_of(name, controller)
    states = [trial.step().state for _ in range(frames)]
    loaded = again(recorder, tmp_path)
    assert loaded.first_difference() is None
    assert loaded.frames == frames
    (part,) = loaded.parts
    assert part.about.held == (frames if controller in PLANNERS else 0)  # laws are asked again
    used = sum(trial.scene.memory.claims.values())
    assert part.memory.shape == (frames, used)
    for frame in (1, frames // 2, frames):
        state = loaded.state(frame)
        shown, lived = (trial.scene.show(one) for one in (state, states[frame - 1]))
        for field in ("qpos", "qvel", "userdata"):
            assert np.array_equal(getattr(shown, field), getattr(lived, field))
        assert shown.time == pytest.approx(lived.time)


def test_dancers_are_replayed(tmp_path):
    scenario = CrowdDance(dancers=2)
    trial = Trial(scenario, 1)
    recorder = Recorder(trial.session, "crowd", "crowd", 1)
    for _ in range(20):
        trial.step()
    assert again(recorder, tmp_path).first_difference() is None


def relayed_fall() -> tuple[Trial, Recorder]:
    """A walker that is knocked over, and a planner of a few samples that has taken over."""
    trial = Trial(SCENARIOS["walk-push"](), 0, "relay", threads=1)
    trial.controller.rising.set_parameters(CHEAP)
    recorder = Recorder(trial.session, "walk-push", "relay", 0)
    for i in range(45):
        if i == 12:
            trial.send(Push("torso", (2500.0, 0.0, 0.0), seconds=0.2))
        trial.step()
    return trial, recorder


@pytest.fixture(scope="module")
def fall():
    return relayed_fall()


def test_a_handover_is_replayed_and_who_acted_is_known(fall, tmp_path):
    trial, recorder = fall
    loaded = again(recorder, tmp_path)
    names = [loaded.header.acting[i] for i in loaded.parts[0].acting]
    assert names[0] == "walking" and names[-1] == "rising" and set(names) == {"walking", "rising"}
    assert names == list(trial.history.acting)
    assert loaded.parts[0].about.held == names.count("rising")  # of the planner alone
    assert loaded.first_difference() is None


def test_a_recording_that_begins_while_the_planner_of_a_relay_acts(tmp_path):
    trial, _ = relayed_fall()
    assert trial.controller.report().acting == "rising"
    recorder = Recorder(trial.session, "walk-push", "relay", 0)
    for _ in range(6):
        trial.step()
    assert again(recorder, tmp_path).first_difference() is None


def test_wants_and_scripts_are_done_again(tmp_path):
    trial, recorder = trial_of("crate-carry", "walker")
    told = {
        5: [Go(style="happy")],
        8: [Do("go to 1 0; wait 1 s"), Go(bend=0.1)],
        20: [Reach((0.4, 0.2, 1.3), "right")],
        28: [Go(speed=0.5, heading=0.3)],
        35: [Balance(), SetParameter("joints.knee_stiffness", 250.0)],
    }
    for i in range(45):
        trial.send(*told.get(i, ()))
        trial.step()
    loaded = again(recorder, tmp_path)
    assert [timed.command for timed in loaded.parts[0].about.commands] == [
        one for some in told.values() for one in some
    ]
    assert loaded.first_difference() is None


# Sets that change, and time that is turned back -----------------------------------------------------


@pytest.mark.parametrize(("name", "controller"), [("walk-push", "walker"), ("walk-push", "relay"), ("push", "cpbp")])
def test_a_session_whose_set_changes_is_replayed(name, controller, tmp_path):
    """In the middle of a push and a drag, with another want and other settings than at the beginning."""
    trial, recorder = trial_of(name, controller)
    setting = {"walker": ("joints.knee_stiffness", 250.0), "relay": ("tilt", 0.4), "cpbp": ("spread", 1.5)}[controller]
    trunk, hand = trial.scene.character.trunk, trial.scene.character.hands[0]
    told = {
        2: [Go(speed=0.4, heading=0.2), SetParameter(*setting)],
        5: [Push(trunk, (60.0, 30.0, 0.0), seconds=0.31), Drag(hand, (0.5, 0.5, 1.3))],  # 9.3 frames
        14: [Release()],
    }
    for i in range(20):
        trial.send(*told.get(i, ()))
        if i == 8:
            trial.throw((1.5, 0.0, 1.2), (-6.0, 0.0, 0.0), 4.0)
        if i == 11:
            trial.place(Box("wall", (0.0, 2.0, 0.5), (1.0, 0.1, 0.5)))
            trial.send(Go(speed=0.1))
        if i == 17:
            trial.remove("wall")
        trial.step()
    loaded = again(recorder, tmp_path)
    assert [part.about.index for part in loaded.parts] == [0, 8, 11, 17]
    assert [len(part.scene.props) for part in loaded.parts] == [0, 1, 2, 1]
    assert [len(part.about.forces) for part in loaded.parts] == [0, 2, 2, 0]
    assert loaded.parts[2].about.want == Go(speed=0.4, heading=0.2)  # the other came afterwards
    assert loaded.frames == 20
    assert loaded.first_difference() is None
    last = loaded.state(20)
    assert np.array_equal(last[: 1 + loaded.parts[-1].about.motion][1:], loaded.parts[-1].motion[-1])
    early = loaded.scene().show(loaded.state(3))  # the ball of later waits far away
    assert abs(early.body("thrown").xpos[:2]).max() > 10


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_difference_in_any_part_is_found(which, tmp_path):
    trial, recorder = trial_of("walk-push", "walker")
    for i in range(9):
        if i in (3, 6):
            trial.throw((1.5, 0.0, 1.2), (-6.0, 0.0, 0.0), 4.0 + i)
        trial.step()
    loaded = again(recorder, tmp_path)
    loaded.parts[which].motion[1].view(np.uint64)[4] ^= 1
    assert loaded.first_difference() == 3 * which + 1


@pytest.mark.parametrize(("name", "controller"), [("walk-push", "walker"), ("walk-push", "relay"), ("push", "cpbp")])
def test_a_session_that_was_rewound_is_replayed(name, controller, tmp_path):
    trial, recorder = trial_of(name, controller)
    states = []
    for i in range(20):
        if i == 8:
            trial.send(Go(speed=0.3, heading=0.5))
        states.append(trial.step().state)
    trial.send(Drag(trial.scene.character.hands[0], (0.5, 0.5, 1.3)))
    trial.step()
    trial.rewind(trial.scene, states[4], 5 * trial.scene.dt)  # where something else was wanted
    for _ in range(10):
        trial.step()
    loaded = again(recorder, tmp_path)
    assert [(part.about.index, part.about.frames) for part in loaded.parts] == [(0, 21), (5, 10)]
    assert loaded.parts[1].about.want == Go(speed=0.3, heading=0.5)
    assert loaded.first_difference() is None


def test_a_script_that_was_rewound_goes_on_where_it_was_and_is_replayed(tmp_path):
    trial, recorder = trial_of("steer-walk", "walker")
    trial.send(Do("wait 0.2 s; go to 1 0; wait 1 s"))
    states = [trial.step().state for _ in range(20)]
    assert trial.controller.report().doing == "go to 1 0"
    trial.rewind(trial.scene, states[11], 12 * trial.scene.dt)
    for state in states[12:]:
        assert np.array_equal(trial.step().state, state)
    assert trial.controller.report().doing == "go to 1 0"
    assert again(recorder, tmp_path).first_difference() is None


# Size and time --------------------------------------------------------------------------------------


def test_ten_seconds_of_walking_take_little_room(tmp_path):
    trial, recorder = trial_of("steer-walk", "walker")
    for _ in range(300):
        trial.step()
    recorder.recording.save(tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_size < 400_000


def longer(recording: Recording, frames: int) -> Recording:
    """A recording of one part, over and over until it has so many frames."""
    (part,) = recording.parts

    def tiled(array: np.ndarray) -> np.ndarray:
        return np.concatenate([array] * (1 + frames // part.about.frames))[:frames]

    held = frames if part.about.held else 0
    about = msgspec.structs.replace(part.about, frames=frames, held=held, commands=[])
    controls = tiled(part.controls) if held else part.controls
    made = Part(about, part.start, tiled(part.motion), tiled(part.memory), controls, tiled(part.acting))
    return Recording(msgspec.structs.replace(recording.header, parts=[about]), [made])


@pytest.mark.slow
def test_half_an_hour_is_loaded_in_under_five_seconds(tmp_path):
    trial, recorder = trial_of("steer-walk", "walker")
    for _ in range(900):
        trial.step()
    longer(recorder.recording, 30 * 60 * 30).save(tmp_path / "a.npz")
    began = time.perf_counter()
    loaded = Recording.load(tmp_path / "a.npz")
    assert time.perf_counter() - began < 5
    assert loaded.frames == 54000


def recorded(scene, small, deaf: bool) -> Recording:
    """A few frames in which somebody pulls at a hand; deaf to it or not, then a want of every kind."""
    planned = Planned(CPBP(scene, small, 0, 1), balance(scene))
    if deaf:
        planned.attend = lambda direction: None
    session = Session(scene, planned, scene.state())
    recorder = Recorder(session, "test", "cpbp", 0)
    told = {
        1: Drag("left_hand", (-1.0, 1.0, 1.0)),
        4: Release(),
        5: Reach((0.5, 0.2, 1.2), "right"),
        6: Go(speed=1.0),
        7: Juggle("ball"),
        8: StayOn(),
    }
    for i in range(10):
        if i in told:
            session.send(told[i])
        session.step()
    return recorder.recording


def test_a_look_at_who_pulls_changes_the_plan_and_not_the_replay(ball_scene, small, tmp_path):
    heard, deaf = (recorded(ball_scene, small, deaf) for deaf in (False, True))
    assert np.array_equal(heard.parts[0].controls[0], deaf.parts[0].controls[0])
    assert not np.array_equal(heard.parts[0].controls[1:4], deaf.parts[0].controls[1:4])
    for i, recording in enumerate((heard, deaf)):
        recording.save(tmp_path / f"{i}.npz")
        loaded = Recording.load(tmp_path / f"{i}.npz")
        assert loaded.parts[0].about.commands == recording.parts[0].about.commands
        assert loaded.first_difference() is None


def test_a_scene_of_boxes_and_balls_is_replayed(small, tmp_path):
    scene = Scene(humanoid(), [Box("wall", (0.5, 0.0, 1.0), (0.1, 2.0, 1.0), 0.3), Ball(), Ball("b", 0.1, 1.0)])
    session = Session(scene, Planned(CPBP(scene, small, 0, 1), balance(scene)), scene.state())
    recorder = Recorder(session, "test", "cpbp", 0)
    session.send(Push("torso", (500.0, 0.0, 0.0)))
    session.send(Throw((-1.0, 0.0, 1.2), (8.0, 0.0, 0.0), "b"))
    for _ in range(15):
        session.step()
    loaded = again(recorder, tmp_path)
    assert loaded.scene().props == scene.props
    assert loaded.first_difference() is None


@pytest.mark.parametrize("frame", [0, 5, FRAMES - 1])
def test_one_bit_of_a_state_is_found(path, frame):
    loaded = Recording.load(path)
    loaded.parts[0].motion[frame].view(np.uint64)[8] ^= 1
    assert loaded.first_difference() == frame


@pytest.mark.parametrize("frame", [0, 3, 5])
def test_one_bit_of_a_memory_is_found(frame, tmp_path):
    trial, recorder = trial_of("walk-push", "walker")
    for _ in range(6):
        trial.step()
    loaded = again(recorder, tmp_path)
    loaded.parts[0].memory[frame].view(np.uint64)[2] ^= 1
    assert loaded.first_difference() == frame


def test_another_control_is_found(path):
    loaded = Recording.load(path)
    loaded.parts[0].controls[4, 3] += 0.1
    assert loaded.first_difference() == 4


def test_a_control_too_few_is_said(path):
    loaded = Recording.load(path)
    loaded.parts[0].controls = loaded.parts[0].controls[:-1]
    with pytest.raises(UserError, match="the recording has 11 controls, and one more was asked for"):
        loaded.first_difference()


def test_a_command_left_out_is_found(path):
    loaded = Recording.load(path)
    del loaded.parts[0].about.commands[3]
    assert loaded.first_difference() == 6


def test_another_start_is_found(path):
    loaded = Recording.load(path)
    loaded.parts[0].start[3] += 1e-6  # the root's height
    assert loaded.first_difference() == 0


def test_an_empty_recording(ball_scene, ball_still, known, tmp_path):
    session = Session(ball_scene, ball_still, ball_scene.state())
    loaded = again(Recorder(session, "test", "still", 0), tmp_path)
    assert loaded.frames == 0 and loaded.parts[0].motion.shape == (0, ball_scene.model.nq + ball_scene.model.nv)
    assert np.array_equal(loaded.state(0), ball_scene.state())
    assert loaded.first_difference() is None


def test_no_state_after_the_last(recording):
    with pytest.raises(UserError, match="a recording of 12 frames has none after 13"):
        recording.state(13)


def test_a_recording_that_begins_late(scene, still, known):
    session = Session(scene, still, scene.state("t-pose", "supine"))
    for _ in range(3):
        session.step()
    recorder = Recorder(session, "test", "still", 0)
    session.send(Push("torso", (100, 0, 0)))
    for _ in range(5):
        session.step()
    (part,) = recorder.recording.parts
    assert (part.about.index, part.about.commands[0].frame) == (3, 0)
    assert recorder.recording.first_difference() is None


def test_a_recording_that_begins_in_the_middle_of_a_script(tmp_path):
    trial = Trial(SCENARIOS["steer-walk"](), 0, "walker", want=Do("wait 0.1 s; go to 1 0; wait 1 s"))
    for _ in range(12):
        trial.step()
    recorder = Recorder(trial.session, "steer-walk", "walker", 0)
    for _ in range(12):
        trial.step()
    assert again(recorder, tmp_path).first_difference() is None


def test_no_recording_begins_in_the_middle_of_a_push_or_drag(scene, still, known):
    session = Session(scene, still, scene.state())
    session.send(Push("torso", (100, 0, 0), seconds=0.2))
    session.send(Drag("left_hand", (1.0, 1.0, 1.0)))
    for _ in range(8):
        session.step()
        with pytest.raises(UserError, match="a recording begins where no push or drag goes on"):
            Recorder(session, "test", "still", 0)
    session.send(Release())
    session.step()
    recorder = Recorder(session, "test", "still", 0)
    session.step()
    assert recorder.recording.first_difference() is None


def test_who_stops_recording_hears_no_more(scene, known):
    session = Session(scene, Still(scene), scene.state())
    recorder = Recorder(session, "test", "still", 0)
    session.step()
    recorder.stop()
    session.step()
    assert len(recorder) == recorder.recording.frames == 1


def changed(recording: Recording, **about) -> Recording:
    """A recording of one part that says something else of it."""
    (part,) = recording.parts
    part = replace(part, about=msgspec.structs.replace(part.about, **about))
    return Recording(msgspec.structs.replace(recording.header, parts=[part.about]), [part])


def test_a_scene_that_has_changed_is_refused(recording):
    with pytest.raises(UserError, match=r"cannot be rebuilt exactly; the recording was made with tumble .*, mujoco "):
        changed(recording, fingerprint="another").scene()


def test_states_of_another_width_are_refused(recording):
    about = recording.parts[0].about
    ours = f"{about.state}, {about.motion}, {about.memory}"
    for width in ("state", "motion", "memory"):
        theirs = {"state": about.state, "motion": about.motion, "memory": about.memory} | {width: 302}
        text = ", ".join(map(str, theirs.values()))
        with pytest.raises(UserError) as caught:
            changed(recording, **{width: 302}).first_difference()
        message = f"states, motions and memories of this scene have {ours} numbers, the recording's {text}; the"
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("controller", "settings", "message"),
    [
        ("cpb", {}, "no controller 'cpb'; there are: .*did you mean 'cpbp'"),
        ("walker", {}, "a walker needs a biped with the bones"),
        ("cpbp", {"samples": "many"}, "the recording's settings are none of 'cpbp': Expected `int`, got `str`"),
        ("cpbp", {"samples": 0}, "samples must be a number 2 or more"),
        ("cpbp", {"regularisation": -1.0}, "settings are none of 'cpbp': regularisation must be a number above 0, got"),
    ],
)
def test_controllers_that_cannot_be_made_again(recording, controller, settings, message):
    other = changed(recording, settings=settings)
    other = Recording(msgspec.structs.replace(other.header, controller=controller), other.parts)
    with pytest.raises(UserError, match=message):
        other.first_difference()


# Files that are no recordings -----------------------------------------------------------------------


def packed(path, **members: bytes) -> None:
    """A zip file of .npy members."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def head(header, **changes) -> bytes:
    """A recording's header with fields changed, as a member."""
    fields = {**json.loads(msgspec.json.encode(header)), **changes}
    return npy(np.frombuffer(json.dumps(fields).encode(), np.uint8))


def members(recording) -> dict[str, bytes]:
    """What a file of one part holds."""
    (part,) = recording.parts
    return {
        "header": head(recording.header),
        "starts": npy(part.start),
        "motion": npy(part.motion.T.ravel()),
        "memory": npy(part.memory.T.ravel()),
        "controls": npy(part.controls.T.ravel()),
        "acting": npy(part.acting),
    }


def test_the_members_make_a_recording(recording, tmp_path):
    packed(tmp_path / "x.npz", **members(recording))
    assert bits(Recording.load(tmp_path / "x.npz")) == bits(recording)


def with_part(recording, **changes) -> dict[str, bytes]:
    """A header whose part says something else."""
    part = {**json.loads(msgspec.json.encode(recording.parts[0].about)), **changes}
    return {"header": head(recording.header, parts=[part])}


def with_nan(recording):
    motion = recording.parts[0].motion.T.ravel().copy()
    motion[77] = np.nan
    return {"motion": npy(motion)}


def claiming(recording, size: int) -> dict[str, bytes]:
    """Motions that claim another size than they have."""
    there = f"({recording.parts[0].motion.size},)".encode()
    claimed = f"({size},)".encode()
    data = members(recording)["motion"]
    padded = claimed + b" " * (len(there) - len(claimed))
    assert data.count(there) == 1
    return {"motion": data.replace(there, padded)}


def flat(recording, name: str) -> np.ndarray:
    return getattr(recording.parts[0], name).T.ravel()


late = {"frame": FRAMES, "command": {"type": "release"}}
bad = {"frame": 0, "command": {"type": "x"}}
CHANGES = {
    "format": (lambda r: {"header": head(r.header, format="tumble recording 0")}, f"which reads '{FORMAT}'"),
    "nan": (with_nan, "its motion are no row of finite numbers"),
    "float32": (
        lambda r: {"controls": npy(flat(r, "controls").astype(np.float32))},
        "its controls are no row of finite",
    ),
    "a table": (lambda r: {"starts": npy(r.parts[0].start[None])}, "its starts are no row of finite numbers"),
    "too few": (lambda r: {"controls": npy(flat(r, "controls")[:-1])}, "its controls have 419 numbers for [(12, 35)]"),
    "extra field": (lambda r: {"header": head(r.header, author="x")}, "unknown field `author`"),
    "extra field of a part": (lambda r: with_part(r, author="x"), "unknown field `author`"),
    "bad seed": (lambda r: {"header": head(r.header, seed="x")}, "Expected `int`"),
    "bad command": (lambda r: with_part(r, commands=[bad]), "Invalid"),
    "late command": (lambda r: with_part(r, commands=[late]), "a command lies outside its frames"),
    "early command": (lambda r: with_part(r, commands=[{**late, "frame": -1}]), "a command lies outside its frames"),
    "bad force": (lambda r: with_part(r, forces=[{"type": "release"}]), "Invalid value 'release'"),
    "no parts": (lambda r: {"header": head(r.header, parts=[])}, "it has no parts, or parts of no frames"),
    "negative frames": (lambda r: with_part(r, frames=-12), "it has no parts, or parts of no frames"),
    "negative width": (lambda r: with_part(r, motion=-1), "numbers for [(12, -1)]"),
    "more frames": (lambda r: with_part(r, frames=13), "numbers for [(13, "),
    "more controls than frames": (lambda r: with_part(r, held=420, control=1), "a command lies outside its frames"),
    "who acted": (lambda r: {"acting": npy(r.parts[0].acting[:-1])}, "it says who acted in (11,) of 12 frames"),
    "somebody else": (lambda r: {"acting": npy(r.parts[0].acting + np.uint8(1))}, "it says who acted in (12,) of 12"),
    "acting in words": (lambda r: {"acting": npy(r.parts[0].acting.astype(float))}, "it says who acted in (12,)"),
    "no json": (lambda r: {"header": npy(np.arange(9, dtype=np.uint8))}, "malformed"),
    "no utf-8": (lambda r: {"header": npy(np.frombuffer(b'{"format": "\xff"}', np.uint8))}, "utf-8"),
    "negative size": (lambda r: claiming(r, -3), "bytes for (-3,)"),
    "more than there is": (lambda r: claiming(r, 9999), "bytes for (9999,) of type float64"),
    "extra member": (
        lambda r: {"code": b"print(1)"},
        "it holds acting.npy, code.npy, controls.npy, header.npy, m",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_spoiled_file_says_what_is_wrong(recording, tmp_path, change):
    spoil, message = CHANGES[change]
    packed(tmp_path / "x.npz", **{**members(recording), **spoil(recording)})
    with pytest.raises(UserError, match=r"x\.npz is not a whole tumble recording: ") as caught:
        Recording.load(tmp_path / "x.npz")
    assert message in str(caught.value)


def test_a_recording_of_the_version_before_is_refused_with_both_versions(recording, tmp_path):
    """Format 1 had all states and controls of one scene, and other commands."""
    part = recording.parts[0]
    header = {
        "format": "tumble recording 1", "scenario": "push", "controller": "cpbp", "seed": 3, "dt": 1 / 30,
        "scene": part.about.scene, "fingerprint": part.about.fingerprint, "settings": {},
        "versions": {"tumble": "0.0.9", "mujoco": "4.0.0", "numpy": "2.1", "numba": "0.62"},
        "commands": [{"frame": 0, "command": {"type": "setgoal", "goal": "balance"}}],
    }  # fmt: skip
    np.savez_compressed(
        tmp_path / "old.npz",
        header=np.frombuffer(json.dumps(header).encode(), np.uint8),
        states=np.tile(part.start, (13, 1)),
        controls=part.controls,
    )
    with pytest.raises(UserError) as caught:
        Recording.load(tmp_path / "old.npz")
    assert str(caught.value) == (
        f"{tmp_path}/old.npz is not a whole tumble recording: its format is 'tumble recording 1', made with tumble"
        f" 0.0.9; this is tumble {version('tumble')}, which reads 'tumble recording 2'"
    )


def test_no_file(tmp_path):
    for missing in (tmp_path / "nothing.npz", tmp_path):
        with pytest.raises(UserError, match=f"no file {missing}"):
            Recording.load(missing)


def test_truncated_files(path):
    whole = path.read_bytes()
    for size in {0, 1, 10, len(whole) // 3, len(whole) // 2, len(whole) - 30, len(whole) - 1}:
        path.write_bytes(whole[:size])
        with pytest.raises(UserError, match="is not a whole tumble recording"):
            Recording.load(path)


def test_a_foreign_archive(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.zeros(3), b=np.ones(2))
    with pytest.raises(UserError, match=r"is not a whole tumble recording: it holds a\.npy, b\.npy"):
        Recording.load(tmp_path / "x.npz")
    (tmp_path / "x.npz").write_text("not even a zip file")
    with pytest.raises(UserError, match="is not a whole tumble recording: File is not a zip file"):
        Recording.load(tmp_path / "x.npz")


class Bomb:
    """Runs code when unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("member", MEMBERS)
def test_pickles_are_not_run(recording, tmp_path, member):
    sign = tmp_path / "ran"
    packed(tmp_path / "x.npz", **{**members(recording), member: npy(np.array([Bomb(sign)], dtype=object))})
    with pytest.raises(UserError, match="of type object"):
        Recording.load(tmp_path / "x.npz")
    assert not sign.exists()


def test_a_file_that_unpacks_to_too_much(path, monkeypatch):
    monkeypatch.setattr(recording_module, "LARGEST", 10_000)
    with pytest.raises(UserError, match="it would unpack to 0 MiB"):
        Recording.load(path)


def flipped(path) -> None:
    """Spoil the compressed bytes in the middle of the motions."""
    whole = bytearray(path.read_bytes())
    middle = whole.find(b"motion.npy") + 40
    for i in range(middle, middle + 400):
        whole[i] ^= 0x55
    path.write_bytes(whole)


def marked(path, place: int, central: int, value: int) -> None:
    """Set a byte of the first member's two headers."""
    whole = bytearray(path.read_bytes())
    whole[whole.find(b"PK\x03\x04") + place] = value
    whole[whole.find(b"PK\x01\x02") + central] = value
    path.write_bytes(whole)


def huge(path) -> None:
    file = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (1 << 45, 303)}
    np.lib.format.write_array_header_1_0(file, about)
    packed(path, **dict.fromkeys(MEMBERS, file.getvalue()))


def deep(path) -> None:
    text = b'{"format": "x", "settings": {"a": ' + b"[" * 5000 + b"]" * 5000 + b"}}"
    packed(path, **{**dict.fromkeys(MEMBERS, npy(np.zeros(1))), "header": npy(np.frombuffer(text, np.uint8))})


def no_array(path) -> None:
    with np.load(path) as file:
        header = npy(file["header"])
    packed(path, **{**dict.fromkeys(MEMBERS, b"hello"), "header": header})


HOSTILE = {
    "bytes that are no array": no_array,  # AttributeError
    "flipped bytes": flipped,  # zlib.error
    "encrypted": lambda path: marked(path, 6, 8, 1),  # RuntimeError
    "unknown compression": lambda path: marked(path, 8, 10, 99),  # NotImplementedError
    "claims petabytes": huge,  # MemoryError
    "deeply nested": deep,  # RecursionError
}


@pytest.mark.parametrize("how", HOSTILE)
def test_hostile_files_are_refused_in_a_sentence(path, how):
    HOSTILE[how](path)
    with pytest.raises(UserError, match="is not a whole tumble recording"):
        Recording.load(path)


# Saving ---------------------------------------------------------------------------------------------


def test_saving_replaces_the_old_file(recording, path):
    longer(recording, 1).save(path)
    assert Recording.load(path).frames == 1
    assert [file.name for file in path.parent.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_failed_save_leaves_the_old_file_and_nothing_else(recording, path, monkeypatch, error):
    before = path.read_bytes()

    def fail(file, **arrays):
        file.write(b"half of it")
        raise error

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises((KeyboardInterrupt, UserError), match=r"^$|cannot write .*a\.npz: No space left on device"):
        recording.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["a.npz"]


def test_no_folder_to_save_into(recording, tmp_path):
    with pytest.raises(UserError, match=r"no folder .*/nowhere to write a\.npz into"):
        recording.save(tmp_path / "nowhere" / "a.npz")


def test_a_folder_in_the_way(recording, tmp_path):
    (tmp_path / "a.npz").mkdir()
    with pytest.raises(UserError, match=r"cannot write .*a\.npz: it is a folder"):
        recording.save(tmp_path / "a.npz")
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)], ids=oct)
def test_a_saved_file_has_ordinary_permissions(recording, tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        recording.save(tmp_path / "a.npz")
    finally:
        os.umask(before)
    assert (tmp_path / "a.npz").stat().st_mode & 0o777 == mode


def test_a_kill_in_the_middle_of_saving_leaves_a_whole_file(recording, path, tmp_path):
    """Children save a long and a short version for ever and are killed at odd moments."""
    long = tmp_path / "long.npz"
    longer(recording, 3000).save(long)
    code = """
import os, signal, sys, time
from tumble.live.recording import Recording
path = sys.argv[1]
one, long = Recording.load(path), Recording.load(sys.argv[2])
for i in range(10):
    child = os.fork()
    if not child:
        while True:
            long.save(path)
            one.save(path)
    time.sleep(0.02 + 0.013 * i)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert Recording.load(path).frames in (one.frames, 3000)
print("whole", len([name for name in os.listdir(os.path.dirname(path)) if name.startswith(".a.npz.")]))
"""
    words = [sys.executable, "-c", code, str(path), str(long)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("whole"), done.stderr
    assert int(done.stdout.split()[1]) > 0  # some kills did hit a save: its temporary file is left
