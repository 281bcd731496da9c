"""The terms that goals are made of: hamalainen2015 section 5."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from tumble.goals.goal import Term
from tumble.world.sims import Rows

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Velocity(Term):
    """Centre-of-mass velocity differs from a target, m/s. (s_vel)"""

    sigma: float = 0.25
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    name: ClassVar[str] = "velocity"

    def residual(self, sims: Rows) -> np.ndarray:
        return sims.view("com_velocity") - self.target


@dataclass(frozen=True)
class OverFeet(Term):
    """Horizontal distance of the centre of mass from the line between the feet, m. (s_com)"""

    left: str
    right: str
    sigma: float = 0.025
    name: ClassVar[str] = "over_feet"

    def residual(self, sims: Rows) -> np.ndarray:
        return _off_line(sims.view("com"), sims.view(f"{self.left}.pos"), sims.view(f"{self.right}.pos"))


@njit(cache=True)
def _off_line(point, start, end):  # type: ignore[no-untyped-def]
    """(n, 2): horizontal way from the nearest point between start and end to point, all (n, 3)."""
    off = np.empty((point.shape[0], 2))
    for i in range(point.shape[0]):
        dx, dy = end[i, 0] - start[i, 0], end[i, 1] - start[i, 1]
        px, py = point[i, 0] - start[i, 0], point[i, 1] - start[i, 1]
        along = min(max((px * dx + py * dy) / (dx * dx + dy * dy + 1e-9), 0.0), 1.0)
        off[i, 0], off[i, 1] = px - along * dx, py - along * dy
    return off


@dataclass(frozen=True)
class Height(Term):
    """How far the root is lower above the mean of the feet than when standing, m. (s_y)"""

    root: str
    left: str
    right: str
    standing: float
    sigma: float = 0.025
    name: ClassVar[str] = "height"

    def residual(self, sims: Rows) -> np.ndarray:
        left, right = sims.view(f"{self.left}.pos"), sims.view(f"{self.right}.pos")
        return _sunk(sims.view(f"{self.root}.pos"), left, right, self.standing)


@njit(cache=True)
def _sunk(root, left, right, standing):  # type: ignore[no-untyped-def]
    """(n, 1): how far the root is lower above the mean of the feet than standing, all (n, 3); 0 or less."""
    sunk = np.empty((root.shape[0], 1))
    for i in range(root.shape[0]):
        sunk[i, 0] = min(0.0, root[i, 2] - 0.5 * (left[i, 2] + right[i, 2]) - standing)
    return sunk


@dataclass(frozen=True)
class FeetApart(Term):
    """How much farther apart than `limit` the feet are, m. (s_feet)"""

    left: str
    right: str
    limit: float = 0.8
    sigma: float = 0.05
    name: ClassVar[str] = "feet_apart"

    def residual(self, sims: Rows) -> np.ndarray:
        return _farther(sims.view(f"{self.left}.pos"), sims.view(f"{self.right}.pos"), self.limit)


@njit(cache=True)
def _farther(one, other, limit):  # type: ignore[no-untyped-def]
    """(n, 1): how much farther apart than limit points (n, 3) are."""
    farther = np.empty((one.shape[0], 1))
    for i in range(one.shape[0]):
        x, y, z = one[i, 0] - other[i, 0], one[i, 1] - other[i, 1], one[i, 2] - other[i, 2]
        farther[i, 0] = max(0.0, np.sqrt(x * x + y * y + z * z) - limit)
    return farther


@dataclass(frozen=True)
class Spin(Term):
    """Angular velocity of the root, rad/s. (s_omega)"""

    root: str
    sigma: float = 2.0
    name: ClassVar[str] = "spin"

    def residual(self, sims: Rows) -> np.ndarray:
        return sims.view(f"{self.root}.spin")


@dataclass(frozen=True)
class Upright(Term):
    """Difference of the root's up vector from the world's, unit vectors. (s_up)"""

    root: str
    sigma: float = 0.1
    name: ClassVar[str] = "upright"

    def residual(self, sims: Rows) -> np.ndarray:
        return sims.view(f"{self.root}.up") - UP


@dataclass(frozen=True)
class Straight(Term):
    """Difference of the trunk's up vector from the world's, unit vectors. Not in the paper."""

    trunk: str
    sigma: float = 0.1
    name: ClassVar[str] = "straight"

    def residual(self, sims: Rows) -> np.ndarray:
        return sims.view(f"{self.trunk}.up") - UP


@dataclass(frozen=True)
class Facing(Term):
    """Difference of the head's heading from a horizontal direction, unit vectors. (s_fwd)

    Only the heading counts: otherwise who is to look behind would look at the ground, which is half the cost.
    """

    head: str
    direction: tuple[float, float]
    sigma: float = 0.1
    name: ClassVar[str] = "facing"

    def residual(self, sims: Rows) -> np.ndarray:
        return _heading(sims.view(f"{self.head}.forward")) - self.direction


@njit(cache=True)
def _heading(forward):  # type: ignore[no-untyped-def]
    """(n, 2): unit vectors of the horizontal part of vectors (n, 3)."""
    heading = np.empty((forward.shape[0], 2))
    for i in range(forward.shape[0]):
        length = max(np.sqrt(forward[i, 0] ** 2 + forward[i, 1] ** 2), 1e-3)
        heading[i, 0], heading[i, 1] = forward[i, 0] / length, forward[i, 1] / length
    return heading


@dataclass(frozen=True)
class Damage(Term):
    """1 where the head touches anything, or anything of one kind. (s_damage: a cost of 10000)"""

    head: str
    by: str = "touch"  # or 'ground', where balls may touch it
    sigma: float = 0.01
    name: ClassVar[str] = "damage"

    def residual(self, sims: Rows) -> np.ndarray:
        return np.minimum(1.0, sims.view(f"{self.head}.{self.by}"))


@dataclass(frozen=True)
class LookAt(Term):
    """Difference of the head's heading from the horizontal way to a point, unit vectors. (s_fwd)"""

    head: str
    point: tuple[float, float, float]
    sigma: float = 0.1
    name: ClassVar[str] = "look_at"

    def residual(self, sims: Rows) -> np.ndarray:
        heading = _heading(sims.view(f"{self.head}.forward"))
        return _turned_away(heading, sims.view(f"{self.head}.pos"), np.array(self.point))


