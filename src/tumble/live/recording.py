"""Recordings: everything needed to replay a session bit for bit, in one npz file.

    recorder = Recorder(session, scenario="push", controller="cpbp", seed=3)
    ...                                  # steps
    recorder.recording.save("push.npz")
    recording = Recording.load("push.npz")
    recording.first_difference()         # None: the physics gives the same bits again

A file holds the states, the controls and a JSON header (versions, seed, the scene's recipe, all
commands). Nothing in it is executed when it is loaded, and every size is checked first.
"""

import contextlib
import io
import json
import math
import os
import secrets
import zipfile
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tumble.control.controller import Controller
from tumble.errors import UserError
from tumble.live.commands import Command
from tumble.live.session import Frame, Session
from tumble.world.scene import Scene
from tumble.world.sims import Sims

FORMAT = "tumble recording 1"
MEMBERS = ("header", "states", "controls")
LARGEST = 2 << 30  # bytes of arrays that a file may unpack to


class Timed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command and the frame before which it was applied."""

    frame: int
    command: Command


class RecordingHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a recording says of itself."""

    format: str
    scenario: str
    controller: str
    seed: int
    settings: dict[str, Any]
    versions: dict[str, str]
    scene: dict[str, Any]
    fingerprint: str
    commands: list[Timed]


class Recording:
    """States and controls of a session, and where they came from.

    Attributes:
      header: see `RecordingHeader`.
      states: (frames + 1, nstate), the first before any step.
      controls: (frames, motors.size).
    """

    def __init__(self, header: RecordingHeader, states: np.ndarray, controls: np.ndarray) -> None:
        self.header, self.states, self.controls = header, states, controls

    def scene(self) -> Scene:
        """The scene, built again; refuses a scene whose physics is not the recorded one's."""
        scene = Scene.from_recipe(self.header.scene)
        if scene.fingerprint != self.header.fingerprint:
            made = ", ".join(f"{name} {number}" for name, number in self.header.versions.items())
            raise UserError(f"the recorded scene cannot be rebuilt exactly; the recording was made with {made}")
        width = scene.state().shape[0]
        if self.states.shape[1] != width or self.controls.shape[1] != scene.motors.size:
            raise UserError(
                f"states and controls of this scene have {width} and {scene.motors.size} numbers,"
                f" the recording's {self.states.shape[1]} and {self.controls.shape[1]}"
            )
        return scene

    def first_difference(self) -> int | None:
        """Step the physics again; the first frame whose state differs in any bit, or None."""
        session = Session(self.scene(), _Replay(self), self.states[0])
        due: dict[int, list[Command]] = {}
        for timed in self.header.commands:
            due.setdefault(timed.frame, []).append(timed.command)
        for index in range(len(self.controls)):
            for command in due.get(index, ()):
                session.send(command)
            state = session.step().state
            if state.tobytes() != self.states[index + 1].tobytes():
                return index
        return None

    def write(self, file: Any) -> None:
        """Write it into a binary file that is open."""
        header = np.frombuffer(msgspec.json.encode(self.header), np.uint8)
        np.savez_compressed(file, header=header, states=self.states, controls=self.controls)

    def save(self, path: str | Path) -> None:
        """Write the file beside its place, then rename it: a crash leaves the old file or the new."""
        replace_file(Path(path), self.write)

    @classmethod
    def load(cls, path: str | Path) -> "Recording":
        """Read a file; a sentence says why it is not a recording where it is none."""
        if not Path(path).is_file():
            raise UserError(f"no file {path}")
        try:
            header, states, controls = _read(Path(path))
        except Exception as error:  # a stranger's bytes: zipfile, zlib, numpy and msgspec raise errors of many types
            raise UserError(f"{path} is not a whole tumble recording: {str(error) or type(error).__name__}") from None
        return cls(header, states, controls)


def _read(path: Path) -> tuple[RecordingHeader, np.ndarray, np.ndarray]:
    raw, states, controls = unpacked(path, MEMBERS, LARGEST).values()
    header = msgspec.json.decode(raw.tobytes(), type=RecordingHeader)
    if header.format != FORMAT:
        raise ValueError(f"its format is '{header.format}', this version reads '{FORMAT}'")
    for name, array in (("states", states), ("controls", controls)):
        if array.dtype != np.float64 or array.ndim != 2 or not np.isfinite(array).all():
            raise ValueError(f"its {name} are no table of finite numbers")
    if len(states) != len(controls) + 1:
        raise ValueError(f"it has {len(states)} states for {len(controls)} controls")
    if any(not 0 <= timed.frame < len(controls) for timed in header.commands):
        raise ValueError("a command lies outside its frames")
    return header, states, controls


