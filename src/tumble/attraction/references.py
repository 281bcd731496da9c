"""References: what joints are told to do over time, as cubic B-splines of few points (alborno2016 section 4.1).

    points = kinematic(angles, towards, count=3)   # (3, joints): the start of an optimisation
    track = references(points)                     # (6, 2 * joints): a control of the PD drive for each frame of 0.2 s

Points are `SPACING` s apart, that is `EVERY` frames. A reference is between its frames a straight line, as the PD drive
has it.
"""

import functools

import numpy as np

from tumble.world.drives import FRAME

EVERY = 3  # frames from point to point
SPACING = EVERY * FRAME  # s; 0.1, alborno2016 section 4.1


@functools.cache
def _basis(count: int) -> np.ndarray:
    """(frames + 1, count): weights of the points at the borders of frames.

    Uniform cubic B-spline r(t) = sum_i B(t / SPACING - i) p_i with the first and the last point there twice, so that
    `count` points span count - 1 intervals.
    """
    places = np.arange(EVERY * (count - 1) + 1) / EVERY
    weights = np.zeros((len(places), count))
    for i in range(-1, count + 1):
        x = np.abs(places - i)
        bump = np.where(x < 1, 2 / 3 - x**2 + x**3 / 2, np.where(x < 2, (2 - x) ** 3 / 6, 0.0))
        weights[:, min(max(i, 0), count - 1)] += bump
    return weights


def references(points: np.ndarray) -> np.ndarray:
    """Controls of the PD drive (..., frames, 2 * joints) that follow the spline of points (..., count, joints), rad.

    A control has the references at its frame's beginning and end. One point alone spans no frame.
    """
    track = _basis(points.shape[-2]) @ points
    return np.concatenate([track[..., :-1, :], track[..., 1:, :]], axis=-1)


def kinematic(start: np.ndarray, end: np.ndarray, count: int) -> np.ndarray:
    """Points (count, joints) in a straight line from angles to angles, rad: how optimisations begin (section 4.1)."""
    return start + np.linspace(0.0, 1.0, count)[:, None] * (end - start)


def points_of(seconds: float) -> int:
    """How many points span some seconds; at least two."""
    return max(2, 1 + round(seconds / SPACING))
