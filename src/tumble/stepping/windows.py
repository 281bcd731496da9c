"""Windows of a few steps, many simulated side by side: what optimisers ask for (coros2010 section 3.3.2).

    world = world_of(BASES["planar-walk"]())
    run = world.rolled(starts, plans)                 # starts (n, nstate), plans (n, 3, 6)
    run.lengths.sum(axis=1)                           # m, after three steps
    slopes = world.slopes(starts, plans, run)         # by one-sided differences, all at once

A perturbed second step begins where the unperturbed first one ended, so that no step is simulated twice.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tumble.characters import character
from tumble.stepping.base import Base
from tumble.stepping.strider import Strider
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

FRICTION = 0.8  # of the ground, as SIMBICON's scenarios have it
ROWS = 128  # simulations at once
ANGLE, DWELL = 0.02, 0.015  # rad and s by which a number is changed to see what it does; not given; ours


class Walked(NamedTuple):
    """Windows that were simulated, n of w steps each; what comes after a fall means nothing."""

    states: np.ndarray  # (n, w, nstate) after each step
    reduced: np.ndarray  # (n, w, q) the same reduced
    lengths: np.ndarray  # (n, w) m
    lateral: np.ndarray  # (n, w) m
    stood: np.ndarray  # (n, w)

    def some(self, rows: np.ndarray) -> "Walked":
        """Of those windows, copies."""
        return Walked(*(one[rows] for one in self))

    def cut(self, first: int, end: int | None = None) -> "Walked":
        """Of the steps from the first to before the end, views."""
        return Walked(*(one[:, first:end] for one in self))

    def then(self, other: "Walked") -> "Walked":
        """With the steps of another behind."""
        return Walked(*(np.concatenate([a, b], axis=1) for a, b in zip(self, other, strict=True)))


class Slopes(NamedTuple):
    """What a number of a plan changes: (n, w p, w) m per rad or s, of lengths and of lateral spacings."""

    lengths: np.ndarray
    lateral: np.ndarray


class StepWorld:
    """Simulations of a base, one of them a process.

    Attributes:
      taken: steps that were simulated so far, for people who compare optimisers.
    """

    def __init__(self, base: Base) -> None:
        """A scene of the base's body alone on level ground."""
        self.base = base
        self.strider = Strider(Scene(character(base.character), ground=Ground(FRICTION)), base)
        self._sims = Sims(self.strider.scene, ROWS, nthread=1)
        self._sims.use(self.strider.walker.drive)
        self.taken = 0

    def opening(self, rows: int, rng: np.random.Generator, steps: int, disturbed: float) -> Walked:
        """(rows, 1) starts: the gait's opening, its speeds disturbed by so much, after so many steps of its own.

        Who falls is begun again with another disturbance.
        """
        opening = self._opening()
        starts = np.repeat(opening[None], rows, axis=0)
        found = None
        while found is None or not found.stood.all():
            wrong = np.arange(rows) if found is None else np.flatnonzero(~found.stood.all(axis=1))
            starts[wrong] = self._disturbed(opening, disturbed * rng.standard_normal((len(wrong), self._nv)))
            found = self.rolled(starts, np.broadcast_to(self.base.action, (rows, steps, len(self.base.action))))
        return found.cut(steps - 1)

    @property
    def _nv(self) -> int:
        return int(self.strider.scene.model.nv)

    def _opening(self) -> np.ndarray:
        self.strider.begin(self._sims)
        state: np.ndarray = self._sims.state[0].copy()
        return state

    def _disturbed(self, opening: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """(n, nstate): an opening with speeds (n, nv) added."""
        sims = self._sims
        sims.load(opening)
        sims.view("qvel")[: len(speeds)] += speeds
        found: np.ndarray = sims.state[: len(speeds)].copy()
        return found

    def step(self, starts: np.ndarray, actions: np.ndarray) -> Walked:
        """One step from states (n, nstate) by actions (n, p), as windows (n, 1)."""
        parts = [self._step(starts[i : i + ROWS], actions[i : i + ROWS]) for i in range(0, len(starts), ROWS)]
        return Walked(*(np.concatenate(part)[:, None] for part in zip(*parts, strict=True)))

    def _step(self, starts: np.ndarray, actions: np.ndarray) -> Walked:
        """At most as many as there are simulations; without the axis of steps."""
        sims, strider, rows = self._sims, self.strider, np.arange(len(starts))
        state = np.repeat(starts[:1], ROWS, axis=0)
        state[rows] = starts
        sims.load(state)
        strider.apply(sims, rows, actions)
        stood = strider.step(sims, rows)
        self.taken += len(rows)
        return Walked(sims.state[rows], strider.reduced(sims, rows), *strider.measured(sims, rows), stood)

    def rolled(self, starts: np.ndarray, plans: np.ndarray) -> Walked:
        """Windows from states (n, nstate) by plans (n, w, p); who fell is not simulated on."""
        found = self.step(starts, plans[:, 0])
        for i in range(1, plans.shape[1]):
            found = found.then(self.onward(found.states[:, -1], plans[:, i], found.stood[:, -1]))
        return found

    def onward(self, starts: np.ndarray, actions: np.ndarray, stood: np.ndarray) -> Walked:
        """A step more of those who stood, (n, 1); others have the states that they had."""
        rows, n = np.flatnonzero(stood), len(starts)
        found = Walked(
            starts[:, None].copy(),
            np.zeros((n, 1, len(self.base.metric))),
            np.zeros((n, 1)),
            np.zeros((n, 1)),
            np.zeros((n, 1), bool),
        )
        if rows.size:
            for whole, part in zip(found, self.step(starts[rows], actions[rows]), strict=True):
                whole[rows] = part
        return found

    def slopes(self, starts: np.ndarray, plans: np.ndarray, run: Walked, both: bool = False) -> Slopes:
        """What every number of plans (n, w, p) changes of every step, by differences of a little.

        Args:
          run: of these plans.
          both: centred differences, for twice the steps; else one-sided.

        Where one of the two that are compared falls, nothing is known, and the slope is 0.
        """
        ahead = self._changed(starts, plans, run, 1.0)
        behind, share = (self._changed(starts, plans, run, -1.0), 0.5) if both else (None, 1.0)
        little = np.tile(self.little, plans.shape[1])[:, None] / share
        found = []
        for name in ("lengths", "lateral"):
            here = getattr(run, name)[:, None] if behind is None else getattr(behind, name)
            fine = ahead.stood & (run.stood[:, None] if behind is None else behind.stood)
            found.append(np.where(fine, getattr(ahead, name) - here, 0.0) / little)
        return Slopes(*found)

    @property
    def little(self) -> np.ndarray:
        """(p,) rad and s by which numbers are changed."""
        return np.append(np.full(len(self.base.action) - 1, ANGLE), DWELL)

    def _changed(self, starts: np.ndarray, plans: np.ndarray, run: Walked, sign: float) -> Walked:
        """(n, w p, w) of plans with each number changed by a little in turn."""
        n, w, p = plans.shape
        before = np.concatenate([starts[:, None], run.states[:, : w - 1]], axis=1)
        stood = np.concatenate([np.ones((n, 1), bool), run.stood[:, : w - 1]], axis=1)
        whole = [np.repeat(one[:, None], w * p, axis=1) for one in run]
        change = sign * np.diag(self.little)
        for i in range(w):
            # those changed in earlier steps go on by the plan; those of this step begin where the plan's own do
            at = np.repeat(before[:, i, None], p, axis=1)
            do = plans[:, i, None] + change
            if i:
                old = whole[0][:, : i * p, i - 1]
                at = np.concatenate([old, at], axis=1)
                do = np.concatenate([np.repeat(plans[:, i, None], i * p, axis=1), do], axis=1)
            up = (
                np.concatenate([whole[4][:, : i * p, i - 1], np.repeat(stood[:, i, None], p, axis=1)], axis=1)
                if i
                else np.repeat(stood[:, i, None], p, axis=1)
            )
            m = (i + 1) * p
            part = self.onward(at.reshape(n * m, -1), do.reshape(n * m, p), up.ravel())
            for all_of_it, one in zip(whole, part, strict=True):
                all_of_it[:, :m, i] = one.reshape(n, m, *one.shape[2:])
        return Walked(*whole)


@lru_cache(maxsize=2)
def world_of(base: Base) -> StepWorld:
    """The world of a base, one a process."""
    return StepWorld(base)
