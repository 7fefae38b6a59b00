"""How far the import of a file has come, kept in the store that it goes into.

The state is written in the transaction of the batch that it counts, so that whatever ends a run,
the next one goes on exactly behind the last row that is there.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.store.sqlite_errors import database_path, store_errors


def import_state(conn: sqlite3.Connection, key: str) -> dict[str, Any] | None:
    """Return what `keep_import_state` was given last under this key, or None."""
    with store_errors(conn):
        found = conn.execute("SELECT state FROM imports WHERE key = ?", (key,)).fetchone()
    if found is None:
        return None
    try:
        state = json.loads(found[0])
    except (TypeError, ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise CorruptStoreError(
            f"{database_path(conn)}: the progress of an import is not JSON; the store is damaged"
        )
    return state


def keep_import_state(conn: sqlite3.Connection, key: str, state: dict[str, Any]) -> None:
    """Write the state of an import, inside the caller's transaction.

    Parameters
    ----------
    conn : sqlite3.Connection
        In the transaction that stores the rows which the state counts.
    key : str
        Stands for the file and for how it is read.
    state : dict
        A JSON object.
    """
    conn.execute(
        "INSERT INTO imports (key, state) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET state = excluded.state",
        (key, json.dumps(state, separators=(",", ":"))),
    )
