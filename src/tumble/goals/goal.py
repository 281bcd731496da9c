"""Goal: what is wanted, as a sum of terms in physical units; Term: one of them.

    goal = Goal(Velocity(), Upright("pelvis"), alarmed=250.0)
    goal.values(sims)                     # (nsim, 2): (residual / sigma)^2
    goal.effort(goal.values(sims))        # (nsim,), in [0, 1]

Costs are -2 log likelihoods: exp(-cost / 2) is alpha of hamalainen2015 eq. 4.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tumble.errors import UserError, check_number, unknown
from tumble.goals.course import Course
from tumble.maths.compiled import Flags1, Given1, Given2, Made2, Places1, entry
from tumble.world.sims import Rows


class Term(ABC):
    """One thing that is wanted: a residual in physical units and the tolerance sigma for it."""

    name: ClassVar[str]
    sigma: float

    @abstractmethod
    def residual(self, sims: Rows) -> np.ndarray:
        """(nsim,) or (nsim, d) in the unit of sigma; 0 where all is well."""


@dataclass(frozen=True)
class Way:
    """One of several ways to do well: terms that are to be met together at some moment of a plan.

    Attributes:
      name: for people.
      terms: what is wanted.
      priority: logarithm of how much it is worth beside the others, w in hamalainen2014 eqs. 3 and 11.
    """

    name: str
    terms: tuple[Term, ...]
    priority: float = 0.0


class Goal:
    """Terms that are wanted together, the effort that they call for, and the habits that suit them.

    Planners that judge step by step take `terms`. Planners that judge whole plans take `ways`: the best moment
    of the best way decides.

    Effort rises from `least_effort` where the terms cost `calm` or less to 1 where they cost `alarmed`
    or more. In a sum, costs add, the largest effort wins, and the right summand's pose and course replace the left's.

    Attributes:
      terms: what is wanted.
      pose: name of the pose to stay near; None leaves it to the other summands, else 'rest'.
      loose: joint groups whose angles the pose says little about, because they have something to do.
      ways: to judge whole plans by; by default one, of the goal's own terms. Adding goals combines their ways.
      course: which way it wants to go, where it does.
      reflexes: names of reflexes that suit it (`tumble.planners.reflexes`), for planners that know of them.
    """

    def __init__(
        self,
        *terms: Term,
        calm: float = 10.0,
        alarmed: float = 400.0,
        least_effort: float = 0.0,
        pose: str | None = None,
        loose: Sequence[str] = (),
        ways: Sequence[Way] = (),
        course: Course | None = None,
        reflexes: Sequence[str] = (),
    ) -> None:
        ways = tuple(ways) or (Way("goal", terms),)
        for term in (*terms, *(term for way in ways for term in way.terms)):
            check_number(f"sigma of term '{term.name}'", term.sigma, 0, above=True)
        if not 0 <= calm < alarmed < np.inf:
            raise UserError(f"a goal needs 0 <= calm < alarmed < inf, got {calm:g} and {alarmed:g}")
        check_number("least_effort", least_effort, 0, 1)
        self.terms, self.pose, self.loose, self.ways, self.course = terms, pose, tuple(loose), ways, course
        self.reflexes = tuple(reflexes)
        self._efforts = [_Effort(tuple(range(len(terms))), calm, alarmed, least_effort)]
        self._weights: Mapping[str, float] = {}
        self._distinct: list[Term] = []  # of all ways, and where those of each are among them
        for term in (term for way in ways for term in way.terms):
            if term not in self._distinct:
                self._distinct.append(term)
        self._columns = [[self._distinct.index(term) for term in way.terms] for way in ways]

    def __add__(self, other: "Goal") -> "Goal":
        loose = dict.fromkeys((*self.loose, *other.loose))
        reflexes = tuple(dict.fromkeys((*self.reflexes, *other.reflexes)))
        ways = [
            Way(one.name, one.terms + two.terms, one.priority + two.priority) for one in self.ways for two in other.ways
        ]
        pose, course = other.pose or self.pose, other.course or self.course
        both = Goal(
            *self.terms, *other.terms,
            pose=pose, loose=tuple(loose), ways=ways, course=course, reflexes=reflexes,
        )  # fmt: skip
        shift = {i: i + len(self.terms) for i in range(len(other.terms))}
        both._efforts = self._efforts + [effort.moved(shift) for effort in other._efforts]
        both._weights = {**self._weights, **other._weights}
        return both

    def without(self, *names: str) -> "Goal":
        """The goal without the terms of those names, and with no other way than those that stay."""
        for name in names:
            if name not in self.names:
                raise unknown("term", name, self.names, " in the goal")
        kept = [i for i, name in enumerate(self.names) if name not in names]
        terms = [self.terms[i] for i in kept]
        rest = Goal(*terms, pose=self.pose, loose=self.loose, course=self.course, reflexes=self.reflexes)
        places = {old: new for new, old in enumerate(kept)}
        rest._efforts = [effort.moved(places) for effort in self._efforts]
        rest._weights = self._weights
        return rest

    def weighted(self, weights: Mapping[str, float]) -> "Goal":
        """The goal with the values of terms multiplied, by name; names of no term of it mean nothing."""
        for name, weight in weights.items():
            check_number(f"weight of term '{name}'", weight, 0, 1e6)
        goal = copy.copy(self)
        goal._weights = {**self._weights, **weights}
        return goal

    @property
    def names(self) -> tuple[str, ...]:
        """The terms' names, in the order of `values`."""
        return tuple(term.name for term in self.terms)

    def values(self, sims: Rows) -> np.ndarray:
        """(nsim, terms): |residual / sigma|^2 of every term times its weight, inf in broken rows; a new array."""
        return self._values(sims, self.terms)

    def way_costs(self, sims: Rows) -> np.ndarray:
        """(nsim, ways): the sum of the values of every way's terms, inf in broken rows; a new array."""
        values = self._values(sims, self._distinct)
        return np.stack([values[:, columns].sum(axis=1) for columns in self._columns], axis=1)

    def _values(self, sims: Rows, terms: Sequence[Term]) -> np.ndarray:
        values = np.empty((sims.nsim, len(terms)))
        if not terms:
            return values
        residuals = [term.residual(sims) for term in terms]
        columns = [residual if residual.ndim == 2 else residual[:, None] for residual in residuals]
        ends, end = np.empty(len(terms), np.intp), 0
        for t, column in enumerate(columns):
            ends[t] = end = end + column.shape[1]
        sigmas = np.array([term.sigma for term in terms], float)
        weights = np.array([self._weights.get(term.name, 1.0) for term in terms], float)
        _squares(np.concatenate(columns, axis=1, dtype=float), ends, sigmas, weights, sims.broken, values)
        return values

    def cost(self, sims: Rows) -> np.ndarray:
        """(nsim,): the sum of the terms' values."""
        return self.values(sims).sum(axis=1)

    def effort(self, values: np.ndarray) -> np.ndarray:
        """The effort in [0, 1] that values (..., terms) call for: the most that any summand asks."""
        return np.max([effort.asked(values) for effort in self._efforts], axis=0)


@dataclass(frozen=True)
class _Effort:
    """What one summand of a goal asks for, by the places of its terms."""

    places: tuple[int, ...]
    calm: float
    alarmed: float
    least: float

    def asked(self, values: np.ndarray) -> np.ndarray:
        cost = values[..., self.places].sum(axis=-1)
        return np.clip((cost - self.calm) / (self.alarmed - self.calm), self.least, 1.0)

    def moved(self, places: Mapping[int, int]) -> "_Effort":
        return replace(self, places=tuple(places[i] for i in self.places if i in places))


@entry
def _squares(residuals: Given2, ends: Places1, sigmas: Given1, weights: Given1, broken: Flags1, values: Made2) -> None:
    """w_t |r_t / sigma_t|^2 of every row and term t into values (n, terms); inf in broken rows.

    Args:
      residuals: (n, d), of all terms side by side; those of term t end before column ends[t].
    """
    for i in range(residuals.shape[0]):
        begin = 0
        for t in range(ends.size):
            total = 0.0
            for j in range(begin, ends[t]):
                total += (residuals[i, j] / sigmas[t]) ** 2
            values[i, t] = np.inf if broken[i] else weights[t] * total
            begin = ends[t]
