"""Scripts: acts as people write them, one a line.

    acts = parse('''
        go to crate
        lift it
        carry it to 3 1   # walks there and puts it down
    ''')
    parse("go to 2 0; turn to 90, then wait 2 s")

Capitals do not matter, '#' begins a comment, ';' and ', then' stand for a new line. 'it' is what was named last. A
place is two numbers or the name of a prop. Units (m, s, m/s, degrees) may be left out. A name is one word; `text_of`
refuses names that are not. What a scene cannot do is found by `tumble.skills.check`.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tumble.errors import UserError
from tumble.goals.wants import lines_of
from tumble.skills.acts import (
    Act,
    GoTo,
    LetGo,
    Lift,
    PickUp,
    Place,
    PullCrate,
    PushCrate,
    PutDown,
    ReachFor,
    SetPace,
    Turn,
    Wait,
)

LONGEST = 10_000  # letters of a script
MOST = 200  # acts of a script
WIDEST = 200  # letters of an act

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_WORD = r"[^\s,;#()]{1,60}"
_NAME = rf"(?:the\s+)?(?P<name>{_WORD})"
_SLOTS = {
    "PLACE": rf"(?:\(?\s*(?P<x>{_NUMBER})(?:\s*,\s*|\s+)(?P<y>{_NUMBER})\s*\)?|{_NAME})",
    "NAME": _NAME,
    "METRES": rf"(?P<number>{_NUMBER})\s*(?:m|met(?:er|re)s?)?",
    "SECONDS": rf"(?P<number>{_NUMBER})\s*(?:s|seconds?)?",
    "DEGREES": rf"(?P<number>{_NUMBER})\s*(?:degrees?|deg|°)?",
    "SPEED": rf"(?P<number>{_NUMBER})\s*(?:m/s)?",
    "it": rf"(?:the\s+)?(?P<held>{_WORD})",
}


class _Said(NamedTuple):
    """What a line says; what it does not is empty."""

    name: str
    place: Place
    number: float


class Form(NamedTuple):
    """One way to write an act.

    Attributes:
      shape: words, and what is to be filled in, in capitals.
      example: one that is filled in.
      summary: what is done, for people.
      make: the act of what was said.
    """

    shape: str
    example: str
    summary: str
    make: Callable[[_Said], Act]


FORMS = (
    Form("go to PLACE", "go to crate", "walk there and stand", lambda said: GoTo(said.place)),
    Form("turn to DEGREES", "turn to 90", "face that way from x", lambda said: Turn(math.radians(said.number))),
    Form("walk at SPEED", "walk at 0.6", "walk at most so fast from now on, m/s", lambda said: SetPace(said.number)),
    Form("wait SECONDS", "wait 2 s", "stand", lambda said: Wait(said.number)),
    Form("pick up NAME", "pick up cup", "take what has one handle with one hand", lambda said: PickUp(said.name)),
    Form("lift NAME", "lift crate", "take what has two handles with both hands", lambda said: Lift(said.name)),
    Form("carry it to PLACE", "carry it to 3 1", "walk there and put it down", lambda said: PutDown(said.place)),
    Form("put it down", "put it down", "here", lambda said: PutDown()),
    Form("put it down at PLACE", "put it down at 2 0", "carry it there", lambda said: PutDown(said.place)),
    Form("let go", "let go", "open the hands", lambda said: LetGo()),
    Form(
        "push NAME METRES", "push crate 2 m", "take it and walk ahead", lambda said: PushCrate(said.name, said.number)
    ),
    Form("pull NAME METRES", "pull crate 2 m", "take it and walk back", lambda said: PullCrate(said.name, said.number)),
)


def _pattern(shape: str) -> re.Pattern[str]:
    """What a line of that shape matches: words as they are, whatever their case, slots as `_SLOTS` has them."""
    return re.compile(r"\s+".join(_SLOTS.get(word, word) for word in shape.split()), re.IGNORECASE)


_PATTERNS = {form: _pattern(form.shape) for form in FORMS}


def parse(text: str, names: Iterable[str] = ()) -> tuple[Act, ...]:
    """The acts of a script; refuses what cannot be read, with the line.

    Args:
      text: at most `LONGEST` letters with 1 to `MOST` acts.
      names: of props. A word that is one of them but for capitals is that one; other words are left as they are.
    """
    if len(text) > LONGEST:
        raise UserError(f"a script has at most {LONGEST} letters, got {len(text)}; do it in parts")
    reader = _Reader(names)
    acts: list[Act] = []
    for number, line in lines_of(text):
        if len(acts) == MOST:
            raise UserError(f"line {number}: a script has at most {MOST} acts; do it in parts")
        try:
            acts.append(reader.read(line))
        except UserError as error:
            raise UserError(f"line {number}: {error}") from None
    if not acts:
        raise UserError(f"there is no act in this script; write some of: {_shapes()}")
    return tuple(acts)


def text_of(acts: Sequence[Act]) -> str:
    """The script of some acts, one a line: `parse` makes them again, headings within 1e-12 of themselves."""
    for act in acts:
        name = _name_of(act)
        if name is not None and not _is_name(name):
            raise UserError(f"a script cannot name '{name}'; give the prop a name that is one word, and no number")
    return "\n".join(line_of(act) for act in acts)


def line_of(act: Act) -> str:
    """An act in words."""
    match act:
        case ReachFor():
            return f"reach for {' '.join(map(_number_text, act.target))}"
        case GoTo():
            return f"go to {_place_text(act.place)}"
        case Turn():
            return f"turn to {math.degrees(act.heading):.12g}"
        case SetPace():
            return f"walk at {_number_text(act.speed)} m/s"
        case Wait():
            return f"wait {_number_text(act.seconds)} s"
        case PickUp():
            return f"pick up {act.name}"
        case Lift():
            return f"lift {act.name}"
        case PutDown(place):
            return "put it down" if place is None else f"carry it to {_place_text(place)}"
        case LetGo():
            return "let go"
        case PushCrate():
            return f"push {act.name} {_number_text(act.distance)} m"
        case PullCrate():
            return f"pull {act.name} {_number_text(act.distance)} m"


class _Reader:
    """Reads lines in order; remembers what 'it' is."""

    def __init__(self, names: Iterable[str]) -> None:
        """Read lines of a script; `names` are the props', which words may spell with other capitals."""
        self._known = {name.lower(): name for name in names}
        self._last: str | None = None  # named
        self._taken: str | None = None  # last lifted or picked up

    def read(self, line: str) -> Act:
        """The act of one line; refuses a line of no form, or longer than `WIDEST`."""
        if len(line) > WIDEST:
            raise UserError(f"an act has at most {WIDEST} letters, got {len(line)}, '{line[:20]}...'")
        line = re.sub(r"^put\s+down\b", "put it down", line, flags=re.IGNORECASE)
        for form, pattern in _PATTERNS.items():
            if found := pattern.fullmatch(line):
                act = form.make(self._said({slot: text for slot, text in found.groupdict().items() if text}))
                if isinstance(act, Lift | PickUp):
                    self._taken = act.name
                return act
        raise _unreadable(line)

    def _said(self, found: dict[str, str]) -> _Said:
        """What the slots of a form were filled with; a place is two numbers where there are two, else a name."""
        if "held" in found:
            self._check_held(found["held"])
        number = _number(found.get("number", "0"))
        if "x" in found:
            return _Said("", (_number(found["x"]), _number(found["y"])), number)
        name = self._name(found["name"]) if "name" in found else ""
        return _Said(name, name, number)

    def _name(self, word: str) -> str:
        """The name that a word stands for: 'it' is the one named last, others become what 'it' is from now on."""
        if word.lower() == "it":
            if self._last is None:
                raise UserError("nothing was named before 'it'; write its name")
            return self._last
        if not _is_name(word):
            raise UserError(f"'{word}' is no name; a place is the name of a prop or two numbers, x and y in m")
        self._last = self._known.get(word.lower(), word)
        return self._last

    def _check_held(self, word: str) -> None:
        """What is put down is what is held: 'it', or what this script took last."""
        if word.lower() not in ("it", (self._taken or "").lower()):
            took = f"takes '{self._taken}' last" if self._taken else f"does not take '{word}'"
            raise UserError(f"before this line the script {took}; lift or pick up '{word}' first, or write 'it'")


