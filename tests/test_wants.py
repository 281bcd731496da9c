"""Wants: JSON there and back, what is refused before anybody is asked, and the algebra of what stays wanted."""

import json
import math
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tumble.errors import UserError
from tumble.goals.wants import (
    MANNER,
    WANTS,
    WAY,
    Balance,
    Do,
    Go,
    Juggle,
    Meet,
    Reach,
    StayOn,
    Together,
    Want,
    kept,
    name_of,
    part,
    parts,
    together,
)
from tumble.live.commands import decode

EVERY = [
    Balance(),
    Balance(facing=(0.0, -1.0), pose="ready", roll=True),
    Balance(roll=False),
    Reach((0.5, 0.3, 1.4)),
    Reach((0.5, 0.3, 1.4), hand="right"),
    Go(),
    Go(speed=0.0),
    Go(speed=-0.8, heading=1.57, style="happy", period=0.5),
    Go(target=(3.0, -1.0, 0.0), step_height=0.1, step_width=0.05, bend=-0.1, crouch=0.2),
    StayOn(),
    StayOn("big"),
    Juggle(),
    Juggle("small"),
    Do("go to 0.5 0\nwait 1 s"),
    Meet("gait"),
    Meet("steer", {"velocity": [1.0, 0.5]}),
    Together((StayOn(), Reach((0.5, 0.0, 2.0)))),
    Together((Do("wait 1 s"), Go(style="happy"))),
]


def test_every_kind_is_here():
    assert {type(want) for want in EVERY} == set(WANTS)
    assert set(Go.__struct_fields__) == {*MANNER, *WAY}


@pytest.mark.parametrize("want", EVERY, ids=str)
def test_json_and_back(want):
    want.check()
    text = msgspec.json.encode(want)
    assert msgspec.json.decode(text, type=Want) == want
    assert decode(text) == want  # as a command of a session
    plain = json.loads(text)
    assert plain["type"] == type(want).__name__.lower()
    assert None not in plain.values()  # what is not given is not said
    assert msgspec.convert(plain, type=Want) == want


def test_what_json_looks_like():
    assert msgspec.json.encode(Go(speed=0.8)) == b'{"type":"go","speed":0.8}'
    assert msgspec.json.encode(Balance()) == b'{"type":"balance"}'
    assert decode('{"type": "together", "wants": [{"type": "stayon"}, {"type": "reach", "target": [1, 2, 3]}]}') == (
        Together((StayOn(), Reach((1.0, 2.0, 3.0))))
    )


STRANGE = [
    ("", "truncated"),
    ("[]", "Expected `object`, got `array`"),
    ("null", "Expected `object`, got `null`"),
    ("{}", "missing required field `type`"),
    ('{"type": "fly"}', "Invalid value 'fly'"),
    ('{"type": "setgoal", "goal": "balance"}', "Invalid value 'setgoal'"),
    ('{"type": "walk", "speed": 1}', "Invalid value 'walk'"),
    ('{"type": "reach"}', "missing required field `target`"),
    ('{"type": "reach", "target": [1, 2]}', "Expected `array` of length 3"),
    ('{"type": "reach", "target": [1, 2, "3"]}', "Expected `float`, got `str`"),
    ('{"type": "reach", "target": [1, 2, 3], "hand": 1}', "Expected `str`, got `int`"),
    ('{"type": "go", "velocity": [1, 0]}', "Object contains unknown field `velocity`"),
    ('{"type": "go", "speed": "fast"}', "Expected `float | null`, got `str`"),
    ('{"type": "balance", "roll": 1}', "Expected `bool | null`, got `int`"),
    ('{"type": "do"}', "missing required field `script`"),
    ('{"type": "meet", "goal": "gait", "options": []}', "Expected `object`, got `array`"),
    ('{"type": "together", "wants": [{"type": "push", "body": "torso", "force": [1, 0, 0]}]}', "Invalid value 'push'"),
    ('{"type": "together", "wants": [{"type": "together", "wants": []}]}', "Invalid value 'together'"),
    (b"\xff", "not a command"),
]


@pytest.mark.parametrize(("text", "message"), STRANGE, ids=[str(text)[:60] for text, _ in STRANGE])
def test_strange_json_is_refused_with_a_sentence(text, message):
    with pytest.raises(UserError, match=r"^not a command: ") as error:
        decode(text)
    assert message in str(error.value)


