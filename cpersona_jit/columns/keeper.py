"""Who keeps the snapshot of a store: in step with it, compact, and in a file for the next time."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from cpersona_jit.columns.beside import FileBeside
from cpersona_jit.columns.compact import folded
from cpersona_jit.columns.postings import GramKernels
from cpersona_jit.columns.refresh import refreshed_columns
from cpersona_jit.columns.rows import Model
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.store.database import generation
from cpersona_jit.store.derived import columns_token

# Below this many rows a snapshot is made sooner than a file of it is read.
FILE_ROWS = 1024


class Keeper:
    """Keeps the newest snapshot of one store, and the file of it.

    Parameters
    ----------
    store : str
        The SQLite file, links followed.
    lock : context manager
        The lock of the store's connection. Whoever calls `refreshed` holds it.

    Attributes
    ----------
    columns : Columns or None
        The newest snapshot.
    file : FileBeside
        The file of an earlier one.
    file_rows : int
        Rows from which on there is a file.
    """

    def __init__(self, store: str, lock: AbstractContextManager) -> None:
        self.file = FileBeside(store)
        self.columns: Columns | None = None
        self._lock = lock
        self.file_rows = FILE_ROWS
        self._has_file = False
        self._worker: threading.Thread | None = None

    def refreshed(self, conn: sqlite3.Connection, model: Model, kernels: GramKernels) -> Columns:
        """Return the snapshot of the store as it is now; the caller holds the lock."""
        if self.columns is None:
            self.columns = self.file.read(conn, model)
            self._has_file = self.columns is not None
        known = self.columns
        columns = refreshed_columns(conn, known, model, kernels)
        if columns is not known:
            self.columns = columns = folded(columns, kernels)
            if columns.fingerprint != model.fingerprint:
                self._has_file = False
        self._work(conn)
        return columns

    def last_model(self, conn: sqlite3.Connection) -> tuple[str, bool]:
        """Return the model of the last snapshot, of an earlier process if need be.

        Its fingerprint, empty without one, and whether its vectors are centred.
        """
        if self.columns is not None:
            return self.columns.fingerprint, self.columns.centres is not None
        about = self.file.about(conn)
        return (about["fingerprint"], about["centred"]) if about else ("", False)

    def state(self, conn: sqlite3.Connection, model: Model) -> Callable[[], str]:
        """Return what tells, in words, how the file is; the caller holds the lock only for this."""
        token, now = columns_token(conn), generation(conn)
        return partial(self.file.state, token, now, model)

    def close(self) -> None:
        """Wait for a file that is being written. Call it without the lock."""
        worker = self._worker
        if worker is not None:
            worker.join()
        self.columns = None

    def _work(self, conn: sqlite3.Connection) -> None:
        columns, worker = self.columns, self._worker
        if self._has_file or columns.n < self.file_rows or (worker and worker.is_alive()):
            return
        about = None if columns.dim else self.file.about(conn)
        if about and about["dim"]:  # lexical only, for now: the file with vectors is worth more
            return
        self._has_file = True  # not again, whatever comes of it
        self._worker = threading.Thread(
            target=self.file.write, args=(conn, self._lock, columns), name="cpersona-jit columns"
        )
        self._worker.start()
