"""Scripts: what people write becomes acts, and acts become what people write."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tumble.errors import UserError
from tumble.skills.acts import GoTo, LetGo, Lift, PickUp, PullCrate, PushCrate, PutDown, SetPace, Turn, Wait
from tumble.skills.script import FORMS, LONGEST, MOST, parse, text_of

WHOLE = """
# all there is
go to crate
Lift IT
carry it to 3 1        # walks there
pick up the cup
put it down
put down at 2 0
put the cup down at table
LET GO
push crate 2 m
pull it 1.5
turn to 90
walk at 0.6 m/s

wait 2 s
"""


def test_every_form():
    assert parse(WHOLE) == (
        GoTo("crate"), Lift("crate"), PutDown((3.0, 1.0)), PickUp("cup"), PutDown(), PutDown((2.0, 0.0)),
        PutDown("table"), LetGo(), PushCrate("crate", 2.0), PullCrate("crate", 1.5), Turn(math.pi / 2), SetPace(0.6),
        Wait(2.0),
    )  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.shape)
def test_examples_can_be_read(form):
    assert parse(form.example)
    assert form.example.split()[0] == form.shape.split()[0]


@pytest.mark.parametrize(
    "text",
    [
        "go to (2, -1.5); turn to 90 degrees; wait .5 seconds; push crate 2 metres",
        "go to 2 -1.5\nturn to 90°\nwait 0.5s\npush crate 2m",
        "go to 2, -1.5, then turn to +90, THEN wait 5e-1; ;push the crate 2 meters;",
    ],
)
def test_one_script_in_many_ways(text):
    assert parse(text) == (GoTo((2.0, -1.5)), Turn(math.pi / 2), Wait(0.5), PushCrate("crate", 2.0))


def test_it_is_what_was_named_last():
    assert parse("go to crate; go to table; push it 1 m")[2] == PushCrate("table", 1.0)
    assert parse("lift crate; go to table; carry crate to 3 1")[2] == PutDown((3.0, 1.0))  # what was taken last


def test_capitals_of_known_names_are_found():
    assert parse("lift CRATE; go to Table", ["Crate"]) == (Lift("Crate"), GoTo("Table"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "go to crate\n\nlfit crate",
            r"^line 3: no act 'lfit crate'; there are: go to PLACE, .*did you mean 'lift NAME'",
        ),
        ("frobnicate", r"^line 1: no act 'frobnicate'; there are: .*pull NAME METRES$"),
        ("push crate", r"^line 1: cannot read 'push crate'; write 'push NAME METRES', such as 'push crate 2 m'$"),
        ("push crate 2 km", "cannot read 'push crate 2 km'"),
        ("put crate", "write 'put it down' or 'put it down at PLACE'"),
        ("go to big crate", "cannot read 'go to big crate'; write 'go to PLACE'"),
        ("go to 3", r"'3' is no name; a place is the name of a prop or two numbers, x and y in m"),
        ("go to the", "'the' is no name"),
        ("push it 2 m", "nothing was named before 'it'"),
        ("lift crate; put the cup down", r"takes 'crate' last; lift or pick up 'cup' first, or write 'it'"),
        ("carry cup to 3 1", "the script does not take 'cup'"),
        ("wait 1e999 s", "'1e999' is too large for a number"),
        ("wait nan", "cannot read 'wait nan'"),
        ("walk at inf", "cannot read 'walk at inf'"),
        ("# nothing", "there is no act in this script; write some of: go to PLACE"),
        ("", "there is no act in this script"),
        ("wait 1\n" * (MOST + 1), f"^line {MOST + 1}: a script has at most {MOST} acts"),
        ("1" * (LONGEST + 1), f"a script has at most {LONGEST} letters, got {LONGEST + 1}"),
        ("go to " + "1" * (LONGEST - 10), r"^line 1: an act has at most 200 letters, got 9996, 'go to 1"),
    ],
)
def test_what_cannot_be_read(text, message):
    with pytest.raises(UserError, match=message) as caught:
        parse(text)
    assert len(str(caught.value)) < 500


numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.from_regex(r"[A-Za-zäöé_][\w.-]{0,12}", fullmatch=True)
names = words.filter(lambda word: word.lower() not in ("it", "the"))
places = st.tuples(numbers, numbers) | names
written = st.one_of(
    st.builds(GoTo, places), st.builds(SetPace, numbers), st.builds(Wait, numbers), st.builds(PickUp, names),
    st.builds(Lift, names), st.builds(PutDown, places | st.none()), st.builds(LetGo),
    st.builds(PushCrate, names, numbers), st.builds(PullCrate, names, numbers),
)  # fmt: skip


@given(st.lists(written, min_size=1, max_size=20))
def test_what_is_written_is_read_again(acts):
    assert parse(text_of(acts)) == tuple(acts)


@given(st.floats(-1e3, 1e3))
def test_headings_are_read_again(heading):
    (turn,) = parse(text_of([Turn(heading)]))
    assert turn.heading == pytest.approx(heading, rel=1e-11, abs=1e-300)
    assert text_of([turn]) == text_of([Turn(heading)])


@given(st.text(max_size=200) | st.lists(st.sampled_from([*WHOLE.split(), ";", "\n", ", then"])).map(" ".join))
def test_any_text_is_acts_or_an_error(text):
    try:
        acts = parse(text)
    except UserError:
        return
    assert text_of(parse(text_of(acts))) == text_of(acts)


@pytest.mark.parametrize("name", ["big crate", "it", "The", "3", "-1e5", "a;b", "", "a#b"])
def test_names_that_cannot_be_written(name):
    with pytest.raises(UserError, match="a script cannot name"):
        text_of([Lift(name)])
