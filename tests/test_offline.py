"""Workers and jobs: the same results at any number of processes, and through the deaths of any of them."""

import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import offline_jobs
import pytest

from tumble.errors import UserError
from tumble.offline.jobs import as_done, run
from tumble.offline.workers import WorkerDied, workers

TESTS = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def pool():
    with workers(jobs=2) as pool:
        yield pool


def script(code: str, *arguments: object) -> subprocess.Popen:
    """A program of its own, in a process group of its own, as a terminal has it."""
    code = f"import sys; sys.path.insert(0, {TESTS!r})\n{code}"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def until(happens, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def pid_in(path: Path) -> int:
    until(lambda: path.exists() and path.read_text())
    return int(path.read_text())


# results --------------------------------------------------------------------------------------------


def test_results_are_those_of_a_loop_to_the_last_bit(pool):
    jobs = [(seed,) for seed in range(7)]
    expected = [offline_jobs.noise(*job) for job in jobs]
    assert run(pool, offline_jobs.noise, jobs) == expected
    with workers(jobs=1) as one, ThreadPoolExecutor(2) as threads:  # any executor will do
        assert run(one, offline_jobs.noise, jobs) == run(threads, offline_jobs.noise, jobs) == expected
        one_thread = [(seed, True) for seed in range(7)]
        assert run(one, offline_jobs.noise, one_thread) == run(pool, offline_jobs.noise, one_thread)


def test_results_come_as_they_are_done_each_once(pool):
    found = list(as_done(pool, offline_jobs.slowly, [(0, 1.0), *((i, 0.0) for i in range(1, 9))]))
    assert sorted(found) == [(i, 2 * i) for i in range(9)]
    assert found[-1] == (0, 0)  # the slow one did not hold up the others
    assert run(pool, offline_jobs.double, []) == []


def test_who_runs_is_told_of_each(pool):
    told = {}
    assert run(pool, offline_jobs.double, [(1,), (2,), (3,)], told.__setitem__) == [2, 4, 6]
    assert told == {0: 2, 1: 4, 2: 6}


def test_as_many_at_once_as_there_are_jobs(tmp_path):
    with workers(jobs=3) as three:
        assert run(three, offline_jobs.at_once, [(str(tmp_path), 3)] * 3) == [3, 3, 3]
    assert len(os.listdir(tmp_path)) == 3  # processes, and not one that was quick


def test_workers_have_one_thread_and_load_nothing_that_a_job_does_not(pool):
    before = dict(os.environ)
    (found,) = run(pool, offline_jobs.surroundings, [()])
    assert found == {"threads": {"1"}, "interrupt": signal.SIG_IGN, "modules": False}
    assert dict(os.environ) == before


def test_who_stops_asking_drops_what_was_not_begun(pool):
    asked = as_done(pool, offline_jobs.slowly, [(i, 0.05) for i in range(1000)])
    next(asked)
    began = time.monotonic()
    asked.close()
    assert run(pool, offline_jobs.double, [(4,)]) == [8]
    assert time.monotonic() - began < 10  # and not the 25 s of all


# failures -------------------------------------------------------------------------------------------


def test_what_a_job_raises_is_raised_and_says_where(pool):
    with pytest.raises(KeyError, match="hum") as caught:
        run(pool, offline_jobs.fail, [(1,), (2,)])
    assert "in a worker" in caught.value.__notes__[0] and "offline_jobs.py" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match="Odd: hohum"):
        run(pool, offline_jobs.fail, [(3,)])
    with pytest.raises(TypeError, match="cannot pickle"):
        run(pool, offline_jobs.unreturnable, [()])
    with pytest.raises((AttributeError, pickle.PicklingError), match="pickle"):
        run(pool, lambda: 0, [()])
    assert run(pool, offline_jobs.double, [(4,)]) == [8]  # nobody died of it


