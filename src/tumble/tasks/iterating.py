"""Fitted value iteration over states and goals (coros2010 section 4.4.3, Algorithm 2).

    model = Model(states, steps, ends, task.grid, task.discount)
    result = iterate(model, rewards, threads=2)
    result.best                                # (states, points) the best action of each

V(g) <- alpha (R(g, a*) + gamma^dT V(g')) + (1 - alpha) V(g), in place, for all g = (state, point of the grid), a* the
action that is best. V between states is by the k nearest, f = 1 / d^2, and between points multilinear.

**Departure** (thesis: a step from s is as sure as it was once): a step may be lost from where one really is although it
was not lost from s. R + gamma^dT V counts with p, and a lost step's -1 with 1 - p, p the share of the k states nearest
to s, and s, from which the action is trusted. For wary tasks p is less where s' is far from all states that were tried:
what V is there is not known.
"""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tumble.errors import UserError
from tumble.maths.bundles import Address
from tumble.maths.compiled import entry, inner
from tumble.offline.workers import cores
from tumble.tasks.grid import AXES, MOVED, Axis, points
from tumble.tasks.metric import Stances, all_nearest
from tumble.tasks.task import SampledSteps

NEIGHBOURS = 6  # k; section 4.4.3
RATE = 0.8  # alpha; section 4.4.3
BLOCK = 64  # states whose values change together: the same at any number of threads
LOST = -1.0  # reward of a step after which the state is not trusted
BINS = 1024  # of an axis, by which cells are found
ENOUGH = 0.005  # of the largest value, the largest change in an iteration that ends it; ours
MOST = 300  # iterations
HELD, AHEAD, LEFT, HEADING = range(4)  # what a step does to an axis


class Sweep(NamedTuple):
    """All that an iteration reads and writes; s states, t steps, w points."""

    first: np.ndarray  # (s + 1,) steps of state i are first[i] to first[i + 1]
    action: np.ndarray  # (t,)
    moved: np.ndarray  # (t, 3)
    fade: np.ndarray  # (t,) gamma^dT
    lost: np.ndarray  # (s,) number of an action that is not trusted, -1 where all are
    near: np.ndarray  # (t, k) states near the step's end
    share: np.ndarray  # (t, k) of the value that each gives; sums to 1
    sure: np.ndarray  # (t,) p
    toll: np.ndarray  # (t,)
    tolled: np.ndarray  # (w,)
    reward: np.ndarray  # (s, w)
    value: np.ndarray  # (s, w)
    made: np.ndarray  # (s, w) new values
    best: np.ndarray  # (s, w) action
    at: np.ndarray  # (w, 3) points, 0 where there is no such axis
    kind: np.ndarray  # (3,) of axes
    size: np.ndarray  # (3,) points of axes, 1 where there is none
    ticks: np.ndarray  # (3, most) points of axes
    bins: np.ndarray  # (3, BINS) the cell in which a bin begins
    low: np.ndarray  # (3,) of axes
    scale: np.ndarray  # (3,) bins a unit


@dataclass(frozen=True)
class Model:
    """Steps between states, with what is needed to iterate over them; made once for a task, see `Sweep`."""

    states: Stances
    steps: SampledSteps
    grid: tuple[Axis, ...]
    fade: np.ndarray
    near: np.ndarray
    share: np.ndarray
    sure: np.ndarray

    @classmethod
    def of(
        cls,
        states: Stances,
        steps: SampledSteps,
        ends: Stances,
        grid: tuple[Axis, ...],
        discount: float,
        threads: int = 0,
        near: float = math.inf,
    ) -> "Model":
        """Find the neighbours of all steps' ends; steps are sorted by their states.

        Args:
          near: distance from the nearest state up to which an end is as sure as its step; beyond it p near / d_1.
        """
        around, distances = neighbours(states, ends, NEIGHBOURS, threads or cores())
        share = np.where(around >= 0, 1.0 / np.maximum(distances, 1e-6) ** 2, 0.0)
        share /= share.sum(axis=1, keepdims=True)
        sure = _sureness(states, steps, threads or cores())
        sure *= np.minimum(1.0, near / np.maximum(distances[:, 0], 1e-6))
        return cls(states, steps, grid, discount**steps.seconds, np.maximum(around, 0), share, sure)


def _sureness(states: Stances, steps: SampledSteps, threads: int) -> np.ndarray:
    """(steps,) p: the share of a step's state and of the k states nearest to it from which its action is trusted."""
    around = neighbours(states, states, 1 + NEIGHBOURS, threads)[0]
    viable = np.zeros((len(states) + 1, 1 + int(steps.action.max())), bool)
    viable[steps.state, steps.action] = True
    there = around[steps.state]
    return (viable[there, steps.action[:, None]] & (there >= 0)).sum(axis=1) / np.maximum(1, (there >= 0).sum(axis=1))


