"""Which file of columns beside a store is its own.

The columns are made from the store and may be deleted at any time. A file of them is used only if
the store names it: a store that was put back from a backup, or another one at the same place, names
another file or none, whatever generation it has reached.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cpersona_jit.store.presence import refuse_replaced
from cpersona_jit.store.schema import refuse_newer, schema_version
from cpersona_jit.store.sqlite_errors import store_errors


def columns_token(conn: sqlite3.Connection) -> str:
    """Return the name of the file of columns that belongs to the store; empty without one."""
    with store_errors(conn):
        found = conn.execute("SELECT columns_token FROM meta").fetchone()
    return found[0] if found and isinstance(found[0], str) else ""


def publish_columns(conn: sqlite3.Connection, token: str, publish: Callable[[], None]) -> None:
    """Put a file of columns in its place and name it in the store, alone among all processes.

    The generation stays: no row changed. After a crash between the two steps the store names
    another file than the one that is there, which is then not used.

    Parameters
    ----------
    conn : sqlite3.Connection
        The store that the columns were read from; the caller holds its lock.
    token : str
        Name of the file, as it stands in the file itself.
    publish : callable
        Puts the file in its place.

    Raises
    ------
    StoreError
        The store names the file that it named before.
    """
    with alone(conn):
        refuse_replaced(conn)
        refuse_newer(schema_version(conn))
        publish()
        conn.execute("UPDATE meta SET columns_token = ?", (token,))
        conn.execute("COMMIT")


@contextmanager
def alone(conn: sqlite3.Connection) -> Iterator[None]:
    """Act while no other process writes to the store; what is not committed is undone."""
    with store_errors(conn):
        conn.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            if conn.in_transaction:
                conn.execute("ROLLBACK")
