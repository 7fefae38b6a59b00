"""Reading the blocks of rows (internal maintenance).

Every function sees the rows of every agent and must never be an exit to a caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.stored_values import row_check

Range = tuple[int, int]

_checked_block = row_check(("memory_id", "start_char", "end_char", "embedding", "model_id"))
_checked_split = row_check(("id", "revision", "content"))
_checked_range = row_check(("memory_id", "start_char", "end_char"))
_checked_pending = row_check(("memory_id", "block_index", "revision", "source_name", "content"))


class BlockCounts(NamedTuple):
    """Blocks, how many have no vector of the model asked about, and rows to be split."""

    blocks: int
    without_vector: int
    unsplit_rows: int


class SplitRow(NamedTuple):
    """A row with the blocks it has; its revision tells whether it changed meanwhile."""

    id: int
    revision: int
    content: str
    ranges: tuple[Range, ...]
    unsplit: bool


class PendingBlock(NamedTuple):
    """A block that waits for a vector, with its part of the content and its row's revision."""

    memory_id: int
    block_index: int
    revision: int
    source_name: str
    content: str

    @property
    def place(self) -> tuple[int, int]:
        """Where to go on behind it."""
        return self.memory_id, self.block_index


def changed_blocks(conn: sqlite3.Connection, since_generation: int) -> Iterator[tuple[Any, ...]]:
    """Blocks of the rows written after a generation.

    Read it inside ``read_snapshot`` together with ``changed_rows``.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    since_generation : int
        0 = the blocks of all rows.

    Yields
    ------
    tuple
        Memory id, start, end, embedding, model id; rows in the order of ``changed_rows``, the
        blocks of each by position.
    """
    some = since_generation > 0
    with store_errors(conn):
        # Both indexes have this order. The join is never turned round: blocks would be sorted.
        cursor = conn.execute(
            "SELECT memory_id, start_char, end_char, blocks.embedding, blocks.model_id"
            " FROM memories INDEXED BY memories_revision"
            " CROSS JOIN blocks ON memory_id = memories.id"
            f" {'WHERE revision > ?' if some else ''}"
            " ORDER BY revision, memories.id, block_index",
            (since_generation,) if some else (),
        )
        yield from map(_checked_block, cursor)


def unsplit_rows(conn: sqlite3.Connection) -> list[int]:
    """Ids of rows that the current splitter has not seen yet, ascending."""
    with store_errors(conn):
        cursor = conn.execute("SELECT memory_id FROM unsplit ORDER BY memory_id")
        return [memory_id for (memory_id,) in cursor]


def block_counts(conn: sqlite3.Connection, model_id: int | None = None) -> BlockCounts:
    """Count blocks; a vector of another model than `model_id` counts as none (None: any counts)."""
    with store_errors(conn):
        of_model = dict(conn.execute("SELECT model_id, count(*) FROM blocks GROUP BY model_id"))
        (unsplit,) = conn.execute("SELECT count(*) FROM unsplit").fetchone()
    total = sum(of_model.values())
    without = of_model.get(None, 0) if model_id is None else total - of_model.get(model_id, 0)
    return BlockCounts(total, without, unsplit)


def rows_to_split(conn: sqlite3.Connection, after_id: int, limit: int) -> list[SplitRow]:
    """Rows with an id above `after_id` and the blocks they have.

    Returns
    -------
    list of SplitRow
        By ascending id, at most `limit`: to go on, pass the last id again.
    """
    with store_errors(conn):
        cursor = conn.execute(
            "SELECT id, revision, content FROM memories WHERE id > ? ORDER BY id LIMIT ?",
            (after_id, limit),
        )
        rows = list(map(_checked_split, cursor))
        if not rows:
            return []
        between = (rows[0][0], rows[-1][0])
        ranges: dict[int, list[Range]] = {}
        cursor = conn.execute(
            "SELECT memory_id, start_char, end_char FROM blocks WHERE memory_id BETWEEN ? AND ?"
            " ORDER BY memory_id, block_index",
            between,
        )
        for memory_id, start, end in map(_checked_range, cursor):
            ranges.setdefault(memory_id, []).append((start, end))
        unsplit = {
            memory_id
            for (memory_id,) in conn.execute(
                "SELECT memory_id FROM unsplit WHERE memory_id BETWEEN ? AND ?", between
            )
        }
    return [SplitRow(*row, tuple(ranges.get(row[0], ())), row[0] in unsplit) for row in rows]


def blocks_without_vector(
    conn: sqlite3.Connection, model_id: int, after: tuple[int, int], limit: int
) -> list[PendingBlock]:
    """Blocks behind `after` (memory id, block index) that have no vector of the model.

    Returns
    -------
    list of PendingBlock
        By memory id and position, at most `limit`: to resume, pass the last one's place again.
    """
    with store_errors(conn):
        others = conn.execute("SELECT id FROM models WHERE id <> ?", (model_id,)).fetchall()
        places: list[tuple[int, int]] = []
        for (stale,) in [(None,), *others]:
            # One probe of the model index per stale value instead of a scan of all vectors.
            places += conn.execute(
                "SELECT memory_id, block_index FROM blocks WHERE model_id IS ?"
                " AND (memory_id, block_index) > (?, ?) ORDER BY memory_id, block_index LIMIT ?",
                (stale, *after, limit),
            ).fetchall()
        return [
            PendingBlock(*_checked_pending(values))
            for place in sorted(places)[:limit]
            for values in conn.execute(
                "SELECT memory_id, block_index, revision, source_name,"
                " substr(content, start_char + 1, end_char - start_char)"
                " FROM blocks JOIN memories ON id = memory_id"
                " WHERE memory_id = ? AND block_index = ?",
                place,
            )
        ]
