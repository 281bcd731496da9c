"""Inner loops of C-PBP: drawing and weighing (hamalainen2015 section 3), compiled; lineage and refinement, in numpy.

    propose(controls[k], expense, ...)                       # eq. 22
    count = weigh(values, expense, ..., weights, alone)      # eqs. 16, 18, 20, 21
    lineage = path_of(ancestors)                             # (K, N)
    smooth, path = refinement(controls, ends, ancestors, ...)    # Algorithm 1

All random numbers are the caller's, and so is all memory that is written.
"""

import math

import numpy as np

from tumble.maths.compiled import Given1, Given2, Given3, Made1, Made2, Places1, entry
from tumble.maths.sampling import effective_count, normalise_into, truncated_normal


@entry
def propose(
    out: Made2, expense: Made1, normal: Given2, uniform: Given2, before: Given2, earlier: Given2,
    qpos: Given2, address: Places1, rest: Given1, dt: float,
    previous: Given3, best: Given2, smooth: Given2, prior: Places1, k: int, warm: int,
    precision: Given2, centre: Given1, low: Given1, high: Given1, follow: bool, boldness: Given1,
) -> None:  # fmt: skip
    """Draw controls (N, D) of step k into `out` (eq. 22), their control costs into `expense` (N,).

    u ~ N(0, C_u) N(u_k-1, C_du) N(2 u_k-1 - u_k-2, C_ddu) N((pose - q) / dt, C_p) N(guide, C_m), kept to the bounds:
    a Gaussian whose precision is the sum of theirs, and whose mean is theirs weighted by precision. The expense of u
    is the sum of the first three exponents, times -2.

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
    expense[:] = 0.0
    for d in range(size):
        p0, p1, p2, p3 = precision[0, d], precision[1, d], precision[2, d], precision[3, d] if d < posed else 0.0
        alone = p0 + p1 + p2 + p3
        both = alone + precision[4, d]  # with the previous frame
        wide, narrow = alone**-0.5, both**-0.5
        for i in range(n):
            straight = 2.0 * before[i, d] - earlier[i, d]
            if informed and i < warm:
                x = best[k, d] if i == 0 else smooth[k, d]
            else:
                mean, last, total, sd = p0 * centre[d] + p2 * straight, before[i, d], alone, wide
                if d < posed:
                    mean += p3 * (rest[d] - qpos[i, address[d]]) / dt
                if informed and prior[i] >= 0:
                    guide, total, sd = previous[k, prior[i], d], both, narrow * boldness[i]
                    mean += precision[4, d] * guide
                    if follow:
                        last += guide - (previous[k - 1, prior[i], d] if k > 0 else last)
                mean += p1 * last
                x = truncated_normal(mean / total, sd, low[d], high[d], normal[i, d], uniform[i, d])
            out[i, d] = x
            expense[i] += p0 * (x - centre[d]) ** 2 + p1 * (x - before[i, d]) ** 2 + p2 * (x - straight) ** 2


@entry
def weigh(
    values: Given2, expense: Given1, control_weight: float, ceiling: float, message: Given1,
    totals: Made1, potential: Made1, log_belief: Made1, weights: Made1, alone: Made1,
) -> float:  # fmt: skip
    """Count a step's costs and beliefs; return the effective count 1 / sum w^2 (eqs. 16, 18, 20, 21).

    log alpha = -gamma c / 2 with gamma = T_gamma / max(T_gamma, min c), log forward belief = message + log alpha.

    Args:
      values, expense: (N, terms) and (N,), the costs of states and controls; control_weight: of the latter in totals.
      ceiling: T_gamma, which keeps the best walker's potential from vanishing.
      message: (N,) logarithm of the forward messages.
      totals: (N,) costs so far; the step's are added.
      potential, log_belief, weights: (N,) out: logarithms of potential and forward belief; normalised belief.
      alone: (N,) out: normalised potential.
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
    normalise_into(log_belief, weights)
    normalise_into(potential, alone)
    return effective_count(weights)


