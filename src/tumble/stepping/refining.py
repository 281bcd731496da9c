"""Refined plans: which actions have the next feet land well, by Gauss-Newton on step networks.

    plan = refined(nets, base, state, landings)          # a `StepPlan`; state (q,), landings as in `planning`

For every way in which the next feet may stand in windows, one after the other, actions are sought with the least

    sum_j w_o^2 out_j^2 + w_e^2 e_j^2 + w_z^2 (z_j - z)^2 + w_s^2 |s_j - s|_X^2 + w_u^2 |u_j|^2 + w_l^2 short_j^2
    + gamma |A_j - A_base|_W^2

out_j: m that heel j is beside its window; e_j: from its target, or by which the step is longer than preferred where it
has none; z_j: lateral; s_j: next state, z and s those of the base's walk; u_j: doubt, m; short_j: m that the step lacks
of `LEAST`. It is the cost of the offline synthesis (section 3.3.2) with what a plan has to mind beside, and with the
prediction in the place of the simulation. The cheapest way is taken.
"""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from tumble.stepping.base import Base
from tumble.stepping.nets import StepNets
from tumble.stepping.planning import FAR, Landings, StepPlan
from tumble.stepping.problems import GAMMA

OUT, TARGET, PREFERRED = 3.0, 2.0, 0.25  # w_o; w_e of a target, and of a preferred length; all weights are ours
LATERAL, STATE, DOUBT, SHORT = 1.0, 0.15, 2.0, 3.0  # w_z, w_s, w_u, w_l
LEAST = 0.12  # m: feet that hardly pass each other stumble; ours
LONGEST = 0.85  # m that a step is thought to reach when ways are counted; ours
OVER = 0.05  # m of a foot that may stand over an edge, a quarter of the humanoid's: half of it may; ours
TRUNK, JOINT, DWELL = 0.24, 0.36, 0.24  # rad, rad, s by which actions may differ from the base's; ours
FIRST, LAST, KEPT = 2, 4, 3  # steps of Gauss-Newton for all ways, and for the cheapest so many; ours
DAMPING, EASED, STIFFENED = 0.02, 0.3, 8.0  # lambda at first, and its factors after success and failure; ours
WAYS = 8  # that are looked at, those nearest to preferred steps; ours


class Ways(NamedTuple):
    """Windows and targets of m ways of h steps, m ahead of the heel that stands."""

    low: np.ndarray  # (m, h)
    high: np.ndarray  # (m, h)
    targets: np.ndarray  # (h,), nan where there is none

    def some(self, rows: np.ndarray) -> "Ways":
        """Of those ways."""
        return Ways(self.low[rows], self.high[rows], self.targets)


class Tried(NamedTuple):
    """What comes of plans of m ways, n residuals each."""

    actions: np.ndarray  # (m, h, p)
    residuals: np.ndarray  # (m, n)
    slopes: np.ndarray  # (m, n, h p)
    places: np.ndarray  # (m, h)
    lateral: np.ndarray  # (m, h)
    doubt: np.ndarray  # (m, h)

    @property
    def cost(self) -> np.ndarray:
        """(m,)."""
        found: np.ndarray = (self.residuals**2).sum(axis=1)
        return found

    def some(self, rows: np.ndarray) -> "Tried":
        """Of those ways."""
        return Tried(*(one[rows] for one in self))

    def better(self, other: "Tried") -> tuple["Tried", np.ndarray]:
        """The cheaper of both, way by way, and where it is the other."""
        wins = other.cost < self.cost
        parts = zip(self, other, strict=True)
        return Tried(*(np.where(wins.reshape(-1, *[1] * (a.ndim - 1)), b, a) for a, b in parts)), wins


def refined(nets: StepNets, base: Base, state: np.ndarray, landings: Landings, missed: float = 0.06) -> StepPlan:
    """What to do from a reduced state (q,); `missed` is m by which a step may miss its target and be well."""
    problem = ways(landings, base.preferred)
    found = _begun(nets, base, state, problem)
    damping = np.full(len(found.cost), DAMPING)
    for i in range(FIRST + LAST):
        if i == FIRST:
            best = np.argsort(found.cost, kind="stable")[:KEPT]
            problem, found, damping = problem.some(best), found.some(best), damping[best]
        found, wins = found.better(_tried(nets, base, state, problem, _onward(found, damping, base)))
        damping = damping * np.where(wins, EASED, STIFFENED)
    k = int(found.cost.argmin())
    places, targets = found.places[k], landings.targets
    beside = np.abs(places - np.clip(places, problem.low[k], problem.high[k]))
    error = np.where(np.isnan(targets), 0.0, np.abs(places - targets))
    well = bool((beside < 0.5 * OVER).all() and (error <= missed).all())
    count = len(damping) * LAST + FIRST
    return StepPlan(
        np.zeros(2), found.actions[k, 0], places, found.lateral[k], found.doubt[k], well, "gauss-newton", count, targets
    )


def ways(landings: Landings, preferred: float) -> Ways:
    """All choices of a window for each step that steps may reach one after the other; feet may stand a bit over."""
    usable = [rows[rows[:, 0] <= rows[:, 1]] for rows in landings.windows]
    usable = [rows if len(rows) else np.array([[-FAR, FAR]]) for rows in usable]
    found = [np.array(choice) for choice in product(*usable) if _reaches(np.array(choice))]
    if not found:
        found = [np.array([rows[-1] for rows in usable])]
    wanted = preferred * np.arange(1, len(usable) + 1)
    found.sort(key=lambda way: float(np.abs(wanted - np.clip(wanted, way[:, 0], way[:, 1])).sum()))
    edges = np.array(found[:WAYS])
    return Ways(edges[..., 0] - OVER, edges[..., 1] + OVER, landings.targets)


