"""Keeper: a file that what is learned is loaded from, and written to while a session runs.

    with ExperienceFile(path, experience, about) as keeper:    # or LearnedFile
        session.listeners.append(keeper)
        ...                                  # steps

A file is for one process at a time, which holds a lock on it. Whose it is stands in its header.
"""

import contextlib
import itertools
import os
import re
import threading
import zipfile
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import msgspec

from tumble.errors import UserError
from tumble.live.recording import array_of, check_place
from tumble.live.session import Frame, Session

try:
    import fcntl
except ImportError:  # not on Windows, where nobody is kept from opening a file twice
    fcntl = None  # type: ignore[assignment]

FORMATS = re.compile(r"tumble [a-z]+ [0-9]+")
LONGEST = 16 << 20  # bytes of a header that says a format


class LearnedHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself: numbers of a situation and of a plan, and what they are about."""

    features: int
    size: int
    about: dict[str, Any]


class Spoiled(Exception):
    """A file that is not whole, and why."""

    def __str__(self) -> str:
        # escaped: a stranger's file may hold what a terminal obeys
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in super().__str__())


class Keeper(ABC):
    """A listener that loads what was learned from a file, and writes what is learned to it.

    A file that is spoiled is moved aside and never deleted, and learning begins anew; one that was made for
    something else is refused and left alone. Writing happens in a thread: a slow disk does not slow a session down.
    Where nothing is learned, no file is made.

    Attributes:
      format: what its files say they are.
      content: what they hold, in words.
      path: where the file is.
      warning: what was wrong with the file and where it is now; None where all was well.
    """

    format: ClassVar[str]
    content: ClassVar[str]

    def __init__(self, path: Path, header: LearnedHeader, frozen: bool) -> None:
        """Load the file if it is there.

        Args:
          header: what a file must agree in.
          frozen: only load: the file must be there and whole, is not changed, and may be in use.
        """
        check_place(path)
        if path.exists() and not path.is_file():
            raise UserError(f"cannot use {path}: it is no ordinary file")
        self.path, self._header = path, _plain(header)
        self.warning: str | None = None
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None
        if frozen:
            self._load_only()
        else:
            self._open()

    @abstractmethod
    def __call__(self, session: Session, frame: Frame) -> None:
        """Have what was learned written soon; says so if that failed before."""

    @abstractmethod
    def _load(self, file: Any) -> None:
        """Take what an unbuffered file holds; raises Spoiled and takes nothing where it is not whole."""

    @abstractmethod
    def _write(self) -> None:
        """In the thread: write to `_file` until told to finish."""

    @abstractmethod
    def _finish(self) -> None:
        """Tell the thread to write the rest and end."""

    def close(self) -> None:
        """Have all written and on the disk; says so if that failed."""
        if self._thread is None:
            return
        self._finish()
        self._thread.join()
        self._thread = None
        with self._file:
            if self._new and not os.fstat(self._file.fileno()).st_size:  # nothing was learned
                self.path.unlink(missing_ok=True)
        self._complain()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()

    def _load_only(self) -> None:
        if not self.path.exists():
            raise UserError(f"no file {self.path}: nothing was learned yet; run without frozen first")
        with opened(self.path, "rb") as file:
            try:
                self._read(file)
            except (Spoiled, OSError) as spoiled:
                raise UserError(f"{self.path} is not a whole {self.content}: {spoiled}") from None

    def _open(self) -> None:
        self._new = not self.path.exists()
        self._file = locked(self.path)
        try:
            try:
                self._read(self._file)
            except Spoiled as spoiled:
                self._begin_anew(str(spoiled))
            except OSError as error:
                raise UserError(f"cannot read {self.path}: {error.strerror}") from None
        except BaseException:
            self._file.close()
            raise
        self._thread = threading.Thread(target=self._run, name=f"writes {self.path.name}", daemon=True)
        self._thread.start()

    def _read(self, file: Any) -> None:
        """Load a file, unless it is another kind of tumble's files or of another version."""
        found = format_of(file)
        if found not in ("", self.format):
            same = found.rpartition(" ")[0] == self.format.rpartition(" ")[0]
            what, who = ("of another version", "version reads") if same else (f"no {self.content}", "controller needs")
            raise UserError(
                f"{self.path} is {what}: its format is '{found}', this {who} '{self.format}'; choose another file"
            )
        self._load(file)

    def _check(self, header: LearnedHeader) -> None:
        """Refuse a file that was made for something else."""
        if header != self._header:
            theirs, ours = _difference(header, self._header)
            raise UserError(f"{self.path} was made for {theirs}, this is {ours}; choose another file")

    def _begin_anew(self, why: str) -> None:
        """Move a spoiled file aside, still locked until there is another in its place."""
        names = (f"{self.path.name}.corrupt{f'-{i}' if i > 1 else ''}" for i in itertools.count(1))
        aside = next(place for name in names if not os.path.lexists(place := self.path.with_name(name)))
        with self._file:
            try:
                os.rename(self.path, aside)
            except OSError as error:
                raise UserError(f"cannot move {self.path} aside, which is spoiled: {error.strerror}") from None
            self._new, self._file = True, locked(self.path)
        self.warning = f"{self.path} is not a whole {self.content}: {why}; it is now {aside}, and learning begins anew"

    def _run(self) -> None:
        try:
            self._write()
        except Exception as error:  # for the session's thread to raise
            self._error = error

    def _complain(self) -> None:
        if isinstance(self._error, UserError):
            raise UserError(str(self._error))  # another one every time: each is raised somewhere else
        if self._error is not None:
            raise UserError(f"cannot write {self.path}: {getattr(self._error, 'strerror', None) or self._error}")


def format_of(file: Any) -> str:
    """Which of tumble's formats an open file says it has, 'tumble recording 1' for instance; '' where it says none."""
    file.seek(0)
    top = file.read(80)
    said = top.partition(b"\n")[0].decode("ascii", "replace")
    if top.startswith(b"PK"):
        try:
            with zipfile.ZipFile(file) as archive:
                if archive.getinfo("header.npy").file_size <= LONGEST:
                    said = msgspec.json.decode(array_of(archive, "header").tobytes(), type=_Titled).format
        except Exception:  # a stranger's bytes; whoever reads it says what is wrong
            said = ""
    file.seek(0)
    return said if FORMATS.fullmatch(said) else ""


class _Titled(msgspec.Struct):
    """What all headers in an npz file have."""

    format: str


def opened(path: Path, mode: str) -> Any:
    """The file, unbuffered."""
    try:
        return open(path, mode, buffering=0)
    except OSError as error:
        raise UserError(f"cannot open {path}: {error.strerror}") from None


def locked(path: Path) -> Any:
    """The file, made if need be, for this process alone to append to or to replace."""
    while True:
        file = opened(path, "a+b")
        try:
            _lock(file)
        except BlockingIOError:
            file.close()
            raise UserError(f"{path} is in use by another process; wait for its end, or choose another file") from None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        file.close()  # who had it before has just replaced it, moved it aside or deleted it


def held(file: Any) -> Any:
    """Another handle on an open file that nobody else knows of yet, locked until that is closed too."""
    _lock(file)
    return os.fdopen(os.dup(file.fileno()), "rb", buffering=0)


def _lock(file: Any) -> None:
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass  # a file system without locks


def _plain(header: LearnedHeader) -> LearnedHeader:
    """As it comes out of a file: tuples are lists, for instance."""
    return msgspec.json.decode(msgspec.json.encode(header), type=LearnedHeader)


def _difference(one: LearnedHeader, other: LearnedHeader) -> tuple[str, str]:
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
