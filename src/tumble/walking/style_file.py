"""Style files: a style as a text of TOML, and back from bytes that a stranger may have written.

    Path("mine.toml").write_text(toml_of(style), "utf-8")
    style = style_in(Path("mine.toml").read_bytes(), "mine.toml")

Every number is written so that it reads back as the same; what is at its default is left out (`tumble.toml`).
"""

from tumble.files import text_of
from tumble.walking.style import Style, read_style


def style_in(data: bytes, where: str) -> Style:
    """The style in the bytes of a file of that name, or the error that says what is wrong with it."""
    return text_of(data, "style", where, lambda text: read_style(text, where))
