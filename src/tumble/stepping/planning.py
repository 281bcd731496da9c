"""Planners of steps: which action now, so that the next feet land well (coros2010 section 3.5).

    landings = Landings(windows, targets)                     # where heels may land, and where they should
    plan = planned(model, state, landings, "regular", PlanSettings(horizon=2))
    plan.action, plan.places, plan.uncertainty            # (p,), (steps,) m ahead of the heel that stands

The search is depth first through reduced actions in the box of capabilities of each state on the way. A step is well
where its uncertainty is below U_max, its heel within a window and, where it has a target, within 6 cm of that. Among
whole plans that are well the least sum_j e_j + c_u U_1 counts, e_j the distance of heel j from its target. Where there
is none, actions are sampled regularly once more, and the least sum_j (e_j + m_j) + c_u U_1 is taken, well or not: m_j
is how far heel j is outside of all windows.
"""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from tumble.errors import check_number, choose
from tumble.maths.compiled import entry, inner
from tumble.stepping.model import STEP, StepModel, find_near, mixed_of, step_of, weigh

FAR = 1e9  # m: no edge
PLANNERS = ("hybrid", "random", "regular", "observed")


class From(IntEnum):
    """Where the search takes its actions from."""

    GRID = 0  # the same points of every state's box, over and over
    DRAWN = 1  # the next ones of a list of points, each used once
    OBSERVED = 2  # the actions of the K nearest examples


@dataclass(frozen=True)
class PlanSettings:
    """How steps are planned."""

    horizon: int = field(default=2, metadata={"ends": (1, 3)})
    """Steps ahead, section 3.5: one, two or three."""
    samples: int = field(default=500, metadata={"ends": (10, 2000)})
    """Actions that the random planner tries at most, section 3.5."""
    grid: int = field(default=15, metadata={"ends": (3, 40)})
    """Of the regular planner: so many values of either number of an action; not given; ours."""
    sparse: int = field(default=9, metadata={"ends": (3, 40)})
    """Of the hybrid planner's first attempt, "a sparse regular sampling"; not given; ours."""
    doubt: float = 0.75
    """U_max, section 3.5: what is as uncertain is not done where there is a choice."""
    missed: float = 0.06
    """m, section 3.5: a step that misses its target by more is not well."""
    doubt_weight: float = 0.1
    """c_u, section 3.5: m that a unit of uncertainty is worth."""
    first: bool = False
    """Whether the random planner takes the first plan that is well (section 3.5), or the best of its samples."""

    def __post_init__(self) -> None:
        check_number("horizon", self.horizon, 1, 3)
        check_number("samples", self.samples, 1, 1e6)
        check_number("grid", self.grid, 2, 100)
        check_number("sparse", self.sparse, 2, 100)
        for name in ("doubt", "missed", "doubt_weight"):
            check_number(name, getattr(self, name), 0.0, 1e6)


@dataclass(frozen=True, eq=False)
class Landings:
    """Where the next heels may and should land, m ahead of the heel that stands.

    Attributes:
      windows: (steps, m, 2) from where to where heels may land, for each step; unused ones are empty, low above high.
      targets: (steps,) where they should land; nan where that does not matter.
    """

    windows: np.ndarray
    targets: np.ndarray

    def some(self, steps: int) -> "Landings":
        """Its first so many steps."""
        return Landings(self.windows[:steps], self.targets[:steps])


def anywhere(targets: np.ndarray) -> Landings:
    """Landings at targets (steps,) on ground without gaps."""
    return Landings(np.tile([-FAR, FAR], (len(targets), 1, 1)), np.asarray(targets, float))


@dataclass(frozen=True, eq=False)
class StepPlan:
    """What was planned.

    Attributes:
      reduced, action: of the step that begins now, (2,) and (p,).
      places: (steps,) m from the heel that stands to where the heels land by the model.
      lateral: (steps,) m across, from each heel to the next.
      uncertainty: (steps,) U of each step.
      well: whether all steps are (see the module).
      how: which search found it: 'regular', 'random', 'matched' (the hybrid's first attempt), 'observed', 'avoiding'.
      samples: actions that were tried.
      targets: (steps,) that it went for.
    """

    reduced: np.ndarray
    action: np.ndarray
    places: np.ndarray
    lateral: np.ndarray
    uncertainty: np.ndarray
    well: bool
    how: str
    samples: int
    targets: np.ndarray


