"""Examples: steps that were taken, in a file that is safe to load (coros2010 section 3.3).

    examples = examples_named("planar-walk")               # one that ships, or a file that ends in .stones
    examples.states, examples.actions, examples.ends, examples.lengths    # (n, q), (n, p), (n, q), (n,)

Example i began in the reduced state s_i, took the action A_i, ended in s'_i and made a step of l_i.
"""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import msgspec
import numpy as np

from tumble.errors import UserError, unknown
from tumble.files import read_checked, replace_file, write_arrays
from tumble.stepping.base import BASES, Base

ENDING = ".stones"
FORMAT, VERSION = "tumble stones", 1
LARGEST = 64 << 20  # bytes that a file may unpack to
ARRAYS = ("states", "actions", "ends", "lengths", "lateral", "wanted", "sequence")
FEWEST = 25  # examples that are any use: K of section 3.4


class StonesHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself.

    Attributes:
      base: name of the base.
      gait: digest of its gait (`Base.digest`).
      parameters: names of an action's numbers.
      command: that makes it again.
      figures: of its making, by name, for people.
    """

    format: str
    version: int
    base: str
    character: str
    gait: str
    parameters: tuple[str, ...]
    command: str
    figures: dict[str, float]


@dataclass(frozen=True, eq=False)
class Examples:
    """Steps, n of them, f4; those of a sequence follow one another.

    Attributes:
      states, ends: (n, q) reduced states before and after, see `Strider.reduced`.
      actions: (n, p).
      lengths: (n,) m from the heel that stood to the heel that landed, in the character's sagittal plane.
      lateral: (n,) m between them across it; 0 in the plane.
      wanted: (n,) m from the heel that stood to the stone: wanted - lengths is by how much it was missed.
      sequence: (n,) i4 number of the sequence.
    """

    header: StonesHeader
    states: np.ndarray
    actions: np.ndarray
    ends: np.ndarray
    lengths: np.ndarray
    lateral: np.ndarray
    wanted: np.ndarray
    sequence: np.ndarray

    def __len__(self) -> int:
        """How many steps."""
        return len(self.lengths)

    @property
    def base(self) -> Base:
        """Whose steps they are."""
        found: Base = BASES[self.header.base]()
        return found

    def some(self, count: int) -> "Examples":
        """The first so many, views."""
        return Examples(self.header, *(getattr(self, name)[:count] for name in ARRAYS))

    def write(self, path: Path) -> None:
        """Write them beside, then in the place of what was there."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        replace_file(path, lambda file: write_arrays(file, self.header, arrays, compressed=True))


def header_for(base: Base, command: str, figures: dict[str, float]) -> StonesHeader:
    """The header of examples that were made now."""
    return StonesHeader(
        FORMAT, VERSION, base.name, base.character, base.digest, base.parameters, command, figures
    )  # fmt: skip


def shipped() -> dict[str, Path]:
    """Files of the examples that ship, by name of their base."""
    folder = Path(str(resources.files("tumble.stepping"))) / "databases"
    return {file.stem: file for file in sorted(folder.glob(f"*{ENDING}"))}


def examples_named(name: str) -> Examples:
    """Examples by the name of their base, or by their file."""
    if name.endswith(ENDING):
        return read_examples(Path(name))
    files = shipped()
    if name in files:
        return read_examples(files[name])
    if name in BASES:
        raise UserError(f"no examples of '{name}' ship: make some, tumble stones build {name} {name}{ENDING}")
    raise UserError(f"{unknown('base', name, BASES)}; a file of yours ends in '{ENDING}'")


def read_examples(path: Path) -> Examples:
    """The examples in a file; refuses what is none, damaged, empty, of another version or of another gait."""
    advice = f"; make some: tumble stones build BASE {path.name}"
    return read_checked(path, StonesHeader, ARRAYS, LARGEST, _checked, "holds no examples", advice)


def _checked(header: StonesHeader, arrays: dict[str, np.ndarray]) -> Examples:
    """The examples of a header and arrays that fit each other; ValueError or UserError where they do not."""
    if (header.format, header.version) != (FORMAT, VERSION):
        raise ValueError(f"its format is {header.format!r} {header.version}, this is '{FORMAT}' {VERSION}")
    if any(array.dtype != (np.int32 if name == "sequence" else np.float32) for name, array in arrays.items()):
        raise ValueError("its arrays are of other types")
    base = BASES[header.base]()
    n, p, q = len(arrays["lengths"]), len(header.parameters), len(base.metric)
    shapes = {"states": (n, q), "actions": (n, p), "ends": (n, q)}
    wrong = {name: array.shape for name, array in arrays.items() if array.shape != shapes.get(name, (n,))}
    if wrong:
        raise ValueError(f"its arrays do not fit each other: {wrong}")
    if n < FEWEST:
        raise ValueError(f"it has {n} examples, {FEWEST} at least")
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("its numbers are not finite")
    if (header.gait, header.parameters) != (base.digest, base.parameters):
        raise UserError(
            f"the examples were made with another gait than '{base.name}' has now; make them again: {header.command}"
        )
    return Examples(header, **arrays)
