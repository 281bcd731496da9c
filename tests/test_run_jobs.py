"""`tumble run --jobs --store`: the same trials as one after the other, and none that was finished is run again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tumble.cli import dispatch
from tumble.cli.progress import time_left

TINY = ["--samples", "4", "--horizon", "0.1"]
PUSH = ["run", "push", "--seconds", "0.5", *TINY, "--json"]
CLOCKS = ("wall_seconds", "realtime_factor", "plan_ms", "stable_wall_seconds", "under_a_minute")
OWN = Path(__file__).parents[1] / "examples" / "own_scenario.py"


def answer(capsys, *words: object) -> dict:
    """What a command prints as JSON, without what a clock said."""
    assert dispatch([str(word) for word in words]) == 0
    found = json.loads(capsys.readouterr().out)
    for table in (found, found["metrics"]):
        for name in CLOCKS:
            table.pop(name, None)
    return found


SAME = [
    ["push", "--seconds", "0.5", *TINY],
    [str(OWN), "--seconds", "0.3", *TINY],
    ["walk-bodies", "--seconds", "0.5"],  # another body for every seed
    ["steer-walk", "--seconds", "0.5", "--script", "go to 1 0; turn to 90, then wait 1 s"],
    ["dodge", "--controller", "smc", "--seconds", "0.5", "--samples", "8"],  # which learns within a trial
    ["learn-walk", "--seconds", "1"],  # a network, by linear algebra
]
QUICK = 1  # of them


@pytest.mark.parametrize(
    "words",
    [*SAME[:QUICK], *(pytest.param(words, marks=pytest.mark.slow) for words in SAME[QUICK:])],
    ids=[Path(words[0]).name for words in SAME],
)
def test_results_are_the_same_at_any_number_of_jobs(capsys, words):
    words = ["run", *words, "--trials", "3", "--seed", "5", "--json"]
    alone = answer(capsys, *words)
    assert alone["seeds"] == [5, 6, 7]
    assert answer(capsys, *words, "--jobs", "2") == alone


def test_a_store_keeps_trials_and_others_are_run_beside_them(capsys, tmp_path):
    path = tmp_path / "a.trials"
    alone = answer(capsys, *PUSH, "--trials", "4")
    two = answer(capsys, *PUSH, "--trials", "2", "--store", path)
    assert two["seeds"] == [0, 1] and [file.name for file in tmp_path.iterdir()] == ["a.trials"]
    assert answer(capsys, *PUSH, "--trials", "4", "--jobs", "2", "--store", path) == alone
    sql = sqlite3.connect(path)
    assert sorted(sql.execute("SELECT key FROM results")) == [("0",), ("1",), ("2",), ("3",)]
    sql.execute("UPDATE results SET json = json_set(json, '$.frames', 1000) WHERE key = '2'")  # as a witness
    sql.commit()
    sql.close()
    found = answer(capsys, *PUSH, "--trials", "4", "--store", path)
    assert found["frames"] == alone["frames"] - alone["frames"] // 4 + 1000  # it was read, and not run again


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--record", "a.npz", "--jobs", "2"], "--record is for trials one after the other: recordings are written by"),
        (
            ["--learned", "a", "--jobs", "2"],
            "--learned is for trials one after the other: each trial learns from those",
        ),
        (["--learned", "a", "--cluster", "a:1"], "leave out --jobs and --cluster"),
        (["--record", "a.npz", "--store", "a"], "--record and --store do not go together"),
        (["--threads", "2", "--jobs", "2"], "with --jobs or --cluster every trial has one thread; leave out --threads"),
        (["--jobs", "-1"], "jobs must be a number 0 or more and at most 1024, got -1"),
        (["--cluster", "hum"], "a cluster's address is HOST:PORT or tcp://HOST:PORT, got 'hum'"),
        (["--store", "nowhere/a"], "no folder nowhere to write a into"),
    ],
)
def test_what_does_not_go_together_is_said(capsys, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    assert dispatch([*PUSH, *words]) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err and captured.out == ""
    assert not list(tmp_path.iterdir())


def test_a_store_of_other_trials_is_refused(capsys, tmp_path):
    path = tmp_path / "a.trials"
    answer(capsys, *PUSH, "--store", path)
    assert dispatch([*PUSH, "--store", str(path), "--force", "99"]) == 2
    assert "a.trials holds results of other work (--force was 400.0, is 99.0); choose" in capsys.readouterr().err


def started(*words: object) -> subprocess.Popen:
    command = [sys.executable, "-m", "tumble", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def trials_in(path: Path) -> int:
    """Of a store that another process writes."""
    try:
        sql = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        return sql.execute("SELECT count(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:  # not yet
        return 0


@pytest.mark.flaky(reruns=1)  # once in some dozens of runs its exit code was another than 130; not understood yet
@pytest.mark.parametrize("end", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_what_was_finished_survives_the_end(capsys, tmp_path, end):
    path = tmp_path / "a.trials"
    words = [*PUSH, "--jobs", "2", "--store", path]
    process, until = started(*words, "--trials", "5000"), time.monotonic() + 60
    while (before := trials_in(path)) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, end) if end == signal.SIGINT else process.kill()
    out, said = process.communicate(timeout=30)
    assert before >= 3 and "Traceback" not in said
    if end == signal.SIGINT:
        assert process.returncode == 130
        assert json.loads(out)["trials"] == trials_in(path) >= before
    kept = trials_in(path)
    assert kept >= before
    found = answer(capsys, *words, "--trials", kept)
    assert found["seeds"] == list(range(kept))


def test_the_time_left_is_that_of_the_rest_at_the_same_pace():
    assert time_left(share=0.25, at=100.0, elapsed=100.0) == "0:05:00 left"
    assert time_left(share=0.25, at=100.0, elapsed=160.0) == "0:04:00 left"
    assert time_left(share=0.5, at=10.0, elapsed=99.0) == "0:00:00 left"
