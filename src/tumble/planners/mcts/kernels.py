"""Inner loops of the tree search of rajamaki2017 section 3: who goes on from whom, and what is tried.

behind = fork(totals, threshold, 1, rng.random(64), parents)      # Algorithm 1, lines 2 to 6
draw(actions, controls, ..., gain, strength)                      # lines 7 and 8, eqs. 1 to 3
"""

import numpy as np

from tumble.maths.compiled import Flags1, Given1, Given2, Made2, MadePlaces1, Places1, entry
from tumble.maths.sampling import truncated_normal

ADVICE, GUIDE = 1, 2  # what is done as it is; 0 for a draw


@entry
def fork(totals: Given1, threshold: float, fixed: int, uniform: Given1, parents: MadePlaces1) -> int:
    """Who goes on from whom: parents (n,), themselves but for those too far behind; returns how many are.

    Args:
      totals: (n,) costs so far; those above the least by more than the threshold are pruned.
      fixed: slots from the first on that are never pruned.
      uniform: (n,) random numbers by which a pruned slot chooses among the others.
      parents: (n,) out.
    """
    n, least, good, pruned = totals.size, np.inf, 0, 0
    for i in range(n):
        least = min(least, totals[i])
    bound = least + threshold
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


@entry
def draw(
    actions: Made2, control: Made2, normal: Given2, uniform: Given2, before: Given2, qpos: Given2, qvel: Given2,
    angles: Places1, dofs: Places1, rest: Given1, precision: Given1, low: Given1, high: Given1,
    guides: Given2, guided: Flags1, advice: Given2, advised: Flags1, given: Places1, gain: float, strength: float,
) -> None:  # fmt: skip
    """Draw reference angles (n, J) into `actions`, from a product of Gaussians, and the controls they mean.

    Args:
      control: (n, size) out: target velocities, then torque limits.
      normal, uniform: (n, J) random numbers; before: (n, J) the last step's actions.
      qpos, qvel, angles, dofs: rows, and where the joints are in them.
      rest: (J,) mean of the first Gaussian; precision: (4,), 1 / width^2 of pose, change, acceleration, variation.
      guides, guided: (n, J), (n,): means of another Gaussian for those who have one.
      advice, advised: (n, J), (n,): the same for the network's.
      given: (n,): ADVICE or GUIDE where the action is that as it is, else 0.
      gain, strength: K_P, share of the motors' strength.
    """
    n, joints = actions.shape
    pose, change, acceleration, variation = precision[0], precision[1], precision[2], precision[3]
    for i in range(n):
        total = pose + change + acceleration + variation * (int(guided[i]) + int(advised[i]))
        width = 1.0 / np.sqrt(total)
        for j in range(joints):
            angle, speed = qpos[i, angles[j]], qvel[i, dofs[j]]
            if given[i] == ADVICE:
                x = min(max(advice[i, j], low[j]), high[j])
            elif given[i] == GUIDE:
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
