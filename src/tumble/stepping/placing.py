"""What a walker's placed steps lead to, learned from steps, and the plan of where to land (coros2010 section 3.5).

    model = LandingModel(read_steps(path))
    plan = placed(model, state, middles, rises, windows, PlaceSettings())
    plan.aims, plan.period, plan.landings, plan.uncertainty

A state is the centre of mass at the beginning of a step: place and speed ahead, place and speed to the inside, m and
m/s from the middle of the foot that stands; "inside" is where the other foot lands, so that left and right steps are
examples of each other. A query is a state, the step (ahead, inside, up), the one after it (ahead, back to the
outside, up) and the period. Predicted are the error of the landing (ahead, inside) and the state of the next step:
ridge regression on the query and its squares. As in section 3.4 the uncertainty of an example is its own error where
it is left out, U_i = d(s'_i, s~'_i) + beta |e_i - e~_i|, and that of a query a mean over the k nearest.
"""

import zipfile
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from tumble.errors import UserError, check_number
from tumble.files import Spoiled, check_bytes, opened, read_arrays, replace_file, write_arrays

FORMAT, VERSION, LARGEST = "tumble placed steps", 1, 20_000_000
ARRAYS = ("queries", "outcomes")
STATE, QUERY, OUTCOME = 4, 11, 6  # numbers of a state, of a query, of an outcome: error (2) and the next state
METRIC = np.array([2.0, 1.0, 2.0, 1.0])  # diagonal of X: per m^2 and s^2/m^2 as in section 3.4, the same aside; ours
RIDGE = 1e-2  # of queries that are scaled to a deviation of 1; ours
NEAR = 8  # k: examples whose uncertainty counts; section 3.4 has 3, of queries of 7 numbers; ours
PERIODS = (0.55, 0.6, 0.65)  # s; ours: with 0.5 and 0.7 it falls on flat stones, which no example tells of
AIMS = (-0.02, 0.0, 0.02)  # m off the middle of a stone, ahead and aside; ours: with 0.04 it falls likewise


class StepsHeader(msgspec.Struct):
    """What a file of placed steps says of itself."""

    format: str
    version: int
    character: str
    command: str


@dataclass(frozen=True, eq=False)
class PlacedSteps:
    """Examples of placed steps: queries (n, 11) and outcomes (n, 6), see the module."""

    header: StepsHeader
    queries: np.ndarray
    outcomes: np.ndarray

    def write(self, path: Path) -> None:
        """Write them beside, then in the place of what was there."""
        arrays = {"queries": self.queries, "outcomes": self.outcomes}
        replace_file(path, lambda file: write_arrays(file, self.header, arrays, compressed=True))


def shipped_steps(character: str) -> Path:
    """The file of the steps that ship for a character."""
    return Path(str(resources.files("tumble.stepping"))) / "databases" / f"{character}.placed"


def read_steps(path: Path) -> PlacedSteps:
    """The steps in a file; refuses what is none, damaged or of another version."""
    try:
        with opened(path, "rb") as file:
            check_bytes(file, LARGEST)
            header, arrays = read_arrays(file, StepsHeader, ARRAYS, LARGEST)
        if (header.format, header.version) != (FORMAT, VERSION):
            raise ValueError(f"its format is {header.format!r} {header.version}, this is '{FORMAT}' {VERSION}")
        n = len(arrays["queries"])
        if arrays["queries"].shape != (n, QUERY) or arrays["outcomes"].shape != (n, OUTCOME) or n <= NEAR:
            raise ValueError("its arrays do not fit each other, or are too few")
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ValueError("its numbers are not finite")
    except (OSError, ValueError, KeyError, EOFError, Spoiled, zipfile.BadZipFile, msgspec.MsgspecError) as error:
        raise UserError(
            f"{path} holds no placed steps that can be read ({error}); make some:"
            f" experiments/coros2010-ch3/walker_steps.py {path.name}"
        ) from None
    return PlacedSteps(header, arrays["queries"].astype(float), arrays["outcomes"].astype(float))


