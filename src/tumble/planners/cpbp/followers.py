"""Which walkers of a frame follow a reflex, from which step on, and the controls that they draw.

followers = Followers(scene, reflexes, share=0.6, first=2, shape=(steps, n), rng=rng)
followers.take(parents)                        # when walkers are resampled
followers.draw(walk, controls[k], ...)         # after all have drawn theirs: those that follow draw anew
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tumble.goals import Goal
from tumble.planners.cpbp.kernels import propose
from tumble.planners.reflexes import Reflex
from tumble.world.scene import Scene
from tumble.world.sims import Sims

if TYPE_CHECKING:
    from tumble.planners.cpbp.walk import Walk

FRESH = 0.6  # of those that follow a reflex, those that do so at once; ours
BACK = 0.25  # s in which joints that a reflex says nothing of return to the pose; ours


class Followers:
    """Walkers that follow reflexes in one forward pass.

    Of the share that does, some do from the first step on, in the first slots that repeat no earlier plan; the others,
    the last slots, begin at a step drawn at random, so that a plan goes on from its middle in another way. Steps at the
    horizon's end that no earlier frame has planned are drawn by reflex for everybody.

    A walker that follows has what the reflex says for a guide, with the reflex's own width; its change is counted from
    the reflex's change. Joints that the reflex says nothing of go back to the pose, with the width of mutations.
    """

    def __init__(
        self, scene: Scene, reflexes: Sequence[Reflex], share: float, first: int, shape: tuple[int, int],
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Choose who follows which reflex, in turn, and from when on.

        Args:
          share: of the walkers, who follow one sooner or later.
          first: the first slot that repeats no earlier plan.
          shape: steps and walkers.
        """
        (steps, n), self._scene = shape, scene
        self._reflexes, self._kind = reflexes, np.arange(n) % len(reflexes)
        some = min(round(share * n), n - first)
        fresh = round(FRESH * some)
        self._onset = np.full(n, steps)
        self._onset[first : first + fresh] = 0
        self._onset[n - some + fresh :] = rng.integers(1, steps, some - fresh)
        self._mood = rng.random((n, 2))
        self._said = np.empty((n, scene.drive.size))  # in the step before
        self._heard = np.zeros(n, bool)  # whether anything was

    def take(self, parents: np.ndarray) -> None:
        """Have row i go on as row parents[i] does."""
        self._onset, self._mood, self._kind = self._onset[parents], self._mood[parents], self._kind[parents]
        self._said, self._heard = self._said[parents], self._heard[parents]

    def draw(
        self, walk: Walk, k: int, everybody: bool, sims: Sims, goal: Goal, parents: np.ndarray,
        normal: np.ndarray, uniform: np.ndarray, controls: np.ndarray,
    ) -> None:  # fmt: skip
        """Draw the controls (N, size) of step k and their expense anew for those that follow.

        Args:
          everybody: whether all walkers do.
          parents: (N,) rows where sensors of the simulations are.
          normal, uniform: (N, size) random numbers.
        """
        motors, qpos = self._scene.drive, sims.view("qpos")
        posed = motors.qpos if motors.speeds else np.empty(0, np.intp)
        follows = np.ones(len(parents), bool) if everybody else self._onset <= k
        begins = follows & ~self._heard
        self._said[begins] = walk.before[begins]
        self._heard = follows
        for number, reflex in enumerate(self._reflexes):
            rows = np.flatnonzero(follows & (self._kind == number))
            if not rows.size:
                continue
            advice = np.ones((rows.size, motors.size))
            advice[:, : posed.size] = (walk.rest - qpos[np.ix_(rows, posed)]) / BACK
            reflex.advise(sims, parents[rows], goal, self._mood[rows], advice)
            np.clip(advice, motors.low, motors.high, out=advice)
            guides, self._said[rows] = np.stack([self._said[rows], advice]), advice
            precision = walk.precision.copy()
            precision[4, reflex.columns] = reflex.width**-2.0
            drawn, expense = np.empty((rows.size, motors.size)), np.empty(rows.size)
            propose(
                drawn, expense, normal[rows], uniform[rows], walk.before[rows], walk.earlier[rows],
                qpos[rows], posed, walk.rest, self._scene.dt, guides, guides[0], guides[0], np.arange(rows.size), 1, 0,
                precision, walk.centre, motors.low, motors.high, True, walk.boldness[rows],
            )  # fmt: skip
            controls[rows], walk.expense[rows] = drawn, expense
