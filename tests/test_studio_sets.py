"""The set as people build it in the studio: templates and numbers, undo, what stays, and one way through a browser."""

import json
import math
from collections.abc import Callable

import pytest
from seats import Seats
from studio_browser import Studio, Window, browser, until

from tumble.errors import UserError
from tumble.goals.wants import Balance, Go, Reach
from tumble.live.commands import SetParameter
from tumble.planners import CPBPSettings
from tumble.studio.choice import Choice
from tumble.studio.packet import describe
from tumble.studio.requests import Move, decode
from tumble.studio.stage import Stage
from tumble.studio.templates import TEMPLATES, changed, form, template
from tumble.studio.undo import Snapshot, Undo
from tumble.world.props import Ball, Box, Crate, Ramp, Staircase


@pytest.fixture
def stage() -> Stage:
    """One that is not started: its jobs are done here."""
    return Stage(Choice("stand"), Seats(), 1, CPBPSettings(samples=8, horizon=0.2))


STEP = Box("step", (1.5, 0.0, 0.1), (0.3, 0.5, 0.1), ground=True)


# Templates and numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TEMPLATES)
def test_every_template_is_taken_and_every_number_of_it_can_be_changed(stage, kind):
    piece = template(kind, (2.0, 1.0), 0.5, taken=[kind])
    assert piece.name == f"{kind}-2"
    stage.dresser.put(piece)
    numbers = form(piece)
    assert numbers["above ground, m"] == pytest.approx(1.3 if kind == "bar" else 0.0)
    for label, value in numbers.items():
        other = changed(piece, label, 0.5 if value is None else value)
        assert form(other) == pytest.approx(numbers | {label: 0.5 if value is None else value})
        wanted = 3.0 if label == "steps" else 0.3
        assert form(changed(piece, label, wanted)) == pytest.approx(numbers | {label: wanted})
    stage.dresser.put(changed(piece, "x, m", 3.0))
    assert [one.name for one in stage.dresser.pieces] == [f"{kind}-2"]


def test_handles_stay_on_a_crate_that_grows():
    crate = Crate("crate")
    assert changed(crate, "width, m", 0.8).handles == ((0.0, 0.4, 0.1), (0.0, -0.4, 0.1))


# The stage --------------------------------------------------------------------------------------------


def test_things_are_moved_onto_the_grid_from_where_they_are(stage):
    stage.dresser.put(STEP, Ball("ball", 0.1, 0.5, place=(2.0, -1.0, 0.1)))
    stage.dresser.move("step", (0.3, 0.6), grid=0.25)
    assert stage.dresser.piece("step").middle == (1.75, 0.5, 0.1)
    for _ in range(3):
        stage.trial.step()
    stage.dresser.move("ball", (0.5, 0.0))
    assert stage.trial.session.world.view("ball.pos")[0, :2] == pytest.approx((2.5, -1.0), abs=0.01)
    with pytest.raises(UserError, match="no thing 'nothing' in the set; there is: step, ball"):
        stage.dresser.move("nothing", (1.0, 0.0))


def test_what_people_built_is_there_when_it_begins_again_and_not_in_another_scenario(stage):
    stage.dresser.put(STEP)
    stage.reset()
    assert stage.dresser.pieces == [STEP]
    stage.dresser.remove("step")
    stage.again()
    assert stage.dresser.pieces == []
    stage.dresser.put(STEP)
    stage.choose(stage.choice.with_scenario("push"))
    assert stage.dresser.pieces == []


def test_undo_restores_set_settings_and_wants_exactly(stage):
    do, director, dresser = stage.dresser.remembered, stage.director, stage.dresser
    seen = [dresser._snapshot()]

    def done(job: Callable[[], object]) -> None:
        do(job)
        stage.trial.step()
        seen.append(dresser._snapshot())

    done(lambda: dresser.put(STEP))
    done(lambda: director.send(SetParameter("calm.mutation", 0.5), SetParameter("weight.height", 3.0)))
    done(lambda: director.send(Reach((0.5, 0.0, 1.2))))
    done(lambda: dresser.put(Ball("ball", 0.1, 0.5, place=(2.0, 1.0, 0.1))))
    done(lambda: dresser.remove("step"))
    done(lambda: director.send(Go(speed=0.5, style="turbo")))
    assert dresser.can == (True, False)
    for before in reversed(seen[:-1]):
        dresser.undo()
        assert dresser._snapshot() == before
        stage.trial.step()
        assert dresser._snapshot() == before
    assert isinstance(stage.trial.session.wanted, Balance) and dresser.can == (False, True)
    dresser.undo()  # nothing is left
    for after in seen[1:]:
        dresser.redo()
        assert dresser._snapshot() == after
    assert dresser.can == (True, False)
    dresser.undo()
    do(lambda: director.send(Reach((0.4, 0.0, 1.0))))
    assert dresser.can == (True, False)  # what was taken back is gone


