"""Fitting gaits: the numbers that are changed, what is measured, costs, jobs, stores, and the command `tumble gait`."""

import json
import re

import numpy as np
import pytest
from msgspec.structs import replace
from pools import Here

from tumble.characters import character
from tumble.cli import dispatch
from tumble.cli.gait_files import write_gait
from tumble.errors import UserError
from tumble.offline.store import JobStore
from tumble.simbicon import fitting
from tumble.simbicon.fitting import GaitAim, GaitFitting, chosen, cost_of, fit, measured_gait, prepared
from tumble.simbicon.gait import BODIES, builtin_gaits, check_gait, gait_names, load_gait
from tumble.simbicon.measuring import GaitMeasures, start_speeds, walk
from tumble.simbicon.numbers import changed, numbers_of
from tumble.simbicon.simbicon import Simbicon
from tumble.world.scene import Ground, Scene

EVERY = [(body, name) for body in BODIES for name in gait_names(body)]
QUICK = GaitFitting(generations=2, population=4, starts=2, seconds=3.0, seed=5)
BIRD = character("big-bird")
WALK = builtin_gaits(BIRD)["walk"]


# Numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "name"), EVERY)
def test_no_change_is_none_and_large_ones_are_sound(body, name):
    who = character(body)
    gait = builtin_gaits(who)[name]
    numbers = numbers_of(gait, who.planar)
    curves = changed(gait, numbers, np.zeros(len(numbers)))
    assert [state.duration for state in curves.states] == pytest.approx([state.duration for state in gait.states])
    for state, old in zip(curves.states, gait.states, strict=True):
        assert {role: motion for role, motion in state.joints.items() if role in old.joints} == old.joints
    rng = np.random.default_rng(0)
    for _ in range(5):
        check_gait(changed(gait, numbers, 3.0 * rng.standard_normal(len(numbers))), who)


def test_sides_have_numbers_of_their_own():
    side = prepared(WALK, "side", GaitAim(side=0.3))
    assert side.sided and side.states == WALK.states * 2
    numbers = numbers_of(side)
    x = np.zeros(len(numbers))
    x[next(i for i, one in enumerate(numbers) if one.state == 1 and one.what[:2] == ("swing_hip", "side"))] = 1.0
    one, other = changed(side, numbers, x).states
    old, new = (np.array(state.joints["swing_hip"].side) for state in (one, other))
    np.testing.assert_allclose(new[:, 1] - old[:, 1], 0.05)
    assert len(numbers) > len(numbers_of(WALK))


def test_what_a_fit_begins_from():
    found = prepared(WALK, "new", GaitAim(turn=0.8, lean=0.2), until="time")
    assert (found.name, found.turn, found.sided) == ("new", 0.8, False)
    assert [(state.until, state.joints["root"].bend) for state in found.states] == [("time", ((0.0, 0.2),))]
    assert prepared(WALK, "new", GaitAim(), sided=True).sided
    run = builtin_gaits(character("planar"))["run"]
    many = replace(run, states=run.states[:1] * 2)
    with pytest.raises(UserError, match=r"side steps need a gait of one state, .* 'run' has 2: start from another"):
        prepared(many, "side", GaitAim(side=0.3))


# Measures -------------------------------------------------------------------------------------------


def test_rows_are_measured_one_by_one():
    """A row's measures do not depend on the others, and each walks by its own gait."""
    walker = Simbicon(Scene(BIRD, ground=Ground(0.8)), [WALK, builtin_gaits(BIRD)["backwards"]])
    speeds = start_speeds(walker.scene, 3, np.random.default_rng(1))
    both = walk(walker, np.array([0, 1, 0]), speeds, seconds=4.0)
    alone = walk(walker, "backwards", speeds[1:2], seconds=4.0)
    for one, other in zip(both, alone, strict=True):
        assert one[1] == other[0]
    assert both.stood.all() and (both.ahead[[0, 2]] > 0.6).all() and both.ahead[1] < -0.3
    assert both.seconds == pytest.approx(4.0) and (both.steps >= 8).all()
    assert both.step == pytest.approx(0.39, abs=0.05) and (both.untouched == 0).all() and (both.effort > 0).all()


def test_turns_are_seen():
    found = measured_gait(builtin_gaits(BIRD)["turn-left"], starts=2, steps=60)
    assert found.turn == pytest.approx(0.4, abs=0.05) and (found.steps == 60).all() and found.stood.all()


def measures(**changes) -> GaitMeasures:
    plain = dict.fromkeys(GaitMeasures._fields, np.zeros(1)) | {"stood": np.ones(1, bool), "seconds": np.full(1, 8.0)}
    return GaitMeasures(**plain | {name: np.array([value]) for name, value in changes.items()})


def test_costs_by_hand():
    aim, settings = GaitAim(speed=0.5), GaitFitting()
    assert cost_of(measures(ahead=0.5), aim, settings) == [0.0]
    assert cost_of(measures(ahead=0.55), aim, settings) == pytest.approx([100 / 101])  # one tolerance, softened
    assert cost_of(measures(ahead=0.0), GaitAim(), settings) == [0.0]
    length = GaitAim(step_length=0.3)
    assert cost_of(measures(ahead=0.6, step=0.5), length, settings) == pytest.approx([0.0])
    assert cost_of(measures(lean=0.13), GaitAim(lean=0.1), settings) == pytest.approx([100 / 101])
    assert cost_of(measures(untouched=0.3), GaitAim(), settings) == pytest.approx([100 / 101])
    worst = cost_of(measures(ahead=50.0), aim, settings)
    late, soon = (cost_of(measures(stood=False, seconds=s, ahead=0.5), aim, settings) for s in (7.9, 0.5))
    assert worst < late < soon


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaitAim(speed=7), "speed must be a number -5 or more and at most 5, got 7"),
        (lambda: GaitAim(step_length=-1), "step_length must be a number 0 or more"),
        (lambda: GaitFitting(population=2), "population must be a number 4 or more"),
        (lambda: GaitFitting(seconds=1), "seconds must be a number 3 or more"),
    ],
)
def test_bad_numbers_are_refused(make, message):
    with pytest.raises(UserError, match=re.escape(message)):
        make()


