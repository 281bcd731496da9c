"""Compiled inner loops of the fixed-depth informed tree search."""

import numpy as np
from numba import njit

from tumble.maths.sampling import truncated_normal


@njit(cache=True)
def fork(totals, threshold, fixed, uniform, parents):  # type: ignore[no-untyped-def]
    """Who goes on from whom: parents (n,), themselves but for those too far behind; returns how many are.

    Args:
      totals: (n,) costs so far; those above the least by more than the threshold are pruned.
      fixed: slots from the first on that are never pruned.
      uniform: (n,) random numbers by which a pruned slot chooses among the others.
    """
    n, bound, good, pruned = totals.size, totals.min() + threshold, 0, 0
    for i in range(n):
        parents[i] = i
        good += totals[i] <= bound
    if good == 0:  # all are broken
        return 0
    for i in range(fixed, n):
        if not totals[i] <= bound:
            left = min(int(uniform[i] * good), good - 1)
            for j in range(n):
                if totals[j] <= bound:
                    if left == 0:
                        parents[i] = j
                        break
                    left -= 1
            pruned += 1
    return pruned


@njit(cache=True)
def draw(  # type: ignore[no-untyped-def]
    actions, control, normal, uniform, before, qpos, qvel, angles, dofs,
    rest, precision, low, high, guides, guided, advice, advised, given, gain, strength,
):  # fmt: skip
    """Draw reference angles (n, J) into `actions`, from a product of Gaussians, and the controls they mean.

    Args:
      control: (n, size) out: target velocities, then torque limits.
      normal, uniform: (n, J) random numbers; before: (n, J) the last step's actions.
      qpos, qvel, angles, dofs: rows, and where the joints are in them.
      rest: (J,) mean of the first Gaussian; precision: (4,), 1 / width^2 of pose, change, acceleration, variation.
      guides, guided: (n, J), (n,): means of another Gaussian for those who have one.
      advice, advised: (n, J), (n,): the same for the network's.
      given: (n,): 1 where the action is the advice as it is, 2 where it is the guide as it is, else 0.
      gain, strength: K_P, share of the motors' strength.
    """
    n, joints = actions.shape
    pose, change, acceleration, variation = precision[0], precision[1], precision[2], precision[3]
    for i in range(n):
        total = pose + change + acceleration + variation * (int(guided[i]) + int(advised[i]))
        width = 1.0 / np.sqrt(total)
        for j in range(joints):
            angle, speed = qpos[i, angles[j]], qvel[i, dofs[j]]
            if given[i] == 1:
                x = min(max(advice[i, j], low[j]), high[j])
            elif given[i] == 2:
                x = guides[i, j]
            else:
                steady = min(max(angle + speed / gain, low[j]), high[j])
                mean = pose * rest[j] + change * before[i, j] + acceleration * steady
                if guided[i]:
                    mean += variation * guides[i, j]
                if advised[i]:
                    mean += variation * advice[i, j]
                x = truncated_normal(mean / total, width, low[j], high[j], normal[i, j], uniform[i, j])
            actions[i, j] = x
            control[i, j] = gain * (x - angle)
        for j in range(joints, control.shape[1]):
            control[i, j] = strength
