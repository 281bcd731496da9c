"""Rotations of many things at once, for Python: quaternions (..., 4) as (w, x, y, z).

    local = multiply(conjugate(parents), globals)      # all of them unit quaternions
    turned(local, offsets)                             # vectors (..., 3)

Compiled code has its own, of tuples, in `tumble.maths.vectors`.
"""

import numpy as np

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def multiply(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The rotation q, then p: p q, (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(p), -1, 0)
    a, b, c, d = np.moveaxis(np.asarray(q), -1, 0)
    product = (
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )
    return np.stack(product, -1)


def conjugate(q: np.ndarray) -> np.ndarray:
    """The rotation back, (..., 4)."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors v (..., 3), rotated by q: v + 2 w (u x v) + 2 u x (u x v), u the vector part."""
    u = q[..., 1:]
    t = 2 * np.cross(u, v)
    return np.asarray(v + q[..., :1] * t + np.cross(u, t))


def about(axis: np.ndarray, angle: np.ndarray | float) -> np.ndarray:
    """Rotations about a unit axis (3,) by angles (...), rad, (..., 4)."""
    half = 0.5 * np.asarray(angle, float)[..., None]
    return np.concatenate([np.cos(half), np.sin(half) * np.asarray(axis)], -1)


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The smallest rotation that turns the direction a (3,) into b (3,), which are not opposite, (4,)."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    q = np.array([1.0 + a @ b, *np.cross(a, b)])
    return np.asarray(q / np.linalg.norm(q))


def matrices(q: np.ndarray) -> np.ndarray:
    """Matrices (..., 3, 3) whose columns are where the axes go."""
    return np.stack([turned(q, axis * np.ones((*q.shape[:-1], 1))) for axis in np.eye(3)], -1)


def continuous(q: np.ndarray) -> np.ndarray:
    """The same rotations (n, ..., 4) with signs by which each is as near as can be to the one before."""
    dots = (q[1:] * q[:-1]).sum(-1)
    signs = np.concatenate([np.ones_like(q[:1, ..., 0]), np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)])
    return np.asarray(q * signs[..., None])


def slerp(p: np.ndarray, q: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The rotations a share (...) of the shorter way from p to q at even speed, (..., 4)."""
    dot = (p * q).sum(-1)
    q = np.where(dot[..., None] < 0, -q, q)
    angle = np.arccos(np.clip(np.abs(dot), 0.0, 1.0))
    sine = np.sin(angle)
    near = sine < 1e-6  # rad; there the straight line is as good
    safe = np.where(near, 1.0, sine)
    a = np.where(near, 1 - share, np.sin((1 - share) * angle) / safe)
    b = np.where(near, share, np.sin(share * angle) / safe)
    mixed = a[..., None] * p + b[..., None] * q
    return np.asarray(mixed / np.linalg.norm(mixed, axis=-1, keepdims=True))


def twist(q: np.ndarray, axis: int) -> np.ndarray:
    """How far rotations turn about axis 0, 1 or 2 (swing after twist), rad in [-pi, pi]: 2 atan2(q_axis, q_w)."""
    return wrapped_angles(2 * np.arctan2(q[..., 1 + axis], q[..., 0]))


def wrapped_angles(angles: np.ndarray) -> np.ndarray:
    """The same angles in [-pi, pi), rad."""
    return np.asarray((angles + np.pi) % (2 * np.pi) - np.pi)


def eulers(q: np.ndarray, order: str) -> np.ndarray:
    """Angles (n, ..., 3), rad, of rotations about moving axes in an order such as 'zyx', without jumps in time.

    q = about(order[0], a0) about(order[1], a1) about(order[2], a2). Of the two triples of angles that make a rotation
    the one nearer to the moment before is taken, so that curves stay whole where the middle angle passes 90 degrees.
    """
    i, j, k = ("xyz".index(letter) for letter in order)
    sign = 1.0 if (i, j, k) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1.0
    m = matrices(q)
    middle = np.arcsin(np.clip(sign * m[..., i, k], -1.0, 1.0))
    first = np.arctan2(-sign * m[..., j, k], m[..., k, k])
    last = np.arctan2(-sign * m[..., i, j], m[..., i, i])
    one = np.stack([first, middle, last], -1)
    other = np.stack([first + np.pi, np.pi - middle, last + np.pi], -1)
    angles = one.copy()
    for t in range(1, len(angles)):
        before = angles[t - 1]
        ways = [way - 2 * np.pi * np.round((way - before) / (2 * np.pi)) for way in (one[t], other[t])]
        nearer = np.abs(ways[0] - before).sum(-1) <= np.abs(ways[1] - before).sum(-1)
        angles[t] = np.where(nearer[..., None], *ways)
    return angles
