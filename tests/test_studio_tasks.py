"""Tasks in the studio: what a click, a drag and steering mean to who goes by policies, what is drawn, and a browser."""

import math
import struct
from pathlib import Path

import msgspec
import numpy as np
import pytest
from studio_browser import Studio, Window, browser, until

from tumble.characters import character
from tumble.control.controller import Report
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.scenarios import SCENARIOS, Trial
from tumble.skills.pointing import place_for
from tumble.studio.choice import Choice
from tumble.studio.director import HURRY, STROLL, Director
from tumble.studio.packet import HEADER, HEADING, TARGET, Packer, Status
from tumble.studio.requests import Point, decode
from tumble.tasks.grid import Axis, around, points, spread
from tumble.tasks.policy import Policy, policy_named
from tumble.tasks.tasked import Tasked
from tumble.world.props import Box
from tumble.world.scene import Scene

PLACE = (Axis("ahead", spread(-3.0, 3.0, 5, 0.5)), Axis("left", spread(-3.0, 3.0, 5, 0.5)))
TURN, SPEED = Axis("heading", around(6)), Axis("speed", (0.0, 0.5, 1.0))
WANTS = {
    "place": Go(target=(1.0, 0.0, 0.0)),
    "facing": Go(target=(1.0, 0.0, 0.0), heading=0.5),
    "heading": Go(heading=0.5),
    "paced": Go(heading=0.5, speed=0.5),
}
GRIDS = {"place": PLACE, "facing": (*PLACE, TURN), "heading": (TURN,), "paced": (SPEED, TURN)}


def policy(task: str) -> Policy:
    """One that walks ahead, whatever the goal is."""
    plain = policy_named("heading")
    header = msgspec.structs.replace(plain.header, task=task, grid=GRIDS[task])
    walk = [action.gait for action in plain.actions].index("walk")
    best = np.full((len(plain.states), len(points(GRIDS[task]))), walk, np.uint8)
    return Policy(header, plain.states, best)


def hand_with(*tasks: str) -> Director:
    """Somebody's hand on a bird that has policies of these."""
    scenario = SCENARIOS["heading"]()
    scene = scenario.scene(character("big-bird"))
    made = Tasked(scene, policies=[policy(task) for task in tasks])
    return Director(Trial(scenario, 1, "task", scene=scene, made=made, want=WANTS[tasks[0]]))


def asked(hand: Director) -> Go:
    """What is wanted, as of the next frame."""
    wanted = hand.trial.session.asked
    assert isinstance(wanted, Go)
    return wanted


# What a click and a drag mean -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "heading", "given"),
    [
        (("place", "facing", "heading"), None, {"target"}),
        (("place", "facing", "heading"), 2.0, {"target", "heading"}),
        (("place", "heading"), 2.0, {"target"}),
        (("facing", "heading"), None, {"target", "heading"}),
        (("heading",), None, {"heading"}),
        (("heading",), 2.0, {"heading"}),
        (("paced",), None, {"heading", "speed"}),
    ],
)
def test_a_hint_is_what_policies_can_do_about_it(tasks, heading, given):
    hand = hand_with(*tasks)
    hand.point((1.0, 2.0, 0.3), None, heading)
    wanted = asked(hand)
    assert set(wanted.given) == given
    assert hand.target == ((1.0, 2.0, 0.0) if "target" in given else None)
    x, y = (1.0, 2.0) - hand.trial.session.world.view("com")[0, :2]
    facing = heading if heading is not None and "facing" in tasks else math.atan2(y, x)
    assert wanted.heading == (pytest.approx(facing) if "heading" in given else None)
    assert hand.heading == (None if "speed" in given else wanted.heading)
    assert hand.faces == ("facing" in tasks)
    hand.trial.step()
    task = next(task for task, want in WANTS.items() if set(want.given) == given)
    assert hand.trial.controller.report().doing == f"{task}: walk"


def test_hints_at_nowhere_are_refused():
    hand = hand_with("heading")
    wanted = asked(hand)
    for at, heading in (((math.nan, 0.0, 0.0), None), ((1e9, 0.0, 0.0), None)):
        with pytest.raises(UserError, match="place must be 3 numbers within 1000 m"):
            hand.point(at, None, heading)
    for heading in (math.inf, math.nan, 1e9):
        with pytest.raises(UserError, match="heading"):
            hand.point((1.0, 0.0, 0.0), None, heading)
    with pytest.raises(UserError, match="'neck' is a part of the character"):
        hand.point((0.0, 0.0, 1.0), "neck")
    assert asked(hand) == wanted


def test_a_thing_that_is_pointed_at_is_a_place():
    scene = Scene(character("big-bird"), [Box("post", (1.0, 0.0, 0.5), (0.1, 0.1, 0.5))])
    assert place_for(scene, "post", (1.0, 0.05, 0.7)) == (1.0, 0.05, 0.0)


def test_gaits_go_towards_a_place_and_a_walker_there_as_ever():
    gaits = Director(Choice("simbicon-bird", "big-bird", "simbicon").trial(1))
    gaits.point((0.0, 5.0, 0.0), None, 1.0)
    assert asked(gaits).heading == pytest.approx(math.pi / 2, abs=0.1) and not gaits.faces
    walker = Director(Choice("steer-walk", "biped", "walker").trial(1))
    assert not walker.faces
    walker.point((1.0, 0.0, 0.0), None, 1.0)
    assert walker.trial.session.asked.script == "go to 1 0"
    assert not Director(Choice("stand", "humanoid", "cpbp").trial(1)).faces


# Steering -------------------------------------------------------------------------------------------


