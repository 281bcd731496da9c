"""Rollouts: what simulations went through, step by step, so that terms can judge all of it at once.

    rollouts = Rollouts(sims, steps=60)
    rows = slice(0, 8)
    for k in range(60):
        sims.act(controls[k], rows=rows)
        rollouts.note(k, rows)
    goal.way_costs(rollouts.of(rows))  # (8 * 60, ways), all steps of the first row before those of the second

Judging 60 steps at once takes one call of a term instead of 60.
"""

from dataclasses import dataclass

import numpy as np

from tumble.errors import unknown
from tumble.world.sims import Sims

DERIVED = ("sensordata", "xipos", "cvel", "xquat", "ctrl")  # beside the state, what terms read


class Rollouts:
    """Room for `steps` steps of all rows of a Sims: their states, sensors, and motions of bodies."""

    def __init__(self, sims: Sims, steps: int) -> None:
        """Take the room at once: rows times steps of all that is kept; what was not noted yet is 0."""
        self.sims, self.steps = sims, steps
        model = sims.scene.model
        motion = sims.state[:, : 1 + model.nq + model.nv]  # MuJoCo's order: time, qpos, qvel, and more
        live = {"state": motion} | {name: sims.view(name) for name in DERIVED}
        self._kept = {name: np.zeros((len(array), steps, *array.shape[1:])) for name, array in live.items()}
        self._pairs = [(live[name], self._kept[name]) for name in live]

    def note(self, step: int, rows: slice) -> None:
        """Keep what rows are like now, after a step."""
        for live, kept in self._pairs:
            kept[rows, step] = live[rows]

    def kept(self, channel: str) -> np.ndarray:
        """(rows, steps, d) of a channel of the scene, of all rows; live."""
        return self._kept["sensordata"][:, :, self.sims.scene.channels[channel]]

    def of(self, rows: slice) -> "Rolled":
        """What rows went through, as (rows * steps, ...) arrays; live: the next `note` of these rows changes them."""
        kept = {name: kept[rows].reshape(-1, *kept.shape[2:]) for name, kept in self._kept.items()}
        return Rolled(self.sims, self.steps, kept, np.repeat(self.sims.broken[rows], self.steps))


@dataclass(frozen=True)
class Rolled:
    """Rows that terms can judge, as those of a Sims.

    Attributes:
      sims: whose rows they were.
      steps: that each of them went.
      kept: by field.
      broken: (nsim,), whether the row broke at any step.
    """

    sims: Sims
    steps: int
    kept: dict[str, np.ndarray]
    broken: np.ndarray

    @property
    def nsim(self) -> int:
        """Steps times rows."""
        return len(self.broken)

    def view(self, name: str) -> np.ndarray:
        """(nsim, ...) of a channel of the scene, of the state, or of another field that is kept."""
        if name in self.kept:
            return self.kept[name]
        channel = self.sims.scene.channels.get(name)
        if channel is not None:
            return self.kept["sensordata"][:, channel]
        model = self.sims.scene.model
        places = {
            "time": slice(1),
            "qpos": slice(1, 1 + model.nq),
            "qvel": slice(1 + model.nq, 1 + model.nq + model.nv),
        }
        if name not in places:
            raise unknown("view", name, [*self.sims.scene.channels, *places, *self.kept])
        return self.kept["state"][:, places[name]]
