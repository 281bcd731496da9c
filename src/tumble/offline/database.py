"""SQLite files that outlive whoever writes them: one writer at a time, nothing that was committed is lost.

    NOTES = Layout("notebook", b"tmbN", 1, "CREATE TABLE notes (id INTEGER PRIMARY KEY, said TEXT NOT NULL) STRICT;")

    with open_for_writing(Path("a.notes"), NOTES) as notes, notes.transaction() as sql:
        sql.execute("INSERT INTO notes (said) VALUES (?)", ("ho",))
    with open_for_reading(Path("a.notes"), NOTES) as notes:
        notes.sql.execute("SELECT said FROM notes").fetchall()         # [('ho',)]

What a `transaction` has written when it is left survives kill -9 and a power cut; what was under way is as if it had
never begun. Readers may come and go while somebody writes, and see whole transactions. A second writer is refused with
a sentence; the lock is the system's and ends with its process, however that ends.

While a file is open there are others beside it (-wal, -shm, .lock): copy it when nobody has it open, or with
`sqlite3 a.notes ".backup b.notes"`. After a clean end it is one plain file that can be read anywhere. It has to be on a
local disk; networks' file systems have no such locks.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tumble.errors import UserError
from tumble.files import InUse, check_place, locked, opened

PATIENCE = 5.0  # s that a statement waits for somebody else's, a backup for instance
LARGEST_VALUE = 1 << 28  # bytes of one text or blob; a stranger's file may claim more
FAILURES = {  # of the disk or of another program, not of our SQL: their sentence is for people
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY,
}  # fmt: skip
WAL_TOP, FRAME_TOP = 32, 24  # bytes before the frames of a write-ahead log, and before the page of each


@dataclass(frozen=True)
class Layout:
    """What a kind of file holds.

    Attributes:
      what: it is, in the sentences that refuse others: 'tree', 'store of jobs'.
      application: four bytes that no other kind has (PRAGMA application_id).
      version: of the tables; another number for every change of theirs (PRAGMA user_version).
      tables: SQL that makes them, STRICT ones; also indices. A file has exactly these, or is refused.
    """

    what: str
    application: bytes
    version: int
    tables: str


class Database:
    """An open SQLite file of one layout; made by `open_for_writing` and `open_for_reading`, for one thread.

    Attributes:
      path: of the file.
      layout: what it holds.
      sql: the connection, in autocommit mode: what is written outside of a `transaction` is one by itself.
      mended: a sentence where the last writer was broken off and a part that it had not committed was left out; else
        ''. It is for people to be told.
    """

    def __init__(self, path: Path, layout: Layout, mode: str, lock: Any = None) -> None:
        self.path, self.layout, self.mended, self._lock = path, layout, "", lock
        self._ours = False  # whether it is known to be a file of ours, so that its journal may be changed
        name = Path(os.path.realpath(path)).as_uri()
        self.sql = sqlite3.connect(f"{name}?mode={mode}", PATIENCE, isolation_level=None, uri=True)

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is written meanwhile is there when this is left, or nothing of it where anything is raised.

        Raises:
          UserError: the disk is full, or fails, or another program keeps the file locked.
        """
        with _telling("write", self.path, self.layout):
            self.sql.execute("BEGIN IMMEDIATE")
            try:
                yield self.sql
                self.sql.execute("COMMIT")
            except BaseException:
                self.sql.rollback()  # nothing happens where it was committed
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """All that is read meanwhile is of one moment, whoever writes.

        Raises:
          UserError: the disk fails, or the file is damaged.
        """
        with _telling("read", self.path, self.layout):
            self.sql.execute("BEGIN")
            try:
                yield self.sql
            finally:
                self.sql.rollback()

    def close(self) -> None:
        """Leave one plain file, unless somebody still reads, and let the next writer in. Closing again does nothing."""
        if self._ours:
            with suppress(sqlite3.Error):  # somebody reads: then it stays as it is, as good
                self.sql.execute("PRAGMA busy_timeout = 0")
                self.sql.execute("PRAGMA journal_mode = DELETE")
        self.sql.close()
        if self._lock is not None:
            _unlock(self._lock)
        self._ours, self._lock = False, None


def open_for_writing(path: Path, layout: Layout) -> Database:
    """The database at path, made where there is none, for this process alone to write to until it is closed.

    Raises:
      UserError: somebody else writes to it, or it is something else, of another version, or damaged; it is untouched.
    """
    check_place(path)
    place = Path(os.path.realpath(path))  # one lock, whatever links point there
    try:
        lock = locked(place.with_name(f"{place.name}.lock"))
    except InUse:
        raise UserError(f"{path} is being written by another process; wait for its end, or choose another") from None
    with ExitStack() as undo, _telling("write", path, layout):
        undo.callback(_unlock, lock)
        claimed = _frames_claimed(place)
        database = Database(path, layout, "rwc", lock)
        undo.callback(database.close)
        _distrust(database.sql)
        if _empty(database.sql):
            _make(database.sql, layout)
        _check(database)
        database._ours = True
        if _pragma(database.sql, "journal_mode = WAL")[0] != "wal":
            raise UserError(f"cannot write {path}: its file system has no shared memory; choose a local disk")
        _schema(database.sql)  # the log is only opened by a reading
        kept = _pragma(database.sql, "wal_checkpoint(PASSIVE)")[1]
        undo.pop_all()
    if claimed > kept:
        database.mended = (
            f"{path} was left in the middle of a writing: {claimed - kept} pages that were not committed are left"
            " out, all that was is there"
        )
    return database


