"""Make row texts storable: characters the store refuses, and documents over its length limit."""

from __future__ import annotations

import re

MAX_CHARS = 16_000
"""Longest content the store takes, in code points."""

# A cut is looked for in the last eighth of a piece, so that pieces stay near the limit.
_SEARCH_BACK = MAX_CHARS // 8
_BREAKS = ("\n\n", "\n", "。", ". ", " ")
_FORBIDDEN = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace NUL and lone surrogates by U+FFFD; the store rejects both."""
    # Surrogates can only be in a text that is not ASCII, and isascii costs nothing.
    if "\x00" in text or not text.isascii():
        return _FORBIDDEN.sub("\ufffd", text)
    return text


def split_text(text: str, limit: int = MAX_CHARS) -> list[str]:
    """Cut a text into pieces of at most ``limit`` code points, preferably where a sentence ends.

    Parameters
    ----------
    text : str
        Any text, also an empty one.
    limit : int
        At least 1.

    Returns
    -------
    list of str
        Their concatenation is ``text``; one piece when it already fits.
    """
    pieces = []
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, start + limit)
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces


def _cut(text: str, start: int, end: int) -> int:
    earliest = max(start + 1, end - _SEARCH_BACK)
    for mark in _BREAKS:
        at = text.rfind(mark, earliest, end)
        if at >= 0:
            return at + len(mark)
    return end
