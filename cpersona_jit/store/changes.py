"""Changing and deleting rows for a caller, each in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from cpersona_jit.isolation import Axes, sql_predicate
from cpersona_jit.records import OldText, StoreOutcome, parse_ref
from cpersona_jit.store.blocks import NewBlock, insert_blocks
from cpersona_jit.store.database import write_transaction
from cpersona_jit.store.duplicates import IS_EPISODE, content_twin, duplicate_content, ref_of
from cpersona_jit.store.models import check_vectors
from cpersona_jit.store.nodes import insert_nodes_of
from cpersona_jit.store.validate import Rejection, check_content, content_hash
from cpersona_jit.store.versions import delete_version, fetch_versions, insert_versions

_SHOWN_CHARS = 80  # of a reference in a complaint, which an agent pays for


def delete(
    conn: sqlite3.Connection, axes: Axes, refs: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Delete rows that `axes` admit, with all of their old texts; or one old text by its ref.

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
            is_this = f"id = ? AND {IS_EPISODE} = ? AND {predicate}"
            gone = conn.execute(
                f"DELETE FROM memories WHERE {is_this}", (memory_id, _is_episode(ref), *params)
            ).rowcount
            if gone:
                conn.execute(
                    "INSERT INTO deletions (id, revision) VALUES (?, ?)", (memory_id, revision)
                )
                deleted.append(ref)
            elif not _is_episode(ref) and delete_version(conn, axes, memory_id):
                deleted.append(ref)
    gone_refs = set(deleted)
    return tuple(deleted), tuple(ref for ref in wanted if ref not in gone_refs)


def _is_episode(ref: str) -> bool:
    return ref.startswith("ep:")


def update_content(
    conn: sqlite3.Connection,
    axes: Axes,
    ref: str,
    content: str,
    vector: bytes | None,
    model_id: int | None,
    now_us: int,
    blocks: Sequence[NewBlock] = (),
    nodes: Sequence[NewBlock] = (),
) -> StoreOutcome:
    """Replace the content of a row that `axes` admit; its times, names and ref stay.

    The text that it had is kept as a version, under a ref of its own.

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
        Model of `vector` and of the vectors of `blocks` and `nodes`.
    now_us : int
        Goes into ``updated_at``.
    blocks, nodes : sequence of NewBlock
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
        check_vectors(conn, (vector, *(part.vector for part in (*blocks, *nodes))), model_id)
        found = conn.execute(
            "SELECT content, coalesce(updated_at, created_at),"
            " (SELECT end_time FROM episodes WHERE memory_id = id), agent_id, project_id, channel,"
            " source_id, session_id, event_time, timestamp"
            f" FROM memories WHERE id = ? AND {IS_EPISODE} = ? AND {predicate}",
            (memory_id, _is_episode(str(ref)), *params),
        ).fetchone()
        if found is None:
            return _not_found(conn, axes, ref)
        before, written_at, end_time, *names = found
        if before == content:
            return StoreOutcome("skipped", ref, "unchanged", f"{ref} holds this content already")
        twin = content_twin(conn, tuple(names[:3]), tuple(names[3:]), content, end_time, memory_id)
        if twin is not None:
            return duplicate_content(ref_of(twin, end_time is not None))
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
        # Triggers dropped what was cut from the old text.
        insert_blocks(conn, memory_id, blocks, model_id)
        insert_nodes_of(conn, [(memory_id, nodes)], model_id)
        insert_versions(conn, [(memory_id, [OldText(before, written_at, now_us)])])
    return StoreOutcome("stored", ref, nodes=len(nodes))


def _not_found(conn: sqlite3.Connection, axes: Axes, ref: str) -> StoreOutcome:
    version_id = None if _is_episode(str(ref)) else parse_ref(ref)
    old = fetch_versions(conn, axes, [version_id] if version_id else []).get(version_id or 0)
    detail = (
        f"no memory {ascii(ref)[:_SHOWN_CHARS]} to update"
        if old is None
        else f"{ref} is an old text; update {old.memory_ref}, which holds the current one"
    )
    return StoreOutcome("rejected", None, "not_found", detail)
