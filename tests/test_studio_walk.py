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
def take() -> StudioTrial:
    return StudioTrial(Choice("steer-walk", "biped", "walker"), 1)


def test_a_frame_is_about_a_thirtieth_of_a_second(take):
    assert take.scene.dt == 1 / 500
    assert take.dt == pytest.approx(1 / 30, abs=take.scene.dt)
    take.step()
    assert take.session.index == take.stride > 1
    assert take.time == pytest.approx(take.dt)


def test_a_walker_walks_where_it_is_steered_and_stops(take):
    take.steer(0.0, 1.0)
    assert take.wanted.speed == STROLL and take.wanted.heading == pytest.approx(math.pi / 2)
    assert take.velocity == pytest.approx((0, STROLL))
    for _ in range(150):
        take.step()
    assert take.wanted.heading == pytest.approx(math.pi / 2)  # the scenario's own wishes no longer come
    assert take.session.world.view("com_velocity")[0, 1] > 0.4
    take.steer(0.6, 0.0, turbo=True)
    assert take.wanted.speed == pytest.approx(0.6 * HURRY)
    take.steer(0.0, 0.0)
    assert (take.wanted.speed, take.velocity) == (0.0, None)
    for _ in range(120):
        take.step()
    assert np.linalg.norm(take.session.world.view("com_velocity")[0]) < 0.35
    assert take.session.world.view("pelvis.pos")[0, 2] > 0.8


def test_wishes_of_the_scenario_come_if_nobody_steers(take):
    take.step()
    assert take.wanted.speed > 0.2
    assert take.goal == "walk" and take.weights == {} and take.target is None


def test_wishes_add_up(take):
    take.send(Walk(speed=0.5), Walk(style="happy"))
    take.send(Walk(heading=1.0))
    assert take.wanted == Walk(speed=0.5, heading=1.0, style="happy")


def test_who_goes_on_from_the_past_walks_as_then(take):
    for _ in range(40):
        take.step()
    state, time = take.session.world.state[0].copy(), take.time
    there = [take.step().state for _ in range(5)]
    take.enter(take.scene, state, time)
    again = [take.step().state for _ in range(5)]
    assert np.array_equal(there, again)


def test_a_thrown_ball_lets_it_walk_on(take):
    take.steer(1.0, 0.0)
    for _ in range(60):
        take.step()
    memory = take.session.world.view("userdata")[0].copy()
    take.hurl((0.0, 5.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    assert np.array_equal(take.session.world.view("userdata")[0], memory)
    for _ in range(60):
        take.step()
    assert take.session.world.view("com_velocity")[0, 0] > 0.3
    assert take.session.world.view("pelvis.pos")[0, 2] > 0.8


def test_a_walk_is_recorded_and_replays(take):
    recorder = Recorder(take.session, "steer-walk", "walker", 0)
    take.steer(1.0, 0.0)
    for _ in range(20):
        take.step()
    assert recorder.recording.first_difference() is None


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (SetGoal("balance"), "Performer takes no goal"),
        (Walk(speed=9.0), "speed must be a number -1 or more and at most 2, got 9"),
        (Walk(style="hapy"), "no style 'hapy'; there are: .*did you mean 'happy'"),
    ],
)
def test_what_a_walker_cannot_do_is_refused(take, command, message):
    with pytest.raises(UserError, match=message):
        take.send(command)


def test_controllers_that_do_not_fit_a_scenario_say_so():
    with pytest.raises(UserError, match="controller 'cpbp' plans for goals, and this is walked by wishes"):
        StudioTrial(Choice("steer-walk", "biped", "cpbp"), 1)
    with pytest.raises(UserError, match="controller 'walker' takes wishes, and this wants a goal; choose: cpbp"):
        StudioTrial(Choice("stand", "humanoid", "walker"), 1)
    with pytest.raises(UserError, match="a walker needs a biped with the bones"):
        StudioTrial(Choice("steer-walk", "humanoid", "walker"), 1)


def test_another_body_walks_on_at_once(take):
    take.steer(1.0, 0.0)
    for _ in range(60):
        take.step()
    before, time = take.session.world.view("pelvis.pos")[0].copy(), take.time
    choice = replace(take.choice, proportions=(("legs", 1.2), ("arms", 0.8)))
    take.reshape(choice)
    assert take.scene.character.recipe["legs"] == 1.2 and take.choice is choice
    assert (take.time, take.goal) == (time, "walk")
    assert take.session.world.view("pelvis.pos")[0, 2] > before[2] + 0.08
    for _ in range(90):
        take.step()
    assert take.session.world.view("com_velocity")[0, 0] > 0.3
    assert take.session.world.view("pelvis.pos")[0, 2] > before[2]
    again = StudioTrial(choice, 1)
    assert again.scene.fingerprint == take.scene.fingerprint


def test_edited_styles_survive_another_body_and_a_new_start(take):
    style = msgspec.structs.replace(take.controller.styles[0], stance_knee=((0.0, 0.5),))
    take.controller.restyle(style)
    take.reshape(replace(take.choice, proportions=(("legs", 1.1),)))
    assert take.controller.styles[0] == style
    fresh = StudioTrial(take.choice, 1)
    inherit(fresh.controller, take.controller)
    assert fresh.controller.styles[0] == style


def test_bad_bodies_are_refused_and_it_walks_on(take):
    scene = take.scene
    with pytest.raises(UserError, match="legs must be a number"):
        take.reshape(replace(take.choice, proportions=(("legs", -1.0),)))
    assert take.scene is scene
    take.step()