def planned(
    model: StepModel, state: np.ndarray, landings: Landings, planner: str, settings: PlanSettings = PlanSettings(),
    rng: np.random.Generator | None = None, preferred: float = 0.36,
) -> StepPlan:  # fmt: skip
    """What to do from a reduced state (q,).

    Args:
      landings: of `settings.horizon` steps or more.
      planner: 'regular', 'random', 'hybrid' or, to compare with, 'observed': only the K nearest examples' actions.
      rng: of the random planner's samples; 0 by default.
      preferred: m, of steps that nothing hinders, for the hybrid planner.
    """
    choose("planner", planner, dict.fromkeys(PLANNERS))
    landings = landings.some(settings.horizon)
    found: StepPlan | None = None
    if planner == "observed":
        found = _searched(model, state, landings, settings, From.OBSERVED, "observed")
    elif planner == "regular":
        found = _searched(model, state, landings, settings, From.GRID, "regular", points=lattice(settings.grid))
    elif planner == "hybrid":
        wanted = Landings(landings.windows, footsteps(landings, preferred))
        found = _searched(model, state, wanted, settings, From.GRID, "matched", points=lattice(settings.sparse))
    if found is None and planner in ("random", "hybrid"):
        drawn = (rng or np.random.default_rng(0)).random((settings.samples, 2))
        found = _searched(model, state, landings, settings, From.DRAWN, "random", drawn, first=settings.first)
    if found is None:
        source = From.OBSERVED if planner == "observed" else From.GRID
        points = lattice(settings.grid if planner == "regular" else settings.sparse)
        found = _searched(model, state, landings, settings, source, "avoiding", points, strict=False)
    assert found is not None  # without being strict, something is
    return found


def lattice(count: int) -> np.ndarray:
    """(count^2, 2) points of the unit square, evenly spaced, corners included."""
    line = np.linspace(0.0, 1.0, count)
    return np.ascontiguousarray(np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2))


def footsteps(landings: Landings, preferred: float) -> np.ndarray:
    """(steps,) where heels land in steps of a preferred length, each moved to the nearer edge where it is in a gap.

    Steps go on from where the one before was moved to, and none goes back.
    """
    at, places = 0.0, []
    for windows, target in zip(landings.windows, landings.targets, strict=True):
        goal = at + preferred if np.isnan(target) else float(target)
        edges = [float(np.clip(goal, low, high)) for low, high in windows if low <= high and high > at]
        at = min(edges, key=lambda edge: abs(edge - goal)) if edges else goal
        places.append(at)
    return np.array(places)


def _searched(
    model: StepModel, state: np.ndarray, landings: Landings, settings: PlanSettings, source: From, how: str,
    points: np.ndarray | None = None, strict: bool = True, first: bool = False,
) -> StepPlan | None:  # fmt: skip
    """The best plan of one search; None where nothing is well and it is `strict`."""
    steps, scaled = len(landings.targets), model.scaled(state[None])[0]
    points = np.zeros((0, 2)) if points is None else np.ascontiguousarray(points)
    found, figures = np.zeros((steps, 5)), np.zeros(3)
    _search(
        model.known, scaled, np.ascontiguousarray(landings.windows), np.ascontiguousarray(landings.targets, float),
        points, int(source), bool(strict), bool(first), settings.doubt, settings.missed, settings.doubt_weight,
        found, figures,
    )  # fmt: skip
    cost, well, samples = figures
    if not np.isfinite(cost):
        return None
    action = model.actions(state[None], found[:1, :2])[0]
    return StepPlan(
        found[0, :2].copy(), action, np.cumsum(found[:, 2]), found[:, 3], found[:, 4], bool(well), how, int(samples),
        landings.targets,
    )  # fmt: skip


# ---- compiled


