"""Sims: many simulations of one scene; row i of every array is simulation i.

    from tumble import Scene, Sims, humanoid
    scene = Scene(humanoid())
    sims = Sims(scene, nsim=32)
    sims.load(scene.state("rest"))
    sims.act(np.zeros((32, scene.drive.size)))
    heights = sims.view("com")[:, 2]

The live world is `Sims(scene, nsim=1)`. Traps: views are live arrays, so copy what you keep; after
`take` the state is in its new order while sensors keep the old one until the next `act`.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

import mujoco
import numpy as np
from mujoco import batch

from tumble.errors import UserError, check_number, unknown
from tumble.world.drives import Drive
from tumble.world.scene import Scene

UNSTABLE = [
    mujoco.mjtWarning.mjWARN_BADQPOS.value,
    mujoco.mjtWarning.mjWARN_BADQVEL.value,
    mujoco.mjtWarning.mjWARN_BADQACC.value,
    mujoco.mjtWarning.mjWARN_BADCTRL.value,
]
STAGE = mujoco.mjtStage.mjSTAGE_VEL.value  # positions, velocities and contacts current after a step


Law: TypeAlias = Callable[["Sims"], np.ndarray]  # controls (nsim, size) for the present states
Control: TypeAlias = np.ndarray | Law  # what is done in a frame: held through it, or asked before every step


class Rows(Protocol):
    """Rows that terms of a goal can judge: simulations as they are, or what they went through (`Rollouts`)."""

    @property
    def nsim(self) -> int:
        """How many."""

    @property
    def broken(self) -> np.ndarray:
        """(nsim,): which went unstable."""

    def view(self, name: str) -> np.ndarray:
        """(nsim, ...) of a channel of the scene or a field of MjData."""


class Sims:
    """nsim simulations of a scene on nthread threads (0: one per core).

    Attributes:
      state: (nsim, nstate) live; a write is the simulations' state at the next `act`.
      broken: (nsim,) live; rows that went unstable since `load`. MuJoCo puts such a row back to
        the default pose in silence, so whoever compares rows must give it an infinite cost.
      batch: the engine underneath.
    """

    def __init__(self, scene: Scene, nsim: int, nthread: int = 0) -> None:
        """Take memory and threads for nsim simulations; `load` puts them into a state."""
        check_number("nsim", nsim, 1, 1e6)
        check_number("nthread", nthread, 0, 1024)
        _log_nothing()
        self.scene, self.nsim = scene, nsim
        self.batch = batch.Batch(scene.model, nsim, nthread, persistent=True)
        self.state = self.batch.state
        self._drive = scene.drive
        self.broken = np.zeros(nsim, bool)
        self._ctrl, self._qvel = self.batch.bind("ctrl"), self.batch.bind("qvel")
        self._sensors = self.batch.bind("sensordata")
        self._warning, self._ids = self.batch.warning, np.arange(nsim, dtype=np.int32)
        self._views: dict[str, np.ndarray] = {}

    def load(self, state: np.ndarray, rows: slice | np.ndarray = slice(None)) -> None:
        """Put all, or some rows, into a state: one for all, or one each. Nothing in them is broken.

        Args:
          rows: which; numbers of rows rise and none comes twice.
        """
        self.state[rows] = state
        self._warning[rows] = 0
        self.broken[rows] = False
        self.batch.forward(ids=self._some(rows), stage=STAGE)

    def take(self, ancestors: np.ndarray) -> None:
        """Row i becomes a copy of row ancestors[i]: forks the wanted simulations, prunes the rest."""
        used = self.state[:, : self.scene.used]
        used[:] = used[ancestors]
        self.broken[:] = self.broken[ancestors]

    def act(self, control: Control, drive: Drive | None = None, rows: slice | np.ndarray = slice(None)) -> None:
        """Advance all, or some rows, by a frame with controls (rows, drive.size), or by a law; others stay as they are.

        Args:
          control: an array is held through all steps of the frame; a law is asked before every step, for controls
            of all rows, of which those that advance count.
          drive: of the scene; the first where it is not given.
          rows: which; numbers of rows rise and none comes twice.
        """
        drive = drive or self.scene.drive
        self.use(drive)
        step, ids = self.batch.step, self._ids[rows]
        qvel, ctrl = self._qvel[rows], self._ctrl[rows]
        loose = not isinstance(rows, slice)  # numpy then gives copies
        some = self._some(rows)
        law = control if callable(control) else None
        held = np.empty((0, 0)) if law else np.asarray(control, np.float64)
        if law is None and held.shape != (len(ids), drive.size):
            raise UserError(f"controls must have the shape {(len(ids), drive.size)}, got {held.shape}")
        for number in range(drive.steps):
            drive.write(self._asked(law, drive)[rows] if law else held, qvel, ctrl, number)
            if loose:
                self._ctrl[ids] = ctrl
            step(ids=some, stage=STAGE)
            if loose:
                qvel = self._qvel[ids]
        if np.count_nonzero(self._warning):  # a tenth of the time of any()
            self.broken |= self._warning[:, UNSTABLE, 1].any(axis=1)
            self._warning[:] = 0

    def _some(self, rows: slice | np.ndarray) -> np.ndarray | None:
        """Numbers of rows as the engine takes them: None for all."""
        ids = self._ids[rows]
        if not isinstance(rows, slice) and (ids[1:] <= ids[:-1]).any():
            raise UserError(f"numbers of rows must rise and none come twice, got {ids.tolist()[:8]} ...")
        return None if len(ids) == self.nsim else ids

    def _asked(self, law: Law, drive: Drive) -> np.ndarray:
        """What a law says, of the right shape."""
        control = law(self)
        if control.shape != (self.nsim, drive.size):
            raise UserError(f"a law must give controls of the shape {(self.nsim, drive.size)}, got {control.shape}")
        return control

    def use(self, drive: Drive) -> None:
        """Have the next `act`, `load` or reading of contacts be by a drive; `act` does so by itself."""
        if drive is not self._drive:
            if drive not in self.scene.drives.values():
                raise UserError(
                    f"the drive '{drive.name}' is not one of this scene, which has: {', '.join(self.scene.drives)};"
                    " take `scene.drives`"
                )
            self.batch.set_models(drive.model)
            self._drive = drive

    def refresh(self, drive: Drive) -> None:
        """Compute what sensors and contacts are for a drive; the state stays."""
        self.use(drive)
        self.batch.forward(stage=STAGE)

    def memory(self, name: str) -> np.recarray:
        """(nsim,) records that a controller claimed (`Scene.claim`), live: a part of the state."""
        return self.scene.memory.view(name, self.view("userdata"))

    def view(self, name: str) -> np.ndarray:
        """A live (nsim, ...) array: a channel of the scene, else a field of MjData such as 'qpos'."""
        found = self._views.get(name)
        if found is None:
            found = self._views[name] = self._resolve(name)
        return found

    def _resolve(self, name: str) -> np.ndarray:
        """The live array of a channel or field, looked up by name; `view` keeps it."""
        if name in self.scene.channels:
            return self._sensors[:, self.scene.channels[name]]
        if name in batch.DATA_FIELDS:
            return self.batch.bind(name)
        raise unknown("view", name, [*self.scene.channels, "qpos", "qvel", "time"])


def _log_nothing() -> None:
    """Keep MuJoCo from writing MUJOCO_LOG.TXT where the user stands; `broken` tells instead."""
    config = mujoco.MjLogConfig.get()
    config.logto_file = config.logto_console = False
    mujoco.MjLogConfig.set(config)
