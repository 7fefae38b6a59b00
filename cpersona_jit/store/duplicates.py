"""Whether a record is stored already: it is then skipped, never merged and never overwritten.

Duplicates are looked for only in the place the record would be stored in (its agent, project and
channel, exactly): a copy in a wider scope belongs to other readers.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence

from cpersona_jit.isolation import home_predicate
from cpersona_jit.records import StoreOutcome, format_ref
from cpersona_jit.store.sqlite_errors import store_errors
from cpersona_jit.store.validate import CleanRecord, content_hash

# Far below SQLite's limit on parameters, and few enough statements to stay cached.
_PROBED_AT_ONCE = 500

# Whether a row of `memories` is an episode, in SQL.
IS_EPISODE = "EXISTS (SELECT 1 FROM episodes WHERE memory_id = id)"

Home = tuple[str, str, str]


def stored_duplicates(
    conn: sqlite3.Connection, records: Sequence[CleanRecord], dedup: bool = True
) -> list[StoreOutcome | None]:
    """As `would_skip`, for many records at once.

    One statement says for hundreds of records which ids and hashes occur in the store at all; only
    the records that have one of those are asked about one by one.
    """
    ids: dict[Home, set[object]] = defaultdict(set)
    hashes: dict[Home, set[object]] = defaultdict(set)
    for record in records:
        if record.msg_id:
            ids[home_of(record)].add(record.msg_id)
        if dedup:
            hashes[home_of(record)].add(record.content_hash)
    with store_errors(conn):
        known_ids = _occurring(conn, ids, "msg_id", "msg_id <> ''")
        known_hashes = _occurring(conn, hashes, "content_hash", "1")
    return [
        would_skip(conn, record, dedup)
        if record.msg_id in known_ids[home_of(record)]
        or record.content_hash in known_hashes[home_of(record)]
        else None
        for record in records
    ]


def home_of(record: CleanRecord) -> Home:
    """Return the place that a record would be stored in."""
    return record.agent_id, record.project_id, record.channel


def _occurring(
    conn: sqlite3.Connection, wanted: dict[Home, set[object]], column: str, condition: str
) -> dict[Home, set[object]]:
    """Return which of the values occur in the rows of each home."""
    found: dict[Home, set[object]] = defaultdict(set)
    for names, values in wanted.items():
        home, params = home_predicate(*names)
        remaining = list(values)
        for start in range(0, len(remaining), _PROBED_AT_ONCE):
            batch = remaining[start : start + _PROBED_AT_ONCE]
            marks = ",".join("?" * len(batch))
            rows = conn.execute(
                f"SELECT {column} FROM memories WHERE {home} AND {condition}"
                f" AND {column} IN ({marks})",
                (*params, *batch),
            )
            found[names].update(value for (value,) in rows)
    return found


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
                f"SELECT id, content = ?, {IS_EPISODE} FROM memories WHERE {home} AND msg_id = ?"
                " AND msg_id <> ''",
                (record.content, *params, record.msg_id),
            ).fetchone()
            if holder is not None:
                memory_id, same, is_episode = holder
                return duplicate_msg_id(record.msg_id, ref_of(memory_id, is_episode), same)
        if not dedup:
            return None
        twin = content_twin(
            conn,
            params,
            (record.source_id, record.session_id, record.event_time, record.timestamp),
            record.content,
            None if record.episode is None else record.episode.end_time,
        )
    return None if twin is None else duplicate_content(ref_of(twin, record.episode))


class BatchDuplicates:
    """The records of one batch so far, to tell whether a later one duplicates one of them.

    In the order of the batch: ask with `find` first, then `add` what is to be stored.
    """

    def __init__(self, dedup: bool) -> None:
        self._dedup = dedup
        self._records: list[CleanRecord] = []
        self._by_id: dict[tuple[str, ...], int] = {}
        self._by_content: dict[tuple[object, ...], int] = {}

    def find(self, record: CleanRecord) -> tuple[str, int] | None:
        """Return the reason and the number of the record added that this one duplicates."""
        if record.msg_id:
            holder = self._by_id.get((*home_of(record), record.msg_id))
            if holder is not None:
                return "duplicate_msg_id", holder
        twin = self._by_content.get(_told(record)) if self._dedup else None
        return None if twin is None else ("duplicate_content", twin)

    def add(self, record: CleanRecord) -> None:
        """Take the next record."""
        number = len(self._records)
        self._records.append(record)
        if record.msg_id:
            self._by_id[(*home_of(record), record.msg_id)] = number
        if self._dedup:
            self._by_content.setdefault(_told(record), number)

    def outcome(
        self, record: CleanRecord, reason: str, number: int, memory_id: int
    ) -> StoreOutcome:
        """Return the outcome of a record that duplicates one added, which got this id."""
        holder = self._records[number]
        ref = ref_of(memory_id, holder.episode)
        if reason == "duplicate_content":
            return duplicate_content(ref)
        return duplicate_msg_id(record.msg_id, ref, holder.content == record.content)


def _told(record: CleanRecord) -> tuple[object, ...]:
    """What `content_twin` compares."""
    undated = record.timestamp if record.event_time is None else None
    return (
        *home_of(record),
        record.source_id,
        record.session_id,
        record.event_time,
        undated,
        None if record.episode is None else record.episode.end_time,
        record.content,
    )


def ref_of(memory_id: int, episode: object) -> str:
    """Reference of a row; `episode` is true when it is one."""
    return format_ref(memory_id, "episode" if episode else "memory")


def duplicate_msg_id(msg_id: str, ref: str, same_content: int) -> StoreOutcome:
    """Outcome of a record whose msg_id a row holds already."""
    note = "" if same_content else ", with another content: use update to replace it"
    return StoreOutcome(
        "skipped", ref, "duplicate_msg_id", f"msg_id {msg_id!r} is held by {ref}{note}"
    )


def duplicate_content(ref: str) -> StoreOutcome:
    """Outcome of a record that says what a row says already."""
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
    end_time: int | None = None,
    besides: int = 0,
) -> int | None:
    """Id of the first row with the same home, origin and content, and the same end or none.

    A memory is no duplicate of an episode that says the same. Rows without an event time count as
    told at the same time only when their timestamps are written alike: two unreadable stamps may
    well mean two days.
    """
    source_id, session_id, event_time, timestamp = origin
    home, params = home_predicate(*home_names)
    found = conn.execute(
        f"SELECT id FROM memories WHERE {home} AND content_hash = ? AND content = ?"
        " AND source_id = ? AND session_id = ? AND event_time IS ?"
        " AND (event_time IS NOT NULL OR timestamp = ?) AND id <> ?"
        " AND (SELECT end_time FROM episodes WHERE memory_id = id) IS ? ORDER BY id LIMIT 1",
        (
            *params,
            content_hash(content),
            content,
            source_id,
            session_id,
            event_time,
            timestamp,
            besides,
            end_time,
        ),
    ).fetchone()
    return None if found is None else int(found[0])
