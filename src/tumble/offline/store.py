"""A store of jobs: a SQLite file of what is done, so that long work goes on where it was, however it ended.

    about = {"work": "squares", "version": 1}
    with JobStore(Path("squares.jobs"), about) as store, workers(jobs=4) as pool:
        for key, result in complete(store, pool, pow, {"2": (2, 2), "3": (3, 2)}):
            print(key, result)                   # reported: it survives kill -9 and a power cut
        store.results()                          # {'2': 4, '3': 9}, now and in every later run

What is written is done, what was under way is done again. The process that opened it is the only one that writes;
workers return their results to it. Results are JSON, floats to the last bit, or bytes.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from types import TracebackType
from typing import Any

from tumble.errors import UserError
from tumble.offline.database import Layout, open_for_writing
from tumble.offline.jobs import as_done

LAYOUT = Layout(
    what="store of jobs",
    application=b"tmbJ",
    version=1,
    tables="""
CREATE TABLE about (about TEXT NOT NULL) STRICT;
CREATE TABLE results (
    key TEXT PRIMARY KEY NOT NULL, json TEXT, bytes BLOB, CHECK ((json IS NULL) <> (bytes IS NULL))
) STRICT;
""",
)


class JobStore:
    """Results by key, in a file that one process writes.

    Attributes:
      mended: sentences about what the last writer left broken, for people to be told; see `Database.mended`.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """Open it, or make it.

        Args:
          path: of the file; see `tumble.offline.database` for what may lie beside it.
          about: what decides about the results beside their key, as JSON: a store of other work is refused.

        Raises:
          UserError: it is in use, something else, damaged, or holds results of other work.
        """
        self._database = open_for_writing(path, LAYOUT)
        try:
            self._begin(json.loads(json.dumps(about)))
            self.mended = [self._database.mended] if self._database.mended else []
            self._check()
        except BaseException:
            self._database.close()
            raise

    def _begin(self, about: dict[str, Any]) -> None:
        """Note what the results of a new store are of; refuse an old one of other work."""
        rows = self._database.sql.execute("SELECT about FROM about").fetchall()
        if not rows:
            with self._database.transaction() as sql:
                sql.execute("INSERT INTO about VALUES (?)", (json.dumps(about),))
            return
        try:
            found = json.loads(rows[0][0])
        except (ValueError, RecursionError):
            found = None
        if found != about:
            raise UserError(
                f"{self._database.path} holds results of other work{_difference(found, about)};"
                " choose another file, or move it away"
            )

    def _check(self) -> None:
        """Drop results that cannot be read: they are done again."""
        spoiled = list[str]()
        for key, text in self._database.sql.execute("SELECT key, json FROM results WHERE json IS NOT NULL"):
            try:
                json.loads(text)
            except (ValueError, RecursionError):
                spoiled.append(key)
        if spoiled:
            with self._database.transaction() as sql:
                sql.executemany("DELETE FROM results WHERE key = ?", [(key,) for key in spoiled])
            names = ", ".join(map(repr, spoiled[:5])) + (" ..." if len(spoiled) > 5 else "")
            self.mended.append(f"{len(spoiled)} results in {self._database.path} cannot be read ({names}): done again")

    def __enter__(self) -> "JobStore":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._database.close()

    def __len__(self) -> int:
        """How many are done."""
        return int(self._database.sql.execute("SELECT count(*) FROM results").fetchall()[0][0])

    def put(self, key: str, result: Any) -> None:
        """Keep a result, JSON or bytes, in place of one of that key; it is on the disk when this returns."""
        row = (key, None, result) if isinstance(result, bytes) else (key, json.dumps(result), None)
        with self._database.transaction() as sql:
            sql.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", row)

    def results(self) -> dict[str, Any]:
        """All that is done, by key, in the order in which it was written."""
        rows = self._database.sql.execute("SELECT key, json, bytes FROM results ORDER BY rowid").fetchall()
        return {key: data if text is None else json.loads(text) for key, text, data in rows}

    def keys(self) -> set[str]:
        """Of all that is done."""
        return {key for (key,) in self._database.sql.execute("SELECT key FROM results")}


def complete(
    store: JobStore, pool: Executor, function: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]
) -> Iterator[tuple[str, Any]]:
    """(key, function(*jobs[key])) of all jobs that the store lacks, each when it is in the store.

    Whoever stops asking, or is killed, goes on with the same call another time.
    """
    done = store.keys()
    left = [key for key in jobs if key not in done]
    for index, result in as_done(pool, function, [jobs[key] for key in left]):
        store.put(left[index], result)
        yield left[index], result


def _difference(found: Any, wanted: dict[str, Any]) -> str:
    """The first thing in which two kinds of work differ, in words."""
    if isinstance(found, dict):
        for name in [*wanted, *found]:
            if found.get(name) != wanted.get(name):
                return f" ({name} was {_short(found.get(name))}, is {_short(wanted.get(name))})"
    return ""


def _short(value: Any) -> str:
    text = json.dumps(value)  # which escapes what a terminal would obey
    return text if len(text) <= 40 else f"{text[:37]}..."
