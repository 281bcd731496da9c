"""The terms that goals are made of: hamalainen2015 section 5.

    term = Height("pelvis", "left_foot", "right_foot", standing=0.95)
    term.residual(sims)                      # (nsim,), m; 0 or less
    Goal(term, Velocity()).values(sims)      # (nsim, 2): (s / sigma)^2

A residual is s of the paper, its value (s / sigma)^2, and all values add up to the state cost of eq. 31. Names of parts
are bodies with sensors; tolerances are the paper's unless a behaviour says otherwise. Residuals are new arrays, but for
`Spin`, which is a live view: copy it to keep it.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.goals.goal import Term
from tumble.goals.stance import headings
from tumble.maths.compiled import Given2, Made1, Made2, entry
from tumble.world.sims import Rows

UP = np.array([0.0, 0.0, 1.0])
LEVEL = 1e-3  # length of a horizontal vector, of a unit vector or in m, below which it is no direction; ours


@dataclass(frozen=True)
class Velocity(Term):
    """Centre-of-mass velocity differs from a target, m/s: c' - v. (s_vel; with a target section 5.5)

    Beyond `knee` the value grows with |c' - v| and no longer with its square, as Huber's: not in the paper.
    """

    sigma: float = 0.25
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    knee: float = math.inf  # m/s
    name: ClassVar[str] = "velocity"

    def residual(self, sims: Rows) -> np.ndarray:
        off = sims.view("com_velocity") - self.target
        if self.knee < math.inf:
            size = np.maximum(np.sqrt((off * off).sum(axis=1, keepdims=True)), self.knee)
            off *= np.sqrt(self.knee * (2.0 * size - self.knee)) / size
        return off


@dataclass(frozen=True)
class OverFeet(Term):
    """Horizontal distance of the centre of mass from the line between the feet, m. (s_com)

    (n, 2): c - p, p the nearest point of the stretch from one foot to the other, not of the whole line, so that who
    leans beyond a foot pays for it.
    """

    left: str
    right: str
    sigma: float = 0.025
    name: ClassVar[str] = "over_feet"

    def residual(self, sims: Rows) -> np.ndarray:
        off = np.empty((sims.nsim, 2))
        _off_line(sims.view("com"), sims.view(f"{self.left}.pos"), sims.view(f"{self.right}.pos"), off)
        return off


@entry
def _off_line(point: Given2, start: Given2, end: Given2, off: Made2) -> None:
    """Horizontal way (n, 2) from the nearest point between start and end to point, all (n, 3), m."""
    for i in range(point.shape[0]):
        dx, dy = end[i, 0] - start[i, 0], end[i, 1] - start[i, 1]
        px, py = point[i, 0] - start[i, 0], point[i, 1] - start[i, 1]
        along = min(max((px * dx + py * dy) / (dx * dx + dy * dy + 1e-9), 0.0), 1.0)
        off[i, 0], off[i, 1] = px - along * dx, py - along * dy


@dataclass(frozen=True)
class Height(Term):
    """How far the root is lower above the mean of the feet than when standing, m. (s_y)

    min(0, y_pelvis - y_meanfeet - d_y), with d_y the field `standing`: to be higher is no fault.
    """

    root: str
    left: str
    right: str
    standing: float
    sigma: float = 0.025
    name: ClassVar[str] = "height"

    def residual(self, sims: Rows) -> np.ndarray:
        left, right = sims.view(f"{self.left}.pos"), sims.view(f"{self.right}.pos")
        sunk = np.empty(sims.nsim)
        _sunk(sims.view(f"{self.root}.pos"), left, right, self.standing, sunk)
        return sunk


@entry
def _sunk(root: Given2, left: Given2, right: Given2, standing: float, sunk: Made1) -> None:
    """min(0, z_root - (z_left + z_right) / 2 - standing) of places (n, 3), m, into (n,)."""
    for i in range(root.shape[0]):
        sunk[i] = min(0.0, root[i, 2] - 0.5 * (left[i, 2] + right[i, 2]) - standing)


@dataclass(frozen=True)
class FeetApart(Term):
    """How much farther apart than `limit` the feet are, m: max(0, |l - r| - 0.8). (s_feet)"""

    left: str
    right: str
    limit: float = 0.8
    sigma: float = 0.05
    name: ClassVar[str] = "feet_apart"

    def residual(self, sims: Rows) -> np.ndarray:
        farther = np.empty(sims.nsim)
        _farther(sims.view(f"{self.left}.pos"), sims.view(f"{self.right}.pos"), self.limit, farther)
        return farther


@entry
def _farther(one: Given2, other: Given2, limit: float, farther: Made1) -> None:
    """max(0, |one - other| - limit) of places (n, 3), m, into (n,)."""
    for i in range(one.shape[0]):
        x, y, z = one[i, 0] - other[i, 0], one[i, 1] - other[i, 1], one[i, 2] - other[i, 2]
        farther[i] = max(0.0, math.sqrt(x * x + y * y + z * z) - limit)


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


@dataclass(frozen=True)
class Ahead(Term):
    """Difference of the root's heading from a horizontal direction, unit vectors. Not in the paper."""

    direction: tuple[float, float]
    sigma: float = 0.3
    name: ClassVar[str] = "ahead"

    def residual(self, sims: Rows) -> np.ndarray:
        return np.stack(headings(sims.view("qpos")), axis=1) - self.direction


