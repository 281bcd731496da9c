"""Grids of task states: points along a few axes, and what a step does to where the goal is.

    grid = (Axis("ahead", spread(-3, 3, 16, 0.3)), Axis("left", spread(-3, 3, 16, 0.3)), Axis("heading", around(8)))
    points(grid)                      # (2048, 3)

Axes with names that mean something are moved by every step: 'ahead' and 'left' are where the goal is from the
character, m in its own frame; 'heading' is the wanted heading less its own, rad, and goes round. All others are held.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from tumble.errors import UserError, unknown

MOVED = ("ahead", "left", "heading")
AXES = 3  # at most
POINTS = 1 << 16  # of a grid, at most


class Axis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rising points of one number of a task's state; those of a heading go round."""

    name: str
    points: tuple[float, ...]


def spread(low: float, high: float, count: int, dense: float) -> tuple[float, ...]:
    """Points from low to high, one of them 0, denser there: x = sinh(u) scaled, steps near 0 `dense` of the mean one.

    Args:
      dense: step at 0 over the mean step, above 0, at most 1.
    """
    if not low < 0 < high or count < 3 or not 0 < dense <= 1:
        raise UserError(f"points are spread about 0, 3 or more of them, got {count} from {low:g} to {high:g}")
    bend = _bend_for(dense)
    below = max(1, round((count - 1) * -low / (high - low)))
    ways = [(low, np.linspace(1, 0, below + 1)[:-1]), (high, np.linspace(0, 1, count - below))]
    found = [end * np.sinh(bend * u) / math.sinh(bend) if bend else end * u for end, u in ways]
    return tuple(float(x) for x in np.concatenate(found))


def _bend_for(dense: float) -> float:
    """b with b / sinh(b) = dense."""
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle and middle / math.sinh(middle) > dense else (low, middle)
        if not middle:
            break
    return 0.0 if dense == 1 else low


def around(count: int, dense: float = 0.5) -> tuple[float, ...]:
    """Headings above -pi up to pi, rad, denser around 0; pi is one of them and -pi none."""
    return spread(-math.pi, math.pi, count + 1, dense)[1:]


def check_grid(grid: Sequence[Axis]) -> None:
    """Refuse a grid that no task can have: axes twice, points that do not rise, a goal that it does not hold."""
    if len(grid) > AXES:
        raise UserError(f"a task has {AXES} axes at most, got {len(grid)}")
    names = [axis.name for axis in grid]
    if len(set(names)) < len(names):
        raise UserError(f"every axis of a task is there once, got {', '.join(names)}")
    if "left" in names and "ahead" not in names:
        raise UserError("a task with the axis 'left' needs 'ahead' as well: what is beside is ahead after a turn")
    for axis in grid:
        at = np.array(axis.points, float)
        if not (at.size and np.isfinite(at).all() and (np.diff(at) > 0).all()):
            raise UserError(f"points of the axis '{axis.name}' must be finite and rise, got {at.tolist()[:6]} ...")
        if axis.name in MOVED and not at.min() <= 0 <= at.max():
            ends = f"{at.min():g} to {at.max():g}"
            raise UserError(f"the axis '{axis.name}' does not hold the goal, 0: it goes from {ends}")
        if axis.name == "heading" and (at.max() > math.pi + 1e-9 or at.min() <= -math.pi):
            raise UserError(f"headings go from above -pi to pi, got {at.min():g} to {at.max():g}")
    if math.prod(len(axis.points) for axis in grid) > POINTS:
        raise UserError(f"a grid has {POINTS} points at most, got {math.prod(len(axis.points) for axis in grid)}")


def points(grid: Sequence[Axis]) -> np.ndarray:
    """(points, axes), the last axis fastest; one point without numbers where there are no axes."""
    if not grid:
        return np.zeros((1, 0))
    return np.stack([x.ravel() for x in np.meshgrid(*(axis.points for axis in grid), indexing="ij")], axis=1)


def column(grid: Sequence[Axis], w: np.ndarray, name: str) -> np.ndarray:
    """The numbers (points,) of the axis of a name; refuses a name that no axis has."""
    names = [axis.name for axis in grid]
    if name not in names:
        raise unknown("axis", name, names, " of the task")
    return w[:, names.index(name)]


def closest(grid: Sequence[Axis], w: Sequence[float]) -> int:
    """Number of the grid's point that is closest to a task state, axis by axis."""
    number = 0
    for axis, x in zip(grid, w, strict=True):
        away = np.abs(np.array(axis.points) - x)
        if axis.name == "heading":
            away = np.minimum(away % (2 * np.pi), (-away) % (2 * np.pi))
        number = number * len(axis.points) + int(away.argmin())
    return number
