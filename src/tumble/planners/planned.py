"""A planner with a goal is a Controller: plan every frame, do the first step of the plan."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tumble.controller import Controller
from tumble.errors import UserError, unknown
from tumble.goals import Goal, looking
from tumble.planners.planner import Plan, Planner, check_sizes
from tumble.sims import Sims


class Planned(Controller):
    """Plans for a goal every frame and acts on the first control of the plan."""

    latest: Plan | None

    def __init__(self, planner: Planner, goal: Goal) -> None:
        self.planner, self.goal = planner, goal
        self._looking: Goal | None = None
        self.latest = None

    def start(self, sims: Sims) -> None:
        if sims.nsim != 1:
            raise UserError(f"a planner controls one simulation, got {sims.nsim}")
        self.planner.reset()
        self.latest = None

    def attend(self, direction: tuple[float, float] | None) -> None:
        """Look there while it lasts (s_fwd, hamalainen2015 section 5.1)."""
        self._looking = None if direction is None else looking(self.planner.scene, direction)

    def control(self, sims: Sims) -> np.ndarray:
        goal = self.goal if self._looking is None else self.goal + self._looking
        self.latest = self.planner.plan(sims.state[0].copy(), goal)
        return self.latest.controls[:1]

    def check_goal(self, goal: Goal) -> None:
        pass

    def set_goal(self, goal: Goal) -> None:
        self.goal = goal

    def check_parameters(self, changes: Sequence[tuple[str, float]]) -> None:
        settings = self.planner.settings
        for name, value in changes:
            settings = replaced(settings, name, value)
            check_sizes(self.planner.scene, settings.samples, settings.horizon)

    def set_parameter(self, name: str, value: float) -> None:
        """Change a setting by its name ('mutation', 'calm.speed'); samples and horizon start anew."""
        self.planner = self.planner.configured(replaced(self.planner.settings, name, value))


def replaced(settings: Any, name: str, value: float) -> Any:
    """A copy of a settings dataclass with one field, named 'field' or 'field.field', changed."""
    head, _, rest = name.partition(".")
    fields = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    if head not in fields or (rest != "") != dataclasses.is_dataclass(fields[head]):
        raise unknown("setting", name, names_of(settings))
    old = fields[head]
    if isinstance(old, int) and not float(value).is_integer():
        raise UserError(f"{name} must be a whole number, got {value:g}")
    new = replaced(old, rest, value) if rest else type(old)(value)
    return dataclasses.replace(settings, **{head: new})


def names_of(settings: Any) -> list[str]:
    """The names of all settings, nested ones with dots."""
    names: list[str] = []
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        nested = names_of(value) if dataclasses.is_dataclass(value) else []
        names += [f"{field.name}.{name}" for name in nested] or [field.name]
    return names
