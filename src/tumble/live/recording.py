"""Recordings: everything needed to replay a session bit for bit, in one npz file.

    recorder = Recorder(session, scenario="push", controller="cpbp", seed=3, settings=asdict(settings))
    ...                                  # steps
    recorder.recording.save("push.npz")
    recording = Recording.load("push.npz")
    recording.first_difference()         # None: the physics gives the same bits again

A recording is a sequence of parts: a new one begins where the set changes or time is turned back. A part holds the
scene's recipe, the whole state it began in, and of every frame places, speeds and memories; of controllers that hold a
control through a frame the controls too, those that are laws are asked again. Nothing in a file is executed when it is
loaded, and every size is checked first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tumble.control.controller import closing
from tumble.controllers import CONTROLLERS, played_back
from tumble.errors import UserError
from tumble.files import format_of, header_of, opened, read_arrays, replace_file, write_arrays
from tumble.goals.wants import Want
from tumble.live.commands import Carve, Command, Drag, Push, Restyle
from tumble.live.session import Frame, Session, restyled
from tumble.world.scene import Scene

FORMAT = "tumble recording 2"
MEMBERS = ("starts", "motion", "memory", "controls", "acting")
LARGEST = 2 << 30  # bytes of arrays that a file may unpack to


class Timed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command and the frame of its part before which it was applied."""

    frame: int
    command: Command


class PartHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a recording says of one of its parts.

    Numbers of arrays are here, and the arrays of all parts in one row each: sizes are checked against each other before
    anything is cut. `frames` that are laws have no control; `held` of them have one.
    """

    index: int  # of its first frame in the session
    frames: int
    scene: dict[str, Any]
    fingerprint: str
    want: Want | None
    settings: dict[str, Any]  # of the controller when it began; those of the recording where it says none
    styles: list[str]  # of walking, that were not the builtin ones; see `Restyle`
    forces: list[Push | Drag]  # that went on when it began
    commands: list[Timed]
    # numbers of a state, of places and speeds, of memories, of a control; controls that were held
    state: int
    motion: int
    memory: int
    control: int
    held: int


class RecordingHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a recording says of itself: who controlled, with which seed and settings, and what it was made with."""

    format: str
    scenario: str
    controller: str
    seed: int
    settings: dict[str, Any]
    versions: dict[str, str]
    acting: list[str]  # names of who acted, by number
    parts: list[PartHeader]


class _Made(msgspec.Struct):
    """What headers of all versions have."""

    format: str
    versions: dict[str, str] = {}


@dataclass
class Part:
    """Frames of one scene.

    Attributes:
      about: see `PartHeader`.
      start: (nstate,), before its first frame.
      motion: (frames, nq + nv), places and speeds after each.
      memory: (frames, numbers), what controllers remembered after each.
      controls: (held, size), in the order of the frames in which one was held.
      acting: (frames,), who acted, by number.
    """

    about: PartHeader
    start: np.ndarray
    motion: np.ndarray
    memory: np.ndarray
    controls: np.ndarray
    acting: np.ndarray

    @cached_property
    def scene(self) -> Scene:
        """The scene, built again; refuses a scene whose physics is not the recorded one's."""
        scene = Scene.from_recipe(self.about.scene)
        if scene.fingerprint != self.about.fingerprint:
            raise UserError("the recorded scene cannot be rebuilt exactly")
        widths = (scene.state().shape[0], scene.model.nq + scene.model.nv, sum(scene.memory.claims.values()))
        if widths != (self.about.state, self.about.motion, self.about.memory):
            raise UserError(
                f"states, motions and memories of this scene have {', '.join(map(str, widths))} numbers,"
                f" the recording's {self.about.state}, {self.about.motion}, {self.about.memory}"
            )
        return scene

    def state(self, frame: int) -> np.ndarray:
        """The state after so many frames, with places, speeds and memories as recorded; a copy."""
        state, scene = self.start.copy(), self.scene
        if frame == 0:
            return state
        state[0] += frame * scene.dt
        state[1 : 1 + self.about.motion] = self.motion[frame - 1]
        data = scene.show(state)
        data.userdata[: self.about.memory] = self.memory[frame - 1]
        return scene.read(data)

    def first_difference(self, recording: "Recording") -> int | None:
        """Step the physics again; the first frame that differs in any bit, or None.

        A fresh controller is put into the recorded state, with the memory of then. Laws are asked again, planners
        replaced by who hands out what they chose, so that no plan is made; commands come when they came.

        Args:
          recording: whose part this is.

        Raises:
          UserError: the controller has other settings now, or the scene is another one.
        """
        header = recording.header
        kind = CONTROLLERS[header.controller]
        try:
            settings = msgspec.convert(self.about.settings or header.settings, type=kind.settings)
        except msgspec.ValidationError as error:
            raise UserError(f"the recording's settings are none of '{header.controller}': {error}") from None
        controller = played_back(kind.make(self.scene, settings, header.seed, 1), self.controls)
        for style in self.about.styles:
            restyled(controller, Restyle(style))
        session = Session(self.scene, controller, self.start, self.about.want)
        session.world.load(self.start)  # with the memory of then
        due: dict[int, list[Command]] = {0: list(self.about.forces)}
        for timed in self.about.commands:
            due.setdefault(timed.frame, []).append(timed.command)
        motion, used = self.about.motion, self.about.memory
        with closing(controller):
            for frame in range(self.about.frames):
                session.send(*due.get(frame, ()))
                state = session.step().state
                memory = session.world.view("userdata")[0, :used]
                same = state[1 : 1 + motion].tobytes() == self.motion[frame].tobytes()
                if not same or memory.tobytes() != self.memory[frame].tobytes():
                    return frame
        return None


