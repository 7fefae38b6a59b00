"""Reading the vectors of some rows again (internal maintenance).

Every function sees the rows of every agent and must never be an exit to a caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from cpersona_jit.store.reads import ID_BATCH
from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.stored_values import row_check

_checked_row = row_check(("id", "embedding", "model_id"))
_checked_block = row_check(("memory_id", "embedding", "model_id"))


def row_vectors(conn: sqlite3.Connection, ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Id, embedding and model id of the rows of `ids`, which ascend; by ascending id."""
    query = "SELECT id, embedding, model_id FROM memories WHERE id IN ({}) ORDER BY id"
    yield from map(_checked_row, _batches(conn, query, ids))


def block_vectors(conn: sqlite3.Connection, ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Memory id, embedding and model id of their blocks, by memory id and position."""
    query = (
        "SELECT memory_id, embedding, model_id FROM blocks WHERE memory_id IN ({})"
        " ORDER BY memory_id, block_index"
    )
    yield from map(_checked_block, _batches(conn, query, ids))


def _batches(conn: sqlite3.Connection, query: str, ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    with store_errors(conn):
        for start in range(0, len(ids), ID_BATCH):
            batch = ids[start : start + ID_BATCH]
            yield from conn.execute(query.format(",".join("?" * len(batch))), batch)
