"""Processes that are killed, and processes that write at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from store_cases import clean, contents, is_sound, put

from cpersona_jit.store.database import generation, open_database

WRITER = """
import sys
from cpersona_jit.records import Record
from cpersona_jit.store.database import open_database
from cpersona_jit.store.validate import check_record
from cpersona_jit.store.writes import insert_batch

path, name, batches, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
conn = open_database(path)
for batch in range(batches):
    records = [
        check_record(Record(f"{name}/{batch}/{i} 記憶 " + "x" * 300, "me"), 0) for i in range(size)
    ]
    shared = Record(f"told {batch} by {name}", "me", msg_id=f"shared {batch}")
    records.append(check_record(shared, 0))
    outcomes = insert_batch(conn, records, [None] * len(records), None, 0)
    assert [outcome.status for outcome in outcomes[:-1]] == ["stored"] * size
    print(batch, outcomes[-1].status, flush=True)
conn.close()
"""


def start(path, name: str, batches: int, size: int) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(batches), str(size)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
@pytest.mark.parametrize("acknowledged", [1, 2, 7, 40])
def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path, acknowledged):
    path, size = tmp_path / "killed.db", 20
    process = start(path, "victim", 100_000, size)
    last = -1
    for _ in range(acknowledged):
        last = int(process.stdout.readline().split()[0])
    process.send_signal(signal.SIGKILL)
    # What it had said before it died counts as well.
    last = max([last, *(int(line.split()[0]) for line in process.stdout if line.endswith("\n"))])
    process.wait()
    process.stderr.close()
    process.stdout.close()

    conn = open_database(path, create=False)
    assert is_sound(conn)
    rows = contents(conn)
    batches = len(rows) // (size + 1)
    assert len(rows) == batches * (size + 1), "a batch is stored as a whole or not at all"
    assert batches >= last + 1
    expected = [
        text
        for batch in range(batches)
        for text in [
            *(f"victim/{batch}/{i} 記憶 " + "x" * 300 for i in range(size)),
            f"told {batch} by victim",
        ]
    ]
    assert rows == expected
    assert generation(conn) == batches
    assert put(conn, clean("life goes on"))[0].status == "stored"
    conn.close()


def test_several_processes_create_and_write_one_store(tmp_path):
    path, batches, size = tmp_path / "new" / "shared.db", 12, 5
    names = ["a", "b", "c", "日"]
    processes = [start(path, name, batches, size) for name in names]
    outputs = [process.communicate(timeout=120) for process in processes]
    for process, (_, errors) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, errors
    told = [line.split() for out, _ in outputs for line in out.splitlines()]
    for batch in range(batches):
        statuses = sorted(status for number, status in told if number == str(batch))
        assert statuses == ["skipped"] * (len(names) - 1) + ["stored"]
    conn = open_database(path)
    assert is_sound(conn)
    rows = contents(conn)
    assert len(rows) == len(names) * batches * size + batches
    for name in names:
        own = [text.split()[0] for text in rows if text.startswith(f"{name}/")]
        assert own == [f"{name}/{batch}/{i}" for batch in range(batches) for i in range(size)]
    assert generation(conn) == len(names) * batches
    conn.close()


def test_closing_one_connection_keeps_the_locks_of_another(tmp_path):
    """POSIX drops a process's locks on a file when it closes any descriptor of it."""
    path = tmp_path / "two.db"
    first = open_database(path)
    put(first, clean("one"))
    open_database(path).close()
    # Another process that opens and closes must not take itself for the last one: it would
    # delete the log that the first connection goes on writing to.
    process = start(path, "other", 1, 2)
    assert process.wait(timeout=60) == 0
    process.stdout.close()
    process.stderr.close()
    assert (tmp_path / "two.db-wal").exists()
    put(first, clean("two"))
    assert [text.split()[0] for text in contents(first)] == [
        "one",
        "other/0/0",
        "other/0/1",
        "told",
        "two",
    ]
    first.close()
    again = open_database(path)
    assert len(contents(again)) == 5
    assert is_sound(again)
    again.close()
