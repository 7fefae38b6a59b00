"""Every change to the rows, each in one transaction.

`set_vectors` is internal maintenance: it fills in vectors for rows of every agent and changes
nothing that a caller can read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from cpersona_jit.errors import UsageError
from cpersona_jit.isolation import Axes, sql_predicate
from cpersona_jit.records import StoreOutcome, format_ref, parse_ref
from cpersona_jit.store.database import write_transaction
from cpersona_jit.store.duplicates import content_twin, duplicate_content, would_skip
from cpersona_jit.store.reads import PendingRow
from cpersona_jit.store.validate import CleanRecord, Rejection, check_content, content_hash

_INSERT = (
    "INSERT INTO memories (revision, created_at, agent_id, project_id, channel, msg_id,"
    " session_id, source_type, source_id, source_name, timestamp, event_time, content_hash,"
    " metadata, content, embedding, model_id)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def insert_batch(
    conn: sqlite3.Connection,
    records: Sequence[CleanRecord],
    vectors: Sequence[bytes | None],
    model_id: int | None,
    now_us: int,
    dedup: bool = True,
) -> list[StoreOutcome]:
    """Store records, all in one transaction; duplicates are skipped, also among themselves.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    records : sequence of CleanRecord, length n
        As `check_record` returned them.
    vectors : sequence of (bytes or None), length n
        Little-endian float32 of a unit vector; None = stored without one.
    model_id : int or None
        Model of the vectors; required when there are any.
    now_us : int
        Creation time, UTC microseconds.
    dedup : bool
        False stores equal contents again; msg_id stays unique within its axes.

    Returns
    -------
    list of StoreOutcome, length n
        ``stored`` or ``skipped``.

    Raises
    ------
    UsageError
        Vectors that do not fit the records or the model.
    StoreError
        Nothing of the batch was stored.
    """
    if len(records) != len(vectors):
        raise UsageError(f"{len(records)} records but {len(vectors)} vectors")
    with write_transaction(conn) as revision:
        _check_vectors(conn, vectors, model_id)
        return [
            _insert(conn, record, vector, model_id, now_us, dedup, revision)
            for record, vector in zip(records, vectors, strict=True)
        ]


def _insert(
    conn: sqlite3.Connection,
    record: CleanRecord,
    vector: bytes | None,
    model_id: int | None,
    now_us: int,
    dedup: bool,
    revision: int,
) -> StoreOutcome:
    duplicate = would_skip(conn, record, dedup)
    if duplicate is not None:
        return duplicate
    cursor = conn.execute(
        _INSERT,
        (
            revision,
            now_us,
            record.agent_id,
            record.project_id,
            record.channel,
            record.msg_id,
            record.session_id,
            record.source_type,
            record.source_id,
            record.source_name,
            record.timestamp,
            record.event_time,
            record.content_hash,
            record.metadata,
            record.content,
            vector,
            None if vector is None else model_id,
        ),
    )
    ref = format_ref(cursor.lastrowid or 0)
    return StoreOutcome("stored", ref, warnings=record.warnings)


def _check_vectors(
    conn: sqlite3.Connection, vectors: Iterable[bytes | None], model_id: int | None
) -> None:
    """Refuse vectors that are not the model's: they could never be compared."""
    sizes = {len(vector) for vector in vectors if vector is not None}
    if not sizes:
        return
    model = conn.execute("SELECT label, dim FROM models WHERE id = ?", (model_id,)).fetchone()
    if model is None:
        raise UsageError(f"model_id {model_id} is not a model that the store knows")
    label, dim = model
    if sizes != {4 * dim}:
        raise UsageError(
            f"model {label!r} has {dim} dimensions, so a vector takes {4 * dim} bytes; "
            f"got {sorted(sizes)}"
        )


