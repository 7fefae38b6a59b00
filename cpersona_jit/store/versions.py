"""The texts that rows had before they were updated.

An old text is no row: the columns never see it and nothing duplicates it. It has a reference of
its own, whose number lies beyond those of all rows and is never used twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from cpersona_jit.isolation import Axes, sql_predicate
from cpersona_jit.records import Kind, OldText, Version, format_ref
from cpersona_jit.store.reads import ID_BATCH
from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.stored_values import row_check

_COLUMNS = ("id", "memory_id", "content", "written_at", "superseded_at")
_checked = row_check(_COLUMNS)


def versions_of(
    conn: sqlite3.Connection, axes: Axes, ids: Iterable[int]
) -> dict[int, list[Version]]:
    """Old texts of the rows of `ids` that `axes` admit.

    Returns
    -------
    dict of int to list of Version
        By the id of the row, newest first; rows without any are absent.
    """
    found: dict[int, list[Version]] = {}
    for memory_id, version in _versions(conn, axes, "memory_id", ids):
        found.setdefault(memory_id, []).append(version)
    for texts in found.values():
        texts.sort(key=lambda version: (version.superseded_at, version.id), reverse=True)
    return found


def fetch_versions(conn: sqlite3.Connection, axes: Axes, ids: Iterable[int]) -> dict[int, Version]:
    """Old texts by their own ids, of rows that `axes` admit; any other id is simply absent."""
    return {version.id: version for _, version in _versions(conn, axes, "id", ids)}


def delete_version(conn: sqlite3.Connection, axes: Axes, version_id: int) -> bool:
    """Delete one old text inside the caller's transaction; its row stays as it is."""
    predicate, params = sql_predicate(axes)
    return bool(
        conn.execute(
            "DELETE FROM versions WHERE id = ?"
            f" AND memory_id IN (SELECT id FROM memories WHERE {predicate})",
            (version_id, *params),
        ).rowcount
    )


def insert_versions(
    conn: sqlite3.Connection, rows: Iterable[tuple[int, Sequence[OldText]]]
) -> None:
    """Keep old texts inside the caller's transaction: the id of each row, and its texts.

    Parameters
    ----------
    conn : sqlite3.Connection
        In a transaction that has stored the rows.
    rows : iterable of (int, sequence of OldText)
        Times in UTC microseconds.
    """
    conn.executemany(
        "INSERT INTO versions (memory_id, content, written_at, superseded_at) VALUES (?, ?, ?, ?)",
        [
            (memory_id, text.content, text.written_at, text.superseded_at)
            for memory_id, old in rows
            for text in old
        ],
    )


def _versions(
    conn: sqlite3.Connection, axes: Axes, by: str, ids: Iterable[int]
) -> Iterator[tuple[int, Version]]:
    """Yield old texts with the ids of their rows; `by` is the column that `ids` are of."""
    wanted = list(dict.fromkeys(ids))
    predicate, params = sql_predicate(axes)
    with store_errors(conn):
        for start in range(0, len(wanted), ID_BATCH):
            batch = wanted[start : start + ID_BATCH]
            cursor = conn.execute(
                f"SELECT {', '.join(f'versions.{name}' for name in _COLUMNS)},"
                " EXISTS (SELECT 1 FROM episodes WHERE memory_id = memories.id)"
                " FROM versions JOIN memories ON memories.id = versions.memory_id"
                f" WHERE versions.{by} IN ({','.join('?' * len(batch))}) AND {predicate}",
                (*batch, *params),
            )
            for *values, is_episode in cursor:
                version_id, memory_id, *rest = _checked(tuple(values))
                kind: Kind = "episode" if is_episode else "memory"
                memory_ref = format_ref(memory_id, kind)
                yield (
                    memory_id,
                    Version(format_ref(version_id), version_id, memory_ref, *rest),
                )
