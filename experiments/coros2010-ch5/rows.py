"""Many walkers side by side: row i is one of them. Shared by the scripts of this folder."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tumble.characters import Character, biped
from tumble.scenarios.walking import walking_scene
from tumble.walking import Walker, WalkSettings
from tumble.world.sims import Sims

FALLEN = 0.5  # of the root's standing height


class Rows:
    """Walkers of one body in one batch.

    Attributes:
      fallen: (n,) second of the first fall, inf where there was none.
      speed: (n,) mean velocity of the centre of mass ahead, m/s, since `count`.
    """

    def __init__(self, n: int, body: Character | None = None, settings: WalkSettings = WalkSettings()) -> None:
        self.scene = walking_scene(body or biped())
        self.sims, self.walker = Sims(self.scene, n), Walker(self.scene, settings)
        self.sims.load(self.scene.state())
        self.walker.start(self.sims)
        self._root = self.sims.view(f"{self.scene.character.root}.pos")
        self._standing = float(self._root[0, 2])
        self.fallen = np.full(n, np.inf)
        self._frames = self._counted = 0
        self._path = np.zeros((n, 2))

    def wish(self, **wishes: Any) -> None:
        """Wishes for all rows; arrays have one for each."""
        self.walker.wish(self.sims, **wishes)

    def go(self, seconds: float, force: Callable[[int], np.ndarray] | None = None) -> None:
        """Walk on; force(frame) is a force (n, 3) on every trunk, N, held for the frame."""
        outside = self.sims.view("xfrc_applied")
        trunk = self.scene.body(self.scene.character.trunk)
        velocity = self.sims.view("com_velocity")
        for _ in range(round(seconds / self.scene.dt)):
            if force is not None:
                outside[:, trunk, :3] = force(self._frames)
            self.sims.act(self.walker.control(self.sims), self.walker.drive)
            self._frames += 1
            self._path += velocity[:, :2] * self.scene.dt
            down = (self._root[:, 2] < FALLEN * self._standing) | self.sims.broken
            self.fallen[down & np.isinf(self.fallen)] = self._frames * self.scene.dt
        outside[:] = 0

    def count(self) -> None:
        """Take mean speeds from now on."""
        self._counted, self._path[:] = self._frames, 0

    def speed(self, heading: float = 0.0) -> np.ndarray:
        """(n,): mean speed along a heading since `count`, m/s."""
        seconds = max(1, self._frames - self._counted) * self.scene.dt
        return self._path @ (np.cos(heading), np.sin(heading)) / seconds