# Searches -------------------------------------------------------------------------------------------


def test_a_fit_is_the_same_however_it_is_cut_into_jobs(monkeypatch):
    aim = GaitAim(speed=0.3)
    start = prepared(WALK, "slow", aim)
    first = list(fit(Here(), start, aim, QUICK))
    monkeypatch.setattr(fitting, "TOGETHER", 1)
    assert list(fit(Here(), start, aim, QUICK)) == first
    assert [one.generation for one in first] == [0, 1, 2] and first[0].best == start
    assert first[2].cost <= first[1].cost <= first[0].cost
    cost, best = chosen(Here(), first[-1], aim, QUICK)
    assert best in first[-1].candidates and cost > 0


def test_a_fit_goes_on_where_it_was(tmp_path):
    aim = GaitAim(speed=0.3)
    start = prepared(WALK, "slow", aim)
    whole = list(fit(Here(), start, aim, QUICK))
    path = tmp_path / "fit.jobs"
    with JobStore(path, {"work": "gait"}) as store:
        search = fit(Here(), start, aim, QUICK, store)
        assert [next(search), next(search)] == whole[:2]
    pool = Here()
    with JobStore(path, {"work": "gait"}) as store:
        assert list(fit(pool, start, aim, QUICK, store)) == whole
    assert pool.done == 1  # the last generation alone


# The command ----------------------------------------------------------------------------------------

FIT = ["--generations", "1", "--population", "4", "--starts", "1", "--seconds", "3", "--jobs", "1"]


def test_a_gait_is_fitted_tested_and_mirrored(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["gait", "fit", "big-bird", "walk", "aside", "--speed", "0.5", "--side", "0.1", "--about", "aside", *FIT]
    assert dispatch(words) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("aside.toml: cost ") and "generation 1 of 1: cost " in captured.err
    text = (tmp_path / "aside.toml").read_text()
    short = "--population 4 --starts 1 --seconds 3 --generations 1"
    assert text.startswith(f"# tumble gait fit big-bird walk aside --speed 0.5 --side 0.1 {short}\n")
    gait = load_gait(tmp_path / "aside.toml", BIRD)
    assert (gait.name, gait.about, gait.sided) == ("aside", "aside", True)
    assert dispatch(["gait", "mirror", "big-bird", "aside.toml", "other"]) == 0
    assert load_gait(tmp_path / "other.toml", BIRD).states == gait.states[::-1]
    capsys.readouterr()
    short = ["--starts", "2", "--steps", "3", "--json"]
    dispatch(["gait", "test", "big-bird", "other.toml", *short])
    found = json.loads(capsys.readouterr().out)
    assert (found["starts"], found["steps"]) == (2, 3) and {"stood", "ahead", "side", "turn", "step"} <= set(found)


def test_a_test_tells_how_it_went(capsys):
    assert dispatch(["gait", "test", "big-bird", "walk", "--starts", "2", "--steps", "10"]) == 0
    assert "big-bird walk: 2 of 2 made 10 steps; 0." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fti"], "no action 'fti' of 'tumble gait'"),
        (["fit", "big-brid", "walk", "x"], "no body 'big-brid' with gaits"),
        (["fit", "big-bird", "wlk", "x"], "no gait 'wlk' of 'big-bird'"),
        (["fit", "big-bird", "walk", "A b"], "a gait's name is of small letters, digits and hyphens"),
        (["fit", "big-bird", "walk", "x", "--out", "x.txt"], "a gait's file ends in .toml, got x.txt"),
        (["fit", "big-bird", "walk", "x", "--out", "none/x.toml"], "no folder none to write x.toml into"),
        (["fit", "big-bird", "walk", "x", "--speed", "9"], "speed must be a number -5 or more and at most 5, got 9"),
        (["fit", "big-bird", "walk", "x", "--minutes", "0"], "minutes must be a number above 0"),
        (["fit", "big-bird", "none.toml", "x"], "cannot read the gait 'none.toml'"),
        (["test", "big-bird", "walk", "--steps", "0"], "steps must be a number 1 or more"),
        (["mirror", "big-bird", "walk", "-x"], ""),
    ],
)  # fmt: skip
def test_mistakes_are_told_before_anything_is_simulated(capsys, words, message):
    try:
        assert dispatch(["gait", *words]) == 2
    except SystemExit as ended:
        assert ended.code == 2
    assert message in capsys.readouterr().err


def test_help_has_examples(capsys):
    assert dispatch(["gait"]) == 0
    assert "tumble gait fit big-bird in-place side-left --speed 0 --side 0.3" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        dispatch(["gait", "fit", "--help"])
    assert "Example, side steps" in capsys.readouterr().out


def test_a_gait_that_is_written_is_read_again(tmp_path):
    write_gait(tmp_path / "x.toml", WALK, "tumble gait fit big-bird walk x")
    assert load_gait(tmp_path / "x.toml", BIRD) == WALK
