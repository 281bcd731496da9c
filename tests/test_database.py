"""SQLite files: what is committed survives every end; strangers, other versions and second writers are refused."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tumble.errors import UserError
from tumble.offline.database import Database, Layout, open_for_reading, open_for_writing

TABLES = "CREATE TABLE notes (id INTEGER PRIMARY KEY, said TEXT NOT NULL) STRICT; CREATE INDEX by_said ON notes (said);"
NOTES = Layout("notebook", b"tmbN", 1, TABLES)
WRITER = """
import sys
from pathlib import Path
from tumble.offline.database import Layout, open_for_writing
notes = open_for_writing(Path(sys.argv[1]), Layout("notebook", b"tmbN", 1, sys.argv[2]))
for i in range(10**9):
    with notes.transaction() as sql:
        sql.execute("INSERT INTO notes (id, said) VALUES (?, ?)", (i, "ho" * 500))
    print(i, flush=True)
"""


def add(notes: Database, *said: str) -> None:
    with notes.transaction() as sql:
        sql.executemany("INSERT INTO notes (said) VALUES (?)", [(one,) for one in said])


def said_in(path: Path) -> list[str]:
    with open_for_reading(path, NOTES) as notes:
        return [said for (said,) in notes.sql.execute("SELECT said FROM notes ORDER BY id")]


def test_what_is_written_is_read_and_a_clean_end_leaves_one_file(tmp_path):
    path = tmp_path / "a.notes"
    with open_for_writing(path, NOTES) as notes:
        add(notes, "ho", "hum")
        assert said_in(path) == ["ho", "hum"]  # while it is open
        assert notes.mended == ""
    assert [file.name for file in tmp_path.iterdir()] == ["a.notes"]
    with open_for_writing(path, NOTES) as notes:
        add(notes, "ha")
    notes.close()  # once more
    assert said_in(path) == ["ho", "hum", "ha"]


def test_a_transaction_is_all_or_nothing(tmp_path):
    path = tmp_path / "a.notes"
    with open_for_writing(path, NOTES) as notes:
        with pytest.raises(KeyError), notes.transaction() as sql:
            sql.execute("INSERT INTO notes (said) VALUES ('ho')")
            raise KeyError
        add(notes, "hum")
    assert said_in(path) == ["hum"]


def test_tables_are_strict(tmp_path):
    with open_for_writing(tmp_path / "a.notes", NOTES) as notes, pytest.raises(sqlite3.IntegrityError):
        notes.sql.execute("INSERT INTO notes (said) VALUES (x'00')")


def test_who_reads_sees_whole_transactions_and_does_not_hold_up_the_writer(tmp_path):
    path = tmp_path / "a.notes"
    with open_for_writing(path, NOTES) as notes:
        add(notes, "ho")
        with open_for_reading(path, NOTES) as reader:
            reader.sql.execute("BEGIN")
            count = "SELECT count(*) FROM notes"
            assert reader.sql.execute(count).fetchone() == (1,)
            add(notes, "hum")
            assert reader.sql.execute(count).fetchone() == (1,)  # as of its beginning
            reader.sql.execute("COMMIT")
            assert reader.sql.execute(count).fetchone() == (2,)
            notes.close()  # somebody still reads
            assert reader.sql.execute(count).fetchone() == (2,)
    assert said_in(path) == ["ho", "hum"]


def test_a_second_writer_is_refused(tmp_path):
    path, link = tmp_path / "a.notes", tmp_path / "link"
    link.symlink_to(path)
    with open_for_writing(path, NOTES):
        for name in (path, link):
            with pytest.raises(UserError, match=f"{name.name} is being written by another process; wait for its end"):
                open_for_writing(name, NOTES)
    open_for_writing(link, NOTES).close()


def killed_writer(path: Path, transactions: int) -> int:
    """Have another process write and kill it after so many transactions; the last one that it reported."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path), TABLES], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) == transactions:
            with pytest.raises(UserError, match="is being written by another process"):
                open_for_writing(path, NOTES)
            process.send_signal(signal.SIGKILL)
            break
    rest = process.stdout.read().split()
    process.wait()
    return int(rest[-1]) if rest else transactions


def test_kill_9_loses_nothing_that_was_committed_and_leaves_no_lock(tmp_path):
    path = tmp_path / "a.notes"
    reported = killed_writer(path, 40)
    assert len(said_in(path)) in (reported + 1, reported + 2)  # one may be committed and not yet reported
    with open_for_writing(path, NOTES) as notes:
        add(notes, "ho")
    assert said_in(path)[-1] == "ho"


