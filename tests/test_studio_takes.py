"""Takes: what is recorded is kept, named, trimmed, marked, played, compared, handed out and replays."""

import io
import re

import numpy as np
import pytest
from seats import Seats
from studio_browser import Studio, Window, browser

from tumble.errors import UserError
from tumble.live.commands import Push
from tumble.live.recording import Recording
from tumble.planners import CPBPSettings
from tumble.studio.choice import Choice
from tumble.studio.exporting import file_of
from tumble.studio.packet import BESIDE, PAST, PAUSED, VERSION, beside
from tumble.studio.stage import Stage
from tumble.studio.takes import MOST, Takes


@pytest.fixture
def seats() -> Seats:
    return Seats()


@pytest.fixture
def stage(seats) -> Stage:
    """One that is not started, with two takes of 12 frames from the same beginning, of which the second is pushed."""
    one = Stage(Choice("stand"), seats, 1, CPBPSettings(samples=8, horizon=0.2))
    for force in (0.0, 400.0):
        one.reset()
        one.record()
        if force:
            one.director.send(Push("torso", (force, 0.0, 0.0)))
        for _ in range(12):
            one._step()
        one.cut()
    one.pause()
    return one


def test_takes_are_kept_and_replay(stage):
    assert [(take.name, take.last) for take in stage.takes] == [("take 1", 12), ("take 2", 12)]
    assert all(take.recording.first_difference() is None for take in stage.takes)
    assert stage.last_take is stage.takes.named("take 2")


def test_names_marks_and_ends(stage):
    takes, take = stage.takes, stage.takes.named("take 1")
    takes.rename("take 1", " quiet ")
    take.mark(5, "a"), take.mark(2, "b"), take.mark(5, " c ")
    assert take.name == "quiet" and list(take.marks.items()) == [(2, "b"), (5, "c")]
    take.mark(2, "")
    take.trim(3, 9)
    assert take.marks == {5: "c"} and (take.first, take.last) == (3, 9)
    for call, message in (
        (lambda: takes.rename("quiet", "take 2"), "there is a take 'take 2' already"),
        (lambda: takes.rename("quiet", ""), "the name of a take has 1 to 40 characters"),
        (lambda: takes.rename("none", "x"), "no take 'none'; there are: quiet, take 2"),
        (lambda: take.trim(9, 9), "last frame must be a number 10 or more"),
        (lambda: take.trim(0, 13), "at most 12"),
        (lambda: take.mark(13, "late"), "frame must be a number 0 or more and at most 12"),
        (lambda: take.mark(3, "x" * 41), "the mark has 1 to 40 characters"),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            call()
    takes.delete("quiet")
    assert [one.name for one in takes] == ["take 2"] and takes.add(take.recording).name == "take 1"


def test_so_many_takes_and_no_more(stage):
    takes = Takes()
    for _ in range(MOST):
        takes.check_room()
        takes.add(stage.last_take.recording)
    with pytest.raises(UserError, match="24 takes are kept; delete one first"):
        takes.check_room()


def test_a_take_plays_loops_and_is_scrubbed_while_the_world_waits(stage, seats):
    world, live = stage.trial.session.world.state[0].copy(), seats.poses()
    take = stage.takes.named("take 1")
    take.trim(2, 6)
    stage.screening.open("take 1")
    assert seats.head() == (PAST, 2, 2, 6) and stage.playing
    ticks = []
    for _ in range(6):
        stage.screening.step()
        ticks.append(seats.head()[1])
    assert ticks == [3, 4, 5, 6, 2, 3]
    take.loop = False
    for _ in range(4):
        stage.screening.step()
    assert seats.head() == (PAST | PAUSED, 6, 2, 6) and not stage.playing
    stage.scrub(4)
    state = take.recording.state(4)
    data = take.recording.scene().show(state)
    assert seats.poses().reshape(-1, 7)[:, :3] == pytest.approx(data.xpos, abs=1e-5)
    stage.advance()
    assert seats.head()[1] == 5
    stage.scrub(99)
    assert seats.head()[1] == 6
    with pytest.raises(UserError, match="a take is shown; press 'live' first"):
        stage.record()
    with pytest.raises(UserError, match="the set changes in the present alone"):
        stage.dresser.remove("box")
    stage.resume(0)
    assert stage.screening.take is None and stage.playing
    assert stage.trial.session.world.state[0].tobytes() == world.tobytes()
    stage.pause()
    assert seats.poses() == pytest.approx(live, abs=1e-6)


def test_a_second_take_is_shown_at_the_same_moment(stage, seats):
    stage.screening.open("take 2")
    stage.screening.beside("take 1")
    for frame in (0, 7, 12):
        stage.scrub(frame)
        second = seats.shown[-1].beside
        wanted = stage.takes.named("take 1").recording.state(frame)
        data = stage.takes.named("take 1").recording.scene().show(wanted)
        assert seats.poses(second).reshape(-1, 7)[:, :3] == pytest.approx(data.xpos, abs=1e-5)
    assert np.abs(seats.poses(second) - seats.poses()).max() > 0.01  # one was pushed
    assert beside(second.message)[0] == VERSION | BESIDE and beside(second.message)[1:] == second.message[1:]
    stage.resume(0)
    stage.reset()
    for _ in range(3):
        stage._step()
    third = seats.poses(seats.shown[-1].beside)
    stage.screening.open("take 1")
    stage.scrub(3)
    assert seats.poses() == pytest.approx(third, abs=1e-6)  # beside the live world, too
    stage.screening.beside("")
    assert seats.shown[-1].beside is None


def test_a_take_that_is_deleted_is_shown_no_more(stage):
    first = stage.takes.named("take 1")
    stage.screening.open("take 1")
    stage.screening.beside("take 1")
    stage.takes.delete("take 1")
    stage.screening.forget(first)
    assert stage.screening.take is None and stage.screening.second is None


def test_what_is_handed_out_is_between_the_ends_and_a_recording_whole(stage, tmp_path):
    take = stage.takes.named("take 1")
    rows = [len(file_of(take, ".csv")[1].splitlines())]
    take.trim(3, 9)
    rows.append(len(file_of(take, ".csv")[1].splitlines()))
    assert rows[0] - rows[1] == 6
    file = io.BytesIO()
    take.recording.write(file)
    (tmp_path / "take.npz").write_bytes(file.getvalue())
    assert Recording.load(tmp_path / "take.npz").frames == 12


@pytest.mark.flaky(reruns=2)
def test_takes_in_a_browser(stage, tmp_path):
    stage.takes.named("take 1").recording.save(tmp_path / "old.npz")
    with browser() as chromium, Studio(tmp_path, "--takes", "old.npz") as studio:
        window = Window(chromium.new_context(viewport={"width": 1280, "height": 800}).new_page(), studio)
        window.part("record").click()
        window.until("frame.recording")
        window.frames(15)
        window.part("record").click()
        window.tab("takes")
        window.choose("take", "old")
        window.part("take-show").click()
        window.until("frame.past && !frame.paused && frame.newest === 12")
        assert not window.part("timeline-resume").is_visible()
        window.choose("beside", "take 1")
        window.until("link.beside && link.beside.bodies.length === frame.bodies.length")
        window.page.keyboard.press(" ")
        window.until("frame.past && frame.paused")
        window.part("mark").fill("it sways")
        window.part("mark").press("Enter")
        window.page.get_by_role("button", name="it sways").wait_for()
        window.part("timeline-live").click()
        window.until("!frame.past && !frame.paused && link.beside")
        assert not window.complaints
