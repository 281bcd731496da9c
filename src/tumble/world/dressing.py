"""Dressing: a scene with other props in it, and a state that goes on there.

    props = put(scene.props, Box("step", (2, 0, 0.1), (0.3, 1, 0.1), ground=True))
    other = dressed(scene, props)
    state = moved_into(other, state, scene)           # with what was moved where it was put
    check_room(other, state, ["step"])                # refuses a box in somebody's leg

What people may place are balls, boxes, ramps, stairs and crates; companions and stones belong to a scenario.
"""

from collections.abc import Collection, Sequence
from typing import TypeAlias

import mujoco
import numpy as np

from tumble.errors import UserError
from tumble.world.props import Ball, Box, Crate, Prop, Ramp, Staircase
from tumble.world.scene import Ground, Scene

Piece: TypeAlias = Ball | Box | Ramp | Staircase | Crate
PIECES: tuple[type[Piece], ...] = (Ball, Box, Ramp, Staircase, Crate)
MOST = 64  # pieces that a person may place; each costs every simulated future
LONGEST = 40  # characters of a name
DEEP = 0.02  # m that a piece may be in somebody when it is put there; feet at rest are in the ground by 0.001


def pieces_of(props: Sequence[Prop]) -> list[Piece]:
    """Those that people may place, without balls that wait to be thrown."""
    return [prop for prop in props if isinstance(prop, PIECES) and not (isinstance(prop, Ball) and prop.place is None)]


def check_pieces(pieces: Sequence[Piece]) -> None:
    """Refuse more of them than may be, names that are none, or come twice, and numbers out of range."""
    if len(pieces) > MOST:
        raise UserError(f"a set has at most {MOST} things, got {len(pieces)}")
    names = [piece.name for piece in pieces]
    for name in names:
        if not 0 < len(name) <= LONGEST or not name.isprintable() or "/" in name or "." in name:
            raise UserError(f"a thing's name has 1 to {LONGEST} characters and neither '/' nor '.', got {name[:80]!r}")
        if names.count(name) > 1:
            raise UserError(f"two things are called '{name}'; give every one a name of its own")
    spare = mujoco.MjSpec()
    for piece in pieces:
        piece.add(spare, "world")


def put(props: Sequence[Prop], *pieces: Prop) -> tuple[Prop, ...]:
    """Props with some more, each instead of one of its name."""
    names = {piece.name for piece in pieces}
    return (*(prop for prop in props if prop.name not in names), *pieces)


def dressed(scene: Scene, props: Sequence[Prop], ground: Ground | None = None) -> Scene:
    """The scene with these props instead of its own; character and drives stay, as does a ground that is not given."""
    return Scene(scene.character, props, ground or scene.ground, list(scene.drives))


def moved_into(scene: Scene, state: np.ndarray, old: Scene) -> np.ndarray:
    """`Scene.carried`, but balls and crates whose place is another in their prop are at that place, at rest."""
    row, before = scene.carried(state, old), {prop.name: prop for prop in old.props}
    for prop in scene.props:
        was = before.get(prop.name)
        if isinstance(prop, Ball) and isinstance(was, Ball) and prop.place is not None and prop.place != was.place:
            row = scene.placed(row, prop.name, prop.place)
        elif isinstance(prop, Crate) and isinstance(was, Crate) and (prop.middle, prop.turn) != (was.middle, was.turn):
            row = scene.placed(row, prop.name, prop.middle, turn=prop.turn)
    return row


def check_room(scene: Scene, state: np.ndarray, names: Collection[str]) -> None:
    """Refuse a state in which one of these props is deep in somebody."""
    data, model = scene.show(state), scene.model
    for i in np.flatnonzero(data.contact.dist < -DEEP):
        pair, depth = data.contact.geom[i].tolist(), -float(data.contact.dist[i])
        for mine, other in (pair, pair[::-1]):
            name = model.geom(mine).name.partition(".")[0]
            prefix = scene.whose(int(model.geom_bodyid[other]))
            if name in names and prefix is not None:
                who = prefix.rstrip("/") or "the character"
                raise UserError(f"'{name}' would be {depth:.2f} m deep in {who}; put it somewhere else")
