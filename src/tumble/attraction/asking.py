"""Asking: whether a state is inside a tree's domain of attraction, by simulating (alborno2016 Algorithms 3 and 4).

    answer = ask(tree, state, 50)
    if answer.node is not None:
        track = tree.track(answer.node)    # follow this

A state is inside if the branch of one of the V nearest nodes leads it to the goal. Nodes are asked in batches, the
nearest first; Algorithm 3 stops at the first success, Algorithm 4 asks all and takes the quickest.
"""

from dataclasses import dataclass

import numpy as np

from tumble.attraction.tree import ROOT, Tree

FIRST = 4  # nodes of the first batch; each batch is twice the last


@dataclass(frozen=True)
class Membership:
    """What a tree says of a state.

    Attributes:
      node: whose branch leads to the goal; None where no such node was found.
      nodes: (n,) that were asked, the nearest first.
      distances: (n,) to them, eq. 3.
      misses: (n,) how far from the goal their branches ended; see `Followed`.
      steps: physics steps that were simulated.
    """

    node: int | None
    nodes: np.ndarray
    distances: np.ndarray
    misses: np.ndarray
    steps: int


def ask(
    tree: Tree, state: np.ndarray, count: int, among: np.ndarray | None = None, best: bool = False,
    row: np.ndarray | None = None,
) -> Membership:  # fmt: skip
    """Whether a state is inside, and by which node.

    Args:
      state: (nstate,).
      count: V, nodes to ask at most.
      among: which; where it is not given the root, as who is at the goal has arrived, and those at the beginning of
        an edge (section 4.2.2).
      best: Algorithm 4, the quickest of all; else Algorithm 3, the first.
      row: the whole state row, where there is one: what is simulated is then exact.
    """
    nodes, distances = tree.nearest(state, count, np.r_[ROOT, tree.heads] if among is None else among)
    start = state if row is None else row
    misses, steps, asked = np.full(len(nodes), np.inf), 0, 0
    winner: int | None = None
    while asked < len(nodes) and (winner is None or best):
        some = slice(asked, asked + max(FIRST, asked))
        tracks = [tree.track(node) for node in nodes[some]]
        ways = tree.ways(nodes[some])
        rolled = tree.system.roll(np.tile(start, (len(tracks), 1)), tracks, first=not best, ways=ways)
        misses[some], steps, asked = rolled.misses, steps + rolled.steps, asked + len(tracks)
        for node in nodes[some][rolled.reached]:
            if winner is None or tree.duration(node) < tree.duration(winner):
                winner = int(node)
    return Membership(winner, nodes[:asked], distances[:asked], misses[:asked], steps)


def volume(tree: Tree, level: float, count: int, samples: int, rng: np.random.Generator) -> float:
    """Share of a domain that a tree covers, by so many samples of it (section 4.8)."""
    states = tree.system.sample(level, samples, rng)
    return float(np.mean([ask(tree, state, count).node is not None for state in states]))
