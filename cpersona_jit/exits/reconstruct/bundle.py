"""Bundling: candidates that a key proves to be one memory become one cluster.

The keys, in their order: the same message id; the same episode; adjacent times; a declared
relation with a role. A key that is not known proves nothing. Blocks and overflow nodes belong to
their row, so that an overflow chain is one candidate to begin with; the same source is a condition
of adjacency and no key of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cpersona_jit.exits.reconstruct.refs import mentions
from cpersona_jit.exits.reconstruct.stamps import is_date_only, span_of
from cpersona_jit.records import Row

MSG_ID, EPISODE, ADJACENT = "cluster:msg_id", "cluster:episode", "cluster:adjacent"
DECLARED = "relation:metadata"
KEYS = (MSG_ID, EPISODE, ADJACENT, DECLARED)


class Cluster(NamedTuple):
    """Candidates that are one memory.

    Attributes
    ----------
    members : tuple of int
        Their places among the candidates, best first.
    why : dict of int to str
        The first key that binds each member but the best to another one.
    """

    members: tuple[int, ...]
    why: dict[int, str]


def bundle(rows: Sequence[Row], adjacency_us: int, *, declared: bool) -> list[Cluster]:
    """Cluster candidates.

    Parameters
    ----------
    rows : sequence of Row
        The candidates, best first.
    adjacency_us : int
        Microseconds within which a whole adjacent group lies.
    declared : bool
        Whether relations are followed at all; a bound of 0 hops says no.

    Returns
    -------
    list of Cluster
        By their best member.
    """
    parent = list(range(len(rows)))
    why: dict[int, str] = {}
    for key, group in _groups(rows, adjacency_us, declared):
        for place in group:
            why.setdefault(place, key)
            _unite(parent, group[0], place)
    members = defaultdict(list)
    for place in range(len(rows)):
        members[_root(parent, place)].append(place)
    return [
        Cluster(tuple(places), {place: why[place] for place in places[1:]})
        for places in members.values()
    ]


def identity(row: Row) -> Hashable | None:
    """What versions of one message share; None where nothing is known."""
    return (row.agent_id, row.project_id, row.kind, row.msg_id) if row.msg_id else None


def _groups(
    rows: Sequence[Row], adjacency_us: int, declared: bool
) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the groups of two or more that a key proves, keys in their order."""
    for group in _shared(rows, range(len(rows)), identity):
        yield MSG_ID, group
    yield from ((EPISODE, group) for group in _episodes(rows))
    yield from ((ADJACENT, group) for group in _adjacent(rows, adjacency_us))
    if declared:
        yield from ((DECLARED, group) for group in _declared(rows))


def _shared(rows: Sequence[Row], places: Iterable[int], key) -> list[list[int]]:
    """Return the places of rows with an equal key, in groups of two or more."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place in places:
        value = key(rows[place])
        if value is not None:
            groups[value].append(place)
    return [group for group in groups.values() if len(group) > 1]


def _episodes(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Pair each memory with the shortest episode of its home that its time lies in.

    The shortest: what happened on a day of a long journey belongs to the day, and a long episode
    does not draw the shorter ones together.
    """
    episodes = defaultdict(list)
    memories = []
    for place, row in enumerate(rows):
        span = span_of(row)
        if span is not None and row.kind == "episode":
            episodes[home(row)].append((span[1] - span[0], row.id, place, *span))
        elif span is not None:
            memories.append((place, home(row), *span))
    for listed in episodes.values():
        listed.sort()
    for place, where, first, last in memories:
        for _, _, episode, start, end in episodes.get(where, ()):
            if start <= first and last <= end:
                yield episode, place
                break


def home(row: Row) -> tuple[str, str, str]:
    """Where a row was stored: time proves nothing across homes."""
    return row.agent_id, row.project_id, row.channel


def _adjacent(rows: Sequence[Row], adjacency_us: int) -> Iterator[list[int]]:
    """Group memories that one source said within the window, counted from the first of them."""
    timed = [
        place
        for place, row in enumerate(rows)
        if row.kind == "memory" and row.event_time is not None and not is_date_only(row.timestamp)
    ]
    # A stamp that several rows of a session share is the session's, and tells no row's own time.
    shared = {place for group in _shared(rows, timed, _stamp) for place in group}
    timed = [place for place in timed if place not in shared and rows[place].source.id]
    for group in _shared(rows, timed, _speaker):
        group.sort(key=lambda place: (rows[place].event_time, rows[place].id))
        near: list[int] = []
        for place in group:
            if near and rows[place].event_time - rows[near[0]].event_time > adjacency_us:
                if len(near) > 1:
                    yield near
                near = []
            near.append(place)
        if len(near) > 1:
            yield near


def _speaker(row: Row) -> Hashable:
    return *home(row), row.session_id, row.source.type, row.source.id


def _stamp(row: Row) -> Hashable:
    speaker = ("", "") if row.session_id else (row.source.type, row.source.id)
    return *home(row), row.session_id, *speaker, row.event_time


def _declared(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Pair candidates of which one declares its role towards the other: both in one item."""
    place_of = {(row.agent_id, row.ref): place for place, row in enumerate(rows)}
    for place, row in enumerate(rows):
        for mention in mentions(row) if row.metadata else ():
            other = place_of.get((row.agent_id, mention.ref))
            if mention.role and other is not None:
                yield place, other


def _unite(parent: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(parent, one), _root(parent, other)))
    parent[second] = first  # the best member is the root


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place
