"""Style files: a style as a text of TOML, and back from bytes that a stranger may have written.

    Path("mine.toml").write_text(written(style), "utf-8")
    style = style_in(Path("mine.toml").read_bytes(), "mine.toml")

Every number is written so that it reads back as the same; what is at its default is left out.
"""

import json

import msgspec

from tumble.errors import UserError
from tumble.walking.style import Knots, Style, read_style

LARGEST = 1 << 16  # bytes of a file


def written(style: Style) -> str:
    """The style as TOML: its name, and what differs from the defaults."""
    lines = [f"name = {_text(style.name)}"]
    for field in msgspec.structs.fields(Style):
        value = getattr(style, field.name)
        if field.name != "name" and value != field.default:
            lines.append(f"{field.name} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: str | float | Knots) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        return f"[{', '.join(f'[{_value(x)}, {_value(y)}]' for x, y in value)}]"
    return repr(float(value))


def _text(text: str) -> str:
    """A basic string: the escapes of JSON are all TOML's, which wants one for delete as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def style_in(data: bytes, where: str) -> Style:
    """The style in the bytes of a file of that name, or the error that says what is wrong with it."""
    if len(data) > LARGEST:
        raise UserError(f"not a style ({where}): a style has at most {LARGEST >> 10} KB, got {len(data) >> 10} KB")
    try:
        return read_style(data.decode(), where)
    except UserError:
        raise
    except (ValueError, RecursionError) as error:  # no UTF-8, too many digits, too many brackets
        raise UserError(f"not a style ({where}): {error}") from None