def test_one_slider_is_one_thing():
    now = [0.0]
    undo, trial = Undo(lambda: now[0]), Stage(Choice("stand"), Seats(), 1).trial
    shots = [Snapshot((), trial.scene.ground, {"a": float(i), "b": 0.0}, None) for i in range(5)]
    for i in range(3):
        undo.note(shots[i], shots[i + 1])
        now[0] += 0.3
    now[0] += 2.0
    undo.note(shots[3], shots[4])
    assert undo.back(shots[4]) == shots[3] and undo.back(shots[3]) == shots[0] and undo.back(shots[0]) is None
    assert undo.forth(shots[0]) == shots[3]


def test_a_recording_through_undo_replays(stage):
    stage.record()
    do, dresser = stage.dresser.remembered, stage.dresser
    for job in (
        lambda: dresser.put(STEP), lambda: stage.director.send(Reach((0.5, 0.0, 1.2))),
        lambda: stage.director.send(SetParameter("calm.mutation", 0.5)),
    ):  # fmt: skip
        stage.trial.step()
        do(job)
    for _ in range(3):
        stage.trial.step()
        dresser.undo()
    stage.trial.step()
    stage.cut()
    assert (
        stage.last_take is not None
        and len(stage.last_take.recording.parts) == 4
        and stage.last_take.recording.first_difference() is None
    )


def test_a_change_while_time_stands_still_is_shown_and_the_past_is_not_changed(stage):
    stage.trial.step()
    stage.pause()
    audience = stage._audience
    many = len(audience.shown)
    stage.dresser.put(STEP)
    assert len(audience.shown) == many + 1
    assert "step" in {
        geom.get("prop") for body in audience.shown[-1].packer.description["bodies"] for geom in body["geoms"]
    }
    stage.past = 0
    with pytest.raises(UserError, match="the set changes in the present alone"):
        stage.dresser.remove("step")


def test_shapes_say_which_thing_they_are_of(stage):
    pieces = (STEP, Ramp("ramp", (3, 0, 0.1), (1, 1, 0.1)), Staircase("stairs", (0, 3, 0.2), (0.4, 0.4, 0.2), steps=2))
    stage.dresser.put(*pieces)
    told = describe(stage.trial.scene)
    names = [geom["prop"] for body in told["bodies"] for geom in body["geoms"] if "prop" in geom]
    assert sorted(names) == ["ramp", "stairs", "stairs", "step"]


def test_moves_travel_as_json_and_are_bounded(stage):
    move = decode('{"type": "move", "name": "step", "by": [0.5, 0], "grid": 0.25}')
    assert move == Move("step", (0.5, 0.0), 0.25)
    stage.dresser.put(STEP)
    for by, grid in (((1e6, 0.0), 0.0), ((math.inf, 0.0), 0.0), ((1.0, 0.0), -1.0)):
        with pytest.raises(UserError):
            stage.dresser.move("step", by, grid)


# In a browser -----------------------------------------------------------------------------------------


@pytest.mark.flaky(reruns=2)
def test_a_set_is_built_dragged_undone_saved_and_loaded(tmp_path):
    with browser() as chromium, Studio(tmp_path) as studio:
        window = Window(chromium.new_context(viewport={"width": 1280, "height": 800}).new_page(), studio)
        page, has = window.page, "link.scene.bodies.some(({ geoms }) => geoms.some(({ prop }) => prop === '%s'))"
        window.pause()
        window.tab("set")
        window.part("add-box").click()
        window.until(has % "box")
        window.part("add-crate").click()
        window.until(has % "crate")
        page.keyboard.press("Escape")
        window.part("tool-set").click()
        page.keyboard.press("f")
        page.wait_for_timeout(500)
        before = window.body("crate")
        x, y = window.spot("crate")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 90, y + 20, steps=5)
        page.mouse.up()
        until(lambda: abs(window.body("crate") - before).max() > 0.2)
        moved = window.body("crate")
        assert (moved[:2] / 0.25) == pytest.approx((moved[:2] / 0.25).round(), abs=1e-5)
        window.part("undo").click()
        until(lambda: abs(window.body("crate") - before).max() < 1e-5)
        with page.expect_download() as download:
            window.part("set-save").click()
        download.value.save_as(tmp_path / "set.json")
        names = {prop["name"] for prop in json.loads((tmp_path / "set.json").read_text())["props"]}
        assert names == {"box", "crate"}
        window.part("set-delete").click()
        window.until("!" + has % "crate")
        (tmp_path / "bad.json").write_text("{}")
        for name in ("set.json", "bad.json"):
            with page.expect_file_chooser() as chooser:
                window.part("set-load").click()
            chooser.value.set_files(tmp_path / name)
            window.until(has % "crate")
        page.get_by_text("bad.json is no file of a set").wait_for()
        assert not window.complaints
