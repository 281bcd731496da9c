"""Compiled inner loops of C-PBP."""

import numpy as np
from numba import njit

from tumble.sampling import truncated_normal


@njit(cache=True)
def propose(  # type: ignore[no-untyped-def]
    out, normal, uniform, before, earlier, qpos, address, rest, dt,
    previous, best, smooth, prior, k, warm,
    precision, centre, low, high,
):  # fmt: skip
    """Draw controls (N, D) of step k into `out` (eq. 22); return their control costs (N,).

    Args:
      normal, uniform: (N, D) random numbers.
      before, earlier: (N, D) controls of the last two steps.
      qpos, address, rest, dt: for the pose prior: rows, where the joints are in them, angles, s.
      previous: (N, K, D) trajectories of the previous frame; prior: (N,) which of them, -1 for none.
      best, smooth: (K, D) of the previous frame, for the first `warm` rows.
      precision: (5, D), 1 / width^2 of control, change, bend, pose, mutation.
      centre: (D,) what the control is kept near by the first of them.
    """
    n, size = out.shape
    expense = np.zeros(n)
    informed = k + 1 < previous.shape[1]
    for i in range(n):
        for d in range(size):
            p0, p1, p2 = precision[0, d], precision[1, d], precision[2, d]
            straight = 2.0 * before[i, d] - earlier[i, d]
            if informed and i < warm:
                x = best[k + 1, d] if i == 0 else smooth[k + 1, d]
            else:
                total = p0 + p1 + p2
                mean = p0 * centre[d] + p1 * before[i, d] + p2 * straight
                if d < address.size:
                    total += precision[3, d]
                    mean += precision[3, d] * (rest[d] - qpos[i, address[d]]) / dt
                if informed and prior[i] >= 0:
                    total += precision[4, d]
                    mean += precision[4, d] * previous[prior[i], k + 1, d]
                x = truncated_normal(mean / total, total**-0.5, low[d], high[d], normal[i, d], uniform[i, d])
            out[i, d] = x
            expense[i] += p0 * (x - centre[d]) ** 2 + p1 * (x - before[i, d]) ** 2 + p2 * (x - straight) ** 2
    return expense


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
            after[i] = states[k + 1, i]
            joint[i, :features] = states[k, ancestors[k, i]]
            joint[i, features:] = controls[k, i]
            mean_after += weights[k, i] * after[i]
            mean_joint += weights[k, i] * joint[i]
        for i in range(n):
            root = np.sqrt(weights[k, i])
            after[i] = root * (after[i] - mean_after)
            joint[i] = root * (joint[i] - mean_joint)
        covariance = after.T @ after
        for f in range(features):
            covariance[f, f] += regularisation
        gain = np.linalg.solve(covariance, x - mean_after)
        estimate = mean_joint + joint.T @ (after @ gain)
        x = estimate[:features].copy()
        smooth[k] = estimate[features:]
    return smooth, path
