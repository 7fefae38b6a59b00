"""Every change to the rows, each in one transaction.

`set_vectors` is internal maintenance: it fills in vectors for rows of every agent and changes
nothing that a caller can read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from cpersona_jit.errors import UsageError
from cpersona_jit.isolation import Axes, sql_predicate
from cpersona_jit.records import StoreOutcome, format_ref, parse_ref
from cpersona_jit.store.blocks import NewBlock, insert_blocks, insert_blocks_of
from cpersona_jit.store.database import write_transaction
from cpersona_jit.store.duplicates import (
    BatchDuplicates,
    content_twin,
    duplicate_content,
    stored_duplicates,
)
from cpersona_jit.store.models import check_vectors
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
    blocks: Sequence[Sequence[NewBlock]] | None = None,
    alongside: Callable[[list[StoreOutcome]], None] | None = None,
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
        Model of the vectors, also of those of blocks; required when there are any.
    now_us : int
        Creation time, UTC microseconds.
    dedup : bool
        False stores equal contents again; msg_id stays unique within its axes.
    blocks : sequence of sequence of NewBlock, length n, optional
        The blocks of each record; none for a record of one block.
    alongside : callable, optional
        Called with the outcomes before the transaction ends, to write in it too.

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
    parts: Sequence[Sequence[NewBlock]] = [()] * len(records) if blocks is None else blocks
    if not len(records) == len(vectors) == len(parts):
        raise UsageError(
            f"{len(records)} records but {len(vectors)} vectors and blocks of {len(parts)} records"
        )
    with write_transaction(conn) as revision:
        of_blocks = (block.vector for block in chain.from_iterable(parts))
        check_vectors(conn, chain(vectors, of_blocks), model_id)
        outcomes: list[StoreOutcome | None] = list(stored_duplicates(conn, records, dedup))
        seen = BatchDuplicates(dedup)
        twins: list[tuple[int, str, int]] = []  # position, reason, number of the new row it repeats
        new: list[int] = []
        for position, record in enumerate(records):
            if outcomes[position] is not None:
                continue
            twin = seen.find(record)
            if twin is not None:
                twins.append((position, *twin))
                continue
            seen.add(record)
            new.append(position)
        first = _insert(
            conn, [(records[at], vectors[at]) for at in new], model_id, now_us, revision
        )
        insert_blocks_of(conn, ((first + i, parts[at]) for i, at in enumerate(new)), model_id)
        for i, at in enumerate(new):
            warnings = records[at].warnings
            outcomes[at] = StoreOutcome("stored", format_ref(first + i), warnings=warnings)
        for at, reason, number in twins:
            outcomes[at] = seen.outcome(records[at], reason, number, first + number)
        if alongside is not None:
            alongside(outcomes)
        return outcomes


def _insert(
    conn: sqlite3.Connection,
    rows: Sequence[tuple[CleanRecord, bytes | None]],
    model_id: int | None,
    now_us: int,
    revision: int,
) -> int:
    """Insert rows and return the id of the first; inside one transaction the ids are in a row."""
    conn.executemany(
        _INSERT,
        [
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
            )
            for record, vector in rows
        ],
    )
    return conn.execute("SELECT last_insert_rowid()").fetchone()[0] - len(rows) + 1


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
    blocks: Sequence[NewBlock] = (),
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
        Model of `vector` and of the vectors of `blocks`.
    now_us : int
        Goes into ``updated_at``.
    blocks : sequence of NewBlock
        Those of the new content; they replace the old ones.

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
        check_vectors(conn, (vector, *(block.vector for block in blocks)), model_id)
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
        insert_blocks(conn, memory_id, blocks, model_id)  # a trigger dropped the old ones
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
        check_vectors(conn, vectors, model_id)
        for row, vector in zip(pending, vectors, strict=True):
            if vector is not None:
                done += conn.execute(
                    "UPDATE memories SET embedding = ?, model_id = ?, revision = ?"
                    " WHERE id = ? AND revision = ?",
                    (vector, model_id, revision, row.id, row.revision),
                ).rowcount
    return done
