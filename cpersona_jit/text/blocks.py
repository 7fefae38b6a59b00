"""Parting a long text into blocks: runs of whole sentences and lines of about 300 characters.

A long row is likely to hold the query's words somewhere, whatever it is about. Scoring its best
block instead undoes that, and a block is what can be quoted later. Everything is counted in code
points of the text as it is given, so that a range cuts the block out of the stored content.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Changes with any change of the rules below: a store notices blocks that older rules made.
SPLITTER_VERSION = 1

# Blocks of 150 characters lost 8 points of NDCG@10 on SciFact; 300 to 600 was flat.
TARGET_CHARS = 300
# A text up to this length is one block: a chat turn stays whole.
WHOLE_CHARS = 450
# No block is longer, white space at its ends not counted.
MAX_CHARS = 600
# A shorter block joins its neighbour, unless white space between them would break the cap.
MIN_CHARS = 40
# A longer sentence or line is cut; one of this length fits the cap with short ones at both ends.
_UNIT_CHARS = 500

CLOSING_MARKS = "\")]}'*_`”’»」』】）〕］｝〉》"

_LINE = re.compile(r"[^\n\r\u2028\u2029]*(?:\r\n?|[\n\u2028\u2029])|[^\n\r\u2028\u2029]+")
FENCE = re.compile(r"[ \t]*(?:```|~~~)")
# A URL is stepped over whole: its stops and question marks end nothing.
_STOP = re.compile(
    r"(?:https?://|www\.)[!-~]*[0-9A-Za-z/#=&_~+%-]"
    rf"|(?P<stop>[.!?…‥。！？｡．]+)[{re.escape(CLOSING_MARKS)}]*"
)
_FULL_STOPS = frozenset("。！？｡")
_SPACE = re.compile(r"\s*")
_SOFT_STOPS = frozenset(",;:、，；：・") | frozenset(CLOSING_MARKS)
# 「もう行くよ。」と言った: the sentence goes on behind its quotation.
_QUOTED_ON = frozenset("とっのはがをにもで、，")
_FIRST_CJK = "\u3040"

# "Mr. Sato" and "U.S. law" go on after the stop; "No. 5" does so before a number only.
_LONGEST_ABBREVIATION = 8
_TITLE = re.compile(
    "mr|mrs|ms|mx|dr|prof|rev|hon|gen|col|sgt|capt|lt|sr|jr|st|mt|ft|vs|cf|viz|al|approx"
)
_BEFORE_NUMBER = re.compile(
    "no|nos|fig|figs|vol|eq|ch|sec|art|ver|pp|pg|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
)

Range = tuple[int, int]


def split_blocks(text: str) -> list[Range]:
    """Part a text into blocks.

    Sentences end at English and Japanese punctuation, with the quotes and brackets that close
    there; lines end at line breaks, and inside fenced code nothing else does. Abbreviations,
    numbers and URLs are not cut. A sentence or line over 500 characters is cut at white space, at a
    comma or closing bracket when it has none, and anywhere between two letters as a last resort.
    Those units are packed greedily.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of (int, int)
        Start and end of each block, in order, in code points; they partition the text. One block
        for a text of up to 450 characters, none for an empty one. Without the white space at its
        ends a block has at most 600 characters, and at least 40 in a text of several blocks
        (shorter only where longer runs of white space leave no other choice).
    """
    first = len(text) - len(text.lstrip())
    last = first + len(text.strip())
    if last - first <= WHOLE_CHARS:
        return [(0, len(text))] if text else []
    ends = _pack(first, list(_units(text, first, last)))
    ends[-1] = len(text)
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _pack(first: int, units: list[Range]) -> list[int]:
    """Join units to blocks; a unit is (end of what is visible, end); returns the blocks' ends."""
    blocks: list[Range] = []  # (start, end of what is visible)
    ends: list[int] = []
    start = first
    for visible, end in units:
        if blocks:
            block_start, block_visible = blocks[-1]
            short = block_visible - block_start < MIN_CHARS
            if visible - block_start <= (MAX_CHARS if short else TARGET_CHARS):
                blocks[-1], ends[-1] = (block_start, visible), end
                start = end
                continue
        blocks.append((start, visible))
        ends.append(end)
        start = end
    if len(blocks) > 1:
        start, visible = blocks[-1]
        if visible - start < MIN_CHARS and visible - blocks[-2][0] <= MAX_CHARS:
            del ends[-2]
    return ends