@njit(cache=True)
def _turned_away(heading, place, point):  # type: ignore[no-untyped-def]
    """(n, 2): heading (n, 2) minus that of the way from place (n, 3) to point; 0 below or above the point."""
    away = np.zeros((heading.shape[0], 2))
    for i in range(heading.shape[0]):
        dx, dy = point[0] - place[i, 0], point[1] - place[i, 1]
        length = np.sqrt(dx * dx + dy * dy)
        if length > 1e-3:
            away[i, 0], away[i, 1] = heading[i, 0] - dx / length, heading[i, 1] - dy / length
    return away


@dataclass(frozen=True)
class HandAt(Term):
    """Way from a target to a hand, m. (s_r)"""

    hand: str
    target: tuple[float, float, float]
    sigma: float = 0.05
    name: ClassVar[str] = "reach"

    def residual(self, sims: Rows) -> np.ndarray:
        return sims.view(f"{self.hand}.pos") - self.target


@dataclass(frozen=True)
class OverBall(Term):
    """Horizontal way from a ball's centre to the centre of mass, m. (s_bcom)"""

    ball: str
    sigma: float = 0.025
    name: ClassVar[str] = "over_ball"

    def residual(self, sims: Rows) -> np.ndarray:
        return (sims.view("com") - sims.view(f"{self.ball}.pos"))[:, :2]


@dataclass(frozen=True)
class AboveBall(Term):
    """How far the root is lower above a ball's top than it should be, m. (s_by)"""

    root: str
    ball: str
    radius: float
    standing: float
    sigma: float = 0.025
    name: ClassVar[str] = "above_ball"

    def residual(self, sims: Rows) -> np.ndarray:
        top = sims.view(f"{self.ball}.pos")[:, 2] + self.radius
        return np.minimum(0.0, sims.view(f"{self.root}.pos")[:, 2] - top - self.standing)


@dataclass(frozen=True)
class UnderBall(Term):
    """How far the head, or where the character touches the ball, is from being right below it, m. (s_hpos)"""

    head: str
    ball: str
    radius: float
    sigma: float = 0.025
    name: ClassVar[str] = "under_ball"

    def residual(self, sims: Rows) -> np.ndarray:
        ball, contact = sims.view(f"{self.ball}.pos"), sims.view(f"{self.ball}.contact")
        return _beside(ball, self.radius, contact, sims.view(f"{self.head}.pos"))


@njit(cache=True)
def _beside(ball, radius, contact, head):  # type: ignore[no-untyped-def]
    """(n, 3): horizontal way from ball to support, and how far the support is above the ball's bottom."""
    beside = np.empty((ball.shape[0], 3))
    for i in range(ball.shape[0]):
        support = contact[i, 1:] if contact[i, 0] > 0 else head[i]
        beside[i, 0], beside[i, 1] = support[0] - ball[i, 0], support[1] - ball[i, 1]
        beside[i, 2] = max(0.0, support[2] - (ball[i, 2] - radius))
    return beside
