"""The answers of the tools: their shapes, and how they are made from the library's results.

A field that has nothing to say is left out, so that what an agent reads stays short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired

# pydantic reads the typing module's TypedDict only from Python 3.12 on.
from typing_extensions import TypedDict

from cpersona_jit.exits.period import Period, period_fields

if TYPE_CHECKING:
    from cpersona_jit.records import Source, StoreOutcome
    from cpersona_jit.results import RecallResult


class SourceFields(TypedDict, total=False):
    """Who or what said a memory; only the parts that are known."""

    type: str
    id: str
    name: str


class StoreResponse(TypedDict):
    """What became of a memory that was to be stored."""

    result: Literal["stored", "skipped", "rejected"]
    ref: NotRequired[str]
    reason: NotRequired[str]
    detail: NotRequired[str]
    warnings: NotRequired[list[str]]
    nodes: NotRequired[int]


class RecalledRow(TypedDict):
    """One row of a recall."""

    ref: str
    content: str
    content_truncated: NotRequired[bool]
    content_len: NotRequired[int]
    excerpt: NotRequired[str]
    excerpt_basis: NotRequired[Literal["blocks", "lexical", "start"]]
    source: SourceFields
    timestamp: str
    id: str
    session_id: NotRequired[str]
    confidence: float
    admission: NotRequired[Literal["reservation", "time_cue"]]


class EchoedEntry(TypedDict):
    """An entry of the conversation that the caller passed in."""

    role: str
    content: str
    content_truncated: NotRequired[bool]
    content_len: NotRequired[int]
    name: NotRequired[str]
    timestamp: NotRequired[str]


class RecallResponse(TypedDict):
    """Rows of a recall, best first."""

    rows: list[RecalledRow]
    order: Literal["best_first"]
    full_content_budget_chars: NotRequired[int]
    period: NotRequired[Period]
    degraded: NotRequired[list[str]]


class RecallWithContextResponse(TypedDict):
    """Rows of a recall and the entries of a conversation, oldest first."""

    rows: list[RecalledRow | EchoedEntry]
    order: Literal["chronological"]
    full_content_budget_chars: NotRequired[int]
    period: NotRequired[Period]
    degraded: NotRequired[list[str]]


class OldTextFields(TypedDict):
    """A text that a memory had before it was updated."""

    ref: str
    content: str
    written_at: str
    superseded_at: str


class ContentRow(TypedDict):
    """One memory, or the part of it that was asked for."""

    ref: str
    content: str
    node: NotRequired[int]
    span: NotRequired[list[int]]
    content_len: NotRequired[int]
    source: SourceFields
    timestamp: str
    id: str
    session_id: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    end: NotRequired[str]
    keywords: NotRequired[list[str]]
    superseded_by: NotRequired[str]
    history: NotRequired[list[OldTextFields]]
    history_omitted: NotRequired[int]


class UnresolvedPart(TypedDict):
    """A part that could not be returned exactly."""

    ref: str
    span: NotRequired[Any]
    node: NotRequired[Any]
    reason: Literal[
        "invalid_span",
        "span_out_of_range",
        "invalid_node",
        "no_nodes",
        "not_current",
        "node_out_of_range",
    ]


class ContentsResponse(TypedDict):
    """Whole memories by ref."""

    rows: list[ContentRow]
    missing: list[str]
    unresolved: NotRequired[list[UnresolvedPart]]


def store_response(outcome: StoreOutcome) -> StoreResponse:
    """Shape the outcome of one store."""
    response: StoreResponse = {"result": outcome.status}
    if outcome.ref:
        response["ref"] = outcome.ref
    if outcome.reason:
        response["reason"] = outcome.reason
    if outcome.detail:
        response["detail"] = outcome.detail
    if outcome.warnings:
        response["warnings"] = list(outcome.warnings)
    if outcome.nodes:
        response["nodes"] = outcome.nodes
    return response


def recall_notes(result: RecallResult) -> dict[str, Any]:
    """Return what a recall says besides its rows."""
    notes: dict[str, Any] = {}
    if result.period is not None:
        notes["period"] = period_fields(result.period)
    if result.degraded:
        notes["degraded"] = list(result.degraded)
    return notes


def source_fields(source: Source | None) -> SourceFields:
    """Return the non-empty parts of a source."""
    if source is None:
        return {}
    parts: SourceFields = {}
    if source.type:
        parts["type"] = source.type
    if source.id:
        parts["id"] = source.id
    if source.name:
        parts["name"] = source.name
    return parts
