"""Trees in the studio: what the tab tells, ghosts as the engine has them, sent when they are others, and a browser."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from studio_browser import Studio, Window, browser

from tumble.attraction.progress import Phase, TreeProgress
from tumble.characters import character
from tumble.control.controller import Report
from tumble.studio import pictures as module
from tumble.studio.audience import Shown
from tumble.studio.choice import Choice
from tumble.studio.director import Director
from tumble.studio.ghosts import MOST, NOBODY, THICK, ghosts_of
from tumble.studio.hub import Viewer
from tumble.studio.packet import Packer, Status
from tumble.studio.tree_panel import figures_of, told
from tumble.world.props import Ball
from tumble.world.scene import Scene

FOLLOWS = TreeProgress(Phase.FOLLOWS, "getup-1", 310, 6, 1.04, 4.3, False, 38.41, 12)

STATUS = Status(
    tick=1, oldest=1, newest=1, time=0.0, flags=0, rate=30.0, realtime=1.0, speed=1.0, control_seconds=0.0
)  # fmt: skip


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(character("humanoid25"), [Ball()])


@pytest.fixture(scope="module")
def places(scene) -> np.ndarray:
    """qpos of the character alone: standing, and lying somewhere else."""
    own = Scene(character("humanoid25"))
    standing, lying = (own.show(own.state(**start)).qpos.copy() for start in ({}, {"lying": "prone"}))
    lying[:2] = 3.0, -2.0
    return np.array([standing, lying])


# What is told ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (FOLLOWS, "follows getup-1"),
        (replace(FOLLOWS, disturbed=True), "follows getup-1, and asks again: it is not where it should be"),
        (TreeProgress(Phase.ASKS, asked=8), "asks"),
        (TreeProgress(Phase.SEARCHES, asked=300), "searches"),
        (TreeProgress(), "stands"),
    ],
)
def test_what_it_is_at_is_told(progress, text):
    assert told(progress) == text


def test_figures_are_those_of_the_branch():
    assert figures_of(FOLLOWS) == {
        "node": "310", "edges to the goal": "6", "time left": "1.0 of 4.3 s", "distance to the tree": "38.4 kg rad",
        "rollouts asked": "12",
    }  # fmt: skip
    assert FOLLOWS.share == pytest.approx(1 - 1.04 / 4.3)


def test_where_there_is_no_branch_there_are_no_figures_of_one():
    assert set(figures_of(TreeProgress()).values()) == {"-"}
    asks = figures_of(TreeProgress(Phase.ASKS, distance=2.0, asked=4))
    assert (asks["node"], asks["distance to the tree"], asks["rollouts asked"]) == ("-", "2.0 kg rad", "4")


# Ghosts ---------------------------------------------------------------------------------------------


def test_sticks_join_bones_as_the_engine_has_them(scene, places):
    ghosts = ghosts_of(scene, places, 3)
    own = Scene(character("humanoid25"))
    for figure, place in zip(ghosts.sticks, places, strict=True):
        state = own.state()
        state[1 : 1 + len(place)] = place
        data = own.show(state)
        ends = [(data.body(a).xpos, data.body(b).xpos) for a, b in (("torso", "head"), ("left_thigh", "left_shin"))]
        foot = data.body("left_foot")
        ends.append((foot.xpos, 2 * foot.xipos - foot.xpos))
        for end in ends:
            assert np.abs(figure - np.concatenate(end)).max(axis=1).min() < 1e-9
    assert ghosts.sticks.shape == (2, len(own.bones) - 1 + 5, 6)  # and a head, hands and feet
    assert len(ghosts.radii) == 19 and ghosts.radii.max() == pytest.approx(
        THICK * 0.1, rel=0.1
    )  # between pelvis and torso


def test_of_many_ghosts_some_are_drawn(scene, places):
    many = np.linspace(places[0], places[1], 40)
    many[:, 3:7] /= np.linalg.norm(many[:, 3:7], axis=1, keepdims=True)
    ghosts = ghosts_of(scene, many, 1)
    assert len(ghosts.sticks) == MOST
    assert np.allclose(ghosts.sticks[[0, -1]], ghosts_of(scene, places, 2).sticks)


def test_their_message_is_small_and_in_mm(scene, places):
    ghosts = ghosts_of(scene, np.repeat(places, 5, axis=0), 7)
    text = json.dumps(ghosts.message)
    found = json.loads(text)
    assert (found["type"], found["id"], len(text) < 12_000) == ("ghosts", 7, True)
    assert np.abs(np.array(found["sticks"]) - ghosts.sticks).max() <= 0.0005 + 1e-9


class Ghostly:
    """A controller that only reports."""

    ghosts: np.ndarray | None = None

    def report(self) -> Report:
        return Report(ghosts=self.ghosts)


def test_ghosts_are_computed_where_they_are_others(scene, places, monkeypatch):
    calls = list[int]()
    monkeypatch.setattr(module, "ghosts_of", lambda *given: calls.append(given[2]) or ghosts_of(*given))
    trial = Choice("stand", "humanoid25", "cpbp").trial(1)
    director = Director(trial)
    trial.session.controller = ghostly = Ghostly()
    pictures = module.Pictures(trial.scene)
    state = trial.session.world.state[0]

    def seen() -> int:
        return pictures.make(trial, director, state, STATUS).ghosts.number

    assert (seen(), calls) == (0, [])
    ghostly.ghosts = places
    assert [seen(), seen(), seen()] == [1, 1, 1] and calls == [1]
    ghostly.ghosts = places.copy()
    assert [seen(), seen()] == [2, 2]
    ghostly.ghosts = None
    assert seen() == 0 and calls == [1, 2]


def test_a_browser_is_told_of_ghosts_when_they_are_others(scene, places):
    packer, viewer = Packer(scene, 1), Viewer("a", "viewer 1")
    one, two = ghosts_of(scene, places, 1), ghosts_of(scene, places[:1], 2)

    def told_of(ghosts) -> list[int]:
        lessons = map(json.loads, viewer._lessons(Shown(b"", packer, 1, (), ghosts)))
        return [len(lesson["sticks"]) for lesson in lessons if lesson["type"] == "ghosts"]

    heard = [told_of(ghosts) for ghosts in (NOBODY, one, one, two, one, NOBODY, NOBODY)]
    assert heard == [[], [2], [], [1], [2], [0], []]  # also when time is turned back


# A browser ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_tab_tells_what_it_does(tmp_path):
    with Studio(tmp_path, scenario="getup-tree", planner=("--threads", "1")) as studio, browser() as chromium:
        window = Window(chromium.new_page(), studio)
        window.tab("tree")
        window.part("speed").get_by_text("⅒").click()
        window.page.keyboard.press("r")
        window.until_text("tree-at", "follows getup-1")
        window.until("link.ghosts.sticks.length > 1 && frame.doing.startsWith('getup-1')")
        assert float(window.text("tree-time").split()[0]) > 0 and int(window.text("tree-node")) > 0
        assert window.text("tree-distance").endswith("kg rad")
        root = "[...frame.bodies.slice(7, 10)]"
        near = f"Math.hypot(...link.ghosts.sticks[0][0].slice(0, 2).map((x, i) => x - {root}[i]))"
        assert window.look(near) < 0.5  # they are where it is
        window.part("speed").get_by_text("1", exact=True).click()
        window.part("feet").click()
        window.until_text("tree-at", "stands")
        window.until("link.ghosts.sticks.length === 0")
        window.part("act-jump").click()
        window.until("frame.doing.startsWith('jump')")
        window.until_text("tree-at", "stands")
        assert math.isclose(window.number("candidates"), 400) and not window.complaints
