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
import itertools
import os
import queue
import threading
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import numpy as np

from tumble.errors import UserError
from tumble.experience import Experience
from tumble.recording import check_place
from tumble.session import Frame, Session

try:
    import fcntl
except ImportError:  # not on Windows, where nobody is kept from opening a file twice
    fcntl = None  # type: ignore[assignment]

NAME = b"tumble experience "
FORMAT = NAME + b"1"
LARGEST = 4 << 30  # bytes of a file
LONGEST = 1 << 16  # bytes of its lines of text
UNSURE = 64  # records at its end that a power cut may leave unwritten: two seconds of frames

Pairs = tuple[np.ndarray, np.ndarray]


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself: numbers of a situation and of a plan, and what they are about."""

    features: int
    size: int
    about: dict[str, Any]

    def lines(self) -> bytes:
        """The lines of text that a file begins with."""
        text = msgspec.json.encode(self)
        return b"%s\n%s\n%08x\n" % (FORMAT, text, zlib.crc32(text))


class ExperienceFile:
    """A listener that loads an experience from a file, and appends what is added to it.

    A file that is spoiled is moved aside and never deleted, and the experience begins empty; one that was made for
    something else is refused and left alone. Writing happens in a thread: a slow disk does not slow a session down.

    Attributes:
      warning: what was wrong with the file and where it is now; None where all was well.
    """

    def __init__(self, path: Path, experience: Experience, about: Mapping[str, Any], frozen: bool = False) -> None:
        """Load the newest pairs that `experience` has room for.

        Args:
          about: what else a file must agree in, as JSON; 'character' is a name.
          frozen: only load: the file must be there and whole, is not changed, and may be in use.
        """
        check_place(path)
        if path.exists() and not path.is_file():
            raise UserError(f"cannot use {path}: it is no ordinary file")
        self.path, self._experience = path, experience
        self.warning: str | None = None
        self._header = _plain(Header(experience.features, experience.size, dict(about)))
        self._queue: queue.SimpleQueue[Pairs | None] = queue.SimpleQueue()
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None
        if frozen:
            self._load_only()
        else:
            self._open()
        self._seen = experience.added

    def __call__(self, session: Session, frame: Frame) -> None:
        """Hand over what was added since the last call, to be written soon."""
        self._hand_over()
        self._complain()

    def close(self) -> None:
        """Have all written and on the disk; says so if that failed."""
        if self._thread is None:
            return
        self._hand_over()
        self._queue.put(None)
        self._thread.join()
        self._thread = None
        with self._file:
            if self._new and not os.fstat(self._file.fileno()).st_size:  # nothing was learned
                self.path.unlink(missing_ok=True)
        self._complain()

    def __enter__(self) -> "ExperienceFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()

    def _load_only(self) -> None:
        if not self.path.exists():
            raise UserError(f"no file {self.path}: nothing was learned yet; run without frozen first")
        with _opened(self.path, "rb") as file:
            try:
                self._load(file)
            except (_Spoiled, OSError) as spoiled:
                raise UserError(f"{self.path} is not a whole file of experience: {spoiled}") from None

    def _open(self) -> None:
        self._new = not self.path.exists()
        self._file = _locked(self.path)
        try:
            try:
                self._end = self._load(self._file)  # bytes of the file that are whole
            except _Spoiled as spoiled:
                self._end = self._begin_anew(str(spoiled))
            except OSError as error:
                raise UserError(f"cannot read {self.path}: {error.strerror}") from None
        except BaseException:
            self._file.close()
            raise
        self._thread = threading.Thread(target=self._write, name=f"writes {self.path.name}", daemon=True)
        self._thread.start()

    def _begin_anew(self, why: str) -> int:
        """Move a spoiled file aside, still locked until there is another in its place."""
        names = (f"{self.path.name}.corrupt{f'-{i}' if i > 1 else ''}" for i in itertools.count(1))
        aside = next(place for name in names if not os.path.lexists(place := self.path.with_name(name)))
        with self._file:
            try:
                os.rename(self.path, aside)
            except OSError as error:
                raise UserError(f"cannot move {self.path} aside, which is spoiled: {error.strerror}") from None
            self._new, self._file = True, _locked(self.path)
        self.warning = (
            f"{self.path} is not a whole file of experience: {why}; it is now {aside}, and learning begins anew"
        )
        return 0

    def _load(self, file: Any) -> int:
        """Fill the experience; returns how many bytes of the file are whole, 0 where even the header is not."""
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            raise _Spoiled(f"it has {size >> 20} MiB, {LARGEST >> 20} at most")
        file.seek(0)
        top = file.read(LONGEST)
        if self._header.lines().startswith(top):  # it was being begun
            return 0 if len(top) < len(self._header.lines()) else len(top)
        start = self._check(top)
        kind = _record(self._header)
        whole = (size - start) // kind.itemsize
        count = min(whole, self._experience.capacity)
        file.seek(start + (whole - count) * kind.itemsize)
        records = np.fromfile(file, kind, count)
        bad = np.flatnonzero(records["checksum"] != _checksums(records))
        if bad.size > UNSURE or (bad.size and bad[0] + bad.size < len(records)):  # there are good ones after a bad one
            raise _Spoiled(f"the checksum of record {whole - count + bad[0] + 1} of {whole} is wrong")
        if bad.size:
            self.warning = f"the last {bad.size} records of {self.path} were not written whole and are left out"
            records = records[: bad[0]]
        try:
            self._experience.extend(records["situation"], records["plan"])
        except UserError as error:  # its checksums are right: somebody made it so
            raise _Spoiled(str(error)) from None
        return start + (whole - bad.size) * kind.itemsize

    def _check(self, top: bytes) -> int:
        """Bytes of the header at the top of a file; refuses a file that is not for this experience."""
        form, text, checksum, *_ = [*top.split(b"\n", 3), b"", b""]
        if form.startswith(NAME) and form != FORMAT and form.removeprefix(NAME).isdigit():
            raise UserError(
                f"{self.path} is of another version: its format is '{form.decode()}', this version reads"
                f" '{FORMAT.decode()}'; choose another file"
            )
        if form != FORMAT:
            raise _Spoiled(f"it does not begin with '{FORMAT.decode()}'")
        if checksum != b"%08x" % zlib.crc32(text):
            raise _Spoiled("the checksum of its header is wrong")
        try:
            header = msgspec.json.decode(text, type=Header)
        except Exception as error:  # a stranger's bytes: also RecursionError
            raise _Spoiled(f"its header says nothing: {str(error) or type(error).__name__}") from None
        if header != self._header:
            theirs, ours = _difference(header, self._header)
            raise UserError(f"{self.path} was made for {theirs}, this is {ours}; choose another file")
        return len(form) + len(text) + len(checksum) + 3

    def _hand_over(self) -> None:
        if self._thread is not None and self._experience.added > self._seen:
            self._queue.put(self._experience.since(self._seen))
            self._seen = self._experience.added

    def _complain(self) -> None:
        if self._error is not None:
            raise UserError(f"cannot write {self.path}: {getattr(self._error, 'strerror', None) or self._error}")

    def _write(self) -> None:
        """The thread: append what comes until None comes."""
        synced, unsynced, last = time.monotonic(), False, False
        try:
            while not last:
                batch = self._batch(1.0 if unsynced else None)
                last = None in batch
                if pairs := [some for some in batch if some is not None]:
                    self._append(pairs)
                    unsynced = True
                if unsynced and (last or time.monotonic() >= synced + 1):
                    os.fsync(self._file.fileno())
                    synced, unsynced = time.monotonic(), False
        except Exception as error:  # for the session's thread to raise
            self._error = error

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
        data = records.tobytes() if self._end else self._header.lines() + records.tobytes()
        if self._end + len(data) > LARGEST:
            raise OSError(errno.EFBIG, f"it would have more than {LARGEST >> 20} MiB; choose another file")
        if os.fstat(self._file.fileno()).st_size != self._end:
            self._file.truncate(self._end)  # the rest was not whole
        write_all(self._file, data)
        self._end += len(data)


class _Spoiled(Exception):
    """A file that is no whole file of experience, and why."""


def write_all(file: Any, data: bytes) -> None:
    """Write all of it to an unbuffered file, in one go where the system takes it."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _opened(path: Path, mode: str) -> Any:
    try:
        return open(path, mode, buffering=0)
    except OSError as error:
        raise UserError(f"cannot open {path}: {error.strerror}") from None


