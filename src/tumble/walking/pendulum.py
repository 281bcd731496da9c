"""The inverted pendulum: where a foot must be for it to come to rest, and how it walks (coros2010 section 5.3.2).

A linear inverted pendulum of height h accelerates away from its foot, x'' = w^2 x with the rate w = sqrt(g / h), so
that x(t) = x cosh(w t) + v sinh(w t) / w. Left alone it comes to rest over its capture point, x + v / w.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import dot, sub
from tumble.walking.memory import LEFT

LOWEST = 0.2  # of the leg's length: the lowest pendulum that is reckoned with; ours


@inner
def pendulum_step(speed, height, gravity):  # type: ignore[no-untyped-def]
    """Distance d, m, at which a foot must be for an inverted pendulum to come to rest above it (section 5.3.2).

    v^2 / 2 + g h = g sqrt(h^2 + d^2), solved for d = v sqrt(h / g + v^2 / (4 g^2)): the thesis prints its first
    term only.
    """
    return speed * math.sqrt(height / gravity + speed * speed / (4.0 * gravity * gravity))


@inner
def pendulum_later(place, speed, time, rate):  # type: ignore[no-untyped-def]
    """Place x from its foot and speed v of a linear inverted pendulum t s later, m and m/s.

    x cosh(w t) + v sinh(w t) / w, and v cosh(w t) + x w sinh(w t).
    """
    c, s = math.cosh(rate * time), math.sinh(rate * time)
    return c * place + s * speed / rate, c * speed + s * rate * place


@inner
def gait_ahead(speed, time, period, rate):  # type: ignore[no-untyped-def]
    """Speed, m/s, of a linear pendulum that walks at a mean speed V with steps of T s, t s after a footstrike.

    It steps V T / 2 ahead of itself: V (w T / 2) cosh(w t - w T / 2) / sinh(w T / 2).
    """
    half = 0.5 * rate * period
    return speed * half * math.cosh(rate * time - half) / math.sinh(half)


@inner
def gait_place(speed, time, period, rate):  # type: ignore[no-untyped-def]
    """Place from the stance foot, m, of the pendulum of `gait_ahead`: V T / 2 sinh(w t - w T / 2) / sinh(w T / 2)."""
    half = 0.5 * rate * period
    return 0.5 * speed * period * math.sinh(rate * time - half) / math.sinh(half)


@inner
def gait_side(half_width, time, period, rate):  # type: ignore[no-untyped-def]
    """Place from the stance foot and speed, m and m/s to the swing leg's side, of a pendulum that sways.

    Its feet are W apart: W / 2 cosh(w t - w T / 2) / cosh(w T / 2), and the derivative of that.
    """
    half = 0.5 * rate * period
    x = rate * time - half
    return half_width * math.cosh(x) / math.cosh(half), half_width * rate * math.sinh(x) / math.cosh(half)


@inner
def pendulum_rate(body, look, stance_foot):  # type: ignore[no-untyped-def]
    """w = sqrt(g / h) of the body over its stance foot, 1/s."""
    return math.sqrt(body.gravity / max(look.com[2] - stance_foot[2], LOWEST * body.leg))


@inner
def gait(m, rate, time):  # type: ignore[no-untyped-def]
    """The pendulum's own walk at what is followed, `time` s after the footstrike.

    Returns its speed ahead, m/s, its place from the stance foot to the left, m, and its speed to the left, m/s.
    """
    half = 0.5 * m.step_width * (-1.0 if m.stance == LEFT else 1.0)
    place, drift = gait_side(half, time, m.period, rate)
    place += gait_place(m.drift, time, m.period, rate)
    drift += gait_ahead(m.drift, time, m.period, rate)
    return gait_ahead(m.pendulum_speed, time, m.period, rate), place, drift


@inner
def deviation(body, m, look, stance_foot, later):  # type: ignore[no-untyped-def]
    """How far the body is off the pendulum's own walk, `later` s from now.

    Returns how much further ahead and left `pendulum_step` is at the body's speed than at its walk's, m, and how far
    ahead and left the body will have come by then.
    """
    rate = pendulum_rate(body, look, stance_foot)
    time = min(m.phase, 1.0) * m.period
    later = min(later, m.period - time)
    want_speed, _, want_drift = gait(m, rate, time + later)
    off = sub(look.com, stance_foot)
    x, y = dot(off, look.ahead), dot(off, look.left)
    next_x, speed = pendulum_later(x, look.speed, later, rate)
    next_y, drift = pendulum_later(y, look.drift, later, rate)
    height, g = body.gravity / (rate * rate), body.gravity
    ahead = pendulum_step(speed, height, g) - pendulum_step(want_speed, height, g)
    left = pendulum_step(drift, height, g) - pendulum_step(want_drift, height, g)
    return ahead, left, next_x - x, next_y - y
