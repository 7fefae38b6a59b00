"""Who keeps the snapshot of a store: in step with it, compact, and in a file for the next time."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from cpersona_jit.columns.beside import NO_USE, FileBeside
from cpersona_jit.columns.compact import folded, rebased, tail_of, without_gone
from cpersona_jit.columns.postings import GramKernels
from cpersona_jit.columns.refresh import refreshed_columns
from cpersona_jit.columns.rows import Model
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.store.database import generation
from cpersona_jit.store.derived import columns_token

_log = logging.getLogger("cpersona_jit.columns")


class Limits(NamedTuple):
    """When a snapshot is made compact, and when it gets a file."""

    tail_rows: int = 1024  # rows, or blocks, that recall reads gram by gram
    tail_postings: int = 1 << 18  # their grams
    gone_rows: int = 64  # so many at least,
    gone_share: int = 8  # and more than an eighth
    file_rows: int = 1024  # below this a snapshot is made sooner than a file of it is read


class _Made(NamedTuple):
    """What the worker made: of which snapshot, and whether places moved."""

    source: Columns
    result: Columns
    moved: bool


class Keeper:
    """Keeps the newest snapshot of one store, and the file of it.

    A worker folds the tail into the indexes, drops rows that are gone, and writes the file, while
    recalls go on with the snapshot that is there. What it made is taken over by the next refresh.

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
    limits : Limits
        When there is something to do.
    """

    def __init__(self, store: str, lock: AbstractContextManager) -> None:
        self.file = FileBeside(store)
        self.columns: Columns | None = None
        self.limits = Limits()
        self._lock = lock
        self._has_file = False  # or there is no point in trying
        self._worker: threading.Thread | None = None
        self._made: _Made | None = None
        self._failed = False

    def refreshed(
        self, conn: sqlite3.Connection, model: Model, kernels: GramKernels, now: int | None = None
    ) -> Columns:
        """Return the snapshot of the store as it is now; the caller holds the lock.

        Where it has just read the store's generation, under the same lock, `now` is that.
        """
        if self.columns is None:
            now = None  # the file may be newer by now
            self.columns = self.file.read(conn, model)
            self._has_file = self.columns is not None
        known = self._take_over()
        self.columns = refreshed_columns(conn, known, model, kernels, now)
        if known is not None and self.columns.fingerprint != known.fingerprint:
            self._has_file = False
        self._start(conn, kernels)
        return self.columns

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
        known = columns_token(conn), generation(conn)

        def told() -> str:
            said = self.file.state(*known, model)
            if not said.startswith(NO_USE):
                return said
            # Somebody may be putting a new file there, whose name was not known yet.
            with self._lock:
                fresh = self.file.named_by(conn)
            return self.file.state(*fresh, model)

        return told

    def wait(self) -> None:
        """Wait until the worker is done. Call it without the lock."""
        worker = self._worker
        if worker is not None:
            worker.join()

    def close(self) -> None:
        """Wait for what is being written. Call it without the lock."""
        self.wait()
        self.columns = self._made = None

    def _take_over(self) -> Columns | None:
        """Return the newest snapshot, with what the worker made of an older one."""
        made, latest = self._made, self.columns
        if made is None:
            return latest
        self._made = None  # the worker is done with it: nobody else writes here now
        if latest is None or latest._buffers is not made.source._buffers:
            return latest
        # Where places moved, the rows that came meanwhile are read from the store once more.
        return made.result if made.moved else rebased(latest, made.result)

    def _start(self, conn: sqlite3.Connection, kernels: GramKernels) -> None:
        if self._failed or (self._worker is not None and self._worker.is_alive()):
            return
        columns = self.columns
        gone, limits = columns.n - columns.alive.count, self.limits
        moved = gone >= limits.gone_rows and gone * limits.gone_share > columns.n
        rows, postings = tail_of(columns)
        compacts = moved or rows > limits.tail_rows or postings > limits.tail_postings
        writes = columns.n >= limits.file_rows and (compacts or not self._has_file)
        if writes and not columns.dim:
            about = self.file.about(conn)
            # Lexical only, for now: a file with vectors is worth more than one without.
            writes = about is None or not about["dim"]
        self._has_file = self._has_file or writes
        if compacts or writes:
            self._worker = threading.Thread(
                target=self._work,
                args=(conn, columns, moved, writes, kernels),
                name="cpersona-jit columns",
            )
            self._worker.start()

    def _work(
        self,
        conn: sqlite3.Connection,
        columns: Columns,
        moved: bool,
        writes: bool,
        kernels: GramKernels,
    ) -> None:
        try:
            result = (without_gone if moved else folded)(columns, kernels)
            self._made = _Made(columns, result, moved)
            if writes:
                self.file.write(conn, self._lock, result)
        except Exception:  # recalls go on with what is there
            self._failed = True
            self.file.note = "the columns could not be made compact, see the log"
            _log.exception("%s: %s", self.file.path, self.file.note)
