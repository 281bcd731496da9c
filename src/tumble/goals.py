"""Goals: what is wanted, as a sum of terms in physical units.

    goal = balance(scene) + Goal(MyTerm())
    values = goal.values(sims)  # (nsim, terms), to plot
    cost = goal.cost(sims)      # (nsim,), inf for broken rows

A term is a residual and a tolerance; its value is |residual / sigma|^2, so exp(-cost / 2) is a
likelihood. A goal also says how much effort it asks for; where goals add up, costs add and the
largest effort wins (hamalainen2015 section 4.5).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from tumble.errors import UserError, check_number
from tumble.scene import Scene
from tumble.sims import Sims

UP = np.array([0.0, 0.0, 1.0])


class Term(ABC):
    """One thing that is wanted: a residual in physical units and the tolerance sigma for it."""

    name: ClassVar[str]
    sigma: float

    @abstractmethod
    def residual(self, sims: Sims) -> np.ndarray:
        """(nsim,) or (nsim, d) in the unit of sigma; 0 where all is well."""


class Goal:
    """Terms that are wanted together, and the effort that their cost calls for.

    Effort rises from 0 where the terms cost `calm` or less to 1 where they cost `alarmed` or more.
    """

    def __init__(self, *terms: Term, calm: float = 10.0, alarmed: float = 400.0) -> None:
        for term in terms:
            check_number(f"sigma of term '{term.name}'", term.sigma, 0, above=True)
        if not 0 <= calm < alarmed < np.inf:
            raise UserError(f"a goal needs 0 <= calm < alarmed < inf, got {calm:g} and {alarmed:g}")
        self.terms: tuple[Term, ...] = terms
        self._efforts: list[tuple[slice, float, float]] = [(slice(0, len(terms)), calm, alarmed)]

    def __add__(self, other: "Goal") -> "Goal":
        both = Goal(*self.terms, *other.terms)
        shift = len(self.terms)
        both._efforts = self._efforts + [
            (slice(s.start + shift, s.stop + shift), calm, alarmed) for s, calm, alarmed in other._efforts
        ]
        return both

    @property
    def names(self) -> tuple[str, ...]:
        """The terms' names, in the order of `values`."""
        return tuple(term.name for term in self.terms)

    def values(self, sims: Sims) -> np.ndarray:
        """(nsim, terms): |residual / sigma|^2 of every term, inf in broken rows; a new array."""
        values = np.empty((sims.nsim, len(self.terms)))
        for i, term in enumerate(self.terms):
            residual = term.residual(sims)
            _squares(residual if residual.ndim == 2 else residual[:, None], term.sigma, values[:, i])
        if sims.broken.any():
            values[sims.broken] = np.inf
        return values

    def cost(self, sims: Sims) -> np.ndarray:
        """(nsim,): the sum of the terms' values."""
        return self.values(sims).sum(axis=1)

    def effort(self, values: np.ndarray) -> np.ndarray:
        """The effort in [0, 1] that values (..., terms) call for: the most that any summand asks."""
        asked = [
            np.clip((values[..., part].sum(axis=-1) - calm) / (alarmed - calm), 0.0, 1.0)
            for part, calm, alarmed in self._efforts
        ]
        return np.max(asked, axis=0)


@njit(cache=True)
def _squares(residual, sigma, out):  # type: ignore[no-untyped-def]
    """|residual / sigma|^2 of every row (n, d) into out (n,)."""
    for i in range(residual.shape[0]):
        total = 0.0
        for j in range(residual.shape[1]):
            total += (residual[i, j] / sigma) ** 2
        out[i] = total


@dataclass(frozen=True)
class Velocity(Term):
    """Centre-of-mass velocity differs from a target, m/s. (s_vel)"""

    sigma: float = 0.25
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    name: ClassVar[str] = "velocity"

    def residual(self, sims: Sims) -> np.ndarray:
        return sims.view("com_velocity") - self.target


