"""Presets: settings of a planner under a name; ours, and those that people save.

    presets = Presets(Path("presets.json"))
    presets.of("cpbp")["quick"]              # {'samples': 16.0, 'horizon': 0.8}
    presets.save("cpbp", "mine", {"samples": 48.0})

A file of presets is JSON, written beside its place and renamed. One that cannot be read is left as it is.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tumble.errors import UserError
from tumble.files import make_folder, read_bytes, replace_file

Changes = Mapping[str, float]
COMMON: Mapping[str, Changes] = {
    "default": {},
    "quick": {"samples": 16.0, "horizon": 0.8},
    "thorough": {"samples": 64.0},
    "far-sighted": {"horizon": 2.0},
}
OWN: Mapping[str, Mapping[str, Changes]] = {
    "cpbp": {"beliefs (Q not 0)": {"transition_place": 0.05, "transition_speed": 0.5}},
    "mcts": {"thorough": {"samples": 128.0}, "trained": {"samples": 8.0}},  # 8: rajamaki2017 section 4.3
    "smc": {"far-sighted": {"horizon": 3.5}},  # HV2, hamalainen2014 section 5.2; 2 s is its default
}  # by controller, beside or instead of the common ones
LARGEST = 1 << 20  # bytes of a file
LONGEST = 40  # characters of a name


def ours(controller: str) -> dict[str, Changes]:
    """The presets for a controller that come with tumble."""
    return {**COMMON, **OWN.get(controller, {})}


def default_path() -> Path:
    """Where a user's presets lie."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "tumble" / "presets.json"


class Presets:
    """Presets by controller and name: changes to the default settings."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, controller: str) -> dict[str, Changes]:
        """Ours and the saved ones for a controller; a file that is no file of presets is an error."""
        return {**self._saved().get(controller, {}), **ours(controller)}

    def save(self, controller: str, name: str, changes: Changes) -> None:
        """Keep changes under a name; ours cannot be replaced."""
        name = name.strip()
        if not 0 < len(name) <= LONGEST or not name.isprintable():
            raise UserError(f"a preset's name has 1 to {LONGEST} characters, got {name[:80]!r}")
        if name in ours(controller):
            raise UserError(f"'{name}' is a preset of tumble's own; choose another name")
        saved = self._saved()
        saved.setdefault(controller, {})[name] = dict(changes)
        make_folder(self._path.parent)
        replace_file(self._path, lambda file: file.write(msgspec.json.format(msgspec.json.encode(saved))))

    def _saved(self) -> dict[str, dict[str, dict[str, float]]]:
        data = read_bytes(self._path, "a file of presets", LARGEST)
        if data is None:
            return {}
        try:
            return msgspec.json.decode(data, type=dict[str, dict[str, dict[str, float]]])
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise UserError(f"{self._path} is no file of presets: {error}; mend it or move it away") from None