def _reaches(way: np.ndarray) -> bool:
    """Whether steps of 0 to `LONGEST` come from each window (h, 2) into the next."""
    low = high = 0.0
    for start, end in way:
        if start > high + LONGEST or end < low:
            return False
        low, high = max(low, start), min(high + LONGEST, end)
    return True


def _begun(nets: StepNets, base: Base, state: np.ndarray, problem: Ways) -> Tried:
    """Plans to begin with: what steps of such lengths mostly did."""
    m, h = problem.low.shape
    at, typical = np.zeros(m), np.empty((m, h, len(base.weights)))
    for j in range(h):
        goal = at + base.preferred if np.isnan(problem.targets[j]) else np.full(m, problem.targets[j])
        goal = np.maximum(np.clip(goal, problem.low[:, j], problem.high[:, j]), at + LEAST)
        typical[:, j] = nets.action_for(goal - at)
        at = goal
    return _tried(nets, base, state, problem, typical)


def _onward(found: Tried, damping: np.ndarray, base: Base) -> np.ndarray:
    """(m, h, p) plans a step -(J^T J + lambda I)^-1 J^T r further, within `freedom` of the base's action."""
    jacobian, size = found.slopes, found.slopes.shape[2]
    square = jacobian.swapaxes(1, 2) @ jacobian + damping[:, None, None] * np.eye(size)
    slope = jacobian.swapaxes(1, 2) @ found.residuals[..., None]
    step = np.linalg.solve(square, slope)[..., 0].reshape(found.actions.shape)
    own = _numbers(base)
    return np.clip(found.actions - step, own.low, own.high)


class BaseNumbers(NamedTuple):
    """Of a base, as plans need them: action and its bounds, roots of gamma W and of X, the latter times w_s."""

    action: np.ndarray  # (p,)
    low: np.ndarray  # (p,)
    high: np.ndarray  # (p,)
    weights: np.ndarray  # (p,)
    metric: np.ndarray  # (q,)


@cache
def _numbers(base: Base) -> BaseNumbers:
    action, free = base.action, freedom(base)
    weights, metric = np.sqrt(GAMMA * np.array(base.weights)), STATE * np.sqrt(base.metric)
    return BaseNumbers(action, action - free, action + free, weights, metric)


def freedom(base: Base) -> np.ndarray:
    """(p,) by which each number of an action may differ from the base's."""
    angles = [TRUNK if role == "root" else JOINT for role, count in base.points for _ in range(count)]
    return np.array([*angles, DWELL])


def _tried(nets: StepNets, base: Base, state: np.ndarray, problem: Ways, actions: np.ndarray) -> Tried:
    """What comes of plans, and how it changes with every number of them."""
    (m, h, p), q = actions.shape, len(state)
    states, place = np.tile(state, (m, 1)), np.zeros(m)
    moved, placed = np.zeros((m, q, h * p)), np.zeros((m, h * p))  # by the numbers of the plan
    rows, slopes, told = [], [], []
    own, metric = _numbers(base), _numbers(base).metric
    for j in range(h):
        found = nets.step(states, actions[:, j])
        before = moved
        change, mine = found.slopes[:, :, :q] @ before, slice(j * p, (j + 1) * p)
        change[:, :, mine] += found.slopes[:, :, q:]
        unsure = found.doubt_slopes[:, :, :q] @ before
        unsure[:, :, mine] += found.doubt_slopes[:, :, q:]
        length, states = found.values[:, 0], found.values[:, 2:]
        place, placed, moved = place + length, placed + change[:, 0], change[:, 2:]
        out = place - np.clip(place, problem.low[:, j], problem.high[:, j])
        target, short = problem.targets[j], np.minimum(length - LEAST, 0.0)
        aim = (PREFERRED * (length - base.preferred), PREFERRED * change[:, 0])
        if not np.isnan(target):
            aim = TARGET * (place - target), TARGET * placed
        for row, slope in (
            (OUT * out[:, None], OUT * (out != 0.0)[:, None, None] * placed[:, None]),
            (aim[0][:, None], aim[1][:, None]),
            (LATERAL * (found.values[:, 1:2] - nets.usual[1]), LATERAL * change[:, 1:2]),
            (metric * (states - nets.usual[2:]), metric[:, None] * moved),
            (DOUBT * found.doubt, DOUBT * unsure),
            (SHORT * short[:, None], SHORT * (short < 0.0)[:, None, None] * change[:, :1]),
        ):  # fmt: skip
            rows.append(row)
            slopes.append(slope)
        told.append((place, found.values[:, 1], np.sqrt((found.doubt**2).mean(axis=1))))
    weight = np.tile(own.weights, h)
    rows.append(weight * (actions - own.action).reshape(m, -1))
    slopes.append(np.broadcast_to(np.diag(weight), (m, h * p, h * p)))
    places, lateral, doubt = (np.stack(one, axis=1) for one in zip(*told, strict=True))
    return Tried(actions, np.concatenate(rows, axis=1), np.concatenate(slopes, axis=1), places, lateral, doubt)