@dataclass(frozen=True)
class PlaceSettings:
    """How landings are planned; names as in `tumble.stepping.planning.PlanSettings`."""

    horizon: int = field(default=2, metadata={"ends": (0, 2)})
    """Steps ahead, section 3.5: one or two; 0 plans nothing and aims at the middles."""
    doubt: float = 0.75
    """U_max, section 3.5: what is as uncertain is not done where there is a choice."""
    doubt_weight: float = 0.1
    """c_u, section 3.5: m that a unit of uncertainty is worth."""
    period: float = field(default=0.6, metadata={"ends": (0.4, 0.8)})
    """s a step where nothing is planned; ours."""
    step_width: float = field(default=0.2, metadata={"ends": (0.1, 0.3)})
    """m between the feet where nothing says it: behind the last stone, and over gaps; ours."""
    room: float = field(default=0.04, metadata={"ends": (0.0, 0.1)})
    """m that a landing may be shifted on its stone to keep the balance; ours."""
    preferred: float = field(default=0.4, metadata={"ends": (0.1, 0.8)})
    """m of steps that nothing hinders, over gaps; ours."""

    def __post_init__(self) -> None:
        check_number("horizon", self.horizon, 0, 2)
        check_number("period", self.period, 0.3, 1.0)
        for name in ("doubt", "doubt_weight", "step_width", "room", "preferred"):
            check_number(name, getattr(self, name), 0.0, 1e6)


class Outcomes(NamedTuple):
    """Of n queries: errors (n, 2) m, next states (n, 4), uncertainty (n,)."""

    errors: np.ndarray
    ends: np.ndarray
    uncertainty: np.ndarray


class LandingModel:
    """Knows placed steps by examples of them; see the module.

    Attributes:
      steps: the examples.
      uncertainty: (n,) U_i of each, by leaving it out.

    **Departures**
      Thesis: k-NN of 5 numbers of a state and 2 of an action; here 11 numbers, for which a regression is the better
      mean and neighbours tell only how far to trust it. Thesis: what an example did is done again; here the walker's
      law does whatever lands the foot, and what is chosen is where and when.
    """

    def __init__(self, steps: PlacedSteps) -> None:
        self.steps = steps
        queries, outcomes = steps.queries, steps.outcomes
        self._mean, self._size = queries.mean(axis=0), np.maximum(queries.std(axis=0), 1e-6)
        terms = self._terms(queries)
        gram = terms.T @ terms + RIDGE * np.eye(terms.shape[1])
        inverse = np.linalg.inv(gram)
        self._weights = inverse @ terms.T @ outcomes
        leverage = np.einsum("ij,jk,ik->i", terms, inverse, terms)
        missed = (outcomes - terms @ self._weights) / (1.0 - leverage)[:, None]  # of the fit without that example
        self.uncertainty = np.sqrt((METRIC * missed[:, 2:] ** 2).sum(axis=1)) + np.linalg.norm(missed[:, :2], axis=1)

    def _terms(self, queries: np.ndarray) -> np.ndarray:
        """(n, 23): 1, the scaled queries and their squares."""
        scaled = (queries - self._mean) / self._size
        return np.column_stack([np.ones(len(scaled)), scaled, scaled**2])

    def outcomes(self, queries: np.ndarray, doubt: bool = True) -> Outcomes:
        """What queries (n, 11) lead to; without doubt the uncertainty is left 0."""
        found = self._terms(queries) @ self._weights
        uncertainty = self._doubt(queries) if doubt else np.zeros(len(queries))
        return Outcomes(found[:, :2], found[:, 2:], uncertainty)

    def _doubt(self, queries: np.ndarray) -> np.ndarray:
        """(n,) mean U_i of the k nearest examples, by 1 / distance."""
        away = ((queries[:, None] - self.steps.queries) / self._size) ** 2
        distance = np.sqrt(away.sum(axis=2))
        rows = np.argpartition(distance, NEAR, axis=1)[:, :NEAR]
        weights = 1.0 / np.maximum(np.take_along_axis(distance, rows, axis=1), 1e-9)
        found: np.ndarray = (weights * self.uncertainty[rows]).sum(axis=1) / weights.sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class PlacePlan:
    """What was planned.

    Attributes:
      aims: (steps, 2) m off the middles of their stones, ahead and to the left, that feet are to aim at.
      period: s of the step that begins now.
      landings: (steps, 2) m off the middles where they will land by the model.
      uncertainty: U of the first step.
      well: whether U is below U_max and all landings are within their windows.
    """

    aims: np.ndarray
    period: float
    landings: np.ndarray
    uncertainty: float
    well: bool