def _heading(forward: np.ndarray) -> np.ndarray:
    """(n, 2): unit vectors of the horizontal part of vectors (n, 3); shorter where that is below LEVEL."""
    flat = forward[:, :2]
    return flat / np.maximum(np.sqrt((flat * flat).sum(axis=1, keepdims=True)), LEVEL)


@dataclass(frozen=True)
class Damage(Term):
    """1 where the head touches anything, or anything of one kind. (s_damage: a cost of 10000)

    sigma = 0.01 makes the cost the paper's. It is the same at any speed: else who falls leans on walls with the
    forehead (section 5.1).
    """

    head: str
    by: str = "touch"  # or 'ground', where balls may touch it
    sigma: float = 0.01
    name: ClassVar[str] = "damage"

    def residual(self, sims: Rows) -> np.ndarray:
        return np.minimum(1.0, sims.view(f"{self.head}.{self.by}"))


@dataclass(frozen=True)
class LookAt(Term):
    """Difference of the head's heading from the horizontal way to a point, unit vectors. (s_fwd, section 5.2)

    (n, 2), 0 where the head is right below or above the point, within LEVEL.
    """

    head: str
    point: tuple[float, float, float]
    sigma: float = 0.1
    name: ClassVar[str] = "look_at"

    def residual(self, sims: Rows) -> np.ndarray:
        heading = _heading(sims.view(f"{self.head}.forward"))
        way = self.point[:2] - sims.view(f"{self.head}.pos")[:, :2]
        length = np.sqrt((way * way).sum(axis=1, keepdims=True))
        return np.where(length > LEVEL, heading - way / np.maximum(length, LEVEL), 0.0)


@dataclass(frozen=True)
class HandAt(Term):
    """Way from a target to a hand, m, (n, 3). (s_r, section 5.2)"""

    hand: str
    target: tuple[float, float, float]
    sigma: float = 0.05
    name: ClassVar[str] = "reach"

    def residual(self, sims: Rows) -> np.ndarray:
        return sims.view(f"{self.hand}.pos") - self.target


@dataclass(frozen=True)
class OverBall(Term):
    """Horizontal way from a ball's centre to the centre of mass, m, (n, 2). (s_bcom, section 5.3)"""

    ball: str
    sigma: float = 0.025
    name: ClassVar[str] = "over_ball"

    def residual(self, sims: Rows) -> np.ndarray:
        return (sims.view("com") - sims.view(f"{self.ball}.pos"))[:, :2]


@dataclass(frozen=True)
class AboveBall(Term):
    """How far the root is lower above a ball's top than it should be, m. (s_by, section 5.3)

    min(0, y_pelvis - y_ballTop - d_y), with d_y the field `standing`.
    """

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
    """How far the head, or where the character touches the ball, is from being right below it, m. (s_hpos)

    (n, 3): h_head - h_ball, horizontal, and max(0, y_head - (y_ball - r)) (section 5.4); a head below the ball's lowest
    point costs no height. In contact, the point of contact counts for the head.
    """

    head: str
    ball: str
    radius: float
    sigma: float = 0.025
    name: ClassVar[str] = "under_ball"

    def residual(self, sims: Rows) -> np.ndarray:
        ball, contact = sims.view(f"{self.ball}.pos"), sims.view(f"{self.ball}.contact")
        support = np.where(contact[:, :1] > 0, contact[:, 1:], sims.view(f"{self.head}.pos"))
        beside = support - ball
        beside[:, 2] = np.maximum(0.0, support[:, 2] - (ball[:, 2] - self.radius))
        return beside
