"""Number words to digits: English words and ordinals, Japanese kanji numerals."""

from __future__ import annotations

import re

from kanjize import kanji2number

_ONES = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_ONE_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_TEN_ORDINALS = [f"{word[:-1]}ieth" for word in _TENS]

_ONE_VALUES = {word: value for value, word in enumerate(_ONES, 1)}
_TEN_VALUES = {word: 10 * value for value, word in enumerate(_TENS, 2)}
_ORDINAL_VALUES = {word: value for value, word in enumerate(_ONE_ORDINALS, 1)} | {
    word: 10 * value for value, word in enumerate(_TEN_ORDINALS, 2)
}
# A few and a couple are read as fixed numbers; see the conventions of the question set.
_LOOSE = {
    "a couple of": 2,
    "a couple": 2,
    "couple of": 2,
    "couple": 2,
    "a few": 3,
    "few": 3,
    "half a dozen": 6,
    "a dozen": 12,
    "dozen": 12,
    "a hundred": 100,
    "one hundred": 100,
}
_LARGEST_NUMERAL = 12
# What an expression without regard to case takes for i, k and s although `lower` does not.
AS_ASCII = str.maketrans({"İ": "i", "ı": "i", "ſ": "s", "\u212a": "k"})


def _any_of(words: list[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


ENGLISH_NUMBERS = re.compile(
    rf"\b(?:(?P<loose>{_any_of(list(_LOOSE))})"
    rf"|(?P<tens>{_any_of(_TENS)})[- ](?P<unit>{_any_of(_ONES[:9] + _ONE_ORDINALS[:9])})"
    rf"|(?P<word>{_any_of([*_ONES, *_TENS, *_ONE_ORDINALS, *_TEN_ORDINALS])}))\b",
    re.IGNORECASE,
)


def english(match: re.Match[str]) -> str:
    """Digits of an English number word; ordinals keep an ending (``twenty-first``: ``21st``)."""
    groups = match.groupdict().items()
    found = {name: text.translate(AS_ASCII).lower() for name, text in groups if text}
    if "loose" in found:
        return str(_LOOSE[found["loose"]])
    tens = _TEN_VALUES[found["tens"]] if "tens" in found else 0
    word = found.get("unit") or found["word"]
    if word in _ORDINAL_VALUES:
        return _ordinal(tens + _ORDINAL_VALUES[word])
    return str(tens + (_ONE_VALUES.get(word) or _TEN_VALUES[word]))


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


_KANJI = "〇一二三四五六七八九十百千"
# Only before a counter, so that 一緒, 十分 (enough) and 七夕 keep their characters.
_COUNTERS = (
    "日(?!本)|週|[かヶヵケカ箇個]月|ヵ月|月|年|つ|回|番|時間|セッション|会話|度|四半期|時|晩|世紀"
    "|人目"
)
JAPANESE_NUMBERS = re.compile(
    rf"(?<![{_KANJI}千万億兆統唯])[{_KANJI}]{{1,{_LARGEST_NUMERAL}}}(?=(?:、?[{_KANJI}]+)?(?:{_COUNTERS}))"
)
_CONSECUTIVE = {"一二", "二三", "三四", "四五", "五六", "六七", "七八", "八九"}


def japanese(match: re.Match[str]) -> str:
    """Digits of a kanji numeral; two numerals in a row (二三日) are "two or three"."""
    text = match[0]
    if text in _CONSECUTIVE:
        return f"{kanji2number(text[0])}、{kanji2number(text[1])}"
    try:
        return str(kanji2number(text))
    except ValueError:
        return text
