"""Planner and Plan: choosing controls by simulating futures.

    planner = CPBP(scene, CPBPSettings(samples=32), seed=1)
    plan = planner.plan(state, goal)
    plan.controls[0]  # what to do now

A planner simulates on its own Sims and never touches the live world. It keeps what it found for
the next frame; `reset` forgets it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tumble.errors import UserError, check_number
from tumble.goals import Goal
from tumble.learners.learner import Learner
from tumble.world.scene import Scene
from tumble.world.sims import Sims


@dataclass(frozen=True)
class Plan:
    """What a planner found in one frame, K steps ahead.

    Attributes:
      controls: (K, motors.size), the best sequence; its first row is the one to do.
      cost: of the best sequence: all steps and terms and the control's own, or -2 log of its fitness as a whole.
      values: (K, terms), the goal's terms along the best path.
      path: (K, 3), predicted positions of the root along the best path, m.
      paths: (n, K, 3), the sampled ones, for drawing.
      smoothed: (K, 3), of the smoothed path where the planner has one, else empty.
      effort: asked for by the goal on the best path, 0 to 1; where planners have their own, their motors' strength.
      sim_steps: simulation steps spent.
      broken: how many of the simulations went unstable.
      statistics: figures of the algorithm's own, by name.
      way: which of the goal's ways it takes, where the planner judges whole plans.
    """

    controls: np.ndarray
    cost: float
    values: np.ndarray
    path: np.ndarray
    paths: np.ndarray
    smoothed: np.ndarray
    effort: float
    sim_steps: int
    broken: int
    statistics: dict[str, float] = field(default_factory=dict)
    way: str = ""


def check_sizes(scene: Scene, samples: int, horizon: float) -> None:
    """Refuse numbers of futures, and seconds ahead, that no planner takes."""
    check_number("samples", samples, 2, 100_000)
    check_number("horizon", horizon, scene.dt, 60.0)


class Planner(ABC):
    """Finds controls for a state and a goal by simulating `samples` futures of `horizon` seconds.

    Attributes:
      scene: what is simulated.
      settings: a frozen dataclass with at least `samples` and `horizon`.
      sims: the simulations, one row a future.
      steps: control steps ahead, K.
      fixed: settings with which it is made and that it cannot change.
      figures: what its `Plan.statistics` say, by name; the documentation lists them.
      carried: names of what earlier frames left behind, all that `_forget` drops.
      go_style: the goal by which it judges going where no style is asked for.
      learns: whether it learns.
      learner_kind: what it learns with, where it can learn.
      memory: features of a state, and numbers of what is learned for it, where it learns; else None.
      about: what a learner must have been taught by to be of use.
      learner: what it learns with; some have none until `learn_with`.
      late: frames for which the latest plan was carried out when the next is made; settings that have no `serves`
        are of planners for which it is always 1.
    """

    settings: Any
    fixed: ClassVar[tuple[str, ...]] = ("samples", "horizon")
    figures: ClassVar[Mapping[str, str]] = {}
    carried: ClassVar[tuple[str, ...]] = ()
    go_style: ClassVar[str] = "steer"
    learns: bool = False
    learner_kind: ClassVar[type[Learner] | None] = None
    memory: tuple[int, int] | None = None
    about: dict[str, Any] = {}  # noqa: RUF012 - replaced, never changed
    learner: Learner | None = None
    late: int = 1

    def __init__(self, scene: Scene, samples: int, horizon: float, seed: int, nthread: int = 0) -> None:
        check_sizes(scene, samples, horizon)
        check_number("seed", seed, 0)
        self.scene = scene
        self.steps = max(1, round(horizon / scene.dt))
        self.sims = Sims(scene, samples, nthread)
        self._seed, self._nthread = seed, nthread
        self.reset()

    def reset(self) -> None:
        """Forget all earlier frames, but not what was learned, and begin the random numbers anew."""
        self.rng = np.random.default_rng(self._seed)
        self._forget()

    def configured(self, settings: Any) -> "Planner":
        """The planner with other settings: itself, or a new one where need be, which knows what is of use to it."""
        if any(getattr(settings, name) != getattr(self.settings, name) for name in self.fixed):
            other = type(self)(self.scene, settings, self._seed, self._nthread)
            other.learn_from(self)
            other.go_on_from(self)
            return other
        self.settings = settings
        return self

    def go_on_from(self, other: "Planner") -> None:  # noqa: B027 - most have nothing that is of use then
        """Go on with what another one found, who had other futures, where that is of use; begin anew where not."""

    def in_scene(self, scene: Scene) -> "Planner":
        """The planner in another scene with as many motors, say with one prop more: its plan and all it knows stay."""
        other = type(self)(scene, self.settings, self._seed, self._nthread)
        other.learn_from(self)
        for name in ("rng", *self.carried):
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        return other

    def learn_from(self, other: "Planner") -> None:
        """Go on with what another planner learned, where that is of use here."""
        if (type(other), other.about, other.memory) == (type(self), self.about, self.memory):
            self.learner = other.learner

    def make_learner(self) -> Learner:
        """What it could learn with, knowing nothing yet."""
        if self.memory is None or self.learner_kind is None:
            raise UserError(f"{type(self).__name__} does not learn")
        return self.learner_kind.new(*self.memory, self._seed)

    def learn_with(self, learner: Learner) -> None:
        """Use what a learner knows, and teach it, from now on; one of another kind is refused."""
        if not self.learns or self.learner_kind is not type(learner):
            able = [kind.__name__.lower() for kind in Planner.__subclasses__() if kind.learner_kind is type(learner)]
            raise UserError(f"{type(self).__name__} does not learn from {learner.kind}; choose: {', '.join(able)}")
        if learner is not self.learner:
            self.close()
            self.learner = learner

    def close(self) -> None:
        """End threads of its own; raises what went wrong in one."""
        if self.learner is not None:
            self.learner.stop()

    @abstractmethod
    def _forget(self) -> None:
        """Drop what earlier frames left behind."""

    @abstractmethod
    def plan(self, state: np.ndarray, goal: Goal) -> Plan:
        """The best controls found from a state; leaves the state untouched."""
