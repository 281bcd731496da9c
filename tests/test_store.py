"""The store of jobs: what was reported is there after every end, what was under way is done again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import offline_jobs
import pytest

from tumble.errors import UserError
from tumble.offline.store import JobStore, complete
from tumble.offline.workers import workers

ABOUT = {"work": "doubles", "version": 1}
TESTS = str(Path(__file__).parent)
BUILDER = f"""
import sys; sys.path.insert(0, {TESTS!r})
from pathlib import Path
import offline_jobs
from tumble.offline.store import JobStore, complete
from tumble.offline.workers import workers
if __name__ == "__main__":
    with JobStore(Path(sys.argv[1]), {ABOUT}) as store, workers(jobs=2) as pool:
        for key, result in complete(store, pool, offline_jobs.slowly, {{str(i): (i, 0.01) for i in range(200)}}):
            print(key, flush=True)
"""


def builder(path: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", BUILDER, str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_results_keep_every_bit(tmp_path):
    path, numbers = tmp_path / "a.jobs", offline_jobs.noise(3)
    with JobStore(path, ABOUT) as store:
        store.put("noise", {"numbers": numbers, "nan": float("nan"), "none": None, "yes": True})
        store.put("bytes", b"\x00\xff")
        store.put("again", 1)
        store.put("again", 2)
    with JobStore(path, ABOUT) as store:
        found = store.results()
        assert found["noise"]["numbers"] == numbers and found["noise"]["nan"] != found["noise"]["nan"]
        assert found["noise"]["none"] is None and found["noise"]["yes"] is True
        assert (found["bytes"], found["again"], len(store)) == (b"\x00\xff", 2, 3)
        assert store.keys() == set(found) == {"noise", "bytes", "again"} and store.mended == []
        with pytest.raises(TypeError, match="not JSON serializable"):
            store.put("odd", object())
        assert len(store) == 3


def test_only_what_is_missing_is_done(tmp_path):
    path = tmp_path / "a.jobs"
    with JobStore(path, ABOUT) as store, ThreadPoolExecutor(1) as pool:
        store.put("1", "kept")
        done = complete(store, pool, offline_jobs.double, {"1": (1,), "2": (2,), "3": (3,)})
        assert next(done) == ("2", 4)
        done.close()
    with JobStore(path, ABOUT) as store, ThreadPoolExecutor(1) as pool:
        assert len(store) >= 2
        list(complete(store, pool, offline_jobs.double, {"1": (1,), "2": (2,), "3": (3,)}))
        assert store.results() == {"1": "kept", "2": 4, "3": 6}
        assert list(complete(store, pool, offline_jobs.double, {"1": (1,)})) == []


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_that_was_reported_is_lost_and_the_rest_is_done_later(tmp_path, end):
    path = tmp_path / "a.jobs"
    process, reported = builder(path), []
    for line in process.stdout:
        reported.append(line.strip())
        if len(reported) == 20:
            with pytest.raises(UserError, match=r"a\.jobs is being written by another process; wait for its end"):
                JobStore(path, ABOUT)
            if end == signal.SIGINT:
                os.killpg(process.pid, end)
            else:
                process.send_signal(end)
    process.communicate(timeout=20)
    assert process.returncode != 0 and len(reported) < 200
    with JobStore(path, ABOUT) as store:
        there = store.results()
        assert set(reported) <= set(there) and len(there) <= len(reported) + 1
        assert all(there[key] == 2 * int(key) for key in there)
        with workers(jobs=2) as pool:
            rest = dict(complete(store, pool, offline_jobs.double, {str(i): (i,) for i in range(200)}))
        assert set(rest) == {str(i) for i in range(200)} - set(there)
        assert store.results() == {str(i): 2 * i for i in range(200)}


def test_a_store_of_other_work_is_refused(tmp_path):
    path = tmp_path / "a.jobs"
    JobStore(path, ABOUT).__exit__(None, None, None)
    with pytest.raises(UserError, match=r"a\.jobs holds results of other work \(version was 1, is 2\); choose another"):
        JobStore(path, ABOUT | {"version": 2})
    with pytest.raises(UserError, match=r"\(more was null, is \"x+\.\.\.\)"):
        JobStore(path, ABOUT | {"more": "x" * 100})
    with JobStore(path, dict(reversed(ABOUT.items()))) as store:  # the order says nothing
        assert len(store) == 0


def test_results_that_cannot_be_read_are_said_and_done_again(tmp_path):
    path = tmp_path / "a.jobs"
    with JobStore(path, ABOUT) as store:
        for key in ("1", "2", "3"):
            store.put(key, int(key))
    sql = sqlite3.connect(path)
    sql.execute("UPDATE results SET json = '{\"half' WHERE key = '2'")
    sql.commit()
    sql.close()
    with JobStore(path, ABOUT) as store:
        assert store.results() == {"1": 1, "3": 3}
        assert store.mended == [f"1 results in {path} cannot be read ('2'): done again"]


def test_a_store_says_what_it_is(tmp_path):
    JobStore(tmp_path / "a.jobs", ABOUT).__exit__(None, None, None)
    sql = sqlite3.connect(tmp_path / "a.jobs")
    assert json.loads(sql.execute("SELECT about FROM about").fetchone()[0]) == ABOUT
    sql.close()
    (tmp_path / "b.jobs").write_text("hum " * 999)
    with pytest.raises(UserError, match=r"b\.jobs is not a store of jobs; choose another file"):
        JobStore(tmp_path / "b.jobs", ABOUT)
