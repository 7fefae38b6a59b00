"""The structure of one item: its head, which claims it keeps, their order, roles and conflicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cpersona_jit.exits.reconstruct.bundle import home, identity
from cpersona_jit.exits.reconstruct.refs import mentions
from cpersona_jit.exits.reconstruct.relations import Member
from cpersona_jit.exits.reconstruct.stamps import lies_in

Role = tuple[str, str]  # (the ref towards which, the role): the claim <role> that ref


class Structured(NamedTuple):
    """An item.

    Attributes
    ----------
    retained : tuple of Member
        The head, then the others by relevance.
    omitted : int
        Claims beyond the bound.
    newest_first : tuple of Member
        The retained ones in the order of time and version.
    roles : dict of str to list of (str, str)
        By the ref of a claim; they point to retained claims only.
    conflicts : list of list of str
        Claims of one message and one time that say different things.
    """

    retained: tuple[Member, ...]
    omitted: int
    newest_first: tuple[Member, ...]
    roles: dict[str, list[Role]]
    conflicts: list[list[str]]


def structure(members: Sequence[Member], max_evidence: int) -> Structured:
    """Structure the members of one item, which come by relevance."""
    head = head_of(members)
    ordered = [head, *(member for member in members if member is not head)]
    retained = tuple(ordered[:max_evidence])
    newest_first = tuple(sorted(retained, key=_age(retained)))
    return Structured(
        retained,
        len(ordered) - len(retained),
        newest_first,
        roles_of(newest_first),
        _conflicts(newest_first),
    )


def head_of(members: Sequence[Member]) -> Member:
    """Return the most relevant row, or the newest version of it: the same message id and project.

    Only versions are newer than one another in meaning; of two turns of a talk the later one is
    just the one that was said last.
    """
    best = members[0]
    if identity(best.row) is None or best.row.event_time is None:
        return best
    versions = [m for m in members if _dated(m) and identity(m.row) == identity(best.row)]
    return max(versions, key=lambda m: m.row.event_time, default=best)  # the first of equals


def roles_of(members: Sequence[Member]) -> dict[str, list[Role]]:
    """Roles of claims towards one another; those that the rows declare come last."""
    roles: dict[str, dict[Role, None]] = defaultdict(dict)
    for newer, older in (*_message_versions(members), *_old_texts(members)):
        roles[newer.ref][older.ref, "supersedes"] = None
    whole = [member for member in members if member.version is None]
    refs = {member.ref for member in members}
    for member in whole:
        for other in whole:
            if _supports(member, other):
                roles[member.ref][other.ref, "supports"] = None
        for mention in mentions(member.row) if member.row.metadata else ():
            if mention.role and mention.ref in refs:
                roles[member.ref][mention.ref, mention.role] = None
    return {ref: list(listed) for ref, listed in roles.items()}


def _age(retained: Sequence[Member]):
    """Key of the order: newest first, undated last; texts of one row from the newest on."""
    relevance: dict[str, int] = {}
    for place, member in enumerate(retained):
        relevance.setdefault(member.row.ref, place)

    def key(member: Member) -> tuple:
        time = member.row.event_time
        return (
            time is None,
            -(time or 0),
            member.row.kind == "episode",
            relevance[member.row.ref],
            *_text_age(member),
        )

    return key


def _text_age(member: Member) -> tuple[int, int, int]:
    if member.version is None:
        return 0, 0, 0
    return 1, -member.version.superseded_at, -member.version.id


def _supports(member: Member, other: Member) -> bool:
    """Whether one is an episode and the other a memory of its time."""
    if other.row.kind != "episode" or member.row.kind != "memory":
        return False
    return home(other.row) == home(member.row) and lies_in(member.row, other.row)


def _dated(member: Member) -> bool:
    return member.version is None and member.row.event_time is not None


def _message_versions(members: Iterable[Member]) -> Iterator[tuple[Member, Member]]:
    """Pair rows of one message with those of the time before theirs."""
    for versions in _grouped(members, lambda member: identity(member.row)):
        at: dict[int, list[Member]] = defaultdict(list)
        for member in versions:
            at[member.row.event_time].append(member)
        times = sorted(at, reverse=True)
        for newer, older in pairwise(times):
            yield from ((one, other) for one in at[newer] for other in at[older])


def _old_texts(members: Sequence[Member]) -> Iterator[tuple[Member, Member]]:
    """Pair each text of a row with the one that it replaced."""
    texts: dict[str, list[Member]] = defaultdict(list)
    for member in members:
        texts[member.row.ref].append(member)
    for listed in texts.values():
        listed.sort(key=_text_age)
        yield from pairwise(listed)


def _conflicts(members: Sequence[Member]) -> list[list[str]]:
    groups = _grouped(
        members, lambda member: (key := identity(member.row)) and (key, member.row.event_time)
    )
    return [
        [member.ref for member in group]
        for group in groups
        if len({member.text for member in group}) > 1
    ]


def _grouped(members: Iterable[Member], key) -> list[list[Member]]:
    """Dated rows with an equal key, in groups of two or more."""
    groups: dict[Hashable, list[Member]] = defaultdict(list)
    for member in members:
        if _dated(member) and (value := key(member)) is not None:
            groups[value].append(member)
    return [group for group in groups.values() if len(group) > 1]
