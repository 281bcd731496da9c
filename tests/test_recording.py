"""Recordings: replay to the last bit, and files that are whole, refused or untouched."""

import io
import json
import os
import subprocess
import sys
import zipfile

import msgspec
import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.control.controller import Controller
from tumble.errors import UserError
from tumble.goals import balance
from tumble.live import recording as recording_module
from tumble.live.commands import Do, Drag, Explode, Push, Release, SetGoal, SetParameter, Throw, Walk
from tumble.live.recording import FORMAT, Recorder, Recording
from tumble.live.session import Session
from tumble.planners import CPBP, Planned
from tumble.world.props import Ball, Box
from tumble.world.scene import Scene

COMMANDS = {
    2: [Push("torso", (300.0, 0.0, 0.0)), Throw((1.0, 0.0, 1.2), (-6.0, 0.0, 0.0))],
    4: [Drag("left_hand", (1.0, 1.0, 1.0))],
    6: [Explode((0.5, 0.0, 0.0))],
    8: [Release(), SetGoal("balance", (1.0, 0.0)), SetParameter("calm.speed", 0.4)],
}
FRAMES = 12


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


# Replaying ------------------------------------------------------------------------------------------


def test_saved_loaded_and_replayed_to_the_last_bit(recording, path):
    loaded = Recording.load(path)
    assert loaded.states.tobytes() == recording.states.tobytes()
    assert loaded.controls.tobytes() == recording.controls.tobytes()
    assert loaded.header == recording.header
    assert [timed.frame for timed in loaded.header.commands] == [2, 2, 4, 6, 8, 8, 8]
    assert [timed.command for timed in loaded.header.commands] == [one for some in COMMANDS.values() for one in some]
    assert (loaded.header.scenario, loaded.header.controller, loaded.header.seed) == ("test", "cpbp", 7)
    assert set(loaded.header.versions) == {"tumble", "mujoco", "numpy", "numba"}
    assert loaded.first_difference() is None


class Doer(Controller):
    """Stands limp, and takes any wish and script, as a recording need not."""

    def start(self, sims):
        pass

    def control(self, sims):
        return np.zeros((1, sims.scene.motors.size))

    def check_wishes(self, wishes):
        pass

    def check_script(self, sims, acts):
        pass


def test_scripts_and_wishes_have_done_their_work_in_the_controls(scene, tmp_path):
    session = Session(scene, Doer(), scene.state())
    recorder = Recorder(session, "test", "walker", 0)
    session.send(Do("go to 1 0; put it down"), Walk(speed=0.5))
    session.step()
    recorder.recording.save(tmp_path / "a.npz")
    loaded = Recording.load(tmp_path / "a.npz")
    assert loaded.header.commands[0].command == Do("go to 1 0; put it down")
    assert loaded.first_difference() is None


def recorded(scene, small, deaf: bool) -> Recording:
    """A few frames in which somebody pulls at a hand; deaf to it or not, then a goal of every kind."""
    planned = Planned(CPBP(scene, small, 0, 1), balance(scene))
    if deaf:
        planned.attend = lambda direction: None
    session = Session(scene, planned, scene.state())
    recorder = Recorder(session, "test", "cpbp", 0)
    told = {
        1: Drag("left_hand", (-1.0, 1.0, 1.0)),
        4: Release(),
        5: SetGoal("reach", target=(0.5, 0.2, 1.2), hand="right"),
        6: SetGoal("steer", velocity=(1.0, 0.0)),
        7: SetGoal("juggle", ball="ball"),
        8: SetGoal("ball"),
    }
    for i in range(10):
        if i in told:
            session.send(told[i])
        session.step()
    return recorder.recording


def test_a_look_at_who_pulls_changes_the_plan_and_not_the_replay(ball_scene, small, tmp_path):
    heard, deaf = (recorded(ball_scene, small, deaf) for deaf in (False, True))
    assert np.array_equal(heard.controls[0], deaf.controls[0])
    assert not np.array_equal(heard.controls[1:4], deaf.controls[1:4])
    for i, recording in enumerate((heard, deaf)):
        recording.save(tmp_path / f"{i}.npz")
        loaded = Recording.load(tmp_path / f"{i}.npz")
        assert loaded.header.commands == recording.header.commands
        assert loaded.first_difference() is None


