"""Opening a store for this version of the package."""

from __future__ import annotations

import os
import sqlite3

from cpersona_jit.store.blocks import adopt_splitter
from cpersona_jit.store.database import is_read_only, open_database
from cpersona_jit.text.blocks import SPLITTER_VERSION, WHOLE_CHARS


def open_store(path: str | os.PathLike[str], *, create: bool = True) -> sqlite3.Connection:
    """Open a store and note which of its rows today's splitter has not seen.

    Parameters and errors as in :func:`cpersona_jit.store.database.open_database`. A file that
    cannot be written is left as it is.
    """
    conn = open_database(path, create=create)
    try:
        if not is_read_only(conn):
            adopt_splitter(conn, SPLITTER_VERSION, WHOLE_CHARS)
    except BaseException:
        conn.close()
        raise
    return conn
