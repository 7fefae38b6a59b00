"""Writing the blocks of rows: ranges of their contents, each with a vector of its own.

Only rows of two blocks or more have any: the one block of any other row is the row itself.
`adopt_splitter`, `set_ranges` and `set_block_vectors` are internal maintenance over the rows of
every agent; they change nothing that a caller can read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cpersona_jit.errors import UsageError
from cpersona_jit.store.block_reads import PendingBlock, Range, SplitRow
from cpersona_jit.store.database import meta_number, write_transaction
from cpersona_jit.store.models import check_vectors
from cpersona_jit.store.sqlite_errors import store_errors


class NewBlock(NamedTuple):
    """A range of a content in code points, and its vector (little-endian float32) or None."""

    start_char: int
    end_char: int
    vector: bytes | None = None


def insert_blocks(
    conn: sqlite3.Connection, memory_id: int, blocks: Iterable[NewBlock], model_id: int | None
) -> None:
    """Write the blocks of a row that has none; the caller's transaction holds the row too."""
    insert_blocks_of(conn, [(memory_id, blocks)], model_id)


def insert_blocks_of(
    conn: sqlite3.Connection,
    rows: Iterable[tuple[int, Iterable[NewBlock]]],
    model_id: int | None,
) -> None:
    """As `insert_blocks`, for many rows: the id and the blocks of each."""
    conn.executemany(
        "INSERT INTO blocks (memory_id, block_index, start_char, end_char, model_id, embedding)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (memory_id, index, start, end, None if vector is None else model_id, vector)
            for memory_id, blocks in rows
            for index, (start, end, vector) in enumerate(blocks)
        ],
    )


def adopt_splitter(conn: sqlite3.Connection, version: int, whole_chars: int) -> int:
    """Note that blocks come from a newer splitter than before (internal maintenance).

    Rows that it may part are marked as not split yet; until they are, they keep what blocks they
    have. A file that a newer splitter worked on is left as it is.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    version : int
        Version of the splitter.
    whole_chars : int
        Contents up to this length are one block under every splitter.

    Returns
    -------
    int
        Rows marked that were not yet.
    """
    with store_errors(conn):
        known = meta_number(conn, "blocks_version")
    if known >= version:
        return 0
    with write_transaction(conn):
        known = meta_number(conn, "blocks_version")
        if known >= version:  # another process was faster
            return 0
        conn.execute("UPDATE meta SET blocks_version = ?", (version,))
        return conn.execute(
            "INSERT OR IGNORE INTO unsplit SELECT id FROM memories WHERE length(content) > ?",
            (whole_chars,),
        ).rowcount


def set_ranges(
    conn: sqlite3.Connection, rows: Sequence[SplitRow], ranges: Sequence[Sequence[Range]]
) -> int:
    """Give rows their blocks, in one transaction (internal maintenance).

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    rows : sequence of SplitRow, length n
        As `rows_to_split` returned them. A row that was changed or deleted since is left alone.
    ranges : sequence of sequence of (int, int), length n
        The blocks of each; none for a row of one block. New blocks have no vectors yet; a row that
        has these blocks already keeps them with theirs.

    Returns
    -------
    int
        Rows whose blocks were made anew.
    """
    changed = 0
    with write_transaction(conn) as revision:
        for row, wanted in zip(rows, ranges, strict=True):
            if row.unsplit:
                conn.execute("DELETE FROM unsplit WHERE memory_id = ?", (row.id,))
            if row.ranges == tuple(wanted) or not _touch(conn, row.id, row.revision, revision):
                continue
            conn.execute("DELETE FROM blocks WHERE memory_id = ?", (row.id,))
            conn.execute("DELETE FROM nodes WHERE memory_id = ?", (row.id,))  # they end with blocks
            insert_blocks(conn, row.id, [NewBlock(*block) for block in wanted], None)
            changed += 1
    return changed


def set_block_vectors(
    conn: sqlite3.Connection,
    pending: Sequence[PendingBlock],
    vectors: Sequence[bytes],
    model_id: int,
) -> int:
    """Give blocks their vectors, in one transaction (internal maintenance).

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    pending : sequence of PendingBlock, length n
        As `blocks_without_vector` returned them. Blocks of a row that was changed or deleted since
        are left alone: the vectors would be of its old text.
    vectors : sequence of bytes, length n
        Little-endian float32 of unit vectors.
    model_id : int
        Model of the vectors.

    Returns
    -------
    int
        Blocks that have their vector now.
    """
    if len(pending) != len(vectors):
        raise UsageError(f"{len(pending)} blocks but {len(vectors)} vectors")
    done = 0
    with write_transaction(conn) as revision:
        check_vectors(conn, vectors, model_id)
        current = {
            memory_id
            for memory_id, known in {(block.memory_id, block.revision) for block in pending}
            if _touch(conn, memory_id, known, revision)
        }
        for block, vector in zip(pending, vectors, strict=True):
            if block.memory_id in current:
                done += conn.execute(
                    "UPDATE blocks SET embedding = ?, model_id = ?"
                    " WHERE memory_id = ? AND block_index = ?",
                    (vector, model_id, block.memory_id, block.block_index),
                ).rowcount
    return done


def _touch(conn: sqlite3.Connection, memory_id: int, known: int, revision: int) -> bool:
    """Mark a row as changed, so that snapshots read it again; false when it is not `known`."""
    return bool(
        conn.execute(
            "UPDATE memories SET revision = ? WHERE id = ? AND revision = ?",
            (revision, memory_id, known),
        ).rowcount
    )
