"""LearnedFile: what learners learned, kept in a file that is replaced while a session runs.

    learners = Learners(features=175, size=24, seed=1)
    with LearnedFile(Path("walk.learned"), learners, {"character": "humanoid-walker"}) as file:
        session.listeners.append(file)
        ...                                  # steps

A file is an npz: a JSON header, all pairs of the forest, and what the network's training goes on from. It is written
beside its place every 10 s and at the end, then renamed: a process that is killed leaves the file as it was 10 s ago.
Nothing in it is executed when it is loaded, and every size is checked first.
"""

import contextlib
import io
import os
import queue
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from tumble.errors import UserError
from tumble.learners import Learners
from tumble.learners.forest import checked
from tumble.live.keeper import Keeper, LearnedHeader, Spoiled, held
from tumble.live.recording import replace_file, unpacked
from tumble.live.session import Frame, Session

FORMAT = "tumble learners 1"
LARGEST = 256 << 20  # bytes of a file, and of the arrays that it may unpack to
EVERY = 10.0  # s between two savings


class Titled(LearnedHeader, frozen=True):
    """What a file says of itself."""

    format: str


class LearnedFile(Keeper):
    """A listener that loads learners from a file, and saves them to it."""

    format: ClassVar[str] = FORMAT
    content: ClassVar[str] = "file of learners"

    def __init__(self, path: Path, learners: Learners, about: Mapping[str, Any], frozen: bool = False) -> None:
        """Load the file into learners that know nothing yet.

        Args:
          about: what else a file must agree in, as JSON; 'character' is a name.
          frozen: only load: the file must be there and whole, is not changed, and may be in use.
        """
        self._learners = learners
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()  # to save; True for the last time
        self._due = time.monotonic() + EVERY
        self._saved = self._mark
        super().__init__(path, LearnedHeader(learners.forest.features, learners.forest.size, dict(about)), frozen)

    def __call__(self, session: Session, frame: Frame) -> None:
        """Have what was learned saved, if it is time."""
        if self._thread is not None and time.monotonic() >= self._due and self._asked.empty():
            self._due = time.monotonic() + EVERY
            self._asked.put(False)
        self._complain()

    @property
    def _mark(self) -> tuple[int, int]:
        """Changes whenever something is learned."""
        return self._learners.network.added, self._learners.network.updates

    def _finish(self) -> None:
        self._asked.put(True)

    def _write(self) -> None:
        """Save whenever it is asked for."""
        self._sweep()
        last = False
        while not last:
            last = self._asked.get()
            if self._mark != self._saved:
                self._save()

    def _save(self) -> None:
        """Replace the file; the new one is locked before it has the name."""
        saved, handles = self._mark, list[Any]()
        header = Titled(self._header.features, self._header.size, self._header.about, FORMAT)
        arrays = {"header": np.frombuffer(msgspec.json.encode(header), np.uint8), **self._learners.kept()}

        def write(file: Any) -> None:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # not compressed: floats of a motion hardly shrink
            handles.append(held(file))

        try:
            replace_file(self._place, write)
        except BaseException:
            for handle in handles:
                handle.close()
            raise
        self._file.close()
        self._file, self._saved = handles[0], saved

    @property
    def _place(self) -> Path:
        """Where the file is, not a link to it."""
        return Path(os.path.realpath(self.path))

    def _load(self, file: Any) -> None:
        """Restore the learners."""
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            raise Spoiled(f"it has {size >> 20} MiB, {LARGEST >> 20} at most")
        if not size:  # it was being begun
            return
        data, own = io.BytesIO(file.read()), self._learners.kept()
        try:
            arrays = unpacked(data, ["header", *own], LARGEST)
            said = msgspec.json.decode(arrays.pop("header").tobytes(), type=Titled)
        except Exception as error:  # a stranger's bytes: zipfile, zlib, numpy and msgspec raise errors of many types
            raise Spoiled(str(error) or type(error).__name__) from None
        if said.format != FORMAT:
            raise Spoiled(f"its format is '{said.format}'")
        self._check(LearnedHeader(said.features, said.size, said.about))
        for name, array in arrays.items():
            _check_array(name, array, own[name])
        self._check_counts(arrays)
        self._learners.restore(arrays)
        self._saved = self._mark

    def _check_counts(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Refuse numbers of pairs that do not fit, and what no training leaves behind."""
        for prefix in ("", "network."):
            states, actions = len(arrays[f"{prefix}states"]), len(arrays[f"{prefix}actions"])
            if states != actions:
                raise Spoiled(f"it has {states} {prefix}states for {actions} actions")
        most = self._learners.network.settings.memory
        if len(arrays["network.states"]) > most:
            raise Spoiled(f"its network has {len(arrays['network.states'])} pairs, {most} at most")
        for name in ("network.updates", "network.square"):
            if arrays[name].min() < 0:
                raise Spoiled(f"its {name} is {arrays[name].min()}")

    def _sweep(self) -> None:
        """Delete what a process that was killed while it saved has left beside the file, which nobody else has now."""
        left = re.compile(re.escape(f".{self._place.name}.") + "[0-9a-f]{16}")
        with contextlib.suppress(OSError):
            for name in os.listdir(self._place.parent):
                if left.fullmatch(name):
                    os.unlink(self._place.with_name(name))


def _check_array(name: str, array: np.ndarray, own: np.ndarray) -> None:
    """Refuse an array unlike our own, but for the number of rows of a table, and numbers that learners do not take."""
    fixed = 1 if own.ndim == 2 else 0
    if array.dtype != own.dtype or array.ndim != own.ndim or array.shape[fixed:] != own.shape[fixed:]:
        wanted = f"({f'n, {own.shape[1]}' if fixed else ', '.join(map(str, own.shape))})"
        raise Spoiled(f"its {name} are {array.shape} of type {array.dtype}, not {wanted} of type {own.dtype}")
    if own.ndim:
        try:
            checked(f"its {name}", array, own.shape[-1], rows=bool(fixed))
        except UserError as error:
            raise Spoiled(str(error)) from None
