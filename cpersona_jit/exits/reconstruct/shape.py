"""The response: its shape, as JSON, and what is left out of it when there is nothing to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired

# pydantic reads the typing module's TypedDict only from Python 3.12 on.
from typing_extensions import TypedDict

from cpersona_jit.exits.period import Period
from cpersona_jit.exits.quote import Quote
from cpersona_jit.exits.reconstruct.bundle import KEYS
from cpersona_jit.exits.reconstruct.claims import Structured
from cpersona_jit.exits.reconstruct.parts import NodeView, QuotedNode
from cpersona_jit.exits.reconstruct.relations import Member
from cpersona_jit.exits.reconstruct.window import Window
from cpersona_jit.records import format_utc


class RoleOf(TypedDict):
    """What the claim is towards another one: the claim ``role`` that ``ref``."""

    ref: str
    role: str


class Claim(TypedDict):
    """A stored row, or an old text of one."""

    ref: str
    as_of: NotRequired[str]
    superseded_at: NotRequired[str]
    why: NotRequired[str]
    roles: NotRequired[list[RoleOf]]


class Excerpt(TypedDict):
    """A quote of a claim that is not the head."""

    ref: str
    content: str


class Item(TypedDict):
    """A memory, put together from stored rows."""

    content: str
    head_ref: str
    ranges: list[list[int]]
    content_len: NotRequired[int]
    quote_basis: NotRequired[Literal["whole", "blocks", "lexical", "start"]]
    node: NotRequired[QuotedNode]
    node_order: NotRequired[list[int]]
    node_unavailable: NotRequired[Literal["no_nodes", "not_current"]]
    expand: NotRequired[list[Any]]
    excerpts: NotRequired[list[Excerpt]]
    excerpts_omitted: NotRequired[int]
    claims: list[Claim]
    claims_omitted: NotRequired[int]
    conflicts: NotRequired[list[list[str]]]
    independence_reason: NotRequired[str]
    admission: NotRequired[Literal["reservation", "time_cue"]]


class WindowPolicy(TypedDict):
    """Why a count or a budget is another one than asked for."""

    source: Literal["forced", "requested", "default"]
    clamped: bool
    reason: str


class BoundsReport(TypedDict):
    """The bounds of a call: those that left rows out, and those that were only reached."""

    top_k: int
    max_hops: int
    max_evidence: int
    effective_top_k: NotRequired[int]
    omitted: NotRequired[list[str]]
    reached: NotRequired[list[str]]


class Account(TypedDict, total=False):
    """How the items came about."""

    policy_version: str
    candidates: int
    clusters: int
    selected: int
    excluded_without_provenance: int


class Reconstruction(TypedDict):
    """The answer of reconstruct."""

    items: list[Item]
    effective_count: int
    returned_count: int
    shortfall_reason: NotRequired[str]
    reserved_count: NotRequired[int]
    reserved_omitted: NotRequired[int]
    requested_count: NotRequired[int]
    count_policy: NotRequired[WindowPolicy]
    effective_budget: NotRequired[int]
    used_budget: NotRequired[int]
    requested_budget: NotRequired[int]
    budget_policy: NotRequired[WindowPolicy]
    bounds: NotRequired[BoundsReport]
    quote_selection: NotRequired[Literal["lexical_only"]]
    reconstruction: NotRequired[Account]
    candidate_refs: NotRequired[list[str]]
    clusters: NotRequired[list[list[str]]]
    period: NotRequired[Period]
    degraded: NotRequired[list[str]]


def item_shape(
    item: Structured,
    quotes: Sequence[Quote],
    admission: str,
    nodes: NodeView | None,
    trace: bool,
) -> Item:
    """Shape an item.

    Parameters
    ----------
    item : Structured
        The item.
    quotes : sequence of Quote
        Of its retained claims from the head on, as many as the budget carries.
    admission : str
        The kind of its seat; empty in the window.
    nodes : NodeView or None
        The head's nodes, where its quote is cut.
    trace : bool
        Also what is the default.
    """
    head, content = item.retained[0], quotes[0]
    shaped: Item = {
        "content": content.content,
        "head_ref": head.ref,
        "ranges": [list(part) for part in content.ranges],
        "claims": [_claim(member, item, trace) for member in item.newest_first],
    }
    if content.basis != "whole" or trace:
        shaped["content_len"] = len(head.text)
    if trace:
        shaped["quote_basis"] = content.basis
    if nodes is not None:
        shaped |= nodes.fields(head.ref, trace)
    told = zip(item.retained[1:], quotes[1:], strict=False)
    if excerpts := [Excerpt(ref=claim.ref, content=quote.content) for claim, quote in told]:
        shaped["excerpts"] = excerpts
    if dropped := len(item.retained) - len(quotes):
        shaped["excerpts_omitted"] = dropped
    if item.omitted:
        shaped["claims_omitted"] = item.omitted
    if item.conflicts:
        shaped["conflicts"] = item.conflicts
    reason = _independence(item.retained)
    if reason != "singleton" or trace:
        shaped["independence_reason"] = reason
    if admission:
        shaped["admission"] = admission
    return shaped


def _claim(member: Member, item: Structured, trace: bool) -> Claim:
    claim: Claim = {"ref": member.ref}
    if member.row.timestamp:
        claim["as_of"] = member.row.timestamp
    if member.version is not None:
        claim["superseded_at"] = format_utc(member.version.superseded_at)
    if member.why != "seed" or trace:
        claim["why"] = member.why
    if roles := item.roles.get(member.ref):
        claim["roles"] = [RoleOf(ref=ref, role=role) for ref, role in roles]
    return claim


def _independence(retained: Sequence[Member]) -> str:
    """Name the first key that binds candidates of the item."""
    keys = {member.why for member in retained if member.rank is not None}
    return next((key for key in KEYS if key in keys), "singleton")


def policy_shape(window: Window) -> WindowPolicy:
    """Shape what became of a wish."""
    return {"source": window.source, "clamped": window.clamped, "reason": window.reason}
