"""Scripts in the studio: trials that are told what to do, and hints. The walker only pretends (`doing`)."""

import json
from unittest.mock import Mock

import pytest

from tumble.errors import UserError
from tumble.goals.wants import Do, Go, Juggle, Together
from tumble.live.recording import Recorder
from tumble.skills.acts import GoTo, Lift, PickUp, PushCrate, PutDown, Wait
from tumble.studio.choice import Choice
from tumble.studio.director import STROLL, Director
from tumble.studio.requests import Point, decode
from tumble.studio.stage import Stage

OWN = (GoTo((0.5, 0.0)), Wait(1.0))  # what the scenario wants


@pytest.fixture
def hand(doers, crates) -> Director:
    hand = Director(Choice(crates, "biped", "walker").trial(1))
    hand.trial.step()
    return hand


def test_a_scenario_may_want_a_script(hand):
    assert hand.trial.controller.given == [OWN]
    assert hand.trial.session.wanted == Do("go to 0.5 0\nwait 1 s")
    assert (hand.goal, hand.velocity, hand.target, hand.weights) == ("do", None, None, {})
    assert "do" in hand.goals
    hand.trial.step()
    assert hand.trial.controller.given == [OWN]


def test_people_send_scripts_of_which_the_last_counts(hand):
    hand.send(Do("lift CRATE"))
    hand.send(Do("go to cup"))
    assert hand.trial.step().commands == (Do("go to cup"),)
    assert hand.trial.controller.given == [OWN, (GoTo("cup"),)]
    assert hand.trial.controller.report().doing == "go to cup"


def test_a_way_ends_a_script_and_a_style_does_not(hand):
    hand.send(Go(style="happy"))
    hand.send(Do("lift crate"))
    hand.send(Go(bend=0.1))
    hand.trial.step()
    assert hand.trial.session.wanted == Together((Do("lift crate"), Go(style="happy", bend=0.1)))
    assert hand.trial.controller.report().doing == "lift crate"
    hand.send(Go(style="lean"))
    hand.trial.step()
    assert hand.trial.controller.report().doing == "lift crate" and hand.goal == "do"
    hand.steer(1.0, 0.0)
    assert hand.goal == "go"
    assert hand.trial.step().commands == (Go(speed=STROLL, heading=0.0),)
    assert hand.trial.session.wanted == Go(speed=STROLL, heading=0.0, style="lean", bend=0.1)
    assert hand.trial.controller.report().doing == ""
    hand.send(Do("lift crate"))
    hand.send(Go(speed=0.0))  # before it began
    hand.trial.step()
    assert hand.trial.session.wanted == Go(speed=0.0, style="lean", bend=0.1)
    assert hand.trial.controller.report().doing == ""


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (Do("lfit crate"), "line 1: no act 'lfit crate'"),
        (Do("lift block"), "act 1, 'lift block': 'block' weighs 80 kg"),
        (Juggle(), "a walker does not juggle"),
    ],
)
def test_what_cannot_be_done_is_refused_and_all_goes_on(hand, command, message):
    with pytest.raises(UserError, match=message):
        hand.send(command)
    assert hand.trial.session.asked == Do("go to 0.5 0\nwait 1 s")
    assert hand.trial.step().commands == ()


@pytest.mark.parametrize(
    ("choice", "why"),
    [
        (Choice("stand"), "planners do no scripts"),
        (Choice("simbicon-humanoid", "biped34", "simbicon"), "does not do and go"),
    ],
    ids=["cpbp", "simbicon"],
)
def test_controllers_that_do_no_scripts_say_so(choice, why):
    hand = Director(choice.trial(1))
    with pytest.raises(UserError, match=f"{why}; controllers that take it: walker, relay"):
        hand.send(Do("go to 1 0"))
    if hand.trial.controller.takes != (Go,):  # who only goes is told to go
        with pytest.raises(UserError, match=f"{why}; controllers that take it: walker, relay"):
            hand.point((1.0, 0.0, 0.0), None)


def test_controllers_that_do_no_scripts_are_not_made_for_one(crates):
    for controller in ("cpbp", "cem"):
        with pytest.raises(UserError, match="planners do no scripts; controllers that take it: walker, relay"):
            Choice(crates, "biped", controller).trial(1)


def test_a_hint_becomes_a_script(hand):
    for body, act in (
        (None, GoTo((1.0, -1.0))), ("crate", Lift("crate")), ("cup", PickUp("cup")), ("block", PushCrate("block", 1.0)),
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


def test_a_script_is_wanted_still_after_a_return_to_the_past(hand):
    state, time = hand.trial.session.world.state[0].copy(), hand.trial.time
    hand.send(Go(style="happy"), Do("lift crate"))
    hand.trial.step()
    hand.trial.rewind(hand.trial.scene, state, time)
    assert hand.trial.session.wanted == Together((Do("lift crate"), Go(style="happy")))
    hand.trial.step()
    assert hand.trial.controller.report().doing == "lift crate"


def test_a_script_goes_on_where_the_set_changes(hand, doers):
    hand.throw((0.0, 5.0, 1.0), (0.0, 0.0, 0.0), 5.0)
    hand.trial.step()
    assert len(doers) == 1 and doers[0].given == [OWN]  # and did not begin again
    hand.send(Do("go to crate"))
    hand.throw((0.0, 5.0, 1.0), (0.0, 0.0, 0.0), 50.0)
    hand.trial.step()
    assert doers[0].given == [OWN, (GoTo("crate"),)]


def test_panels_look_again_when_another_act_begins(doers, crates):
    audience = Mock()
    stage = Stage(Choice(crates, "biped", "walker"), audience, 1)
    stage._step()
    assert audience.changed.call_count == 0  # the scenario's own script began with the trial
    stage._step()
    assert audience.changed.call_count == 0
    stage.trial.controller._doing = "wait 1 s"
    stage._step()
    stage.director.send(Do("lift crate"))
    stage._step()
    assert audience.changed.call_count == 1
    stage.close()


def test_a_script_is_recorded_and_replays(hand):
    recorder = Recorder(hand.trial.session, "crates", "walker", 0)
    hand.send(Do("lift crate"))
    for _ in range(3):
        hand.trial.step()
    (part,) = recorder.recording.parts
    assert [timed.command for timed in part.about.commands] == [Do("lift crate")]
    assert recorder.recording.first_difference() is None


def test_requests_of_browsers():
    assert decode('{"type": "point", "at": [1, 2, 3], "body": null}') == Point((1.0, 2.0, 3.0))
    assert decode('{"type": "point", "at": [1, 2, 3], "body": "cup"}') == Point((1.0, 2.0, 3.0), "cup")
    assert decode(json.dumps({"type": "do", "script": "let go"})) == Do("let go")
    with pytest.raises(UserError, match="not a request"):
        decode('{"type": "point", "body": "cup"}')
