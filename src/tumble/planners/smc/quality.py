"""What every plan is judged by whatever it is for: hard impacts and jerky motion (hamalainen2014 section 4.4)."""

import math

import numpy as np
from numba import njit

from tumble.goals.stance import bone_velocities
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
        return np.asarray(bone_velocities(rows.view("cvel")[:, bones], rows.view("xipos")[:, bones], rows.view("com")))

    def roughness(self, rolled: Rolled, past: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) mean over steps of the bones' squared changes of velocity, and of the changes of these, m^2/s^2.

        mu_a and mu_J of eq. 6 with the step as the unit of time.

        Args:
          past: (2, 3 bones), velocities a frame ago and now.
        """
        return _roughness(past, self.velocities(rolled).reshape(-1, rolled.steps, past.shape[1]))

    def impacts(self, rolled: Rolled) -> np.ndarray:
        """(n,): the fastest that head or root met something, m/s; 0 where they met nothing.

        Against the ground it is the speed downwards before; where the head meets something else, how much its
        velocity changes within a step.
        """
        worst = np.zeros(rolled.nsim // rolled.steps)
        for part, touch in self._touches.items():
            velocity, ground, touching = (rolled.view(name) for name in (f"{part}.vel", f"{part}.ground", touch))
            shape = len(worst), rolled.steps
            _impacts(velocity.reshape(*shape, 3), ground.reshape(shape), touching.reshape(shape), worst)
        return worst


@njit(cache=True)
def _roughness(past, velocity):  # type: ignore[no-untyped-def]
    n, steps, size = velocity.shape
    acceleration, jerk = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(size):
            before, now = past[0, j], past[1, j]
            for k in range(steps):
                later = velocity[i, k, j]
                if k > 0:
                    acceleration[i] += (later - now) ** 2
                jerk[i] += (later - 2.0 * now + before) ** 2
                before, now = now, later
    return acceleration / max(1, steps - 1), jerk / steps


@njit(cache=True)
def _impacts(velocity, ground, touch, worst):  # type: ignore[no-untyped-def]
    """Raise worst (n,) to the fastest impact of velocities (n, K, 3) where contacts (n, K) are above 0."""
    for i in range(worst.size):
        for k in range(1, velocity.shape[1]):
            if ground[i, k] > 0.0:
                worst[i] = max(worst[i], -velocity[i, k - 1, 2])
            elif touch[i, k] > 0.0:
                square = 0.0
                for j in range(3):
                    square += (velocity[i, k, j] - velocity[i, k - 1, j]) ** 2
                worst[i] = max(worst[i], math.sqrt(square))


@njit(cache=True)
def damage(impacts, threshold, slope):  # type: ignore[no-untyped-def]
    """(n,): -2 log g of impact speeds, where g(x) = 0.5 + 0.5 tanh(slope (threshold - x)) (below eq. 4)."""
    cost = np.empty(impacts.size)
    for i in range(impacts.size):
        x = 2.0 * slope * (impacts[i] - threshold)
        cost[i] = 2.0 * (max(x, 0.0) + math.log1p(math.exp(-abs(x))))
    return cost
