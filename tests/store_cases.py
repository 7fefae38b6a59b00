"""What the tests of the store share: clean records, vectors, and whole-store checks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import numpy as np

from cpersona_jit.records import Record, StoreOutcome
from cpersona_jit.store.validate import CleanRecord, check_record
from cpersona_jit.store.writes import insert_batch

NOW = 1_800_000_000_000_000
DIM = 4


def clean(content: str = "hello", agent_id: str = "me", **fields) -> CleanRecord:
    """Return a record that is in order; the tests of validation look at the others."""
    result = check_record(Record(content, agent_id, **fields), NOW)
    assert isinstance(result, CleanRecord), result
    return result


def vector(value: float) -> bytes:
    """Bytes of a vector of `DIM` numbers."""
    return np.full(DIM, value, dtype="<f4").tobytes()


def put(
    conn: sqlite3.Connection, *records: CleanRecord, now_us: int = NOW, **options
) -> list[StoreOutcome]:
    """Insert records without vectors, as one batch."""
    return insert_batch(conn, records, [None] * len(records), None, now_us, **options)


def contents(conn: sqlite3.Connection) -> list[str]:
    """Return every content in the store, in the order of insertion."""
    return [row[0] for row in conn.execute("SELECT content FROM memories ORDER BY id")]


def ranges(conn: sqlite3.Connection) -> dict[int, list[tuple[int, int]]]:
    """Return the blocks of each row that has any."""
    found: dict[int, list[tuple[int, int]]] = {}
    for memory_id, start, end in conn.execute(
        "SELECT memory_id, start_char, end_char FROM blocks ORDER BY memory_id, block_index"
    ):
        found.setdefault(memory_id, []).append((start, end))
    return found


def is_sound(conn: sqlite3.Connection) -> bool:
    """SQLite's own check of the whole file."""
    return conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def statuses(outcomes: Iterable[StoreOutcome]) -> list[tuple[str, str]]:
    """Status and reason of each outcome."""
    return [(outcome.status, outcome.reason) for outcome in outcomes]
