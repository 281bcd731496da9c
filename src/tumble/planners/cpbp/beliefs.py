"""Messages and beliefs where transitions are noisy: Q != 0 (hamalainen2015 eqs. 13-17, 25, 26).

Functions of arrays; all messages and beliefs are logarithms. States are given in units of sqrt(Q), so
that a transition potential is exp(-distance^2 / 2). The transition potential of a start x and a
sample (control u, led from start x' to state f(x', u)) asks how far f(x, u) is from f(x', u); that
would take a simulation for each pair, so here both starts drift with their own velocities for a step
(`drifted`) and their distance is taken. For a point mass under any force this is exact.
"""

import numpy as np
from numba import njit

from tumble.maths.sampling import normalise


def widths(features: int, place: float, speed: float) -> np.ndarray:
    """(features,): sqrt(Q) of states that are positions, then as many velocities."""
    return np.repeat([place, speed], features // 2)


def drifted(states: np.ndarray, dt: float) -> np.ndarray:
    """States (..., F) a step of dt s later if no force acts: positions move with their velocities."""
    half = states.shape[-1] // 2
    return np.concatenate([states[..., :half] + dt * states[..., half:], states[..., half:]], axis=-1)


@njit(cache=True)
def _close(one, other):  # type: ignore[no-untyped-def]
    """Logarithm of an unnormalised Gaussian: -|one - other|^2 / 2."""
    total = 0.0
    for f in range(one.size):
        total += (one[f] - other[f]) ** 2
    return -0.5 * total


@njit(cache=True)
def _log_mean(logs):  # type: ignore[no-untyped-def]
    """log(mean(exp(logs))), -inf where all are -inf."""
    top = logs.max()
    return top + np.log(np.exp(logs - top).mean()) if top > -np.inf else -np.inf


@njit(cache=True)
def forward(starts, parents, log_belief):  # type: ignore[no-untyped-def]
    """(N,): forward messages to the samples of the next step (eq. 17).

    Args:
      starts: (N, F), where all samples of this step are, drifted, in units of sqrt(Q).
      parents: (N,), the row of `starts` that each sample of the next step began from.
      log_belief: (N,), forward beliefs of this step's samples; zeros where they were resampled.
    """
    n = parents.size
    message, known, logs = np.empty(n), np.zeros(n, np.bool_), np.empty(n)
    for i in range(n):
        a = parents[i]
        if not known[a]:
            for j in range(n):
                logs[j] = _close(starts[j], starts[a]) + log_belief[j]
            message[a], known[a] = _log_mean(logs), True
    return message[parents]


@njit(cache=True)
def density(starts, parents):  # type: ignore[no-untyped-def]
    """(N,): how crowded the samples of the next step are, the part of q in eqs. 10 and 11 that states have."""
    n = parents.size
    crowd, logs = np.empty(n), np.empty(n)
    for i in range(n):
        for j in range(n):
            logs[j] = _close(starts[parents[j]], starts[parents[i]])
        crowd[i] = _log_mean(logs)
    return crowd


@njit(cache=True)
def backward(starts, ancestors, potential):  # type: ignore[no-untyped-def]
    """(K, N): backward messages (eq. 15), 0 at the last step.

    Args:
      starts: (K, N, F), starts[k + 1] where the samples of step k are, drifted, in units of sqrt(Q);
        starts[0] is not used.
      ancestors: (K, N), the row of starts[k] that each sample of step k began from.
      potential: (K, N), alpha of the samples, over their density where it is to count.
    """
    steps, n = ancestors.shape
    message, logs, near = np.zeros((steps, n)), np.empty(n), np.empty((n, n))
    for k in range(steps - 2, -1, -1):
        for i in range(n):
            for j in range(i + 1):
                near[i, j] = near[j, i] = _close(starts[k + 1, i], starts[k + 1, j])
        for i in range(n):
            for j in range(n):
                logs[j] = near[i, ancestors[k + 1, j]] + potential[k + 1, j] + message[k + 1, j]
            message[k, i] = _log_mean(logs)
    return message


@njit(cache=True)
def mixture(states, starts, log_belief):  # type: ignore[no-untyped-def]
    """(N, N): in row i the weights of the previous frame's samples for a sample that begins at states[i] (eq. 26).

    Args:
      states: (N, F), in units of sqrt(Q).
      starts: (N, F), where the previous frame's samples of that instant began, in the same units.
      log_belief: (N,), theirs (eq. 13).

    Returns:
      weights that sum to 1 in every row; uniform where no sample had any belief.
    """
    n = states.shape[0]
    weights = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            weights[i, j] = log_belief[j] + _close(states[i], starts[j])
        weights[i] = normalise(weights[i])
    return weights


@njit(cache=True)
def pick(weights, u):  # type: ignore[no-untyped-def]
    """(N,): a component for each row of weights (N, N), from one uniform number each; none without weight."""
    picked = np.empty(u.size, np.intp)
    for i in range(u.size):
        j = last = 0
        below = 0.0
        for j in range(weights.shape[1]):
            if weights[i, j] > 0.0:
                last = j
                below += weights[i, j]
                if u[i] < below:
                    break
        picked[i] = last
    return picked
