"""Safe actions: those after which one can go on for ever, by states that are near to what was tried.

    fine = safe(states, steps, ends, actions=13, near=1.6)       # (states, actions)

An action of s is safe where it is trusted from s and the k states nearest to s, its end is within `near` of a state,
and more than half of the k states nearest to the end, by their shares 1 / d^2, have a safe action: the largest such
set, as of a viability kernel. Ours; the thesis takes values for this.
"""

import numpy as np

from tumble.offline.workers import cores
from tumble.tasks.iterating import NEIGHBOURS, neighbours
from tumble.tasks.metric import Stances
from tumble.tasks.task import SampledSteps

MOST = 0.5  # share of states near an end from which one can go on, above which the end counts as safe; ours


def safe(states: Stances, steps: SampledSteps, ends: Stances, actions: int, near: float) -> np.ndarray:
    """(states, actions) whether each is safe."""
    count, at = len(states), (steps.state, steps.action)
    viable = np.zeros((count, actions), bool)
    viable[at] = True
    around = neighbours(states, states, 1 + NEIGHBOURS, cores())[0]
    borne: np.ndarray = np.all(viable[around] | (around < 0)[:, :, None], axis=1)
    there, distances = neighbours(states, ends, NEIGHBOURS, cores())
    share = np.where(there >= 0, 1.0 / np.maximum(distances, 1e-6) ** 2, 0.0)
    share /= share.sum(axis=1, keepdims=True)
    sure = borne[at] & (distances[:, 0] <= near)
    going, fine = np.ones(count), np.zeros((count, actions), bool)
    while True:
        fine[at] = sure & ((share * going[there]).sum(axis=1) > MOST)
        left = fine.any(axis=1).astype(float)
        if (left == going).all():
            return fine
        going = left
