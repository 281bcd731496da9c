"""Sequencing: states at the end of one skill from which another shall go on (alborno2016 section 4.6).

    states = ends_of(first_tree, level=100.0, count=8, rng=rng, then=second_system)

A tree that was grown from such states connects two skills without a pause between them.
"""

import numpy as np

from tumble.attraction.asking import ask
from tumble.attraction.tree import Tree
from tumble.attraction.upright import UprightSystem
from tumble.errors import UserError

TRIES = 10  # states of the first skill's domain for each that is wanted


def ends_of(
    tree: Tree, level: float, count: int, rng: np.random.Generator, then: UprightSystem, candidates: int = 50
) -> np.ndarray:
    """States (count, nstate) in which branches of a tree end, turned as the target of the skill that goes on.

    They begin in states of the tree's own domain of that level; those that are not inside it have no branch.
    """
    system, found = tree.system, list[np.ndarray]()
    for _ in range(TRIES * count):
        state = system.sample(level, 1, rng)[0]
        answer = ask(tree, state, candidates)
        if answer.node is not None:
            end = system.roll(state[None], [tree.track(answer.node)], hold=False).ends[0]
            end[:2] = 0.0
            found.append(then.turned(end, -then.heading(end)))
        if len(found) == count:
            return np.array(found)
    raise UserError(
        f"of {TRIES * count} states of level {level:g} only {len(found)} are inside the tree they come from"
    )
