"""Who waits for the compiler in the studio: the starting pose at once, a notice that goes, and an end that comes soon.

The compiler is slowed down, and finds nothing on disk.
"""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from studio_browser import Studio, Window, browser, until
from test_studio_stage import PATIENCE, Seats, do

from tumble.errors import UserError
from tumble.live.session import Session
from tumble.maths.compiled import as_entry, inner
from tumble.scenarios import Trial
from tumble.studio.choice import Choice
from tumble.studio.rehearsing import Rehearsing
from tumble.studio.stage import Stage

NOTICE = re.compile(r"compiling the planner ps, first use: (\d+) of (\d+)")
SLOW = """
import sys, time
from numba.core.event import Listener, register

class Slow(Listener):
    def on_start(self, event):
        if event.data["dispatcher"].py_func.__module__.startswith("tumble"):
            time.sleep(SECONDS)

    def on_end(self, event):
        pass

register("numba:compile", Slow())
from tumble.cli import main
main()
"""


def compiled(function=lambda x: x + 1.0):
    """A compiled function that is new every time."""
    return as_entry(inner(function))


@pytest.fixture
def seats() -> Seats:
    return Seats()


# Rehearsing -----------------------------------------------------------------------------------------


def test_people_are_told_while_something_is_compiled_and_when_it_is_over(seats):
    rehearsing = Rehearsing(seats)
    with rehearsing.watching("walker"):
        assert compiled()(1.0) == 2.0
    *before, done, over = seats.compiled
    assert before[0] == "compiling the walker, first use: 0 of 2"
    assert (done, over) == ("compiling the walker, first use: 2 of 2", "")
    with rehearsing.watching("walker"):
        np.ones(3).sum()
    assert seats.compiled[-1] is over and len(seats.compiled) == len(before) + 2


def test_closing_ends_the_compiler_and_tells_that_nobody_waits(seats):
    rehearsing = Rehearsing(seats)
    rehearsing.close()
    with pytest.raises(KeyboardInterrupt), rehearsing.watching("walker"):
        compiled()(1.0)
    assert seats.compiled == []
    rehearsing.beside(Choice("walk-on", "biped", "relay").trial(1).controller, lambda: pytest.fail("too late"))


def test_what_a_relay_needs_in_a_fall_is_compiled_beside_it_once(seats):
    rehearsing, made = Rehearsing(seats), []
    trial = Choice("walk-on", "biped", "relay").trial(1)

    def make() -> Trial:
        made.append(threading.current_thread().name)
        return Choice("walk-on", "biped", "relay").trial(1)

    for _ in range(3):
        rehearsing.beside(trial.controller, make)
    rehearsing.beside(Choice("steer-walk", "biped", "walker").trial(1).controller, make)
    until(lambda: made == ["rehearsal"])
    rehearsing.close()
    assert trial.session.index == 0


def test_what_cannot_be_compiled_beside_the_show_is_said(seats):
    rehearsing = Rehearsing(seats)

    def make() -> Trial:
        compiled(lambda x: x + "one")(1.0)
        raise AssertionError

    rehearsing.beside(Choice("walk-on", "biped", "relay").trial(1).controller, make)
    seats.wait(lambda: seats.said)
    assert seats.said[0].startswith("the planner cpbp cannot be compiled, at '<lambda>': No implementation of function")
    rehearsing.close()


# A stage --------------------------------------------------------------------------------------------


def test_the_pose_that_it_begins_in_is_shown_before_anything_is_compiled(small, seats):
    stage = Stage(Choice("stand"), seats, 1, small)
    stage.start(patience=PATIENCE)
    seats.wait(lambda: seats.shown)
    assert seats.last() == (0, 0, 0, 0) and not stage.ready
    stage.watch(True)  # somebody looks: now it is compiled, and moves
    seats.wait(lambda: len(seats.shown) > 3)
    assert stage.ready
    stage.close()


def test_something_else_is_shown_where_it_begins_before_it_moves(small, seats):
    stage = Stage(Choice("stand"), seats, 1, small)
    stage.start()
    do(stage, stage.advance)
    scene = seats.shown[-1].packer.number
    do(stage, lambda: stage.choose(Choice("push")))
    assert seats.shown[-1].packer.number != scene
    assert stage.trial.session.index == 0
    stage.close()


