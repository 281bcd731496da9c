"""What every plan is judged by whatever it is for: hard impacts and jerky motion (hamalainen2014 section 4.4)."""

import math

import numpy as np

from tumble.goals.stance import bone_velocities
from tumble.maths.compiled import Given2, Given3, Made1, entry
from tumble.world.rollouts import Rolled
from tumble.world.scene import Scene
from tumble.world.sims import Rows


class MotionQuality:
    """What a character goes through in a plan: hard impacts (f_d, eq. 4) and rough motion (f_s, eq. 5)."""

    def __init__(self, scene: Scene) -> None:
        first, character = scene.body(scene.bones[0]), scene.character
        self._bones = slice(first, first + len(scene.bones))
        # the head may hit anything, the root the ground (section 4.4: head and pelvis)
        self._touches = {character.root: f"{character.root}.ground", character.head: f"{character.head}.touch"}

    def velocities(self, rows: Rows) -> np.ndarray:
        """(n, 3 bones), m/s."""
        bones = self._bones
        return bone_velocities(rows.view("cvel")[:, bones], rows.view("xipos")[:, bones], rows.view("com"))

    def roughness(self, rolled: Rolled, past: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) mean over steps of the bones' squared changes of velocity, and of the changes of these, m^2/s^2.

        mu_a and mu_J of eq. 6 with the step as the unit of time.

        Args:
          past: (2, 3 bones), velocities a frame ago and now.
        """
        velocity = self.velocities(rolled).reshape(-1, rolled.steps, past.shape[1])
        acceleration, jerk = np.zeros((2, len(velocity)))
        _add_roughness(past, velocity, acceleration, jerk)
        return acceleration / max(1, rolled.steps - 1), jerk / rolled.steps

    def impacts(self, rolled: Rolled) -> np.ndarray:
        """(n,): the fastest that head or root met something, m/s; 0 where they met nothing.

        Against the ground it is the speed downwards before; where the head meets something else, how much its
        velocity changes within a step.
        """
        met = [np.zeros(rolled.nsim // rolled.steps)]
        for part, touch in self._touches.items():
            velocity, ground, touching = (
                rolled.view(name).reshape(-1, rolled.steps, width)
                for name, width in ((f"{part}.vel", 3), (f"{part}.ground", 1), (touch, 1))
            )
            change = velocity[:, 1:] - velocity[:, :-1]
            other = np.where(touching[:, 1:, 0] > 0.0, np.sqrt((change * change).sum(axis=2)), 0.0)
            met.append(np.where(ground[:, 1:, 0] > 0.0, -velocity[:, :-1, 2], other).max(axis=1, initial=0.0))
        return np.max(met, axis=0)


@entry
def _add_roughness(past: Given2, velocity: Given3, acceleration: Made1, jerk: Made1) -> None:
    """Add |v_k - v_k-1|^2 and |v_k - 2 v_k-1 + v_k-2|^2, over all steps k of velocities v (n, K, d), to (n,) each.

    Args:
      past: (2, d), v_-2 and v_-1; the change from v_-1 to v_0 counts in jerk alone.
    """
    n, steps, size = velocity.shape
    for i in range(n):
        for j in range(size):
            before, now = past[0, j], past[1, j]
            for k in range(steps):
                later = velocity[i, k, j]
                if k > 0:
                    acceleration[i] += (later - now) ** 2
                jerk[i] += (later - 2.0 * now + before) ** 2
                before, now = now, later


def damage(impacts: np.ndarray, threshold: float, slope: float) -> np.ndarray:
    """(n,): -2 log g of impact speeds, where g(x) = 0.5 + 0.5 tanh(slope (threshold - x)) (below eq. 4).

    2 log(1 + exp(y)) with y = 2 slope (x - threshold), so that it is linear and not infinite where g underflows.
    """
    scaled = [2.0 * slope * (impact - threshold) for impact in impacts.tolist()]
    return np.array([2.0 * (max(y, 0.0) + math.log1p(math.exp(-abs(y)))) for y in scaled])