NAN, INF = float("nan"), float("inf")
BAD = [
    (Balance(facing=(NAN, 0.0)), "facing must be 2 numbers within 1e+06 m, got (nan, 0.0)"),
    (Balance(facing=(1e7, 0.0)), "facing must be 2 numbers within 1e+06 m, got (10000000.0, 0.0)"),
    (Reach((0.0, INF, 0.0)), "target must be 3 numbers within 1e+06 m, got (0.0, inf, 0.0)"),
    (Reach((0.0, 0.0)), "target must be 3 numbers within 1e+06 m, got (0.0, 0.0)"),
    (Reach((0.0, 0.0, 1.0), hand="lft"), "no hand 'lft'; there are: left, right (did you mean 'left'?)"),
    (Go(speed=NAN), "speed must be a number -1e+06 or more and at most 1e+06, got nan"),
    (Go(heading=-INF), "heading must be a number -1e+06 or more and at most 1e+06, got -inf"),
    (Go(crouch=1e9), "crouch must be a number -1e+06 or more and at most 1e+06, got 1e+09"),
    (Go(target=(NAN, 0.0, 0.0)), "target must be 3 numbers within 1e+06 m, got (nan, 0.0, 0.0)"),
    (Go(target=(1.0, 0.0, 0.0), speed=1.0), "to go takes a target, or a speed and a heading, and not both"),
    (Together(()), "together are 1 to 7 wants, got 0"),
    (Together(8 * (Balance(),)), "together are 1 to 7 wants, got 8"),
    (
        Together((Reach((0.0, 0.5, 1.0)), Reach((0.0, -0.5, 1.0), hand="right"))),
        "together are wants of different kinds, got: reach and reach",
    ),
    (Together((StayOn(), Go(speed=NAN))), "speed must be a number -1e+06 or more"),
]


@pytest.mark.parametrize(("want", "message"), BAD, ids=[f"{message[:40]} {i}" for i, (_, message) in enumerate(BAD)])
def test_bad_wants(want, message):
    with pytest.raises(UserError, match=re.escape(message)):
        want.check()


# Parts ----------------------------------------------------------------------------------------------


def test_parts_and_names():
    go, reach = Go(speed=1.0), Reach((0.0, 0.0, 1.0))
    assert parts(go) == (go,) and parts(Together((reach, go))) == (reach, go)
    assert part(Together((reach, go)), Go) == go and part(go, Reach) is None and part(None, Go) is None
    assert together(go) == go and together(reach, go) == Together((reach, go))
    assert name_of(go) == "go" and name_of(Together((StayOn(), reach))) == "stay on a ball and reach"


@pytest.mark.parametrize(("speed", "heading"), [(0.8, 0.0), (-1.5, 2.0), (1.0, -0.7), (None, 1.0), (2.0, None)])
def test_velocity_is_speed_along_the_heading(speed, heading):
    x, y = Go(speed=speed, heading=heading).velocity
    assert math.hypot(x, y) == pytest.approx(abs(speed or 0))
    assert (x, y) == pytest.approx(((speed or 0) * math.cos(heading or 0), (speed or 0) * math.sin(heading or 0)))


# What stays wanted ----------------------------------------------------------------------------------

FAST, WEST, HAPPY = Go(speed=1.5), Go(heading=math.pi), Go(style="happy")
THERE, SCRIPT, POINT = Go(target=(3.0, 1.0, 0.0)), Do("wait 1 s"), Reach((0.5, 0.0, 1.0))
KEPT = [  # what was, what came, what is
    (None, FAST, FAST),
    (None, HAPPY, HAPPY),
    (None, SCRIPT, SCRIPT),
    (FAST, WEST, Go(speed=1.5, heading=math.pi)),  # what it does not speak of stays as it was
    (WEST, FAST, Go(speed=1.5, heading=math.pi)),
    (FAST, Go(speed=0.5), Go(speed=0.5)),
    (FAST, HAPPY, Go(speed=1.5, style="happy")),  # a manner goes along with a way
    (HAPPY, FAST, Go(speed=1.5, style="happy")),
    (Go(style="happy", bend=0.1), Go(bend=0.2, crouch=0.3), Go(style="happy", bend=0.2, crouch=0.3)),
    (FAST, THERE, THERE),  # a target takes the place of a speed and a heading
    (THERE, FAST, FAST),  # and the other way round
    (THERE, HAPPY, Go(target=(3.0, 1.0, 0.0), style="happy")),
    (Go(target=(1.0, 0.0, 0.0), style="happy"), THERE, Go(target=(3.0, 1.0, 0.0), style="happy")),
    (Go(speed=1.5, style="happy"), THERE, Go(target=(3.0, 1.0, 0.0), style="happy")),
    (SCRIPT, HAPPY, Together((SCRIPT, HAPPY))),  # a manner goes along with a script
    (Together((SCRIPT, HAPPY)), Go(bend=0.1), Together((SCRIPT, Go(style="happy", bend=0.1)))),
    (Together((SCRIPT, HAPPY)), Do("stand"), Together((Do("stand"), HAPPY))),
    (Go(speed=1.5, style="happy"), SCRIPT, Together((SCRIPT, HAPPY))),  # a script ends the way, not the manner
    (FAST, SCRIPT, SCRIPT),
    (SCRIPT, FAST, FAST),  # a way ends a script
    (Together((SCRIPT, HAPPY)), FAST, Go(speed=1.5, style="happy")),
    (SCRIPT, THERE, THERE),
    (POINT, HAPPY, Together((POINT, HAPPY))),  # or with a reach that goes on
    (Together((POINT, FAST)), HAPPY, Together((POINT, Go(speed=1.5, style="happy")))),
    (POINT, FAST, FAST),
    (Balance(), Go(), Balance()),  # nothing said, nothing changed
    (FAST, Balance(), Balance()),  # everything else takes the place of what was
    (Go(speed=1.5, style="happy"), POINT, POINT),
    (SCRIPT, StayOn(), StayOn()),
    (Together((StayOn(), POINT)), Juggle(), Juggle()),
    (Balance(pose="ready"), Balance(roll=True), Balance(roll=True)),
    (FAST, Together((StayOn(), POINT)), Together((StayOn(), POINT))),
]


