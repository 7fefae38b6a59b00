"""The texts of a memory that are embedded: the whole of it, and each of its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.text.blocks import Range, split_blocks


class Passages(NamedTuple):
    """What is embedded for one memory.

    Attributes
    ----------
    ranges : list of (int, int)
        Its blocks, as ranges of the content; empty when it is one block, which is the row itself.
    texts : list of str, length ``1 + len(ranges)``
        The whole memory, then each block, all with the name of who said it.
    """

    ranges: list[Range]
    texts: list[str]


def passages(source_name: str, content: str, keywords: Sequence[str] = ()) -> Passages:
    """Return the passages of a memory."""
    ranges = block_ranges(content)
    whole = indexed_text(source_name, content, keywords)
    blocks = [indexed_text(source_name, content[start:end]) for start, end in ranges]
    return Passages(ranges, [whole, *blocks])


def block_ranges(content: str) -> list[Range]:
    """Return the blocks of a content; none when it is one block."""
    ranges = split_blocks(content)
    return ranges if len(ranges) > 1 else []