@pytest.fixture
def uncompiled(monkeypatch):
    """Steps that compile something first: what the returned list has, the last one."""
    functions = []
    step = Session.step

    def stepped(session):
        if functions:
            functions.pop()(1.0)
        return step(session)

    monkeypatch.setattr(Session, "step", stepped)
    return functions


def test_a_frame_that_compiles_says_so(small, seats, uncompiled):
    stage = Stage(Choice("stand"), seats, 1, small)
    stage.start()
    do(stage, stage.advance)
    del seats.compiled[:]
    uncompiled.append(compiled())
    do(stage, stage.advance)
    assert seats.compiled[0] == "compiling the planner cpbp, first use: 0 of 2"
    assert seats.compiled[-1] == ""
    stage.close()


@pytest.mark.parametrize("when", ["rehearsal", "frame"])
def test_what_cannot_be_compiled_pauses_the_show_and_is_one_sentence(small, seats, uncompiled, capsys, when):
    stage = Stage(Choice("stand"), seats, 1, small)
    if when == "rehearsal":
        uncompiled.append(compiled(lambda x: x + "one"))
    stage.start()
    do(stage, lambda: None)
    if when == "frame":
        uncompiled.append(compiled(lambda x: x + "one"))
        do(stage, stage.advance)
    (said,) = seats.said
    assert re.fullmatch("paused: the planner cpbp cannot be compiled, at '<lambda>': No implementation .*", said)
    assert capsys.readouterr().err == f"tumble: {said.removeprefix('paused: ')}\n"
    assert not stage.playing
    do(stage, stage.advance)  # what was wrong is gone
    assert stage.trial.session.index == 1
    stage.close()


def test_closing_does_not_wait_for_the_compiler(small, seats, uncompiled):
    @inner
    def late(x):
        return x

    def slow(x):
        stage._closing = True  # as if somebody closed it now
        stage._rehearsing._closing = True
        return as_entry(late)(x)

    stage = Stage(Choice("stand"), seats, 1, small)
    stage.start()
    do(stage, stage.advance)
    uncompiled.append(slow)
    with pytest.raises(UserError, match="the studio is closing"):
        do(stage, stage.advance)
    stage.close()
    assert not seats.said and stage.trial.session.index == 1


# In a browser, and from a terminal ------------------------------------------------------------------


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """The command line in a program whose compiler takes a while for each function, and finds nothing on disk."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "slow.py"
    path.write_text(SLOW.replace("SECONDS", "0.7"))
    return path


@pytest.mark.flaky(reruns=2)  # a browser beside a compiler on two busy cores may be late
def test_a_page_shows_the_beginning_and_what_is_compiled_until_it_moves(tmp_path, slow):
    words = ("--controller", "ps")
    with browser() as chromium, Studio(tmp_path, *words, program=(str(slow), "studio")) as studio:
        window = Window(chromium.new_context(viewport={"width": 1000, "height": 620}).new_page(), studio)
        notice = window.part("hud-compiling")
        notice.wait_for(state="visible")
        assert window.look("frame.tick") == 0 and window.look("!!view.project('torso')")
        done, total = map(int, NOTICE.fullmatch(window.text("hud-compiling")).groups())
        assert 0 <= done <= total
        late = Window(chromium.new_context().new_page(), studio)  # who comes later is told as well
        assert NOTICE.fullmatch(late.text("hud-compiling")) or late.look("frame.tick") > 0
        window.until("frame.tick > 3")
        notice.wait_for(state="hidden")
        assert not window.complaints


@pytest.mark.parametrize("seconds", [0.3, 2.0])
def test_ctrl_c_ends_a_studio_that_compiles(tmp_path, slow, seconds):
    with Studio(tmp_path, "--controller", "ps", program=(str(slow), "studio")) as studio:
        time.sleep(4.0 + seconds)  # nobody looks: it waits so long before it compiles
        began = time.monotonic()
        assert studio.end() == 0
        assert time.monotonic() - began < 8
        assert not any("Traceback" in line for line in studio.lines)


def test_ctrl_c_ends_a_run_that_compiles(slow):
    command = [sys.executable, str(slow), "run", "stand", "--controller", "ps", "--seconds", "0.2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=Path(slow).parent)
    assert process.stderr.readline().startswith("compiling the planner ps, first use: 0 of ")
    process.send_signal(2)
    began = time.monotonic()
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, "tumble: interrupted\n")
    assert time.monotonic() - began < 8
