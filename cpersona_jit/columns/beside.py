"""The file of columns beside a store: whether it can be used, and putting a new one there."""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from cpersona_jit.columns.claim import PATIENCE, claimed, sync_folder
from cpersona_jit.columns.rows import Model
from cpersona_jit.columns.saved import read_columns, refuse_other, write_columns
from cpersona_jit.columns.sections import UnusableFileError, read_sections
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.errors import StoreBusyError, StoreError
from cpersona_jit.store.database import generation, is_read_only
from cpersona_jit.store.derived import alone, columns_token, publish_columns

_log = logging.getLogger("cpersona_jit.columns")

NO_USE = "the file is of no use"


class FileBeside:
    """The file of one store.

    Parameters
    ----------
    store : str
        The SQLite file, links followed.

    Attributes
    ----------
    note : str
        Why the file that was found could not be used, or no file could be written; else empty.
    """

    def __init__(self, store: str) -> None:
        self.path = f"{store}-columns"
        self.note = ""
        self._unfinished = f"{self.path}.tmp"

    def read(self, conn: sqlite3.Connection, model: Model) -> Columns | None:
        """Return the snapshot that the file holds; None when it is of no use, said in the log.

        The caller holds the lock of `conn`.
        """
        self._remove_unfinished()
        try:
            return self._read(conn, model)
        except UnusableFileError as error:
            self.note = f"the file that was found is of no use: {error}"
        except OSError as error:
            self.note = f"the file cannot be read ({error.strerror or error})"
        except StoreBusyError as error:  # another process writes for long: it may be the file
            self.note = f"whose file it is cannot be told ({error})"
        _log.warning("%s: %s; the columns are made again from the store", self.path, self.note)
        return None

    def _read(self, conn: sqlite3.Connection, model: Model) -> Columns | None:
        try:
            return read_columns(self.path, columns_token(conn), generation(conn), model)
        except FileNotFoundError:
            return None
        except UnusableFileError:
            if is_read_only(conn):
                raise
            # Another process may be putting a file there: wait for it, and look once more.
            with alone(conn):
                return read_columns(self.path, columns_token(conn), generation(conn), model)

    def _remove_unfinished(self) -> None:
        """Remove what a process left behind that was killed; while one is writing it stays."""
        with suppress(OSError):
            if os.path.isfile(self._unfinished):
                with claimed(self._unfinished):
                    pass

    def about(self, conn: sqlite3.Connection) -> dict[str, Any] | None:
        """Return what the file says about itself, if it is this store's; the arrays are unread."""
        try:
            about = read_sections(self.path, check=False).about
        except (UnusableFileError, OSError):
            return None
        return about if about.get("token") == columns_token(conn) else None

    def write(
        self, conn: sqlite3.Connection, lock: AbstractContextManager, columns: Columns
    ) -> bool:
        """Write a snapshot whose rows are all indexed; return whether there is a new file now.

        Takes `lock` around every use of `conn`, and never while the arrays are written.
        """
        with lock:
            if is_read_only(conn):
                self.note = "no file is written: the store is open for reading only"
                return False
        token = secrets.token_hex(16)
        try:
            with claimed(self._unfinished, PATIENCE) as file:
                if file is None:  # another process is at it
                    return False
                write_columns(file, columns, token)
                with lock:
                    publish_columns(conn, token, lambda: os.replace(self._unfinished, self.path))
            sync_folder(self.path)
        except (OSError, StoreError) as error:
            self.note = f"no file could be written ({getattr(error, 'strerror', None) or error})"
            _log.warning("%s: %s; the columns stay in memory", self.path, self.note)
            return False
        self.note = ""
        return True

    def named_by(self, conn: sqlite3.Connection) -> tuple[str, int]:
        """Return the file that the store names, and its generation, while nobody puts one there.

        The caller holds the lock of `conn`.
        """
        with suppress(StoreBusyError), nullcontext() if is_read_only(conn) else alone(conn):
            return columns_token(conn), generation(conn)
        return columns_token(conn), generation(conn)

    def state(self, token: str, now: int, model: Model) -> str:
        """Return what there is to say about the file, in words.

        Parameters
        ----------
        token, now : str, int
            The name of the file that the store knows, and the store's generation.
        model : Model
            The model in use.
        """
        try:
            about = read_sections(self.path).about
            refuse_other(about, token, now, model)
        except FileNotFoundError:
            return self.note or "no file yet: a large store gets one at its first recall"
        except UnusableFileError as error:
            return f"{NO_USE} and will be made again: {error}"
        except OSError as error:
            return f"the file cannot be read ({error.strerror or error})"
        size = os.stat(self.path).st_size / 1e6
        told = f"file of {size:.1f} MB in order, {now - about['generation']} writes behind"
        return f"{told}; {self.note}" if self.note else told
