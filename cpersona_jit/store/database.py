"""Opening the one SQLite file, and the transactions over it.

A connection is in autocommit mode and may be used from any thread, one at a time: the caller holds
a lock around each call of this package. Other processes may read and write the same file.

Read-only files
---------------
A file that cannot be written, or whose folder cannot (SQLite keeps its ``-wal`` and ``-shm`` files
there), is opened for reading; every write then raises ReadOnlyStoreError. SQLite needs the
``-shm`` file to follow a write-ahead log. When it may not create one there are two cases. Without a
log beside the file everything is in the file itself: it is read as it is (``immutable``), and
what another process writes later is seen only after opening it again. With a log beside it,
committed rows are in the log: reading the file alone would lose them, so opening is refused with a
message that says so.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cpersona_jit.errors import (
    CorruptStoreError,
    NotAStoreError,
    ReadOnlyStoreError,
    StoreNotFoundError,
)
from cpersona_jit.store.files import create_empty, is_present, resolve
from cpersona_jit.store.presence import (
    StoreConnection,
    identity,
    refuse_replaced,
    remember_files,
)
from cpersona_jit.store.schema import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    migrate,
    missing_parts,
    refuse_newer,
    schema_version,
)
from cpersona_jit.store.sqlite_errors import database_path, store_errors
from cpersona_jit.store.stored_values import stored_text

BUSY_TIMEOUT_MS = 5000
# Of new files. A row with a vector of 512 numbers takes more than half a page of SQLite's own 4,096
# bytes: then only one fits (measured: 4.2 KB a row instead of 2.4, and stored half as fast).
PAGE_SIZE = 16_384


def open_database(path: str | os.PathLike[str], *, create: bool = True) -> sqlite3.Connection:
    """Open a store, creating it or moving its schema forward when needed.

    Parameters
    ----------
    path : str or path
        The SQLite file. A new file is readable by its owner only (0600), new folders likewise.
    create : bool
        Make a new store when there is no file, or an empty one.

    Returns
    -------
    sqlite3.Connection
        Autocommit, usable from several threads under the caller's lock.

    Raises
    ------
    StoreNotFoundError
        No file, and `create` is false.
    NotAStoreError
        A folder, a file that is not SQLite, or another program's database (left untouched).
    NewerSchemaError
        Written by a newer version of the package (left untouched).
    CorruptStoreError, ReadOnlyStoreError, StoreFullError, StoreBusyError, StoreError
        As their names say.
    """
    file = resolve(path)
    if not is_present(file):
        if not create:
            raise StoreNotFoundError(f"{file}: there is no such file")
        create_empty(file)
    writable = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
    with store_errors(file):
        opened = identity(file)
        conn = _connect(file, "rw") if writable else _connect_read_only(file)
        try:
            _prepare(conn, file, create=create, writable=writable)
            remember_files(conn, file, opened, writable=writable)
        except BaseException:
            conn.close()
            raise
    return conn


def _connect(file: Path, options: str) -> StoreConnection:
    conn = sqlite3.connect(
        f"file:{quote(os.fspath(file))}?mode={options}",
        uri=True,
        timeout=BUSY_TIMEOUT_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        factory=StoreConnection,
    )
    conn.text_factory = stored_text
    conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    return conn


def _connect_read_only(file: Path) -> StoreConnection:
    conn = _connect(file, "ro")
    try:
        conn.execute("PRAGMA query_only = ON")
        schema_version(conn)
        return conn
    except sqlite3.OperationalError as error:
        conn.close()
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    if _has_log(file):
        raise ReadOnlyStoreError(
            f"{file}: its newest rows are in {file.name}-wal, which cannot be read without "
            "writing to the folder: open it once where the folder can be written"
        )
    conn = _connect(file, "ro&immutable=1")
    conn.execute("PRAGMA query_only = ON")
    return conn


def _has_log(file: Path) -> bool:
    try:
        return Path(f"{file}-wal").stat().st_size > 0
    except OSError:
        return False


def _prepare(conn: sqlite3.Connection, file: Path, *, create: bool, writable: bool) -> None:
    """Identify the file before anything is written to it, then bring it to the newest schema."""
    _identify(conn, file, create=create and writable)
    refuse_newer(schema_version(conn))
    if writable:
        conn.execute(f"PRAGMA page_size = {PAGE_SIZE}")  # a file that has pages keeps its own
        _use_write_ahead_log(conn)
        conn.execute("PRAGMA synchronous = NORMAL")
        migrate(conn)
    elif schema_version(conn) < SCHEMA_VERSION:
        raise ReadOnlyStoreError(
            f"{file}: has schema version {schema_version(conn)} and must be moved to "
            f"{SCHEMA_VERSION}, but it cannot be written"
        )
    missing = missing_parts(conn)
    if missing:
        shown = ", ".join(missing[:3]) + (" ..." if len(missing) > 3 else "")
        raise CorruptStoreError(f"{file}: its tables are damaged (missing: {shown})")
    meta_number(conn, "generation")


def _identify(conn: sqlite3.Connection, file: Path, *, create: bool) -> None:
    # In one snapshot: another process may be turning the empty file into a store right now.
    with read_snapshot(conn):
        objects = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application_id = conn.execute("PRAGMA application_id").fetchone()[0]
        version = schema_version(conn)
    if application_id == APPLICATION_ID:
        return
    if application_id or objects or version:
        raise NotAStoreError(
            f"{file}: this is another program's SQLite database, not a store of cpersona_jit"
        )
    if not create:
        raise NotAStoreError(f"{file}: this is an empty file, not a store of cpersona_jit")


def _use_write_ahead_log(conn: sqlite3.Connection) -> None:
    """Switch to WAL; several processes may create the file at once, so one may have to wait.

    SQLite does not run its busy handler for this switch, hence the loop.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            if conn.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                conn.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def is_read_only(conn: sqlite3.Connection) -> bool:
    """Whether the store was opened for reading because the file cannot be written."""
    return bool(conn.execute("PRAGMA query_only").fetchone()[0])