def test_a_scene_of_boxes_and_balls_is_replayed(small, tmp_path):
    scene = Scene(humanoid(), [Box("wall", (0.5, 0.0, 1.0), (0.1, 2.0, 1.0), 0.3), Ball(), Ball("b", 0.1, 1.0)])
    session = Session(scene, Planned(CPBP(scene, small, 0, 1), balance(scene)), scene.state())
    recorder = Recorder(session, "test", "cpbp", 0)
    session.send(Push("torso", (500.0, 0.0, 0.0)))
    session.send(Throw((-1.0, 0.0, 1.2), (8.0, 0.0, 0.0), "b"))
    for _ in range(15):
        session.step()
    recorder.recording.save(tmp_path / "a.npz")
    loaded = Recording.load(tmp_path / "a.npz")
    assert loaded.scene().props == scene.props
    assert loaded.first_difference() is None


@pytest.mark.parametrize("frame", [0, 5, FRAMES - 1])
def test_one_bit_of_a_state_is_found(path, frame):
    loaded = Recording.load(path)
    loaded.states[frame + 1].view(np.uint64)[8] ^= 1
    assert loaded.first_difference() == frame


def test_another_control_is_found(path):
    loaded = Recording.load(path)
    loaded.controls[4, 3] += 0.1
    assert loaded.first_difference() == 4


def test_a_command_left_out_is_found(path):
    loaded = Recording.load(path)
    del loaded.header.commands[3]
    assert loaded.first_difference() == 6


def test_another_start_is_found(path):
    loaded = Recording.load(path)
    loaded.states[0, 3] += 1e-6  # the root's height
    assert loaded.first_difference() == 0


def test_an_empty_recording(ball_scene, still, tmp_path):
    session = Session(ball_scene, still, ball_scene.state())
    recorder = Recorder(session, "test", "still", 0)
    recorder.recording.save(tmp_path / "empty.npz")
    loaded = Recording.load(tmp_path / "empty.npz")
    assert loaded.controls.shape == (0, ball_scene.motors.size)
    assert loaded.first_difference() is None


def test_a_recording_that_begins_late(scene, still):
    session = Session(scene, still, scene.state("t-pose", "supine"))
    for _ in range(3):
        session.step()
    recorder = Recorder(session, "test", "still", 0)
    session.send(Push("torso", (100, 0, 0)))
    for _ in range(5):
        session.step()
    assert recorder.recording.header.commands[0].frame == 0
    assert recorder.recording.first_difference() is None


def test_no_recording_begins_in_the_middle_of_a_push_or_drag(scene, still):
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


def test_a_scene_that_has_changed_is_refused(recording):
    header = msgspec.structs.replace(recording.header, fingerprint="another")
    other = Recording(header, recording.states, recording.controls)
    with pytest.raises(UserError, match=r"cannot be rebuilt exactly; the recording was made with tumble .*, mujoco "):
        other.scene()


def test_states_of_another_width_are_refused(recording):
    other = Recording(recording.header, recording.states[:, :-1], recording.controls)
    with pytest.raises(UserError, match=r"states and controls of this scene have 303 and 35 numbers, .*302 and 35"):
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


def parts(recording) -> dict[str, bytes]:
    return {"header": head(recording.header), "states": npy(recording.states), "controls": npy(recording.controls)}


def test_the_parts_make_a_recording(recording, tmp_path):
    packed(tmp_path / "x.npz", **parts(recording))
    assert Recording.load(tmp_path / "x.npz").states.tobytes() == recording.states.tobytes()


def with_nan(recording):
    states = recording.states.copy()
    states[3, 4] = np.nan
    return {"states": npy(states)}


