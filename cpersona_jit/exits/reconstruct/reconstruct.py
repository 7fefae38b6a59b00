"""Reconstruct: candidates, bundles, relations, structure; then as much of it as may be quoted.

It selects, orders and assigns roles. Every text in its answer stands in the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from cpersona_jit.exits.candidates import Candidates
from cpersona_jit.exits.period import period_fields
from cpersona_jit.exits.quote import Quote
from cpersona_jit.exits.reconstruct.bundle import Cluster, bundle
from cpersona_jit.exits.reconstruct.claims import Structured, structure
from cpersona_jit.exits.reconstruct.parts import NodeView, node_view
from cpersona_jit.exits.reconstruct.relations import Member, Walked, walk
from cpersona_jit.exits.reconstruct.report import (
    by_words_only,
    tell_bounds,
    tell_budget,
    tell_candidates,
    tell_counts,
)
from cpersona_jit.exits.reconstruct.request import Request
from cpersona_jit.exits.reconstruct.sequence import (
    Piece,
    Prefix,
    longest_prefix,
    quote_sequence,
)
from cpersona_jit.exits.reconstruct.settings import ReconstructSettings
from cpersona_jit.exits.reconstruct.shape import (
    Item,
    Reconstruction,
    item_shape,
)
from cpersona_jit.exits.reconstruct.sources import Related
from cpersona_jit.exits.reconstruct.window import budget_window, count_window


class Selected(NamedTuple):
    """The clusters that become items.

    Attributes
    ----------
    clusters : list of Cluster
        Those of the window, then those that hold a row on a reserved seat.
    window : int
        How many stand in the window.
    admissions : list of str
        The kind of seat of each; empty in the window.
    """

    clusters: list[Cluster]
    window: int
    admissions: list[str]


def reconstruct(
    found: Candidates, related: Related, request: Request, policy: ReconstructSettings, trace: bool
) -> Reconstruction:
    """Put the candidates of a recall together to items.

    Parameters
    ----------
    found : Candidates
        The recall's rows.
    related : Related
        Where related rows come from.
    request : Request
        What the call asks for.
    policy : ReconstructSettings
        What the operator allows.
    trace : bool
        Also return the policies, the bounds, the candidates and every default.
    """
    rows = [candidate.row for candidate in found.rows]
    adjacency_us = policy.adjacency_seconds * 1_000_000
    clusters = bundle(rows, adjacency_us, declared=request.max_hops > 0)
    window = count_window(request.count, policy)
    selected = select(clusters, [c.admission for c in found.rows], window.effective)
    items, walked = _items(found, selected, related, request)
    reserved = range(selected.window, len(items))
    budget = budget_window(request.budget, window.effective, list(reserved), policy)
    prefix = allocate(items, found, budget.effective, policy)
    shown = _shown(items, prefix, selected, related, trace)
    response: Reconstruction = {
        "items": shown,
        "effective_count": window.effective,
        "returned_count": len(shown),
    }
    tell_counts(response, window, selected.window, len(items), found, trace)
    tell_budget(response, budget, prefix, trace)
    tell_bounds(response, found, request, items[: len(shown)], walked[: len(shown)], trace)
    tell_candidates(response, found, clusters, trace)
    if by_words_only(prefix, items):
        response["quote_selection"] = "lexical_only"
    if found.period is not None:
        response["period"] = period_fields(found.period)
    if found.degraded:
        response["degraded"] = list(found.degraded)
    return response


def select(clusters: Sequence[Cluster], admissions: Sequence[str], count: int) -> Selected:
    """Choose the clusters of the window, and those that follow it for their rows on seats.

    A cluster of nothing but such rows takes no place in the window. A row on a seat never pushes
    another one out, and no more clusters follow than there are such rows.
    """
    if not count:
        return Selected([], 0, [])
    seats = sum(map(bool, admissions))
    ordinary = [c for c in clusters if not all(admissions[place] for place in c.members)]
    window = ordinary[:count]
    inside = {cluster.members[0] for cluster in window}
    held = [
        (cluster, next(admissions[place] for place in cluster.members if admissions[place]))
        for cluster in clusters
        if cluster.members[0] not in inside and any(admissions[place] for place in cluster.members)
    ][:seats]
    return Selected(
        [*window, *(cluster for cluster, _ in held)],
        len(window),
        [""] * len(window) + [admission for _, admission in held],
    )


def _items(
    found: Candidates, selected: Selected, related: Related, request: Request
) -> tuple[list[Structured], list[Walked]]:
    """Follow the relations of the selected clusters, and structure each with what it gained."""
    members = [_members(found, cluster) for cluster in selected.clusters]
    refs = [candidate.row.ref for candidate in found.rows]
    walked = walk(members, refs, related, request.max_hops, request.max_evidence)
    items = [
        structure([*own, *gained.found], request.max_evidence)
        for own, gained in zip(members, walked, strict=True)
    ]
    return items, walked


def _members(found: Candidates, cluster: Cluster) -> list[Member]:
    return [
        Member(found.rows[place].row, None, cluster.why.get(place, "seed"), place, 0)
        for place in cluster.members
    ]


def allocate(
    items: Sequence[Structured], found: Candidates, budget: int, policy: ReconstructSettings
) -> Prefix:
    """Quote as much of the one sequence as the budget carries."""

    def quote(piece: Piece) -> Quote:
        member = items[piece.item].retained[piece.claim]
        size = policy.excerpt_chars if piece.claim else policy.head_chars(piece.item)
        if member.version is not None:
            return found.quoter.quote_text(member.text, size)
        return found.quoter.quote(member.row, size)

    pieces = quote_sequence([len(item.retained) for item in items])
    return longest_prefix(pieces, quote, lambda text: len(text.content), budget)


def _shown(
    items: Sequence[Structured], prefix: Prefix, selected: Selected, related: Related, trace: bool
) -> list[Item]:
    """Shape the items whose head is quoted."""
    quotes: dict[int, list[Quote]] = defaultdict(list)
    for piece, quote in prefix.pieces:
        quotes[piece.item].append(quote)
    nodes = _nodes(items, quotes, related)
    return [
        item_shape(items[item], quotes[item], selected.admissions[item], nodes.get(item), trace)
        for item in sorted(quotes)
    ]


def _nodes(
    items: Sequence[Structured], quotes: dict[int, list[Quote]], related: Related
) -> dict[int, NodeView]:
    """Look at the nodes of the heads whose quote is cut."""
    heads = {item: items[item].retained[0] for item in quotes if quotes[item][0].basis != "whole"}
    if not heads:
        return {}
    nodes = related.nodes([head.row.id for head in heads.values()])
    model = related.model_id() if nodes else None
    return {
        item: node_view(head, quotes[item][0], nodes.get(head.row.id, ()), model)
        for item, head in heads.items()
    }
