"""Storing rows and filling in their vectors, each in one transaction.

`set_vectors` is internal maintenance: it fills in vectors for rows of every agent and changes
nothing that a caller can read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import chain

from cpersona_jit.errors import UsageError
from cpersona_jit.records import StoreOutcome
from cpersona_jit.store.blocks import NewBlock, insert_blocks_of
from cpersona_jit.store.database import write_transaction
from cpersona_jit.store.duplicates import (
    BatchDuplicates,
    ref_of,
    stored_duplicates,
)
from cpersona_jit.store.episodes import NewEpisode
from cpersona_jit.store.episodes import insert as insert_episodes
from cpersona_jit.store.models import check_vectors
from cpersona_jit.store.nodes import insert_nodes_of
from cpersona_jit.store.reads import PendingRow
from cpersona_jit.store.validate import CleanRecord
from cpersona_jit.store.versions import insert_versions

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
    nodes: Sequence[Sequence[NewBlock]] | None = None,
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
    nodes : sequence of sequence of NewBlock, length n, optional
        The overflow nodes of each record; none for one that fits the model's window.

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
    chains: Sequence[Sequence[NewBlock]] = [()] * len(records) if nodes is None else nodes
    if not len(records) == len(vectors) == len(parts) == len(chains):
        raise UsageError(
            f"{len(records)} records but {len(vectors)} vectors, blocks of {len(parts)} and nodes "
            f"of {len(chains)} records"
        )
    with write_transaction(conn) as revision:
        of_blocks = (block.vector for block in chain.from_iterable((*parts, *chains)))
        check_vectors(conn, chain(vectors, of_blocks), model_id)
        outcomes: list[StoreOutcome | None] = list(stored_duplicates(conn, records, dedup))
        seen = BatchDuplicates(dedup)
        twins: list[tuple[int, str, int]] = []  # position, reason, number of the new row it repeats
        new: list[int] = []
        for position, record in enumerate(records):
            known, twin = outcomes[position], seen.find(record)
            # As one by one: whoever holds the msg_id comes before whoever says the same.
            by_id = twin is not None and twin[0] == "duplicate_msg_id"
            if known is not None and not (known.reason == "duplicate_content" and by_id):
                continue
            if twin is not None:
                twins.append((position, *twin))
                continue
            seen.add(record)
            new.append(position)
        first = _insert(
            conn, [(records[at], vectors[at]) for at in new], model_id, now_us, revision
        )
        insert_blocks_of(conn, ((first + i, parts[at]) for i, at in enumerate(new)), model_id)
        insert_nodes_of(conn, ((first + i, chains[at]) for i, at in enumerate(new)), model_id)
        _insert_more(conn, [(first + i, records[at]) for i, at in enumerate(new)])
        for i, at in enumerate(new):
            outcomes[at] = StoreOutcome(
                "stored",
                ref_of(first + i, records[at].episode),
                warnings=records[at].warnings,
                nodes=len(chains[at]),
            )
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


def _insert_more(conn: sqlite3.Connection, rows: Sequence[tuple[int, CleanRecord]]) -> None:
    """Insert what episodes have beyond memories, and the old texts of imported rows."""
    episodes = [
        NewEpisode(
            memory_id,
            r.event_time,
            r.episode.end_time,
            r.agent_id,
            r.project_id,
            r.channel,
            r.episode.end_timestamp,
            r.episode.keywords,
        )
        for memory_id, r in rows
        if r.episode is not None
    ]
    if episodes:
        insert_episodes(conn, episodes)
    insert_versions(conn, [(memory_id, r.history) for memory_id, r in rows if r.history])


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
