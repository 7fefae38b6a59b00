"""Files and folders that cannot be written: reads go on, writes say why not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from store_cases import clean, put

from cpersona_jit.store.database import open_database

pytestmark = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")

NOBODY = 65534

# Everything is imported before the rights are dropped: the code need not be readable without them.
CHILD = """
import os, sys
from cpersona_jit.errors import CPersonaError
from cpersona_jit.isolation import Axes
from cpersona_jit.store import changes, database, models, reads, validate, writes
from cpersona_jit.records import Record
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({nobody})
    os.setuid({nobody})
me = Axes.agent("me")

def write(conn):
    record = validate.check_record(Record("from the child", "me"), 0)
    return writes.insert_batch(conn, [record], [None], None, 0)[0].status

def attempt(function, *arguments, **options):
    try:
        result = function(*arguments, **options)
    except CPersonaError as error:
        print(type(error).__name__, "|", error)
        return None
    return result

path = sys.argv[1]
"""

READ_AND_WRITE = """
conn = attempt(database.open_database, path, create={create})
if conn is not None:
    print("read only:", database.is_read_only(conn))
    print("rows:", [row.content for row in reads.fetch_rows(conn, me, range(1, 9)).values()])
    print("counts:", tuple(reads.counts(conn, me)), database.generation(conn))
    with database.read_snapshot(conn):
        print("changed:", len(list(reads.changed_rows(conn, 0))))
    for change in (
        lambda: write(conn),
        lambda: changes.delete(conn, me, ["mem:1"]),
        lambda: changes.update_content(conn, me, "mem:1", "x", None, None, 0),
        lambda: models.register_model(conn, "m", "f", 4),
    ):
        print("wrote:", attempt(change))
    conn.close()
"""


@pytest.fixture
def folder():
    """Return a folder that everybody may enter, which those of pytest are not."""
    path = Path(tempfile.mkdtemp(prefix="store-read-only-"))
    path.chmod(0o777)
    yield path
    path.chmod(0o777)
    shutil.rmtree(path)


def run_child(path: Path, body: str) -> list[str]:
    code = CHILD.format(nobody=NOBODY) + body
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, str(path)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def assert_reads_but_does_not_write(lines: list[str]) -> None:
    assert lines[:4] == ["read only: True", "rows: ['今日は']", "counts: (1, 1) 1", "changed: 1"]
    refusals = lines[4:]
    assert [line.split(" | ")[0] for line in refusals[::2]] == ["ReadOnlyStoreError"] * 4
    assert refusals[1::2] == ["wrote: None"] * 4


def closed_store(folder: Path) -> Path:
    path = folder / "memory.db"
    conn = open_database(path)
    put(conn, clean("今日は"))
    conn.close()
    assert list(folder.iterdir()) == [path]
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_cannot_be_written(folder, create):
    path = closed_store(folder)
    path.chmod(0o444)
    before = path.read_bytes()
    assert_reads_but_does_not_write(run_child(path, READ_AND_WRITE.format(create=create)))
    assert path.read_bytes() == before


@pytest.mark.parametrize("create", [True, False])
def test_a_folder_that_cannot_be_written(folder, create):
    path = closed_store(folder)
    path.chmod(0o666)
    folder.chmod(0o555)
    before = path.read_bytes()
    assert_reads_but_does_not_write(run_child(path, READ_AND_WRITE.format(create=create)))
    assert path.read_bytes() == before


def test_a_new_store_in_a_folder_that_cannot_be_written(folder):
    folder.chmod(0o555)
    for name in ("new.db", "sub/new.db"):
        (line,) = run_child(folder / name, READ_AND_WRITE.format(create=True))
        assert line.startswith("ReadOnlyStoreError | ")
        assert "new.db: cannot be created (Permission denied)" in line
    assert list(folder.iterdir()) == []


def test_a_file_that_cannot_be_read(folder):
    path = closed_store(folder)
    path.chmod(0)
    (line,) = run_child(path, READ_AND_WRITE.format(create=False))
    assert line.startswith("StoreError | ")
    assert "memory.db" in line


def test_a_store_that_another_process_is_writing_is_followed(folder):
    """With the log and its index beside it, readers without rights see new commits."""
    path = folder / "memory.db"
    conn = open_database(path)
    put(conn, clean("今日は"))
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    assert_reads_but_does_not_write(run_child(path, READ_AND_WRITE.format(create=False)))
    conn.close()


def test_rows_that_are_only_in_the_log_are_never_lost_silently(folder):
    """A copy of file and log without the log's index, in a folder that may not get one."""
    live = folder / "live"
    live.mkdir()
    conn = open_database(live / "memory.db")
    put(conn, clean("今日は"))
    frozen = folder / "frozen"
    frozen.mkdir()
    for name in ("memory.db", "memory.db-wal"):
        shutil.copyfile(live / name, frozen / name)
        (frozen / name).chmod(0o444)
    conn.close()
    frozen.chmod(0o555)
    (line,) = run_child(frozen / "memory.db", READ_AND_WRITE.format(create=False))
    assert line.startswith("ReadOnlyStoreError | ")
    assert "memory.db-wal" in line
    # Where the folder can be written, the same two files give every row.
    frozen.chmod(0o777)
    (frozen / "memory.db").chmod(0o666)
    (frozen / "memory.db-wal").chmod(0o666)
    lines = run_child(frozen / "memory.db", READ_AND_WRITE.format(create=False))
    assert lines[:2] == ["read only: False", "rows: ['今日は']"]


def test_an_older_file_that_cannot_be_written_says_that_it_must_move(folder):
    path = closed_store(folder)
    path.chmod(0o444)
    later = "database.SCHEMA_VERSION = 99\ndatabase.refuse_newer.__defaults__ = (99,)\n"
    (line,) = run_child(path, later + READ_AND_WRITE.format(create=False))
    assert line.startswith("ReadOnlyStoreError | ")
    assert "must be moved to 99" in line
