"""`tumble run simbicon-*` and `tumble list`: gaits by name, pushes, slopes and steps."""

import json

import pytest

from tumble.cli import dispatch
from tumble.simbicon.gait import BODIES, gait_names

SHORT = ["--seconds", "0.2", "--json"]


def said(capsys) -> tuple[str, str]:
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.mark.parametrize(
    ("scenario", "gait"),
    [("humanoid", "sad"), ("planar", "fast-run"), ("bird", "lope"), ("raptor", "turn-left")],
)
def test_a_gait_is_run(capsys, scenario, gait):
    assert dispatch(["run", f"simbicon-{scenario}", "--gait", gait, *SHORT]) == 0
    assert json.loads(said(capsys)[0])["trials"] == 1


def test_pushes_slopes_and_steps_are_options(capsys):
    for words in (["--push", "50", "--slope", "-2"], ["--step-height", "0.02"]):
        assert dispatch(["run", "simbicon-humanoid", *words, *SHORT]) == 0
        assert json.loads(said(capsys)[0])["scenario"] == "simbicon-humanoid"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--gait", "sda"],
            "no gait 'sda' of 'biped34'; there are: backwards, in-place, in-place-ahead,",
        ),
        (["--gait", "sda"], "(did you mean 'sad'?)"),
        (["--gait", "lope"], "no gait 'lope' of 'biped34', but of big-bird; there are: backwards"),
        (["--slope", "50"], "slope must be a number -30 or more and at most 30, got 50"),
        (["--push=-1"], "push must be a number 0 or more"),
        (["--slope", "2", "--step-height", "0.1"], "slabs lie on level ground: ask for a slope or for a step height"),
    ],
)
def test_mistakes_are_told_in_a_sentence(capsys, words, message):
    assert dispatch(["run", "simbicon-humanoid", *words, *SHORT]) == 2
    assert message in said(capsys)[1]


def test_gaits_are_listed_by_body(capsys):
    assert dispatch(["list", "--json"]) == 0
    listed = json.loads(said(capsys)[0])["gaits"]
    assert listed == {body: ", ".join(gait_names(body)) for body in BODIES}
    assert listed["raptor"] == "walk, backwards, in-place, turn-left, turn-left-sharp, turn-right, turn-right-sharp"
