"""Gaits by name or file, for commands: found with a sentence where there is none, written with where they come from.

gait = gait_named("big-bird", "walk")            # or "mine.toml"
write_gait(Path("mine.toml"), gait, "tumble gait fit big-bird walk mine --speed 0.5")
"""

import re
from pathlib import Path

from tumble.characters import character
from tumble.errors import UserError, unknown
from tumble.files import check_place, replace_file
from tumble.simbicon.gait import BODIES, Gait, builtin_gaits, gait_names, load_gait
from tumble.toml import toml_of

ENDING = ".toml"
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def gait_named(body: str, gait: str) -> Gait:
    """A gait of a body: one that ships, by its name, or that in a file."""
    if gait.endswith(ENDING):
        return load_gait(Path(gait), character(body))
    if body not in BODIES:
        raise unknown("body", body, BODIES, " with gaits")
    if gait not in gait_names(body):
        raise unknown("gait", gait, gait_names(body), f" of '{body}'; a file's name ends in {ENDING}")
    return builtin_gaits(character(body))[gait]


def place_of(out: Path | None, name: str) -> Path:
    """Where a gait of that name goes; checked, before anything long begins."""
    if not NAME.fullmatch(name):
        raise UserError(f"a gait's name is of small letters, digits and hyphens, such as 'side-left'; got '{name}'")
    path = Path(f"{name}{ENDING}") if out is None else out
    if path.suffix != ENDING:
        raise UserError(f"a gait's file ends in {ENDING}, got {path}")
    check_place(path)
    return path


def write_gait(path: Path, gait: Gait, command: str) -> None:
    """Write it beside, then rename; the command that made it is its first line."""
    text = f"# {command}\n{toml_of(gait)}"
    replace_file(path, lambda file: file.write(text.encode()))
