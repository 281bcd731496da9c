"""Compiled inner loops of C-PBP."""

import numpy as np
from numba import njit

from tumble.maths.sampling import effective_count, normalise, truncated_normal


@njit(cache=True)
def propose(  # type: ignore[no-untyped-def]
    out, expense, normal, uniform, before, earlier, qpos, address, rest, dt,
    previous, best, smooth, prior, k, warm,
    precision, centre, low, high, follow, boldness,
):  # fmt: skip
    """Draw controls (N, D) of step k into `out` (eq. 22), their control costs into `expense` (N,).

    Args:
      normal, uniform: (N, D) random numbers.
      before, earlier: (N, D) controls of the last two steps.
      qpos, address, rest, dt: for the pose prior: rows, where the joints are in them, angles, s.
      previous: (K, N, D) controls of the previous frame; prior: (N,) which of a step's, -1 for none.
      best, smooth: (K, D) of the previous frame, for the first `warm` rows.
      k: which step of the previous frame is at hand; K or more for none.
      precision: (5, D), 1 / width^2 of control, change, bend, pose, mutation.
      centre: (D,) what the control is kept near by the first of them.
      follow: whether a guided walker's change is counted from its guide's change.
      boldness: (N,) factors on the widths of guided walkers.
    """
    n, size = out.shape
    informed, posed = k < previous.shape[0], address.size
    total, width = np.empty((2, size)), np.empty((2, size))  # without and with the previous frame
    for d in range(size):
        total[0, d] = precision[0, d] + precision[1, d] + precision[2, d] + (precision[3, d] if d < posed else 0.0)
        total[1, d] = total[0, d] + precision[4, d]
        width[0, d], width[1, d] = total[0, d] ** -0.5, total[1, d] ** -0.5
    for i in range(n):
        spent = 0.0
        guided = 1 if informed and prior[i] >= 0 else 0
        for d in range(size):
            p0, p1, p2 = precision[0, d], precision[1, d], precision[2, d]
            straight = 2.0 * before[i, d] - earlier[i, d]
            if informed and i < warm:
                x = best[k, d] if i == 0 else smooth[k, d]
            else:
                mean, last, sd = p0 * centre[d] + p2 * straight, before[i, d], width[guided, d]
                if d < posed:
                    mean += precision[3, d] * (rest[d] - qpos[i, address[d]]) / dt
                if guided == 1:
                    guide = previous[k, prior[i], d]
                    mean += precision[4, d] * guide
                    sd *= boldness[i]
                    if follow:
                        last += guide - (previous[k - 1, prior[i], d] if k > 0 else last)
                mean += p1 * last
                x = truncated_normal(mean / total[guided, d], sd, low[d], high[d], normal[i, d], uniform[i, d])
            out[i, d] = x
            spent += p0 * (x - centre[d]) ** 2 + p1 * (x - before[i, d]) ** 2 + p2 * (x - straight) ** 2
        expense[i] = spent


@njit(cache=True)
def weigh(  # type: ignore[no-untyped-def]
    values, expense, control_weight, ceiling, message, totals, potential, log_belief, weights
):  # fmt: skip
    """Count a step's costs and beliefs; return the effective count (eqs. 16, 18, 20, 21).

    Args:
      values, expense: (N, terms) and (N,), the costs of states and controls; control_weight: of the latter in totals.
      ceiling: T_gamma, which keeps the best walker's potential from vanishing.
      message: (N,) logarithm of the forward messages.
      totals: (N,) costs so far; the step's are added.
      potential, log_belief, weights: (N,) out: logarithms of potential and forward belief; normalised belief.
    """
    n = values.shape[0]
    least = np.inf
    for i in range(n):
        cost = 0.0
        for j in range(values.shape[1]):
            cost += values[i, j]
        totals[i] += cost + control_weight * expense[i]
        potential[i] = cost
        least = min(least, cost)
    gamma = ceiling / max(ceiling, least) if least < np.inf else 1.0
    for i in range(n):
        potential[i] *= -0.5 * gamma
        log_belief[i] = message[i] + potential[i]
    weights[:] = normalise(log_belief)
    return effective_count(weights)


@njit(cache=True)
def path_of(ancestors):  # type: ignore[no-untyped-def]
    """(K, N): the row at step k that the walker in row i at the end came through."""
    steps, n = ancestors.shape
    lineage = np.empty((steps, n), np.intp)
    lineage[steps - 1] = np.arange(n)
    for k in range(steps - 1, 0, -1):
        for i in range(n):
            lineage[k - 1, i] = ancestors[k, lineage[k, i]]
    return lineage


@njit(cache=True)
def refine(controls, states, ancestors, weights, final, regularisation):  # type: ignore[no-untyped-def]
    """The local refinement backward pass (Algorithm 1, eq. 19).

    Args:
      controls: (K, N, D), the control that led to states[k + 1].
      states: (K + 1, N, F), the first before any step.
      ancestors: (K, N), the row of states[k] that row i of states[k + 1] came from.
      weights: (K, N), forward belief of the step before, as carried to row i of step k + 1.
      final: (N,), the last states' potentials, normalised.
      regularisation: lambda.

    Returns:
      the smoothed controls (K, D) and states (K, F).
    """
    steps, n, size = controls.shape
    features = states.shape[2]
    smooth, path = np.empty((steps, size)), np.empty((steps, features))
    x = np.zeros(features)
    for i in range(n):
        x += final[i] * states[steps, i]
    after, joint = np.empty((n, features)), np.empty((n, features + size))
    for k in range(steps - 1, -1, -1):
        path[k] = x
        mean_after, mean_joint = np.zeros(features), np.zeros(features + size)
        for i in range(n):
            weight, parent = weights[k, i], ancestors[k, i]
            for f in range(features):
                after[i, f], joint[i, f] = states[k + 1, i, f], states[k, parent, f]
                mean_after[f] += weight * after[i, f]
            for d in range(size):
                joint[i, features + d] = controls[k, i, d]
            for f in range(features + size):
                mean_joint[f] += weight * joint[i, f]
        for i in range(n):
            root = np.sqrt(weights[k, i])
            for f in range(features):
                after[i, f] = root * (after[i, f] - mean_after[f])
            for f in range(features + size):
                joint[i, f] = root * (joint[i, f] - mean_joint[f])
        covariance = after.T @ after
        for f in range(features):
            covariance[f, f] += regularisation
        gain = np.linalg.solve(covariance, x - mean_after)
        estimate = mean_joint + joint.T @ (after @ gain)
        x = estimate[:features].copy()
        smooth[k] = estimate[features:]
    return smooth, path
