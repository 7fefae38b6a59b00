"""SQLite's errors in the words of this package."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from cpersona_jit.errors import (
    CorruptStoreError,
    NotAStoreError,
    ReadOnlyStoreError,
    StoreBusyError,
    StoreError,
    StoreFullError,
)

# Primary result code (the low byte of an extended one) -> error class and what it means.
_BY_CODE: dict[int, tuple[type[StoreError], str]] = {
    # Our statements are fixed: one that SQLite cannot make sense of meets other tables.
    sqlite3.SQLITE_ERROR: (CorruptStoreError, "its tables are damaged"),
    sqlite3.SQLITE_FULL: (StoreFullError, "the disk or quota is full; nothing was changed"),
    sqlite3.SQLITE_READONLY: (ReadOnlyStoreError, "the file or its folder cannot be written"),
    sqlite3.SQLITE_PERM: (ReadOnlyStoreError, "permission denied"),
    sqlite3.SQLITE_BUSY: (StoreBusyError, "another process is writing for too long; try again"),
    sqlite3.SQLITE_LOCKED: (StoreBusyError, "the database is locked; try again"),
    sqlite3.SQLITE_CORRUPT: (CorruptStoreError, "the database is damaged"),
    sqlite3.SQLITE_NOTADB: (NotAStoreError, "this is not a SQLite database"),
    sqlite3.SQLITE_CANTOPEN: (StoreError, "the file, or its -wal or -shm file, cannot be opened"),
    sqlite3.SQLITE_IOERR: (StoreError, "the disk failed or refused; nothing was changed"),
}
# What a write meets when a quota, a file size limit or a full file system stops it half-way.
_NO_ROOM = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}


@contextmanager
def store_errors(path: object) -> Iterator[None]:
    """Turn the sqlite3 errors of the block into StoreError subclasses that name the file.

    Parameters
    ----------
    path : str, path or sqlite3.Connection
        The file, or a connection to it.

    Raises
    ------
    StoreError
        Or the subclass for SQLite's result code.
    """
    try:
        yield
    except UnicodeDecodeError:
        # Of a message that quotes a damaged schema.
        raise CorruptStoreError(f"{_name(path)}: the database is damaged") from None
    except sqlite3.Error as error:
        if str(error).startswith("Could not decode"):
            # It quotes the text, which may be another agent's.
            raise CorruptStoreError(f"{_name(path)}: a row holds text that is not UTF-8") from None
        raise _translated(error, _name(path)) from error


def _name(path: object) -> str:
    return database_path(path) if isinstance(path, sqlite3.Connection) else str(path)


def _translated(error: sqlite3.Error, name: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return StoreError(f"{name}: {error}")
    if code in _NO_ROOM:
        kind, meaning = _BY_CODE[sqlite3.SQLITE_FULL]
    else:
        kind, meaning = _BY_CODE.get(code & 0xFF, (StoreError, "SQLite failed"))
    return kind(f"{name}: {meaning} (SQLite: {' '.join(str(error).split())})")


def database_path(conn: sqlite3.Connection) -> str:
    """File of a connection, for messages."""
    try:
        return str(conn.execute("PRAGMA database_list").fetchone()[2])
    except sqlite3.Error:
        return "the store"