def test_a_worker_that_dies_has_its_job_done_again(pool, tmp_path):
    jobs = [(x, str(tmp_path / "mark")) for x in range(9)]
    assert run(pool, offline_jobs.die_once, jobs) == list(range(9))
    assert (tmp_path / "mark").exists()


def test_kill_9_of_a_worker_from_outside(pool):
    found = []
    for _, pid in as_done(pool, offline_jobs.here, [(0.2,)] * 6):
        if not found:
            os.kill(pid, signal.SIGKILL)
        found.append(pid)
    assert len(found) == 6 and len(set(found)) == 3


def test_a_job_that_kills_its_workers_is_named_and_others_are_not_blamed(pool):
    done = []
    with pytest.raises(WorkerDied, match=r"die_for\(2, 2\) ended its worker 3 times \(by SIGKILL\); try it alone"):
        for index, _ in as_done(pool, offline_jobs.die_for, [(x, 2) for x in range(9)]):
            done.append(index)
    assert set(done) <= {0, 1, 3, 4, 5, 6, 7, 8}
    assert run(pool, offline_jobs.double, [(4,)]) == [8]


def test_a_long_job_is_named_in_short():
    with workers(jobs=1) as one, pytest.raises(WorkerDied, match=r"die_for\(1, 1, 'xxx.*xxx\.\.\.\) ended") as caught:
        one.submit(offline_jobs.die_for, 1, 1, "x" * 500).result()
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("jobs", [-1, 1e9])
def test_odd_numbers_of_jobs_are_refused(jobs):
    with pytest.raises(UserError, match="jobs must be a number 0 or more and at most 1024"), workers(jobs):
        pass


def test_an_exception_ends_the_workers_at_once(tmp_path):
    path, began = tmp_path / "pid", time.monotonic()
    with pytest.raises(ZeroDivisionError), workers(jobs=2) as pool:
        pool.submit(offline_jobs.write_pid_and_wait, str(path))
        pid = pid_in(path)
        raise ZeroDivisionError
    assert not alive(pid)
    assert time.monotonic() - began < 10
    with pytest.raises(RuntimeError, match="sent home"):
        pool.submit(offline_jobs.double, 1)


# ends of the parent ---------------------------------------------------------------------------------

WAITING = """
import offline_jobs
from tumble.offline.jobs import run
from tumble.offline.workers import workers
if __name__ == "__main__":
    with workers(jobs=2) as pool:
        run(pool, offline_jobs.write_pid_and_wait, [(path,) for path in sys.argv[1:]])
"""


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    process = script(WAITING, tmp_path / "1", tmp_path / "2")
    pids = [pid_in(tmp_path / "1"), pid_in(tmp_path / "2")]
    assert all(map(alive, pids))
    process.kill()
    process.wait()
    until(lambda: not any(map(alive, pids)))


def test_ctrl_c_ends_all_quickly_and_only_the_parent_speaks(tmp_path):
    process = script(WAITING, tmp_path / "1", tmp_path / "2")
    pids = [pid_in(tmp_path / "1"), pid_in(tmp_path / "2")]
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - began < 5
    assert process.returncode != 0
    assert said.count("Traceback") == 1 and said.rstrip().endswith("KeyboardInterrupt")
    assert not any(map(alive, pids))


def test_ctrl_c_while_workers_begin_is_heard_by_the_parent_alone(tmp_path):
    code = WAITING.replace("    with workers", "    print('begun', flush=True)\n    with workers")
    for wait in (0.02, 0.1, 0.25):
        process = script(code, tmp_path / "1", tmp_path / "2")
        process.stdout.readline()
        time.sleep(wait)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode != 0
        assert said.count("Traceback") == 1, said


def test_a_pool_is_an_executor():
    with workers(jobs=1) as pool:
        assert isinstance(pool, Executor)
        assert list(pool.map(offline_jobs.double, [1, 2])) == [2, 4]
        assert pool.submit(pow, 2, exp=5).result() == 32
