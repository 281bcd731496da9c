"""Carving in the studio: slabs are drawn as ground, planned steps as footprints, and clicks set and take away gaps."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from studio_browser import Studio, Window, browser, until

from tumble.characters import character
from tumble.live.commands import Carve
from tumble.scenarios import SCENARIOS, Trial
from tumble.stepping.terrain import gapped
from tumble.studio.director import Director
from tumble.studio.ghosts import footprints_of
from tumble.studio.packet import Status, describe
from tumble.studio.pictures import Pictures
from tumble.world.props import Box, Stone
from tumble.world.scene import Scene

STATUS = Status(
    tick=1, oldest=1, newest=1, time=0.0, flags=0, rate=30.0, realtime=1.0, speed=1.0, control_seconds=0.0
)  # fmt: skip


def slabs(scene: Scene) -> int:
    return sum("slab" in geom for geom in describe(scene)["bodies"][0]["geoms"])


def test_slabs_between_gaps_are_ground_and_nothing_else_is():
    props, ground = gapped([(1.0, 0.3)])
    wall, stone = Box("wall", (3.0, 0.0, 0.5), (0.1, 1.0, 0.5)), Stone("stone-0", (0.5, 0.0, 0.0))
    assert slabs(Scene(character("planar"), [*props, wall, stone], ground)) == 2
    assert slabs(Scene(character("planar"), [Box("step", (1.0, 0.0, 0.05), (0.2, 1.0, 0.05), ground=True)])) == 0


def test_pictures_are_of_the_scene_that_a_command_entered():
    trial = Trial(SCENARIOS["gaps"].make(), seed=1)
    director, pictures = Director(trial), Pictures(trial.scene)
    trial.step()
    first = pictures.make(trial, director, trial.session.world.state[0], STATUS)
    director.send(Carve((12.0, 0.0, 0.0)))
    frame = trial.step()
    second = pictures.make(trial, director, frame.state, STATUS)
    assert second.packer.number == first.packer.number + 1
    assert second.packer.scene is trial.scene and slabs(first.packer.scene) + 1 == slabs(trial.scene)


def test_footprints_say_that_they_are_steps():
    marks = Trial(SCENARIOS["gaps"].make(), seed=1)
    marks.step()
    steps = footprints_of(marks.controller.report().marks, 3)
    assert steps.message["steps"] and len(steps.message["sticks"]) == marks.controller.settings.horizon


def on_ground(window: Window, x: float) -> tuple[float, float]:
    """Where a place in the middle of the way is drawn, px."""
    elements = window.look("[view.camera.projectionMatrix, view.camera.matrixWorldInverse].map((m) => [...m.elements])")
    projection, into = (np.reshape(part, (4, 4)).T for part in elements)
    right, up, _, w = projection @ into @ [x, 0.0, 0.0, 1.0]
    box = window.part("view").bounding_box()
    return box["x"] + (0.5 + right / w / 2) * box["width"], box["y"] + (0.5 - up / w / 2) * box["height"]


def at_rest(window: Window) -> None:
    """Wait until the camera is, which follows the character."""
    until(lambda: window.spot("torso") == (window.page.wait_for_timeout(150), window.spot("torso"))[1])


def gaps(window: Window) -> list[list[float]]:
    """From where to where, as the page has them."""
    geoms = window.look("link.scene.bodies[0].geoms.filter((one) => one.slab).map((one) => [one.pos[0], one.size[0]])")
    ends = sorted((middle - half, middle + half) for middle, half in geoms)
    return [[round(before[1], 4), round(after[0], 4)] for before, after in pairwise(ends)]


def test_clicks_set_a_gap_and_take_it_away_while_it_walks(tmp_path: Path):
    words = ("--width", "0.3", "--spacing", "1.0")
    with Studio(tmp_path, *words, scenario="gaps", planner=()) as studio, browser() as chromium:
        window = Window(chromium.new_page(viewport={"width": 1400, "height": 900}), studio)
        window.until("frame.doing && link.ghosts.steps && link.ghosts.sticks.length === 2")
        window.pause()
        window.page.mouse.move(300, 300)
        window.page.mouse.wheel(0, 2000)  # from afar one sees what is ahead
        at_rest(window)
        window.tab("touch")
        window.slide("gap", 0.0)
        window.page.keyboard.press("7")
        window.page.locator(".chosen[data-testid=tool-carve]").wait_for()
        before = gaps(window)
        x = window.body("torso")[0]
        place = next(high for _, high in before if high > x + 0.7) + 0.5
        window.page.mouse.click(*on_ground(window, place))
        window.part("step").click()
        until(lambda: len(gaps(window)) == len(before) + 1)
        low, high = next(gap for gap in gaps(window) if gap not in before)
        assert (0.5 * (low + high), high - low) == (pytest.approx(place, abs=0.03), pytest.approx(0.1, abs=0.01))
        window.page.screenshot(path=tmp_path / "carved.png")
        window.page.mouse.click(*on_ground(window, place))
        window.part("step").click()
        until(lambda: gaps(window) == before)
        window.page.mouse.click(*on_ground(window, x))
        window.page.get_by_text("is under the feet, which stand or land from").wait_for()
        assert not window.complaints
