"""Episodes: rows that sum up a span of time. What they have beyond a memory stands here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cpersona_jit.isolation import Axes, home_predicate, sql_predicate
from cpersona_jit.records import Point, Row
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.sqlite_errors import store_errors


class NewEpisode(NamedTuple):
    """What is kept of an episode beside its row."""

    memory_id: int
    start_time: int
    end_time: int
    agent_id: str
    project_id: str
    channel: str
    end_timestamp: str
    keywords: str  # a JSON list


def insert(conn: sqlite3.Connection, episodes: Iterable[NewEpisode]) -> None:
    """Write them inside the transaction that stores their rows."""
    conn.executemany(
        f"INSERT INTO episodes ({', '.join(NewEpisode._fields)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        list(episodes),
    )


def episodes_containing(
    conn: sqlite3.Connection, axes: Axes, points: Sequence[Point], limit: int
) -> list[Row]:
    """Episodes whose span holds one of the points, both of its ends inside.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    axes : Axes
        Whose rows may be seen.
    points : sequence of (agent_id, project_id, channel, event_time)
        Each is contained only by episodes of exactly its agent, project and channel; an event time
        of None is in none.
    limit : int
        Episodes to return at most.

    Returns
    -------
    list of Row
        Each once; the one that began last comes first, then by ascending id.
    """
    predicate, params = sql_predicate(axes)
    starts: dict[int, int] = {}
    with store_errors(conn):
        for *names, moment in dict.fromkeys(points):
            if moment is None:
                continue
            home, home_params = home_predicate(*names)
            starts.update(
                conn.execute(
                    f"SELECT memory_id, start_time FROM episodes WHERE {home} AND {predicate}"
                    " AND start_time <= ? AND end_time >= ?"
                    " ORDER BY start_time DESC, memory_id LIMIT ?",
                    (*home_params, *params, moment, moment, max(limit, 0)),
                ).fetchall()
            )
    best = sorted(starts, key=lambda memory_id: (-starts[memory_id], memory_id))[: max(limit, 0)]
    return list(fetch_rows(conn, axes, best).values())


def episode_ids(conn: sqlite3.Connection) -> frozenset[int]:
    """Ids of all episodes of every agent (internal maintenance)."""
    with store_errors(conn):
        return frozenset(i for (i,) in conn.execute("SELECT memory_id FROM episodes"))
