"""Reading whole rows of every agent, for a copy of the store in another format.

The owner of the file sees every row here; it must never be an exit to an agent.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from cpersona_jit.records import OldText
from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.stored_values import row_check


class WholeRow(NamedTuple):
    """A row as it is stored: the arguments of `store`, its vector and the vector's model.

    `end` is empty in what is no episode, and `keywords` is then no JSON list but empty too.
    """

    id: int
    content: str
    agent_id: str
    project_id: str
    channel: str
    msg_id: str
    session_id: str
    timestamp: str
    source_type: str
    source_id: str
    source_name: str
    metadata: str
    end: str
    keywords: str
    embedding: bytes | None
    model_id: int | None
    history: tuple[OldText, ...] = ()


_COLUMNS = WholeRow._fields[:-1]
_checked = row_check(_COLUMNS)
_checked_old = row_check(("memory_id", "content", "written_at", "superseded_at"))


def whole_rows(conn: sqlite3.Connection, behind: int, count: int) -> list[WholeRow]:
    """Return up to `count` rows with an id above `behind`, by ascending id."""
    of_episodes = {"end": "coalesce(end_timestamp, '')", "keywords": "coalesce(keywords, '')"}
    columns = ", ".join(of_episodes.get(name, name) for name in _COLUMNS)
    with store_errors(conn):
        found = conn.execute(
            f"SELECT {columns} FROM memories LEFT JOIN"
            " (SELECT memory_id, end_timestamp, keywords FROM episodes) ON memory_id = id"
            " WHERE id > ? ORDER BY id LIMIT ?",
            (behind, count),
        )
        rows = [WholeRow(*_checked(values)) for values in found]
        old = _old_texts(conn, rows[0].id, rows[-1].id) if rows else {}
    return [row._replace(history=tuple(old[row.id])) if row.id in old else row for row in rows]


def _old_texts(conn: sqlite3.Connection, first: int, last: int) -> dict[int, list[OldText]]:
    """Return the old texts of the rows between two ids, oldest first."""
    cursor = conn.execute(
        "SELECT memory_id, content, written_at, superseded_at FROM versions"
        " WHERE memory_id BETWEEN ? AND ? ORDER BY memory_id, superseded_at, id",
        (first, last),
    )
    found: dict[int, list[OldText]] = {}
    for memory_id, *values in map(_checked_old, cursor):
        found.setdefault(memory_id, []).append(OldText(*values))
    return found
