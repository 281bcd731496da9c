"""Bodies: simulations of a scene under PD control, by as many rows as there are states; what systems roll with.

bodies = Bodies(scene, scene.state())
sims = bodies.loaded(bodies.rows(states))     # row i is in state i; there may be more rows than states
sims.act(control, bodies.drive, np.arange(len(states)))
bodies.motion(sims.state[: len(states)])      # (n, nstate) again
"""

import functools
from collections.abc import Sequence

import numpy as np

from tumble.world.drives import Drive, Pd
from tumble.world.scene import Scene
from tumble.world.sims import Sims

FEWEST = 4  # rows that are simulated at least


class Bodies:
    """Simulations of one scene, made once for each power of two of rows.

    Attributes:
      drive: the scene's PD drive.
    """

    def __init__(self, scene: Scene, row: np.ndarray, threads: int = 1) -> None:
        """Of a scene that has a PD drive; all that is not position or speed is as in a state row."""
        self._scene, self._row, self._threads = scene, row, threads
        self.drive: Drive = scene.drives[Pd.name]
        self._size = self.drive.model.nq + self.drive.model.nv

    def motion(self, rows: np.ndarray) -> np.ndarray:
        """qpos and qvel of state rows (..., nstate), live."""
        return rows[..., 1 : 1 + self._size]

    def rows(self, states: np.ndarray) -> np.ndarray:
        """Whole state rows of states that are positions and speeds alone; whole ones stay as they are."""
        if states.shape[1] == len(self._row):
            return states
        rows = np.tile(self._row, (len(states), 1))
        self.motion(rows)[:] = states
        return rows

    @functools.cache  # noqa: B019 - lives as long as the system
    def _sims(self, count: int) -> Sims:
        """Simulations of so many rows."""
        return Sims(self._scene, count, self._threads)

    def loaded(self, rows: np.ndarray) -> Sims:
        """Simulations whose first rows are in these states; those after them are copies of the first."""
        sims = self._sims(max(FEWEST, 1 << (len(rows) - 1).bit_length()))
        sims.use(self.drive)
        sims.load(np.concatenate([rows, np.tile(rows[:1], (sims.nsim - len(rows), 1))]))
        return sims


def side_by_side(tracks: Sequence[np.ndarray], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Tracks of any lengths as controls (longest, n, size), 0 after a track's end, and their lengths (n,)."""
    lengths = np.array([len(track) for track in tracks])
    controls = np.zeros((lengths.max(), len(tracks), size))
    for i, track in enumerate(tracks):
        controls[: len(track), i] = track
    return controls, lengths