@inner
def outside(windows, x):  # type: ignore[no-untyped-def]
    """m from x to the nearest window; 0 inside of one. Windows (m, 2) of low above high are none."""
    least = FAR
    for j in range(windows.shape[0]):
        if windows[j, 0] <= windows[j, 1]:
            least = min(least, max(windows[j, 0] - x, x - windows[j, 1], 0.0))
    return least


@inner
def _bound(known, rows, box):  # type: ignore[no-untyped-def]
    """The box (2, 2), low and high, around the reduced actions of some examples."""
    for axis in range(2):
        box[0, axis] = box[1, axis] = known.reduced[rows[0], axis]
        for j in range(1, rows.size):
            box[0, axis] = min(box[0, axis], known.reduced[rows[j], axis])
            box[1, axis] = max(box[1, axis], known.reduced[rows[j], axis])


@entry(allocates=True)
def _search(known, state, windows, targets, points, source, strict, first, doubt, missed, doubt_weight, found, figures):  # type: ignore[no-untyped-def]
    """Depth first; the best plan into found (steps, 5): reduced action, length, lateral, U; its cost, well and the
    number of samples into figures (3,), the cost inf where there is none.

    A state is left out as soon as its cost is no less than the best plan's. What is drawn is drawn once: each step
    may use as many of the points as are left, and the steps after the first at most a tenth of all for one state.
    """
    steps, near, mixed = targets.size, known.near, known.mixed
    states = np.empty((steps + 1, state.size))
    rows, distances = np.empty((steps, near), np.intp), np.empty((steps, near))
    boxes, cursor, upto = np.empty((steps, 2, 2)), np.zeros(steps, np.intp), np.zeros(steps, np.intp)
    place, cost, fine = np.zeros(steps + 1), np.zeros(steps + 1), np.ones(steps + 1, np.bool_)
    trial, chosen, weights = np.empty((steps, 5)), np.empty(mixed, np.intp), np.empty(mixed)
    action, step = np.empty(known.actions.shape[1]), np.empty(STEP + state.size)
    states[0] = state
    figures[0], figures[1], figures[2] = np.inf, 0.0, 0.0
    drawn, depth, fresh = 0, 0, True
    while depth >= 0:
        if fresh:
            find_near(known, states[depth], -1, rows[depth], distances[depth])
            _bound(known, rows[depth], boxes[depth])
            cursor[depth], fresh = 0, False
            upto[depth] = near if source == 2 else points.shape[0]
            if source == 1 and depth > 0:
                upto[depth] = max(points.shape[0] // 10, 1)
        if cursor[depth] >= upto[depth] or (source == 1 and drawn >= points.shape[0]):
            depth -= 1
            continue
        n = drawn if source == 1 else cursor[depth]
        cursor[depth] += 1
        drawn += 1
        if source == 2:
            x, y = known.reduced[rows[depth, n], 0], known.reduced[rows[depth, n], 1]
        else:
            x = boxes[depth, 0, 0] + points[n, 0] * (boxes[depth, 1, 0] - boxes[depth, 0, 0])
            y = boxes[depth, 0, 1] + points[n, 1] * (boxes[depth, 1, 1] - boxes[depth, 0, 1])
        weigh(known, rows[depth], distances[depth], x, y, chosen, weights)
        step_of(known, chosen, weights, states[depth], action, step)
        at, u = place[depth] + step[0], mixed_of(known.uncertainty, chosen, weights)
        error = 0.0 if np.isnan(targets[depth]) else abs(at - targets[depth])
        out = outside(windows[depth], at)
        well = u < doubt and out == 0.0 and error <= missed
        spent = cost[depth] + error + out + (doubt_weight * u if depth == 0 else 0.0)
        if (strict and not well) or spent >= figures[0]:
            continue
        trial[depth, 0], trial[depth, 1], trial[depth, 2] = x, y, step[0]
        trial[depth, 3], trial[depth, 4] = step[1], u
        fine[depth + 1] = fine[depth] and well
        if depth + 1 < steps:
            states[depth + 1] = step[STEP:]
            place[depth + 1], cost[depth + 1] = at, spent
            depth, fresh = depth + 1, True
            continue
        figures[0], figures[1] = spent, 1.0 if fine[depth + 1] else 0.0
        found[:] = trial
        if first:
            break
    figures[2] = drawn
