"""Policies: what to do in which state for which goal, in a file that is safe to load.

    policy = policy_named("heading")                       # one that ships, or a file that ends in .policy
    policy.chosen(metric.states(sims), w)                  # (rows,) numbers of `policy.actions`

pi(g) is the action that is best for the nearest state and the nearest point of the grid (coros2010 section 4.4.3).
"""

from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tumble.errors import UserError, unknown
from tumble.files import read_checked, replace_file, write_arrays
from tumble.tasks.actions import Action
from tumble.tasks.gaits import GaitStepper
from tumble.tasks.grid import Axis, check_grid, closest, points
from tumble.tasks.kinds import KINDS, kind_of, plain, read_actions
from tumble.tasks.metric import Stances, nearest

ENDING = ".policy"
FORMAT, VERSION = "tumble policy", 1
LARGEST = 64 << 20  # bytes that a file may unpack to
ARRAYS = ("features", "feet", "angles", "best")


class PolicyHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself.

    Attributes:
      digest: of what it was trained with, see `StepKind.digest`; 'gaits' in the file.
      actions: as plain data, of the kind `steps`.
      cycles: by the name of an action, the first and the end of its limit cycle's states.
      command: that makes it again.
      figures: of its training, by name, for people.
    """

    format: str
    version: int
    task: str
    character: str
    digest: str = msgspec.field(name="gaits")
    actions: tuple[dict[str, str | float], ...]
    grid: tuple[Axis, ...]
    cycles: dict[str, tuple[int, int]]
    command: str
    figures: dict[str, float]
    steps: str = GaitStepper.kind


@dataclass(frozen=True, eq=False)
class Policy:
    """A trained task.

    Attributes:
      states: that were tried.
      best: (states, points) numbers of actions, uint8.
    """

    header: PolicyHeader
    states: Stances
    best: np.ndarray

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """What it chooses among."""
        return read_actions(self.header.steps, self.header.actions)

    @property
    def cycles(self) -> dict[str, Stances]:
        """States of limit cycles, by the name of the action."""
        return {name: self.states.some(slice(*ends)) for name, ends in self.header.cycles.items()}

    def chosen(self, now: Stances, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Actions (n,) for states and task states (n, axes), and how far each is from the nearest state.

        Where no state is on that foot, the first action is taken.
        """
        rows, distances = nearest(self.states, now, 1)
        at = np.array([closest(self.header.grid, one) for one in w], np.intp)
        return np.where(rows[:, 0] < 0, 0, self.best[rows[:, 0], at]), distances[:, 0]

    def write(self, path: Path) -> None:
        """Write it beside, then in the place of what was there."""
        arrays = {
            "features": self.states.features, "feet": self.states.feet, "angles": self.states.angles, "best": self.best
        }  # fmt: skip
        replace_file(path, lambda file: write_arrays(file, self.header, arrays, compressed=True))


def shipped() -> dict[str, Path]:
    """Files of the policies that ship, by name."""
    folder = Path(str(resources.files("tumble.tasks"))) / "policies"
    return {file.stem: file for file in sorted(folder.glob(f"*{ENDING}"))}


def policy_named(name: str) -> Policy:
    """A policy by its name, or by its file."""
    files = shipped()
    if name.endswith(ENDING):
        return read_policy(Path(name))
    if name not in files:
        raise UserError(f"{unknown('policy', name, files)}; a file of yours ends in '{ENDING}'")
    return read_policy(files[name])


def read_policy(path: Path) -> Policy:
    """The policy in a file; refuses what is none, damaged, of another version or for other steps than these."""
    offered = f"; '{path.stem}' ships: take it by that name" if path.stem in shipped() else ""
    return read_checked(path, PolicyHeader, ARRAYS, LARGEST, _checked, "is no policy", offered)


def _checked(header: PolicyHeader, arrays: dict[str, np.ndarray]) -> Policy:
    """The policy of a header and arrays that fit each other; ValueError or UserError where they do not."""
    if (header.format, header.version) != (FORMAT, VERSION):
        raise ValueError(f"its format is {header.format!r} {header.version}, this is '{FORMAT}' {VERSION}")
    check_grid(header.grid)
    read_actions(header.steps, header.actions)
    features, feet, angles, best = (arrays[name] for name in ARRAYS)
    kinds = (np.float32, np.uint8, np.float64, np.uint8)
    if any(array.dtype != kind for array, kind in zip((features, feet, angles, best), kinds, strict=True)):
        raise ValueError("its arrays are of other types")
    states, width = features.shape if features.ndim == 2 else (0, 0)
    fits = feet.shape == (states,) and best.shape == (states, len(points(header.grid))) and angles.ndim == 1
    if not states or not fits or (width - 4 * len(angles)) % 3 or width < 4 * len(angles):
        raise ValueError(f"its arrays do not fit each other: {features.shape}, {feet.shape}, {best.shape}")
    if not (np.isfinite(features).all() and np.isfinite(angles).all() and best.max() < len(header.actions)):
        raise ValueError("its numbers are out of bounds")
    if header.digest != KINDS[header.steps].digest(header.character):
        raise UserError(
            f"the policy of '{header.task}' was trained with other {header.steps} of '{header.character}' than these;"
            f" train it again: {header.command}"
        )
    return Policy(header, Stances(features, feet, angles), best)


def header_for(task: Any, cycles: dict[str, tuple[int, int]], command: str, figures: dict[str, float]) -> PolicyHeader:
    """The header of a task that was trained now."""
    grid = tuple(Axis(axis.name, tuple(map(float, axis.points))) for axis in task.grid)
    kind = kind_of(task.actions)
    return PolicyHeader(
        FORMAT, VERSION, task.name, task.character, kind.digest(task.character), plain(task.actions), grid, cycles,
        command, figures, kind.kind,
    )  # fmt: skip
