"""Widening a block until it can be quoted alone.

A block may begin or end inside a long sentence, and the sentence behind it may take back what it
says. What is quoted is the block with the rest of its sentences, and with the neighbours that
overturn it or that it overturns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cpersona_jit.text.blocks import CLOSING_MARKS, FENCE, MAX_CHARS, Range, sentence_ends

# No passage is widened beyond this, however long its sentences are.
MAX_PASSAGE_CHARS = 2 * MAX_CHARS

_QUALIFIERS_EN = (
    "actually|alternatively|although|but|by contrast|conversely|correction|despite|even so|"
    "even though|except|granted|however|in contrast|in fact|in reality|instead|nevertheless|"
    "nonetheless|note(?: that|:)|notwithstanding|on second thought|on the contrary|"
    "on the other hand|only if|otherwise|provided that|rather|still,|that said|then again|though|"
    "unfortunately|unless|whereas|yet"
)
_QUALIFIERS_JA = (
    "ただし|但し|ただ、|しかし|然し|だが|ですが|けれど|けど|でも|なお|尚、|一方|他方|とはいえ|とは言え|"
    "もっとも|ところが|それでも|それなのに|にもかかわらず|それに対し|そうではなく|むしろ|逆に|反対に|"
    "かえって|実は|実際は|実際には|実のところ|本当は|訂正|修正|例外|注：|※|さもないと|でなければ|"
    "その代わり|代わりに|いや、|いえ、|違う|やっぱり"
)
_OPENING = r"(?:[\s\-*+•・>#(\[\"'“‘「『（【]|\d{1,3}[.)] )*"
_QUALIFIER = re.compile(
    rf"{_OPENING}(?:(?:{_QUALIFIERS_EN})(?![A-Za-z])|{_QUALIFIERS_JA})", re.IGNORECASE
)
_BREAKS = frozenset("\n\r\u2028\u2029")
_STOPS = frozenset(".!?…‥。！？｡．")
_FENCED_LINE = re.compile(rf"(?:\A|(?<=[\n\r\u2028\u2029])){FENCE.pattern}")
_SPACE = re.compile(r"\s*")
_LOOKED_BACK = 64  # how far a full stop may lie behind white space and closing marks


def overturns(text: str, at: int = 0) -> bool:
    """Whether the sentence that begins at `at` takes back or qualifies what stands before it.

    It does when it begins with a word such as "However" or 「ただし」, after list marks and quotes.
    """
    return _QUALIFIER.match(text, at) is not None


def visible(text: str, start: int, end: int) -> Range:
    """Return a range without the white space at its ends; empty at `start` when all of it is."""
    part = text[start:end]
    lead = len(part) - len(part.lstrip())
    return (start + lead, start + len(part.rstrip())) if lead < len(part) else (start, start)


def widen(text: str, block: Range, max_chars: int = MAX_PASSAGE_CHARS) -> Range:
    """Widen a block of a text to a passage that can be quoted alone.

    Parameters
    ----------
    text : str
        The whole text.
    block : (int, int)
        Start and end of the block, in code points.
    max_chars : int
        The passage is not widened to more than this.

    Returns
    -------
    (int, int)
        Start and end of the passage, with no white space at its ends. It holds the visible part of
        the block; a sentence that does not fit adds nothing.
    """
    start, end = visible(text, *block)
    end = _forward(text, start, end, start + max_chars)
    return _backward(text, start, end, end - max_chars), end


def sentence_ends_in(text: str, start: int, end: int) -> Iterator[tuple[int, bool]]:
    """Yield where sentences end in ``text[start:end]``, and whether the next one overturns them.

    A sentence that `end` cuts is left out.
    """
    for _, stop in _sentences(text, start, end):
        following = _after_space(text, stop)
        if stop == end < len(text) and not _begins_sentence(text, following):
            return
        yield stop, overturns(text, following)


def _forward(text: str, start: int, end: int, limit: int) -> int:
    """Take the rest of the last sentence, and the sentences behind it that overturn it."""
    following = _after_space(text, end)
    if end >= limit or following >= len(text):
        return end
    ends_here = _begins_sentence(text, following)
    if ends_here and not overturns(text, following):
        return end
    last = min(len(text), limit + 1)
    for first, stop in _sentences(text, following if ends_here else start, last):
        if stop <= end:
            continue
        cut = stop == last < len(text)
        if cut or stop > limit or (first >= end and not overturns(text, first)):
            break
        end = stop
    return end


def _backward(text: str, start: int, end: int, limit: int) -> int:
    """Take the beginning of the first sentence, and what the first sentence overturns."""
    if start <= max(limit, 0):
        return start
    inside = not _begins_sentence(text, start)
    if not inside and not overturns(text, start):
        return start
    first = max(limit - 1, 0)
    before = list(_sentences(text, first, start))
    if before and first and not _begins_sentence(text, first):
        del before[0]  # cut off at its beginning: longer than what fits
    while before and before[-1][0] >= limit and (inside or overturns(text, start)):
        start = before.pop()[0]
        inside = False
    return start


def _sentences(text: str, first: int, last: int) -> Iterator[Range]:
    """Visible ranges of the sentences and lines in ``text[first:last]``, which may cut the last."""
    at = first
    for end in sentence_ends(text, first, last, _in_code(text, first)):
        if end > at:
            part = visible(text, at, end)
            if part[0] < part[1]:
                yield part
            at = end


def _in_code(text: str, at: int) -> bool:
    """Whether `at` lies inside fenced code."""
    if "```" not in text and "~~~" not in text:
        return False
    return sum(1 for _ in _FENCED_LINE.finditer(text, 0, at)) % 2 == 1


def _begins_sentence(text: str, at: int) -> bool:
    """Whether a block that begins at `at` begins a sentence; blocks are cut there or at spaces."""
    before = text[max(0, at - _LOOKED_BACK) : at]
    told = before.rstrip()
    if not told or not _BREAKS.isdisjoint(before[len(told) :]):
        return True
    return told.rstrip(CLOSING_MARKS)[-1:] in _STOPS


def _after_space(text: str, at: int) -> int:
    """Where the next visible character stands."""
    return _SPACE.match(text, at).end()
