"""Many SIMBICON characters side by side: row i is one of them. Shared by the scripts of this folder."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from tumble.characters import character
from tumble.scenarios.stepping import FRICTION, PUSHED, slabs
from tumble.simbicon.gait import Gait
from tumble.simbicon.simbicon import Simbicon
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

DISTURBED = 0.1  # m/s and rad/s, standard deviation of every speed of a start
LONGEST = 2.0  # s that a step may take


class Rows:
    """Starts of one gait, disturbed at random, of which those walk on that have not fallen and are not done.

    Attributes:
      steps: (n,) made before a fall, or before enough.
      seconds: (n,) in which they were made.
      path: (n,) m that the centre of mass has gone along the heading of each moment.
    """

    def __init__(
        self, body: str, gait: str, n: int, seed: int, slope: float = 0.0, height: float = 0.0,
        gaits: Sequence[Gait] | None = None, threads: int = 0,
    ) -> None:  # fmt: skip
        """n starts, on a slope in degrees, with slabs of a height in m; gaits instead of the builtin ones."""
        scene = Scene(character(body), slabs(height), Ground(FRICTION, slope=math.radians(slope)))
        self.walker, self.sims = Simbicon(scene, gaits), Sims(scene, n, threads)
        self.sims.use(self.walker.drive)
        self.sims.load(self.walker.opening(gait))
        self.rng = np.random.default_rng(seed)
        speeds = self.sims.view("qvel")
        speeds[:] = speeds + DISTURBED * self.rng.standard_normal(speeds.shape)
        self.sims.load(self.sims.state.copy())
        self.walker.start(self.sims)
        self.walker.choose(self.sims, gait)
        self.steps, self.seconds, self.path = np.zeros(n), np.zeros(n), np.zeros(n)

    def go(self, enough: float = math.inf, seconds: float = math.inf, force: np.ndarray | None = None) -> np.ndarray:
        """Walk until all have made enough steps, or for so long, or fell; (n,) whether a row did not fall.

        force is (n, 3), N on the trunk for 0.1 s, from some moment between 4 and 5.2 s on, drawn for every row.
        """
        sims, walker, scene = self.sims, self.walker, self.walker.scene
        trunk, outside = scene.body(scene.character.trunk), sims.view("xfrc_applied")
        begins = self.rng.uniform(4.0, 5.2, sims.nsim)
        fallen, going = np.zeros(sims.nsim, bool), np.arange(sims.nsim)
        while going.size:
            if force is not None:
                left = np.clip((begins + PUSHED - self.seconds) / scene.dt, 0.0, 1.0) * (self.seconds >= begins)
                outside[:, trunk, :3] = left[:, None] * force
            sims.act(partial(walker.law, rows=going), walker.drive, going)
            self.seconds[going] += scene.dt
            heading = sims.memory("simbicon").heading[going]
            ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
            self.path[going] += (sims.view("com_velocity")[going, :2] * ahead).sum(axis=1) * scene.dt
            self.steps[going] = walker.steps(sims)[going]
            fallen[going] |= walker.fallen(sims)[going]
            done = (self.steps[going] >= enough) | (self.seconds[going] > seconds - 0.5 * scene.dt)
            going = going[~fallen[going] & ~done]
        outside[:] = 0.0
        return ~fallen
