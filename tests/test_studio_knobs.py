"""Settings as sliders, and presets in a file: for every planner there is."""

import json
import os
import re
from dataclasses import dataclass, field, fields, is_dataclass

import pytest

from tumble.controllers.relay import RelaySettings
from tumble.errors import UserError, check_number
from tumble.planners import PLANNERS, CEMSettings, CPBPSettings
from tumble.scenarios import SCENARIOS
from tumble.settings import names_of, replaced
from tumble.studio.knobs import Knob, knobs
from tumble.studio.presets import COMMON, LARGEST, Presets, default_path, ours

SHARES = (0.0, 0.25, 0.5, 0.775, 1.0)
PAIRED = ("transition_place", "transition_speed")  # both are 0 or none is


def by_name(settings) -> dict[str, Knob]:
    return {knob.name: knob for knob in knobs(settings)}


# Knobs of a class of our own ------------------------------------------------------------------------


@dataclass(frozen=True)
class Inner:
    """Settings within settings.

    Attributes:
      depth: something that is no comment  # nor is this
    """

    depth: float  # m, of the inside
    width: float = 3.0


@dataclass(frozen=True)
class Base:
    """What others derive from."""

    count: int = 20  # how many
    silent: float = 0.5
    loud: float = 0.25  # a share; of what: nobody knows # but this
    late: int = 1


@dataclass(frozen=True)
class Own(Base):
    """Settings with all that there is."""

    loud: float = 0.25  # said again, by who derives
    on: bool = True  # whether
    off: bool = False
    nothing: float = 0.0  # none by default
    tight: float = 0.9  # at most 1
    inner: Inner = field(default_factory=lambda: Inner(2.0))  # a comment on the whole

    def __post_init__(self) -> None:
        check_number("count", self.count, 11, 50)
        check_number("tight", self.tight, 0.8, 1)
        for word in ("a", "b"):  # no field: of anything
            assert word


def test_knobs_are_the_fields_in_order():
    found = knobs(Own())
    assert [knob.name for knob in found] == [
        "count", "silent", "loud", "late", "on", "off", "nothing", "tight", "inner.depth", "inner.width"
    ]  # fmt: skip
    assert [knob.kind for knob in found] == [int, float, float, int, bool, bool, float, float, float, float]
    assert [knob.value for knob in found] == [20, 0.5, 0.25, 1, 1, 0, 0, 0.9, 2, 3]


def test_comments_are_those_beside_the_fields():
    about = {knob.name: knob.about for knob in knobs(Own())}
    assert about == {
        "count": "how many",
        "silent": "",
        "loud": "said again, by who derives",
        "late": "",
        "on": "whether",
        "off": "",
        "nothing": "none by default",
        "tight": "at most 1",
        "inner.depth": "m, of the inside",
        "inner.width": "",
    }


def test_the_widest_ends_that_the_class_takes():
    found = {name: (knob.low, knob.high) for name, knob in by_name(Own()).items()}
    assert found == {
        "count": (20, 40),  # 10 is too few, 100 too many
        "silent": (pytest.approx(0.05), 5),
        "loud": (0.025, 2.5),
        "late": (1, 10),
        "on": (0, 1),
        "off": (0, 1),
        "nothing": (0, 1),
        "tight": (0, 0.9),  # nothing else fits, which no slider can show
        "inner.depth": (0.2, 20),
        "inner.width": (pytest.approx(0.3), 30),
    }


@dataclass(frozen=True)
class Negative:
    """Logarithms and the like."""

    log: float = -20.0
    whole: int = -30
    tight: float = -0.9

    def __post_init__(self) -> None:
        check_number("log", self.log, -1e9, 0)
        check_number("whole", self.whole, -100, -10)
        check_number("tight", self.tight, -1, -0.8)


def test_a_negative_value_is_between_its_ends_too():
    found = {name: (knob.low, knob.high) for name, knob in by_name(Negative()).items()}
    assert found == {"log": (-200, -2), "whole": (-60, -15), "tight": (-0.9, 0)}
    log = by_name(Negative())["log"]
    assert (log.at(0), log.at(0.5), log.at(1)) == (-200, -101, -2)  # equal steps
    assert log.share(-101) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("knob", "share", "value"),
    [
        (Knob("x", "", float, 1.0, 0.1, 10.0), 0.5, 1.0),  # equal ratios
        (Knob("x", "", float, 1.0, 0.01, 100.0), 0.25, 0.1),
        (Knob("x", "", float, 1.0, 0.0, 10.0), 0.25, 2.5),  # equal steps
        (Knob("x", "", float, 1.0, -1.0, 1.0), 0.25, -0.5),
        (Knob("x", "", int, 10.0, 1.0, 100.0), 0.5, 10.0),
        (Knob("x", "", int, 10.0, 0.0, 3.0), 0.5, 2.0),
        (Knob("x", "", float, 1.0, 0.123456, 12.3456), 0.0, 0.123),  # three digits are enough
    ],
)
def test_values_along_a_slider(knob, share, value):
    assert knob.at(share) == pytest.approx(value)
    assert knob.share(value) == pytest.approx(share, abs=0.02 if knob.kind is float else 0.2)


