"""Control splines of hamalainen2014 section 4.2: cubic curves through control points at times of their own.

A plan is a row of points one after the other; a point is `size` values and, last, the time since the
point before, or since now. Curves begin where the last plan is now (`CurveStart`), and end at rest in the last
point. Between points they are cubics that do not overshoot: slopes at points are harmonic means of the
straight lines' beside them, 0 at turns.

They are only ever evaluated one step ahead, by moving the start along and shortening the first time
(section 4.5). Following a curve for K steps and shifting it K times are therefore the same operations,
to the last bit.
"""

from dataclasses import dataclass

import numpy as np

from tumble.maths.compiled import entry, inner

TINY = 1e-9  # s; points nearer than that in time make no slope


@dataclass
class CurveStart:
    """Where all curves begin.

    Attributes:
      value, slope: (size,), of the curve now.
      behind: (size,), the point that was passed last; `age` is the time since.
    """

    value: np.ndarray
    slope: np.ndarray
    behind: np.ndarray
    age: float = 0.0

    @classmethod
    def at_rest(cls, value: np.ndarray) -> "CurveStart":
        """As if that value had been held."""
        return cls(value.copy(), np.zeros_like(value), value.copy())

    def moved(self, plan: np.ndarray, points: int, dt: float) -> "CurveStart":
        """The start of what is left of a plan after dt seconds."""
        _, (value, slope, behind), age = _followed(self, plan[None], points, dt, 1)
        return CurveStart(value, slope, behind, age)


def follow(start: CurveStart, plans: np.ndarray, points: int, dt: float, steps: int) -> np.ndarray:
    """(steps, n, size): plans (n, points * (size + 1)) from one step after the start on; a new array."""
    return _followed(start, plans, points, dt, steps)[0]


def _followed(
    start: CurveStart, plans: np.ndarray, points: int, dt: float, steps: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Curves as of `follow`; where the last one is then: value, slope and point behind (3, size), and age."""
    rows = plans.reshape(len(plans), points, plans.shape[1] // points)
    size = rows.shape[2] - 1
    out, moving = np.empty((steps, len(plans), size)), np.empty((3, size))
    age = _follow(start.value, start.slope, start.behind, start.age, rows, dt, moving, np.empty(points), out)
    return out, moving, age


def shifted(plans: np.ndarray, points: int, dt: float, spare: float) -> np.ndarray:
    """Plans as they are dt seconds later: what was passed is gone, the last point is held for `spare` s more."""
    rows = plans.reshape(len(plans), points, plans.shape[1] // points)
    left, passed, passing = np.full(len(rows), dt), np.zeros(len(rows), np.intp), np.ones(len(rows), bool)
    for times in rows[:, :, -1].T:
        passing &= times <= left
        left[passing] -= times[passing]
        passed += passing
    ahead = passed[:, None] + np.arange(points)
    later = rows[np.arange(len(rows))[:, None], np.minimum(ahead, points - 1)]
    later[ahead >= points, -1] = spare
    some = passed < points
    later[some, 0, -1] -= left[some]
    return later.reshape(plans.shape)


@entry
def _follow(value, slope, behind, age, plans, dt, moving, times, out):  # type: ignore[no-untyped-def]
    """Follow plans (n, points, size + 1) into out (steps, n, size); returns the last one's age.

    Args:
      value, slope, behind, age: of the start.
      moving: (3, size) out: value, slope and point behind at the end of the last plan.
      times: (points,) room.
    """
    points, size = plans.shape[1], plans.shape[2] - 1
    here, speed, past, since = moving[0], moving[1], moving[2], age
    for i in range(plans.shape[0]):
        for j in range(size):
            here[j], speed[j], past[j] = value[j], slope[j], behind[j]
        for p in range(points):
            times[p] = plans[i, p, size]
        since, first = age, 0
        for k in range(out.shape[0]):
            first, since = _advance(here, speed, past, since, plans[i, :, :size], times, first, dt)
            for j in range(size):
                out[k, i, j] = here[j]
    return since


@inner
def _advance(value, slope, behind, age, values, times, first, dt):  # type: ignore[no-untyped-def]
    """Move along by dt: value, slope, behind and times change in place; returns (first point ahead, age)."""
    left = dt
    while first < len(times) and times[first] <= left:
        before, after, ahead = _beside(times, first, age)
        for j in range(len(value)):
            slope[j] = _slope(values[first, j] - behind[j], values[ahead, j] - values[first, j], before, after)
            value[j] = behind[j] = values[first, j]
        left -= times[first]
        first, age = first + 1, 0.0
    if first == len(times):
        slope[:] = 0.0
        return first, age + left
    before, after, ahead = _beside(times, first, age)
    h = times[first]
    rate = 1.0 / h
    s = left * rate
    for j in range(len(value)):
        rise = values[first, j] - value[j]
        least, most = min(0.0, 3.0 * rise), max(0.0, 3.0 * rise)  # slopes beyond that overshoot
        start = min(max(slope[j] * h, least), most)
        end = h * _slope(values[first, j] - behind[j], values[ahead, j] - values[first, j], before, after)
        end = min(max(end, least), most)
        a, b = start + end - 2.0 * rise, 3.0 * rise - 2.0 * start - end  # the cubic a s^3 + b s^2 + start s
        value[j] += s * (start + s * (b + s * a))
        slope[j] = (start + s * (2.0 * b + s * 3.0 * a)) * rate
    times[first] -= left
    return first, age + left


@inner
def _beside(times, i, age):  # type: ignore[no-untyped-def]
    """Seconds before and after point i, the first ahead, and the point after it; itself where it has no slope."""
    if i == len(times) - 1 or age + times[i] < TINY or times[i + 1] < TINY:
        return 1.0, 1.0, i
    return age + times[i], times[i + 1], i + 1


@inner
def _slope(one, two, before, after):  # type: ignore[no-untyped-def]
    """Harmonic mean of one / before and two / after, 0 where they have different signs."""
    product = one * two
    return 2.0 * product / (one * after + two * before) if product > 0.0 else 0.0
