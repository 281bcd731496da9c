"""What single and vector environments share: a scenario with a body and a drive, spaces, pictures.

A stage is made of the arguments of `gymnasium.make`, which are checked here.
"""

from dataclasses import fields
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from tumble.characters import Character, character
from tumble.errors import UserError, check_number, choose, unknown
from tumble.film import Camera, Canvas
from tumble.gym.actions import Actions
from tumble.gym.observing import LARGEST, Observer
from tumble.scenarios import SCENARIOS, Scenario
from tumble.world.scene import Scene

RENDER_MODES = ("rgb_array",)


class EpisodeStage:
    """Where episodes of a scenario go on, and how they are told and shown.

    Attributes:
      scenario: with its fields.
      scene: of the present seed.
      strewn: whether every seed has a scene of its own.
      observer, actions: of the scene.
      observation_space, action_space: of one environment; the same for all seeds.
    """

    def __init__(
        self, scenario: str, character_name: str | None, drive: str | None, normalized: bool, render_mode: str | None,
        size: tuple[int, int], options: dict[str, Any],
    ) -> None:  # fmt: skip
        """Build the scene of seed 0; see `TrialEnv` for the arguments."""
        kind = SCENARIOS[scenario].make
        known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        for name in options:
            if name not in known:
                raise unknown("option", name, [*known, "character", "drive", "normalized"], f" of '{scenario}'")
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise UserError(f"no render_mode '{render_mode}'; there is: {', '.join(RENDER_MODES)}, or None")
        for word, pixels in zip(("width", "height"), size, strict=True):
            check_number(f"{word} of a picture", pixels, 16, 4096)
        self.scenario: Scenario = kind(**options)
        self._body: Character = character(character_name or self.scenario.body_for(self.scenario.controllers[0]))
        self._drive, self._normalized, self._size = drive, normalized, size
        self._canvas: Canvas | None = None
        self.strewn = self.scenario.strewn or self.scenario.body(self._body, 1) is not self._body
        self.set(0)
        many = np.full(self.observer.size, LARGEST)
        self.observation_space = Box(-many, many, dtype=np.float64)
        self.action_space = Box(self.actions.low, self.actions.high, dtype=np.float64)

    def set(self, seed: int) -> None:
        """Have the scene of a seed."""
        self.scene: Scene = self.scenario.scene(self.scenario.body(self._body, seed), seed)
        chosen = self._drive or self.scene.drive.name
        self.actions = Actions(choose("drive", chosen, self.scene.drives), self._normalized)
        self.observer = Observer(self.scene)
        self.close()

    def picture(self, state: np.ndarray) -> np.ndarray:
        """A state as a film shows it, RGB bytes (height, width, 3)."""
        width, height = self._size
        if self._canvas is None:
            self._canvas = Canvas(self.scene, width, height, Camera().fovy, suns=1)
        standing = self._canvas.outline(self.scene.state())  # so near that it could stand up in the picture
        view = Camera().frame([standing, self._canvas.outline(state)], width / height)[1]
        return self._canvas.draw(state, view)

    def close(self) -> None:
        """Give back what pictures needed."""
        if self._canvas is not None:
            self._canvas.close()
            self._canvas = None