def test_values_beyond_a_slider_are_at_its_ends():
    for low in (0.0, 0.1):
        knob = Knob("x", "", float, 1.0, low, 10.0)
        assert (knob.share(-5.0), knob.share(50.0)) == (0, 1)


# Knobs of the planners ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANNERS)
def test_every_setting_of_every_planner_has_a_knob(name):
    settings = PLANNERS[name].settings()
    found = by_name(settings)
    assert list(found) == names_of(settings)
    assert len(found) >= 7 and {"samples", "horizon"} <= set(found)
    for knob in found.values():
        value = settings
        for part in knob.name.split("."):
            value = getattr(value, part)
        assert not is_dataclass(value)
        assert (knob.value, knob.kind) == (float(value), type(value))
        assert knob.low <= knob.value <= knob.high and knob.low < knob.high


@pytest.mark.parametrize("name", PLANNERS)
def test_all_of_a_slider_is_taken_by_the_class(name):
    settings = PLANNERS[name].settings()
    for knob in knobs(settings):
        if knob.name in PAIRED:
            continue
        for share in SHARES if knob.kind is not bool else (0, 1):
            changed = replaced(settings, {knob.name: knob.at(share)})
            assert by_name(changed)[knob.name].value == knob.at(share)


@pytest.mark.parametrize("name", PLANNERS)
def test_a_slider_shows_what_it_was_set_to(name):
    for knob in knobs(PLANNERS[name].settings()):
        for share in SHARES:
            assert knob.at(knob.share(knob.at(share))) == pytest.approx(knob.at(share), rel=0.005)
            if knob.kind is float:
                assert knob.share(knob.at(share)) == pytest.approx(share, abs=0.005)
        if knob.kind is not bool:
            assert knob.at(knob.share(knob.value)) == pytest.approx(knob.value, rel=0.005)


def test_what_is_no_number_nor_switch_has_no_knob():
    settings = RelaySettings()
    assert "rising" in names_of(settings)
    assert [knob.name for knob in knobs(settings)] == [name for name in names_of(settings) if name != "rising"]


def test_settings_that_were_changed_have_knobs_too():
    for settings in (
        CEMSettings(samples=5, elites=5),
        CEMSettings(samples=1, elites=1),
        CPBPSettings(spread=1.0, no_prior=1.0, transition_place=0.1, transition_speed=1.0),
        CPBPSettings(resample_below=0.0, no_prior=0.0),
    ):
        for knob in knobs(settings):
            assert knob.low < knob.high
            assert 0 <= knob.share(knob.value) <= 1
    assert by_name(CPBPSettings(spread=7.5))["spread"].value == 7.5


@pytest.mark.parametrize("name", [name for name in PLANNERS if name != "pf-mpc"])  # its fields point to C-PBP's
def test_every_setting_says_what_it_is(name):
    for knob in knobs(PLANNERS[name].settings()):
        assert len(knob.about) > 3 and "\n" not in knob.about and "#" not in knob.about


def test_comments_of_c_pbp_as_they_are_written():
    about = {knob.name: knob.about for knob in knobs(CPBPSettings())}
    assert about["samples"] == "N, section 4.3"
    assert about["wrist_rule"] == "palms first, section 5.7"
    assert about["calm.speed"] == about["tense.speed"] == "sigma_0, eq. 22"


# Presets --------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config" / "tumble" / "presets.json"


@pytest.mark.parametrize("name", PLANNERS)
def test_our_presets_fit_every_planner(name):
    settings = PLANNERS[name].settings()
    for preset, changes in ours(name).items():
        changed = replaced(settings, changes)
        assert (changed == settings) == (preset == "default"), preset
        assert all(getattr(changed, key) == value for key, value in changes.items()), preset
        assert {one.name for one in fields(settings)} >= set(changes), preset


@pytest.mark.parametrize("name", PLANNERS)
def test_every_planner_has_the_common_presets_and_looks_farther_by_one(name):
    presets = ours(name)
    assert set(presets) >= set(COMMON)
    default = PLANNERS[name].settings()
    assert replaced(default, presets["far-sighted"]).horizon > 1.5 * default.horizon
    assert replaced(default, presets["quick"]).samples < default.samples
    assert replaced(default, presets["thorough"]).samples > default.samples


def test_ours_for_cpbp_switch_its_beliefs_on():
    (preset,) = set(ours("cpbp")) - set(COMMON)
    changed = replaced(CPBPSettings(), ours("cpbp")[preset])
    assert changed.transition_place > 0 < changed.transition_speed


