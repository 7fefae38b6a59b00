"""Overflow nodes: the parts of a content that is longer than its model's window, each embedded.

The columns do not hold them. The functions besides `nodes_of` are internal maintenance over the
rows of every agent; they change nothing that a caller can read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from cpersona_jit.isolation import Axes, sql_predicate
from cpersona_jit.records import Node
from cpersona_jit.store.blocks import NewBlock
from cpersona_jit.store.reads import ID_BATCH
from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.stored_values import row_check

_checked = row_check(("memory_id", "start_char", "end_char", "model_id", "embedding"))


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
