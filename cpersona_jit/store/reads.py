"""Reading rows: for a caller, under the isolation predicate; for the columns, all of them.

`changed_rows`, `deleted_since` and `rows_without_vector` are internal maintenance: they see every
agent's rows and must never be an exit to a caller.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.isolation import Axes, sql_predicate
from cpersona_jit.records import Kind, Row, Source, format_ref
from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.stored_values import row_check, stored_keywords

# Far below SQLite's limit on parameters, and few enough statements to stay cached.
ID_BATCH = 500

CHANGED_COLUMNS = (
    "id",
    "agent_id",
    "project_id",
    "channel",
    "session_id",
    "source_type",
    "source_id",
    "source_name",
    "event_time",
    "created_at",
    "content",
    "keywords",
    "embedding",
    "model_id",
)

# Beside `memories`, without names that it has too: predicates need not say whose they mean.
_OF_EPISODES = (
    " LEFT JOIN (SELECT memory_id, end_time, end_timestamp, keywords FROM episodes)"
    " ON memory_id = id"
)

_ROW_COLUMNS = (
    *("id", "agent_id", "project_id", "channel", "msg_id", "content", "source_type", "source_id"),
    *("source_name", "session_id", "timestamp", "event_time", "created_at", "updated_at"),
    *("metadata", "model_id", "revision", "end_time", "end_timestamp", "keywords"),
)
_PENDING_COLUMNS = ("id", "revision", "source_name", "content", "keywords")

_checked_changed = row_check(CHANGED_COLUMNS)
_checked_row = row_check(_ROW_COLUMNS)
_checked_pending = row_check(_PENDING_COLUMNS)


class Counts(NamedTuple):
    """Rows within some axes, and how many of them have no vector of the model asked about."""

    rows: int
    without_vector: int


class PendingRow(NamedTuple):
    """A row that waits for a vector; its revision tells whether it changed meanwhile."""

    id: int
    revision: int
    source_name: str
    content: str
    keywords: tuple[str, ...] = ()

    @property
    def place(self) -> int:
        """Where to go on behind it."""
        return self.id


def fetch_rows(conn: sqlite3.Connection, axes: Axes, ids: Iterable[int]) -> dict[int, Row]:
    """Rows of `ids` that `axes` admit; a foreign or unknown id is simply absent.

    Returns
    -------
    dict of int to Row
        In the order of `ids`.
    """
    wanted = list(dict.fromkeys(ids))
    predicate, params = sql_predicate(axes)
    found: dict[int, Row] = {}
    with store_errors(conn):
        for start in range(0, len(wanted), ID_BATCH):
            batch = wanted[start : start + ID_BATCH]
            marks = ",".join("?" * len(batch))
            # By primary key: the planner would walk all rows of the agent in one of its indexes.
            query = (
                f"SELECT {_SELECTED_ROW} FROM memories NOT INDEXED{_OF_EPISODES}"
                f" WHERE id IN ({marks}) AND {predicate}"
            )
            for values in _read_texts(conn, query, (*batch, *params)):
                found[values[0]] = _row(_checked_row(values))
    return {memory_id: found[memory_id] for memory_id in wanted if memory_id in found}


def _read_texts(conn: sqlite3.Connection, query: str, params: tuple) -> list[tuple[Any, ...]]:
    """Read rows by SQLite's own decoder of texts; where it fails, by the one that hands on bytes.

    The latter is a call of Python for each text, which is a fourth of the time that rows take.
    """
    careful = conn.text_factory
    conn.text_factory = str
    try:
        return conn.execute(query, params).fetchall()
    except sqlite3.OperationalError as error:
        if not str(error).startswith("Could not decode"):
            raise
    finally:
        conn.text_factory = careful
    return conn.execute(query, params).fetchall()


def _selected(columns: Sequence[str]) -> str:
    """Columns of rows; what only an episode has is empty in a memory."""
    texts = ("end_timestamp", "keywords")
    return ", ".join(f"coalesce({name}, '')" if name in texts else name for name in columns)


_SELECTED_ROW = _selected(_ROW_COLUMNS)


def _row(values: tuple[Any, ...]) -> Row:
    memory_id, agent_id, project_id, channel, msg_id, content, *rest = values
    source_type, source_id, source_name, session_id, timestamp, event_time, *rest = rest
    created_at, updated_at, metadata, model_id, revision, end_time, end_timestamp, keywords = rest
    kind: Kind = "memory" if end_time is None else "episode"
    ref = format_ref(memory_id, kind)
    return Row(
        ref,
        memory_id,
        agent_id,
        project_id,
        channel,
        msg_id,
        content,
        Source(source_type, source_id, source_name),
        session_id,
        timestamp,
        event_time,
        created_at,
        updated_at,
        _metadata(ref, metadata),
        model_id,
        revision,
        kind,
        end_time,
        end_timestamp,
        stored_keywords(memory_id, keywords),
    )


def _metadata(ref: str, text: str) -> dict[str, Any]:
    if text == "{}":  # as nearly every row has it
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise CorruptStoreError(f"{ref}: its metadata is not a JSON object")
    return value


def counts(conn: sqlite3.Connection, axes: Axes, model_id: int | None = None) -> Counts:
    """Count the rows that `axes` admit, and those without a vector.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    axes : Axes
        Whose rows.
    model_id : int or None
        A vector of another model counts as none; None = any model's vector counts.
    """
    predicate, params = sql_predicate(axes)
    lacks = "model_id IS NULL" if model_id is None else "model_id IS NOT ?"
    with store_errors(conn):
        total, without = conn.execute(
            f"SELECT count(*), coalesce(sum({lacks}), 0) FROM memories WHERE {predicate}",
            (*(() if model_id is None else (model_id,)), *params),
        ).fetchone()
    return Counts(total, without)


def changed_rows(conn: sqlite3.Connection, since_generation: int) -> Iterator[tuple[Any, ...]]:
    """Rows written after a generation, of every agent (internal maintenance).

    By the generation that wrote them last, then by id: the order of a snapshot's positions.

    Read it inside ``read_snapshot`` together with `deleted_since` and ``generation``.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    since_generation : int
        0 = all rows.

    Yields
    ------
    tuple
        The columns of `CHANGED_COLUMNS`.
    """
    columns = _selected(CHANGED_COLUMNS)
    # The index has this order: nothing is sorted, neither texts nor vectors.
    some = since_generation > 0
    with store_errors(conn):
        cursor = conn.execute(
            f"SELECT {columns} FROM memories INDEXED BY memories_revision{_OF_EPISODES}"
            f" {'WHERE revision > ?' if some else ''} ORDER BY revision, id",
            (since_generation,) if some else (),
        )
        yield from map(_checked_changed, cursor)


def deleted_since(conn: sqlite3.Connection, since_generation: int) -> list[int]:
    """Ids of rows deleted after a generation, ascending (internal maintenance)."""
    with store_errors(conn):
        cursor = conn.execute(
            "SELECT id FROM deletions WHERE revision > ? ORDER BY id", (since_generation,)
        )
        return [memory_id for (memory_id,) in cursor]


def rows_without_vector(
    conn: sqlite3.Connection, model_id: int, after_id: int, limit: int
) -> list[PendingRow]:
    """Rows with an id above `after_id` that have no vector of the model (internal maintenance).

    Returns
    -------
    list of PendingRow
        By ascending id, at most `limit`: to resume, pass the last id again.
    """
    with store_errors(conn):
        others = conn.execute("SELECT id FROM models WHERE id <> ?", (model_id,)).fetchall()
        ids: list[int] = []
        for (stale,) in [(None,), *others]:
            # One probe of the model index per stale value instead of a scan of the table.
            cursor = conn.execute(
                "SELECT id FROM memories WHERE model_id IS ? AND id > ? ORDER BY id LIMIT ?",
                (stale, after_id, limit),
            )
            ids += [memory_id for (memory_id,) in cursor]
        pending: list[PendingRow] = []
        for memory_id in sorted(ids)[:limit]:
            row = conn.execute(
                f"SELECT {_selected(_PENDING_COLUMNS)} FROM memories{_OF_EPISODES} WHERE id = ?",
                (memory_id,),
            ).fetchone()
            if row:
                *values, keywords = _checked_pending(row)
                pending.append(PendingRow(*values, stored_keywords(memory_id, keywords)))
    return pending
