"""Overflow nodes of a head whose quote is cut: where to read on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from typing_extensions import TypedDict

from cpersona_jit.exits.quote import Quote
from cpersona_jit.exits.reconstruct.relations import Member
from cpersona_jit.records import Node


class QuotedNode(TypedDict):
    """The node that a quote was taken from."""

    index: int
    count: int
    range: list[int]


class NodeView(NamedTuple):
    """The nodes of a head.

    Attributes
    ----------
    nodes : sequence of Node
        Empty unless they are current.
    order : list of int
        Nodes with a part in the quote: first the one of the block that matches the query best,
        then by how much of the quote lies there. No confidence.
    unavailable : str
        ``no_nodes``, ``not_current``, or empty.
    """

    nodes: Sequence[Node]
    order: list[int]
    unavailable: Literal["", "no_nodes", "not_current"]

    def fields(self, ref: str, trace: bool) -> dict[str, Any]:
        """Return the fields of the item: the smallest thing to read next, or why it is the row."""
        if self.unavailable:
            return {"node_unavailable": self.unavailable, "expand": [ref]}
        index = self.order[0]
        node = self.nodes[index]
        quoted = QuotedNode(index=index, count=len(self.nodes), range=[node.start, node.end])
        order = {"node_order": self.order} if trace else {}
        return {"node": quoted, **order, "expand": [{"ref": ref, "node": index}]}


def node_view(member: Member, quote: Quote, nodes: Sequence[Node], model: int | None) -> NodeView:
    """Return the nodes of a head, given those of its row and the active model."""
    if not nodes or member.version is not None:
        return NodeView((), [], "no_nodes")
    ends = [node.end for node in nodes]
    whole = [0, *ends[:-1]] == [node.start for node in nodes] and ends[-1] == len(member.text)
    if not whole or model is None or any(node.model_id != model for node in nodes):
        return NodeView((), [], "not_current")
    parts = [
        sum(max(0, min(end, node.end) - max(start, node.start)) for start, end in quote.ranges)
        for node in nodes
    ]
    best = -1 if quote.best is None else bisect_right(ends, quote.best[0])
    fit = sorted(range(len(nodes)), key=lambda i: (i != best, -parts[i], i))
    order = [i for i in fit if parts[i]]
    return NodeView(nodes, order, "") if order else NodeView((), [], "no_nodes")
