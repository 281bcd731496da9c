"""LearnedFile: what a learner learned, loaded from a file and written to it while a session runs.

    experience = Experience(features=45, size=120)          # or Learners, or any other Learner
    with LearnedFile(Path("dodge.experience"), experience, {"character": "humanoid"}) as file:
        session.listeners.append(file)
        ...                                  # steps

What a learner appends to is appended to the file every second (`files.Records`). Other learners are written whole,
an npz with a JSON header, beside the file every 10 s and at the end, then renamed. So a process that is killed loses
what it learned in these last seconds. Nothing in a file is executed when it is loaded, and every size is checked first.

A file is for one process at a time, which holds a lock on it. Whose it is stands in its header.
"""

import io
import os
import queue
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np

from tumble.errors import UserError
from tumble.files import (
    Records,
    Spoiled,
    check_bytes,
    check_place,
    format_of,
    locked,
    move_aside,
    opened,
    read_arrays,
    replace_locked,
    sweep,
    write_arrays,
)  # fmt: skip
from tumble.learners import Learner
from tumble.live.session import Frame, Session

VERSION = 1  # of both formats
APPENDED, REPLACED = 1.0, 10.0  # s between two savings
LARGEST_APPENDED, LARGEST = 4 << 30, 256 << 20  # bytes of a file; of what is replaced, also of what it may unpack to

Kept = dict[str, np.ndarray]


class LearnedHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself: numbers of a situation and of a plan, and what they are about."""

    features: int
    size: int
    about: dict[str, Any]


class TitledHeader(LearnedHeader, frozen=True):
    """The same in an npz file, which says its format there."""

    format: str


class LearnedFile:
    """A listener that loads what was learned from a file, and writes what is learned to it.

    A file that is spoiled is moved aside and never deleted, and learning begins anew; one that was made for
    something else is refused and left alone. Writing happens in a thread: a slow disk does not slow a session down.
    Where nothing is learned, no file is made.

    Attributes:
      path: where the file is.
      format: what it says it is.
      warning: what was wrong with the file and where it is now; None where all was well.
    """

    def __init__(self, path: Path, learner: Learner, about: Mapping[str, Any], frozen: bool = False) -> None:
        """Load the file, if it is there, into a learner that knows nothing yet.

        Args:
          about: what else a file must agree in, as JSON; 'character' is a name.
          frozen: only load: the file must be there and whole, is not changed, and may be in use.
        """
        check_place(path)
        if path.exists() and not path.is_file():
            raise UserError(f"cannot use {path}: it is no ordinary file")
        self.path, self.format = path, f"tumble {learner.kind} {VERSION}"
        self.warning: str | None = None
        self._learner, self._content = learner, f"file of {learner.kind}"
        self._header = _plain(LearnedHeader(learner.features, learner.size, dict(about)))
        self._records = self._no_records() if learner.appends else None
        self._every = APPENDED if learner.appends else REPLACED
        self._due = time.monotonic() + self._every
        self._waiting: queue.SimpleQueue[Kept | None] = queue.SimpleQueue()  # to be saved; None for the end
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None
        if frozen:
            self._load_only()
        else:
            self._open()

    def __call__(self, session: Session, frame: Frame) -> None:
        """Have what was learned saved, if it is time; says so if that failed before."""
        if self._thread is not None and time.monotonic() >= self._due and self._waiting.empty():
            self._due = time.monotonic() + self._every
            self._hand_over()
        self._complain()

    def close(self) -> None:
        """Have all written and on the disk; says so if that failed."""
        if self._thread is None:
            return
        self._hand_over()
        self._waiting.put(None)
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

    # Loading ----------------------------------------------------------------------------------------

    def _load_only(self) -> None:
        """Load without a lock, and without a thread: nothing will be written."""
        if not self.path.exists():
            raise UserError(f"no file {self.path}: nothing was learned yet; run without frozen first")
        with opened(self.path, "rb") as file:
            try:
                self._load(file)
            except (Spoiled, OSError) as spoiled:
                raise UserError(f"{self.path} is not a whole {self._content}: {spoiled}") from None

    def _open(self) -> None:
        """Lock the file, load what it holds, move it aside where it is spoiled, and begin to write."""
        self._new = not self.path.exists()
        self._file = locked(self.path)
        try:
            try:
                self._load(self._file)
            except Spoiled as spoiled:
                self._begin_anew(str(spoiled))
            except OSError as error:
                raise UserError(f"cannot read {self.path}: {error.strerror}") from None
        except BaseException:
            self._file.close()
            raise
        self._given = self._learner.progress  # what is in the file, or will be
        self._thread = threading.Thread(target=self._run, name=f"writes {self.path.name}", daemon=True)
        self._thread.start()

    def _load(self, file: Any) -> None:
        """Restore the learner, unless it is another kind of tumble's files or of another version."""
        found = format_of(file)
        if found not in ("", self.format):
            same = found.rpartition(" ")[0] == self.format.rpartition(" ")[0]
            what, who = ("of another version", "version reads") if same else (f"no {self._content}", "controller needs")
            raise UserError(
                f"{self.path} is {what}: its format is '{found}', this {who} '{self.format}'; choose another file"
            )
        kept = self._read_arrays(file) if self._records is None else self._read_records(file, self._records)
        if kept is None:
            return
        try:
            self._learner.restore(kept)
        except UserError as error:  # its checksums are right: somebody made it so
            raise Spoiled(str(error)) from None

    def _read_records(self, file: Any, records: Records) -> Kept | None:
        """What was appended, as much as the learner has room for; None where a file was just begun."""
        header = records.read_header(file, LearnedHeader)
        if header is None:
            return None
        self._check(header)
        kept, bad = records.read(file, self._learner.capacity)
        if bad:
            self.warning = f"the last {bad} records of {self.path} were not written whole and are left out"
        return kept

    def _read_arrays(self, file: Any) -> Kept | None:
        """What was written last; None where a file was just begun."""
        if not check_bytes(file, LARGEST):
            return None
        data = io.BytesIO(file.read())
        try:
            said, kept = read_arrays(data, TitledHeader, self._learner.kept(), LARGEST)
        except Exception as error:  # a stranger's bytes: zipfile, zlib, numpy and msgspec raise errors of many types
            raise Spoiled(str(error) or type(error).__name__) from None
        if said.format != self.format:
            raise Spoiled(f"its format is '{said.format}'")
        self._check(LearnedHeader(said.features, said.size, said.about))
        return kept

    def _check(self, header: LearnedHeader) -> None:
        """Refuse a file that was made for something else: another body, other features, another planner's plans."""
        if header != self._header:
            theirs, ours = _difference(header, self._header)
            raise UserError(f"{self.path} was made for {theirs}, this is {ours}; choose another file")

    def _begin_anew(self, why: str) -> None:
        """Move a spoiled file aside, still locked until there is another in its place."""
        with self._file:
            aside = move_aside(self.path)
            self._new, self._file = True, locked(self.path)
        self._records = None if self._records is None else self._no_records()
        self.warning = f"{self.path} is not a whole {self._content}: {why}; it is now {aside}, and learning begins anew"

    def _no_records(self) -> Records:
        widths = {name: table.shape[1] for name, table in self._learner.kept(self._learner.progress).items()}
        return Records(self.format, self._header, widths, LARGEST_APPENDED)

    # Writing ----------------------------------------------------------------------------------------

    def _hand_over(self) -> None:
        """Give the thread what is new. Copied here: a learner may be taught while the thread writes.

        What is appended is what came since the last time; what is replaced is all of it.
        """
        progress = self._learner.progress
        if progress != self._given:
            self._waiting.put(self._learner.kept(self._given))
            self._given = progress

    def _run(self) -> None:
        """In the thread: save what comes until None comes."""
        try:
            if self._records is None:
                sweep(self.path)
            while (kept := self._waiting.get()) is not None:
                self._save(kept)
        except Exception as error:  # for the session's thread to raise
            self._error = error

    def _save(self, kept: Kept) -> None:
        """In the thread: have it on the disk. A file that is replaced is locked before the old one is let go."""
        if self._records is not None:
            self._records.append(self._file, kept)
            return
        header = TitledHeader(self._header.features, self._header.size, self._header.about, self.format)
        old, self._file = self._file, replace_locked(self.path, lambda file: write_arrays(file, header, kept, False))
        old.close()

    def _complain(self) -> None:
        """Raise, in the session's thread, what went wrong in the writing one."""
        if isinstance(self._error, UserError):
            raise UserError(str(self._error))  # another one every time: each is raised somewhere else
        if self._error is not None:
            raise UserError(f"cannot write {self.path}: {getattr(self._error, 'strerror', None) or self._error}")


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
