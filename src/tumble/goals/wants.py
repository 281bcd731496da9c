"""Wants: what a person or a script asks a character for, as plain data that travels as JSON.

    Go(speed=0.8, heading=1.57, style="happy")
    Reach((0.5, 0.3, 1.4), hand="right")
    Together((StayOn("ball"), Reach((0.5, 0, 2.0))))
    kept(Go(speed=0.8, style="happy"), Go(heading=1.57))   # what is not given stays as it was

A want says nothing of how. Planners judge by it (`tumble.goals.judging`), walkers follow it; a controller says what it
cannot do (`Controller.refuses`).
"""

import math
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from tumble.errors import UserError, check_number, check_vector, choose

Vector: TypeAlias = tuple[float, float, float]

WORLD = 1e6  # beyond which no number of a want makes sense
SIDES = ("left", "right")
# of `Go`: how, and not where
MANNER = ("style", "other", "mix", "period", "step_height", "step_width", "bend", "crouch")
WAY = ("speed", "heading", "target")


class _Want(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag=str.lower):
    def check(self) -> None:
        """Refuse what no character could do, before anybody is asked."""


class Balance(_Want, frozen=True):
    """Stay up and at rest, or get there."""

    facing: tuple[float, float] | None = None  # horizontal direction to look into
    pose: str | None = None  # one of the character's, to stand in
    roll: bool | None = None  # who lies on the back may roll over first: for planners of whole plans

    def check(self) -> None:
        if self.facing is not None:
            check_vector("facing", self.facing, 2, WORLD, "m")


class Reach(_Want, frozen=True):
    """Stay up and bring a hand to a point, m."""

    target: Vector
    hand: str = "left"

    def check(self) -> None:
        check_vector("target", self.target, 3, WORLD, "m")
        choose("hand", self.hand, dict.fromkeys(SIDES))


class Go(_Want, frozen=True):
    """Go at a speed along a heading, or to a place, in a manner; what is not given stays as it was.

    A heading with a place is where one faces there; only policies of tasks do both.

    Styles are the controller's: those of a walker ('happy'), gaits, or the ways in which planners judge going ('steer',
    'turbo', 'gait'). Gaits mix: Go(style="walk", other="sad", mix=0.3) is three tenths sad, a mix of 0 the style alone.
    """

    speed: float | None = None  # m/s along the heading, negative goes backwards
    heading: float | None = None  # rad from the world's x axis
    target: Vector | None = None  # m, instead of a speed
    style: str | None = None
    other: str | None = None  # a second style
    mix: float | None = None  # share of the second, 0 to 1
    period: float | None = None  # s a step
    step_height: float | None = None  # m
    step_width: float | None = None  # m
    bend: float | None = None  # rad, of the trunk forwards
    crouch: float | None = None  # rad, of the stance knees

    @property
    def given(self) -> dict[str, Any]:
        """What is given, by name."""
        return {name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not None}

    @property
    def velocity(self) -> tuple[float, float]:
        """m/s in the world; (0, 0) where no speed is given."""
        speed, heading = self.speed or 0.0, self.heading or 0.0
        return speed * math.cos(heading), speed * math.sin(heading)

    def check(self) -> None:
        if self.target is not None and self.speed is not None:
            raise UserError("to go takes a target, or a speed and a heading, and not both")
        if self.target is not None:
            check_vector("target", self.target, 3, WORLD, "m")
        for name, value in self.given.items():
            if name not in ("style", "other", "target"):
                check_number(name, value, *((0.0, 1.0) if name == "mix" else (-WORLD, WORLD)))


class StayOn(_Want, frozen=True):
    """Stay up on top of a ball, or climb back on."""

    ball: str = "ball"


class Juggle(_Want, frozen=True):
    """Keep a ball on the head, or at least on some part of the body."""

    ball: str = "ball"


class Do(_Want, frozen=True):
    """Do what a script says, act by act (`tumble.skills.script`); a way to go ends it, a manner goes along with it."""

    script: str


class Meet(_Want, frozen=True):
    """Meet a goal by its name, with its options: for goals of one's own; see `tumble.goals.register`."""

    goal: str
    options: dict[str, Any] = {}


Single: TypeAlias = Balance | Reach | Go | StayOn | Juggle | Do | Meet


class Together(_Want, frozen=True):
    """Several wants at once, each of another kind: reach while staying on a ball or going, do a script in a manner."""

    wants: tuple[Single, ...]

    def check(self) -> None:
        if not 1 <= len(self.wants) <= len(Single.__args__):
            raise UserError(f"together are 1 to {len(Single.__args__)} wants, got {len(self.wants)}")
        if len({type(want) for want in self.wants}) < len(self.wants):
            raise UserError(f"together are wants of different kinds, got: {name_of(self)}")
        for want in self.wants:
            want.check()


Want: TypeAlias = Single | Together
WANTS: tuple[type[Any], ...] = (*Single.__args__, Together)


def parts(want: Want) -> tuple[Single, ...]:
    """What a want is made of; most are made of themselves."""
    return want.wants if isinstance(want, Together) else (want,)


def part(want: Want | None, kind: type[Any]) -> Any:
    """The part of a want that is of a kind, or None."""
    return next((one for one in (() if want is None else parts(want)) if isinstance(one, kind)), None)


def lines_of(script: str) -> Iterator[tuple[int, str]]:
    """What a script says between ends of lines, ';' and ', then', with the number of the line; nothing empty.

    What comes after '#' is for people.
    """
    for number, line in enumerate(script.splitlines(), 1):
        for act in re.split(r";|,\s*then\b", line.partition("#")[0], flags=re.IGNORECASE):
            if act.strip():
                yield number, act.strip()


def together(*wants: Single) -> Want:
    """Wants at once; one alone is itself."""
    return wants[0] if len(wants) == 1 else Together(wants)


def kept(old: Want | None, new: Want) -> Want:
    """What is wanted after a new want came: what it does not speak of stays as it was.

    A manner without a way (`Go(style="happy")`) goes along with a way, a script or a reach that goes on. A way to go
    ends a script. Everything else takes the place of what was.
    """
    if not isinstance(new, Go):
        if isinstance(new, Do) and (manner := _manner(part(old, Go))):
            return Together((new, Go(**manner)))
        return new
    before = part(old, Go)
    manner = {**_manner(before), **_manner(new)}
    way = {name: value for name, value in new.given.items() if name in WAY}
    if way:
        if new.target is None and before is not None and before.target is None:
            way = {**{name: value for name, value in before.given.items() if name in ("speed", "heading")}, **way}
        return Go(**way, **manner)
    if old is None:
        return new
    if not new.given:
        return old
    others = [one for one in parts(old) if not isinstance(one, Go)]
    if before is not None:
        way = {name: value for name, value in before.given.items() if name in WAY}
    return together(*others, Go(**way, **manner))


def _manner(go: Go | None) -> dict[str, Any]:
    return {} if go is None else {name: value for name, value in go.given.items() if name in MANNER}


PHRASES: dict[type[Any], str] = {StayOn: "stay on a ball", Meet: "meet a goal"}  # where a class's name is no phrase


def name_of(want: Want) -> str:
    """What a want is called: 'go', 'reach', or 'stay on a ball and reach' for several."""
    return " and ".join(PHRASES.get(type(one), type(one).__name__.lower()) for one in parts(want))