def generation(conn: sqlite3.Connection) -> int:
    """Number of write transactions that changed the store so far, by any process."""
    with store_errors(conn):
        return meta_number(conn, "generation")


def meta_number(conn: sqlite3.Connection, column: str) -> int:
    """Read a number of the store itself.

    Raises
    ------
    CorruptStoreError
        The row of ``meta`` is gone, or holds something else.
    """
    return checked_number(conn, column, conn.execute(f"SELECT {column} FROM meta").fetchone())


def checked_number(conn: sqlite3.Connection, column: str, found: Sequence[Any] | None) -> int:
    """Return the first value of what was read of ``meta``, as `meta_number` does."""
    value = found[0] if found else None
    if not isinstance(value, int) or not 0 <= value < 2**62:
        raise CorruptStoreError(
            f"{database_path(conn)}: {column} of its meta row is not a number from 0; "
            "the store is damaged"
        )
    return value


@contextmanager
def read_snapshot(conn: sqlite3.Connection) -> Iterator[None]:
    """One view of the store for several reads, whatever other processes write meanwhile."""
    with store_errors(conn):
        conn.execute("BEGIN")
        try:
            yield
        finally:
            _roll_back(conn)


@contextmanager
def write_transaction(conn: sqlite3.Connection) -> Iterator[int]:
    """Run a write: all of the block or nothing, alone among all processes.

    Yields
    ------
    int
        The revision that every changed row and every tombstone must carry. It becomes the store's
        generation when the block changed anything; otherwise the generation stays as it is.

    Raises
    ------
    StoreError
        Or a subclass; the store is as it was before.
    """
    with store_errors(conn):
        conn.execute("BEGIN IMMEDIATE")
        try:
            refuse_replaced(conn)
            # A newer version of the package may have moved the file on since it was opened.
            refuse_newer(schema_version(conn))
            revision = generation(conn) + 1
            changes = conn.total_changes
            yield revision
            if conn.total_changes != changes:
                conn.execute("UPDATE meta SET generation = ?", (revision,))
                conn.execute("COMMIT")
                # Nothing is acknowledged that went into a file which is not there any more.
                refuse_replaced(conn)
        finally:
            _roll_back(conn)


def _roll_back(conn: sqlite3.Connection) -> None:
    """End whatever transaction is still open; SQLite has ended it already after a full disk."""
    if conn.in_transaction:
        with suppress(sqlite3.Error):
            conn.execute("ROLLBACK")
