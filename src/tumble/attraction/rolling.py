"""Rolling: many rows follow their tracks and then stay, all in one batch, a frame at a time.

    rolling = Rolling(system, sims, tracks, trace=6, hold=True, heading=0.0)
    while rolling.alive.size:
        rolling.advance()
    rolling.rolled.reached

`UprightSystem.roll` runs it to the end; a `Question` does so over several frames of somebody's live world.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tumble.attraction.bodies import side_by_side
from tumble.attraction.system import Followed
from tumble.world.drives import FRAME
from tumble.world.sims import Sims

if TYPE_CHECKING:
    from tumble.attraction.upright import UprightSystem

HOLD = 2.0  # s of staying after the track's end
SETTLED = 0.5  # s at the end of them over which it must be balanced
FALLEN = 0.6  # of the root's height at the goal, below which nobody is caught any more
LEANING = 0.5  # cosine of the trunk's angle from the vertical, below which nobody is caught either
FALL = 50.0  # kg rad that a fall adds to a miss, less the longer it stood
LEAP = 200.0  # kg rad for each m that a leap falls short of
# Who follows a branch that was made for somebody else is left where it is farther from that one's way, by eq. 3, so
# many frames before the branch's end: of those who came to stand 99 in 100 were not (docs/decisions.md).
WAYS = ((105, 12.0), (75, 9.0))  # frames, kg rad
AGO = 15  # frames that it must have followed the branch for
STRAYED = 100.0  # kg rad that straying adds to a miss


class Rolling:
    """Rows that follow their tracks and then stand, all in one batch, a frame at a time.

    Attributes:
      alive: rows under way.
      rolled: what they came to so far.
    """

    def __init__(
        self,
        system: "UprightSystem",
        sims: Sims,
        tracks: Sequence[np.ndarray],
        trace: int,
        hold: bool,
        heading: float | None,
        ways: np.ndarray | None = None,
    ) -> None:
        """Begin; the first rows of the simulations are in their states.

        Args:
          ways: (n, len(WAYS), nstate) where rows should be, NaN where that does not matter; see `WAYS`.
        """
        self._ways = ways
        self._system, self._sims, self._hold, self._heading = system, sims, hold, heading
        count, motion = len(tracks), len(system.goal)
        self._controls, self._lengths = side_by_side(tracks, 2 * system.joints)
        self._wait, self._frame = round(HOLD / FRAME), 0
        self.alive, self._flown = np.arange(count), np.zeros(count)  # m that both feet were above the ground at most
        states = system.bodies.motion(sims.state[:count]).copy()
        self.rolled = Followed(
            np.zeros(count, bool),
            np.full(count, np.inf),
            np.zeros(count),
            states,
            np.zeros((count, trace + 1, motion)),
            0,
        )
        self.rolled.trace[:, 0] = states
        still = self._lengths == 0
        self.rolled.misses[still] = system.distances(states[still], system.goal)
        if not hold:
            self.alive = self.alive[~still]

    def advance(self) -> None:
        """Simulate a frame of all rows under way."""
        system, sims, alive, rolled = self._system, self._sims, self.alive, self.rolled
        driven = self._frame < self._lengths[alive]
        control = np.empty((len(alive), 2 * system.joints))
        if driven.any():
            control[driven] = self._controls[self._frame, alive[driven]]
        if not driven.all():
            control[~driven] = system.staying(sims, alive[~driven])
        sims.act(control, system.drive, alive)
        self._frame += 1
        self.rolled = rolled = replace(rolled, steps=rolled.steps + len(alive) * system.drive.steps)
        if self._frame < rolled.trace.shape[1]:
            rolled.trace[alive, self._frame] = system.bodies.motion(sims.state[alive])
        some = alive[driven]
        rolled.efforts[some] += np.square(sims.view("actuator_force")[some, system.drive.columns]).sum(1)
        flight = system.skill.flight
        if flight:
            self._flown[alive] = np.maximum(self._flown[alive], system.clearance(sims, alive))
        done = self._frame - self._lengths[alive]
        ended = alive[done == 0]
        if ended.size:
            rolled.ends[ended] = system.bodies.motion(sims.state[ended])
            goal = system.distances(rolled.ends[ended], system.goal)
            rolled.misses[ended] = goal + system.effort * rolled.efforts[ended]
            rolled.misses[ended] += LEAP * np.maximum(flight - self._flown[ended], 0.0)
        if self._hold:
            self._judge(alive, done)
        else:
            self.alive = alive[(done < 0) & ~sims.broken[alive]]
        rolled.misses[alive[sims.broken[alive]]] = np.inf
        if self._ways is not None:
            self._leave_strays(self._ways)

    def _leave_strays(self, ways: np.ndarray) -> None:
        """Drop rows that are far from where their branches led others."""
        for point, (before, far) in enumerate(WAYS):
            due = self.alive[self._lengths[self.alive] - self._frame == before]
            due = due[np.isfinite(ways[due, point, 0])]
            if due.size:
                features = self._system.features
                there = features(self._system.bodies.motion(self._sims.state[due]))
                away = np.abs(there - features(ways[due, point])).sum(1)
                self.rolled.misses[due[away > far]] = STRAYED + away[away > far]
                self.alive = np.setdiff1d(self.alive, due[away > far], assume_unique=True)

    def _judge(self, alive: np.ndarray, done: np.ndarray) -> None:
        """Drop rows that fell, with what that adds to their misses, and rows that have reached the goal.

        Args:
          done: (alive,) frames since the track's end.
        """
        sims, system = self._sims, self._system
        height, up = system.stature(sims, alive)
        held = done > 0
        fell = sims.broken[alive] | (held & ((height < FALLEN) | (up < LEANING)))
        late = held & (done > self._wait - round(SETTLED / FRAME))
        if late.any():
            fell |= late & ~system.balanced(sims, alive, self._heading)
        self.rolled.misses[alive[fell]] += FALL * (1.0 - np.maximum(done[fell], 0) / self._wait)
        won = ~fell & (done >= self._wait)
        self.rolled.reached[alive[won]] = self._flown[alive[won]] >= system.skill.flight
        self.alive = alive[~fell & ~won]
