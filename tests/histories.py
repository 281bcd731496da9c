"""Histories of sessions that never were: readings of sensors, frame by frame, with the commands that came."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace

import numpy as np

from tumble.characters import character
from tumble.control.controller import Controller
from tumble.goals.wants import Want
from tumble.live.commands import Command
from tumble.live.session import Session
from tumble.scenarios import SCENARIOS, History, Result, Scenario, Trial, run_trial
from tumble.world.scene import Scene
from tumble.world.sims import Sims


@cache
def world_of(name: str, body: str | None = None) -> Scene:
    """The scene of a scenario with its own options, and the first body that it suggests unless told."""
    return SCENARIOS[name]().scene(character(body or SCENARIOS[name].make.characters[0]))


def readings(scene: Scene, state: np.ndarray | None = None, frames: int = 30) -> np.ndarray:
    """(frames, nsensordata): what the sensors say in a state, standing at rest unless told, over and over."""
    sims = Sims(scene, 1, 1)
    sims.load(scene.state() if state is None else state)
    return np.tile(sims.view("sensordata")[0], (frames, 1))


def put(scene: Scene, rows: np.ndarray, frame: int | slice, channel: str, value: Sequence[float] | float) -> None:
    """Have a channel read something else in a frame."""
    rows[frame, scene.channels[channel]] = value


def seen(
    scene: Scene, rows: np.ndarray, speeds: np.ndarray | None = None, commands: Mapping[int, Command] = {},
    broken: bool = False, want: Want | None = None, controls: np.ndarray | None = None, drive: str = "servo",
    angles: np.ndarray | None = None, acting: Sequence[str] = (), history: History | None = None,
) -> History:  # fmt: skip
    """The history of a session that showed these readings (frames, nsensordata).

    Args:
      speeds, angles: (frames, joints) of the joints; 0 where they are not given.
      commands: by frame.
      broken: whether the last frame broke.
      want: from the beginning.
      controls: (frames, size) of a drive.
      acting: who acted.
      history: one that goes on.
    """
    made = History(scene, want) if history is None else history
    for i, row in enumerate(rows):
        qpos, qvel = np.zeros((1, scene.model.nq)), np.zeros((1, scene.model.nv))
        if speeds is not None:
            qvel[0, scene.drive.qvel] = speeds[i]
        if angles is not None:
            qpos[0, scene.drive.qpos] = angles[i]
        shown = {"sensordata": row[None], "qvel": qvel, "qpos": qpos}
        frame = SimpleNamespace(
            time=(i + 1) * scene.dt,
            control=np.zeros(scene.drives[drive].size) if controls is None else controls[i],
            law=drive == "torque",
            drive=drive,
            acting=acting[i] if len(acting) else "",
            commands=(commands[i],) if i in commands else (),
            broken=broken and i == len(rows) - 1,
        )
        made(SimpleNamespace(scene=scene, world=SimpleNamespace(view=shown.__getitem__)), frame)
    return made


def ran(
    scenario: Scenario, scene: Scene, controller: Controller, seed: int = 0, seconds: float | None = None,
    watch: Callable[[Session], None] = lambda session: None, stop: Callable[[], bool] = lambda: False,
) -> Result:  # fmt: skip
    """The result of a trial with a controller that was made for a scene."""
    return run_trial(Trial(scenario, seed, seconds=seconds, scene=scene, made=controller), watch, stop)
