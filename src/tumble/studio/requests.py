"""Requests: what browsers send, beside commands."""

from typing import TypeAlias

import msgspec

from tumble.errors import UserError
from tumble.goals.wants import Single, Together
from tumble.live.commands import Carve, Drag, Explode, Push, Release, Reset, SetParameter, Throw, Vector


class _Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=str.lower):
    pass


class Steer(_Request, frozen=True):
    """Go into a direction of the world's horizontal plane, length 0 to 1; 0, 0 lets go."""

    x: float
    y: float
    turbo: bool = False


class Hurl(_Request, frozen=True):
    """Throw a ball of some mass. m, m/s, kg."""

    position: Vector
    velocity: Vector
    mass: float = 5.0


class PlaceBox(_Request, frozen=True, tag="place"):
    """Put a block into the set, in the place of one of its name: middle and half sizes, m."""

    name: str
    position: Vector
    size: Vector


class Remove(_Request, frozen=True):
    """Take a prop out of the set."""

    name: str


class Move(_Request, frozen=True):
    """Put a thing of the set elsewhere: m from where it is now, and the width of a grid that it then stands on."""

    name: str
    by: tuple[float, float]
    grid: float = 0.0


class Point(_Request, frozen=True):
    """Show a walker a place, m, on a body or on the ground: it goes there, or does with the body what it can.

    A heading, rad, is the way to face there, where it can.
    """

    at: Vector
    body: str | None = None
    heading: float | None = None


class Scrub(_Request, frozen=True):
    """Stop time and show a moment of the past."""

    tick: int


class Resume(_Request, frozen=True):
    """Go on from a moment."""

    tick: int


class Ask(_Request, frozen=True):
    """Ask for control."""


class Give(_Request, frozen=True):
    """Answer those who ask."""

    accept: bool


Request: TypeAlias = (
    Steer | Hurl | PlaceBox | Remove | Move | Point | Scrub | Resume | Ask | Give
    | Push | Drag | Release | Explode | Throw | Reset | Carve | SetParameter | Single | Together
)  # fmt: skip


def decode(text: str | bytes) -> Request:
    """A request from JSON such as '{"type": "steer", "x": 1, "y": 0}'; refuses all else."""
    try:
        return msgspec.json.decode(text, type=Request)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise UserError(f"not a request: {error}") from None
