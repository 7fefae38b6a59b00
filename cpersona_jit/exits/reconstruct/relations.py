"""Following the relations of an item's rows, a bounded number of steps.

A row that is reached goes to the first item that reaches it; candidates stay where the keys put
them, and no item is made. Without relations nothing happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cpersona_jit.exits.reconstruct.bundle import home
from cpersona_jit.exits.reconstruct.refs import Mention, mentions
from cpersona_jit.exits.reconstruct.sources import Related
from cpersona_jit.exits.reconstruct.stamps import lies_in
from cpersona_jit.records import Row, Version, parse_ref

IN_EPISODE, VERSION = "relation:episode", "version"


class Member(NamedTuple):
    """A row, or an old text of one, in an item.

    Attributes
    ----------
    row : Row
        The row; of an old text the one that says something else now.
    version : Version or None
        The old text.
    why : str
        What brought it here.
    rank : int or None
        Its rank as a candidate; None when a relation led to it.
    hops : int
        Steps from a candidate.
    """

    row: Row
    version: Version | None
    why: str
    rank: int | None
    hops: int

    @property
    def ref(self) -> str:
        """Public reference of the text."""
        return self.row.ref if self.version is None else self.version.ref

    @property
    def text(self) -> str:
        """The text."""
        return self.row.content if self.version is None else self.version.content


class Walked(NamedTuple):
    """What relations add to one item.

    Attributes
    ----------
    found : list of Member
        In the order in which they were reached.
    too_far : bool
        Whether a row was left out since it lies a step too far.
    full : bool
        Whether there are more references, or rows with references, than were looked at.
    """

    found: list[Member]
    too_far: bool
    full: bool


def walk(
    items: Sequence[Sequence[Member]],
    candidates: Iterable[str],
    related: Related,
    max_hops: int,
    max_evidence: int,
) -> list[Walked]:
    """Follow relations.

    Parameters
    ----------
    items : sequence of sequence of Member
        The candidates of each item, best first.
    candidates : iterable of str
        References of all candidates, of those without an item too: how many items are shown never
        changes what is in one.
    related : Related
        Where rows come from.
    max_hops : int
        Steps.
    max_evidence : int
        References that are looked up for an item in one step, and rows from which it goes on.

    Returns
    -------
    list of Walked
        One per item.
    """
    candidates = set(candidates)
    seen = [set(candidates) for _ in items]
    full = [max_hops > 0 and len(members) > max_evidence for members in items]
    frontiers = [list(members[:max_evidence]) for members in items]
    steps: list[list[list[Member]]] = []
    # One step more than allowed is looked up, so that a bound is only blamed for rows that are
    # there. Every step is read for all items at once; what one item finds is nothing to another.
    for hops in range(1, max_hops + 2):
        steps.append([])
        asked = [_asked(frontier, max_evidence) for frontier in frontiers]
        at_hand = _read(frontiers, [mentions for mentions, _ in asked], related, max_evidence)
        for item, (wanted, more) in enumerate(asked):
            full[item] |= more and hops <= max_hops
            found = _reached(frontiers[item], wanted, at_hand, hops, seen[item])
            steps[-1].append(found)
            full[item] |= len(found) > max_evidence and hops < max_hops
            frontiers[item] = found[:max_evidence]
    taken = set(candidates)
    kept: list[list[Member]] = []
    for item in range(len(items)):
        reached = [member for step in steps[:-1] for member in step[item]]
        kept.append([member for member in reached if member.ref not in taken])
        taken.update(member.ref for member in reached)
    return [
        Walked(found, any(far.ref not in taken for far in beyond), more)
        for found, beyond, more in zip(kept, steps[-1], full, strict=True)
    ]


class _AtHand(NamedTuple):
    rows: dict[int, Row]
    old_texts: dict[int, tuple[Row, Version]]  # by their own ids, with the row that had them
    episodes: dict[tuple[str, str, str], list[Row]]  # by home
    versions: dict[int, list[Version]]


def _asked(frontier: Sequence[Member], limit: int) -> tuple[dict[str, list[Mention]], bool]:
    """References of some rows by the row's own, `limit` different ones in all; are there more?"""
    asked: dict[str, list[Mention]] = {}
    different: set[str] = set()
    for member in frontier:
        if member.version is not None:
            continue
        for mention in mentions(member.row):
            if mention.ref not in different and len(different) >= limit:
                return asked, True
            different.add(mention.ref)
            asked.setdefault(member.ref, []).append(mention)
    return asked, False


def _read(
    frontiers: Sequence[Sequence[Member]],
    asked: Sequence[dict[str, list[Mention]]],
    related: Related,
    limit: int,
) -> _AtHand:
    """Read what all rows are related to; what has no relations costs no query."""
    rows = {m.row.ref: m.row for frontier in frontiers for m in frontier if m.version is None}
    ids = dict.fromkeys(
        parse_ref(mention.ref) or 0
        for mentions in asked
        for listed in mentions.values()
        for mention in listed
    )
    points = dict.fromkeys(
        (*home(row), row.event_time)
        for row in rows.values()
        if row.kind == "memory" and row.event_time is not None
    )
    changed = [row.id for row in rows.values() if row.updated_at is not None]
    episodes: dict[tuple[str, str, str], list[Row]] = {}
    for episode in related.episodes(list(points), limit * len(points)) if points else ():
        episodes.setdefault(home(episode), []).append(episode)
    referred = related.rows(list(ids)) if ids else {}
    return _AtHand(
        referred,
        _old_texts([i for i in ids if i not in referred], related),
        episodes,
        related.versions(changed) if changed else {},
    )


def _old_texts(ids: list[int], related: Related) -> dict[int, tuple[Row, Version]]:
    """Read the old texts among ids that are no row's, each with its row."""
    texts = related.old_texts(ids) if ids else {}
    rows = related.rows([parse_ref(v.memory_ref) or 0 for v in texts.values()]) if texts else {}
    row_of = {row.ref: row for row in rows.values()}
    return {
        i: (row_of[text.memory_ref], text) for i, text in texts.items() if text.memory_ref in row_of
    }


def _reached(
    frontier: Sequence[Member],
    asked: dict[str, list[Mention]],
    at_hand: _AtHand,
    hops: int,
    seen: set[str],
) -> list[Member]:
    """Rows one step from a frontier that the item has not seen, in the frontier's order."""
    found: list[Member] = []

    def add(row: Row, version: Version | None, why: str) -> None:
        member = Member(row, version, why, None, hops)
        if member.ref not in seen:
            seen.add(member.ref)
            found.append(member)

    for member in frontier:
        if member.version is not None:
            continue  # what an old text was related to is over
        row = member.row
        for version in at_hand.versions.get(row.id, ()):
            add(row, version, VERSION)
        for episode in at_hand.episodes.get(home(row), ()) if row.kind == "memory" else ():
            if lies_in(row, episode):
                add(episode, None, IN_EPISODE)
        for mention in asked.get(row.ref, ()):
            i = parse_ref(mention.ref) or 0
            # An id alone is not a reference: mem:5 names no episode.
            if i in at_hand.rows and at_hand.rows[i].ref == mention.ref:
                add(at_hand.rows[i], None, mention.why)
            elif i in at_hand.old_texts and at_hand.old_texts[i][1].ref == mention.ref:
                # Who refers to an old text is told what holds now, too.
                now, then = at_hand.old_texts[i]
                add(now, None, mention.why)
                add(now, then, mention.why)
    return found