def delete(
    conn: sqlite3.Connection, axes: Axes, refs: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Delete rows that `axes` admit.

    Returns
    -------
    deleted, missing : tuple of str
        `refs` in their order, each once; a foreign, unknown or malformed ref is missing.
    """
    wanted = tuple(dict.fromkeys(refs))
    predicate, params = sql_predicate(axes)
    deleted: list[str] = []
    with write_transaction(conn) as revision:
        for ref in wanted:
            memory_id = parse_ref(ref)
            if memory_id is None:
                continue
            gone = conn.execute(
                f"DELETE FROM memories WHERE id = ? AND {predicate}", (memory_id, *params)
            ).rowcount
            if gone:
                conn.execute(
                    "INSERT INTO deletions (id, revision) VALUES (?, ?)", (memory_id, revision)
                )
                deleted.append(ref)
    gone_refs = set(deleted)
    return tuple(deleted), tuple(ref for ref in wanted if ref not in gone_refs)


def update_content(
    conn: sqlite3.Connection,
    axes: Axes,
    ref: str,
    content: str,
    vector: bytes | None,
    model_id: int | None,
    now_us: int,
) -> StoreOutcome:
    """Replace the content of a row that `axes` admit; its times, names and ref stay.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    axes : Axes
        Whose rows may be changed.
    ref : str
        Of the row.
    content : str
        Under the same limits as in a new record.
    vector : bytes or None
        Of the new content; None = the row waits for one.
    model_id : int or None
        Model of `vector`.
    now_us : int
        Goes into ``updated_at``.

    Returns
    -------
    StoreOutcome
        ``stored``; ``skipped``: unchanged, duplicate_content (with the twin's ref); ``rejected``:
        not_found or a limit of the content.
    """
    checked = check_content(content)
    if isinstance(checked, Rejection):
        return checked.outcome
    memory_id = parse_ref(ref) or 0
    predicate, params = sql_predicate(axes)
    with write_transaction(conn) as revision:
        _check_vectors(conn, (vector,), model_id)
        found = conn.execute(
            "SELECT content, agent_id, project_id, channel, source_id, session_id, event_time,"
            f" timestamp FROM memories WHERE id = ? AND {predicate}",
            (memory_id, *params),
        ).fetchone()
        if found is None:
            return StoreOutcome("rejected", None, "not_found", f"no memory {ref!a} to update")
        if found[0] == content:
            return StoreOutcome("skipped", ref, "unchanged", f"{ref} holds this content already")
        twin = content_twin(conn, found[1:4], found[4:], content, besides=memory_id)
        if twin is not None:
            return duplicate_content(twin)
        conn.execute(
            "UPDATE memories SET content = ?, content_hash = ?, embedding = ?, model_id = ?,"
            f" updated_at = ?, revision = ? WHERE id = ? AND {predicate}",
            (
                content,
                content_hash(content),
                vector,
                None if vector is None else model_id,
                now_us,
                revision,
                memory_id,
                *params,
            ),
        )
    return StoreOutcome("stored", ref)


def set_vectors(
    conn: sqlite3.Connection,
    pending: Sequence[PendingRow],
    vectors: Sequence[bytes | None],
    model_id: int,
) -> int:
    """Give rows their vectors (internal maintenance), in one transaction.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    pending : sequence of PendingRow, length n
        As `rows_without_vector` returned them. A row that was changed or deleted since is left
        alone: the vector would be of its old text.
    vectors : sequence of (bytes or None), length n
        None leaves the row as it is.
    model_id : int
        Model of the vectors.

    Returns
    -------
    int
        Rows that have their vector now.
    """
    if len(pending) != len(vectors):
        raise UsageError(f"{len(pending)} rows but {len(vectors)} vectors")
    done = 0
    with write_transaction(conn) as revision:
        _check_vectors(conn, vectors, model_id)
        for row, vector in zip(pending, vectors, strict=True):
            if vector is not None:
                done += conn.execute(
                    "UPDATE memories SET embedding = ?, model_id = ?, revision = ?"
                    " WHERE id = ? AND revision = ?",
                    (vector, model_id, revision, row.id, row.revision),
                ).rowcount
    return done
