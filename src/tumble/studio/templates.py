"""Templates: things that a person puts into a set by one click, and the numbers of a thing by which it is changed.

    piece = template("stairs", (2.0, 0.0), 0.0, taken=["stairs"])        # called 'stairs-2'
    form(piece)["length, m"]
    piece = changed(piece, "length, m", 2.5)

Sizes are whole lengths here, heights are of the bottom above the ground, turns are in degrees: as people measure.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from typing import Any

from tumble.errors import choose
from tumble.world.dressing import Piece
from tumble.world.props import Ball, Box, Crate, Ramp, Staircase

At = tuple[float, float]


def _box(half: tuple[float, float, float], ground: bool, bottom: float = 0.0) -> Callable[[str, At, float], Piece]:
    return lambda name, at, turn: Box(name, (*at, bottom + half[2]), half, turn, ground)


# by what people call them; only what is ground is stood on and stepped over
TEMPLATES: Mapping[str, Callable[[str, At, float], Piece]] = {
    "box": _box((0.3, 0.3, 0.15), ground=True),
    "wall": _box((0.1, 1.0, 1.0), ground=False),
    "bar": _box((0.03, 1.0, 0.03), ground=True, bottom=1.3),
    "hurdle": _box((0.04, 0.8, 0.12), ground=True),
    "ramp": lambda name, at, turn: Ramp(name, (*at, 0.15), (1.0, 0.6, 0.15), turn),
    "stairs": lambda name, at, turn: Staircase(name, (*at, 0.3), (0.7, 0.6, 0.3), turn, steps=4),
    "crate": lambda name, at, turn: Crate(name, (*at, 0.2), turn=turn),
    "ball": lambda name, at, turn: Ball(name, 0.12, 0.5, place=(*at, 0.12), bounce=0.6),
}
ICONS = {
    "box": "check_box_outline_blank",
    "wall": "view_week",
    "bar": "horizontal_rule",
    "hurdle": "fence",
    "ramp": "signal_cellular_4_bar",
    "stairs": "stairs",
    "crate": "inventory_2",
    "ball": "sports_volleyball",
}
SIZES = ("length, m", "width, m", "height, m")
PLACES = ("x, m", "y, m", "above ground, m")
TURN, RADIUS = "turn, °", "radius, m"
PLAIN = {"mass": "mass, kg", "friction": "friction", "bounce": "bounce, 0 to 0.95", "steps": "steps"}


def template(kind: str, at: At, turn: float, taken: Collection[str] = ()) -> Piece:
    """A thing on the ground at a place, under a name that is free."""
    make, name, number = choose("thing", kind, TEMPLATES), kind, 2
    while name in taken:
        name, number = f"{kind}-{number}", number + 1
    return make(name, at, turn)


def form(piece: Piece) -> dict[str, float | None]:
    """The numbers of a thing, by what people call them; None is a friction that is the ground's."""
    x, y, z = middle(piece)
    bottom = z - (piece.radius if isinstance(piece, Ball) else piece.half[2])
    found: dict[str, float | None] = dict(zip(PLACES, (x, y, bottom), strict=True))
    if isinstance(piece, Ball):
        found[RADIUS] = piece.radius
    else:
        found |= dict(zip(SIZES, (2 * half for half in piece.half), strict=True))
        found[TURN] = math.degrees(piece.turn)
    names = {field.name for field in fields(piece)}
    return found | {label: getattr(piece, name) for name, label in PLAIN.items() if name in names}


def changed(piece: Piece, label: str, value: float | None) -> Piece:
    """A thing with another number of its form; its bottom stays where it is when it grows."""
    plain = {label: name for name, label in PLAIN.items()}
    if label in plain:
        name = plain[label]
        number: Any = int(value) if name == "steps" and value is not None else value
        return replace(piece, **{name: number})
    numbers: dict[str, Any] = form(piece) | {label: value}
    x, y, bottom = (numbers[name] for name in PLACES)
    if isinstance(piece, Ball):
        return replace(piece, radius=numbers[RADIUS], place=(x, y, bottom + numbers[RADIUS]))
    half: Any = tuple(numbers[name] / 2 for name in SIZES)
    if isinstance(piece, Crate):  # handles stay on it
        scales = [new / old for new, old in zip(half, piece.half, strict=True)]
        handles: Any = tuple(tuple(h * s for h, s in zip(place, scales, strict=True)) for place in piece.handles)
        piece = replace(piece, handles=handles)
    return replace(piece, middle=(x, y, bottom + half[2]), half=half, turn=math.radians(numbers[TURN]))


def reach(piece: Piece) -> float:
    """m that a thing reaches along the ground from its middle, at most."""
    return piece.radius if isinstance(piece, Ball) else math.hypot(*piece.half[:2])


def middle(piece: Piece) -> tuple[float, float, float]:
    """Where a thing's middle is put, m."""
    if isinstance(piece, Ball):
        return piece.place or (0.0, 0.0, piece.radius)
    return piece.middle
