"""Scenes and small settings that many tests share; built once, so that numba compiles once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.controller import Controller
from tumble.controllers import CONTROLLERS, Kind
from tumble.goals import Goal, balance
from tumble.planners import CPBPSettings
from tumble.props import Ball
from tumble.scene import Scene
from tumble.sims import Sims
from tumble.skills.acts import Act
from tumble.skills.check import check_acts, held_in
from tumble.skills.script import line_of
from tumble.walking import Walker, WalkSettings


@pytest.fixture(scope="session")
def scene() -> Scene:
    """The humanoid on the ground."""
    return Scene(humanoid())


@pytest.fixture(scope="session")
def ball_scene() -> Scene:
    """The humanoid and a ball."""
    return Scene(humanoid(), props=[Ball()])


@pytest.fixture(scope="session")
def goal(scene: Scene) -> Goal:
    """Balance."""
    return balance(scene)


@pytest.fixture(scope="session")
def small() -> CPBPSettings:
    """A C-PBP of a few milliseconds a frame."""
    return CPBPSettings(samples=8, horizon=0.2)


class Still(Controller):
    """Holds every joint with full strength; notes what it was shown and told."""

    def __init__(self) -> None:
        self.states: list[np.ndarray] = []
        self.forces: list[np.ndarray] = []
        self.goals: list[Goal] = []
        self.parameters: list[tuple[str, float]] = []
        self.directions: list[tuple[float, float] | None] = []

    def start(self, sims: Sims) -> None:
        self.states.clear()

    def control(self, sims: Sims) -> np.ndarray:
        self.states.append(sims.state[0].copy())
        self.forces.append(sims.view("xfrc_applied")[0].copy())
        motors = sims.scene.motors
        return np.tile(np.r_[np.zeros(motors.joints), np.ones(motors.size - motors.joints)], (sims.nsim, 1))

    def check_goal(self, goal: Goal) -> None:
        pass

    def set_goal(self, goal: Goal) -> None:
        self.goals.append(goal)

    def attend(self, direction: tuple[float, float] | None) -> None:
        self.directions.append(direction)

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        pass

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        self.parameters.append(dict(changes))


@pytest.fixture
def still() -> Still:
    """A controller that holds the pose."""
    return Still()


class Doer(Walker):
    """A walker that notes scripts and pretends to do their first act, until it is told how to walk."""

    scripts = True

    def __init__(self, scene: Scene, settings: WalkSettings = WalkSettings()) -> None:
        super().__init__(scene, settings)
        self.given: list[tuple[Act, ...]] = []

    def check_script(self, sims: Sims, acts: Sequence[Act]) -> None:
        check_acts(self.scene, acts, held_in(self.scene, sims.state[0]), sims.state[0])

    def set_script(self, sims: Sims, acts: Sequence[Act]) -> None:
        self.given.append(tuple(acts))
        self.doing = line_of(acts[0])

    def set_wishes(self, sims: Sims, wishes: Mapping[str, Any]) -> None:
        super().set_wishes(sims, wishes)
        if "speed" in wishes or "heading" in wishes:
            self.doing = ""


@pytest.fixture
def doers(monkeypatch: pytest.MonkeyPatch) -> list[Doer]:
    """All that are made as controller 'walker' from now on; they are `Doer`s."""
    made: list[Doer] = []

    def make(scene: Scene, settings: Any, *_: Any) -> Doer:
        made.append(Doer(scene, settings))
        return made[-1]

    monkeypatch.setitem(CONTROLLERS, "walker", Kind(make, WalkSettings, "does scripts"))
    return made