def test_a_log_that_was_cut_is_survived_and_said(tmp_path):
    path, wal = tmp_path / "a.notes", tmp_path / "a.notes-wal"
    killed_writer(path, 40)
    before = len(said_in(path))
    os.truncate(wal, wal.stat().st_size - 100)
    with open_for_writing(path, NOTES) as notes:
        assert "a.notes was left in the middle of a writing: " in notes.mended
        assert "pages that were not committed are left out" in notes.mended
        (after,) = notes.sql.execute("SELECT count(*) FROM notes").fetchone()
    assert 0 < after < before
    with open_for_writing(path, NOTES) as notes:
        assert notes.mended == ""


def other(path: Path, *statements: str) -> Path:
    sql = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        sql.execute(statement)
    sql.close()
    return path


APPLICATION = f"PRAGMA application_id = {int.from_bytes(b'tmbN', 'big')}"
MINE = [*TABLES.removesuffix(";").split(";"), APPLICATION, "PRAGMA user_version = 1"]


@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        (["CREATE TABLE other (x)"], r"a\.notes is not a notebook but some other database; choose another file"),
        (["PRAGMA user_version = 7"], r"a\.notes is not a notebook but some other database"),
        (
            [*MINE, "PRAGMA user_version = 2"],
            "a notebook of version 2, this tumble knows 1; update tumble to read it",
        ),
        ([*MINE, "PRAGMA user_version = 0"], "of version 0, this tumble knows 1; move it away and build it again"),
        ([*MINE, "CREATE TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; END"], "has other tables than a notebook of"),
        (MINE[2:], "has other tables than a notebook of version 1"),
    ],
)
def test_other_databases_are_refused_and_untouched(tmp_path, statements, sentence):
    path = other(tmp_path / "a.notes", *statements)
    before = path.read_bytes()
    for open_it in (open_for_writing, open_for_reading):
        with pytest.raises(UserError, match=sentence):
            open_it(path, NOTES)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.notes"]


def test_a_stranger_keeps_its_journal(tmp_path):
    path = other(tmp_path / "a.notes", "PRAGMA journal_mode = WAL", "CREATE TABLE other (x)")
    with pytest.raises(UserError, match="some other database"):
        open_for_writing(path, NOTES)
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_what_is_no_database_is_refused(tmp_path):
    path = tmp_path / "a.notes"
    path.write_text("Dear diary, today I did not simulate anything. " * 99)
    for open_it in (open_for_writing, open_for_reading):
        with pytest.raises(UserError, match=r"a\.notes is not a notebook; choose another file"):
            open_it(path, NOTES)
    with pytest.raises(UserError, match=r"no file .*none\.notes; a notebook is wanted"):
        open_for_reading(tmp_path / "none.notes", NOTES)
    with pytest.raises(UserError, match=r"no folder .*missing to write a\.notes into"):
        open_for_writing(tmp_path / "missing" / "a.notes", NOTES)
    with pytest.raises(UserError, match="it is a folder"):
        open_for_writing(tmp_path, NOTES)


def test_a_damaged_file_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "a.notes"
    with open_for_writing(path, NOTES) as notes:
        add(notes, *("ho" * 500 for _ in range(50)))
    whole = path.read_bytes()
    for spoiled in (whole[: len(whole) // 2], whole[:4096] + b"\xff" * 4096 + whole[8192:]):
        path.write_bytes(spoiled)
        for open_it in (open_for_writing, open_for_reading):
            with pytest.raises(UserError, match=r"a\.notes is damaged \(.*\); rescue what is left with 'sqlite3"):
                open_it(path, NOTES)
        assert path.read_bytes() == spoiled


def test_who_was_killed_in_making_one_leaves_an_empty_file_that_is_taken(tmp_path):
    path = tmp_path / "a.notes"
    path.write_bytes(b"")
    open_for_writing(path, NOTES).close()
    assert said_in(path) == []


def test_a_full_disk_is_said_and_what_was_there_stays(tmp_path):
    path = tmp_path / "a.notes"
    with open_for_writing(path, NOTES) as notes:
        add(notes, "ho")
        (pages,) = notes.sql.execute("PRAGMA page_count").fetchone()
        notes.sql.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(UserError, match=r"cannot write .*a\.notes: database or disk is full"):
            add(notes, *("hum" * 1000 for _ in range(9)))
        notes.sql.execute(f"PRAGMA max_page_count = {pages + 1000}")
        add(notes, "ha")
    assert said_in(path) == ["ho", "ha"]


def test_a_fault_of_ours_is_not_told_as_the_disks(tmp_path):
    with (
        open_for_writing(tmp_path / "a.notes", NOTES) as notes,
        pytest.raises(sqlite3.OperationalError, match="no such table"),
        notes.transaction() as sql,
    ):
        sql.execute("INSERT INTO nowhere VALUES (1)")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="for root nothing is read-only")
def test_a_finished_file_is_read_where_nobody_may_write(tmp_path):
    path = tmp_path / "a.notes"
    with open_for_writing(path, NOTES) as notes:
        add(notes, "ho")
    tmp_path.chmod(0o500)
    try:
        assert said_in(path) == ["ho"]
    finally:
        tmp_path.chmod(0o700)
