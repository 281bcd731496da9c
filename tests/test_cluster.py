"""Workers of a Dask cluster: a scheduler and two worker processes on this machine, one of which is killed."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import offline_jobs
import pytest

from tumble.cli import dispatch
from tumble.errors import UserError
from tumble.offline.jobs import as_done, run
from tumble.offline.versions import versions
from tumble.offline.workers import WorkerDied, workers

pytest.importorskip("distributed")
TESTS = str(Path(__file__).parent)
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(filter(None, [TESTS, os.environ.get("PYTHONPATH")])),
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",  # beside the last: two workers are soon gone
}


def dask(*words: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=ENVIRONMENT)


def dask_scheduler(folder: Path) -> tuple[subprocess.Popen, str]:
    """A scheduler and its address."""
    file = folder / "scheduler.json"
    process = dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError, ValueError):  # not there, or half written
            return process, json.loads(file.read_text())["address"]
        time.sleep(0.05)
    raise AssertionError("no scheduler")


def dask_worker(address: str) -> subprocess.Popen:
    return dask("worker", address, "--nthreads", "2", "--no-nanny")


def end(*processes: subprocess.Popen) -> None:
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """The address of a scheduler, and its workers."""
    scheduler, address = dask_scheduler(tmp_path_factory.mktemp("cluster"))
    members = [dask_worker(address) for _ in range(2)]
    yield address, members
    end(scheduler, *members)


def test_results_are_those_of_a_loop(cluster, tmp_path):
    with workers(cluster=cluster[0]) as pool:
        jobs = [(seed,) for seed in range(9)]
        assert run(pool, offline_jobs.noise, jobs) == [offline_jobs.noise(*job) for job in jobs]
        assert set(run(pool, offline_jobs.alone, [(str(tmp_path),)] * 8)) == {1}  # though workers have two threads
        with pytest.raises(KeyError, match="hum"):
            run(pool, offline_jobs.fail, [(2,)])
        assert pool.submit(pow, 2, exp=5).result() == 32


TINY = ["--seconds", "0.5", "--samples", "4", "--horizon", "0.1", "--trials", "3", "--json"]


def test_trials_on_a_cluster_are_those_of_one_process(cluster, capsys):
    answers = []
    for where in ([], ["--cluster", cluster[0]]):
        assert dispatch(["run", "push", *TINY, *where]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    for name in ("wall_seconds", "realtime_factor", "plan_ms"):
        assert answers[0].pop(name) != answers[1].pop(name)
    assert answers[0] == answers[1]


def test_the_cluster_outlives_who_gives_up(cluster):
    with pytest.raises(ZeroDivisionError), workers(cluster=cluster[0]) as pool:
        futures = [pool.submit(offline_jobs.slowly, i, 0.2) for i in range(100)]
        futures[0].result()
        raise ZeroDivisionError
    began = time.monotonic()
    with workers(cluster=cluster[0].removeprefix("tcp://")) as pool:
        assert pool.submit(offline_jobs.double, 4).result() == 8
    assert time.monotonic() - began < 8  # and not the 10 s of what was given up


def test_a_worker_that_is_killed_has_its_job_done_by_another(cluster):
    with workers(cluster=cluster[0]) as pool:
        until_two(pool)
        found = {}
        for index, result in as_done(pool, offline_jobs.slowly, [(i, 0.2) for i in range(10)]):
            if not found:
                cluster[1][0].send_signal(signal.SIGKILL)
            found[index] = result
    assert found == {i: 2 * i for i in range(10)}
    again(cluster)


def again(cluster: tuple[str, list[subprocess.Popen]]) -> None:
    """Put others in the place of workers that died."""
    address, members = cluster
    for i, process in enumerate(members):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
            members[i] = dask_worker(address)


def test_a_job_that_kills_its_workers_is_named(cluster):
    with workers(cluster=cluster[0]) as pool:
        until_two(pool)
        with pytest.raises(WorkerDied, match=r"die_for\(1, 1\) ended its worker 2 times \(the last one at tcp://127"):
            pool.submit(offline_jobs.die_for, 1, 1).result()
    again(cluster)


def test_a_scheduler_that_goes_away_is_said(tmp_path):
    scheduler, address = dask_scheduler(tmp_path)
    worker = dask_worker(address)
    try:
        with pytest.raises(UserError, match=f"the Dask scheduler at {address} went"), workers(cluster=address) as pool:
            for _ in as_done(pool, offline_jobs.slowly, [(i, 0.2) for i in range(100)]):
                scheduler.kill()
    finally:
        end(scheduler, worker)


def until_two(pool) -> None:
    """Wait until both workers are there."""
    for _ in range(100):
        if len(set(run(pool, offline_jobs.here, [(0.1,)] * 4))) == 2:
            return
    raise AssertionError("one worker is missing")


def test_a_scheduler_that_does_not_answer_is_said_with_its_address(capsys):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        began = time.monotonic()
        assert dispatch(["run", "push", "--cluster", address, "--trials", "2"]) == 2
        assert time.monotonic() - began < 14
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(
        f"tumble: no Dask scheduler answers at {address} within 10 s; start one with 'dask scheduler'"
    )


def test_something_that_listens_and_says_nothing_is_no_scheduler(monkeypatch):
    monkeypatch.setattr("tumble.offline.cluster.ANSWER_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(UserError, match=f"no Dask scheduler answers at {address}"), workers(cluster=address):
            pass


def test_a_scheduler_without_workers_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr("tumble.offline.cluster.ANSWER_SECONDS", 2.0)
    scheduler, address = dask_scheduler(tmp_path)
    with pytest.raises(UserError, match=f"at {address} has no workers; start some: dask worker {address}"):
        workers(cluster=address).__enter__()
    end(scheduler)


@pytest.mark.parametrize(
    "address", ["", "localhost", "a:b", "http://127.0.0.1:80", "::1:80", "127.0.0.1:80/x", "a b:1"]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(UserError, match=r"a cluster's address is HOST:PORT or tcp://HOST:PORT, got"):
        workers(cluster=address).__enter__()


def test_workers_of_other_versions_are_refused(cluster, monkeypatch):
    monkeypatch.setattr("tumble.offline.versions._code", lambda folder: "mine")
    versions.cache_clear()
    try:
        with pytest.raises(UserError, match=r"the worker tcp://\S+ has code [0-9a-f]{12}, here it is mine; results"):
            workers(cluster=cluster[0]).__enter__()
    finally:
        versions.cache_clear()
