"""Sets that people build: files of them, what goes on where they change, what is refused."""

import json
import re

import numpy as np
import pytest

from tumble.characters import biped, humanoid
from tumble.cli.run_command import main
from tumble.cli.run_options import parse
from tumble.cli.trial_jobs import recipe_of
from tumble.errors import UserError
from tumble.live.recording import Recorder, Recording
from tumble.live.set_file import LARGEST, decode_set, encode_set, load_set, save_set
from tumble.planners import CPBPSettings
from tumble.scenarios import SCENARIOS, Trial
from tumble.world.dressing import MOST, pieces_of
from tumble.world.props import Ball, Box, Companion, Crate, Ramp, Staircase, Stone
from tumble.world.scene import Scene

WHOLE = (
    Box("wall", (3.0, 0.0, 1.0), (0.1, 2.0, 1.0), 0.3, friction=0.4, bounce=0.2),
    Ramp("ramp", (0.0, 3.0, 0.2), (1.0, 0.5, 0.2)),
    Staircase("stairs", (0.0, -3.0, 0.3), (0.6, 0.5, 0.3), steps=3),
    Crate("crate", (2.0, 2.0, 0.2), mass=3.0, bounce=0.1),
    Ball("ball", 0.1, 0.5, place=(2.0, 1.0, 0.1)),
)


def standing() -> Trial:
    """A trial of somebody who stands."""
    return Trial(SCENARIOS["stand"].make(), 0, "cpbp", settings=CPBPSettings(samples=8, horizon=0.2), threads=1)


def test_a_file_holds_a_set_and_a_scene_reads_it(tmp_path):
    path = tmp_path / "set.json"
    others = (Companion("ana", humanoid().recipe, (3.0, 3.0)), Stone("s", (1.0, 0.0, 0.0)), Ball("parked"))
    save_set(path, (*WHOLE, *others))
    assert load_set(path) == WHOLE
    assert pieces_of(Scene(biped(), load_set(path)).props) == list(WHOLE)
    assert path.stat().st_size < 2000


BOX = {"kind": "box", "name": "b", "middle": [3, 0, 1], "half": [1, 1, 1]}
BAD = [
    (b"", "Input data was truncated"),
    (b"\xff\xfe", "this is no file of a set: "),
    (b"[]", "Expected `object`, got `array`"),
    (b'{"format": "tumble set 1"}', "missing required field `props`"),
    ({"format": "tumble set 9", "props": []}, "its format is 'tumble set 9', this version reads 'tumble set 1'"),
    ([{"kind": "cone"}], "no kind of thing 'cone'; there are: ball, box, crate, ramp, stairs"),
    ([{"kind": "companion", "name": "c"}], "no kind of thing 'companion'"),
    ([{}], "no kind of thing 'None'"),
    ([{**BOX, "colour": "red"}], "no field of a box 'colour'; there are: bounce, felt"),
    ([{**BOX, "middle": [0, 0]}], "Expected `array` of length 3, got 2"),
    ([{**BOX, "half": [1, 1, "x"]}], "Expected `float`, got `str`"),
    ([{**BOX, "half": [1, 1, 1e9]}], "half size of box 'b' must be a number"),
    ([{**BOX, "name": ""}], "a thing's name has 1 to 40 characters"),
    ([{**BOX, "name": "a/b"}], "neither '/' nor '.', got 'a/b'"),
    ([BOX, BOX], "two things are called 'b'; give every one a name of its own"),
    ([{**BOX, "name": f"b{i}"} for i in range(MOST + 1)], f"a set has at most {MOST} things, got {MOST + 1}"),
    ([{"kind": "stairs", "name": "s", "middle": [0, 0, 0], "half": [1, 1, 1], "steps": 10**6}], "1 to 50 steps"),
    ([{**BOX, "bounce": 2}], "bounce of 'b' must be a number 0 or more and at most 0.95"),
]


