"""Random choices that planners share: resampling, effective counts, truncated Gaussians.

    weights = normalise(-0.5 * costs)                    # w, sum 1
    ancestors = resample(weights, rng.random(32))        # 32 descendants, each row w n times on average

Functions of arrays and of random numbers that the caller drew, so that results depend on the caller's generator
alone. Those of compiled code take where to write.
"""

import math

import numpy as np

from tumble.maths.bundles import random_share, random_word
from tumble.maths.compiled import Given1, Made1, entry, inner


def normalise(log_weights: np.ndarray) -> np.ndarray:
    """(n,): w = exp(l) / sum exp(l) of logarithms l (n,), a new array; uniform where all are -inf or any is nan."""
    weights = np.empty(len(log_weights))
    _normalise(log_weights, weights)
    return weights


@entry
def _normalise(log_weights: Given1, out: Made1) -> None:
    normalise_into(log_weights, out)


@inner
def normalise_into(log_weights, out):  # type: ignore[no-untyped-def]
    """`normalise` for compiled code: weights into out (n,), which may be log_weights itself."""
    n, top, total = log_weights.size, -np.inf, 0.0
    for i in range(n):
        if log_weights[i] > top:
            top = log_weights[i]
        elif math.isnan(log_weights[i]):
            top = -np.inf
            break
    if top == -np.inf:
        out[:] = 1.0 / n
        return
    for i in range(n):
        out[i] = math.exp(log_weights[i] - top)
        total += out[i]
    for i in range(n):
        out[i] /= total


@inner
def effective_count(weights):  # type: ignore[no-untyped-def]
    """1 / sum w^2 of normalised weights: n for equal ones, 1 when one has it all (hamalainen2015 eq. 18)."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * weights[i]
    return 1.0 / total


@inner
def below(dice, n):  # type: ignore[no-untyped-def]
    """An integer in [0, n), n < 2^31, the one that `Generator.integers(n)` would give (Lemire's method)."""
    if n == 1:
        return 0
    product = random_word(dice.state, dice.word) * n
    if product & 0xFFFFFFFF < n:
        least = (0x100000000 - n) % n
        while product & 0xFFFFFFFF < least:
            product = random_word(dice.state, dice.word) * n
    return product >> 32


@inner
def share(dice):  # type: ignore[no-untyped-def]
    """A number in [0, 1), the one that `Generator.random()` would give."""
    return random_share(dice.state, dice.share)


def resample(weights: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Ancestors for u.size descendants: sorted indices, each expected w n times (systematic), none without weight.

    Descendant i comes from the first row whose cumulative weight is above (i + u) / n.

    Args:
      weights: normalised.
      u: one uniform number in [0, 1) per descendant; only u[0] is used.
    """
    positions = (np.arange(u.size) + u[0]) / u.size
    ancestors = weights.cumsum().searchsorted(positions, side="right")
    some = np.flatnonzero(weights)  # a position may round to 1 or more, or the sum to less
    return np.minimum(ancestors, some[-1] if some.size else 0)


@inner
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


@inner
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
