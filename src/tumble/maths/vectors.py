"""Vectors, rotations and splines for compiled code: tuples of floats, quaternions as (w, x, y, z)."""

import math

import numpy as np

from tumble.maths.compiled import inner


@inner
def vec(row):  # type: ignore[no-untyped-def]
    """The first three numbers of an array."""
    return (row[0], row[1], row[2])


@inner
def add(a, b):  # type: ignore[no-untyped-def]
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inner
def sub(a, b):  # type: ignore[no-untyped-def]
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inner
def scale(s, a):  # type: ignore[no-untyped-def]
    """s a."""
    return (s * a[0], s * a[1], s * a[2])


@inner
def dot(a, b):  # type: ignore[no-untyped-def]
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def cross(a, b):  # type: ignore[no-untyped-def]
    """Vector product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inner
def clamp(x, low, high):  # type: ignore[no-untyped-def]
    """x within [low, high]."""
    return min(max(x, low), high)


@inner
def towards(x, wish, step):  # type: ignore[no-untyped-def]
    """x, moved towards a wish by a step at most."""
    return x + clamp(wish - x, -step, step)


@inner
def shortened(a, longest):  # type: ignore[no-untyped-def]
    """The vector, made shorter where it is longer than `longest`."""
    length = math.sqrt(dot(a, a))
    return scale(longest / length, a) if length > longest else a


@inner
def multiply(p, q):  # type: ignore[no-untyped-def]
    """The rotation q, then p."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@inner
def about(axis, angle):  # type: ignore[no-untyped-def]
    """The rotation about axis 0 (x), 1 (y) or 2 (z) by an angle, rad."""
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return (c, s if axis == 0 else 0.0, s if axis == 1 else 0.0, s if axis == 2 else 0.0)


@inner
def turned(q, a):  # type: ignore[no-untyped-def]
    """The vector a, rotated by q."""
    u = (q[1], q[2], q[3])
    t = scale(2.0, cross(u, a))
    return add(add(a, scale(q[0], t)), cross(u, t))


@inner
def turn_between(start, end):  # type: ignore[no-untyped-def]
    """Rotation vector, rad in the frame both are given in, that takes the rotation `start` to `end`."""
    w, x, y, z = multiply(end, (start[0], -start[1], -start[2], -start[3]))
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(s, w) / s if s > 1e-9 else 2.0
    return (factor * x, factor * y, factor * z)


@inner
def from_axes(x, y, z):  # type: ignore[no-untyped-def]
    """The rotation whose axes are the orthonormal vectors x, y, z."""
    trace = x[0] + y[1] + z[2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(trace + 1.0)
        return (0.25 * s, (y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s)
    if x[0] > y[1] and x[0] > z[2]:
        s = 2.0 * math.sqrt(1.0 + x[0] - y[1] - z[2])
        return ((y[2] - z[1]) / s, 0.25 * s, (y[0] + x[1]) / s, (z[0] + x[2]) / s)
    if y[1] > z[2]:
        s = 2.0 * math.sqrt(1.0 + y[1] - x[0] - z[2])
        return ((z[0] - x[2]) / s, (y[0] + x[1]) / s, 0.25 * s, (z[1] + y[2]) / s)
    s = 2.0 * math.sqrt(1.0 + z[2] - x[0] - y[1])
    return ((x[1] - y[0]) / s, (z[0] + x[2]) / s, (z[1] + y[2]) / s, 0.25 * s)


@inner
def wrapped(angle):  # type: ignore[no-untyped-def]
    """The angle within [-pi, pi)."""
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@inner
def along(heading, place):  # type: ignore[no-untyped-def]
    """How far along a heading, rad, a place is from the origin, m: x cos + y sin."""
    return place[0] * math.cos(heading) + place[1] * math.sin(heading)


@inner
def yaw(q):  # type: ignore[no-untyped-def]
    """Heading of a rotation, rad from the x axis: atan2(2 (w z + x y), 1 - 2 (y^2 + z^2)), in [-pi, pi]."""
    return math.atan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]))


def yaws(quat: np.ndarray) -> np.ndarray:
    """Headings (n,) of rotations (n, 4), for Python; see `yaw`."""
    ahead = 1 - 2 * (quat[:, 2] ** 2 + quat[:, 3] ** 2)
    return np.asarray(np.arctan2(2 * (quat[:, 0] * quat[:, 3] + quat[:, 1] * quat[:, 2]), ahead))


@inner
def spline(knots, count, x):  # type: ignore[no-untyped-def]
    """Value at x of the Catmull-Rom spline through (count, 2) sorted knots; constant beyond its ends."""
    if count == 1 or x <= knots[0, 0]:
        return knots[0, 1]
    if x >= knots[count - 1, 0]:
        return knots[count - 1, 1]
    i = 1
    while knots[i, 0] < x:
        i += 1
    x0, x1, y0, y1 = knots[i - 1, 0], knots[i, 0], knots[i - 1, 1], knots[i, 1]
    t = (x - x0) / (x1 - x0)
    # tangents of the neighbours' chord, in units of this segment; at an end the segment's own
    before, after = max(i - 2, 0), min(i + 1, count - 1)
    m0 = (y1 - knots[before, 1]) / (x1 - knots[before, 0]) * (x1 - x0)
    m1 = (knots[after, 1] - y0) / (knots[after, 0] - x0) * (x1 - x0)
    t2, t3 = t * t, t * t * t
    return (2 * t3 - 3 * t2 + 1) * y0 + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * y1 + (t3 - t2) * m1