def placed(
    model: LandingModel, state: np.ndarray, steps: np.ndarray, windows: np.ndarray, out: float,
    settings: PlaceSettings = PlaceSettings(),
) -> PlacePlan:  # fmt: skip
    """Where to land from a state (4,), depth first through `AIMS` and `PERIODS`, all of a depth at once.

    The least sum_j |landing_j - middle_j| + c_u U_1 is taken of the plans that are well, else of all.

    Args:
      steps: (horizon + 1, 3) m ahead, left and up: from the middle of the foot that stands to that of the first stone,
        from there to the second, and so on.
      windows: (horizon, 2) m off the middles, ahead and aside, where more than half of a sole is on its stone.
      out: 1 where the next foot is the left one, else -1.
    """
    actions = _actions()
    flip = np.array([1.0, out])
    count = len(actions)
    first = _queries(state, steps[0], steps[1], actions, out)
    one = model.outcomes(first)
    landed = actions[:, :2] + one.errors * flip  # left of the middle
    bad = np.maximum(np.abs(landed) - windows[0], 0.0).sum(axis=1)
    cost, late = np.linalg.norm(landed, axis=1) + settings.doubt_weight * one.uncertainty, np.zeros(count, int)
    second = np.zeros((count, count, 2))
    if len(windows) > 1:
        after = np.tile(steps[1], (count, 1))
        after[:, :2] -= landed
        then = np.concatenate(
            [_queries(end, step, steps[2], actions, -out) for end, step in zip(one.ends, after, strict=True)]
        )
        errors = model.outcomes(then, doubt=False).errors * (1.0, -out)
        second = (np.tile(actions[:, :2], (count, 1)) + errors).reshape(count, count, 2)
        misses = np.maximum(np.abs(second) - windows[1], 0.0).sum(axis=2)
        spent = np.linalg.norm(second, axis=2) + misses
        late = spent.argmin(axis=1)
        rows = np.arange(count)
        cost, bad = cost + spent[rows, late], bad + misses[rows, late]
    well = (bad == 0.0) & (one.uncertainty < settings.doubt)
    best = int(np.where(well, cost, cost + 1e3 + bad).argmin())
    last = int(late[best])
    aims, landings = [actions[best, :2]], [landed[best]]
    if len(windows) > 1:
        aims, landings = [*aims, actions[last, :2]], [*landings, second[best, last]]
    return PlacePlan(
        np.array(aims), float(actions[best, 2]), np.array(landings), float(one.uncertainty[best]), bool(well[best])
    )


def _actions() -> np.ndarray:
    """(27, 3) aims ahead and left of a middle, and periods."""
    return np.stack(np.meshgrid(AIMS, AIMS, PERIODS, indexing="ij"), axis=-1).reshape(-1, 3)


def query_of(state: np.ndarray, step: np.ndarray, after: np.ndarray, period: float, out: float) -> np.ndarray:
    """(11,) of a state (4,), steps (3,) ahead, left, up, to the aim and from there to the next, and a period."""
    return np.array([*state, step[0], out * step[1], step[2], after[0], -out * after[1], after[2], period])


def _queries(state: np.ndarray, step: np.ndarray, after: np.ndarray, actions: np.ndarray, out: float) -> np.ndarray:
    """(n, 11) of actions (n, 3) from one state."""
    found = np.tile(query_of(state, step, after, 0.0, out), (len(actions), 1))
    found[:, 4:6] += actions[:, :2] * (1.0, out)
    found[:, 7:9] -= actions[:, :2] * (1.0, -out)
    found[:, 10] = actions[:, 2]
    return found
