"""Messages and beliefs where transitions are noisy: Q != 0 (hamalainen2015 eqs. 13-17, 25, 26).

    starts = drifted(states, dt) / widths(states.shape[1], 0.05, 0.5)
    message = forward(starts, parents, log_belief) - density(starts, parents)
    guides = pick(mixture(states, starts, log_belief), rng.random(len(states)))

Functions of arrays; all messages and beliefs are logarithms. States are given in units of sqrt(Q), so
that a transition potential is exp(-distance^2 / 2). The transition potential of a start x and a
sample (control u, led from start x' to state f(x', u)) asks how far f(x, u) is from f(x', u); that
would take a simulation for each pair, so here both starts drift with their own velocities for a step
(`drifted`) and their distance is taken. For a point mass under any force this is exact.
"""

import numpy as np

from tumble.maths.compiled import Given1, Given2, Given3, Places1, Places2, entry, inner
from tumble.maths.sampling import normalise_into


def widths(features: int, place: float, speed: float) -> np.ndarray:
    """(features,): sqrt(Q) of states that are positions, then as many velocities."""
    return np.repeat([place, speed], features // 2)


def drifted(states: np.ndarray, dt: float) -> np.ndarray:
    """States (..., F) a step of dt s later if no force acts: positions move with their velocities."""
    half = states.shape[-1] // 2
    return np.concatenate([states[..., :half] + dt * states[..., half:], states[..., half:]], axis=-1)


@inner
def _close(one, other):  # type: ignore[no-untyped-def]
    """Logarithm of an unnormalised Gaussian: -|one - other|^2 / 2."""
    total = 0.0
    for f in range(one.size):
        total += (one[f] - other[f]) ** 2
    return -0.5 * total


@inner
def _log_mean(logs):  # type: ignore[no-untyped-def]
    """log(mean(exp(logs))), -inf where all are -inf."""
    top, total = -np.inf, 0.0
    for i in range(logs.size):
        top = max(top, logs[i])
    if top == -np.inf:
        return top
    for i in range(logs.size):
        total += np.exp(logs[i] - top)
    return top + np.log(total / logs.size)


@entry(allocates=True)
def forward(starts: Given2, parents: Places1, log_belief: Given1) -> np.ndarray:
    """(N,): forward messages to the samples of the next step (eq. 17), a new array.

    Args:
      starts: (N, F), where all samples of this step are, drifted, in units of sqrt(Q).
      parents: (N,), the row of `starts` that each sample of the next step began from.
      log_belief: (N,), forward beliefs of this step's samples; zeros where they were resampled.
    """
    n = parents.size
    message, logs = np.empty(n), np.empty(n)
    for i in range(n):
        a = parents[i]
        if i > 0 and a == parents[i - 1]:  # parents are sorted, but for the first few
            message[i] = message[i - 1]
            continue
        for j in range(n):
            logs[j] = _close(starts[j], starts[a]) + log_belief[j]
        message[i] = _log_mean(logs)
    return message


@entry(allocates=True)
def density(starts: Given2, parents: Places1) -> np.ndarray:
    """(N,): how crowded the samples of the next step are, the part of q in eqs. 10 and 11 that states have."""
    n = parents.size
    crowd, logs = np.empty(n), np.empty(n)
    for i in range(n):
        for j in range(n):
            logs[j] = _close(starts[parents[j]], starts[parents[i]])
        crowd[i] = _log_mean(logs)
    return crowd


@entry(allocates=True)
def backward(starts: Given3, ancestors: Places2, potential: Given2) -> np.ndarray:
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


@entry(allocates=True)
def mixture(states: Given2, starts: Given2, log_belief: Given1) -> np.ndarray:
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
        normalise_into(weights[i], weights[i])
    return weights


@entry(allocates=True)
def pick(weights: Given2, u: Given1) -> np.ndarray:
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