def unpacked(file: Any, names: Collection[str], largest: int) -> dict[str, np.ndarray]:
    """Arrays of an npz file by name; refuses others than these, and more bytes than `largest` before it takes any."""
    with zipfile.ZipFile(file) as archive:
        members = {info.filename: info.file_size for info in archive.infolist()}
        if set(members) != {f"{name}.npy" for name in names}:
            # escaped: a stranger's file may hold what a terminal obeys
            raise ValueError(f"it holds {', '.join(ascii(name)[1:-1] for name in sorted(members)[:9]) or 'nothing'}")
        if sum(members.values()) > largest:
            raise ValueError(f"it would unpack to {sum(members.values()) >> 20} MiB")
        return {name: array_of(archive, name) for name in names}


def array_of(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """A member's array, of the bytes that are there: what it claims takes no memory, and no pickle is read."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack all before they are asked
        raise ValueError(f"its {name} are compressed otherwise than numpy does it")
    with archive.open(info) as member:
        data = member.read(info.file_size)  # no more, whatever is there
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError(f"its {name} are of another .npy version than 1.0")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(data) - file.tell() or min(shape, default=0) < 0:
        raise ValueError(f"its {name} have {len(data) - file.tell()} bytes for {shape} of type {dtype}")
    array = np.frombuffer(data, dtype, math.prod(shape), file.tell())
    return array.reshape(shape, order="F" if fortran else "C").copy()


class Recorder:
    """A listener that keeps all frames of a session from now on.

    It begins where no push or drag goes on: their commands lie before the recording, which could not
    be replayed.
    """

    def __init__(
        self, session: Session, scenario: str, controller: str, seed: int, settings: Mapping[str, Any] | None = None
    ) -> None:
        if session.forced:
            raise UserError("a recording begins where no push or drag goes on; start it before, or after their end")
        self._scene, self._recipe = session.scene, session.scene.recipe  # refuses a body that nobody can make again
        self._states, self._controls = [session.world.state[0].copy()], list[np.ndarray]()
        self._commands: list[Timed] = []
        self._about: dict[str, Any] = {"scenario": scenario, "controller": controller, "seed": seed}
        self._about["settings"] = dict(settings or {})
        self._session = session
        session.listeners.append(self._hear)

    def __len__(self) -> int:
        """Frames so far."""
        return len(self._controls)

    def stop(self) -> None:
        """Hear no more frames; what was recorded stays."""
        self._session.listeners.remove(self._hear)

    def _hear(self, session: Session, frame: Frame) -> None:
        self._commands += [Timed(len(self._controls), command) for command in frame.commands]
        self._states.append(frame.state)
        self._controls.append(frame.control)

    @property
    def recording(self) -> Recording:
        """What was recorded so far."""
        header = RecordingHeader(
            format=FORMAT,
            versions={name: version(name) for name in ("tumble", "mujoco", "numpy", "numba")},
            scene=json.loads(json.dumps(self._recipe)),
            fingerprint=self._scene.fingerprint,
            commands=list(self._commands),
            **self._about,
        )
        width = self._scene.motors.size
        return Recording(header, np.array(self._states), np.array(self._controls).reshape(-1, width))


class _Replay(Controller):
    """Does again what was done; goals, wishes, scripts and settings have done their work in the recorded controls.

    A controller's memory, MuJoCo's userdata, is taken from the recording too: it is no physics.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording, self._next = recording, 0

    def start(self, sims: Sims) -> None:
        self._next = 0

    def control(self, sims: Sims) -> np.ndarray:
        self._next += 1
        if sims.scene.model.nuserdata:
            sims.view("userdata")[0] = sims.scene.show(self._recording.states[self._next]).userdata
        return self._recording.controls[self._next - 1 : self._next]

    def check_goal(self, goal: Any) -> None:
        pass

    def set_goal(self, goal: Any) -> None:
        pass

    def check_wishes(self, wishes: Any) -> None:
        pass

    def set_wishes(self, sims: Any, wishes: Any) -> None:
        pass

    def check_script(self, sims: Any, acts: Any) -> None:
        pass

    def set_script(self, sims: Any, acts: Any) -> None:
        pass

    def check_parameters(self, changes: Any) -> None:
        pass

    def set_parameters(self, changes: Any) -> None:
        pass


def check_place(path: Path) -> None:
    """Refuse a path that cannot become a file: its folder is missing, or it is a folder itself."""
    if not os.path.isdir(path.parent):
        raise UserError(f"no folder {path.parent} to write {path.name} into")
    if os.path.isdir(path):
        raise UserError(f"cannot write {path}: it is a folder")


def replace_file(path: Path, write: Any) -> None:
    """Call write(file) on a temporary file in path's folder, flush it to disk, rename it to path."""
    check_place(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(beside, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError):
            raise UserError(f"cannot write {path}: {error.strerror or error}") from None
        raise
