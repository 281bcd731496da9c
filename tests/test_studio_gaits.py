"""Gaits in the studio: the menu, mixes, steering, the editor of curves and numbers, and that all of it replays."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from studio_browser import Studio, Window, browser, until

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.live.commands import Restyle, decode
from tumble.live.recording import Recorder
from tumble.simbicon.body import MEMORY
from tumble.simbicon.gait import BODIES, Gait, builtin_gaits, gait_names, read_gait
from tumble.studio.choice import Choice, inherit
from tumble.studio.director import Director
from tumble.studio.gait_sheet import GaitSheet
from tumble.studio.style_panel import restyle, sheet_of
from tumble.toml import toml_of

EVERY = [(body, name) for body in BODIES for name in gait_names(body)]
HIP = "0/swing_hip/bend"


@pytest.fixture
def hand() -> Director:
    return Director(Choice("simbicon-humanoid", "biped34", "simbicon").trial(1))


def steps(hand: Director, frames: int) -> None:
    for _ in range(frames):
        hand.trial.step()


def memory(hand: Director) -> Any:
    return hand.trial.session.world.memory(MEMORY)[0]


# Files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "name"), EVERY)
def test_gaits_are_written_as_they_are_read(body, name):
    gait = builtin_gaits(character(body))[name]
    assert read_gait(toml_of(gait), character(body)) == gait


class Odd(msgspec.Struct, frozen=True):
    name: str
    flag: bool = False
    tables: dict[str, float] = {}


def test_odd_keys_texts_and_switches_are_written():
    odd = Odd('a "b"\n', True, {"plain": 1.0, "two words": -0.0, "": 1e-300})
    assert msgspec.toml.decode(toml_of(odd), type=Odd) == odd
    assert toml_of(Odd("x")) == 'name = "x"\n'


# Directing ------------------------------------------------------------------------------------------


def test_gaits_change_and_mix_while_it_walks(hand):
    assert next(iter(hand.styles)) == "walk" and hand.mixes and hand.style.name == "walk"
    steps(hand, 10)
    hand.send(Go(style="sad"))
    steps(hand, 10)
    assert memory(hand).gait == hand.trial.controller.index("sad") and hand.style.name == "sad"
    hand.send(Go(other="proud", mix=0.4))
    steps(hand, 10)
    sad, proud = map(hand.trial.controller.index, ("sad", "proud"))
    assert (memory(hand).gait, memory(hand).other, memory(hand).weight) == (sad, proud, 0.4)


def test_steering_turns_it_and_letting_go_keeps_the_heading(hand):
    steps(hand, 5)
    hand.steer(0.0, 1.0)
    steps(hand, 5)
    assert memory(hand).heading == pytest.approx(np.pi / 2)
    hand.steer(0.0, 0.0)
    steps(hand, 5)
    assert memory(hand).heading == pytest.approx(np.pi / 2)


def test_a_gait_that_turns_heeds_no_heading(hand):
    hand.steer(1.0, 0.0)
    hand.send(Go(style="turn-left"))
    steps(hand, 30)
    turned = memory(hand).heading
    assert turned == pytest.approx(0.2, abs=0.01)
    hand.send(Go(mix=0.0))
    steps(hand, 1)
    assert memory(hand).heading > turned  # nothing jumped


def test_mixes_that_do_not_go_are_refused_in_a_sentence(hand):
    with pytest.raises(UserError, match="no gait 'lope' of 'biped34', but of big-bird"):
        hand.send(Go(other="lope", mix=0.5))
    planar = Director(Choice("simbicon-planar", "planar", "simbicon").trial(1))
    with pytest.raises(UserError, match="gaits to mix need equally many states, 'walk' has 2, 'run' 1"):
        planar.send(Go(other="run", mix=0.5))
    planar.send(Go(other="run"))  # with no share it does not matter
    with pytest.raises(UserError, match="gaits to mix need equally many states"):
        planar.send(Go(mix=0.1))
    assert planar.trial.session.asked == Go(style="walk", other="run")


def test_walkers_mix_no_styles():
    walker = Director(Choice("steer-walk", "biped", "walker").trial(1))
    assert not walker.mixes
    with pytest.raises(UserError, match="a walker walks in one style and takes no mix; gaits of 'simbicon' mix"):
        walker.send(Go(mix=0.5))


def test_all_of_it_replays_to_the_last_bit(hand, tmp_path):
    """Another gait, a mix, steering, an edited gait; as it was recorded, and from a part that begins after the edit."""
    recorder = Recorder(hand.trial.session, "simbicon-humanoid", "simbicon", 0, {})
    steps(hand, 20)
    hand.send(Go(style="sad", other="proud", mix=0.5))
    hand.steer(0.7, 0.7)
    steps(hand, 20)
    restyle(hand, lambda gait: replace(gait, shift=0.05))
    steps(hand, 10)
    later = Recorder(hand.trial.session, "simbicon-humanoid", "simbicon", 0, {})
    steps(hand, 20)
    for one in (recorder, later):
        one.recording.save(tmp_path / "a.npz")
        assert type(one.recording).load(tmp_path / "a.npz").first_difference() is None


def test_commands_of_mixes_travel_as_json():
    text = b'{"type": "go", "style": "sad", "other": "proud", "mix": 0.25}'
    assert decode(text) == Go(style="sad", other="proud", mix=0.25)


# Editing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "name"), EVERY)
def test_every_curve_and_number_of_every_gait_can_be_edited(body, name):
    """Each edit changes what it should, gives a sound gait, and can be taken back."""
    who = character(body)
    gait, sheet = builtin_gaits(who)[name], GaitSheet(who)
    curves = sheet.curves(gait)
    assert next(iter(curves)) == HIP and len(set(curves.values())) == len(curves)
    for key in curves:
        knots = ((0.1, 0.25), (0.8, 0.5))
        edited = sheet.bent(gait, key, knots)
        assert sheet.line(edited, key).knots == knots and edited != gait
        assert read_gait(toml_of(edited), who) == edited
        for field, number in sheet.numbers(gait, key).items():
            assert number.low <= number.value <= number.high
            changed = sheet.changed(gait, key, field, number.high)
            assert sheet.numbers(changed, key)[field].value == number.high
            assert sheet.changed(changed, key, field, number.value) == gait or "c_" in field


def test_curves_are_those_that_the_body_can_turn():
    biped, planar = (GaitSheet(character(name)).ways for name in ("biped34", "planar"))
    assert biped["swing_hip"] == ("bend", "side", "twist") and biped["stance_knee"] == ("bend",)
    assert planar["root"] == ("bend", "strength") and set(planar["swing_hip"]) == {"bend"}


def test_unknown_curves_are_refused():
    gait = builtin_gaits(character("planar"))["walk"]
    with pytest.raises(UserError, match="the gait 'walk' has no curve '7/swing_hip/bend'"):
        GaitSheet(character("planar")).line(gait, "7/swing_hip/bend")


def test_edits_are_heard_while_it_walks(hand):
    sheet, key = sheet_of(hand), "0/swing_knee/bend"
    assert isinstance(sheet, GaitSheet)
    steps(hand, 5)
    restyle(hand, lambda gait: sheet.bent(gait, key, ((0.0, 1.5),)))
    assert sheet.line(hand.style, key).knots == ((0.0, 1.5),)
    steps(hand, 10)
    assert hand.trial.controller.styles[0] == hand.style != builtin_gaits(character("biped34"))["walk"]
    model, data = hand.trial.scene.model, hand.trial.scene.show(hand.trial.session.world.state[0])
    swing = "left" if memory(hand).stance == 1 else "right"
    assert data.qpos[model.joint(f"{swing}_knee_bend").qposadr[0]] > 1.0


def test_who_begins_again_keeps_what_was_edited(hand):
    restyle(hand, lambda gait: replace(gait, shift=0.07))
    steps(hand, 1)
    again = Choice("simbicon-humanoid", "biped34", "simbicon").trial(1).controller
    inherit(again, hand.trial.controller)
    assert again.styles == hand.trial.controller.styles
    other = Choice("simbicon-raptor", "raptor", "simbicon").trial(1).controller
    inherit(other, hand.trial.controller)
    assert other.styles == list(other.own_styles.values())


WALK = toml_of(builtin_gaits(character("biped34"))["walk"])
BAD = [
    (WALK.replace('"walk"', '"wlk"'), "no gait 'wlk' of 'biped34'; there are: backwards"),
    (WALK.replace("biped34", "raptor"), "gait 'walk' is for the character 'raptor', got 'biped34'"),
    (WALK + "\n[[states]]\nduration = 0.5\njoints = {}\n", "the gait 'walk' has 1 states and keeps them, got 2"),
    ("name = 1", "not a gait (restyle): Expected `str`"),
    ("#" * (70 << 10), "a gait has at most 64 KB, got 70 KB"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message[:24] for _, message in BAD])
def test_what_is_no_gait_of_the_body_is_refused(hand, text, message):
    with pytest.raises(UserError, match=re.escape(message)):
        hand.send(Restyle(text))


# The page -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def window(tmp_path_factory) -> Iterator[Window]:
    """The walk tab of a studio with a humanoid of SIMBICON."""
    with browser() as chromium, contextlib.ExitStack() as stack:
        folder, threads = tmp_path_factory.mktemp("studio"), ("--threads", "1")
        studio = stack.enter_context(Studio(folder, scenario="simbicon-humanoid", planner=threads))
        one = Window(chromium.new_context(viewport={"width": 1000, "height": 900}).new_page(), studio)
        one.tab("walk")
        yield one
        assert not one.complaints


def saved(window: Window) -> Gait:
    with window.page.expect_download() as download:
        window.part("style-save").click()
    return read_gait(Path(download.value.path()).read_text("utf-8"), character("biped34"))


@pytest.mark.flaky(reruns=2)  # a browser beside a simulation on two busy cores may be late
def test_the_page_has_menu_mix_and_editor(window):
    window.choose("style", "sad")
    until(lambda: saved(window).name == "sad")
    window.choose("other", "proud")
    until(lambda: window.part("other").input_value() == "proud")
    window.slide("mix", 0.5)
    until(lambda: window.number("mix") == pytest.approx(0.5, abs=0.05))
    window.choose("trajectory", "swing knee: bend")
    until(lambda: "swing knee bend" in str(window.part("curve").get_attribute("aria-label")))
    window.page.locator(".q-menu").wait_for(state="detached")
    window.slide("style-duration", 0.5)
    until(lambda: saved(window).states[0].duration == window.number("style-duration") != 0.7)
    window.part("style-revert").click()
    until(lambda: saved(window) == builtin_gaits(character("biped34"))["sad"])
