"""Task: what is wanted of a character, as a reward over states and a grid of goals (coros2010 section 4.4.3).

    @dataclass(frozen=True)
    class Stop(Task):
        name, character, summary = "stop", "big-bird", "come to a stop"
        actions = (GaitStep("walk"), GaitStep("in-place"))
        def reward(self, states, w):
            return np.abs(states.velocity[:, :1]) < 0.1          # (states, points)

R(g, a) = reward(s, w) - toll(step) where(w), and -1 for a step after which the state is not trusted.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.errors import UserError
from tumble.registry import Entry, Registry
from tumble.tasks.actions import Action
from tumble.tasks.grid import Axis, check_grid, points
from tumble.tasks.kinds import kind_of
from tumble.tasks.metric import Stances, nearest


@dataclass(frozen=True)
class JudgedStates:
    """The states that a reward judges, and what it may ask of them.

    Attributes:
      stances: as the metric sees them.
      cycles: by the name of an action, states of its limit cycle.
    """

    stances: Stances
    cycles: Mapping[str, Stances]

    @property
    def velocity(self) -> np.ndarray:
        """(n, 3) m/s: ahead, left, up, of the root at the beginning of the step."""
        return self.stances.velocity

    def away(self, action: str) -> np.ndarray:
        """(n,) distance from the limit cycle of an action: how far from going on in it steadily."""
        if action not in self.cycles:
            raise UserError(f"no limit cycle of '{action}' was found; there are: {', '.join(self.cycles)}")
        return nearest(self.cycles[action], self.stances, 1)[1][:, 0]


@dataclass(frozen=True)
class SampledSteps:
    """Steps that ended well, t of them, in the frame of the state that each began in.

    Attributes:
      state, action: (t,) numbers.
      moved: (t, 3) m ahead, m left, rad to the left.
      seconds: (t,).
    """

    state: np.ndarray
    action: np.ndarray
    moved: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True)
class Task(ABC):
    """A task, to be trained once and done ever after.

    Attributes:
      name, summary: for people.
      character: name of the body.
      actions: what it may do, once a step; all of one kind.
      grid: axes of the task's state w; none where there is nothing but to go on.
      trust: epsilon_T, distance from a trusted state up to which a state is trusted; see `library`.
      novel: epsilon_N, distance from all states beyond which a state is new.
      near: distance from a limit cycle that counts as being in it; not given; ours.
      discount: gamma a second; not given; ours.
      pushes: N s of blows after which states are trusted too (the very robust walk).
      states: at most so many are explored.
      balls: kg; by which who goes by the policy so far is hit, see `hits`: where it comes to is explored then.
      first: so many states are explored in the order in which they are found, where there are balls.
      wary: whether the end of a step counts less, the farther beyond epsilon_N from all states that were tried.
      upright: whether a step ends in which anything but the feet touches the ground, and is lost.
      prefers: actions by name, of which the first is taken that is safe, whatever the values say; see `safety`.
      safe: distance from all states up to which the end of a step may be safe.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    character: ClassVar[str]
    actions: ClassVar[tuple[Action, ...]]
    grid: ClassVar[tuple[Axis, ...]] = ()
    trust: ClassVar[float] = 3.0
    novel: ClassVar[float] = 0.6
    near: ClassVar[float] = 1.5
    discount: ClassVar[float] = 0.9
    pushes: ClassVar[tuple[float, ...]] = ()
    states: ClassVar[int] = 2500
    balls: ClassVar[tuple[float, ...]] = ()
    first: ClassVar[int] = 300
    wary: ClassVar[bool] = False
    upright: ClassVar[bool] = False
    prefers: ClassVar[tuple[str, ...]] = ()
    safe: ClassVar[float] = 1.6

    @abstractmethod
    def reward(self, states: JudgedStates, w: np.ndarray) -> np.ndarray:
        """(states, points) of R, or what broadcasts to it; w is (points, axes), see `column`."""

    def toll(self, steps: SampledSteps) -> np.ndarray:
        """(steps,) that a step costs where `tolled` says so."""
        return np.zeros(len(steps.state))

    def tolled(self, w: np.ndarray) -> np.ndarray:
        """(points,) whether tolls are paid there."""
        return np.zeros(len(w))


@dataclass(frozen=True)
class TaskEntry(Entry[type[Task]]):
    """A task that people can choose by name; `make` is its class."""


def _check(entry: TaskEntry) -> None:
    kind = entry.make
    if not (isinstance(kind, type) and issubclass(kind, Task)):
        raise UserError(f"task '{entry.name}' must be a class that derives from Task, got {kind!r}")
    kind.name, kind.summary = entry.name, entry.summary
    for attribute in ("character", "actions"):
        if not getattr(kind, attribute, None):
            raise UserError(f"task '{entry.name}' needs '{attribute}'")
    kind_of(kind.actions)
    check_grid(kind.grid)


TASKS: Registry[TaskEntry] = Registry("task", TaskEntry, _check)
register = TASKS.register


def rewards_of(task: Task, seen: JudgedStates) -> np.ndarray:
    """(states, points) rewards of a task, judged: refuses NaN, other shapes, and a reward that is never there."""
    w = points(task.grid)
    wanted = (len(seen.stances), len(w))
    given = np.asarray(task.reward(seen, w), float)
    try:
        found = np.broadcast_to(given, wanted)
    except ValueError:
        raise UserError(f"the reward of '{task.name}' must have the shape {wanted}, got {given.shape}") from None
    if not np.isfinite(found).all():
        raise UserError(f"the reward of '{task.name}' must be finite, got {found[~np.isfinite(found)][0]} somewhere")
    if not (found > 0).any():
        raise UserError(f"the reward of '{task.name}' is above 0 nowhere: no state and goal is worth anything")
    return np.ascontiguousarray(found)