class Recording:
    """A session as it went, and where it came from.

    Attributes:
      header: see `RecordingHeader`.
      parts: see `Part`; at least one.
    """

    def __init__(self, header: RecordingHeader, parts: list[Part]) -> None:
        self.header, self.parts = header, parts

    @property
    def frames(self) -> int:
        """Of all parts."""
        return sum(part.about.frames for part in self.parts)

    def scene(self) -> Scene:
        """The scene of the last part."""
        try:
            return self.parts[-1].scene
        except UserError as error:
            made = ", ".join(f"{name} {number}" for name, number in self.header.versions.items())
            raise UserError(f"{error}; the recording was made with {made}") from None

    def state(self, frame: int) -> np.ndarray:
        """The state after so many frames, as one of the last part's scene: what was not there yet waits far away."""
        scene = self.scene()
        for part in self.parts:
            if frame <= part.about.frames:
                state = part.state(frame)
                return state if part.scene is scene else scene.carried(state, part.scene)
            frame -= part.about.frames
        raise UserError(f"a recording of {self.frames} frames has none after {frame + self.frames}")

    def first_difference(self) -> int | None:
        """Step the physics of all parts again; the first frame that differs in any bit, or None."""
        self.scene()
        before = 0
        for part in self.parts:
            different = part.first_difference(self)
            if different is not None:
                return before + different
            before += part.about.frames
        return None

    def write(self, file: Any) -> None:
        """Write it into a binary file that is open."""
        arrays = {
            "starts": _joined([part.start for part in self.parts]),
            # one number after the other, not one frame: what hardly changes takes no room
            "motion": _joined([part.motion.T for part in self.parts]),
            "memory": _joined([part.memory.T for part in self.parts]),
            "controls": _joined([part.controls.T for part in self.parts]),
            "acting": np.concatenate([part.acting for part in self.parts]).astype(np.uint8),
        }
        write_arrays(file, self.header, arrays, compressed=True)

    def save(self, path: str | Path) -> None:
        """Write the file beside its place, then rename it: a crash leaves the old file or the new."""
        replace_file(Path(path), self.write)

    @classmethod
    def load(cls, path: str | Path) -> "Recording":
        """Read a file; a sentence says why it is not a recording where it is none, or of another version."""
        if not Path(path).is_file():
            raise UserError(f"no file {path}")
        try:
            return cls(*_read(Path(path)))
        except Exception as error:  # a stranger's bytes: zipfile, zlib, numpy and msgspec raise errors of many types
            raise UserError(f"{path} is not a whole tumble recording: {str(error) or type(error).__name__}") from None


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])


def _read(path: Path) -> tuple[RecordingHeader, list[Part]]:
    with opened(path, "rb") as file:
        if format_of(file) not in ("", FORMAT):
            raise ValueError(_of_another_version(header_of(file, _Made)))
    header, arrays = read_arrays(path, RecordingHeader, MEMBERS, LARGEST)
    if header.format != FORMAT:
        raise ValueError(_of_another_version(_Made(header.format, header.versions)))
    acting = arrays.pop("acting")
    for name, array in arrays.items():
        if array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all():
            raise ValueError(f"its {name} are no row of finite numbers")
    return header, _parts(header, arrays, acting)


def _of_another_version(made: _Made) -> str:
    """A sentence of both versions."""
    theirs = made.versions.get("tumble", "of an unknown version")
    return (
        f"its format is '{made.format}', made with tumble {theirs}; this is tumble {version('tumble')},"
        f" which reads '{FORMAT}'"
    )


