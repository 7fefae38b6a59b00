"""Overflow nodes: the parts of a content that is longer than its model's window, each embedded.

The columns do not hold them. The functions besides `nodes_of` are internal maintenance over the
rows of every agent; they change nothing that a caller can read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cpersona_jit.isolation import Axes, sql_predicate
from cpersona_jit.records import Node
from cpersona_jit.store.blocks import NewBlock
from cpersona_jit.store.database import write_transaction
from cpersona_jit.store.models import check_vectors
from cpersona_jit.store.reads import ID_BATCH
from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.stored_values import row_check

_checked = row_check(("memory_id", "start_char", "end_char", "model_id", "embedding"))
_checked_range = row_check(("memory_id", "start_char", "end_char"))
_checked_long = row_check(("id", "revision", "source_name", "content"))


def nodes_of(conn: sqlite3.Connection, axes: Axes, ids: Iterable[int]) -> dict[int, list[Node]]:
    """Nodes of the rows of `ids` that `axes` admit.

    Returns
    -------
    dict of int to list of Node
        By the id of the row, in the order of the text; rows without any are absent.
    """
    wanted = list(dict.fromkeys(ids))
    predicate, params = sql_predicate(axes)
    found: dict[int, list[Node]] = {}
    with store_errors(conn):
        for start in range(0, len(wanted), ID_BATCH):
            batch = wanted[start : start + ID_BATCH]
            cursor = conn.execute(
                "SELECT memory_id, start_char, end_char, nodes.model_id, nodes.embedding"
                " FROM nodes JOIN memories ON id = memory_id"
                f" WHERE memory_id IN ({','.join('?' * len(batch))}) AND {predicate}"
                " ORDER BY memory_id, node_index",
                (*batch, *params),
            )
            for memory_id, *values in map(_checked, cursor):
                found.setdefault(memory_id, []).append(Node(*values))
    return found


def insert_nodes_of(
    conn: sqlite3.Connection,
    rows: Iterable[tuple[int, Iterable[NewBlock]]],
    model_id: int | None,
) -> None:
    """Write the nodes of rows that have none: the id and the ranges of each, in one transaction."""
    conn.executemany(
        "INSERT INTO nodes (memory_id, node_index, start_char, end_char, model_id, embedding)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (memory_id, index, start, end, None if vector is None else model_id, vector)
            for memory_id, nodes in rows
            for index, (start, end, vector) in enumerate(nodes)
        ],
    )


class LongRow(NamedTuple):
    """A row whose chain is to be made anew; its revision tells whether it changed meanwhile."""

    id: int
    revision: int
    source_name: str
    content: str
    blocks: tuple[tuple[int, int], ...]


def rows_without_chain(conn: sqlite3.Connection, model_id: int, window: int) -> list[int]:
    """Ids of the rows longer than the model's window whose nodes are not all of it, ascending.

    A row of one block has no nodes, however long it is.
    """
    with store_errors(conn):
        cursor = conn.execute(
            "SELECT id FROM memories WHERE length(content) > ?"
            " AND EXISTS (SELECT 1 FROM blocks WHERE memory_id = id)"
            " AND (NOT EXISTS (SELECT 1 FROM nodes WHERE memory_id = id) OR EXISTS"
            " (SELECT 1 FROM nodes WHERE memory_id = id AND nodes.model_id IS NOT ?))"
            " ORDER BY id",
            (window, model_id),
        )
        return [memory_id for (memory_id,) in cursor]


def long_rows(conn: sqlite3.Connection, ids: Sequence[int]) -> list[LongRow]:
    """Rows of `ids` that are still there, with their blocks; by ascending id."""
    marks = ",".join("?" * len(ids))
    blocks: dict[int, list[tuple[int, int]]] = {}
    with store_errors(conn):
        cursor = conn.execute(
            "SELECT memory_id, start_char, end_char FROM blocks"
            f" WHERE memory_id IN ({marks}) ORDER BY memory_id, block_index",
            ids,
        )
        for memory_id, start, end in map(_checked_range, cursor):
            blocks.setdefault(memory_id, []).append((start, end))
        cursor = conn.execute(
            f"SELECT id, revision, source_name, content FROM memories WHERE id IN ({marks})"
            " ORDER BY id",
            ids,
        )
        return [LongRow(*row, tuple(blocks.get(row[0], ()))) for row in map(_checked_long, cursor)]


def set_chains(
    conn: sqlite3.Connection,
    rows: Sequence[LongRow],
    nodes: Sequence[Sequence[NewBlock]],
    model_id: int,
) -> int:
    """Give rows their nodes, in one transaction; one that changed since it was read keeps its own.

    Returns
    -------
    int
        Rows that have them now.
    """
    done = 0
    with write_transaction(conn):
        check_vectors(conn, [node.vector for chain in nodes for node in chain], model_id)
        for row, chain in zip(rows, nodes, strict=True):
            current = conn.execute(
                "SELECT 1 FROM memories WHERE id = ? AND revision = ?", (row.id, row.revision)
            ).fetchone()
            if current:
                conn.execute("DELETE FROM nodes WHERE memory_id = ?", (row.id,))
                insert_nodes_of(conn, [(row.id, chain)], model_id)
                done += 1
    return done


def drop_short_chains(conn: sqlite3.Connection, window: int) -> None:
    """Delete the nodes of rows that fit the window: a model with a smaller one made them."""
    with write_transaction(conn):
        conn.execute(
            "DELETE FROM nodes WHERE memory_id IN (SELECT memory_id FROM nodes"
            " JOIN memories ON id = memory_id WHERE length(content) <= ?)",
            (window,),
        )