def path_of(ancestors: np.ndarray) -> np.ndarray:
    """(K, N): the row at step k that the walker in row i at the end came through, by ancestors (K, N)."""
    lineage = np.empty_like(ancestors)
    lineage[-1] = np.arange(ancestors.shape[1])
    for k in range(len(ancestors) - 1, 0, -1):
        ancestors[k].take(lineage[k], out=lineage[k - 1])
    return lineage


class Refinement:
    """The local refinement backward pass (Algorithm 1, eq. 19), and room for it: what it writes is used every frame.

    Args:
      steps, n, size: K, N, D, the shape of the controls.
      features: F, of a state.
    """

    def __init__(self, steps: int, n: int, size: int, features: int) -> None:
        self._means = np.empty((steps, features)), np.empty((steps, features + size))
        self._after, self._copy = np.empty((2, steps, n, features))
        self._joint = np.empty((steps, n, features + size))
        self._covariance = np.empty((steps, features, features))

    def __call__(
        self,
        controls: np.ndarray,
        states: np.ndarray,
        ancestors: np.ndarray,
        weights: np.ndarray,
        final: np.ndarray,
        regularisation: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Smoothed controls (K, D) and states (K, F): from the last step to the first, with y = (x_k, u_k),

            y* = E[y] + Cov(y, x_k+1) (Cov(x_k+1) + lambda I)^-1 (x*_k+1 - E[x_k+1]).

        Args:
          controls: (K, N, D), the control that led to states[k + 1].
          states: (K + 1, N, F), the first before any step.
          ancestors: (K, N), the row of states[k] that row i of states[k + 1] came from.
          weights: (K, N), forward belief of the step before, as carried to row i of step k + 1.
          final: (N,), the last states' potentials, normalised.
          regularisation: lambda.
        """
        from scipy.linalg.lapack import dgesv  # takes a while to import, which those who walk do not need

        (mean_after, mean_joint), after, joint = self._means, self._after, self._joint
        _centre(controls, states, ancestors, weights, mean_after, mean_joint, after, joint)
        self._copy[:] = after  # of itself and itself, BLAS would take another way, to other last digits
        covariance = np.matmul(after.swapaxes(1, 2), self._copy, out=self._covariance)
        steps, features = mean_after.shape
        covariance.reshape(steps, -1)[:, :: features + 1] += regularisation
        smooth, path = np.empty((steps, controls.shape[2])), np.empty((steps, features))
        x = (final[:, None] * states[steps]).sum(axis=0)
        for k in range(steps - 1, -1, -1):
            path[k] = x
            _, _, gain, _ = dgesv(covariance[k], x - mean_after[k])
            estimate = mean_joint[k] + joint[k].T @ (after[k] @ gain)
            x, smooth[k] = estimate[:features], estimate[features:]
        return smooth, path


@entry
def _centre(  # type: ignore[no-untyped-def]
    controls, states, ancestors, weights, mean_after, mean_joint, after, joint
):
    """E[x] and E[y] by weights w, (K, F) and (K, F + D), and sqrt(w) (x - E[x]), sqrt(w) (y - E[y]), (K, N, .)."""
    steps, n, size = controls.shape
    features = states.shape[2]
    for k in range(steps):
        mean_after[k] = 0.0
        mean_joint[k] = 0.0
        for i in range(n):
            weight, parent = weights[k, i], ancestors[k, i]
            for f in range(features):
                mean_after[k, f] += weight * states[k + 1, i, f]
                mean_joint[k, f] += weight * states[k, parent, f]
            for d in range(size):
                mean_joint[k, features + d] += weight * controls[k, i, d]
        for i in range(n):
            root, parent = math.sqrt(weights[k, i]), ancestors[k, i]
            for f in range(features):
                after[k, i, f] = root * (states[k + 1, i, f] - mean_after[k, f])
                joint[k, i, f] = root * (states[k, parent, f] - mean_joint[k, f])
            for d in range(size):
                joint[k, i, features + d] = root * (controls[k, i, d] - mean_joint[k, features + d])
