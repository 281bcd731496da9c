"""The style editor: files of styles, styles that change while somebody walks in them, a curve that is dragged."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from studio_browser import Studio, Window, browser, until

from tumble.errors import UserError
from tumble.files import LARGEST_TEXT
from tumble.goals.wants import Go
from tumble.live.commands import Restyle
from tumble.maths import vectors
from tumble.maths.compiled import as_entry
from tumble.studio.choice import Choice
from tumble.studio.director import Director
from tumble.studio.sheets import GROUPS, StyleSheet, group_of
from tumble.studio.style_panel import restyle
from tumble.toml import toml_of
from tumble.walking.style import KNOTS, TRAJECTORIES, Style, builtin_styles, read_style
from tumble.walking.style_file import style_in

pytestmark = pytest.mark.flaky(reruns=2)  # a browser beside a simulation on two busy cores may be late

NORMAL = builtin_styles()["normal"].stance_knee

# Files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", builtin_styles())
def test_builtin_styles_are_written_as_they_are_read(name):
    style = builtin_styles()[name]
    assert read_style(toml_of(style)) == style


def test_only_what_is_not_usual_is_written():
    assert toml_of(Style("plain")) == 'name = "plain"\n'
    changed = Style("plain", period=0.5, stance_knee=((0, 0.25), (1, -1e-9)))
    assert toml_of(changed) == 'name = "plain"\nperiod = 0.5\nstance_knee = [[0.0, 0.25], [1.0, -1e-09]]\n'


@given(
    about=st.text(st.characters(exclude_categories=["Cs"])),
    period=st.floats(0.15, 2.0),
    values=st.lists(st.floats(-3.2, 3.2), min_size=1, max_size=KNOTS),
)
def test_any_style_is_written_as_it_is_read(about, period, values):
    knots = tuple(zip(np.linspace(0, 1, len(values)).tolist(), values, strict=True))
    style = Style('"\\\x7f\n\t\x00é😀', about, period, stance_knee=knots)
    assert read_style(toml_of(style)) == style


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"name = ", r"not a style \(a.toml\): Invalid value"),
        (b'name = "x"\nknee = 1', r"not a style \(a.toml\): Object contains unknown field `knee`"),
        (b'name = "x"\nperiod = "slow"', r"Expected `float`, got `str` - at `\$.period`"),
        (b'name = "x"\nperiod = 9', r"period of style 'x' must be a number 0.15 or more and at most 2, got 9"),
        (b'name = "x"\nstance_knee = [[0.5, nan]]', r"stance_knee of style 'x' must have finite knots"),
        (b'name = "x"\nabout = "\xff"', r"not a style \(a.toml\): 'utf-8' codec can't decode"),
        (b'name = "x"\nstance_knee = ' + 9000 * b"[", r"not a style \(a.toml\): maximum recursion depth"),
        (b'name = "x"\nperiod = ' + 9000 * b"1", r"not a style \(a.toml\): Exceeds the limit"),
        (b"#" * (LARGEST_TEXT + 1024), r"a style has at most 64 KB, got 65 KB"),
    ],
)
def test_what_is_no_style_says_why(data, message):
    with pytest.raises(UserError, match=message):
        style_in(data, "a.toml")


# Walkers --------------------------------------------------------------------------------------------


@pytest.fixture(params=["walker", "relay"])
def hand(request) -> Director:
    return Director(Choice("steer-walk", "biped", request.param).trial(1))


def bent(name: str, value: Any) -> Any:
    """An edit of one field."""
    return lambda style: replace(style, **{name: value})


def walked(hand: Director, seconds: int) -> float:
    """Mean height of the pelvis in the last second, m."""
    heights = []
    for _ in range(30 * seconds):
        hand.trial.step()
        heights.append(hand.trial.session.world.view("pelvis.pos")[0, 2])
    return float(np.mean(heights[-30:]))


def test_a_bent_knee_lowers_the_walk(hand):
    high = walked(hand, 3)
    restyle(hand, bent("stance_knee", ((0.0, 1.2),)))
    assert hand.style.stance_knee == ((0.0, 1.2),) != hand.trial.controller.styles[0].stance_knee
    (command,) = hand.trial.step().commands
    assert command == Restyle(toml_of(hand.style)) and hand.trial.controller.styles[0] == hand.style
    assert walked(hand, 3) < high - 0.15


def test_of_edits_that_wait_the_last_one_of_a_style_counts(hand):
    for bend in (0.1, 0.2, 0.3):
        restyle(hand, bent("stance_knee", ((0.0, bend),)))
        hand.send(Restyle(toml_of(replace(builtin_styles()["happy"], period=0.4 + bend))))
    assert [type(command) for command in hand.trial.step().commands].count(Restyle) == 2
    assert hand.style.stance_knee == ((0.0, 0.3),)
    assert hand.styles["happy"].period == 0.7


def test_the_style_that_is_wanted_is_the_one_that_is_edited(hand):
    assert hand.style == builtin_styles()["normal"]
    hand.send(Go(style="happy"))
    assert hand.style == builtin_styles()["happy"]
    restyle(hand, bent("period", 0.5))
    assert hand.style.period == 0.5 and builtin_styles()["happy"].period == 0.65


def test_who_plans_has_no_style():
    hand = Director(Choice("stand").trial(1))
    assert hand.style is None and hand.styles == {}
    with pytest.raises(UserError, match="nobody here walks in a style; choose the controller 'walker'"):
        restyle(hand, bent("period", 0.5))
    with pytest.raises(UserError, match="nobody here walks in a style; choose the controller 'walker'"):
        hand.send(Restyle('name = "normal"'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (toml_of(Style("hapy")), r"no style 'hapy'; there are: .*normal.*did you mean 'happy'"),
        ("name = 1", r"not a style \(restyle\): Expected `str`"),
        ("#" * (LARGEST_TEXT + 1024), "a style has at most 64 KB"),
    ],
    ids=["name", "no style", "large"],
)
def test_what_is_no_style_of_the_walker_is_refused(hand, text, message):
    with pytest.raises(UserError, match=message):
        hand.send(Restyle(text))
    assert not any(isinstance(command, Restyle) for command in hand.trial.step().commands)


def test_every_trajectory_can_be_chosen():
    words = StyleSheet().curves(builtin_styles()["normal"])
    assert set(words) == set(TRAJECTORIES) and next(iter(words)) == "stance_knee"
    assert len(set(words.values())) == len(TRAJECTORIES)
    assert {group_of(name) for name in TRAJECTORIES} == set(GROUPS)
    assert (words["stance_knee"], words["foot_height"]) == ("leg: stance knee", "foot: height")
    assert words["arm_speed"] == "by speed: arm"


# The curve ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def window(chromium, tmp_path_factory) -> Iterator[Window]:
    """The walk tab of a studio where somebody walks."""
    folder, threads = tmp_path_factory.mktemp("studio"), ("--threads", "1")
    with Studio(folder, scenario="steer-walk", planner=threads) as studio:
        page = chromium.new_context(viewport={"width": 1000, "height": 760}).new_page()
        one = Window(page, studio)
        one.studio = studio
        one.tab("walk")
        one.part("curve").scroll_into_view_if_needed()
        yield one
        assert not one.complaints


@pytest.fixture
def fresh(window) -> Window:
    """The same, in the style that it began with."""
    window.choose("trajectory", "leg: stance knee")
    window.part("style-revert").click()
    until(lambda: shown(window) == [list(knot) for knot in NORMAL])
    return window


def ask(window: Window, expression: str) -> Any:
    """Something of the curve, which is `curve`."""
    return window.part("curve").evaluate(f"(canvas) => {{ const curve = getElement(canvas); return {expression}; }}")


def shown(window: Window) -> list[list[float]]:
    return ask(window, "curve.own.map((knot) => [...knot])")


def spot(window: Window, x: float, y: float) -> tuple[float, float]:
    """Where a knot would be on the page, px."""
    box = window.part("curve").bounding_box()
    across, down = ask(window, f"curve.spot([{x}, {y}])")
    return box["x"] + across, box["y"] + down


def drag(window: Window, start: tuple[float, float], end: tuple[float, float]) -> None:
    mouse = window.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(*end, steps=6)
    mouse.up()


def saved(window: Window) -> Style:
    with window.page.expect_download() as download:
        window.part("style-save").click()
    return read_style(Path(download.value.path()).read_text("utf-8"))


def height(window: Window) -> float:
    """Mean height of the pelvis in the next second, m."""
    window.frames(30)
    return float(window.history("pelvis")[:, 3].mean())


def test_dragged_knots_lower_the_walk(fresh):
    before = height(fresh)
    for x, y in NORMAL:
        drag(fresh, spot(fresh, x, y), spot(fresh, x, 0.5))
    until(lambda: np.allclose([y for _, y in saved(fresh).stance_knee], 0.5, atol=0.02))
    assert [x for x, _ in saved(fresh).stance_knee] == [x for x, _ in NORMAL]
    assert ask(fresh, "curve.top") > 0.6  # there is room to go on
    for x, y in shown(fresh):
        drag(fresh, spot(fresh, x, y), spot(fresh, x, 0.7))
    until(lambda: height(fresh) < before - 0.05)


def test_knots_stay_between_their_neighbours(fresh):
    drag(fresh, spot(fresh, *NORMAL[1]), spot(fresh, 1.05, 0.6))
    until(lambda: saved(fresh).stance_knee[1] == (0.99, 0.5))
    drag(fresh, spot(fresh, *NORMAL[0]), spot(fresh, 0.4, 0.0))
    until(lambda: saved(fresh).stance_knee[0] == pytest.approx((0.4, 0.0), abs=0.02))


def test_knots_come_and_go(fresh):
    fresh.page.mouse.dblclick(*spot(fresh, 0.6, -0.2))
    until(lambda: len(saved(fresh).stance_knee) == 4)
    assert shown(fresh)[2] == pytest.approx([0.6, -0.2], abs=0.02)
    fresh.page.mouse.dblclick(*spot(fresh, *shown(fresh)[0]))
    until(lambda: len(saved(fresh).stance_knee) == 3)
    for many in (2, 1, 1):
        x, y = spot(fresh, *shown(fresh)[0])
        drag(fresh, (x, y), (x, y + 200))
        until(lambda many=many: len(saved(fresh).stance_knee) == many)
    fresh.page.mouse.dblclick(*spot(fresh, *shown(fresh)[0]))
    assert len(shown(fresh)) == 1
    fresh.part("style-revert").click()
    until(lambda: saved(fresh) == builtin_styles()["normal"])


def test_the_curve_is_the_one_that_is_walked(fresh):
    fresh.choose("trajectory", "foot: height")
    until(lambda: len(shown(fresh)) == 3)
    until(lambda: ask(fresh, "[curve.bottom, curve.top]") == [-0.2, 0.2])
    drag(fresh, spot(fresh, *shown(fresh)[1]), spot(fresh, 0.3, 0.15))
    knots = np.array(shown(fresh))
    places = np.linspace(0, 1, 41)
    drawn = ask(fresh, f"{places.tolist()}.map((x) => curve.at(x))")
    np.testing.assert_allclose(drawn, [as_entry(vectors.spline)(knots, len(knots), x) for x in places], atol=1e-12)
    until(lambda: saved(fresh).foot_height == tuple(map(tuple, knots.tolist())))
    fresh.choose("trajectory", "leg: stance knee")
    until(lambda: shown(fresh) == [list(knot) for knot in NORMAL])


def test_numbers_and_files(fresh):
    fresh.slide("style-toe_out", 0.8)
    until(lambda: saved(fresh).toe_out == pytest.approx(-0.3 + 0.8 * 0.9, abs=0.03))
    assert saved(fresh).toe_out == fresh.number("style-toe_out")
    mine = replace(builtin_styles()["normal"], stance_knee=((0.25, 0.4),), toe_out=0.3)
    for name, text in (("mine", toml_of(mine)), ("bad", "name = 1"), ("strange", 'name = "strange"')):
        file = {"name": f"{name}.toml", "mimeType": "text/plain", "buffer": text.encode()}
        with fresh.page.expect_file_chooser() as chooser:
            fresh.part("style-load").click()
        chooser.value.set_files(file)
        said = {"mine": "loaded the style 'normal'", "bad": "not a style (bad.toml)", "strange": "no style 'strange'"}
        fresh.page.get_by_text(said[name]).first.wait_for()
    assert shown(fresh) == [[0.25, 0.4]] and math.isclose(fresh.number("style-toe_out"), 0.3)
    assert saved(fresh) == mine


def test_another_style_is_another_curve(fresh):
    fresh.choose("style", "happy")
    until(lambda: shown(fresh) == [list(knot) for knot in builtin_styles()["happy"].stance_knee])
    fresh.choose("style", "normal")
    until(lambda: shown(fresh) == [list(knot) for knot in NORMAL])


def test_fingers_drag_and_tap_as_well(fresh):
    wire = fresh.page.context.new_cdp_session(fresh.page)

    def touch(*path: tuple[float, float]) -> None:
        for i, (x, y) in enumerate(path):
            at = {"type": "touchMove" if i else "touchStart", "touchPoints": [{"x": x, "y": y}]}
            wire.send("Input.dispatchTouchEvent", at)
        wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    touch(*(spot(fresh, 0, y) for y in (NORMAL[0][1], 0.25, 0.35, 0.45)))
    until(lambda: abs(saved(fresh).stance_knee[0][1] - 0.45) < 0.02)
    there = spot(fresh, 0.7, -0.3)  # asked for before: two taps are one only if they follow soon
    for _ in range(2):
        touch(there)
    until(lambda: len(saved(fresh).stance_knee) == 4)


def test_who_watches_sees_it_and_cannot_drag(fresh, chromium):
    with contextlib.closing(chromium.new_context(viewport={"width": 1000, "height": 760})) as context:
        other = Window(context.new_page(), fresh.studio)
        other.tab("walk")
        until(lambda: shown(other) == [list(knot) for knot in NORMAL])
        drag(fresh, spot(fresh, *NORMAL[1]), spot(fresh, 0.5, 0.4))
        until(lambda: shown(other) == shown(fresh) != [list(knot) for knot in NORMAL])
        drag(other, spot(other, *shown(other)[0]), spot(other, 0.1, 0.4))
        assert shown(other) == shown(fresh)
        assert not other.complaints


def test_a_panel_without_walker_has_no_curve(chromium, tmp_path):
    with Studio(tmp_path) as studio, contextlib.closing(chromium.new_context()) as context:
        window = Window(context.new_page(), studio)
        window.tab("walk")
        window.page.get_by_text("Only walkers are told how").wait_for()
        assert not window.part("curve").is_visible()
        assert not window.complaints
