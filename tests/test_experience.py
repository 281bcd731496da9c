"""Experience: neighbours against a plain search, and files that are whole, moved aside or refused."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

from tumble import files
from tumble.errors import UserError
from tumble.files import UNSURE, Records
from tumble.learners.experience import Experience
from tumble.live import learned_file
from tumble.live.learned_file import LearnedFile, LearnedHeader
from tumble.live.session import Session
from tumble.maths.neighbours import ROWS

FEATURES, SIZE = 5, 3
ABOUT = {"character": "humanoid", "horizon": 2.0, "points": 4}


def expected(situations, plans, situation, count) -> np.ndarray:
    """The nearest plans by sorting all distances; of equal ones the older first."""
    stored, query = situations.astype(np.float32).astype(float), situation.astype(np.float32).astype(float)
    square = (stored**2).mean(0)
    used = square > 0
    distances = ((stored[:, used] - query[used]) ** 2 / square[used]).sum(1)
    return plans[np.argsort(distances, kind="stable")[:count]].astype(np.float32).astype(float)


def pairs(count: int, seed: int = 0, features: int = FEATURES, size: int = SIZE) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, features)), rng.normal(size=(count, size))


def filled(situations, plans, **more) -> Experience:
    """An experience to which pairs were added one by one."""
    experience = Experience(situations.shape[1], plans.shape[1], **more)
    for situation, plan in zip(situations, plans, strict=True):
        experience.add(situation, plan)
    return experience


# Neighbours -----------------------------------------------------------------------------------------


def test_empty():
    experience = Experience(FEATURES, SIZE)
    assert len(experience) == experience.added == 0
    assert experience.recall(np.zeros(FEATURES), 3).shape == (0, SIZE)
    assert [array.shape for array in experience.since(0)] == [(0, FEATURES), (0, SIZE)]


@pytest.mark.parametrize("features", [1, 7, 8, 9, 45])
@pytest.mark.parametrize("stored", [1, 2, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS + 7])
def test_the_nearest_as_by_sorting(features, stored):
    situations, plans = pairs(stored, stored, features)
    situations *= np.exp(np.random.default_rng(1).normal(scale=5, size=features))  # units from mm to km
    experience = Experience(features, SIZE)
    experience.extend(situations, plans)
    for i, (query, _) in enumerate(zip(*pairs(20, 9, features), strict=True)):
        query = query * np.abs(situations).mean(0) if i % 2 else situations[i % stored]
        for count in (1, 3, 10):
            found = experience.recall(query, count)
            assert found.dtype == float and found.shape == (min(count, stored), SIZE)
            assert np.array_equal(found, expected(situations, plans, query, count))


def test_motions_that_are_left_together():
    """Rows that are alike, of which whole stretches are far away: the same neighbours as by sorting."""
    rng = np.random.default_rng(0)
    situations = np.cumsum(0.1 * rng.normal(size=(5000, 20)), axis=0)
    plans = rng.normal(size=(5000, 2))
    experience = Experience(20, 2)
    experience.extend(situations, plans)
    for i in range(0, 5000, 100):
        query = situations[i] + 0.2 * rng.normal(size=20)
        assert np.array_equal(experience.recall(query, 3), expected(situations, plans, query, 3))


@pytest.mark.parametrize("capacity", [1, 2, 10, ROWS, ROWS + 5, 1000])
def test_beyond_capacity_the_oldest_is_overwritten(capacity):
    situations, plans = pairs(3 * capacity // 2 + 1)
    experience = filled(situations, plans, capacity=capacity)
    assert (len(experience), experience.added) == (capacity, len(plans))
    for query in pairs(20, 5)[0]:
        found = experience.recall(query, 3)
        assert np.array_equal(found, expected(situations[-capacity:], plans[-capacity:], query, 3))


def test_more_at_once_than_there_is_room_for():
    situations, plans = pairs(25)
    experience = Experience(FEATURES, SIZE, capacity=10)
    experience.extend(situations[:3], plans[:3])
    experience.extend(situations[3:], plans[3:])
    assert (len(experience), experience.added) == (10, 25)
    assert np.array_equal(experience.since(0)[1], plans[-10:].astype(np.float32))


@pytest.mark.parametrize("capacity", [1000, 700])
def test_of_equally_near_ones_the_older_comes_first(capacity):
    """Coarse situations, so that many are the same or on either side of the query."""
    rng = np.random.default_rng(2)
    situations = rng.integers(-1, 2, size=(1000, FEATURES)).astype(float)
    plans = np.arange(1000.0)[:, None]
    experience = filled(situations, plans, capacity=capacity)
    for query in (np.zeros(FEATURES), situations[17], situations[999]):
        found = experience.recall(query, 30)
        assert np.array_equal(found, expected(situations[-capacity:], plans[-capacity:], query, 30))
    same = filled(np.ones((600, FEATURES)), plans[:600])
    assert np.array_equal(same.recall(np.ones(FEATURES), 4), plans[:4])
    assert np.array_equal(same.recall(np.zeros(FEATURES), 4), plans[:4])


def test_a_feature_that_is_always_0_counts_nothing():
    situations, plans = pairs(50)
    situations[:, 2] = 0.0
    experience = filled(situations, plans)
    query = situations[7] + np.array([0, 0, 1e6, 0, 0])
    assert np.array_equal(experience.recall(query, 1)[0], plans[7].astype(np.float32))
    nothing = filled(np.zeros((5, FEATURES)), plans[:5])
    assert np.array_equal(nothing.recall(query, 2), plans[:2].astype(np.float32))


def test_what_was_overwritten_leaves_no_trace():
    """A huge value that is gone, and a feature that has become 0, count as if they had never been."""
    situations, plans = pairs(60)
    situations[3, 1] = 1e30
    situations[:, 2] = 0.0
    situations[4, 2] = 5.0
    experience = filled(situations, plans, capacity=50)
    for query in pairs(20, 5)[0]:
        query[2] = 1e8
        assert np.array_equal(experience.recall(query, 3), expected(situations[-50:], plans[-50:], query, 3))


def test_extremes_of_float32():
    situations = np.array([[3e38, 1e-45], [-3e38, 2e-45], [1e38, -3e-45]])
    experience = filled(situations, np.arange(3.0)[:, None])
    for i in range(3):
        assert experience.recall(situations[i], 1) == [[i]]


def test_one_by_one_or_at_once_is_the_same():
    situations, plans = pairs(700)
    one, many = filled(situations, plans, capacity=500), Experience(FEATURES, SIZE, capacity=500)
    many.extend(situations, plans)
    assert [array.tobytes() for array in one.since(0)] == [array.tobytes() for array in many.since(0)]
    for query in pairs(20, 5)[0]:
        assert np.array_equal(one.recall(query, 5), many.recall(query, 5))


def test_answers_and_what_was_given_are_copies():
    situations, plans = pairs(10)
    experience = filled(situations, plans)
    before = experience.recall(situations[0], 3)
    for array in (*experience.since(0), situations, plans, experience.recall(np.zeros(FEATURES), 3)):
        array[:] = 0.0
    assert np.array_equal(experience.recall(pairs(10)[0][0], 3), before)


def test_since_gives_what_is_new_and_still_there():
    situations, plans = (array.astype(np.float32) for array in pairs(20))
    experience = filled(situations[:8], plans[:8], capacity=12)
    for i in range(8, 20):
        experience.add(situations[i], plans[i])
        for mark in (0, 5, 8, i, i + 1):
            first = max(mark, i + 1 - 12)
            assert np.array_equal(experience.since(mark)[0], situations[first : i + 1])
            assert np.array_equal(experience.since(mark)[1], plans[first : i + 1])
    assert experience.since(0)[0].flags.c_contiguous


def test_frozen_experience_is_used_and_does_not_grow():
    situations, plans = pairs(10)
    experience = filled(situations[:5], plans[:5])
    experience.growing = False
    experience.add(situations[5], plans[5])
    assert len(experience) == experience.added == 5
    experience.extend(situations[5:], plans[5:])  # a file is loaded all the same
    assert len(experience) == 10


nan = float("nan")
BAD = [
    (lambda e: e.add(np.zeros(4), np.zeros(3)), r"situations must have 5 numbers each, got shape \(4,\)"),
    (lambda e: e.add(np.zeros(5), np.zeros((1, 3))), r"plans must have 3 numbers each, got shape \(1, 3\)"),
    (lambda e: e.add([0, 0, nan, 0, 0], np.zeros(3)), "situations must be finite numbers up to 3e38, got nan"),
    (lambda e: e.add(np.zeros(5), [0, np.inf, 0]), "plans must be finite numbers up to 3e38, got inf"),
    (lambda e: e.add(np.zeros(5), [0, -1e39, 0]), r"plans must be finite numbers up to 3e38, got -1e\+39"),
    (lambda e: e.extend(np.zeros((2, 5)), np.zeros((3, 3))), "every situation has one plan, got 2 and 3"),
    (lambda e: e.extend(np.zeros(5), np.zeros(3)), "situations must have 5 numbers each"),
    (lambda e: e.recall(np.zeros(6), 3), r"a situation must have 5 numbers each, got shape \(6,\)"),
    (lambda e: e.recall(np.full(5, nan), 3), "a situation must be finite numbers up to 3e38, got nan"),
    (lambda e: e.recall(np.zeros(5), -1), "count must be a number 0 or more, got -1"),
    (lambda e: e.since(3), "added must be a number 0 or more and at most 2, got 3"),
    (lambda e: Experience(0, 3), "features must be a number 1 or more, got 0"),
    (lambda e: Experience(5, 0), "size must be a number 1 or more, got 0"),
    (lambda e: Experience(5, 3, 0), "capacity must be a number 1 or more, got 0"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_mistakes_are_told_and_change_nothing(call, message):
    experience = filled(*pairs(2))
    before = [array.tobytes() for array in experience.since(0)]
    with pytest.raises(UserError, match=message):
        call(experience)
    assert (experience.added, len(experience)) == (2, 2)
    assert [array.tobytes() for array in experience.since(0)] == before


# Files ----------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "a.experience"


def wrote(path: Path, count: int, seed: int = 0, capacity: int = 1000, about=ABOUT) -> None:
    """A run in which so many pairs are learned."""
    experience = Experience(FEATURES, SIZE, capacity)
    with LearnedFile(path, experience, about) as file:
        for situation, plan in zip(*pairs(count, seed), strict=True):
            experience.add(situation, plan)
            file(None, None)


def loaded(path: Path, capacity: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    experience = Experience(FEATURES, SIZE, capacity)
    with LearnedFile(path, experience, ABOUT) as file:
        assert file.warning is None
    return experience.since(0)


def same(found, *expected) -> bool:
    """Whether situations and plans are those of some (count, seed), one after the other."""
    both = (np.concatenate(parts).astype(np.float32) for parts in zip(*(pairs(*one) for one in expected), strict=True))
    return all(np.array_equal(one, other) for one, other in zip(found, both, strict=True))


RECORD = 4 * (FEATURES + SIZE + 1)
TOP = len(Records("tumble experience 1", LearnedHeader(FEATURES, SIZE, ABOUT), {}, 0).top)


def test_what_was_learned_is_there_again(path):
    wrote(path, 10)
    assert same(loaded(path), (10, 0))
    assert path.stat().st_size == TOP + 10 * RECORD


def test_a_file_grows_from_run_to_run(path):
    for run in range(3):
        wrote(path, 5, run)
    assert same(loaded(path), (5, 0), (5, 1), (5, 2))


def test_the_newest_are_loaded_where_there_is_no_room_for_all(path):
    wrote(path, 30)
    assert np.array_equal(loaded(path, 10)[1], pairs(30)[1][-10:].astype(np.float32))
    wrote(path, 5, 1, capacity=10)  # which forgets some; the file does not
    assert same(loaded(path), (30, 0), (5, 1))


def test_the_format(path):
    """Anybody can read it: lines of text, then floats and a CRC."""
    wrote(path, 2)
    form, text, checksum, data = path.read_bytes().split(b"\n", 3)
    assert form == b"tumble experience 1"
    assert json.loads(text) == {"features": FEATURES, "size": SIZE, "about": ABOUT}
    assert int(checksum, 16) == zlib.crc32(text)
    assert len(data) == 2 * RECORD
    situations, plans = pairs(2)
    for i in range(2):
        record = data[i * RECORD : (i + 1) * RECORD]
        assert np.array_equal(np.frombuffer(record[:-4], "<f4"), np.r_[situations[i], plans[i]].astype(np.float32))
        assert int.from_bytes(record[-4:], "little") == zlib.crc32(record[:-4])


def test_a_run_in_which_nothing_is_learned_leaves_no_file(path):
    wrote(path, 0)
    assert not any(path.parent.iterdir())
    path.touch()
    wrote(path, 0)
    assert path.exists()  # it was there before
    wrote(path, 3)
    before = path.read_bytes()
    wrote(path, 0)
    assert path.read_bytes() == before


def test_as_a_listener(path, scene, still):
    experience = Experience(FEATURES, SIZE)
    situations, plans = pairs(6)
    session = Session(scene, still, scene.state())
    session.listeners.append(lambda session, frame: experience.add(situations[frame.index], plans[frame.index]))
    with LearnedFile(path, experience, ABOUT) as file:
        session.listeners.append(file)
        for _ in range(6):
            session.step()
    assert same(loaded(path), (6, 0))


def test_what_came_after_the_last_frame_is_written_too(path):
    experience = Experience(FEATURES, SIZE)
    file = LearnedFile(path, experience, ABOUT)
    experience.extend(*pairs(4))
    file.close()
    file.close()
    file(None, None)  # closed: nothing to do
    assert same(loaded(path), (4, 0))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_run_keeps_what_it_learned(path, error):
    experience = Experience(FEATURES, SIZE)
    file = LearnedFile(path, experience, ABOUT)
    with pytest.raises(error):
        try:
            for situation, plan in zip(*pairs(7), strict=True):
                experience.add(situation, plan)
                file(None, None)
            raise error
        finally:
            file.close()
    assert same(loaded(path), (7, 0))


def test_frozen_only_loads(path):
    with pytest.raises(UserError, match=r"no file .*a\.experience: nothing was learned yet; run without frozen first"):
        LearnedFile(path, Experience(FEATURES, SIZE), ABOUT, frozen=True)
    wrote(path, 5)
    path.write_bytes(path.read_bytes() + b"half")
    before = path.read_bytes()
    experience = Experience(FEATURES, SIZE)
    with LearnedFile(path, experience, ABOUT, frozen=True) as file:
        assert same(experience.since(0), (5, 0))
        experience.extend(*pairs(3, 1))
        file(None, None)
    assert path.read_bytes() == before
    path.write_bytes(b"hello")
    with pytest.raises(UserError, match=r"a\.experience is not a whole file of experience: it does not begin with"):
        LearnedFile(path, Experience(FEATURES, SIZE), ABOUT, frozen=True)
    assert [file.name for file in path.parent.iterdir()] == ["a.experience"]


def test_about_is_compared_as_it_comes_out_of_json(path):
    about = {"character": "humanoid", "sizes": (1, 2), "horizon": 2}
    wrote(path, 1, about=about)
    wrote(path, 1, about=about | {"sizes": [1, 2], "horizon": 2.0})
    experience = Experience(FEATURES, SIZE)
    LearnedFile(path, experience, about, frozen=True)
    assert len(experience) == 2


# Files that are cut off -----------------------------------------------------------------------------


def test_an_incomplete_record_is_dropped_and_cut_off(path):
    wrote(path, 5)
    whole = path.read_bytes()
    for missing in range(1, RECORD + 1):
        path.write_bytes(whole[:-missing])
        for found, known in zip(loaded(path), pairs(5), strict=True):
            assert np.array_equal(found, known[:4].astype(np.float32))
        assert path.read_bytes() == whole[:-missing]  # loading changes nothing
    path.write_bytes(whole + whole[-RECORD:-1])
    wrote(path, 3, 1)
    assert same(loaded(path), (5, 0), (3, 1))


@pytest.mark.parametrize("size", [0, 1, 10, TOP - 1, TOP])
def test_a_file_that_was_just_begun(path, size):
    wrote(path, 5)
    path.write_bytes(path.read_bytes()[:size])
    assert len(loaded(path)[0]) == 0
    wrote(path, 3, 1)
    assert same(loaded(path), (3, 1))
    assert [file.name for file in path.parent.iterdir()] == ["a.experience"]


@pytest.mark.parametrize("tail", [bytes(3 * RECORD), bytes(RECORD + 5), b"\xff" * RECORD], ids=["0", "0 half", "1"])
def test_records_that_a_power_cut_left_unwritten(path, tail):
    """The file is as long as it should be, and its end is not what was written."""
    wrote(path, 100)
    path.write_bytes(path.read_bytes() + tail)
    experience = Experience(FEATURES, SIZE)
    with LearnedFile(path, experience, ABOUT) as file:
        assert file.warning == (
            f"the last {len(tail) // RECORD} records of {path} were not written whole and are left out"
        )
        assert same(experience.since(0), (100, 0))
        experience.extend(*pairs(3, 1))
    assert same(loaded(path), (100, 0), (3, 1))


KILLED = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
from tumble.learners.experience import Experience
from tumble.live import learned_file
from tumble.live.learned_file import LearnedFile
learned_file.APPENDED = 0.0
path, before = Path(sys.argv[1]), 0

def experience_of(path):
    experience = Experience(40, 200)
    file = LearnedFile(path, experience, {"character": "humanoid"})
    assert file.warning is None, file.warning
    return experience, file

path.touch()
for i in range(8):
    size, child = path.stat().st_size, os.fork()
    if not child:
        experience, file = experience_of(path)
        while True:
            for _ in range(50):
                n = experience.added
                experience.add(np.full(40, n + 1), np.full(200, n + 1))
            file(None, None)
            time.sleep(0.0005)
    while path.stat().st_size == size:
        time.sleep(0.001)
    time.sleep(0.1 + 0.0137 * i)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    experience, file = experience_of(path)
    situations, plans = experience.since(0)
    assert len(plans) > before, (len(plans), before)
    assert (plans == 1 + np.arange(len(plans))[:, None]).all() and (situations[:, :1] == plans[:, :1]).all()
    before = len(plans)
    file.close()
print("whole", before)
"""


