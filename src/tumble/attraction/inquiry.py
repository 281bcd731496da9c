"""Inquiry: how a body that is simulated live comes by a branch, without a frame that waits for it.

    inquiry = Inquiry(AttractionSettings(), seed=1)
    inquiry.ask(system, row, trees, facing=0.0, own=controls)   # from the state after some frames of `own`
    inquiry.work()                                              # in every frame
    branch = inquiry.answer(state)                              # when `due` is 0

Nodes are asked from the state that the body will be in when the answer is due, so that the answer is exact then. Those
that failed are not asked again while the body stays about where it is (`tried`). When all were asked, the branch that
came nearest to the goal is searched around (alborno2016 section 4.7).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from tumble.attraction.hybrid import Search
from tumble.attraction.questions import LEAST, Place, Pursuit, Question, system_of, together
from tumble.attraction.rolling import HOLD
from tumble.attraction.tree import Tree
from tumble.attraction.upright import UprightSystem
from tumble.errors import check_number
from tumble.world.drives import FRAME

APART = 0.7  # s between ghosts of a long edge
GHOSTS = 8  # of the nearest nodes that are shown
ASTRAY = 1.0  # kg rad, eq. 3: who is farther than this from where it was expected was disturbed


@dataclass(frozen=True)
class AttractionSettings:
    """How trees are asked and followed."""

    tree: str = ""  # by which it gets up: one that ships, a file, or '' for all that ship
    candidates: int = 400  # V, alborno2016 section 4.2: 50 to 250; who strays early costs little
    ahead: float = 1 / 15  # s from a question to its answer at least; not given; ours
    search: float = 1.0  # s of a search online where no branch leads to the goal, 0 for none; not given; ours
    pause: float = 0.5  # s that it must stand slowly between two acts; not given; ours
    steps: int = 900  # physics steps of a question in a frame; not given; ours: 22 ms on two cores

    def __post_init__(self) -> None:
        check_number("candidates", self.candidates, 1, 10_000)
        check_number("ahead", self.ahead, FRAME / 2, 2.0)
        check_number("search", self.search, 0.0, 60.0)
        check_number("pause", self.pause, 0.0, 60.0)
        check_number("steps", self.steps, 10, 1e6)


@dataclass(frozen=True)
class Branch:
    """What is followed.

    Attributes:
      tree, node: where it entered which tree.
      track: (frames, size), references.
      expected: (frames + 1, nstate), where it should be before each frame and at the end.
      distance: from the nearest node when it was asked, eq. 3.
      asked: nodes and rollouts that it took to find it.
    """

    tree: Tree
    node: int
    track: np.ndarray
    expected: np.ndarray
    distance: float
    asked: int

    @cached_property
    def stops(self) -> list[int]:
        """Frames at which it is worth being seen: where edges begin, at times between where they are long, its end."""
        ends = self.tree.beginnings(self.node)
        parts = [np.linspace(a, b, math.ceil((b - a) * FRAME / APART), endpoint=False) for a, b in pairwise(ends)]
        return [int(frame) for part in parts for frame in part] + ends[-1:]

    def ghosts(self, frame: int) -> np.ndarray:
        """(n, nstate): where it should be at its stops from a frame on."""
        return self.expected[[stop for stop in self.stops if stop >= frame]]


class Inquiry:
    """What is asked of trees, and what has been.

    Attributes:
      settings: may change between questions.
      due: frames until the question under way must be answered.
      distance: to the nearest node, eq. 3, when trees were asked last.
      ghosts: (n, nstate), the nearest nodes then, put where the body was; `GHOSTS` at most.
      exhausted: whether the last question found that all nodes were asked, and searched or had nothing to search.
    """

    def __init__(self, settings: AttractionSettings, seed: int) -> None:
        self.settings, self._rng = settings, np.random.default_rng(seed)
        self._question: Pursuit | None = None
        self._system: UprightSystem | None = None
        self._then = np.empty(0)
        self.due, self.distance, self.ghosts = 0, math.nan, np.empty((0, 0))
        self.forget()

    def forget(self) -> None:
        """Somebody who knows what to do, or is elsewhere, has tried nothing."""
        self._tried, self._where = set[tuple[int, int]](), np.empty(0)
        self._best: tuple[float, Place | None] = (math.inf, None)
        self._asked, self.exhausted = 0, False

    def drop(self) -> None:
        """Ask no more."""
        self._question, self.distance = None, math.nan
        self.forget()

    @property
    def asked(self) -> int:
        """Nodes and rollouts that were asked since `forget`; from any thread."""
        question = self._question
        return self._asked + (0 if question is None else question.asked)

    @property
    def waiting(self) -> bool:
        """Whether a question is under way."""
        return self._question is not None

    @property
    def searching(self) -> bool:
        """Whether that is a search."""
        return isinstance(self._question, Search)

    def ask(
        self, system: UprightSystem, row: np.ndarray, trees: Sequence[Tree], facing: float | None, anywhere: bool,
        own: Callable[[int], np.ndarray], going: tuple[Branch, int] | None = None,
    ) -> None:  # fmt: skip
        """Ask trees with one goal, that of `system`, for a way from where the body will be.

        Args:
          row: whole state row of the system's scene.
          facing: rad that it shall face in the end; None for as it does now.
          anywhere: whether it may face anywhere.
          own: own(frames) is what it does until then, controls (n, size) of so many frames or fewer; it stands after.
          going: the branch that is followed, and its frame: the rest of it may do in spite of what happened.
        """
        state = system.bodies.motion(row)
        if self._where.size and system.distances(state[None], self._where)[0] > ASTRAY:
            self.forget()
        self._where = self._where if self._where.size else state.copy()
        near = self._nearest(trees, state, facing)
        self.distance = near[0][0]
        self.ghosts = np.array([_placed(tree, node, state, facing) for _, tree, node in near[:GHOSTS]])
        places = [(tree, node) for _, tree, node in near if (id(tree), node) not in self._tried]
        search, self.exhausted = not places and self.settings.search > 0 and self._best[1], not places
        frames = round(self.settings.search / FRAME) if search else self._frames(system, places)
        then = system.after(row, own(frames), frames)
        if going is not None and system_of(going[0].tree).end is None:
            branch, frame = going
            places = [(branch.tree, branch.tree.along(branch.node, frame + frames)), *places]
        self.due, self._then, self._system = frames, system.bodies.motion(then), system
        heading = None if anywhere else system.heading(self._then) if facing is None else facing
        if search and self._best[1] is not None:
            self._question = Search(system, then, self._best[1], heading, self._rng)
        else:
            self._question = Question(system, then, places, heading)

    def _frames(self, system: UprightSystem, places: Sequence[Place]) -> int:
        """How many frames the first nodes of a question take to be asked."""
        first = together(places)
        longest = max((tree.duration(node) for tree, node in first), default=0)
        steps = max(len(first) * system.drive.steps, LEAST) * (longest + HOLD / FRAME)
        return max(1, round(self.settings.ahead / FRAME), math.ceil(steps / self.settings.steps))

    def _nearest(self, trees: Sequence[Tree], state: np.ndarray, facing: float | None) -> list[tuple[float, Tree, int]]:
        """(distance, tree, node) of the nearest nodes to a state, V at most, the nearest first."""
        near = list[tuple[float, Tree, int]]()
        for tree in trees:
            system = system_of(tree)
            turn = -system.turn_to(state, facing)
            nodes, distances = tree.nearest(system.turned(state, turn), self.settings.candidates, tree.heads)
            near += [(float(distance), tree, int(node)) for node, distance in zip(nodes, distances, strict=True)]
        return sorted(near, key=lambda one: one[0])[: self.settings.candidates]

    def work(self) -> None:
        """Go on with the question for a frame."""
        if self._question is not None:
            self._question.work(self.settings.steps)
            self.due -= 1

    def answer(self, state: np.ndarray) -> Branch | None:
        """End the question; what to follow, if something was found and the body is where it was expected to be."""
        question, self._question, system = self._question, None, self._system
        assert question is not None and system is not None
        self._asked += question.asked
        self._tried.update((id(tree), node) for tree, node in question.tried)
        if isinstance(question, Question) and question.best[0] < self._best[0]:
            self._best = question.best
        if question.found is None or system.distances(state[None], self._then)[0] >= ASTRAY:
            return None
        asked = self._asked
        self.forget()
        return Branch(*question.found, question.track, question.expected, self.distance, asked)

    def __str__(self) -> str:
        """What is asked, for people."""
        if self.searching:
            return f"searching: {self.asked} rollouts around the best branch"
        return f"asking: {self.asked} nodes, the nearest {self.distance:.1f} kg rad away"


def _placed(tree: Tree, node: int, state: np.ndarray, facing: float | None) -> np.ndarray:
    """The state of a node as if the tree had been grown where a body in a state is."""
    system = system_of(tree)
    placed = system.turned(tree.states[node], system.turn_to(state, facing))
    placed[:2] = state[:2]
    return placed