def _units(text: str, first: int, last: int) -> Iterator[Range]:
    """Sentences and lines of ``text[first:last]``, each with the white space that follows it."""
    start = first
    for visible in sentence_ends(text, first, last):
        if visible <= start:  # an empty line: its break is with the line before
            continue
        end = min(_after_space(text, visible), last)
        visible = start + len(text[start:visible].rstrip())
        if visible - start > _UNIT_CHARS:
            yield from _cut(text, start, visible, end)
        else:
            yield visible, end
        start = end


def sentence_ends(text: str, first: int, last: int, in_code: bool = False) -> Iterator[int]:
    """Yield where sentences and lines of ``text[first:last]`` end, ascending.

    White space that follows a sentence inside its line is not part of it. An end may be repeated,
    and the last one is `last`, whether or not a sentence ends there.

    Parameters
    ----------
    text : str
        Any text.
    first, last : int
        Range to look at, in code points; `first` is best the start of a line or sentence.
    in_code : bool
        Whether `first` lies inside fenced code.
    """
    for line in _LINE.finditer(text, first, last):
        if FENCE.match(text, line.start(), line.end()):
            in_code = not in_code
        elif not in_code:
            for stop in _STOP.finditer(text, line.start(), line.end()):
                if _ends_sentence(text, stop, line.start()):
                    yield stop.end()
        yield line.end()


def _ends_sentence(text: str, match: re.Match[str], line_start: int) -> bool:
    stop = match["stop"]
    if stop is None or match.end() >= len(text):
        return False  # a URL; or the line ends here anyway
    following = text[match.end()]
    if not _FULL_STOPS.isdisjoint(stop):
        return not (match.end() > match.end("stop") and following in _QUOTED_ON)
    if stop[-1] == "．":
        return not following.isdigit()
    if not following.isspace():  # "3.14", "v1.2", "a.b"; Japanese puts no space behind a stop
        return following >= _FIRST_CJK and (stop != "." or text[match.start() - 1] >= _FIRST_CJK)
    after = _after_space(text, match.end())
    if text[after : after + 1].islower():
        return False
    return stop != "." or not _goes_on(text, match.start(), line_start, text[after : after + 1])


def _goes_on(text: str, stop: int, line_start: int, following: str) -> bool:
    """Whether the full stop at `stop` belongs to an abbreviation or numbers a line."""
    begin = max(line_start, stop - _LONGEST_ABBREVIATION)
    words = text[begin:stop].split()
    word = words[-1].lstrip("([\"'“‘*_").lower() if words else ""
    if word.isdigit():
        return len(words) == 1 and not text[line_start:begin].strip()
    letters = word.split(".")
    return (
        bool(_TITLE.fullmatch(word))
        or (following.isdigit() and bool(_BEFORE_NUMBER.fullmatch(word)))
        or all(len(letter) == 1 and letter.isalpha() and letter.isascii() for letter in letters)
    )


def _cut(text: str, start: int, visible: int, end: int) -> Iterator[Range]:
    """Cut a unit into pieces of at most `TARGET_CHARS`."""
    while visible - start > TARGET_CHARS:
        at = _last_break(text, start, start + TARGET_CHARS)
        after = min(_after_space(text, at), end)
        yield at, after
        start = after
    if start < visible:
        yield visible, end


def _last_break(text: str, start: int, stop: int) -> int:
    """Where to cut ``text[start:stop + 1]``: late, and best at white space."""
    soft = 0
    for at in range(stop, start, -1):
        if text[at].isspace() and not text[at - 1].isspace():
            return at
        if not soft and text[at - 1] in _SOFT_STOPS:
            soft = at
    if soft:
        return soft
    # A hard cut leaves a letter with its marks; but marks without end are cut too.
    at = stop
    while at > stop - MIN_CHARS and _joins(text[at - 1], text[at]):
        at -= 1
    return at if at > stop - MIN_CHARS else stop


def _joins(before: str, after: str) -> bool:
    return (
        unicodedata.category(after) in ("Mn", "Mc", "Me", "Sk")
        or after in "\u200d\ufe0e\ufe0f"
        or before == "\u200d"
    )


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