def test_killed_in_mid_writing_loses_the_last_moments_at_most(path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("whole"), done.stderr
    assert [file.name for file in path.parent.iterdir()] == ["a.experience"]


# Files that are spoiled -----------------------------------------------------------------------------


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def headed(text: bytes) -> bytes:
    return b"tumble experience 1\n%s\n%08x\n" % (text, zlib.crc32(text))


def unsound(data: bytes) -> bytes:
    """A number that is none, under a good checksum."""
    record = np.full(FEATURES + SIZE, np.nan, "<f4").tobytes()
    return data[:-RECORD] + record + zlib.crc32(record).to_bytes(4, "little")


class Bomb:
    """Runs code when unpickled."""

    def __reduce__(self):
        return os.abort, ()


SPOILED = {
    "first record": (lambda data: flipped(data, TOP), "the checksum of record 1 of 200 is wrong"),
    "middle": (lambda data: flipped(data, TOP + 99 * RECORD + 9), "the checksum of record 100 of 200 is wrong"),
    "a checksum": (lambda data: flipped(data, TOP + 100 * RECORD - 1), "the checksum of record 100 of 200 is wrong"),
    "near the end": (lambda data: flipped(data, len(data) - RECORD - 1), "the checksum of record 199 of 200 is wrong"),
    "long end": (lambda data: data + bytes((UNSURE + 1) * RECORD), "the checksum of record 201 of 265 is wrong"),
    "a byte less": (lambda data: data[:TOP] + data[TOP + 1 :], "the checksum of record 1 of 199 is wrong"),
    "format": (lambda data: flipped(data, 3), "it does not begin with 'tumble experience 1'"),
    "header": (lambda data: flipped(data, 40), "the checksum of its header is wrong"),
    "header cut off": (lambda data: flipped(data, 40)[: TOP - 4], "the checksum of its header is wrong"),
    "no json": (lambda data: headed(b"hello"), "its header says nothing: JSON is malformed"),
    "other json": (lambda data: headed(b"[1]"), "its header says nothing: Expected `object`, got `array`"),
    "extra field": (lambda data: headed(b'{"features":5,"size":3,"about":{},"x":1}'), "unknown field `x`"),
    "red field": (lambda data: headed(b'{"\\u001b[31m":1}'), r"unknown field `\x1b[31m`"),
    "deep": (lambda data: headed(b'{"about":{"a":' + b"[" * 9000 + b"]" * 9000 + b"}}"), "its header says nothing"),
    "nan": (unsound, "situations must be finite numbers up to 3e38, got nan"),
    "text": (lambda data: b"Dear diary,\n\n\n", "it does not begin with 'tumble experience 1'"),
    "zeros": (lambda data: bytes(len(data)), "it does not begin with 'tumble experience 1'"),
    "noise": (lambda data: np.random.default_rng(0).bytes(5000), "it does not begin with 'tumble experience 1'"),
    "pickle": (lambda data: pickle.dumps(Bomb()), "it does not begin with 'tumble experience 1'"),
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_spoiled_file_is_moved_aside_and_learning_begins_anew(path, how):
    spoil, message = SPOILED[how]
    wrote(path, 200)
    data = spoil(path.read_bytes())
    path.write_bytes(data)
    experience = Experience(FEATURES, SIZE)
    with LearnedFile(path, experience, ABOUT) as file:
        aside = path.with_name("a.experience.corrupt")
        assert file.warning.startswith(f"{path} is not a whole file of experience: ")
        assert message in file.warning
        assert file.warning.endswith(f"; it is now {aside}, and learning begins anew")
        assert len(experience) == 0
        experience.extend(*pairs(3, 1))
    assert aside.read_bytes() == data
    assert same(loaded(path), (3, 1))


def test_no_spoiled_file_takes_the_place_of_another(path):
    for name in ("corrupt", "corrupt-2", "corrupt-3"):
        path.write_text(name)
        wrote(path, 0)
        assert not path.exists()
        assert path.with_name(f"a.experience.{name}").read_text() == name
    assert len(list(path.parent.iterdir())) == 3


def test_a_file_that_is_too_large_is_moved_aside(path, monkeypatch):
    wrote(path, 10)
    monkeypatch.setattr(learned_file, "LARGEST_APPENDED", path.stat().st_size - 1)
    with LearnedFile(path, Experience(FEATURES, SIZE), ABOUT) as file:
        assert "it has 0 MiB, 0 at most" in file.warning


def test_a_file_does_not_become_too_large(path, monkeypatch):
    wrote(path, 10)
    monkeypatch.setattr(learned_file, "LARGEST_APPENDED", path.stat().st_size + 2 * RECORD)
    wrote(path, 2, 1)
    with pytest.raises(UserError, match=r"cannot write .*: it would have more than 0 MiB; choose another file"):
        wrote(path, 1, 2)
    assert same(loaded(path), (10, 0), (2, 1))


def test_a_spoiled_file_that_cannot_be_moved(path, monkeypatch):
    path.write_text("hello")
    monkeypatch.setattr(os, "rename", failing(PermissionError(13, "Permission denied")))
    with pytest.raises(UserError, match=r"cannot move .*a\.experience aside, which is spoiled: Permission denied"):
        LearnedFile(path, Experience(FEATURES, SIZE), ABOUT)
    assert path.read_text() == "hello"


def test_no_pickle():
    for module in (files, learned_file, sys.modules[Experience.__module__]):
        source = Path(module.__file__).read_text()
        assert "pickle" not in source and "np.load" not in source


# Files for something else ---------------------------------------------------------------------------

OTHERS = [
    (ABOUT | {"character": "humanoid-light"}, (5, 3), "was made for 'humanoid-light', this is 'humanoid'; choose"),
    (
        ABOUT | {"horizon": 1.5},
        (5, 3),
        "was made for 'humanoid' (horizon 1.5), this is 'humanoid' (horizon 2.0); choose",
    ),
    (ABOUT, (6, 4), "was made for 'humanoid' (features 6, size 4), this is 'humanoid' (features 5, size 3); choose"),
    ({"points": 4}, (5, 3), "was made for 'no character' (horizon None), this is 'humanoid' (horizon 2.0); choose"),
    (ABOUT | {"character": "\x1b[31mred"}, (5, 3), r"was made for '\x1b[31mred', this is 'humanoid'; choose"),
    (ABOUT | {"\x1b[0m": 1}, (5, 3), r"was made for 'humanoid' (\x1b[0m 1), this is 'humanoid' (\x1b[0m None); choose"),
]


@pytest.mark.parametrize(("about", "sizes", "message"), OTHERS, ids=[message[:60] for _, _, message in OTHERS])
@pytest.mark.parametrize("frozen", [False, True])
def test_a_file_for_something_else_is_refused_and_left_alone(path, about, sizes, message, frozen):
    other = Experience(*sizes)
    with LearnedFile(path, other, about):
        other.extend(*pairs(4, 0, *sizes))
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        LearnedFile(path, Experience(FEATURES, SIZE), ABOUT, frozen)
    assert str(caught.value) == f"{path} {message} another file"
    assert path.read_bytes() == before
    with LearnedFile(path, Experience(*sizes), about):  # it is not in use either
        pass


def test_a_file_of_another_version_is_refused_and_left_alone(path):
    path.write_bytes(b"tumble experience 2\nwhatever")
    message = "is of another version: its format is 'tumble experience 2', this version reads 'tumble experience 1'"
    with pytest.raises(UserError, match=message):
        LearnedFile(path, Experience(FEATURES, SIZE), ABOUT)
    assert path.read_bytes() == b"tumble experience 2\nwhatever"


# Places and disks -----------------------------------------------------------------------------------


def failing(error: Exception):
    def fail(*arguments, **more):
        raise error

    return fail


def test_places_that_cannot_be(tmp_path, monkeypatch):
    experience = Experience(FEATURES, SIZE)
    with pytest.raises(UserError, match=r"no folder .*nowhere to write a\.experience into"):
        LearnedFile(tmp_path / "nowhere" / "a.experience", experience, ABOUT)
    with pytest.raises(UserError, match=r"cannot write .*: it is a folder"):
        LearnedFile(tmp_path, experience, ABOUT)
    with pytest.raises(UserError, match="cannot use /dev/null: it is no ordinary file"):
        LearnedFile(Path("/dev/null"), experience, ABOUT)
    monkeypatch.setattr(files, "open", failing(PermissionError(13, "Permission denied")), raising=False)
    with pytest.raises(UserError, match=r"cannot open .*a\.experience: Permission denied"):
        LearnedFile(tmp_path / "a.experience", experience, ABOUT)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(path):
    wrote(path, 3)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        for name in ("a.experience", "b.experience"):
            with pytest.raises(UserError, match=f"cannot open .*{name}: Permission denied"):
                LearnedFile(path.with_name(name), Experience(FEATURES, SIZE), ABOUT)
        LearnedFile(path, Experience(FEATURES, SIZE), ABOUT, frozen=True)
    finally:
        path.parent.chmod(0o755)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("odd")], ids=repr)
