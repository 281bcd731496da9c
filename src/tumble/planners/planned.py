"""A planner with a goal is a Controller: plan every frame, do the first step of the plan.

Settings may let a plan serve several frames (`serves`): its next steps are done, and where something else is wanted it
is made anew at once.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tumble.control.controller import Controller, Report
from tumble.errors import UserError, unknown
from tumble.goals import Goal, Term, looking
from tumble.goals.judging import goal_of
from tumble.goals.wants import Balance, Go, Juggle, Meet, Reach, StayOn, Want
from tumble.planners.planner import Plan, Planner, check_sizes
from tumble.settings import replaced
from tumble.world.drives import Drive
from tumble.world.scene import Scene
from tumble.world.sims import Sims

WEIGHT = "weight."  # before the name of a term, in the name of a parameter


class Planned(Controller):
    """Plans for a goal every frame and acts on the first control of the plan.

    Attributes:
      planner: who finds the plan.
      weights: factors on the values of the goal's terms, by name; terms not named have 1.
      latest: the plan of the last frame.
    """

    takes = (Balance, Reach, Go, StayOn, Juggle, Meet)

    def __init__(self, planner: Planner, goal: Goal | None = None) -> None:
        """Plan for a goal; None, for balance until something is wanted."""
        self.planner, self.scene = planner, planner.scene
        self._want: Want | None = None
        self._goal = goal
        self.weights = dict[str, float]()
        self._looking: Goal | None = None
        self._names: tuple[str, ...] = ()
        self.latest: Plan | None = None
        self._age = 0  # frames that the latest plan has served; 0: none was made
        self._stale = False  # whether something else is wanted than when it was made

    @property
    def goal(self) -> Goal:
        """What is wanted."""
        if self._goal is None:
            self._goal = goal_of(self.scene, Balance())
        return self._goal

    @property
    def drive(self) -> Drive:  # type: ignore[override]
        """That of the planner's simulations."""
        return self.scene.drive

    @property
    def settings(self) -> Any:
        """The planner's."""
        return self.planner.settings

    def start(self, sims: Sims) -> None:
        if sims.nsim != 1:
            raise UserError(f"a planner controls one simulation, got {sims.nsim}")
        self.planner.reset()
        self.latest, self._age = None, 0

    def attend(self, direction: tuple[float, float] | None) -> None:
        """Look there while it lasts (s_fwd, hamalainen2015 section 5.1)."""
        self._looking = None if direction is None else looking(self.planner.scene, direction)

    def control(self, sims: Sims) -> np.ndarray:
        if self.latest is not None and 0 < self._age < min(self._serves, len(self.latest.controls)):
            self._age += 1
            return self.latest.controls[self._age - 1 : self._age]
        self.planner.late = max(1, self._age)
        goal = self.goal if self._looking is None else self.goal + self._looking
        if self.weights:
            goal = goal.weighted(self.weights)
        self._names = goal.names
        self.latest, self._age, self._stale = self.planner.plan(sims.state[0].copy(), goal), 1, False
        return self.latest.controls[:1]

    @property
    def _serves(self) -> int:
        """Frames that a plan is carried out for; one where somebody else wants something by now."""
        return 1 if self._stale else int(getattr(self.planner.settings, "serves", 1))

    def refuses(self, sims: Sims, want: Want) -> str | None:
        try:
            goal_of(self.scene, want, self.planner.go_style)
        except UserError as error:
            return str(error)
        return None

    def want(self, sims: Sims, want: Want) -> None:
        if want != self._want:
            self._stale = True
            self._want, self._goal = want, goal_of(self.scene, want, self.planner.go_style)

    def report(self) -> Report:
        return Report(plan=self.latest, names=self._names)

    def move(self, scene: Scene) -> None:
        goal = self._goal if self._want is None else goal_of(scene, self._want, self.planner.go_style)  # or stay
        self.scene, self.planner, self._goal = scene, self.planner.in_scene(scene), goal

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        self._changed(changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name ('mutation', 'calm.speed') and terms' weights ('weight.height').

        Another horizon starts planning anew, as other samples may; a weight stays when the goal changes.
        """
        settings, self.weights = self._changed(changes)
        old, self.planner = self.planner, self.planner.configured(settings)
        if old.learner is not self.planner.learner:
            old.close()

    def close(self) -> None:
        self.planner.close()

    def _changed(self, changes: Mapping[str, float]) -> tuple[Any, dict[str, float]]:
        """Settings and weights as they would be."""
        weights = {name.removeprefix(WEIGHT): value for name, value in changes.items() if name.startswith(WEIGHT)}
        known = {kind.name for kind in Term.__subclasses__()}  # also of a goal that is to come with the next frame
        for name in weights:
            if name not in known and name not in self.goal.names:
                raise unknown("term", name, self.goal.names, " in the goal")
        self.goal.weighted(weights)
        settings = replaced(
            self.planner.settings, {name: value for name, value in changes.items() if not name.startswith(WEIGHT)}
        )
        check_sizes(self.planner.scene, settings.samples, settings.horizon)
        return settings, {**self.weights, **weights}