late = {"frame": FRAMES, "command": {"type": "release"}}
CHANGES = {
    "format": (lambda r: {"header": head(r.header, format="tumble recording 0")}, f"this version reads '{FORMAT}'"),
    "nan": (with_nan, "its states are no table of finite numbers"),
    "float32": (lambda r: {"controls": npy(r.controls.astype(np.float32))}, "its controls are no table of finite"),
    "one row": (lambda r: {"states": npy(r.states[0])}, "its states are no table of finite numbers"),
    "too few": (lambda r: {"controls": npy(r.controls[:-1])}, "it has 13 states for 11 controls"),
    "extra field": (lambda r: {"header": head(r.header, author="x")}, "unknown field `author`"),
    "bad seed": (lambda r: {"header": head(r.header, seed="x")}, "Expected `int`"),
    "bad command": (lambda r: {"header": head(r.header, commands=[{"frame": 0, "command": {"type": "x"}}])}, "Invalid"),
    "late command": (lambda r: {"header": head(r.header, commands=[late])}, "a command lies outside its frames"),
    "no json": (lambda r: {"header": npy(np.arange(9, dtype=np.uint8))}, "malformed"),
    "no utf-8": (lambda r: {"header": npy(np.frombuffer(b'{"format": "\xff"}', np.uint8))}, "utf-8"),
    "negative size": (lambda r: {"states": npy(r.states).replace(b"(13, 303)", b"(-3, 303)")}, "bytes for (-3, 303)"),
    "more than there is": (
        lambda r: {"states": npy(r.states).replace(b"(13, 303)", b"(99, 303)")},
        "its states have 31512 bytes for (99, 303) of type float64",
    ),
    "extra member": (lambda r: {"code": b"print(1)"}, "it holds code.npy, controls.npy, header.npy, states.npy"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_spoiled_file_says_what_is_wrong(recording, tmp_path, change):
    spoil, message = CHANGES[change]
    packed(tmp_path / "x.npz", **{**parts(recording), **spoil(recording)})
    with pytest.raises(UserError, match=r"x\.npz is not a whole tumble recording: ") as caught:
        Recording.load(tmp_path / "x.npz")
    assert message in str(caught.value)


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


@pytest.mark.parametrize("member", ["header", "states", "controls"])
def test_pickles_are_not_run(recording, tmp_path, member):
    sign = tmp_path / "ran"
    members = {**parts(recording), member: npy(np.array([Bomb(sign)], dtype=object))}
    packed(tmp_path / "x.npz", **members)
    with pytest.raises(UserError, match="of type object"):
        Recording.load(tmp_path / "x.npz")
    assert not sign.exists()


def test_a_file_that_unpacks_to_too_much(path, monkeypatch):
    monkeypatch.setattr(recording_module, "LARGEST", 10_000)
    with pytest.raises(UserError, match="it would unpack to 0 MiB"):
        Recording.load(path)


def flipped(path) -> None:
    """Spoil the compressed bytes in the middle of the states."""
    whole = bytearray(path.read_bytes())
    middle = whole.find(b"states.npy") + 40
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
    packed(path, header=file.getvalue(), states=file.getvalue(), controls=file.getvalue())


def deep(path) -> None:
    text = b'{"format": "x", "settings": {"a": ' + b"[" * 5000 + b"]" * 5000 + b"}}"
    packed(
        path, header=npy(np.frombuffer(text, np.uint8)), states=npy(np.zeros((1, 1))), controls=npy(np.zeros((0, 1)))
    )


def no_array(path) -> None:
    with np.load(path) as file:
        header = npy(file["header"])
    packed(path, header=header, states=b"hello", controls=b"hello")


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
    shorter = Recording(
        msgspec.structs.replace(recording.header, commands=[]), recording.states[:2], recording.controls[:1]
    )
    shorter.save(path)
    assert len(Recording.load(path).controls) == 1
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
    code = """
import os, signal, sys, time
import numpy as np
from tumble.live.recording import Recording
path = sys.argv[1]
one = Recording.load(path)
long = Recording(one.header, np.tile(one.states[:1], (3001, 1)), np.tile(one.controls[:1], (3000, 1)))
for i in range(10):
    child = os.fork()
    if not child:
        while True:
            long.save(path)
            one.save(path)
    time.sleep(0.02 + 0.013 * i)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(Recording.load(path).controls) in (len(one.controls), 3000)
print("whole", len([name for name in os.listdir(os.path.dirname(path)) if name.startswith(".a.npz.")]))
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("whole"), done.stderr
    assert int(done.stdout.split()[1]) > 0  # some kills did hit a save: its temporary file is left
