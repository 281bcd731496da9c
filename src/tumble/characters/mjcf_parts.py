"""The parts of a stranger's body by role, and the small file beside an MJCF in which people correct them.

    my_robot.tumble.toml                          # beside my_robot.xml, or in the current folder

    trunk = "torso_link"
    feet = ["left_ankle_roll_link", "right_ankle_roll_link"]      # left before right
    [joints]                                      # group, largest torque in N m, activity in rad/s
    left_knee_joint = ["left_leg", 139.0, 1.0]
    [poses.rest]                                  # rad
    left_knee_joint = 0.3

What is not in the file is guessed. Fields that are none are refused.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from tumble.characters.character import Joint
from tumble.errors import UserError
from tumble.files import LARGEST_TEXT, read_bytes, replace_file, text_of
from tumble.toml import toml_of

ENDING = ".tumble.toml"
Turn: TypeAlias = tuple[float, float, float, float]
ABOUT = """\
# What tumble takes the parts of {name} for: guessed from names, shapes and keyframes. Correct what is wrong; what you
# take out is guessed again. 'tumble character info' tells what each means.
"""


@dataclass(frozen=True)
class BodyParts:
    """Parts of a body by role, all of them known; see `Character` for what they mean.

    Attributes:
      upright: rotation (w, x, y, z) of a frame with x ahead and z up, in the file's world when the body stands.
      joints: the hinges that have motors, in the order of the model.
    """

    root: str
    trunk: str
    head: str
    feet: tuple[str, ...]
    hands: tuple[str, ...]
    toes: tuple[str, ...]
    palms: tuple[str, ...]
    joints: Mapping[str, Joint]
    poses: Mapping[str, Mapping[str, float]]
    upright: Turn = (1.0, 0.0, 0.0, 0.0)


class PartsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of a body; None is not told, and guessed. The names are those of `Character.from_mjcf`."""

    name: str | None = None
    root: str | None = None
    trunk: str | None = None
    head: str | None = None
    feet: tuple[str, ...] | None = None
    hands: tuple[str, ...] | None = None
    toes: tuple[str, ...] | None = None
    palms: tuple[str, ...] | None = None
    upright: Turn | None = None
    motor_gain: float | None = None
    planar: bool | None = None
    joints: dict[str, tuple[str, float, float]] | None = None  # group, N m, rad/s
    poses: dict[str, dict[str, float]] | None = None  # rad

    @property
    def told(self) -> dict[str, Any]:
        """What is told, by the names of the arguments of `from_mjcf`."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


def parts_place(robot: Path) -> Path | None:
    """The file of parts that is there for an MJCF: the one beside it, else that of the current folder, else none."""
    return next((place for place in _places(robot) if place.is_file()), None)


def read_parts(robot: Path) -> PartsFile:
    """What people say about the parts of an MJCF; nothing where there is no file."""
    place = parts_place(robot)
    if place is None:
        return PartsFile()

    def decode(text: str) -> PartsFile:
        return msgspec.toml.decode(text, type=PartsFile)

    data = read_bytes(place, "parts of a character", LARGEST_TEXT) or b""
    return text_of(data, "file of parts", str(place), decode)


def keep_parts(robot: Path, parts: PartsFile) -> Path:
    """Write what the parts of an MJCF are beside it, or where that cannot be in the current folder; the place."""
    text = (ABOUT.format(name=robot.name) + toml_of(parts)).encode()
    beside, here = _places(robot)
    place = beside if os.access(beside.parent, os.W_OK) else here
    if place.is_symlink():
        raise UserError(f"{place} is a link; put a file there, or nothing")
    replace_file(place, lambda file: file.write(text))
    return place


def _places(robot: Path) -> tuple[Path, Path]:
    """Beside the MJCF, and in the current folder."""
    name = robot.stem + ENDING
    return robot.with_name(name), Path.cwd() / name
