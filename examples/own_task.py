"""A task of one's own: a character, actions, a grid of goals and a reward; what to do in which state is found.

tumble task train examples/own_task.py                         # minutes; writes about-face.policy
tumble task run examples/own_task.py about-face.policy         # from 100 random starts
tumble task plot about-face.policy about-face.png
tumble run heading --character raptor --policy about-face.policy --record turn.npz
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.tasks.gaits import GaitStep, between
from tumble.tasks.grid import Axis, around
from tumble.tasks.task import JudgedStates, SampledSteps, Task, register


@dataclass(frozen=True)
class AboutFace(Task):
    """Come to a halt, facing a direction: the raptor turns by its turns, and brakes by stepping in place."""

    character: ClassVar[str] = "raptor"
    actions: ClassVar[tuple[GaitStep, ...]] = (
        *map(GaitStep, ("walk", "in-place", "turn-left", "turn-left-sharp", "turn-right", "turn-right-sharp")),
        *between("in-place", "turn-left-sharp", 1),  # a mix of both gaits' torques, half and half
        *between("in-place", "turn-right-sharp", 1),
    )
    grid: ClassVar[tuple[Axis, ...]] = (Axis("heading", around(25, 0.15)),)  # denser around 0; every step moves it
    states: ClassVar[int] = 800  # to explore at most

    def reward(self, states: JudgedStates, w: np.ndarray) -> np.ndarray:
        """1 for who goes slower than 0.3 m/s within 10 degrees: (states, 1) and (points,) give (states, points)."""
        slow = np.linalg.norm(states.velocity[:, :2], axis=1)[:, None] < 0.3
        return slow & (np.abs(w[:, 0]) < math.radians(10.0))

    def toll(self, steps: SampledSteps) -> np.ndarray:
        """Way costs a little, a tenth a metre: of two ways to turn, the one on the spot."""
        return 0.1 * np.hypot(steps.moved[:, 0], steps.moved[:, 1])

    def tolled(self, w: np.ndarray) -> np.ndarray:
        """Everywhere."""
        return np.ones(len(w))


register("about-face", AboutFace, "the raptor comes to a halt, facing a direction")
