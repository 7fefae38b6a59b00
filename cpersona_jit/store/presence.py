"""Whether the files that a connection writes to are still those that its path names.

A file that is unlinked or replaced while it is open goes on taking writes without a complaint, and
all of them are gone when the last process closes it.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from cpersona_jit.errors import StoreError

Identity = tuple[int, int]


class StoreConnection(sqlite3.Connection):
    """A connection that remembers which files it has opened; see `remember_files`."""

    opened_files: tuple[tuple[str, Identity | None], ...] = ()


def identity(file: str | Path) -> Identity | None:
    """Device and number of the file that a path names; None when there is none."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def remember_files(
    conn: StoreConnection, file: Path, opened: Identity | None, *, writable: bool
) -> None:
    """Note what a connection has open, once it has begun its first transaction.

    Parameters
    ----------
    conn : StoreConnection
        The connection.
    file : Path
        The store.
    opened : (int, int) or None
        Identity of the store just before it was opened: one that is replaced meanwhile is noticed.
    writable : bool
        Whether there is a write-ahead log of ours; SQLite keeps it while anyone has the store open.
    """
    log = Path(f"{file}-wal")
    of_log = identity(log) if writable else None
    logs = ((log, of_log),) if of_log else ()  # a file system may refuse write-ahead logs
    # Their names as texts: they are looked at in every recall.
    conn.opened_files = tuple((os.fspath(path), known) for path, known in ((file, opened), *logs))


def refuse_replaced(conn: sqlite3.Connection) -> None:
    """Raise when the files are no longer there under their names.

    Raises
    ------
    StoreError
        A write that has been made would be lost, and one that is read may be out of date.
    """
    for file, opened in getattr(conn, "opened_files", ()):
        if identity(file) != opened:
            raise StoreError(
                f"{file}: was moved, removed or replaced while the store was open; "
                "nothing that is written now would last: open the store again"
            )
