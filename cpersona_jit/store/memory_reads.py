"""Reading whole rows of every agent, for a copy of the store in another format.

The owner of the file sees every row here; it must never be an exit to an agent.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.stored_values import row_check


class WholeRow(NamedTuple):
    """A row as it is stored: the arguments of `store`, its vector and the vector's model."""

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
    embedding: bytes | None
    model_id: int | None


_checked = row_check(WholeRow._fields)


def whole_rows(conn: sqlite3.Connection, behind: int, count: int) -> list[WholeRow]:
    """Return up to `count` rows with an id above `behind`, by ascending id."""
    columns = ", ".join(WholeRow._fields)
    with store_errors(conn):
        found = conn.execute(
            f"SELECT {columns} FROM memories WHERE id > ? ORDER BY id LIMIT ?", (behind, count)
        )
        return [WholeRow(*_checked(values)) for values in found]