def test_a_file_does_not_replace_ours(path):
    path.parent.mkdir(parents=True)
    path.write_text('{"cpbp": {"quick": {"samples": 3.0}}}')
    assert Presets(path).of("cpbp") == ours("cpbp")


def test_without_a_file_there_are_ours(path):
    assert Presets(path).of("cpbp") == ours("cpbp")
    assert not path.parent.exists()  # reading makes nothing


def test_saved_presets_are_there_again_for_their_controller(path):
    presets = Presets(path)
    presets.save("cpbp", "  mine ", {"samples": 48.0, "calm.speed": 0.1})
    presets.save("cpbp", "Ärger & Söhne 🤸", {})
    presets.save("cem", "mine", {"samples": 5.0})
    for one in (presets, Presets(path)):
        assert one.of("cpbp") == {**ours("cpbp"), "mine": {"samples": 48.0, "calm.speed": 0.1}, "Ärger & Söhne 🤸": {}}
        assert one.of("cem") == {**ours("cem"), "mine": {"samples": 5.0}}
        assert one.of("ps") == COMMON
    presets.save("cpbp", "mine", {"horizon": 0.5})
    assert presets.of("cpbp")["mine"] == {"horizon": 0.5}
    assert [file.name for file in path.parent.iterdir()] == ["presets.json"]
    assert json.loads(path.read_text())["cem"] == {"mine": {"samples": 5.0}}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "a preset's name has 1 to 40 characters, got ''"),
        ("   ", "a preset's name has 1 to 40 characters, got ''"),
        ("x" * 41, "a preset's name has 1 to 40 characters, got 'xxx"),
        ("a\nb", r"a preset's name has 1 to 40 characters, got 'a\nb'"),
        ("quick", "'quick' is a preset of tumble's own; choose another name"),
        (" default ", "'default' is a preset of tumble's own; choose another name"),
    ],
)
def test_bad_names(path, name, message):
    with pytest.raises(UserError, match=re.escape(message)):
        Presets(path).save("cpbp", name, {})
    assert not path.exists()
    Presets(path).save("cpbp", "x" * 40, {})


BROKEN = {
    "empty": b"",
    "no json": b"hello",
    "a list": b"[]",
    "a name": b'{"cpbp": "mine"}',
    "a word": b'{"cpbp": {"mine": {"samples": "48"}}}',
    "null": b'{"cpbp": {"mine": {"samples": null}}}',
    "nan": b'{"cpbp": {"mine": {"samples": NaN}}}',
    "no utf-8": b'{"cpbp": {"\xff": {}}}',
    "cut off": b'{"cpbp": {"mine": {"samples": 48',
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_is_none_is_left_as_it_is(path, kind):
    path.parent.mkdir(parents=True)
    path.write_bytes(BROKEN[kind])
    for use in (lambda: Presets(path).of("cpbp"), lambda: Presets(path).save("cpbp", "mine", {})):
        with pytest.raises(UserError, match=r"presets\.json is no file of presets: .*; mend it or move it away"):
            use()
    assert path.read_bytes() == BROKEN[kind]
    assert len(list(path.parent.iterdir())) == 1


def test_a_file_that_is_too_large(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{" + b" " * LARGEST + b"}")
    with pytest.raises(UserError, match=r"presets\.json is too large for a file of presets; move it away"):
        Presets(path).of("cpbp")
    path.write_bytes(b"{" + b" " * (LARGEST - 2) + b"}")
    assert Presets(path).of("cpbp") == ours("cpbp")


def test_a_folder_in_the_way(path):
    path.mkdir(parents=True)
    with pytest.raises(UserError, match=r"cannot read .*presets\.json: Is a directory"):
        Presets(path).of("cpbp")


def test_a_file_where_the_folder_should_be(path, tmp_path):
    (tmp_path / "config").write_text("")
    with pytest.raises(UserError, match=r"(cannot make the folder|cannot read) .*: (Not a directory|File exists)"):
        Presets(path).save("cpbp", "mine", {})


def test_a_disk_that_is_full_leaves_the_old_file(path, monkeypatch):
    Presets(path).save("cpbp", "mine", {"samples": 48.0})

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"cannot write .*presets\.json: No space left on device"):
        Presets(path).save("cpbp", "other", {})
    assert Presets(path).of("cpbp") == {**ours("cpbp"), "mine": {"samples": 48.0}}
    assert [file.name for file in path.parent.iterdir()] == ["presets.json"]


def test_where_presets_lie(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "x"))
    assert default_path() == tmp_path / "x" / "tumble" / "presets.json"
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".config" / "tumble" / "presets.json"
    assert not any(tmp_path.iterdir())


def test_texts_below_fields_are_read_too():
    about = {knob.name: knob.about for knob in knobs(SCENARIOS["ball"].make())}
    assert about["rolling"] == "Speed at which the ball rolls at the start, in a random direction, m/s."
    assert all(about.values())
