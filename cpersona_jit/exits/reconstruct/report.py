"""What a response says about itself; nothing is said where the call got what it asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cpersona_jit.exits.candidates import Candidates
from cpersona_jit.exits.reconstruct.bundle import Cluster
from cpersona_jit.exits.reconstruct.claims import Structured
from cpersona_jit.exits.reconstruct.relations import Walked
from cpersona_jit.exits.reconstruct.request import Request
from cpersona_jit.exits.reconstruct.sequence import Prefix
from cpersona_jit.exits.reconstruct.shape import Reconstruction, policy_shape
from cpersona_jit.exits.reconstruct.shortfall import shortfall_reason
from cpersona_jit.exits.reconstruct.window import Window

POLICY_VERSION = "1"


def by_words_only(prefix: Prefix, items: Sequence[Structured]) -> bool:
    """Whether a passage of a stored row was chosen without its embedding."""
    return any(
        quote.basis in ("blocks", "lexical") and not quote.by_vector
        for piece, quote in prefix.pieces
        if items[piece.item].retained[piece.claim].version is None
    )


def tell_counts(
    response: Reconstruction,
    window: Window,
    in_window: int,
    items: int,
    found: Candidates,
    trace: bool,
) -> None:
    """Say how many items there are, of how many, and why not more.

    Parameters
    ----------
    response : Reconstruction
        With its items.
    window : Window
        What became of the count.
    in_window, items : int
        Items in the window, and in all, before the budget.
    found : Candidates
        What the recall found.
    trace : bool
        Also what is the default.
    """
    if window.reason or trace:
        if window.requested is not None:
            response["requested_count"] = window.requested
        response["count_policy"] = policy_shape(window)
    reserved = sum("admission" in item for item in response["items"])
    dropped = items - in_window - reserved
    if reserved or trace:
        response["reserved_count"] = reserved
    if dropped or trace:
        response["reserved_omitted"] = dropped
    short = window.effective - (response["returned_count"] - reserved)
    cut_off = in_window - (response["returned_count"] - reserved)
    reason = shortfall_reason(window.effective, short, cut_off, found)
    if reason:
        response["shortfall_reason"] = reason


def tell_budget(response: Reconstruction, budget: Window, prefix: Prefix, trace: bool) -> None:
    """Say what the budget was, where it cut something off or is not the one asked for."""
    if budget.reason or trace:
        if budget.requested is not None:
            response["requested_budget"] = budget.requested
        response["budget_policy"] = policy_shape(budget)
    if prefix.cut or trace:
        response["effective_budget"] = budget.effective
        response["used_budget"] = prefix.used


def tell_bounds(
    response: Reconstruction,
    found: Candidates,
    request: Request,
    items: Sequence[Structured],
    walked: Sequence[Walked],
    trace: bool,
) -> None:
    """Name the bounds that left rows of the items out, and those that were only reached."""
    omitted = [
        name
        for name, acted in (
            ("max_hops", any(one.too_far for one in walked)),
            ("max_evidence", any(item.omitted for item in items)),
        )
        if acted
    ]
    reached = [
        name
        for name, acted in (
            ("top_k", found.state.order.size >= request.effective_top_k),
            ("max_evidence", any(one.full for one in walked)),
        )
        if acted
    ]
    lowered = request.effective_top_k < request.top_k
    if not (omitted or reached or lowered or trace):
        return
    bounds: dict[str, Any] = {
        "top_k": request.top_k,
        "max_hops": request.max_hops,
        "max_evidence": request.max_evidence,
    }
    if lowered:
        bounds["effective_top_k"] = request.effective_top_k
    if omitted:
        bounds["omitted"] = omitted
    if reached:
        bounds["reached"] = reached
    response["bounds"] = bounds


def tell_candidates(
    response: Reconstruction, found: Candidates, clusters: Sequence[Cluster], trace: bool
) -> None:
    """Count what was considered; references and clusters carry no text."""
    if trace:
        refs = [candidate.row.ref for candidate in found.rows]
        response["reconstruction"] = {
            "policy_version": POLICY_VERSION,
            "candidates": len(refs),
            "clusters": len(clusters),
            "selected": response["returned_count"],
            "excluded_without_provenance": found.gone,
        }
        response["candidate_refs"] = refs
        response["clusters"] = [[refs[place] for place in c.members] for c in clusters]
    elif found.gone:
        response["reconstruction"] = {"excluded_without_provenance": found.gone}
