"""TOML: plain structs as texts that people edit. Every number is written so that it reads back as the same.

    text = toml_of(Gains(stiffness=300.0, damping=30.0))
    assert msgspec.toml.decode(text, type=Gains) == Gains(300.0, 30.0)

What is at its default is left out. Trap: only what styles and gaits are made of can be written: structs, mappings by
name, rows of structs; texts, numbers, switches, and rows of numbers.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

BARE = re.compile(r"[A-Za-z0-9_-]+")  # keys that need no quotation marks


def toml_of(struct: msgspec.Struct) -> str:
    """The text of a struct: first what is plain, then its tables."""
    return "\n".join(_table(_fields(struct), "")) + "\n"


def _fields(struct: msgspec.Struct) -> dict[str, Any]:
    """What differs from the defaults, by name."""
    found = {}
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        made = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        if value != made:
            found[field.name] = value
    return found


def _table(fields: Mapping[str, Any], path: str) -> Iterator[str]:
    """Lines of a table: values come before tables, which would take them for their own."""
    inner = {name: value for name, value in fields.items() if _holds(value)}
    for name, value in fields.items():
        if name not in inner:
            yield f"{_key(name)} = {_value(value)}"
    for name, value in inner.items():
        place = f"{path}.{_key(name)}" if path else _key(name)
        for one in value if isinstance(value, tuple) else (value,):
            own = _fields(one) if isinstance(one, msgspec.Struct) else one
            if isinstance(value, tuple) or not own or not all(map(_holds, own.values())):
                yield f"\n[[{place}]]" if isinstance(value, tuple) else f"\n[{place}]"
            yield from _table(own, place)


def _holds(value: Any) -> bool:
    """Whether it is written as a table, or as several."""
    rows = isinstance(value, tuple) and bool(value) and isinstance(value[0], msgspec.Struct)
    return rows or isinstance(value, msgspec.Struct | Mapping)


def _value(value: Any) -> str:
    """A text, a switch, a number with all its digits, or a row of such."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return str(value).lower() if isinstance(value, bool) else repr(float(value))


def _key(name: str) -> str:
    """A name as it stands before '='."""
    return name if BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """A basic string: the escapes of JSON are all TOML's, which wants one for delete as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
