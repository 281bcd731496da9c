"""Facts: what can be told of a tree by looking at it, without simulating anything (alborno2016 Table I, Figure 5).

stored = read_file(Path("mine.tree"))
facts_of(stored).height                        # edges of the longest branch
[(one.level, one.inside) for one in levels_of(stored)]
"""

from dataclasses import dataclass

import numpy as np

from tumble.attraction.growing import Growth, Method
from tumble.attraction.store import Stored
from tumble.attraction.tree import ROOT, Tree
from tumble.world.drives import FRAME


@dataclass(frozen=True)
class Facts:
    """A tree in numbers.

    Attributes:
      nodes: states, the root among them.
      edges: splines, the first controller among them.
      height: edges of the branch that has most.
      depth: edges of a branch, mean over all edges.
      seconds: of a branch, mean over all edges.
      longest: s of the longest branch.
      largest: level that states were drawn of.
      attempts: states that were drawn.
      optimised: trajectory optimisations.
      evaluations: rollouts of these.
    """

    nodes: int
    edges: int
    height: int
    depth: float
    seconds: float
    longest: float
    largest: float
    attempts: int
    optimised: int
    evaluations: int


@dataclass(frozen=True)
class LevelFacts:
    """A level of a tree in numbers.

    Attributes:
      level: alpha or kappa.
      attempts: states that were drawn of its domain.
      inside: share of the last of them that were inside already; nan where none was drawn.
      late: how many those last ones are; see `lately`.
      edges: of states of this domain.
      nodes: of the whole tree when this level was left for the next; 0 where it was not begun.
    """

    level: float
    attempts: int
    inside: float
    late: int
    edges: int
    nodes: int


def facts_of(stored: Stored) -> Facts:
    """A tree in numbers; all are 0 of one that has its root alone, but nodes."""
    tree, outcomes = stored.tree, stored.outcomes
    depths, seconds = _branches(tree)
    return Facts(
        nodes=len(tree),
        edges=len(tree.edges),
        height=int(depths.max(initial=0)),
        depth=float(depths.mean()) if depths.size else 0.0,
        seconds=float(seconds.mean()) if seconds.size else 0.0,
        longest=float(seconds.max(initial=0.0)),
        largest=stored.largest,
        attempts=len(outcomes),
        optimised=sum(one.optimised for one in outcomes),
        evaluations=sum(one.evaluations for one in outcomes),
    )


def _branches(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Edges (edges,) and seconds (edges,) from the beginning of every edge to the root."""
    depths, frames = np.zeros(len(tree.edges), int), np.zeros(len(tree.edges))
    for i, edge in enumerate(tree.edges):
        parent, length = edge.parent, len(edge.track)
        on = tree.edge_of[parent]
        depths[i] = 1 if parent == ROOT else 1 + depths[on]
        frames[i] = length + (0.0 if parent == ROOT else frames[on] - tree.step[parent])
    return depths, FRAME * frames


def lately(growth: Growth) -> int:
    """Over how many samples the share that is inside is told: those by which levels end."""
    return max(growth.window, growth.inside)


def levels_of(stored: Stored) -> list[LevelFacts]:
    """Levels of a tree in numbers, rising; those of which no state was drawn yet, too."""
    growth, counts = stored.growth, nodes_after(stored)
    levels = growth.levels if growth.method is Method.DFC else growth.levels[-1:]
    grown = sorted({*levels, *(one.level for one in stored.outcomes)})
    found = []
    for level in grown:
        inside = [one.inside for one in stored.outcomes if one.level == level]
        late = inside[-lately(growth) :]
        share = float(np.mean(late)) if late else float("nan")
        edges = sum(edge.level == level for edge in stored.tree.edges)
        stage = growth.levels.index(level) if level in growth.levels else -1
        last = max((one.number for one in stored.outcomes if one.stage == stage), default=None)
        nodes = 0 if last is None else int(counts[last])
        found.append(LevelFacts(level, len(inside), share, len(late), edges, nodes))
    return found


def nodes_after(stored: Stored) -> np.ndarray:
    """(attempts,): nodes of the tree after each attempt."""
    made = np.array([one.edge is not None for one in stored.outcomes], bool)
    firsts = [edge.first for edge in stored.tree.edges] + [len(stored.tree)]
    begun = len(stored.tree.edges) - int(made.sum())  # edges that no attempt added
    return np.array(firsts)[begun + np.cumsum(made)]
