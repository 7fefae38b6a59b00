"""Whether a record is stored already: it is then skipped, never merged and never overwritten.

Duplicates are looked for only in the place the record would be stored in (its agent, project and
channel, exactly): a copy in a wider scope belongs to other readers.
"""

from __future__ import annotations

import sqlite3

from cpersona_jit.isolation import home_predicate
from cpersona_jit.records import StoreOutcome, format_ref
from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.validate import CleanRecord, content_hash


def would_skip(
    conn: sqlite3.Connection, record: CleanRecord, dedup: bool = True
) -> StoreOutcome | None:
    """Outcome of a record that duplicates a stored row, or None when it is new.

    Asked before embedding it saves the embedding; `insert_batch` asks again under the lock.
    """
    home, params = home_predicate(record.agent_id, record.project_id, record.channel)
    with store_errors(conn):
        if record.msg_id:
            holder = conn.execute(
                f"SELECT id, content = ? FROM memories WHERE {home} AND msg_id = ?"
                " AND msg_id <> ''",
                (record.content, *params, record.msg_id),
            ).fetchone()
            if holder is not None:
                return _duplicate_msg_id(record.msg_id, *holder)
        if not dedup:
            return None
        twin = content_twin(
            conn,
            params,
            (record.source_id, record.session_id, record.event_time, record.timestamp),
            record.content,
        )
    return None if twin is None else duplicate_content(twin)


def _duplicate_msg_id(msg_id: str, memory_id: int, same_content: int) -> StoreOutcome:
    ref = format_ref(memory_id)
    note = "" if same_content else ", with another content: use update to replace it"
    return StoreOutcome(
        "skipped", ref, "duplicate_msg_id", f"msg_id {msg_id!r} is held by {ref}{note}"
    )


def duplicate_content(memory_id: int) -> StoreOutcome:
    """Outcome of a record that says what a row says already."""
    ref = format_ref(memory_id)
    return StoreOutcome(
        "skipped",
        ref,
        "duplicate_content",
        f"{ref} holds this content, from the same source.id, session_id and time",
    )


def content_twin(
    conn: sqlite3.Connection,
    home_names: tuple[str, ...],
    origin: tuple[str, str, int | None, str],
    content: str,
    besides: int = 0,
) -> int | None:
    """Id of the first row with the same home, origin and content.

    Rows without an event time count as told at the same time only when their timestamps are
    written alike: two unreadable stamps may well mean two days.
    """
    source_id, session_id, event_time, timestamp = origin
    home, params = home_predicate(*home_names)
    found = conn.execute(
        f"SELECT id FROM memories WHERE {home} AND content_hash = ? AND content = ?"
        " AND source_id = ? AND session_id = ? AND event_time IS ?"
        " AND (event_time IS NOT NULL OR timestamp = ?) AND id <> ? ORDER BY id LIMIT 1",
        (
            *params,
            content_hash(content),
            content,
            source_id,
            session_id,
            event_time,
            timestamp,
            besides,
        ),
    ).fetchone()
    return None if found is None else int(found[0])
