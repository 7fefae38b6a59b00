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

_HALF_WIDTH_MARKS = "ﾞﾟ"
_BLANK = re.compile(r"\s+")
_WIDE = r"[\u3000-\u9fff]"
_WIDE_BLANK = re.compile(rf"(?<={_WIDE}) | (?={_WIDE})")


@dataclass(frozen=True, slots=True)
class NormalText:
    """Normalised text of an original.

    Parameters
    ----------
    text : str
        The normalised text; letter case is kept.
    original : str
        What it was made of.
    """

    text: str
    original: str

    def words(self, start: int, end: int) -> str:
        """Return the original words behind ``text[start:end]``."""
        if self.text == self.original and self.text.isascii():
            return self.original[start:end].strip()  # nothing was changed
        origin = self.origin()
        return self.original[origin[start][0] : origin[end - 1][1]].strip()

    def origin(self) -> list[tuple[int, int]]:
        """Return per character of `text` the half-open span in the original.

        Only the few questions with a time have to know, so it is worked out when asked for.
        """
        text, origin = _compatible(self.original)
        for pattern, change in _steps(text):
            text, origin = _replace(pattern, change, text, origin)
        return origin


class _MarkError(Exception):
    """A character that belongs to the one before it."""


class _Characters(dict[int, str]):
    """Compatible spelling of each character that stands alone, filled as they come."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _HALF_WIDTH_MARKS or unicodedata.combining(character):
            raise _MarkError
        self[code] = unicodedata.normalize("NFKC", character).translate(_SAME)
        return self[code]


_CHARACTERS = _Characters()


def normalise(original: str) -> NormalText:
    """Normalise a question; any string is accepted."""
    try:
        text = original.translate(_SAME if original.isascii() else _CHARACTERS)
    except _MarkError:
        text = _compatible(original)[0]
    for pattern, change in _steps(text):
        text = pattern.sub(change, text)
    return NormalText(text, original)


def _steps(text: str) -> tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]:
    """Replacements, in order, for a text in compatible spelling."""
    return _ANY_TEXT if text.isascii() else _ANY_TEXT + _WIDE_TEXT


def _masked(match: re.Match[str]) -> str:
    return MASK * len(match[0])


# The wide steps do nothing to a text that only has a mask beside ASCII.
_ANY_TEXT = (
    (_QUOTED, _masked),
    (_BLANK, lambda _: " "),
    (ENGLISH_NUMBERS, english),
)
_WIDE_TEXT = ((_WIDE_BLANK, lambda _: ""), (JAPANESE_NUMBERS, japanese))


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
        mark = character in _HALF_WIDTH_MARKS or unicodedata.combining(character)
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
