"""Many large transactions in a row."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from cpersona_jit.store.sqlite_errors import store_errors

# Hashes fall on any page of the index of duplicates: one that does not stay in memory is read
# and written again in every transaction (60 MB at a million rows).
_CACHE_KIB = 65_536
# The log holds such a page once per transaction; the fewer times it is copied into the file, the
# less is written. What a process that dies leaves in the log is there all the same.
_CHECKPOINT_PAGES = 8_000


def take_room(conn: sqlite3.Connection) -> dict[str, int]:
    """Give a connection more memory and a longer log; return what `give_back` needs."""
    with store_errors(conn):
        before = {
            name: conn.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("cache_size", "wal_autocheckpoint")
        }
        conn.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        conn.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    return before


def give_back(conn: sqlite3.Connection, before: dict[str, int]) -> None:
    """Undo `take_room`; it never fails, for it follows whatever else did."""
    with suppress(sqlite3.Error):
        for name, value in before.items():
            conn.execute(f"PRAGMA {name} = {value}")
        conn.execute("PRAGMA shrink_memory")
