"""Which regular expressions can match a text at all: by letters that each match must hold.

The letters are read off the expressions themselves, so that no list has to be kept in step with
the forms. Most questions hold the letters of a handful of forms, and only these are tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from operator import add
from typing import Any

from cpersona_jit.cues.numerals import AS_ASCII

try:  # the one place where the syntax of an expression can be read
    from re import _constants as sre
    from re import _parser
except ImportError:  # an interpreter that keeps it elsewhere: no expression is left out
    sre = _parser = None

# An alternative is looked for by at most this many letters of it.
_LONGEST = 4
# Of what an expression needs, this much is looked for: the longest letters.
_LAYERS = 3
# More alternatives than these say too little to be worth looking for.
_MOST = 96
_DIGIT = re.compile(r"\d")
if sre is not None:
    _ZERO_WIDTH = (sre.AT, sre.ASSERT, sre.ASSERT_NOT)
    _REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


class Sieve:
    """Finds out of many groups of expressions those that a text may match.

    Parameters
    ----------
    groups : sequence of sequence of re.Pattern
        Each group matches only where all of its expressions match somewhere in the text. They
        disregard case.
    """

    def __init__(self, groups: Sequence[Sequence[re.Pattern[str]]]) -> None:
        self._count = len(groups)
        self._bits: dict[str, int] = {}
        free: dict[int, int] = {}  # per layer the groups that ask for nothing there
        for number, patterns in enumerate(groups):
            needed = sorted(
                {letters for pattern in patterns for letters in needed_letters(pattern.pattern)},
                key=lambda letters: (-min(map(len, letters)), len(letters), sorted(letters)),
            )[:_LAYERS]
            for layer in range(_LAYERS):
                bit = 1 << (layer * self._count + number)
                if layer >= len(needed):
                    free[layer] = free.get(layer, 0) | bit
                    continue
                for letters in needed[layer]:
                    self._bits[letters] = self._bits.get(letters, 0) | bit
        self._free = sum(free.values())
        self._all = (1 << self._count) - 1

    def passing(self, text: str) -> int:
        """Return the groups that may match, as the bits of a number."""
        folded = text.lower() if text.isascii() else text.translate(AS_ASCII).lower()
        folded = _DIGIT.sub("0", folded)
        found, grams, known = self._free, folded, self._bits.keys()
        bits = self._bits
        for size in range(1, _LONGEST + 1):
            if size > 1:
                grams = list(map(add, grams, folded[size - 1 :]))
            for letters in known & set(grams):
                found |= bits[letters]
        kept = self._all
        for layer in range(_LAYERS):
            kept &= found >> (layer * self._count)
        return kept


def members(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set, the lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def needed_letters(pattern: str) -> list[frozenset[str]]:
    """Return sets of letters; every match of an expression holds one of each set.

    Returns
    -------
    list of frozenset of str
        In lower case, of at most four characters each, digits as ``0``.
    """
    if _parser is None:
        return []
    return _needed(_parser.parse(pattern, re.IGNORECASE))


def _needed(items: Iterable[Any]) -> list[frozenset[str]]:
    """What the stretches of a sequence whose wordings can be listed need, and those between."""
    offers: list[frozenset[str]] = []
    run: set[str] = {""}
    for item in items:
        wordings = _wordings_of(item)
        if wordings is not None and len(run) * len(wordings) <= _MOST:
            run = {a + b for a, b in product(run, wordings)}
            continue
        offers += _cut(run)
        run = {""} if wordings is None else wordings
        if wordings is None:
            offers += _inside(item)
    return offers + _cut(run)


def _inside(item: Any) -> list[frozenset[str]]:
    """What a part of an expression, of too many wordings, needs."""
    kind, value = item
    if kind is sre.SUBPATTERN:
        return _needed(value[-1])
    if kind is sre.ATOMIC_GROUP:
        return _needed(value)
    if kind in _REPEATS and value[0]:
        return _needed(value[2])
    if kind is sre.BRANCH:
        branches = [_best(_needed(branch)) for branch in value[1]]
        if None not in branches:
            together = frozenset().union(*branches)
            return [together] if len(together) <= _MOST else []
    return []


def _cut(wordings: set[str]) -> list[frozenset[str]]:
    """The last letters of each wording, where words differ most; nothing when one is empty."""
    return [] if "" in wordings else [frozenset(word[-_LONGEST:] for word in wordings)]


def _best(offers: Iterable[frozenset[str]]) -> frozenset[str] | None:
    """The offer of the longest letters, of as long ones the one with the fewest."""
    return max(offers, key=lambda offer: (min(map(len, offer)), -len(offer)), default=None)


def _wordings(items: Iterable[Any]) -> set[str] | None:
    run = {""}
    for item in items:
        wordings = _wordings_of(item)
        if wordings is None or len(run) * len(wordings) > _MOST:
            return None
        run = {a + b for a, b in product(run, wordings)}
    return run


def _wordings_of(item: Any) -> set[str] | None:
    """Everything a part of an expression can match, in lower case; None: too much to list."""
    kind, value = item
    if kind is sre.LITERAL:
        return _letter(value)
    if kind in _ZERO_WIDTH:
        return {""}
    if kind is sre.SUBPATTERN:
        return _wordings(value[-1])
    if kind is sre.IN:
        return _together(_class(*part) for part in value)
    if kind is sre.BRANCH:
        return _together(map(_wordings, value[1]))
    if kind in _REPEATS and value[1] == 1:
        inner = _wordings(value[2])
        return inner if inner is None or value[0] else inner | {""}
    return None


def _letter(code: int) -> set[str] | None:
    """A letter, unless its other case is not that of `lower`, or it is a mark of a guard."""
    letter = chr(code)
    if letter in "⟨⟩" or (not letter.isascii() and letter.lower() != letter.upper()):
        return None
    return {"0" if letter.isdecimal() else letter.lower()}


def _class(kind: Any, value: Any) -> set[str] | None:
    """Part of a class of characters: a letter, or digits."""
    if kind is sre.LITERAL:
        return _letter(value)
    digits = kind is sre.CATEGORY and value is sre.CATEGORY_DIGIT
    digits = digits or (kind is sre.RANGE and ord("0") <= value[0] <= value[1] <= ord("9"))
    return {"0"} if digits else None


def _together(sets: Iterable[set[str] | None]) -> set[str] | None:
    listed: set[str] = set()
    for one in sets:
        if one is None:
            return None
        listed |= one
    return listed if len(listed) <= _MOST else None
