"""ExperienceFile: what a planner learned, kept in a file that grows while a session runs.

    experience = Experience(features=45, size=120)
    with ExperienceFile(Path("dodge.experience"), experience, {"character": "humanoid"}) as file:
        session.listeners.append(file)
        ...                                  # steps

A file is three lines of text (the format, a JSON object, its checksum) and then records of one size: a situation,
a plan, a checksum. It is only ever appended to, so that a process that is killed loses its last moments at most.
Nothing in it is executed when it is loaded.
"""

import contextlib
import errno
import os
import queue
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from tumble.errors import UserError
from tumble.learners.experience import Experience
from tumble.live.keeper import Keeper, LearnedHeader, Spoiled
from tumble.live.session import Frame, Session

FORMAT = b"tumble experience 1"
LARGEST = 4 << 30  # bytes of a file
LONGEST = 1 << 16  # bytes of its lines of text
UNSURE = 64  # records at its end that a power cut may leave unwritten: two seconds of frames

Pairs = tuple[np.ndarray, np.ndarray]


class ExperienceFile(Keeper):
    """A listener that loads an experience from a file, and appends what is added to it."""

    format: ClassVar[str] = FORMAT.decode()
    content: ClassVar[str] = "file of experience"

    def __init__(self, path: Path, experience: Experience, about: Mapping[str, Any], frozen: bool = False) -> None:
        """Load the newest pairs that `experience` has room for.

        Args:
          about: what else a file must agree in, as JSON; 'character' is a name.
          frozen: only load: the file must be there and whole, is not changed, and may be in use.
        """
        self._experience = experience
        self._queue: queue.SimpleQueue[Pairs | None] = queue.SimpleQueue()
        self._end = 0  # bytes of the file that are whole
        super().__init__(path, LearnedHeader(experience.features, experience.size, dict(about)), frozen)
        self._seen = experience.added

    def __call__(self, session: Session, frame: Frame) -> None:
        """Hand over what was added since the last call, to be written soon."""
        self._hand_over()
        self._complain()

    def _finish(self) -> None:
        self._hand_over()
        self._queue.put(None)

    def _load(self, file: Any) -> None:
        """Fill the experience."""
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            raise Spoiled(f"it has {size >> 20} MiB, {LARGEST >> 20} at most")
        file.seek(0)
        top = file.read(LONGEST)
        begun = top_of(self._header)
        if begun.startswith(top):  # it was being begun
            self._end = 0 if len(top) < len(begun) else len(top)
            return
        start = self._check_top(top)
        kind = _record(self._header)
        whole = (size - start) // kind.itemsize
        count = min(whole, self._experience.capacity)
        file.seek(start + (whole - count) * kind.itemsize)
        records = np.fromfile(file, kind, count)
        bad = np.flatnonzero(records["checksum"] != _checksums(records))
        if bad.size > UNSURE or (bad.size and bad[0] + bad.size < len(records)):  # there are good ones after a bad one
            raise Spoiled(f"the checksum of record {whole - count + bad[0] + 1} of {whole} is wrong")
        if bad.size:
            self.warning = f"the last {bad.size} records of {self.path} were not written whole and are left out"
            records = records[: bad[0]]
        try:
            self._experience.extend(records["situation"], records["plan"])
        except UserError as error:  # its checksums are right: somebody made it so
            raise Spoiled(str(error)) from None
        self._end = start + (whole - bad.size) * kind.itemsize

    def _check_top(self, top: bytes) -> int:
        """Bytes of the header at the top of a file; refuses a file that is not for this experience."""
        form, text, checksum, *_ = [*top.split(b"\n", 3), b"", b""]
        if form != FORMAT:
            raise Spoiled(f"it does not begin with '{self.format}'")
        if checksum != b"%08x" % zlib.crc32(text):
            raise Spoiled("the checksum of its header is wrong")
        try:
            header = msgspec.json.decode(text, type=LearnedHeader)
        except Exception as error:  # a stranger's bytes: also RecursionError
            raise Spoiled(f"its header says nothing: {str(error) or type(error).__name__}") from None
        self._check(header)
        return len(form) + len(text) + len(checksum) + 3

    def _hand_over(self) -> None:
        if self._thread is not None and self._experience.added > self._seen:
            self._queue.put(self._experience.since(self._seen))
            self._seen = self._experience.added

    def _write(self) -> None:
        """Append what comes until None comes."""
        synced, unsynced, last = time.monotonic(), False, False
        while not last:
            batch = self._batch(1.0 if unsynced else None)
            last = None in batch
            if pairs := [some for some in batch if some is not None]:
                self._append(pairs)
                unsynced = True
            if unsynced and (last or time.monotonic() >= synced + 1):
                os.fsync(self._file.fileno())
                synced, unsynced = time.monotonic(), False

    def _batch(self, seconds: float | None) -> list[Pairs | None]:
        """All that is waiting; nothing if nothing comes for so long."""
        batch = []
        with contextlib.suppress(queue.Empty):
            batch.append(self._queue.get(timeout=seconds))
            while True:
                batch.append(self._queue.get_nowait())
        return batch

    def _append(self, pairs: list[Pairs]) -> None:
        records = np.empty(sum(len(plans) for _, plans in pairs), _record(self._header))
        records["situation"] = np.concatenate([situations for situations, _ in pairs])
        records["plan"] = np.concatenate([plans for _, plans in pairs])
        records["checksum"] = _checksums(records)
        data = records.tobytes() if self._end else top_of(self._header) + records.tobytes()
        if self._end + len(data) > LARGEST:
            raise OSError(errno.EFBIG, f"it would have more than {LARGEST >> 20} MiB; choose another file")
        if os.fstat(self._file.fileno()).st_size != self._end:
            self._file.truncate(self._end)  # the rest was not whole
        write_all(self._file, data)
        self._end += len(data)


def top_of(header: LearnedHeader) -> bytes:
    """The lines of text that a file begins with."""
    text = msgspec.json.encode(header)
    return b"%s\n%s\n%08x\n" % (FORMAT, text, zlib.crc32(text))


def write_all(file: Any, data: bytes) -> None:
    """Write all of it to an unbuffered file, in one go where the system takes it."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _record(header: LearnedHeader) -> np.dtype:
    return np.dtype([("situation", "<f4", (header.features,)), ("plan", "<f4", (header.size,)), ("checksum", "<u4")])


def _checksums(records: np.ndarray) -> np.ndarray:
    """(n,) of all but the last 4 bytes of each."""
    data, width = memoryview(records.tobytes()), records.itemsize
    sums = (zlib.crc32(data[i * width : (i + 1) * width - 4]) for i in range(len(records)))
    return np.fromiter(sums, np.uint32, len(records))
