"""Files of learners: whole, moved aside or refused; and who ends threads that learn, in a trial and in the studio."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_studio_stage import Seats, advance, do

from tumble import files
from tumble.control.controller import Controller, closing
from tumble.errors import UserError
from tumble.learners import Learners
from tumble.learners.experience import Experience
from tumble.live import learned_file
from tumble.live.commands import SetParameter
from tumble.live.learned_file import LearnedFile
from tumble.live.learning import Learning
from tumble.live.recording import Recorder
from tumble.live.session import Session
from tumble.planners import MCTS, MCTSSettings, Planned
from tumble.scenarios import SCENARIOS, Trial, run_trial
from tumble.studio.choice import Choice, live
from tumble.studio.panels import learned_text
from tumble.studio.stage import Stage
from tumble.world.props import Ball
from tumble.world.scene import Scene

FEATURES, SIZE = 5, 3
ABOUT = {"character": "humanoid", "planner": "mcts", "gain": 10.0}


def pairs(count: int, seed: int = 0, features: int = FEATURES, size: int = SIZE) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(count, features))
    return states, np.sin(states[:, :1]) + 0.1 * rng.normal(size=(count, size))


def teach(learners: Learners, count: int, seed: int = 0) -> None:
    for state, action in zip(*pairs(count, seed, learners.forest.features, learners.forest.size), strict=True):
        learners.add(state, action)
        learners.work(1)


def blank(seed: int = 7) -> Learners:
    return Learners(FEATURES, SIZE, seed)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "a.learned"


def wrote(path: Path, count: int = 120, seed: int = 0, about=ABOUT, sizes=(FEATURES, SIZE)) -> Learners:
    """What was learned in a run that goes on from the file."""
    learners = Learners(*sizes, 0)
    with LearnedFile(path, learners, about) as file:
        teach(learners, count, seed)
        file(None, None)
    return learners


def loaded(path: Path) -> Learners:
    learners = blank()
    with LearnedFile(path, learners, ABOUT) as file:
        assert file.warning is None
    return learners


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def same(one: Learners, other: Learners) -> bool:
    """Whether the network says the same to the last bit, and the forest has the same pairs."""
    states = pairs(40, 9)[0]
    mine, theirs = one.kept(), other.kept()
    return (
        np.array_equal(one.network.predict(states), other.network.predict(states))
        and mine.keys() == theirs.keys()
        and all(mine[name].tobytes() == theirs[name].tobytes() for name in mine)
    )


def learning_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(("tumble learners", "writes "))]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    assert learning_threads() == []
    yield
    assert learning_threads() == []


# Round trips ----------------------------------------------------------------------------------------


def test_what_was_learned_is_there_again(path):
    learners = wrote(path)
    again = loaded(path)
    assert len(again) == 120 and again.network.updates == learners.network.updates == 21
    assert same(again, learners)
    found, distances = again.forest.recall(pairs(120)[0])
    assert np.array_equal(found.astype(np.float32), pairs(120)[1].astype(np.float32)) and not distances.any()


def test_learning_goes_on_as_if_it_had_never_ended(path):
    wrote(path)
    grown = wrote(path, 30, 1)
    assert len(grown) == 150 and grown.network.updates == 51
    assert same(loaded(path), grown)
    states = np.concatenate([pairs(120)[0], pairs(30, 1)[0]]).astype(np.float32)
    assert np.array_equal(loaded(path).kept()["states"], states)


def test_before_the_network_is_trained(path):
    learners = wrote(path, 3)
    again = loaded(path)
    assert len(again) == 3 and not again.network.ready
    assert np.array_equal(again.kept()["states"], learners.kept()["states"])
    teach(again, 100, 1)
    assert again.network.updates == 4  # from the hundredth pair on


def test_the_format(path):
    """Anybody can read it: an npz without objects, and JSON."""
    learners = wrote(path)
    with np.load(path, allow_pickle=False) as arrays:
        header = json.loads(arrays["header"].tobytes())
        assert header == {"format": "tumble learners 1", "features": FEATURES, "size": SIZE, "about": ABOUT}
        kept = learners.kept()
        assert set(arrays) == {"header", *kept}
        assert all(np.array_equal(arrays[name], kept[name]) for name in kept)


def test_a_run_in_which_nothing_is_learned_changes_nothing(path):
    wrote(path, 0)
    assert names_in(path.parent) == []
    path.touch()
    wrote(path, 0)
    assert path.exists()  # it was there before
    wrote(path, 3)
    before, inode = path.read_bytes(), path.stat().st_ino
    wrote(path, 0)
    assert (path.read_bytes(), path.stat().st_ino) == (before, inode)


def test_training_alone_is_learning(path):
    wrote(path)
    learners = blank()
    with LearnedFile(path, learners, ABOUT):
        learners.work(4)
    assert loaded(path).network.updates == 25


def test_about_is_compared_as_it_comes_out_of_json(path):
    wrote(path, 1, about=ABOUT | {"sizes": (1, 2), "gain": 10})
    assert len(wrote(path, 1, 1, about=ABOUT | {"sizes": [1, 2]})) == 2


def test_a_link_stays_a_link(path):
    place = path.with_name("elsewhere")
    path.symlink_to(place)
    wrote(path, 3)
    wrote(path, 3, 1)
    assert path.is_symlink() and len(loaded(place)) == 6
    assert names_in(path.parent) == ["a.learned", "elsewhere"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_run_keeps_what_it_learned(path, error):
    learners = blank()
    with pytest.raises(error), LearnedFile(path, learners, ABOUT):
        teach(learners, 7)
        raise error
    assert len(loaded(path)) == 7


def test_what_is_frozen_is_only_loaded(path):
    with pytest.raises(UserError, match=r"no file .*a\.learned: nothing was learned yet; run without frozen first"):
        LearnedFile(path, blank(), ABOUT, frozen=True)
    learners = wrote(path)
    before, inode = path.read_bytes(), path.stat().st_ino
    again = blank()
    with LearnedFile(path, again, ABOUT, frozen=True) as file:
        assert same(again, learners)
        teach(again, 3, 1)
        file(None, None)
    assert (path.read_bytes(), path.stat().st_ino) == (before, inode)
    path.write_bytes(before[:-100])
    with pytest.raises(UserError, match=r"a\.learned is not a whole file of learners: File is not a zip file"):
        LearnedFile(path, blank(), ABOUT, frozen=True)
    assert path.read_bytes() == before[:-100] and names_in(path.parent) == ["a.learned"]


# When it is saved -----------------------------------------------------------------------------------


def test_as_a_listener_it_saves_every_ten_seconds(path, scene, still, monkeypatch):
    """Of wall time; at a frame at which nothing is new, nothing is written."""
    now, saved, done = [0.0], [], threading.Semaphore(0)
    whole = learned_file.replace_locked

    def noted(*arguments):
        file = whole(*arguments)
        saved.append(now[0])
        done.release()
        return file

    monkeypatch.setattr(learned_file.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(learned_file, "replace_locked", noted)
    learners = blank()
    session = Session(scene, still, scene.state())
    with LearnedFile(path, learners, ABOUT) as file:
        session.listeners.append(file)
        for i in range(25):
            if i < 18:
                learners.add(*(rows[0] for rows in pairs(1, i)))
            session.step()
            if i in (10, 20):
                assert done.acquire(timeout=60)
            now[0] += 1.0
        assert saved == [10.0, 20.0]
        now[0] = 40.0
        session.step()  # nothing is new
    assert saved == [10.0, 20.0]
    assert len(loaded(path)) == 18


def test_a_disk_that_hangs_does_not_hold_up_a_session(path, monkeypatch):
    on, saves, whole = threading.Event(), [], learned_file.replace_locked

    def hang(*arguments):
        assert on.wait(60)
        saves.append(1)
        return whole(*arguments)

    monkeypatch.setattr(learned_file, "replace_locked", hang)
    monkeypatch.setattr(learned_file, "REPLACED", 0.0)
    learners = blank()
    file = LearnedFile(path, learners, ABOUT)
    for state, action in zip(*pairs(100), strict=True):
        learners.add(state, action)
        file(None, None)  # returns
    on.set()
    file.close()
    assert len(loaded(path)) == 100
    assert len(saves) <= 3  # one that hung, one that was asked for meanwhile, the last


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("odd")], ids=repr)
def test_a_full_disk_is_told_at_the_next_frame_and_at_the_end(path, monkeypatch, error):
    wrote(path, 5)
    before = path.read_bytes()

    def full(*arguments, **more):
        raise error

    monkeypatch.setattr(learned_file, "REPLACED", 0.0)
    monkeypatch.setattr(learned_file.np, "savez", full)
    learners = blank()
    file = LearnedFile(path, learners, ABOUT)
    teach(learners, 2, 1)
    file(None, None)
    file._thread.join()
    for call in (lambda: file(None, None), file.close):
        with pytest.raises(UserError) as caught:
            call()
        assert str(caught.value) == f"cannot write {path}: {error.args[-1]}"
    file.close()  # it has been told
    assert path.read_bytes() == before and names_in(path.parent) == ["a.learned"]


def test_a_file_that_cannot_get_its_name(path, monkeypatch):
    """It is written and locked by then; neither it nor its lock stays."""
    wrote(path, 5)
    learners = blank()
    file = LearnedFile(path, learners, ABOUT)
    teach(learners, 2, 1)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UserError, match=r"cannot write .*a\.learned: Permission denied"):
        file.close()
    assert len(loaded(path)) == 5 and names_in(path.parent) == ["a.learned"]


KILLED = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
from tumble.live import learned_file
from tumble.learners import Learners
from tumble.live.learned_file import LearnedFile
learned_file.REPLACED = 0.0
path, before, left = Path(sys.argv[1]), 0, 0

def learners_of(path):
    learners = Learners(40, 20, 0)
    file = LearnedFile(path, learners, {"character": "humanoid"})
    assert file.warning is None, file.warning
    return learners, file

Learners(40, 20, 0).add(np.zeros(40), np.zeros(20))  # compiled before there are children
learners_of(path)[1].close()
path.touch()
for i in range(8):
    inode, child = path.stat().st_ino, os.fork()
    if not child:
        learners, file = learners_of(path)
        while True:
            n = learners.network.added
            learners.add(np.full(40, n + 1), np.full(20, n + 1))
            file(None, None)
            time.sleep(0.001)
    while path.stat().st_ino == inode:
        time.sleep(0.001)
    time.sleep(0.05 + 0.0137 * i)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left += len(os.listdir(path.parent)) - 1
    learners, file = learners_of(path)
    states = learners.kept()["states"]
    assert len(states) > before, (len(states), before)
    assert (states == 1 + np.arange(len(states))[:, None]).all()
    before = len(states)
    file.close()
print("whole", before, left)
"""