def neighbours(states: Stances, queries: Stances, k: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """`nearest` k of all queries, by several threads."""

    def map_parts(part: Callable[[slice], None], count: int) -> None:
        part(slice(0, 1))  # compiles
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, _pieces(1, count, 256)))

    return all_nearest(states, queries, k, map_parts)


def _pieces(begin: int, end: int, size: int) -> Iterator[slice]:
    for first in range(begin, end, size):
        yield slice(first, min(first + size, end))


@dataclass(frozen=True)
class Iterated:
    """What iteration found: values and best actions (states, points), and the largest change of every iteration."""

    value: np.ndarray
    best: np.ndarray
    changes: tuple[float, ...]


def iterate(
    model: Model, reward: np.ndarray, toll: np.ndarray, tolled: np.ndarray, actions: int, threads: int = 0,
    told: Callable[[int, float], None] = lambda number, change: None,
) -> Iterated:  # fmt: skip
    """Iterate until values change no more.

    Args:
      reward: (states, points).
      toll, tolled: (steps,), (points,); R is reward - toll tolled.
      actions: how many there are.
      threads: 0 for one per core; the result is the same at any number.
      told: called after every iteration with its number and its largest change.
    """
    sweep = _sweep_of(model, reward, toll, tolled, actions)
    laid, states = Address(sweep), len(model.states)
    changes: list[float] = []
    threads = threads or cores()
    with ThreadPoolExecutor(threads) as pool:
        while len(changes) < MOST:
            change = 0.0
            for block in _pieces(0, states, BLOCK):
                parts = _pieces(block.start, block.stop, max(1, -(-BLOCK // threads)))
                list(pool.map(lambda part: back_up(laid, part.start, part.stop), parts))
                old, new = sweep.value[block], sweep.made[block]
                change = max(change, float(np.abs(new - old).max()))
                old += RATE * (new - old)
            changes.append(change)
            told(len(changes), change)
            if change <= ENOUGH * max(1e-9, float(np.abs(sweep.value).max())):
                break
    return Iterated(sweep.value, sweep.best, tuple(changes))


def _sweep_of(model: Model, reward: np.ndarray, toll: np.ndarray, tolled: np.ndarray, actions: int) -> Sweep:
    """Arrays of an iteration that has not begun."""
    steps, states = model.steps, len(model.states)
    if not len(steps.state) or (np.diff(steps.state) < 0).any():
        raise UserError("there are no steps between states to iterate over, or they are not sorted by their states")
    first = np.searchsorted(steps.state, np.arange(states + 1))
    viable = np.zeros((states, actions), bool)
    viable[steps.state, steps.action] = True
    lost = np.where(viable.all(axis=1), -1, viable.argmin(axis=1))
    grid, w = model.grid, points(model.grid)
    at, ticks = np.zeros((len(w), AXES)), [np.array(axis.points, float) for axis in grid]
    at[:, : len(grid)] = w
    ticks += [np.zeros(1)] * (AXES - len(grid))
    most = max(map(len, ticks)) + 1
    table, bins = np.zeros((AXES, most)), np.zeros((AXES, BINS), np.intp)
    kind, low, scale = np.zeros(AXES, np.intp), np.zeros(AXES), np.zeros(AXES)
    for i, axis in enumerate(grid):
        kind[i] = 1 + MOVED.index(axis.name) if axis.name in MOVED else HELD
    for i, tick in enumerate(ticks):
        if kind[i] == HEADING:  # the first point again, a turn later
            tick = np.append(tick, tick[0] + 2 * math.pi)
        table[i, : len(tick)] = tick
        table[i, len(tick) :] = np.inf
        low[i], scale[i] = tick[0], BINS / max(tick[-1] - tick[0], 1e-9)
        edges = low[i] + np.arange(BINS) / scale[i]
        bins[i] = np.clip(np.searchsorted(tick, edges, side="right") - 1, 0, max(0, len(tick) - 2))
    return Sweep(
        first=first, action=steps.action.astype(np.intp), moved=np.ascontiguousarray(steps.moved), fade=model.fade,
        lost=lost, near=model.near, share=model.share, sure=model.sure,
        toll=np.asarray(toll, float), tolled=np.asarray(tolled, float),
        reward=np.ascontiguousarray(reward), value=np.zeros_like(reward), made=np.zeros_like(reward),
        best=np.zeros(reward.shape, np.uint8), at=at, kind=kind,
        size=np.array([len(axis.points) for axis in grid] + [1] * (AXES - len(grid))), ticks=table, bins=bins, low=low,
        scale=scale,
    )  # fmt: skip


@entry(nogil=True, allocates=True)
def back_up(table, begin, end):  # type: ignore[no-untyped-def]
    """New values `made` and best actions of the states from begin to end, by the values of all."""
    count = table.at.shape[0]
    blend = np.empty(count)
    for s in range(begin, end):
        lost = table.lost[s]
        for j in range(count):
            table.made[s, j] = table.reward[s, j] + LOST if lost >= 0 else -np.inf
            table.best[s, j] = max(lost, 0)
        for t in range(table.first[s], table.first[s + 1]):
            _blend(table, t, blend)
            _try(table, s, t, blend)


@inner
def _blend(table, t, blend):  # type: ignore[no-untyped-def]
    """V(s', w_j) for all points: sum over the k states near s' of their shares."""
    for j in range(blend.size):
        blend[j] = 0.0
    for k in range(table.near.shape[1]):
        share, row = table.share[t, k], table.value[table.near[t, k]]
        if share > 0.0:
            for j in range(blend.size):
                blend[j] += share * row[j]


@inner
def _try(table, s, t, blend):  # type: ignore[no-untyped-def]
    """Take step t from state s at all points where it is better than what was found."""
    dx, dy, turn = table.moved[t, 0], table.moved[t, 1], table.moved[t, 2]
    c, sn = math.cos(turn), math.sin(turn)
    action, fade, toll = table.action[t], table.sure[t] * table.fade[t], table.toll[t]
    lost = (1.0 - table.sure[t]) * LOST
    plane = table.kind[1] == LEFT
    n1, n2 = table.size[1], table.size[2]
    for j in range(blend.size):
        w0, w1, w2 = table.at[j, 0], table.at[j, 1], table.at[j, 2]
        if plane:  # 'left' comes with 'ahead' before it
            x, y = w0 - dx, w1 - dy
            w0, w1 = c * x + sn * y, c * y - sn * x
        elif table.kind[0] == AHEAD:
            w0 -= dx
        if table.kind[0] == HEADING:
            w0 -= turn
        if table.kind[1] == HEADING:
            w1 -= turn
        if table.kind[2] == HEADING:
            w2 -= turn
        i0, f0 = _cell(table, 0, w0)
        worth = 0.0
        if n1 == 1:
            worth = _line(blend, i0, f0, table.size[0], 1, 0)
        else:
            i1, f1 = _cell(table, 1, w1)
            up = i0 + 1 if i0 + 1 < table.size[0] else 0
            if n2 == 1:
                a = _line(blend, i1, f1, n1, 1, i0 * n1)
                b = _line(blend, i1, f1, n1, 1, up * n1)
                worth = a + f0 * (b - a)
            else:
                i2, f2 = _cell(table, 2, w2)
                over = i1 + 1 if i1 + 1 < n1 else 0
                a = _line(blend, i2, f2, n2, 1, (i0 * n1 + i1) * n2)
                b = _line(blend, i2, f2, n2, 1, (i0 * n1 + over) * n2)
                low = a + f1 * (b - a)
                a = _line(blend, i2, f2, n2, 1, (up * n1 + i1) * n2)
                b = _line(blend, i2, f2, n2, 1, (up * n1 + over) * n2)
                high = a + f1 * (b - a)
                worth = low + f0 * (high - low)
        value = table.reward[s, j] - toll * table.tolled[j] + fade * worth + lost
        if value > table.made[s, j]:
            table.made[s, j] = value
            table.best[s, j] = action


@inner
def _line(blend, i, f, n, stride, offset):  # type: ignore[no-untyped-def]
    """Between two neighbours on one axis; after the last point comes the first, as on a circle."""
    a = blend[offset + i * stride]
    b = blend[offset + (i + 1 if i + 1 < n else 0) * stride]
    return a + f * (b - a)


@inner
def _cell(table, axis, x):  # type: ignore[no-untyped-def]
    """Number of the point before x and the share of the next one; at the ends of an axis that does not go round, 0."""
    ticks, n = table.ticks[axis], table.size[axis]
    low = table.low[axis]
    if table.kind[axis] == HEADING:
        x = low + (x - low) % (2.0 * math.pi)
        last = n
    else:
        last = n - 1
        if x <= low or last == 0:
            return 0, 0.0
        if x >= ticks[last]:
            return last, 0.0
    i = table.bins[axis, min(BINS - 1, int((x - low) * table.scale[axis]))]
    while i + 1 < last and ticks[i + 1] <= x:
        i += 1
    return i, (x - ticks[i]) / (ticks[i + 1] - ticks[i])