def open_for_reading(path: Path, layout: Layout) -> Database:
    """The database at path, which may be written by another process meanwhile.

    Raises:
      UserError: there is none, or it is something else, of another version, or damaged.
    """
    if not os.path.isfile(path):
        raise UserError(f"no file {path}; a {layout.what} is wanted")
    place = Path(os.path.realpath(path))
    plain = not os.access(place.parent, os.W_OK) and not os.path.exists(f"{place}-wal")
    with ExitStack() as undo, _telling("read", path, layout):
        database = Database(path, layout, "ro&immutable=1" if plain else "ro")
        undo.callback(database.close)
        _distrust(database.sql)
        _check(database)
        undo.pop_all()
    return database


@contextmanager
def _telling(verb: str, path: Path, layout: Layout) -> Iterator[None]:
    """Say in a sentence what the file, the disk or another program does not allow; faults of ours stay as they are.

    Args:
      verb: what is tried: 'read', 'write'.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", -1) & 0xFF  # without the details of extended codes
        if code == sqlite3.SQLITE_NOTADB:
            raise UserError(f"{path} is not a {layout.what}; choose another file") from None
        if code == sqlite3.SQLITE_CORRUPT:
            raise _damaged(path, error) from None
        if code in FAILURES:
            raise UserError(f"cannot {verb} {path}: {error}") from None
        raise


def _damaged(path: Path, what: object) -> UserError:
    said = " ".join(str(what).split())
    return UserError(f"{path} is damaged ({said}); rescue what is left with 'sqlite3 {path} .recover', or move it away")


def _unlock(lock: Any) -> None:
    """Let the next writer in; once, for what is at that name later may be the next one's."""
    if not lock.closed:
        with suppress(OSError):
            os.unlink(lock.name)
        lock.close()


def _distrust(sql: sqlite3.Connection) -> None:
    """Have nothing in the file executed or believed, and have a commit on the disk when it returns (FULL)."""
    sql.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
    sql.text_factory = lambda text: text.decode(errors="replace")  # which need not be UTF-8
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON", "synchronous = FULL"):
        sql.execute(f"PRAGMA {pragma}")


def _pragma(sql: sqlite3.Connection, pragma: str) -> Any:
    """The row that a pragma answers; to the end, or SQLite takes it for under way."""
    return sql.execute(f"PRAGMA {pragma}").fetchall()[0]


def _number(sql: sqlite3.Connection, pragma: str) -> int:
    return int(_pragma(sql, pragma)[0])


def _schema(sql: sqlite3.Connection) -> set[tuple[str, str, str | None]]:
    """(type, name, SQL) of all that is in a database, as it was written."""
    return set(sql.execute("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'"))


def _empty(sql: sqlite3.Connection) -> bool:
    """Whether nobody has put anything into it: a new file, or one that somebody was killed in making."""
    return not (_number(sql, "application_id") or _number(sql, "user_version") or _schema(sql))


def _make(sql: sqlite3.Connection, layout: Layout) -> None:
    """Put the tables of a layout into an empty database, all or none."""
    about = f"PRAGMA application_id = {_id(layout)}; PRAGMA user_version = {layout.version};"
    sql.executescript(f"BEGIN IMMEDIATE;\n{layout.tables}\n;{about} COMMIT;")


def _id(layout: Layout) -> int:
    return int.from_bytes(layout.application, "big", signed=True)


def _check(database: Database) -> None:
    """Refuse what is not a whole file of its layout and version."""
    sql, path, layout, what = database.sql, database.path, database.layout, database.layout.what
    version = _number(sql, "user_version")
    if _number(sql, "application_id") != _id(layout):
        raise UserError(f"{path} is not a {what} but some other database; choose another file")
    if version != layout.version:
        then = "update tumble to read it" if version > layout.version else "move it away and build it again"
        raise UserError(f"{path} is a {what} of version {version}, this tumble knows {layout.version}; {then}")
    if _schema(sql) != _tables(layout):
        raise UserError(f"{path} has other tables than a {what} of version {version}; choose another file")
    if (found := _pragma(sql, "quick_check(1)")[0]) != "ok":
        raise _damaged(path, found)


def _tables(layout: Layout) -> set[tuple[str, str, str | None]]:
    sql = sqlite3.connect(":memory:")
    try:
        sql.executescript(layout.tables)
        return _schema(sql)
    finally:
        sql.close()


def _frames_claimed(place: Path) -> int:
    """How many pages the write-ahead log that a killed writer left seems to hold, parts of one included.

    SQLite keeps those up to the last whole commit and says nothing of the rest. Pages of earlier rounds, which stay in
    the file behind those of the last one, have other salts; https://sqlite.org/fileformat2.html#walformat.
    """
    wal = place.with_name(f"{place.name}-wal")
    if not os.path.exists(wal):
        return 0
    with opened(wal, "rb") as file:
        top = file.read(WAL_TOP)
        if len(top) < WAL_TOP:
            return int(bool(top))
        frame, salts, count = FRAME_TOP + int.from_bytes(top[8:12], "big"), top[16:24], 0
        size = os.fstat(file.fileno()).st_size
        while WAL_TOP + count * frame < size:
            file.seek(WAL_TOP + count * frame)
            if not salts.startswith(file.read(FRAME_TOP)[8:16]):
                break
            count += 1
    return count
