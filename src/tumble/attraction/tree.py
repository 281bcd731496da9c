"""Tree: nodes (x, C, p, T) that lead to a goal, by their controllers and their parents' (alborno2016 section 3).

    tree = Tree(system)
    edge = tree.add(points, trace, parent=0, level=0.0)    # all steps of a success become nodes
    track = tree.track(node)                               # references from a node to the root
    rows, distances = tree.nearest(state, 50)

A controller C is a spline of references under PD control, an `Edge`; a node is a frame of it. From a node one follows
the rest of its edge, then goes on at the edge's parent, until the root. Nodes are numbered in the order in which they
came and never go away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.attraction.references import EVERY, references
from tumble.attraction.rolling import AGO, WAYS
from tumble.attraction.system import System
from tumble.maths.neighbours import Table

ROOT = 0  # the node of the goal
ROOM = 256  # nodes that there is room for at first


@dataclass(frozen=True)
class Edge:
    """A controller, and where it leads.

    Attributes:
      points: (count, joints) of its spline, rad, float32.
      parent: the node at which it ends.
      first: its first node; one a frame follows.
      level: of the domain that its first state was drawn from, alpha or kappa.
      aim: the node that it was to reach; its parent, where that was reached or nothing was aimed at.
      evaluations: rollouts that it took.
    """

    points: np.ndarray
    parent: int
    first: int
    level: float
    aim: int
    evaluations: int

    @property
    def track(self) -> np.ndarray:
        """(frames, 2 * joints): its references."""
        return references(self.points.astype(float))


class Tree:
    """Nodes and edges in memory; `tumble.attraction.store` keeps them in a file.

    Attributes:
      system: what it is grown over.
      edges: in the order in which they came.
      edge_of: (nodes,) the edge that a node is on; -1 for the root.
      step: (nodes,) frames from the beginning of its edge.
      level: (nodes,) of its edge; 0 for the root.
    """

    def __init__(self, system: System) -> None:
        """A root, the goal, and nothing else."""
        self.system = system
        self.edges: list[Edge] = []
        self.edge_of, self.step, self.level = np.array([-1]), np.array([0]), np.array([0.0])
        self._tracks: dict[int, np.ndarray] = {}
        self._states = np.empty((ROOM, len(system.goal)))
        self._features = np.empty((ROOM, system.features(system.goal[None]).shape[1]), np.float32)
        self._keep(system.goal[None], 0)

    def __len__(self) -> int:
        """Nodes."""
        return len(self.edge_of)

    @property
    def states(self) -> np.ndarray:
        """(nodes, nstate), live."""
        return self._states[: len(self)]

    @property
    def features(self) -> np.ndarray:
        """(nodes, d), live."""
        return self._features[: len(self)]

    @property
    def heads(self) -> np.ndarray:
        """Nodes at the beginning of an edge, which are in the domain that was asked for (section 4.2.2)."""
        return np.array([edge.first for edge in self.edges], np.intp)

    def add(
        self, points: np.ndarray, trace: np.ndarray, parent: int, level: float, aim: int | None = None,
        evaluations: int = 0,
    ) -> Edge:  # fmt: skip
        """Add an edge that leads to a node, and a node for each of its frames.

        Args:
          points: (count, joints), rad; kept as float32.
          trace: (frames, nstate) that it went through, the start first, the end not among them.
        """
        edge = Edge(points.astype(np.float32), parent, len(self), level, parent if aim is None else aim, evaluations)
        if len(trace) != EVERY * (len(points) - 1):
            raise ValueError(f"{len(points)} points need {EVERY * (len(points) - 1)} states, got {len(trace)}")
        self._keep(trace.astype(np.float32), len(self))  # as files have them
        frames = len(trace)
        self.edge_of = np.r_[self.edge_of, np.full(frames, len(self.edges))]
        self.step = np.r_[self.step, np.arange(frames)]
        self.level = np.r_[self.level, np.full(frames, level)]
        self.edges.append(edge)
        return edge

    def plain(self, count: int) -> dict[str, Any]:
        """The first so many edges as plain data, which `from_plain` makes a tree of, in another process too."""
        edges = self.edges[:count]
        end = edges[-1].first + EVERY * (len(edges[-1].points) - 1) if edges else 1
        return {
            "points": [edge.points for edge in edges],
            "about": [(edge.parent, edge.level, edge.aim, edge.evaluations) for edge in edges],
            "states": self.states[1:end].astype(np.float32),
        }

    @classmethod
    def from_plain(cls, system: System, plain: Mapping[str, Any]) -> "Tree":
        """The tree that plain data tell of."""
        tree, start = cls(system), 0
        for points, (parent, level, aim, evaluations) in zip(plain["points"], plain["about"], strict=True):
            frames = EVERY * (len(points) - 1)
            tree.add(points, plain["states"][start : start + frames], parent, level, aim, evaluations)
            start += frames
        return tree

    def _keep(self, states: np.ndarray, start: int) -> None:
        """Write states and their features, taking more room where there is none."""
        end = start + len(states)
        while end > len(self._states):
            self._states = np.concatenate([self._states, np.empty_like(self._states)])
            self._features = np.concatenate([self._features, np.empty_like(self._features)])
        self._states[start:end] = states
        self._features[start:end] = self.system.features(states)

    def track(self, node: int) -> np.ndarray:
        """(frames, 2 * joints): references from a node on, edge by edge, to the root."""
        if node == ROOT:
            return np.empty((0, 2 * self.system.joints))
        edge, new = self.edges[self.edge_of[node]], list[Edge]()
        while edge.first not in self._tracks:  # a loop, as branches may be longer than Python's stack
            new.append(edge)
            if edge.parent == ROOT:
                break
            edge = self.edges[self.edge_of[edge.parent]]
        for edge in reversed(new):
            self._tracks[edge.first] = np.concatenate([edge.track, self._rest(edge.parent)])
        return self._rest(node)

    def _rest(self, node: int) -> np.ndarray:
        """(frames, 2 * joints) from a node on, whose edge's own branch is known."""
        if node == ROOT:
            return np.empty((0, 2 * self.system.joints))
        return self._tracks[self.edges[self.edge_of[node]].first][self.step[node] :]

    def along(self, node: int, frames: int) -> int:
        """The node that is reached from one by following its branch for so many frames; the root beyond its end."""
        while node != ROOT:
            edge = self.edges[self.edge_of[node]]
            left = EVERY * (len(edge.points) - 1) - int(self.step[node])
            if frames < left:
                return node + frames
            node, frames = edge.parent, frames - left
        return ROOT

    def ways(self, nodes: Sequence[int] | np.ndarray) -> np.ndarray:
        """(n, len(WAYS), nstate): states on the branches of nodes at the points of `WAYS`; NaN where a branch is short.

        They are where branches went that were recorded; who follows one from elsewhere should come near them.
        """
        found = np.full((len(nodes), len(WAYS), len(self.system.goal)), np.nan)
        for row, node in zip(found, nodes, strict=True):
            for point, (before, _) in enumerate(WAYS):
                frames = self.duration(node) - before
                if frames >= AGO:
                    row[point] = self.states[self.along(node, frames)]
        return found

    def duration(self, node: int) -> int:
        """Frames from a node to the root."""
        return len(self.track(node))

    @property
    def largest(self) -> float:
        """The largest level that it has nodes of."""
        return float(self.level.max())

    def depth(self, node: int) -> int:
        """Edges from a node to the root."""
        depth = 0
        while node != ROOT:
            node, depth = self.edges[self.edge_of[node]].parent, depth + 1
        return depth

    def beginnings(self, node: int) -> list[int]:
        """Frames from a node on at which its branch's edges begin, 0 the first, and at which the last of them ends."""
        frames = [0]
        while node != ROOT:
            edge = self.edges[self.edge_of[node]]
            frames.append(frames[-1] + EVERY * (len(edge.points) - 1) - int(self.step[node]))
            node = edge.parent
        return frames

    def nearest(self, state: np.ndarray, count: int, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Nodes (m,) and distances (m,) of the nearest by eq. 3, the nearest first, of all or among some."""
        rows = self.features if among is None else self.features[among]
        query = self.system.features(state[None]).astype(np.float32)
        found, distances = Table(rows).nearest(query, count)
        return (found[0] if among is None else among[found[0]]), distances[0]
