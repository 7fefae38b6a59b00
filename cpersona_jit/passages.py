"""The texts of a memory that are embedded: the whole of it, its blocks, and its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.text.blocks import Range, split_blocks
from cpersona_jit.text.nodes import node_ranges


class Passages(NamedTuple):
    """What is embedded for one memory.

    Attributes
    ----------
    ranges : list of (int, int)
        Its blocks, as ranges of the content; empty when it is one block, which is the row itself.
    nodes : list of (int, int)
        Its overflow nodes; empty when it fits the model's window.
    texts : list of str, length ``1 + len(ranges) + len(nodes)``
        The whole memory, then each block, then each node, all with the name of who said it.
    """

    ranges: list[Range]
    nodes: list[Range]
    texts: list[str]


def passages(
    source_name: str, content: str, keywords: Sequence[str] = (), window: int | None = None
) -> Passages:
    """Return the passages of a memory; without a window there are no nodes."""
    ranges = block_ranges(content)
    nodes = [] if window is None else node_ranges(ranges, window)
    whole = indexed_text(source_name, content, keywords)
    parts = [indexed_text(source_name, content[start:end]) for start, end in (*ranges, *nodes)]
    return Passages(ranges, nodes, [whole, *parts])


def block_ranges(content: str) -> list[Range]:
    """Return the blocks of a content; none when it is one block."""
    ranges = split_blocks(content)
    return ranges if len(ranges) > 1 else []