@dataclass(frozen=True)
class OverFeet(Term):
    """Horizontal distance of the centre of mass from the line between the feet, m. (s_com)"""

    left: str
    right: str
    sigma: float = 0.025
    name: ClassVar[str] = "over_feet"

    def residual(self, sims: Sims) -> np.ndarray:
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

    def residual(self, sims: Sims) -> np.ndarray:
        feet = sims.view(f"{self.left}.pos")[:, 2] + sims.view(f"{self.right}.pos")[:, 2]
        return np.minimum(0.0, sims.view(f"{self.root}.pos")[:, 2] - 0.5 * feet - self.standing)


@dataclass(frozen=True)
class FeetApart(Term):
    """How much farther apart than `limit` the feet are, m. (s_feet)"""

    left: str
    right: str
    limit: float = 0.8
    sigma: float = 0.05
    name: ClassVar[str] = "feet_apart"

    def residual(self, sims: Sims) -> np.ndarray:
        apart = sims.view(f"{self.left}.pos") - sims.view(f"{self.right}.pos")
        return np.maximum(0.0, np.sqrt(np.einsum("ij,ij->i", apart, apart)) - self.limit)


@dataclass(frozen=True)
class Spin(Term):
    """Angular velocity of the root, rad/s. (s_omega)"""

    root: str
    sigma: float = 2.0
    name: ClassVar[str] = "spin"

    def residual(self, sims: Sims) -> np.ndarray:
        return sims.view(f"{self.root}.spin")


@dataclass(frozen=True)
class Upright(Term):
    """Difference of the root's up vector from the world's, unit vectors. (s_up)"""

    root: str
    sigma: float = 0.1
    name: ClassVar[str] = "upright"

    def residual(self, sims: Sims) -> np.ndarray:
        return sims.view(f"{self.root}.up") - UP


@dataclass(frozen=True)
class Facing(Term):
    """Horizontal difference of the head's facing direction from a direction, unit vectors. (s_fwd)"""

    head: str
    direction: tuple[float, float]
    sigma: float = 0.1
    name: ClassVar[str] = "facing"

    def residual(self, sims: Sims) -> np.ndarray:
        return sims.view(f"{self.head}.forward")[:, :2] - self.direction


@dataclass(frozen=True)
class Damage(Term):
    """1 where the head touches anything. (s_damage: a cost of 10000)"""

    head: str
    sigma: float = 0.01
    name: ClassVar[str] = "damage"

    def residual(self, sims: Sims) -> np.ndarray:
        return np.minimum(1.0, sims.view(f"{self.head}.touch"))


def balance_terms(scene: Scene, facing: tuple[float, float] | None = None) -> Sequence[Term]:
    """The terms of hamalainen2015 eq. 31 for the scene's character, with the paper's tolerances.

    Args:
      facing: horizontal direction to look at, as when somebody pulls there; None drops the term.
    """
    character = scene.character
    left, right = character.feet
    data = scene.show(scene.state("rest"))
    root_height = data.body(character.root).xipos[2]
    feet_height = np.mean([data.body(foot).xipos[2] for foot in character.feet])
    terms = [
        Velocity(),
        OverFeet(left, right),
        Height(character.root, left, right, standing=float(root_height - feet_height)),
        FeetApart(left, right),
        Spin(character.root),
        Upright(character.root),
        Damage(character.head),
    ]
    if facing is not None:
        length = float(np.hypot(*facing))
        check_number("length of the facing direction", length, 0, above=True)
        terms.insert(-1, Facing(character.head, (facing[0] / length, facing[1] / length)))
    return terms


def balance(scene: Scene, facing: tuple[float, float] | None = None) -> Goal:
    """Stay up and at rest, or get there: the cost of hamalainen2015 eq. 31.

    Departures: d_y is the character's own standing height (the paper's model: 1.04 m). Full effort is
    asked for from a cost of 250 on: not given in the paper; with 400 it falls more often.
    """
    return Goal(*balance_terms(scene, facing), alarmed=250.0)


GOALS: Mapping[str, Callable[[Scene, tuple[float, float] | None], Goal]] = {"balance": balance}
