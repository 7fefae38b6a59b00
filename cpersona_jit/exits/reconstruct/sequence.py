"""The one sequence of quotes that every response is a beginning of.

Breadth first: the head of each item, in the order of the items; then each item's next best claim;
then each item's next. The budget never shapes the sequence, it only ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

Text = TypeVar("Text")


class Piece(NamedTuple):
    """A place in the sequence."""

    item: int
    claim: int  # 0 is the head


class Prefix(NamedTuple):
    """What fits."""

    pieces: list  # of (Piece, quote)
    used: int  # characters
    cut: bool  # whether the sequence goes on


def quote_sequence(claims: Sequence[int]) -> Iterator[Piece]:
    """Yield the pieces of items that have so many claims each, heads counted."""
    for depth in range(max(claims, default=0)):
        for item, count in enumerate(claims):
            if depth < count:
                yield Piece(item, depth)


def longest_prefix(
    pieces: Iterable[Piece],
    quote: Callable[[Piece], Text],
    length: Callable[[Text], int],
    budget: int,
) -> Prefix:
    """Take quotes from the front while they fit.

    Parameters
    ----------
    pieces : iterable of Piece
        The sequence.
    quote, length : callable
        Make the quote of a piece, and count its characters. Nothing behind the first quote that
        does not fit is made.
    budget : int
        Characters.
    """
    taken = []
    used = 0
    for piece in pieces:
        text = quote(piece)
        if used + length(text) > budget:
            return Prefix(taken, used, True)
        used += length(text)
        taken.append((piece, text))
    return Prefix(taken, used, False)
