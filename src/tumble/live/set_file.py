"""Files of sets: balls, boxes, ramps, stairs and crates as a small JSON file, for the studio, `tumble run` and scripts.

    save_set("kitchen.json", [Box("table", (2, 0, 0.4), (0.4, 0.8, 0.4)), Ball("ball", 0.1, 0.5, place=(2, 0, 0.9))])
    scene = Scene(biped(), load_set("kitchen.json"))

A file is {"format": "tumble set 1", "props": [{"kind": "box", "name": ...}, ...]}, each prop with the fields of its
class in `tumble.world.props`. What is no such file is refused in a sentence, whoever wrote it.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from tumble.errors import UserError, choose
from tumble.files import read_bytes, replace_file
from tumble.world.dressing import PIECES, Piece, check_pieces, pieces_of
from tumble.world.props import PROPS, Prop, prop_recipe

FORMAT = "tumble set 1"
LARGEST = 1 << 18  # bytes
KINDS = {kind: made for kind, made in PROPS.items() if made in PIECES}


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    props: list[dict[str, Any]]


def encode_set(props: Sequence[Prop]) -> bytes:
    """A file of those props that people may place; refuses what could not be read again.

    Companions and stones, which belong to a scenario, are left out, and balls that wait to be thrown.
    """
    pieces = pieces_of(props)
    check_pieces(pieces)
    data: bytes = msgspec.json.format(msgspec.json.encode(_File(FORMAT, [prop_recipe(piece) for piece in pieces])))
    return data


def decode_set(data: bytes, what: str = "this") -> tuple[Piece, ...]:
    """The pieces of a file.

    Args:
      what: the file in sentences.
    """
    if len(data) > LARGEST:
        raise UserError(f"{what} is no file of a set: it has {len(data)} bytes, at most {LARGEST} are read")
    try:
        file = msgspec.json.decode(data, type=_File)
        if file.format != FORMAT:
            raise UserError(f"its format is '{file.format[:40]}', this version reads '{FORMAT}'")
        pieces = tuple(map(_piece, file.props))
        check_pieces(pieces)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, UserError) as error:
        raise UserError(f"{what} is no file of a set: {error}") from None
    return pieces


def _piece(recipe: dict[str, Any]) -> Piece:
    """One thing; refuses fields that its kind has not, and values of another type."""
    kind = choose("kind of thing", str(recipe.get("kind")), KINDS)
    fields = {name: value for name, value in recipe.items() if name != "kind"}
    for name in fields:
        choose(f"field of a {recipe['kind']}", name, {field.name: field for field in dataclasses.fields(kind)})
    piece: Piece = msgspec.convert(fields, type=kind)
    return piece


def load_set(path: str | Path) -> tuple[Piece, ...]:
    """The pieces of a file on disk."""
    data = read_bytes(Path(path), "a file of a set", LARGEST)
    if data is None:
        raise UserError(f"no file {path}")
    return decode_set(data, str(path))


def save_set(path: str | Path, props: Sequence[Prop]) -> None:
    """Write the file beside its place, then rename it; see `encode_set`."""
    data = encode_set(props)
    replace_file(Path(path), lambda file: file.write(data))