def _unreadable(line: str) -> UserError:
    """The error for a line of no form: the forms that begin like it, or all of them."""
    first = line.split()[0].lower()
    alike = [form for form in FORMS if form.shape.split()[0] == first]
    if alike:
        shapes = " or ".join(f"'{form.shape}'" for form in alike)
        return UserError(f"cannot read '{line}'; write {shapes}, such as '{alike[0].example}'")
    near = difflib.get_close_matches(first, [form.shape.split()[0] for form in FORMS], n=1)
    meant = [form.shape for form in FORMS if form.shape.split()[0] in near]
    hint = f" (did you mean '{meant[0]}'?)" if meant else ""
    return UserError(f"no act '{line}'; there are: {_shapes()}{hint}")


def _shapes() -> str:
    """All forms, for messages."""
    return ", ".join(form.shape for form in FORMS)


def _number(text: str) -> float:
    """A number as it was written; refuses what is infinite as a float."""
    value = float(text)
    if not math.isfinite(value):
        raise UserError(f"'{text}' is too large for a number")
    return value


def _is_name(word: str) -> bool:
    """Whether a word can name a prop: no number, and neither 'it' nor 'the'."""
    number = re.fullmatch(_NUMBER, word, re.IGNORECASE)
    return bool(re.fullmatch(_WORD, word)) and not number and word.lower() not in ("it", "the")


def _name_of(act: Act) -> str | None:
    """The prop that an act names; None where it names none."""
    match act:
        case PickUp() | Lift() | PushCrate() | PullCrate():
            return act.name
        case GoTo(str(place)) | PutDown(str(place)):
            return place
    return None


def _place_text(place: Place) -> str:
    """A place as a script has it."""
    return place if isinstance(place, str) else " ".join(_number_text(value) for value in place)


def _number_text(value: float) -> str:
    """The shortest text that is read as the same number."""
    return repr(float(value)).removesuffix(".0")