def test_steering_has_a_speed_where_a_policy_has():
    hand = hand_with("paced", "heading", "place")
    hand.point((1.0, 2.0, 0.0), None)
    hand.steer(0.0, 0.5)
    assert asked(hand) == Go(speed=0.5 * STROLL, heading=pytest.approx(math.pi / 2))
    hand.steer(-1.0, 0.0, turbo=True)
    assert asked(hand) == Go(speed=HURRY, heading=pytest.approx(math.pi)) and hand.velocity is not None
    hand.trial.step()
    hand.steer(0.0, 0.0)
    assert asked(hand) == Go(speed=0.0, heading=pytest.approx(math.pi))  # steps in place
    assert hand.velocity is hand.heading is None


def test_steering_without_a_speed_ends_with_what_was_wanted():
    hand = hand_with("heading", "place")
    hand.point((1.0, 2.0, 0.0), None)
    before = asked(hand)
    hand.steer(0.0, 0.5)
    assert asked(hand) == Go(heading=pytest.approx(math.pi / 2)) and hand.heading is not None
    hand.trial.step()
    hand.steer(0.0, 0.0)
    assert asked(hand) == before


def test_only_what_can_be_wanted_is_offered():
    hand = hand_with("heading")
    assert hand.goals == ["go"] and not hand.styles and not hand.terms and not hand.balances
    hand.want("go")
    assert set(asked(hand).given) == {"heading"}


# The wire -------------------------------------------------------------------------------------------


def test_a_hint_may_have_a_heading():
    assert decode('{"type": "point", "at": [1, 2, 0], "heading": 1.5}') == Point((1.0, 2.0, 0.0), None, 1.5)
    assert decode('{"type": "point", "at": [1, 2, 0], "heading": null}') == Point((1.0, 2.0, 0.0))
    for wrong in ('"1"', "1e999", "NaN", "[1]"):
        with pytest.raises(UserError, match="not a request"):
            decode(f'{{"type": "point", "at": [1, 2, 0], "heading": {wrong}}}')


def test_a_heading_is_packed_after_all_else_that_is_wanted():
    scene = Scene(character("big-bird"))
    status = Status(1, 1, 1, 0.0, 0, 30.0, 1.0, 1.0, 0.0)
    report = Report(doing="facing: walk")
    message = Packer(scene, 1).pack(scene.state(), report, status, 1, (1.0, 2.0, 0.0), heading=0.5)
    assert message[1] == TARGET | HEADING
    extra = struct.unpack_from("<4f", message, HEADER.size + 4 * 7 * scene.model.nbody)
    assert extra == (1.0, 2.0, 0.0, 0.5) and message.endswith(b"\n\nfacing: walk\n")


# A browser ------------------------------------------------------------------------------------------


def on_ground(window: Window, x: float, y: float) -> tuple[float, float]:
    """Where a place of the ground is drawn, px."""
    elements = window.look("[view.camera.projectionMatrix, view.camera.matrixWorldInverse].map((m) => [...m.elements])")
    projection, into = (np.reshape(part, (4, 4)).T for part in elements)
    right, up, _, w = projection @ into @ [x, y, 0.0, 1.0]
    box = window.part("view").bounding_box()
    return box["x"] + (0.5 + right / w / 2) * box["width"], box["y"] + (0.5 - up / w / 2) * box["height"]


def at_rest(window: Window) -> None:
    """Wait until the camera, which follows the character, is there."""
    seen = [window.look("[...view.camera.matrixWorld.elements]")]

    def rests() -> bool:
        window.page.wait_for_timeout(150)
        seen.append(window.look("[...view.camera.matrixWorld.elements]"))
        return seen[-1] == seen[-2]

    until(rests)


def until_target(window: Window, x: float, y: float) -> None:
    """Make frames until that place is wanted."""
    near = f"frame.target && Math.hypot(frame.target[0] - {x}, frame.target[1] - {y}) < 0.05"
    until(lambda: window.part("step").click() or window.look(near))
    at_rest(window)


@pytest.mark.slow
def test_a_click_sets_the_place_and_a_drag_the_heading(tmp_path: Path):
    policy("facing").write(tmp_path / "facing.policy")
    words = ("--policy", str(tmp_path / "facing.policy"))
    with Studio(tmp_path, scenario="go-to-point-heading", planner=words) as studio, browser() as chromium:
        window = Window(chromium.new_page(viewport={"width": 1200, "height": 900}), studio, "neck")
        window.until_text("hud-acting", "facing: walk")
        window.pause()
        at_rest(window)
        window.page.keyboard.press("6")
        window.page.locator(".chosen[data-testid=tool-go]").wait_for()
        x, y, _ = window.body("body")
        window.page.mouse.click(*on_ground(window, x + 0.5, y + 0.8))
        until_target(window, x + 0.5, y + 0.8)
        assert window.look("frame.heading") == pytest.approx(math.atan2(0.8, 0.5), abs=0.3)  # as it comes
        before = window.ahead()
        window.page.mouse.move(*on_ground(window, x + 0.8, y - 0.5))
        window.page.mouse.down()
        window.page.mouse.move(*on_ground(window, x + 0.8, y + 0.7), steps=5)
        window.page.screenshot(path=tmp_path / "dragging.png")
        window.page.mouse.up()
        until_target(window, x + 0.8, y - 0.5)
        assert window.look("frame.heading") == pytest.approx(math.pi / 2, abs=0.05)
        assert before @ window.ahead() > 0.999 and not window.complaints  # no camera was turned
        window.page.screenshot(path=tmp_path / "marked.png")
        window.page.keyboard.down("w")
        window.page.get_by_text("no policy goes by speed, heading").wait_for()
        window.page.keyboard.up("w")
