"""Playback: a planner that plans nothing: it hands out controls that were recorded, one a frame."""

from typing import Any

import numpy as np

from tumble.errors import UserError
from tumble.goals import Goal
from tumble.planners.planner import Plan, Planner
from tumble.world.scene import Scene

NOWHERE = np.empty((0, 3))


class Playback(Planner):
    """Does again what another planner did: controls (frames, size), in their order."""

    def __init__(self, planner: Planner, controls: np.ndarray) -> None:
        self.scene, self.settings, self.go_style = planner.scene, planner.settings, planner.go_style  # type: ignore[misc]
        self._controls, self._next = controls, 0

    def reset(self) -> None:
        """The next control stays the next: who takes over again goes on where it was."""

    def _forget(self) -> None:
        pass

    def configured(self, settings: Any) -> Planner:
        """Settings have done their work in the recorded controls."""
        self.settings = settings
        return self

    def in_scene(self, scene: Scene) -> Planner:
        """The same in another scene."""
        self.scene = scene
        return self

    def plan(self, state: np.ndarray, goal: Goal) -> Plan:
        """The next recorded control; nothing was simulated for it."""
        if self._next >= len(self._controls):
            raise UserError(f"the recording has {len(self._controls)} controls, and one more was asked for")
        self._next += 1
        values = np.zeros((1, len(goal.terms)))
        control = self._controls[self._next - 1 : self._next]
        return Plan(control, 0.0, values, NOWHERE, np.empty((0, 0, 3)), NOWHERE, 0.0, 0, 0)