@pytest.mark.parametrize(("old", "new", "now"), KEPT, ids=[str(i) for i in range(len(KEPT))])
def test_what_is_wanted_after_something_new_came(old, new, now):
    assert kept(old, new) == now


numbers = st.floats(-10, 10)
points = st.tuples(numbers, numbers, numbers)
manners = {
    **dict.fromkeys(MANNER, numbers),
    **{name: st.sampled_from(["happy", "sad"]) for name in ("style", "other")},
    "mix": st.floats(0.0, 1.0),
}
ways = st.one_of(
    st.just({}),
    st.fixed_dictionaries({}, optional={"speed": numbers, "heading": numbers}),
    st.fixed_dictionaries({"target": points}),
)
goes = st.builds(lambda way, manner: Go(**way, **manner), ways, st.fixed_dictionaries({}, optional=manners))
others = st.one_of(
    st.builds(Balance, pose=st.none() | st.just("ready")),
    st.builds(Reach, points, st.sampled_from(["left", "right"])),
    st.builds(StayOn),
    st.builds(Juggle),
    st.builds(Do, st.sampled_from(["wait 1 s", "stand"])),
    st.builds(Meet, st.just("gait")),
)
singles = goes | others
several = st.lists(singles, min_size=1, max_size=7, unique_by=type).map(lambda some: Together(tuple(some)))
wants = singles | several


def manner_of(want: Want | None) -> dict:
    go = part(want, Go)
    return {} if go is None else {name: value for name, value in go.given.items() if name in MANNER}


def besides(want: Want) -> list:
    """What is wanted beside going."""
    return [one for one in parts(want) if not isinstance(one, Go)]


def way_of(want: Want | None) -> dict:
    go = part(want, Go)
    return {} if go is None else {name: value for name, value in go.given.items() if name in WAY}


@given(goes)
def test_wanting_the_same_again_is_nothing_new(go):
    assert kept(go, go) == go


@given(wants, goes)
def test_saying_it_twice_is_saying_it_once(old, new):
    assert kept(kept(old, new), new) == kept(old, new)


@given(st.none() | wants, wants)
def test_what_is_wanted_can_be_checked_and_travels(old, new):
    now = kept(old, new)
    now.check()
    assert msgspec.json.decode(msgspec.json.encode(now), type=Want) == now


@given(wants, goes)
def test_what_is_said_of_going_holds_and_manners_stay(old, new):
    now = kept(old, new)
    assert way_of(now) | way_of(new) == way_of(now)
    assert manner_of(now) == manner_of(old) | manner_of(new)
    if way_of(new):
        assert isinstance(now, Go)  # a way ends whatever went on
    else:
        assert way_of(now) == way_of(old)
        assert besides(now) == besides(old)


@given(wants, st.builds(Go, speed=st.none() | numbers, heading=st.none() | numbers), st.builds(Go, target=points))
def test_a_target_and_a_speed_are_never_wanted_at_once(old, moving, there):
    for one, two in ((moving, there), (there, moving)):
        way = way_of(kept(kept(old, one), two))
        assert "target" not in way or not ({"speed", "heading"} & set(way))


@given(wants, others)
def test_what_is_not_going_takes_the_place_of_what_was(old, new):
    now = kept(old, new)
    assert now == new or (isinstance(new, Do) and now == Together((new, Go(**manner_of(old)))))


@given(wants, goes, goes)
def test_manners_come_in_any_order(old, one, two):
    """Manners about different things: who speaks first does not matter."""
    one, two = Go(**{k: v for k, v in manner_of(one).items() if k not in manner_of(two)}), Go(**manner_of(two))
    assert kept(kept(old, one), two) == kept(kept(old, two), one)