def _locked(path: Path) -> Any:
    """The file, made if need be, for this process alone to append to."""
    while True:
        file = _opened(path, "a+b")
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise UserError(f"{path} is in use by another process; wait for its end, or choose another file") from None
        except OSError:
            pass  # a file system without locks
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        file.close()  # who had it before has just moved it aside or deleted it


def _plain(header: Header) -> Header:
    """As it comes out of a file: tuples are lists, for instance."""
    return msgspec.json.decode(msgspec.json.encode(header), type=Header)


def _record(header: Header) -> np.dtype:
    return np.dtype([("situation", "<f4", (header.features,)), ("plan", "<f4", (header.size,)), ("checksum", "<u4")])


def _checksums(records: np.ndarray) -> np.ndarray:
    """(n,) of all but the last 4 bytes of each."""
    data, width = memoryview(records.tobytes()), records.itemsize
    sums = (zlib.crc32(data[i * width : (i + 1) * width - 4]) for i in range(len(records)))
    return np.fromiter(sums, np.uint32, len(records))


def _difference(one: Header, other: Header) -> tuple[str, str]:
    """Two headers in words: the character, and whatever else they do not agree in."""
    flat = [{"features": header.features, "size": header.size, **header.about} for header in (one, other)]
    names = [name for name in {**flat[0], **flat[1]} if name != "character" and flat[0].get(name) != flat[1].get(name)]
    words = []
    for values in flat:
        # escaped: a stranger's file may hold what a terminal obeys
        more = ", ".join(f"{ascii(name)[1:-1]} {values.get(name)!a}" for name in names)
        who = ascii(values.get("character", "no character"))
        words.append(f"{who} ({more})" if more else who)
    return words[0], words[1]
