"""The studio's camera and what is drawn beside the bodies, in a browser: views, all in sight, ghosts, trails, marks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from studio_browser import Studio, Window, browser

pytestmark = pytest.mark.flaky(reruns=2)  # a browser beside a simulation on two busy cores may be late

SIZE = {"width": 1000, "height": 620}
COUPLE = """
from dataclasses import dataclass

from tumble import Scene, humanoid, scenarios
from tumble.world.props import Companion


@dataclass(frozen=True)
class Couple(scenarios.Scenario):
    characters = ("humanoid",)
    controllers = ("cpbp",)

    def scene(self, character, seed=0):
        return Scene(character, [Companion("ana", humanoid().recipe, place=(5.0, 5.0))])

    def setup(self, scene, rng):
        return scenarios.Setup(scene.state(), 60.0)


scenarios.register("couple", Couple, "two who stand far apart")
"""
CAMERA = "[...view.camera.matrixWorld.elements].slice(12, 15)"


@pytest.fixture(scope="module")
def window(tmp_path_factory) -> Iterator[Window]:
    """A window of a studio in which two people are, and time stands still."""
    folder = tmp_path_factory.mktemp("studio")
    (folder / "couple.py").write_text(COUPLE)
    with browser() as chromium, Studio(folder, scenario="couple.py") as studio:
        context: Any = chromium.new_context(viewport=SIZE)
        one = Window(context.new_page(), studio)
        one.frames(5)
        yield one
        assert not one.complaints
        context.close()


def test_everybody_is_in_sight_and_views_are_from_where_they_say(window):
    sights = [window.spot(name) for name in ("head", "left_foot", "ana/head", "ana/left_foot")]
    assert all(0 < x < 680 and 0 < y < 620 for x, y in sights), sights
    root = window.body("pelvis")
    for name, way in (("front", (1, 0)), ("side", (0, -1))):
        window.part("camera").click()
        window.part(f"view-{name}").click()
        window.page.wait_for_timeout(300)
        ahead = window.ahead()
        assert ahead @ way < -0.9, name  # it looks at whom it stands before
    window.look("view.look('top')")
    above = np.array(window.look(CAMERA))
    assert above[2] > root[2] + 2
    window.page.keyboard.press("f")
    window.until("view.project('ana/head')[0] < 680 && view.project('ana/head')[0] > 0")


def test_what_is_drawn_beside_bodies_is_switched(window):
    window.tab("picture")
    before = window.look("view.parts()")
    assert before == {"onion": 0, "trails": 0, "balance": False, "metres": False, "dark": False}
    for switch in ("onion", "balance", "metres", "dark"):
        window.part(switch).click()
    window.part("trails").click()
    window.page.get_by_role("option", name="left_hand", exact=True).click()
    window.page.keyboard.press("Escape")
    window.frames(15)
    window.until("view.parts().onion > 0 && view.parts().trails > 10 && view.parts().dark")
    after = window.look("view.parts()")
    assert after["balance"] and after["metres"]
    standing = window.look("view.standing()")
    mass = window.look("link.scene.cast[0].bones.map((i) => link.scene.bodies[i].mass).reduce((a, b) => a + b)")
    assert 40 < mass < 120 and 0.7 < standing[2] < 1.2
    window.page.keyboard.press("?")
    window.page.get_by_text("Keys and hands").wait_for()
    window.page.keyboard.press("Escape")
