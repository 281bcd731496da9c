"""Walkers in the studio: how they are steered, and memory that survives."""

import math
import time
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from tumble.errors import UserError
from tumble.goals.wants import Balance, Go, Juggle
from tumble.live.commands import Restyle
from tumble.live.recording import Recorder, Recording
from tumble.studio.choice import Choice, inherit
from tumble.studio.director import HURRY, STROLL, Director
from tumble.toml import toml_of

WALK = Choice("steer-walk", "biped", "walker")


@pytest.fixture
def hand() -> Director:
    return Director(WALK.trial(1))


def test_a_frame_is_a_thirtieth_of_a_second_and_its_cost_that_of_all_steps(hand, monkeypatch):
    assert hand.trial.scene.dt == 1 / 30
    calls, walker = [], hand.trial.controller.walker
    law = walker.law

    def slow(sims):
        calls.append(time.sleep(0.002))
        return law(sims)

    monkeypatch.setattr(walker, "law", slow)
    frame = hand.trial.step()
    assert (hand.trial.session.index, hand.trial.time) == (1, pytest.approx(1 / 30))
    assert len(calls) == 17 and frame.control_seconds >= 17 * 0.002


def test_a_walker_walks_where_it_is_steered_and_stops(hand):
    hand.steer(0.0, 1.0)
    assert hand.trial.session.asked == Go(speed=STROLL, heading=pytest.approx(math.pi / 2))
    assert hand.velocity == pytest.approx((0, STROLL))
    for _ in range(150):
        hand.trial.step()
    assert hand.trial.session.asked.heading == pytest.approx(math.pi / 2)  # the scenario's own wishes no longer come
    assert hand.trial.session.world.view("com_velocity")[0, 1] > 0.4
    hand.steer(0.6, 0.0, turbo=True)
    assert hand.trial.session.asked.speed == pytest.approx(0.6 * HURRY)
    hand.steer(0.0, 0.0)
    assert (hand.trial.session.asked.speed, hand.velocity) == (0.0, None)
    for _ in range(120):
        hand.trial.step()
    assert np.linalg.norm(hand.trial.session.world.view("com_velocity")[0]) < 0.35
    assert hand.trial.session.world.view("pelvis.pos")[0, 2] > 0.8


def test_wants_of_the_scenario_come_if_nobody_steers(hand):
    hand.trial.step()
    assert hand.trial.session.asked.speed > 0.2
    assert (hand.goal, hand.goals) == ("go", ["balance", "go", "reach"])
    assert hand.weights == {} and hand.target is None


def test_what_is_not_spoken_of_stays(hand):
    hand.send(Go(speed=0.5), Go(style="happy"))
    hand.send(Go(heading=1.0))
    assert hand.trial.session.asked == Go(speed=0.5, heading=1.0, style="happy")


def test_who_goes_on_from_the_past_walks_as_then(hand):
    for _ in range(40):
        hand.trial.step()
    state, then = hand.trial.session.world.state[0].copy(), hand.trial.time
    there = [hand.trial.step().state for _ in range(5)]
    hand.trial.rewind(hand.trial.scene, state, then)
    again = [hand.trial.step().state for _ in range(5)]
    assert np.array_equal(there, again)


def test_a_thrown_ball_lets_it_walk_on(hand):
    hand.steer(1.0, 0.0)
    for _ in range(60):
        hand.trial.step()
    memory = hand.trial.session.world.view("userdata")[0].copy()
    hand.throw((0.0, 5.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    assert np.array_equal(hand.trial.session.world.view("userdata")[0], memory)
    for _ in range(60):
        hand.trial.step()
    assert hand.trial.session.world.view("com_velocity")[0, 0] > 0.3
    assert hand.trial.session.world.view("pelvis.pos")[0, 2] > 0.8


def test_a_walk_is_recorded_and_replays(hand):
    recorder = Recorder(hand.trial.session, "steer-walk", "walker", 0)
    hand.steer(1.0, 0.0)
    for _ in range(20):
        hand.trial.step()
    assert recorder.recording.first_difference() is None


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (Juggle(), "a walker does not juggle; controllers that take it: cpbp"),
        (Go(speed=9.0), "speed must be a number -1 or more and at most 2, got 9"),
        (Go(style="hapy"), "no style 'hapy'; there are: .*did you mean 'happy'"),
    ],
)
def test_what_a_walker_cannot_do_is_refused(hand, command, message):
    with pytest.raises(UserError, match=message):
        hand.send(command)