@pytest.mark.parametrize(("content", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_what_is_no_set_is_refused_in_a_sentence(content, message):
    if isinstance(content, list):
        content = {"format": "tumble set 1", "props": content}
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        decode_set(data)
    assert str(caught.value).startswith("this is no file of a set")


def test_files_that_are_too_large_or_not_there(tmp_path):
    with pytest.raises(UserError, match="at most 262144 are read"):
        decode_set(b" " * (LARGEST + 1))
    (tmp_path / "large.json").write_bytes(b" " * (LARGEST + 1))
    with pytest.raises(UserError, match="too large for a file of a set"):
        load_set(tmp_path / "large.json")
    with pytest.raises(UserError, match="no file "):
        load_set(tmp_path / "none.json")
    with pytest.raises(UserError, match="two things are called 'b'"):
        encode_set([Box("b", (0, 0, 1), (1, 1, 1))] * 2)


def test_what_can_move_goes_where_it_is_put_and_all_else_stays():
    trial = standing()
    for prop in (Crate("crate", (2.0, 2.0, 0.2)), Ball("ball", 0.1, 0.5, place=(2.0, 0.0, 1.0))):
        trial.place(prop)
    for _ in range(8):
        trial.step()
    fallen = trial.session.world.view("ball.pos")[0].copy()
    assert fallen[2] < 0.9
    body = trial.session.world.view("com")[0].copy()
    trial.place(Crate("crate", (2.0, 2.0, 0.2), mass=3.0))  # another mass does not move it
    trial.place(Box("wall", (3.0, 0.0, 1.0), (0.1, 2.0, 1.0)))
    assert trial.session.world.view("ball.pos")[0] == pytest.approx(fallen)
    trial.place(Crate("crate", (-2.0, 1.0, 0.2), turn=0.5, mass=3.0))
    trial.place(Ball("ball", 0.1, 0.5, place=(-1.0, 0.0, 0.1)))
    assert trial.session.world.view("crate.pos")[0] == pytest.approx((-2.0, 1.0, 0.2))
    assert trial.session.world.view("ball.pos")[0] == pytest.approx((-1.0, 0.0, 0.1))
    assert trial.session.world.view("com")[0] == pytest.approx(body, abs=1e-9)


def test_nothing_is_put_into_somebody():
    trial = standing()
    scene = trial.scene
    with pytest.raises(UserError, match=r"'block' would be 0\.\d\d m deep in the character; put it somewhere else"):
        trial.place(Box("block", (0.0, 0.0, 0.2), (0.3, 0.3, 0.2)))
    assert trial.scene is scene
    trial.place(Box("block", (0.6, 0.0, 0.2), (0.2, 0.3, 0.2)))


def test_a_recording_through_changes_of_a_set_replays(tmp_path):
    trial = standing()
    recorder = Recorder(trial.session, "stand", "cpbp", 0, {"samples": 8, "horizon": 0.2})
    for piece in WHOLE:
        trial.step()
        trial.place(piece)
    trial.step()
    trial.dress([])
    trial.step()
    recording = recorder.recording
    assert len(recording.parts) == len(WHOLE) + 2 and recording.first_difference() is None
    assert np.isfinite(trial.session.world.state).all()


def test_run_takes_a_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_set("set.json", WHOLE)
    small = ["--seconds", "0.1", "--samples", "4", "--horizon", "0.2", "--threads", "1"]
    assert main(["stand", "--set", "set.json", "--record", "run.npz", *small]) == 0
    recording = Recording.load("run.npz")
    assert pieces_of(recording.scene().props) == list(WHOLE) and recording.first_difference() is None
    words = ["stand", "--set", "set.json", *small]
    recipe = recipe_of(words, parse(words))
    assert recipe.arguments[-1] == str(tmp_path / "set.json") and recipe.mark  # workers stand elsewhere
    save_set("in.json", [Box("block", (0.0, 0.0, 0.2), (0.3, 0.3, 0.2))])
    with pytest.raises(UserError, match=r"'block' would be .* deep in the character"):
        main(["stand", "--set", "in.json", *small])
