"""Stepping-stone problems, and what a solution of one costs (coros2010 sections 3.3 and 3.3.2).

    stones = stones_of(base, sequence=3, steps=100, seed=0)        # (102,) m ahead of the first heel
    residuals(base, misses, lateral, actions, fell)                # (rows, residuals); their squares sum up to the cost

f = sum_i ||x_i - x_i^d||^2 + gamma (A_i - A_base)^T W (A_i - A_base), in space + (z_i - z_targ)^2: a sum of squares.
"""

import numpy as np

from tumble.stepping.base import Base

WINDOW = 3  # steps that are optimised together; section 3.3.2
STEPS = 100  # of a sequence; section 3.3
GAMMA = 0.1  # section 3.3.2
SPACING = 0.15  # m, z_targ; section 3.3.3
MISSED = 1.0  # m by which a step is taken to miss that was not made: more than any that was; ours


def stones_of(base: Base, sequence: int, steps: int, seed: int) -> np.ndarray:
    """(steps + WINDOW - 1,) m of a sequence's stones from the heel that stands first; their gaps are uniform."""
    gaps = np.random.default_rng((seed, sequence)).uniform(*base.lengths, steps + WINDOW - 1)
    return np.cumsum(gaps)


def residuals(base: Base, misses: np.ndarray, lateral: np.ndarray, actions: np.ndarray, fell: np.ndarray) -> np.ndarray:
    """(rows, r) of windows; the sum of their squares is f.

    Args:
      misses: (rows, w) m, x_i - x_i^d.
      lateral: (rows, w) m, z_i.
      actions: (rows, w, p).
      fell: (rows, w) whether a step was not made; it misses by `MISSED`, whatever came before.
    """
    rows = len(misses)
    away = np.sqrt(GAMMA * np.array(base.weights)) * (actions - base.action)
    parts = [np.where(fell, MISSED, misses), away.reshape(rows, -1)]
    if base.space:
        parts.append(np.where(fell, 0.0, lateral - SPACING))
    return np.concatenate(parts, axis=1)
