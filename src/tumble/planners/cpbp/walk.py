"""What the walkers of one frame do: `Walk` while it is planned, `WalkerTree` for whoever looks at it afterwards.

planner.plan(state, goal)
tree = planner.tree()
tree.states[1:, :, :3]        # (K, N, 3): where all walkers were, those that were pruned included
"""

from dataclasses import dataclass

import numpy as np

from tumble.planners.cpbp.followers import Followers
from tumble.planners.cpbp.settings import Scales


@dataclass(frozen=True)
class WalkerTree:
    """All that the walkers of one frame did, those that were pruned included.

    Attributes:
      states: (K + 1, N, F), positions then velocities of the character's ends; the first before any step.
      controls: (K, N, motors.size), which led to states[k + 1].
      ancestors: (K, N), the row of states[k] that row i of states[k + 1] came from.
      resampled: (K,), whether the walkers were resampled before that step.
      potential: (K, N), logarithm of alpha (eq. 21).
      forward: (K, N), logarithm of the forward belief (eq. 16).
      belief: (K, N), logarithm of the belief (eq. 13); empty where Q = 0.
    """

    states: np.ndarray
    controls: np.ndarray
    ancestors: np.ndarray
    resampled: np.ndarray
    potential: np.ndarray
    forward: np.ndarray
    belief: np.ndarray


@dataclass
class Walk:
    """One forward pass: what holds for all of it, where it has come to, and what it leaves behind.

    Attributes:
      scales: widths at this frame's effort.
      precision, centre, rest, boldness: see `propose`.
      chance: (K, N) random numbers for resampling.
      prior: (N,) whom walkers stay near, -1 for none.
      warm: how many repeat the previous frame's plans.
      before, earlier: (N, D) controls of the last two steps.
      expense: (N,) costs of the last controls.
      values: (K, N, terms).
      totals: (N,) costs of whole trajectories so far.
      weights: (N,) forward belief, normalised.
      count: their effective number.
      following: who follows a reflex, where any does.
      broken: walkers that went unstable, those that were replaced included.
    """

    scales: Scales
    precision: np.ndarray
    centre: np.ndarray
    rest: np.ndarray
    boldness: np.ndarray
    chance: np.ndarray
    prior: np.ndarray
    warm: int
    before: np.ndarray
    earlier: np.ndarray
    expense: np.ndarray
    values: np.ndarray
    totals: np.ndarray
    weights: np.ndarray
    following: Followers | None
    count: float = np.inf
    broken: int = 0
