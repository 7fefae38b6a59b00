"""``get_contents``: refs and parts of them in, whole texts or exactly those parts out."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from cpersona_jit.config.defaults import DEFAULT_FULL_CONTENT_CHARS
from cpersona_jit.records import format_utc
from cpersona_jit.server.responses import (
    ContentRow,
    ContentsResponse,
    OldTextFields,
    UnresolvedPart,
    source_fields,
)

if TYPE_CHECKING:
    from cpersona_jit.records import Node, Row, Version
    from cpersona_jit.results import ContentsResult

Part = Literal["span", "node"]
_PARTS: tuple[Part, ...] = ("span", "node")


@dataclass(frozen=True)
class Wanted:
    """One thing asked for: a ref, and which part of it: none is the whole text.

    Attributes
    ----------
    ref : str
        As the caller gave it.
    part : {"span", "node"} or None
        What names the part.
    value : any
        Whatever the caller gave as the span or the number of the node.
    """

    ref: str
    part: Part | None = None
    value: Any = None


def parse_wanted(items: Sequence[Any]) -> list[Wanted]:
    """Read the refs of a call; anything that is no ref stays as text that will be missing.

    Repeated items are asked for once.
    """
    wanted: dict[str, Wanted] = {}
    for item in items:
        one = _wanted(item)
        wanted.setdefault(repr(one), one)
    return list(wanted.values())


def _wanted(item: Any) -> Wanted:
    if isinstance(item, str):
        return Wanted(item)
    if isinstance(item, dict) and isinstance(item.get("ref"), str):
        parts = set(item) - {"ref"}
        if not parts:
            return Wanted(item["ref"])
        for part in _PARTS:
            if parts == {part}:
                return Wanted(item["ref"], part, item[part])
    return Wanted(json.dumps(item, ensure_ascii=False))


def contents_response(
    wanted: Sequence[Wanted], found: ContentsResult, history_chars: int = DEFAULT_FULL_CONTENT_CHARS
) -> ContentsResponse:
    """Shape what was found, in the order asked for.

    Parameters
    ----------
    wanted : sequence of Wanted
        What the caller asked for.
    found : ContentsResult
        What exists and the caller may see; every other ref is missing.
    history_chars : int
        Most characters of earlier texts, over all rows. The newest of each row come first; from the
        first that does not fit on, those of a row are only counted.
    """
    by_ref = {row.ref: row for row in found.rows}
    response: ContentsResponse = {"rows": [], "missing": []}
    unresolved: list[UnresolvedPart] = []
    for one in wanted:
        row = by_ref.get(one.ref)
        if row is None:
            if one.ref not in response["missing"]:
                response["missing"].append(one.ref)
            continue
        part = _part(one, row, found.nodes.get(one.ref, ()))
        if isinstance(part, str):
            unresolved.append({"ref": one.ref, one.part: one.value, "reason": part})
            continue
        shaped = _content_row(row, *part, one)
        if one.ref in found.superseded:
            shaped["superseded_by"] = found.superseded[one.ref]
        if one.part is None and one.ref in found.history:
            history_chars -= _add_history(shaped, found.history[one.ref], history_chars)
        response["rows"].append(shaped)
    if unresolved:
        response["unresolved"] = unresolved
    return response


def _part(one: Wanted, row: Row, nodes: Sequence[Node]) -> tuple[int, int] | str:
    """Return the range of what is wanted, or the reason why there is none."""
    length = len(row.content)
    if one.part is None:
        return 0, length
    if one.part == "span":
        return _span_problem(one.value, length) or tuple(one.value)
    if type(one.value) is not int or one.value < 0:
        return "invalid_node"
    if not nodes:
        return "no_nodes"
    if one.value >= len(nodes):
        return "node_out_of_range"
    node = nodes[one.value]
    return (node.start, node.end) if node.end <= length else "not_current"


def _span_problem(span: Any, length: int) -> str:
    """Why `span` names no part of a text of `length` characters; empty when it does."""
    if not (isinstance(span, list) and len(span) == 2 and all(type(end) is int for end in span)):
        return "invalid_span"
    start, end = span
    if not 0 <= start < end:
        return "invalid_span"
    return "span_out_of_range" if end > length else ""


def _content_row(row: Row, start: int, end: int, one: Wanted) -> ContentRow:
    shaped: ContentRow = {
        "ref": row.ref,
        "content": row.content[start:end],
        "source": source_fields(row.source),
        "timestamp": row.timestamp,
        "id": row.msg_id,
    }
    if row.kind == "episode":
        shaped["end"] = row.end_timestamp
        shaped["keywords"] = list(row.keywords)
    if row.session_id:
        shaped["session_id"] = row.session_id
    if row.metadata:
        shaped["metadata"] = row.metadata
    if one.part == "node":
        shaped["node"] = one.value
    if one.part is not None:
        shaped["span"] = [start, end]
        shaped["content_len"] = len(row.content)
    return shaped


def _add_history(shaped: ContentRow, texts: Sequence[Version], most_chars: int) -> int:
    """Add the earlier texts that fit; return their characters."""
    upto = list(accumulate(len(text.content) for text in texts))
    kept = bisect_right(upto, most_chars)
    shaped["history"] = [_old_text(text) for text in texts[:kept]]
    if kept < len(texts):
        shaped["history_omitted"] = len(texts) - kept
    return upto[kept - 1] if kept else 0


def _old_text(version: Version) -> OldTextFields:
    return {
        "ref": version.ref,
        "content": version.content,
        "written_at": format_utc(version.written_at),
        "superseded_at": format_utc(version.superseded_at),
    }
