"""References that a stored row declares in its metadata or quotes in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from cpersona_jit.records import Row, parse_ref

ROLES = (
    "supports",
    "supersedes",
    "corrects",
    "qualifies",
    "contradicts",
    "temporal_predecessor",
)

# No part of a longer word, path, number or range; Japanese puts no space around a reference.
_QUOTED = re.compile(
    r"(?<![A-Za-z0-9_/-])(?:mem|ep):[1-9][0-9]{0,18}(?![A-Za-z0-9_/]|[-.:][A-Za-z0-9])"
)


class Mention(NamedTuple):
    """A reference in a row."""

    ref: str
    why: str  # relation:metadata or relation:quoted_id
    role: str  # of the row towards what it names; empty when it declares none


def mentions(row: Row) -> list[Mention]:
    """References of a row in order, declared ones first, each once; never to itself."""
    found: dict[str, Mention] = {}
    for ref, role in _declared(row.metadata, ""):
        known = found.get(ref)
        if known is None or (role and not known.role):
            found[ref] = Mention(ref, "relation:metadata", role)
    if "mem:" in row.content or "ep:" in row.content:
        for match in _QUOTED.finditer(row.content):
            found.setdefault(match[0], Mention(match[0], "relation:quoted_id", ""))
    found.pop(row.ref, None)
    return [mention for ref, mention in found.items() if parse_ref(ref) is not None]


def _declared(value: Any, role: str) -> Iterator[tuple[str, str]]:
    """Yield references and their roles; the nearest key above that is a role declares it."""
    if isinstance(value, str):
        if _QUOTED.fullmatch(value):
            yield value, role
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from _declared(below, key if key in ROLES else role)
    elif isinstance(value, list):
        for below in value:
            yield from _declared(below, role)
