"""Text as the forms read it: one spelling for widths, digits, number words and blanks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from cpersona_jit.cues.numerals import ENGLISH_NUMBERS, JAPANESE_NUMBERS, english, japanese

MASK = "\ufffc"

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹣－"), "-")
_TILDES = dict.fromkeys(map(ord, "〜～∼"), "~")
_QUOTES = dict.fromkeys(map(ord, "’ʼ`´‘"), "'")
_SAME = str.maketrans(_DASHES | _TILDES | _QUOTES)

# Titles and quoted words are names: nothing in them is a time. Short spans only, so that a stray
# quotation mark does not hide the question.
_QUOTED = re.compile(
    r"(?<!\w)'[^']{2,60}'(?!\w)|"
    r'"[^"]{1,80}"|“[^”]{1,80}”|『[^』]{1,80}』|「[^」]{1,80}」|《[^》]{1,80}》'
)

_BLANK = re.compile(r"\s+")
_WIDE = r"[\u3000-\u9fff]"
_WIDE_BLANK = re.compile(rf"(?<={_WIDE}) | (?={_WIDE})")


@dataclass(frozen=True, slots=True)
class NormalText:
    """Normalised text and, for each of its characters, where it came from.

    Parameters
    ----------
    text : str
        The normalised text; letter case is kept.
    origin : list of (int, int)
        Per character of `text` the half-open span in the original.
    """

    text: str
    origin: list[tuple[int, int]]

    def words(self, original: str, start: int, end: int) -> str:
        """Return the original words behind ``text[start:end]``."""
        return original[self.origin[start][0] : self.origin[end - 1][1]].strip()


def normalise(original: str) -> NormalText:
    """Normalise a question; any string is accepted."""
    text, origin = _compatible(original)
    text = _QUOTED.sub(lambda match: MASK * len(match[0]), text)
    steps = [(_BLANK, lambda _: " "), (ENGLISH_NUMBERS, english)]
    if not text.isascii():
        steps += [(_WIDE_BLANK, lambda _: ""), (JAPANESE_NUMBERS, japanese)]
    for pattern, change in steps:
        text, origin = _replace(pattern, change, text, origin)
    return NormalText(text, origin)


def _compatible(original: str) -> tuple[str, list[tuple[int, int]]]:
    if original.isascii():
        return original.translate(_SAME), [(i, i + 1) for i in range(len(original))]
    pieces, origin = [], []
    for start, end in pairwise(_cluster_starts(original)):
        piece = unicodedata.normalize("NFKC", original[start:end]).translate(_SAME)
        pieces.append(piece)
        origin += [(start, end)] * len(piece)
    return "".join(pieces), origin


def _cluster_starts(original: str) -> Iterable[int]:
    """Marks belong to the character before them: a half-width ｶ and its ﾞ are one ガ."""
    for index, character in enumerate(original):
        mark = character in "ﾞﾟ" or unicodedata.combining(character)
        if not index or not mark:
            yield index
    yield len(original)


def _replace(
    pattern: re.Pattern[str],
    change: Callable[[re.Match[str]], str],
    text: str,
    origin: list[tuple[int, int]],
) -> tuple[str, list[tuple[int, int]]]:
    pieces, spans, position = [], [], 0
    for match in pattern.finditer(text):
        start, end = match.span()
        new = change(match)
        pieces += (text[position:start], new)
        spans += origin[position:start]
        spans += [(origin[start][0], origin[end - 1][1])] * len(new)
        position = end
    pieces.append(text[position:])
    return "".join(pieces), spans + origin[position:]
