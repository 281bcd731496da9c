"""Questions: a tree asked over several frames, so that no frame waits for the answer (alborno2016 Algorithm 3).

    question = Question(system, row, [(tree, node), ...], heading=0.0)
    while not question.done:
        question.work(900)               # physics steps; in every frame some
    question.found, question.track, question.expected

The same rollouts as those of `ask`, a few at a time, the first success ends it. Several trees with one goal can be
asked at once.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from tumble.attraction.rolling import Rolling
from tumble.attraction.tree import Tree
from tumble.attraction.upright import UprightSystem
from tumble.errors import UserError

TOGETHER = 16  # nodes that are asked at a time
SOON = 8  # nodes of short branches, who stand and have no time to lose
SHORT = 75  # frames of such a branch
LEAST = 24  # physics steps that a frame of rollouts counts as: so few take as long as that many


Place: TypeAlias = tuple[Tree, int]  # a node of a tree


def together(places: Sequence[Place]) -> Sequence[Place]:
    """The first of some nodes, as many as are asked at a time."""
    return places[: SOON if places and places[0][0].duration(places[0][1]) <= SHORT else TOGETHER]


class Pursuit(ABC):
    """Rollouts over several frames of somebody's live world, until one of them comes to the goal and stays there.

    Attributes:
      found: the node whose branch was followed there, and its tree; None where none was found.
      track: (frames, size) that was followed.
      expected: (frames + 1, nstate) on it.
      asked: how many nodes or rollouts have been begun.
    """

    def __init__(self) -> None:
        self.found: Place | None = None
        self.track, self.expected = np.empty((0, 0)), np.empty((0, 0))
        self.asked = 0
        self._rolling: Rolling | None = None
        self._followed: Sequence[tuple[Place, np.ndarray]] = ()  # node and track of every row that rolls

    @property
    @abstractmethod
    def tried(self) -> Sequence[Place]:
        """Nodes whose branches were followed in vain as they are."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether it has found something, or has nothing left to try."""

    @abstractmethod
    def _next(self) -> Rolling:
        """Begin the next rollouts, of `_followed`."""

    @abstractmethod
    def _learn(self, misses: np.ndarray) -> None:
        """What the rollouts that are over missed the goal by, kg rad, in the order of `_followed`."""

    def work(self, steps: int) -> None:
        """Simulate about so many physics steps more."""
        while steps > 0 and not self.done:
            if self._rolling is None:
                self._rolling = self._next()
            rolling, before = self._rolling, self._rolling.rolled.steps
            rolling.advance()
            steps -= max(rolling.rolled.steps - before, LEAST)
            reached = rolling.rolled.reached
            if reached.any():
                row = int(reached.argmax())
                self.found, self.track = self._followed[row]
                self.expected = rolling.rolled.trace[row, : len(self.track) + 1]
            if reached.any() or not rolling.alive.size:
                self._rolling = None
                self._learn(rolling.rolled.misses)


class Question(Pursuit):
    """Whose branch leads to the goal from a state?

    Attributes as of `Pursuit`, and
      best: how far from the goal the best of those that failed ended, kg rad, and which that was.
    """

    def __init__(self, system: UprightSystem, row: np.ndarray, places: Sequence[Place], heading: float | None) -> None:
        """Ask nodes, in their order, from a whole state row; they shall lead to facing a heading, rad, or anywhere.

        The system is one whose goal all trees share.
        """
        super().__init__()
        self._system, self._row, self._places, self._heading = system, row, places, heading
        self.best: tuple[float, Place | None] = (math.inf, None)

    @property
    def tried(self) -> Sequence[Place]:
        return self._places[: self.asked - (0 if self._rolling is None else len(self._followed))]

    @property
    def done(self) -> bool:
        return self.found is not None or (self._rolling is None and self.asked >= len(self._places))

    def _next(self) -> Rolling:
        """Begin with the next nodes."""
        some = together(self._places[self.asked :])
        self.asked += len(some)
        tracks = [tree.track(node) for tree, node in some]
        self._followed = list(zip(some, tracks, strict=True))
        rows, longest = np.tile(self._row, (len(tracks), 1)), max(len(track) for track in tracks)
        ways = np.array([self._ways(tree, node) for tree, node in some])
        return self._system.rolling(rows, tracks, longest, True, self._heading, ways)

    def _learn(self, misses: np.ndarray) -> None:
        if misses.min() < self.best[0]:
            self.best = float(misses.min()), self._followed[int(misses.argmin())][0]

    def _ways(self, tree: Tree, node: int) -> np.ndarray:
        """`Tree.ways` of a node, as if the tree had been grown for how the body lies, or shall face."""
        system = system_of(tree)
        turn = system.turn_to(system.bodies.motion(self._row), self._heading)
        return np.array([system.turned(state, turn) for state in tree.ways([node])[0]])


def system_of(tree: Tree) -> UprightSystem:
    """The system of a tree of a character; refuses others."""
    if not isinstance(tree.system, UprightSystem):
        raise UserError(f"a tree of a {tree.system.recipe['body']} leads no character")
    return tree.system
