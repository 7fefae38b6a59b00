"""``get_contents``: refs and spans in, whole texts or exact parts of them out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cpersona_jit.records import Row
from cpersona_jit.server.responses import (
    ContentRow,
    ContentsResponse,
    UnresolvedSpan,
    source_fields,
)

WHOLE = object()


@dataclass(frozen=True)
class Wanted:
    """One thing asked for: a ref, and `WHOLE` or whatever the caller gave as a span."""

    ref: str
    span: Any = WHOLE


def parse_wanted(items: Sequence[Any]) -> list[Wanted]:
    """Read the refs of a call; anything that is no ref stays as text that will be missing.

    Repeated items are asked for once.
    """
    wanted: dict[str, Wanted] = {}
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("ref"), str) and set(item) <= _KEYS:
            one = Wanted(item["ref"], item.get("span", WHOLE))
        else:
            one = Wanted(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False))
        wanted.setdefault(repr(one), one)
    return list(wanted.values())


_KEYS = {"ref", "span"}


def contents_response(wanted: Sequence[Wanted], rows: Iterable[Row]) -> ContentsResponse:
    """Shape the rows that were found, in the order asked for.

    Parameters
    ----------
    wanted : sequence of Wanted
        What the caller asked for.
    rows : iterable of Row
        The rows that exist and that the caller may see; every other ref is missing.
    """
    by_ref = {row.ref: row for row in rows}
    response: ContentsResponse = {"rows": [], "missing": []}
    unresolved: list[UnresolvedSpan] = []
    for one in wanted:
        row = by_ref.get(one.ref)
        if row is None:
            if one.ref not in response["missing"]:
                response["missing"].append(one.ref)
        elif one.span is WHOLE:
            response["rows"].append(_content_row(row, row.content))
        elif reason := _span_problem(one.span, len(row.content)):
            unresolved.append({"ref": one.ref, "span": one.span, "reason": reason})
        else:
            start, end = one.span
            part = _content_row(row, row.content[start:end])
            part["span"] = [start, end]
            part["content_len"] = len(row.content)
            response["rows"].append(part)
    if unresolved:
        response["unresolved"] = unresolved
    return response


def _span_problem(span: Any, length: int) -> Any:
    """Why `span` names no part of a text of `length` characters; None when it does."""
    if not (isinstance(span, list) and len(span) == 2 and all(type(end) is int for end in span)):
        return "invalid_span"
    start, end = span
    if not 0 <= start < end:
        return "invalid_span"
    return "span_out_of_range" if end > length else None


def _content_row(row: Row, content: str) -> ContentRow:
    shaped: ContentRow = {
        "ref": row.ref,
        "content": content,
        "source": source_fields(row.source),
        "timestamp": row.timestamp,
        "id": row.msg_id,
    }
    if row.session_id:
        shaped["session_id"] = row.session_id
    if row.metadata:
        shaped["metadata"] = row.metadata
    return shaped