def test_a_full_disk_is_told_at_the_next_frame_and_at_the_end(path, monkeypatch, error):
    wrote(path, 5)
    monkeypatch.setattr(learned_file, "APPENDED", 0.0)
    monkeypatch.setattr(files, "write_all", failing(error))
    experience = Experience(FEATURES, SIZE)
    file = LearnedFile(path, experience, ABOUT)
    experience.extend(*pairs(2, 1))
    file(None, None)
    file._thread.join()
    message = f"cannot write {path}: {error.args[-1]}"
    for call in (lambda: file(None, None), file.close):
        with pytest.raises(UserError) as caught:
            call()
        assert str(caught.value) == message
    file.close()  # it has been told
    assert same(loaded(path), (5, 0))


def test_a_disk_that_is_full_in_the_middle_of_a_record(path, monkeypatch):
    wrote(path, 5)
    whole = files.write_all

    def half(file, data):
        whole(file, data[: 3 * RECORD // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_all", half)
    with (
        pytest.raises(UserError, match="No space left on device"),
        LearnedFile(path, experience := Experience(FEATURES, SIZE), ABOUT),
    ):
        experience.extend(*pairs(2, 1))
    monkeypatch.undo()
    assert len(loaded(path)[0]) == 6
    wrote(path, 3, 2)
    assert len(loaded(path)[0]) == 9


def test_writes_that_take_a_part_at_a_time(path):
    class Slow:
        taken = b""

        def write(self, data):
            self.taken += bytes(data[:7])
            return len(data[:7])

    slow = Slow()
    files.write_all(slow, bytes(range(100)))
    assert slow.taken == bytes(range(100))


def test_a_disk_that_hangs_does_not_hold_up_a_session(path, monkeypatch):
    on, writes, whole = threading.Event(), [], files.write_all

    def hang(file, data):
        assert on.wait(60)
        writes.append(len(data))
        whole(file, data)

    monkeypatch.setattr(learned_file, "APPENDED", 0.0)
    monkeypatch.setattr(files, "write_all", hang)
    experience = Experience(FEATURES, SIZE)
    file = LearnedFile(path, experience, ABOUT)
    for situation, plan in zip(*pairs(100), strict=True):
        experience.add(situation, plan)
        file(None, None)  # returns
    on.set()
    file.close()
    assert same(loaded(path), (100, 0))
    assert len(writes) <= 3  # one that hung, one that was handed over meanwhile, and all the rest at once


def test_the_disk_is_waited_for_once_a_second_and_at_the_end(path, monkeypatch):
    times, now, due, written = [], [0.0], 1.0, threading.Semaphore(0)
    monkeypatch.setattr(learned_file.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(files.os, "fsync", lambda number: (times.append(now[0]), written.release()))
    experience = Experience(FEATURES, SIZE)
    file = LearnedFile(path, experience, ABOUT)
    for situation, plan in zip(*pairs(100), strict=True):
        experience.add(situation, plan)
        file(None, None)
        if now[0] >= due:
            assert written.acquire(timeout=60)
            due = now[0] + 1
        now[0] += 0.05
    file.close()
    assert 4 <= len(times) <= 6
    assert times[-1] == now[0]


HOLDER = """
import sys
from pathlib import Path
import numpy as np
from tumble.learners.experience import Experience
from tumble.live.learned_file import LearnedFile
experience = Experience(5, 3)
with LearnedFile(Path(sys.argv[1]), experience, {"character": "humanoid", "horizon": 2.0, "points": 4}):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("before", [0, 5])
def test_a_file_in_use_by_another_process(path, before):
    wrote(path, before)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(UserError, match=r"a\.experience is in use by another process; wait for its end, or choose"):
            wrote(path, 3)
        LearnedFile(path, Experience(FEATURES, SIZE), ABOUT, frozen=True)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    finally:
        holder.kill()
        holder.communicate()
    wrote(path, 3, 1)
    assert same(loaded(path), (before, 0), (3, 1))


def test_a_file_that_vanishes_while_it_is_opened(path, monkeypatch):
    """Who had it before deleted it, unused, between our opening and our locking: we make another."""
    seen, opened = [], files.opened

    def vanishing(path, mode):
        file = opened(path, mode)
        if not seen:
            path.unlink()
        seen.append(path)
        return file

    monkeypatch.setattr(files, "opened", vanishing)
    wrote(path, 3)
    assert len(seen) == 2
    assert same(loaded(path), (3, 0))
