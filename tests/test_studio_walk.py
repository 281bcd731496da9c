"""Walkers in the studio: many steps a frame, wishes instead of goals, memory that survives."""

import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from tumble.errors import UserError
from tumble.live.commands import SetGoal, Walk
from tumble.live.recording import Recorder
from tumble.studio.trial import HURRY, STROLL, Choice, StudioTrial, inherit


@pytest.fixture
def hand() -> Director:
    return directed(Choice("steer-walk", "biped", "walker"), 1)


def test_a_frame_is_about_a_thirtieth_of_a_second(hand):
    assert hand.trial.scene.dt == 1 / 500
    assert hand.dt == pytest.approx(1 / 30, abs=hand.trial.scene.dt)
    hand.trial.step()
    assert hand.trial.session.index == hand.stride > 1
    assert hand.trial.time == pytest.approx(hand.dt)


def test_a_walker_walks_where_it_is_steered_and_stops(hand):
    hand.steer(0.0, 1.0)
    assert hand.trial.session.asked.speed == STROLL and hand.trial.session.asked.heading == pytest.approx(math.pi / 2)
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


def test_wishes_of_the_scenario_come_if_nobody_steers(hand):
    hand.trial.step()
    assert hand.trial.session.asked.speed > 0.2
    assert hand.goal == "walk" and hand.weights == {} and hand.target is None


def test_wishes_add_up(hand):
    hand.send(Walk(speed=0.5), Walk(style="happy"))
    hand.send(Walk(heading=1.0))
    assert hand.trial.session.asked == Walk(speed=0.5, heading=1.0, style="happy")


def test_who_goes_on_from_the_past_walks_as_then(hand):
    for _ in range(40):
        hand.trial.step()
    state, time = hand.trial.session.world.state[0].copy(), hand.trial.time
    there = [hand.trial.step().state for _ in range(5)]
    hand.trial.rewind(hand.trial.scene, state, time)
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
        (Balance(), "Performer takes no goal"),
        (Walk(speed=9.0), "speed must be a number -1 or more and at most 2, got 9"),
        (Walk(style="hapy"), "no style 'hapy'; there are: .*did you mean 'happy'"),
    ],
)
def test_what_a_walker_cannot_do_is_refused(hand, command, message):
    with pytest.raises(UserError, match=message):
        hand.send(command)


def test_controllers_that_do_not_fit_a_scenario_say_so():
    with pytest.raises(UserError, match="controller 'cpbp' plans for goals, and this is walked by wishes"):
        directed(Choice("steer-walk", "biped", "cpbp"), 1)
    with pytest.raises(UserError, match="controller 'walker' takes wishes, and this wants a goal; choose: cpbp"):
        directed(Choice("stand", "humanoid", "walker"), 1)
    with pytest.raises(UserError, match="a walker needs a biped with the bones"):
        directed(Choice("steer-walk", "humanoid", "walker"), 1)


def test_another_body_walks_on_at_once(hand):
    hand.steer(1.0, 0.0)
    for _ in range(60):
        hand.trial.step()
    before, time = hand.trial.session.world.view("pelvis.pos")[0].copy(), hand.trial.time
    choice = replace(hand.choice, proportions=(("legs", 1.2), ("arms", 0.8)))
    hand.reshape(choice)
    assert hand.trial.scene.character.recipe["legs"] == 1.2 and hand.choice is choice
    assert (hand.trial.time, hand.goal) == (time, "walk")
    assert hand.trial.session.world.view("pelvis.pos")[0, 2] > before[2] + 0.08
    for _ in range(90):
        hand.trial.step()
    assert hand.trial.session.world.view("com_velocity")[0, 0] > 0.3
    assert hand.trial.session.world.view("pelvis.pos")[0, 2] > before[2]
    again = directed(choice, 1)
    assert again.scene.fingerprint == hand.trial.scene.fingerprint


def test_edited_styles_survive_another_body_and_a_new_start(hand):
    style = msgspec.structs.replace(hand.trial.controller.styles[0], stance_knee=((0.0, 0.5),))
    hand.trial.controller.restyle(style)
    hand.reshape(replace(hand.choice, proportions=(("legs", 1.1),)))
    assert hand.trial.controller.styles[0] == style
    fresh = StudioTrial(hand.choice, 1)
    inherit(fresh.controller, hand.trial.controller)
    assert fresh.controller.styles[0] == style


def test_bad_bodies_are_refused_and_it_walks_on(hand):
    scene = hand.trial.scene
    with pytest.raises(UserError, match="legs must be a number"):
        hand.reshape(replace(hand.choice, proportions=(("legs", -1.0),)))
    assert hand.trial.scene is scene
    hand.trial.step()
