"""What goes wrong by a user's hand, said in one sentence: what was got, what is allowed, what to do."""

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class UserError(ValueError):
    """A mistake of the caller's. Its message is for people; the command line prints it alone."""


class UnknownName(UserError, KeyError):
    """A name that does not exist; a `KeyError` too, so that mappings may raise it."""

    __str__ = UserError.__str__  # and not the quotation marks of a KeyError


def unknown(kind: str, name: str, known: Iterable[str], where: str = "") -> UnknownName:
    """The error for a name that does not exist: lists the ones that do and suggests the nearest."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return UnknownName(f"no {kind} '{name}'{where}; there are: {', '.join(names)}{hint}")


def choose(kind: str, name: str, options: Mapping[str, T]) -> T:
    """options[name], or the error that lists the options."""
    if name not in options:
        raise unknown(kind, name, options)
    return options[name]


def check_number(name: str, value: float, low: float, high: float = math.inf, *, above: bool = False) -> None:
    """Refuse a value that is not a number in [low, high], or in (low, high] with above=True."""
    fine = math.isfinite(value) and (low < value if above else low <= value) and value <= high
    if not fine:
        bound = f"above {low:g}" if above else f"{low:g} or more"
        upper = f" and at most {high:g}" if math.isfinite(high) else ""
        raise UserError(f"{name} must be a number {bound}{upper}, got {value:g}")


def check_vector(name: str, vector: Sequence[float], length: int, largest: float, unit: str) -> None:
    """Refuse what is not so many finite numbers, none of them larger."""
    if len(vector) != length or not all(math.isfinite(x) and abs(x) <= largest for x in vector):
        raise UserError(f"{name} must be {length} numbers within {largest:g} {unit}, got {tuple(vector)}")
