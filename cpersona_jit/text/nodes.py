"""Parting a text that is longer than a model's window into nodes: runs of whole blocks."""

from __future__ import annotations

from collections.abc import Sequence

from cpersona_jit.text.blocks import Range


def node_ranges(blocks: Sequence[Range], window: int) -> list[Range]:
    """Pack the blocks of a text greedily into nodes.

    Parameters
    ----------
    blocks : sequence of (int, int)
        They partition the text, in order.
    window : int
        Characters of a node at most; a longer block is a node of its own.

    Returns
    -------
    list of (int, int)
        They partition the text too, and each ends where a block ends. None for a text of one node.
    """
    nodes: list[Range] = []
    for start, end in blocks:
        if nodes and end - nodes[-1][0] <= window:
            nodes[-1] = (nodes[-1][0], end)
        else:
            nodes.append((start, end))
    return nodes if len(nodes) > 1 else []
