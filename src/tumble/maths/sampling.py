"""Random choices that planners share: resampling, effective counts, truncated Gaussians.

Functions of arrays and of random numbers that the caller drew, so that results depend on the
caller's generator alone. Compiled with numba on first call.
"""

import math

import numpy as np
from numba import njit


@njit(cache=True)
def normalise(log_weights):  # type: ignore[no-untyped-def]
    """Weights that sum to 1 from unnormalised logarithms; uniform where all are -inf."""
    top = log_weights.max()
    if not top > -np.inf:
        return np.full(log_weights.size, 1.0 / log_weights.size)
    weights = np.exp(log_weights - top)
    return weights / weights.sum()


@njit(cache=True)
def effective_count(weights):  # type: ignore[no-untyped-def]
    """1 / sum w^2 of normalised weights: n for equal ones, 1 when one has it all (2015 eq. 18)."""
    return 1.0 / (weights * weights).sum()


@njit(cache=True)
def resample(weights, u):  # type: ignore[no-untyped-def]
    """Ancestors for u.size descendants: sorted indices, each expected w n times (systematic), none without weight.

    Args:
      weights: normalised.
      u: one uniform number in [0, 1) per descendant; only u[0] is used.
    """
    n = u.size
    ancestors = np.empty(n, np.intp)
    cumulative, j, last = weights[0], 0, weights.size - 1
    while last > 0 and weights[last] == 0.0:  # a position may round to 1 or more, or the sum to less
        last -= 1
    for i in range(n):
        position = (i + u[0]) / n
        while position >= cumulative and j < last:
            j += 1
            cumulative += weights[j]
        ancestors[i] = j
    return ancestors


@njit(cache=True)
def normal_quantile(p):  # type: ignore[no-untyped-def]
    """x with Phi(x) = p for p in (0, 0.5], to a relative 1e-9: a rational start, two Halley steps."""
    if p < 1e-300:
        return -37.0
    t = math.sqrt(-2.0 * math.log(p))
    x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))))
    for _ in range(2):
        density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
        e = (0.5 * math.erfc(-x / math.sqrt(2.0)) - p) / density
        x -= e / (1.0 + 0.5 * x * e)
    return x


@njit(cache=True)
def truncated_normal(mean, sd, low, high, z, u):  # type: ignore[no-untyped-def]
    """One draw from N(mean, sd^2) kept to [low, high], from a normal z and a uniform u.

    The normal draw serves when it falls inside; else the inverse of the truncated distribution does.
    The mixture of the two has exactly the truncated distribution.
    """
    x = mean + sd * z
    if low <= x <= high:
        return x
    a, b = (low - mean) / sd, (high - mean) / sd
    sign = 1.0
    if a + b > 0.0:  # work in the lower tail, where Phi keeps its digits
        a, b, sign = -b, -a, -1.0
    lower, upper = 0.5 * math.erfc(-a / math.sqrt(2.0)), 0.5 * math.erfc(-b / math.sqrt(2.0))
    p = lower + u * (upper - lower)
    if p <= 0.0:  # bounds beyond 37 sigma: all the mass is at the nearer one
        x = b
    elif p <= 0.5:
        x = normal_quantile(p)
    else:
        x = -normal_quantile(1.0 - p)
    return min(max(mean + sign * sd * x, low), high)
