"""Scripts in the studio: takes that are told what to do, and hints. The walker only pretends (`doing`)."""

import json
from unittest.mock import Mock

import pytest

from tumble.errors import UserError
from tumble.live.commands import Do, SetGoal, Walk
from tumble.live.recording import Recorder
from tumble.scenarios import SCENARIOS
from tumble.skills.acts import Go, Lift, PickUp, PushCrate, PutDown, Wait
from tumble.studio.requests import Point, decode
from tumble.studio.stage import Stage
from tumble.studio.trial import STROLL, Choice, StudioTrial

OWN = (Go((0.5, 0.0)), Wait(1.0))  # what the scenario wants


@pytest.fixture
def hand(doers, crates) -> Director:
    hand = directed(Choice(crates, "biped", "walker"), 1)
    hand.trial.step()
    return hand


def test_a_scenario_may_want_a_script(hand):
    assert hand.trial.controller.given == [OWN]
    assert hand.script == Do("go to 0.5 0\nwait 1 s")
    assert (hand.trial.session.asked, hand.goal, hand.velocity, hand.target, hand.weights) == (Walk(), "walk", None, None, {})
    hand.trial.step()
    assert hand.trial.controller.given == [OWN]


def test_people_send_scripts_of_which_the_last_counts(hand):
    hand.send(Do("lift CRATE"))
    hand.send(Do("go to cup"))
    assert hand.trial.step().commands == (Do("go to cup"),)
    assert hand.trial.controller.given == [OWN, (Go("cup"),)]
    assert hand.trial.controller.doing == "go to cup"


def test_a_way_ends_a_script_and_a_style_does_not(hand):
    hand.send(Walk(style="happy"))
    hand.send(Do("lift crate"))
    hand.send(Walk(bend=0.1))
    assert hand.trial.step().commands == (Walk(style="happy", bend=0.1), Do("lift crate"))
    assert hand.trial.controller.doing == "lift crate"
    hand.send(Walk(style="lean"))
    hand.trial.step()
    assert hand.script is not None and hand.trial.controller.doing == "lift crate"
    hand.steer(1.0, 0.0)
    assert hand.script is None
    assert hand.trial.step().commands == (Walk(speed=STROLL, heading=0.0, style="lean", bend=0.1),)
    assert hand.trial.controller.doing == ""
    hand.send(Do("lift crate"))
    hand.send(Walk(speed=0.0))  # before it began
    assert hand.trial.step().commands == (Walk(speed=0.0, style="lean", bend=0.1),)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (Do("lfit crate"), "line 1: no act 'lfit crate'"),
        (Do("lift block"), "act 1, 'lift block': 'block' weighs 80 kg"),
        (Balance(), "Doer takes no goal"),
    ],
)
def test_what_cannot_be_done_is_refused_and_all_goes_on(hand, command, message):
    with pytest.raises(UserError, match=message):
        hand.send(command)
    assert hand.script == Do("go to 0.5 0\nwait 1 s")
    assert hand.trial.step().commands == ()


@pytest.mark.parametrize("scenario", ["stand", "simbicon-humanoid"])
def test_controllers_that_do_no_scripts_say_so(scenario):
    hand = directed(Choice(scenario, SCENARIOS[scenario].character, SCENARIOS[scenario].controller), 1)
    with pytest.raises(UserError, match="does no scripts; choose the controller 'walker'"):
        hand.send(Do("go to 1 0"))
    with pytest.raises(UserError, match="does no scripts; choose the controller 'walker'"):
        hand.point((1.0, 0.0, 0.0), None)


def test_controllers_that_do_no_scripts_are_not_made_for_one(crates):
    with pytest.raises(UserError, match="controller 'cpbp' plans for goals, and this wants a script; choose 'walker'"):
        directed(Choice(crates, "biped", "cpbp"), 1)
    with pytest.raises(UserError, match="controller 'simbicon' takes wishes, and this wants a script; choose: walker"):
        directed(Choice(crates, "biped", "simbicon"), 1)


def test_a_hint_becomes_a_script(hand):
    for body, act in (
        (None, Go((1.0, -1.0))), ("crate", Lift("crate")), ("cup", PickUp("cup")), ("block", PushCrate("block", 1.0)),
    ):  # fmt: skip
        hand.point((1.0, -1.0, 0.1), body)
        hand.trial.step()
        assert hand.trial.controller.given[-1] == (act,)
    hand.trial.controller.hold(hand.trial.session.world, 0, 0, 0)
    hand.trial.controller.hold(hand.trial.session.world, 0, 1, 3)
    hand.point((1.0, -1.0, 0.1), None)
    hand.trial.step()
    assert hand.trial.controller.given[-1] == (PutDown((1.0, -1.0)),)
    with pytest.raises(UserError, match="'torso' is a part of the character"):
        hand.point((0.0, 0.0, 1.0), "torso")
    with pytest.raises(UserError, match="'head' is a part of the character"):
        hand.point((float("nan"), 0.0, 1.0), "head")
    with pytest.raises(UserError, match="too far"):
        hand.point((1e6, 0.0, 1.0), None)


def test_a_return_to_the_past_ends_a_script(hand):
    state, time = hand.trial.session.world.state[0].copy(), hand.trial.time
    hand.send(Walk(style="happy"), Do("lift crate"))
    hand.trial.step()
    hand.trial.rewind(hand.trial.scene, state, time)
    assert hand.script is None
    assert hand.trial.step().commands == (Walk(speed=0.0, style="happy"),)
    assert hand.trial.controller.doing == ""


def test_a_rebuilt_scene_ends_a_script_that_has_begun(hand, doers):
    hand.throw((0.0, 5.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    assert hand.script is None
    hand.trial.step()
    assert (doers[1].given, doers[1].doing) == ([], "")
    hand.send(Do("go to crate"))
    hand.throw((0.0, 5.0, 1.0), (0.0, 0.0, 0.0), 50.0)
    hand.trial.step()
    assert doers[2].given == [(Go("crate"),)]


def test_panels_look_again_when_another_act_begins(doers, crates):
    audience = Mock()
    stage = Stage(Choice(crates, "biped", "walker"), audience, 1)
    stage._step()  # the scenario's own script begins
    assert audience.changed.call_count == 1
    stage._step()
    assert audience.changed.call_count == 1
    stage.trial.controller.report().doing = "wait 1 s"
    stage._step()
    stage.director.send(Do("lift crate"))
    stage._step()
    assert audience.changed.call_count == 2
    stage.close()


def test_a_script_is_recorded_and_replays(hand):
    recorder = Recorder(hand.trial.session, "crates", "walker", 0)
    hand.send(Do("lift crate"))
    for _ in range(3):
        hand.trial.step()
    assert [timed.command for timed in recorder.recording.header.commands] == [Do("lift crate")]
    assert recorder.recording.first_difference() is None


def test_requests_of_browsers():
    assert decode('{"type": "point", "at": [1, 2, 3], "body": null}') == Point((1.0, 2.0, 3.0))
    assert decode('{"type": "point", "at": [1, 2, 3], "body": "cup"}') == Point((1.0, 2.0, 3.0), "cup")
    assert decode(json.dumps({"type": "do", "script": "let go"})) == Do("let go")
    with pytest.raises(UserError, match="not a request"):
        decode('{"type": "point", "body": "cup"}')