def _parts(header: RecordingHeader, arrays: dict[str, np.ndarray], acting: np.ndarray) -> list[Part]:
    """The parts of a file, whose sizes are checked against what is there; ValueError where they do not fit."""
    if not header.parts or any(min(part.frames, part.held, part.index) < 0 for part in header.parts):
        raise ValueError("it has no parts, or parts of no frames")
    sizes = {
        "starts": [(1, part.state) for part in header.parts],
        "motion": [(part.frames, part.motion) for part in header.parts],
        "memory": [(part.frames, part.memory) for part in header.parts],
        "controls": [(part.held, part.control) for part in header.parts],
    }
    split: dict[str, list[np.ndarray]] = {}
    for name, shapes in sizes.items():
        if min(min(shape) for shape in shapes) < 0 or sum(rows * width for rows, width in shapes) != len(arrays[name]):
            raise ValueError(f"its {name} have {len(arrays[name])} numbers for {shapes}")
        ends = np.cumsum([rows * width for rows, width in shapes])[:-1]
        pieces = np.split(arrays[name], ends)
        split[name] = [piece.reshape(shape[::-1]).T for piece, shape in zip(pieces, shapes, strict=True)]
    frames = sum(part.frames for part in header.parts)
    if acting.dtype != np.uint8 or acting.shape != (frames,) or (acting >= len(header.acting)).any():
        raise ValueError(f"it says who acted in {acting.shape} of {frames} frames")
    who = np.split(acting, np.cumsum([part.frames for part in header.parts])[:-1])
    for part in header.parts:
        if part.held > part.frames or any(not 0 <= timed.frame < part.frames for timed in part.commands):
            raise ValueError("a command lies outside its frames")
    return [
        Part(
            about,
            split["starts"][i][0].copy(),
            split["motion"][i].copy(),
            split["memory"][i].copy(),
            split["controls"][i].copy(),
            who[i],
        )
        for i, about in enumerate(header.parts)
    ]


class _Open:
    """A part that is being recorded: lists that grow by a frame."""

    def __init__(self, session: Session) -> None:
        self.scene, self.entry = session.scene, session.entered
        self.motion, self.memory, self.controls = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        self.acting: list[int] = []
        self.commands: list[Timed] = []

    def closed(self) -> Part:
        """What was recorded so far."""
        scene, entry, frames = self.scene, self.entry, len(self.motion)
        motion, memory = scene.model.nq + scene.model.nv, sum(scene.memory.claims.values())
        control = len(self.controls[0]) if self.controls else 0
        about = PartHeader(
            index=entry.index, frames=frames, scene=json.loads(json.dumps(scene.recipe)),
            fingerprint=scene.fingerprint, want=entry.want, settings=entry.settings, styles=list(entry.styles),
            forces=list(entry.forces), commands=list(self.commands), state=len(entry.state), motion=motion,
            memory=memory, control=control, held=len(self.controls),
        )  # fmt: skip
        return Part(
            about, entry.state, np.array(self.motion).reshape(frames, motion),
            np.array(self.memory).reshape(frames, memory), np.array(self.controls).reshape(len(self.controls), control),
            np.array(self.acting, np.uint8),
        )  # fmt: skip


class Recorder:
    """A listener that keeps all frames of a session from now on, through changes of the set and of time.

    It begins where no push or drag goes on: their commands lie before the recording, which could not
    be replayed.

    Args:
      session: that is listened to, until `stop`.
      scenario, controller, seed: what it is called, who controls, and with which seed that was made.
      settings: the controller's at its beginning, by name.
    """

    def __init__(
        self, session: Session, scenario: str, controller: str, seed: int, settings: Mapping[str, Any] | None = None
    ) -> None:
        if session.forced:
            raise UserError("a recording begins where no push or drag goes on; start it before, or after their end")
        session.scene.recipe  # noqa: B018 - refuses a body that nobody can make again
        self._about: dict[str, Any] = {"scenario": scenario, "controller": controller, "seed": seed}
        self._about["settings"] = dict(settings or {})
        self._session = session
        session.mark()
        self._done: list[Part] = []
        self._open, self._entered = _Open(session), session.entered
        self._names: list[str] = []
        session.listeners.append(self._hear)

    def __len__(self) -> int:
        """Frames so far."""
        return sum(part.about.frames for part in self._done) + len(self._open.motion)

    def stop(self) -> None:
        """Hear no more frames; what was recorded stays."""
        self._session.listeners.remove(self._hear)

    def _hear(self, session: Session, frame: Frame) -> None:
        if session.entered is not self._entered:  # another scene, or another time
            self._done.append(self._open.closed())
            self._open, self._entered = _Open(session), session.entered
        part, scene = self._open, session.scene
        told = [command for command in frame.commands if not isinstance(command, Carve)]  # a part's scene tells of it
        part.commands += [Timed(len(part.motion), command) for command in told]
        part.motion.append(frame.state[1 : 1 + scene.model.nq + scene.model.nv].copy())
        part.memory.append(session.world.view("userdata")[0, : sum(scene.memory.claims.values())].copy())
        if not frame.law:
            part.controls.append(frame.control)
        if frame.acting not in self._names:
            self._names.append(frame.acting)
        part.acting.append(self._names.index(frame.acting))

    @property
    def recording(self) -> Recording:
        """What was recorded so far."""
        parts = [part for part in (*self._done, self._open.closed()) if part.about.frames] or [self._open.closed()]
        header = RecordingHeader(
            format=FORMAT,
            versions={name: version(name) for name in ("tumble", "mujoco", "numpy", "numba")},
            acting=list(self._names),
            parts=[part.about for part in parts],
            **self._about,
        )
        return Recording(header, parts)