def test_a_kill_in_the_middle_of_saving_leaves_a_whole_file(path):
    words = [sys.executable, "-c", KILLED, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.startswith("whole"), done.stderr
    assert int(done.stdout.split()[2]) > 0  # some kills did hit a save
    assert names_in(path.parent) == ["a.learned"]  # what they left was swept away by the next


def test_what_others_left_beside_is_not_swept_away(path):
    others = [
        ".a.learned.0123456789abcde",
        ".a.learned.0123456789abcdefg",
        ".b.learned.0123456789abcdef",
        "a.learned.x",
    ]
    for name in (*others, ".a.learned.0123456789abcdef"):
        path.with_name(name).touch()
    wrote(path, 3)
    assert names_in(path.parent) == sorted([*others, "a.learned"])


# Spoiled files --------------------------------------------------------------------------------------


def packed(path: Path, *, compression: int = zipfile.ZIP_STORED, **changes) -> bytes:
    """The file with other arrays; a function changes one, None leaves one out, bytes are put in as they are."""
    with np.load(path) as arrays:
        members = dict(arrays)
    for name, change in changes.items():
        name = name.replace("__", ".")
        members[name] = change(members[name]) if callable(change) else change
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as archive:
        for name, member in members.items():
            if isinstance(member, np.ndarray):
                array = io.BytesIO()
                np.save(array, member, allow_pickle=True)
                member = array.getvalue()
            if member is not None:
                archive.writestr(f"{name}.npy", member)
    return data.getvalue()


def headed(**changes):
    """A header with other fields; None leaves one out."""

    def change(header: np.ndarray) -> np.ndarray:
        fields = {**json.loads(header.tobytes()), **changes}
        said = {name: value for name, value in fields.items() if value is not None}
        return np.frombuffer(json.dumps(said).encode(), np.uint8)

    return change


def claiming(shape: tuple[int, ...]) -> bytes:
    """An array of few bytes that says it has many."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(8)


def with_value(value: float):
    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.reshape(-1)[7] = value
        return array

    return change


def understated(path: Path) -> bytes:
    """Members whose size is said to be 8 bytes, and unpack to 64 MiB."""
    data = bytearray(packed(path, compression=zipfile.ZIP_DEFLATED, network__square=bytes(64 << 20)))
    size = (64 << 20).to_bytes(4, "little")
    return bytes(data).replace(size, (8).to_bytes(4, "little"))


MANY = np.zeros((2001, FEATURES), np.float32)
TEXT = np.frombuffer(b"[1]", np.uint8)
SPOILED = {
    "text": (lambda path: b"Dear diary,\n\n\n", "File is not a zip file"),
    "zeros": (lambda path: bytes(5000), "File is not a zip file"),
    "half": (lambda path: path.read_bytes()[: path.stat().st_size // 2], "File is not a zip file"),
    "a flipped bit": (lambda path: path.read_bytes().replace(b"\x93NUMPY", b"\x92NUMPY"), "Bad CRC-32 for file"),
    "nothing in it": (lambda path: b"PK\x05\x06" + bytes(18), "it holds nothing"),
    "one is missing": (lambda path: packed(path, actions=None), "it holds header.npy, network.actions.npy, "),
    "one too many": (lambda path: packed(path, zzz=np.zeros(3)), "it holds actions.npy, header.npy, "),
    "no array": (lambda path: packed(path, states=b"hello"), "EOF: reading magic string, expected 8 bytes got 5"),
    "no json": (lambda path: packed(path, header=np.zeros(3)), "JSON is malformed"),
    "other json": (lambda path: packed(path, header=TEXT), "Expected `object`, got `array`"),
    "no format": (lambda path: packed(path, header=headed(format=None)), "missing required field `format`"),
    "odd format": (lambda path: packed(path, header=headed(format="\x1b[31m")), r"its format is '\x1b[31m'"),
    "extra field": (lambda path: packed(path, header=headed(**{"\x1b[31m": 1})), r"unknown field `\x1b[31m`"),
    "no about": (lambda path: packed(path, header=headed(about=None)), "missing required field `about`"),
    "objects": (lambda path: packed(path, states=np.array([[print] * FEATURES])), "of type object"),
    "doubles": (lambda path: packed(path, states=lambda a: a.astype(float)), "its states are (120, 5) of type float64"),
    "whole numbers": (lambda path: packed(path, actions=lambda a: a.astype("i4")), "not (n, 3) of type float32"),
    "big end first": (lambda path: packed(path, states=lambda a: a.astype(">f4")), "of type >f4, not (n, 5) of type"),
    "wide": (lambda path: packed(path, states=lambda a: a.repeat(2, axis=1)), "are (120, 10) of type float32, not"),
    "flat": (lambda path: packed(path, states=lambda a: a.ravel()), "its states are (600,) of type float32"),
    "one pair more": (lambda path: packed(path, states=lambda a: a[1:]), "it has 119 states for 120 actions"),
    "uneven": (lambda path: packed(path, network__actions=lambda a: a[1:]), "120 network.states for 119 actions"),
    "many pairs": (
        lambda path: packed(path, network__states=MANY, network__actions=MANY[:, :SIZE]),
        "its network has 2001 pairs, 2000 at most",
    ),
    "nan": (lambda path: packed(path, states=with_value(np.nan)), "its states must be of numbers within +-1e+15"),
    "inf": (lambda path: packed(path, actions=with_value(np.inf)), "its actions must be of numbers within +-1e+15"),
    "huge": (lambda path: packed(path, network__states=with_value(1e16)), "its network.states must be of numbers"),
    "no weight": (lambda path: packed(path, network__parameters=with_value(np.nan)), "its network.parameters must be"),
    "few weights": (lambda path: packed(path, network__moment=lambda a: a[1:]), "its network.moment are ("),
    "a square below 0": (lambda path: packed(path, network__square=with_value(-1.0)), "its network.square is -1.0"),
    "updates below 0": (lambda path: packed(path, network__updates=np.array(-1)), "its network.updates is -1"),
    "half updates": (lambda path: packed(path, network__updates=np.array(0.5)), "are () of type float64, not () of"),
    "many updates": (lambda path: packed(path, network__updates=np.zeros(3, int)), "are (3,) of type int64, not ()"),
    "claims": (lambda path: packed(path, states=claiming((1 << 40, FEATURES))), "have 8 bytes for (1099511627776, 5)"),
    "below 0 rows": (lambda path: packed(path, states=claiming((-1, FEATURES))), "have 8 bytes for (-1, 5)"),
    "bomb": (
        lambda path: packed(path, compression=zipfile.ZIP_DEFLATED, states=bytes((256 << 20) + 1)),
        "it would unpack to 256 MiB",
    ),
    "understated": (understated, "Bad CRC-32 for file 'network.square.npy'"),
    "bzip2": (
        lambda path: packed(path, compression=zipfile.ZIP_BZIP2),
        "its header are compressed otherwise than numpy does it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILED)
def test_a_spoiled_file_is_moved_aside_and_learning_begins_anew(path, how):
    spoil, message = SPOILED[how]
    wrote(path)
    data = spoil(path)
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"a\.learned is not a whole file of learners: "):
        LearnedFile(path, blank(), ABOUT, frozen=True)
    learners = blank()
    with LearnedFile(path, learners, ABOUT) as file:
        aside = path.with_name("a.learned.corrupt")
        assert file.warning.startswith(f"{path} is not a whole file of learners: ")
        assert message in file.warning and file.warning.isprintable()
        assert file.warning.endswith(f"; it is now {aside}, and learning begins anew")
        assert same(learners, blank())  # nothing of it was taken
        teach(learners, 3, 1)
    assert aside.read_bytes() == data
    assert len(loaded(path)) == 3


def test_what_a_file_understates_takes_no_memory(path):
    """A member is read as far as it says it goes, not as far as it unpacks."""
    wrote(path)
    path.write_bytes(understated(path))
    code = """
import sys, tracemalloc
from pathlib import Path
from tumble.live.learned_file import LearnedFile
from tumble.learners import Learners
learners = Learners(5, 3, 0)
tracemalloc.start()
with LearnedFile(Path(sys.argv[1]), learners, {}) as file:
    assert "Bad CRC" in file.warning, file.warning
print(tracemalloc.get_traced_memory()[1] >> 20)
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout and int(done.stdout) < 16, done.stderr


def test_a_file_that_is_too_large_is_moved_aside(path, monkeypatch):
    wrote(path, 10)
    monkeypatch.setattr(learned_file, "LARGEST", path.stat().st_size - 1)
    with LearnedFile(path, blank(), ABOUT) as file:
        assert "it has 0 MiB, 0 at most" in file.warning


def test_a_disk_that_cannot_be_read_is_no_spoiled_file(path, monkeypatch):
    wrote(path, 10)
    before = path.read_bytes()

    def broken(file):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(learned_file, "format_of", broken)
    with pytest.raises(UserError, match=r"cannot read .*a\.learned: Input/output error"):
        LearnedFile(path, blank(), ABOUT)
    assert path.read_bytes() == before and names_in(path.parent) == ["a.learned"]


def test_no_pickle():
    for module in (files, learned_file):
        source = Path(module.__file__).read_text()
        assert "pickle" not in source and "np.load" not in source


# Files for something else ---------------------------------------------------------------------------

OTHERS = [
    (ABOUT | {"character": "quadruped"}, (5, 3), "was made for 'quadruped', this is 'humanoid'; choose"),
    (
        ABOUT | {"character": "quadruped"},
        (9, 4),
        "was made for 'quadruped' (features 9, size 4), this is 'humanoid' (features 5, size 3); choose",
    ),
    (
        {"character": "humanoid", "planner": "cpbp"},
        (5, 3),
        "was made for 'humanoid' (planner 'cpbp', gain None), this is 'humanoid' (planner 'mcts', gain 10.0); choose",
    ),
    (ABOUT | {"gain": 20.0}, (5, 3), "was made for 'humanoid' (gain 20.0), this is 'humanoid' (gain 10.0); choose"),
    (ABOUT, (6, 3), "was made for 'humanoid' (features 6), this is 'humanoid' (features 5); choose"),
    (ABOUT | {"character": "\x1b[31mred"}, (5, 3), r"was made for '\x1b[31mred', this is 'humanoid'; choose"),
]


def refused(make, path: Path) -> str:
    """The message of a refusal that leaves the file as it was, and not in use."""
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        make()
    assert path.read_bytes() == before and names_in(path.parent) == [path.name]
    files.locked(path).close()
    return str(caught.value)


@pytest.mark.parametrize(("about", "sizes", "message"), OTHERS, ids=[message[:60] for _, _, message in OTHERS])
@pytest.mark.parametrize("frozen", [False, True])
def test_a_file_for_something_else_is_refused_and_left_alone(path, about, sizes, message, frozen):
    wrote(path, 4, about=about, sizes=sizes)
    learners = blank()
    assert refused(lambda: LearnedFile(path, learners, ABOUT, frozen), path) == f"{path} {message} another file"
    assert same(learners, blank())


@pytest.mark.parametrize("frozen", [False, True])
def test_a_file_of_another_version_is_refused_and_left_alone(path, frozen):
    wrote(path, 4)
    path.write_bytes(packed(path, header=headed(format="tumble learners 2", more=[1]), states=None))
    assert refused(lambda: LearnedFile(path, blank(), ABOUT, frozen), path) == (
        f"{path} is of another version: its format is 'tumble learners 2', this version reads 'tumble learners 1';"
        " choose another file"
    )


@pytest.mark.parametrize("frozen", [False, True])
def test_experience_and_learners_know_each_others_files(path, frozen):
    wrote(path, 4)
    experience = Experience(FEATURES, SIZE)
    assert refused(lambda: LearnedFile(path, experience, ABOUT, frozen), path) == (
        f"{path} is no file of experience: its format is 'tumble learners 1', this controller needs"
        " 'tumble experience 1'; choose another file"
    )
    path.unlink()
    with LearnedFile(path, experience, ABOUT):
        experience.extend(*pairs(4))
    assert refused(lambda: LearnedFile(path, blank(), ABOUT, frozen), path) == (
        f"{path} is no file of learners: its format is 'tumble experience 1', this controller needs"
        " 'tumble learners 1'; choose another file"
    )


@pytest.mark.parametrize("make", [blank, lambda: Experience(FEATURES, SIZE)], ids=["learners", "experience"])
def test_a_recording_is_no_spoiled_file(path, scene, still, make):
    session = Session(scene, still, scene.state())
    recorder = Recorder(session, "stand", "still", 0)
    session.step()
    recorder.recording.save(path)
    assert "its format is 'tumble recording 2', this controller needs" in refused(
        lambda: LearnedFile(path, make(), ABOUT), path
    )


# Two at a time --------------------------------------------------------------------------------------

HOLDER = """
import sys
from pathlib import Path
import numpy as np
from tumble.live import learned_file
from tumble.live.learned_file import LearnedFile
from tumble.learners import Learners
learned_file.REPLACED = 0.0
learners = Learners(5, 3, 0)
with LearnedFile(Path(sys.argv[1]), learners, {"character": "humanoid", "planner": "mcts", "gain": 10.0}) as file:
    print("open", flush=True)
    for line in sys.stdin:
        inode = file.path.stat().st_ino
        learners.add(np.zeros(5), np.zeros(3))
        while file.path.stat().st_ino == inode:
            file(None, None)
        print("saved", flush=True)
"""


@pytest.mark.parametrize("before", [0, 5])
def test_a_file_in_use_by_another_process(path, before):
    """It is in use under any file that takes its place, until its process ends, however it ends."""
    wrote(path, before)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "open\n"
        for saved in range(3):
            with pytest.raises(
                UserError, match=r"a\.learned is in use by another process; wait for its end, or choose another file"
            ):
                wrote(path, 3)
            if saved or before:
                frozen = blank()
                LearnedFile(path, frozen, ABOUT, frozen=True)
                assert len(frozen) == before + saved
            holder.stdin.write("\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == "saved\n"
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    finally:
        holder.kill()
        holder.communicate()
    assert len(wrote(path, 3, 1)) == before + 6


def test_the_same_file_twice_in_a_process(path):
    with LearnedFile(path, blank(), ABOUT), pytest.raises(UserError, match="is in use by another process"):
        LearnedFile(path, blank(), ABOUT)


def test_places_that_cannot_be(tmp_path):
    for place, message in (
        (tmp_path / "nowhere" / "a", "no folder .*nowhere to write a into"),
        (tmp_path, "cannot write .*: it is a folder"),
        (Path("/dev/null"), "cannot use /dev/null: it is no ordinary file"),
    ):
        with pytest.raises(UserError, match=message):
            LearnedFile(place, blank(), ABOUT)


# Controllers that are closed ------------------------------------------------------------------------

SMALL = MCTSSettings(samples=6, horizon=0.1)
LIVE = replace(SMALL, background=True)


class Odd(Exception):
    pass


def spoil(controller: Controller, monkeypatch) -> None:
    """Make its thread go wrong."""

    def train(updates):
        raise Odd("out of order")

    monkeypatch.setattr(controller.planner.learner.network, "train", train)


def test_closing_raises_what_went_wrong_first(still, monkeypatch):
    def close():
        closed.append(1)
        raise Odd("in a thread")

    closed = []
    with closing(still):
        pass  # most have nothing to close
    monkeypatch.setattr(still, "close", close)
    with pytest.raises(Odd, match="in a thread"), closing(still):
        pass
    with pytest.raises(KeyError, match="first"), closing(still):
        raise KeyError("first")
    assert len(closed) == 2


def test_a_trial_ends_its_threads(scene, goal):
    stand = SCENARIOS["stand"]()
    seen = []
    controller = Planned(MCTS(scene, LIVE, 0, 1), goal)

    def watch(session):
        session.listeners.append(lambda session, frame: seen.append(len(learning_threads())))

    assert run_trial(Trial(stand, seconds=0.2, scene=scene, made=controller), watch).finished
    assert seen == [1] * 6 and learning_threads() == []

    def fail(session):
        session.listeners.append(lambda session, frame: {}["odd"])

    with pytest.raises(KeyError, match="odd"):
        run_trial(Trial(stand, seconds=0.2, scene=scene, made=controller), fail)
    assert learning_threads() == []


def test_an_error_of_the_thread_fails_the_trial(scene, goal, monkeypatch):
    stand, controller = SCENARIOS["stand"](), Planned(MCTS(scene, LIVE, 0, 1), goal)
    spoil(controller, monkeypatch)
    with pytest.raises(Odd, match="out of order"):
        run_trial(Trial(stand, seconds=0.2, scene=scene, made=controller))


def test_learners_that_a_planner_leaves_behind_are_closed(scene, goal):
    controller = Planned(MCTS(scene, LIVE, 0, 1), goal)
    session = Session(scene, controller, scene.state())
    session.step()
    old = controller.planner.learner
    controller.set_parameters({"samples": 7})
    assert controller.planner.learner is old and old.running
    controller.set_parameters({"samples": 6, "gain": 20.0})
    assert controller.planner.learner is not old and learning_threads() == []
    session.step()
    assert len(learning_threads()) == 1
    controller.close()


# In the studio --------------------------------------------------------------------------------------

STAND = Choice("stand", controller="mcts")


def test_in_the_studio_who_can_learns_in_the_background():
    assert live(SMALL) == LIVE
    assert STAND.trial(1).controller.settings == MCTSSettings(background=True)
    assert STAND.trial(1, SMALL).controller.settings == SMALL
    assert not hasattr(Choice("stand").trial(1).controller.settings, "background")


class School:
    """A stage that learns from a file, and its audience."""

    def __init__(self, path, settings=SMALL, frozen=False) -> None:
        self.seats = Seats()
        self.learning = Learning(path, frozen, "mcts", STAND.trial(1, settings).controller)
        self.stage = Stage(STAND, self.seats, 1, settings, self.learning)
        self.stage.start()

    def __enter__(self) -> "School":
        return self

    def __exit__(self, *_) -> None:
        self.stage.close()
        self.learning.close()


def test_a_stage_learns_and_goes_on_another_day(path):
    with School(path) as school:
        stage = school.stage
        advance(stage, 3)
        assert learned_text(stage) == "3 situations learned in a.learned (growing)"
        do(stage, stage.reset, lambda: stage.director.send(SetParameter("samples", 8)))
        advance(stage, 2)
        do(stage, lambda: stage.director.throw((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 150.0))
        advance(stage, 1)
        assert (len(school.learning), stage.unused) == (6, "")
        assert stage.trial.controller.planner.learner is school.learning.learner
    before = path.read_bytes()
    with School(path, frozen=True) as school:
        advance(school.stage, 2)
        assert learned_text(school.stage) == "6 situations learned in a.learned (frozen)"
    assert path.read_bytes() == before
    with School(path) as school:
        advance(school.stage, 1)
        assert len(school.learning) == 7


def test_another_body_and_another_gain_learn_by_themselves(path):
    with School(path) as school:
        stage, said = school.stage, school.seats.said
        advance(stage, 1)
        do(stage, lambda: stage.choose(replace(STAND, character="humanoid-light")))
        advance(stage, 2)
        assert said.count("a.learned is not used: it was learned with character humanoid") == 1
        assert stage.trial.controller.planner.learner is not school.learning.learner
        do(stage, lambda: stage.choose(STAND))
        do(stage, lambda: stage.director.send(SetParameter("gain", 20.0), SetParameter("samples", 8)))
        advance(stage, 3)
        assert said.count("a.learned is not used: it was learned with gain 10") == 1
        assert learned_text(stage).endswith("in a.learned (not used: it was learned with gain 10)")
        do(stage, lambda: stage.choose(replace(STAND, controller="smc")))
        stage.trial.controller.set_parameters({"samples": 6, "horizon": 0.4})
        advance(stage, 1)
        assert stage.unused == "it was learned with planner mcts, gain 10"
        assert len(school.learning) == 1


def test_learners_of_another_kind_are_not_given_to_who_has_them(scene, goal, path):
    """A planner whose settings have changed what it is about gets learners of its own."""
    controller = Planned(MCTS(scene, LIVE, 0, 1), goal)
    session = Session(scene, controller, scene.state())
    with Learning(path, False, "mcts", controller) as learning:
        assert learning.teach(controller) == "" and controller.planner.learner is learning.learner
        session.step()
        controller.planner.about = controller.planner.about | {"gain": 20.0}
        assert learning.teach(controller) == "it was learned with gain 10"
        own = controller.planner.learner
        assert own is not learning.learner and not learning.learner.running and len(own) == 0
        learning.teach(controller)
        assert controller.planner.learner is own
    controller.close()


def test_a_stage_ends_threads_where_nobody_learns(path):
    """While it is paused, when another controller comes, when it ends; a thrown ball ends nothing."""
    with School(path, LIVE) as school:
        stage, seen = school.stage, []

        def step() -> None:
            stage._step()
            seen.append([thread.name for thread in learning_threads()])

        both = ["tumble learners", "writes a.learned"]
        do(stage, step)
        assert [sorted(names) for names in seen] == [both]
        do(stage, lambda: None)
        stage.pause()
        do(stage, lambda: None)
        assert [thread.name for thread in learning_threads()] == ["writes a.learned"]
        for job, left in (
            (lambda: stage.director.throw((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 150.0), both),
            (stage.reset, both[1:]),
            (lambda: stage.choose(replace(STAND, character="humanoid-light")), both[1:]),
            (lambda: stage.choose(replace(STAND, controller="cpbp")), both[1:]),
        ):

            def change(job=job) -> None:
                stage._step()
                job()
                seen.append([thread.name for thread in learning_threads()])

            do(stage, change)
            assert sorted(seen[-1]) == left


def test_what_goes_wrong_in_a_thread_is_told(path, monkeypatch):
    """Also after the last frame, when somebody else comes."""
    on = threading.Event()

    def train(updates):
        assert on.wait(60)
        raise Odd("out of order")

    with School(path, LIVE) as school:
        stage, learners = school.stage, school.learning.learner
        monkeypatch.setattr(learners.network, "train", train)

        def step_and_wait() -> None:
            stage._step()
            on.set()
            learners._thread.join(60)

        do(stage, step_and_wait, lambda: stage.choose(STAND))
        assert [text for text in school.seats.said if "error" in text] == [
            "learning ended by an error: Odd('out of order')"
        ]
        monkeypatch.undo()
        advance(stage, 2)
        assert len(school.learning) == 3


def test_another_scene_of_the_same_body_goes_on_with_what_was_learned():
    trial = Choice("learn-hop", "monoped", "mcts").trial(1, SMALL)
    for _ in range(3):
        trial.step()
    learners = trial.controller.planner.learner
    other = Scene(trial.scene.character, [Ball("thrown")])
    trial.enter(other)
    assert trial.controller.planner.scene is other and trial.controller.planner.learner is learners
    assert len(learners) == 3