def test_who_stands_up_is_steered_and_stands_again(hand):
    """Also where balance was wanted: a walker that was steered stands where it is let go."""
    hand.send(Balance())
    hand.trial.step()
    hand.steer(1.0, 0.0)
    hand.send(Go(style="happy"))  # a manner goes along
    hand.trial.step()
    hand.steer(0.0, 0.0)
    hand.trial.step()
    assert hand.trial.session.wanted == Go(speed=0.0, heading=0.0, style="happy")


def test_controllers_that_do_not_fit_a_body_say_so():
    with pytest.raises(UserError, match="'walker' needs a body with: toes, palms, jointed-back; 'humanoid' has none"):
        Choice("steer-walk", "humanoid", "walker").trial(1)


def test_another_body_walks_on_at_once(hand):
    hand.steer(1.0, 0.0)
    for _ in range(60):
        hand.trial.step()
    before, then = hand.trial.session.world.view("pelvis.pos")[0].copy(), hand.trial.time
    controller, memory = hand.trial.controller, hand.trial.session.world.view("userdata")[0].copy()
    tall = replace(WALK, proportions=(("legs", 1.2), ("arms", 0.8)))
    hand.trial.reshape(tall.body())
    assert hand.trial.scene.character.recipe["legs"] == 1.2
    assert (hand.trial.time, hand.goal) == (then, "go") and hand.trial.controller is controller
    assert np.array_equal(hand.trial.session.world.view("userdata")[0], memory)
    assert hand.trial.session.world.view("pelvis.pos")[0, 2] > before[2] + 0.08
    for _ in range(90):
        hand.trial.step()
    assert hand.trial.session.world.view("com_velocity")[0, 0] > 0.3
    assert hand.trial.session.world.view("pelvis.pos")[0, 2] > before[2]
    assert tall.trial(1).scene.fingerprint == hand.trial.scene.fingerprint


def test_edited_styles_survive_another_body_and_a_new_start(hand):
    style = msgspec.structs.replace(hand.style, stance_knee=((0.0, 0.5),))
    hand.send(Restyle(toml_of(style)))
    assert hand.style == style  # before it is done
    hand.trial.step()
    hand.trial.reshape(replace(WALK, proportions=(("legs", 1.1),)).body())
    assert hand.trial.controller.styles[0] == style
    fresh = WALK.trial(1)
    inherit(fresh.controller, hand.trial.controller)
    assert fresh.controller.styles[0] == style


@pytest.mark.parametrize("controller", ["walker", "relay"])
def test_styles_that_are_edited_are_recorded_and_replay(controller, tmp_path):
    hand = Director(replace(WALK, controller=controller).trial(1))
    edits = [((0.0, 0.4),), ((0.0, 0.2), (1.0, 0.6)), ((0.0, 0.1),)]
    hand.steer(1.0, 0.0)
    for edit in edits:
        hand.send(Restyle(toml_of(msgspec.structs.replace(hand.style, stance_knee=edit))))
        for _ in range(8):
            hand.trial.step()
        if edit is edits[0]:
            recorder = Recorder(hand.trial.session, "steer-walk", controller, 0)
        hand.trial.throw((0.0, 9.0, 1.0), (0.0, 0.0, 0.0), 1.0 + len(edit))  # another part
    for _ in range(8):
        hand.trial.step()
    recorder.recording.save(tmp_path / "styles.npz")
    recording = Recording.load(tmp_path / "styles.npz")
    assert [part.about.frames for part in recording.parts] == [8, 8, 8]
    assert all(part.about.styles for part in recording.parts)
    assert recording.first_difference() is None
    for part in recording.parts:
        part.about.styles.clear()
    assert recording.first_difference() is not None  # they matter


def test_bad_bodies_are_refused_and_it_walks_on(hand):
    scene = hand.trial.scene
    with pytest.raises(UserError, match="legs must be a number"):
        hand.trial.reshape(replace(WALK, proportions=(("legs", -1.0),)).body())
    assert hand.trial.scene is scene
    hand.trial.step()
