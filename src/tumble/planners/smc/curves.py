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
from numba import njit

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
        rows = plan.reshape(points, -1)
        values, times = rows[:, :-1].copy(), rows[:, -1].copy()
        next = CurveStart(self.value.copy(), self.slope.copy(), self.behind.copy(), self.age)
        _, next.age = _advance(next.value, next.slope, next.behind, self.age, values, times, 0, dt)
        return next


def follow(start: CurveStart, plans: np.ndarray, points: int, dt: float, steps: int) -> np.ndarray:
    """(steps, n, size): plans (n, points * (size + 1)) from one step after the start on."""
    rows = plans.reshape(len(plans), points, plans.shape[1] // points)
    return np.asarray(_follow(start.value, start.slope, start.behind, start.age, rows, dt, steps))


def shifted(plans: np.ndarray, points: int, dt: float, spare: float) -> np.ndarray:
    """Plans as they are dt seconds later: what was passed is gone, the last point is held for `spare` s more."""
    rows = plans.reshape(len(plans), points, plans.shape[1] // points)
    return np.asarray(_shifted(rows, dt, spare)).reshape(plans.shape)


@njit(cache=True, error_model="numpy")  # without checks for division by 0, which keep loops from being vectorised
def _follow(value, slope, behind, age, plans, dt, steps):  # type: ignore[no-untyped-def]
    n, points, size = plans.shape[0], plans.shape[1], plans.shape[2] - 1
    out = np.empty((steps, n, size))
    times, here, speed, past = np.empty(points), np.empty(size), np.empty(size), np.empty(size)
    for i in range(n):
        here[:], speed[:], past[:], since, first = value, slope, behind, age, 0
        times[:] = plans[i, :, size]
        for k in range(steps):
            first, since = _advance(here, speed, past, since, plans[i, :, :size], times, first, dt)
            out[k, i] = here
    return out


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def _beside(times, i, age):  # type: ignore[no-untyped-def]
    """Seconds before and after point i, the first ahead, and the point after it; itself where it has no slope."""
    if i == len(times) - 1 or age + times[i] < TINY or times[i + 1] < TINY:
        return 1.0, 1.0, i
    return age + times[i], times[i + 1], i + 1


@njit(cache=True, error_model="numpy")
def _slope(one, two, before, after):  # type: ignore[no-untyped-def]
    """Harmonic mean of one / before and two / after, 0 where they have different signs."""
    product = one * two
    return 2.0 * product / (one * after + two * before) if product > 0.0 else 0.0


@njit(cache=True)
def _shifted(plans, dt, spare):  # type: ignore[no-untyped-def]
    n, points, size = plans.shape[0], plans.shape[1], plans.shape[2] - 1
    out = np.empty_like(plans)
    for i in range(n):
        left, first = dt, 0
        while first < points and plans[i, first, size] <= left:
            left -= plans[i, first, size]
            first += 1
        for k in range(points):
            if first + k < points:
                out[i, k] = plans[i, first + k]
            else:
                out[i, k] = plans[i, points - 1]
                out[i, k, size] = spare
        if first < points:
            out[i, 0, size] -= left
    return out
