"""Whether a text says an answer, and about how many tokens a text is."""

from __future__ import annotations

import re
import unicodedata

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_WIDE = re.compile(rf"[{_CJK}]")
_CHARS_PER_TOKEN = 4

TOKEN_RULE = (
    f"one for each {_CHARS_PER_TOKEN} characters, and one for each character of Chinese, Japanese "
    "or Korean; no tokenizer was asked"
)
ANSWER_RULE = (
    "NFKC, lower case, punctuation and white space as one space; the answer's words stand one "
    "after another as whole words inside one passage, not across a gap"
)


def normalised(text: str) -> str:
    """Return the words of a text between single spaces, with a space at both ends.

    A character of Chinese, Japanese or Korean is a word.
    """
    return f" {' '.join(_TOKEN.findall(unicodedata.normalize('NFKC', text).casefold()))} "


def says(passage: str, answer: str) -> bool:
    """Whether a passage holds an answer; both as :func:`normalised` gives them."""
    return bool(answer.strip()) and answer in passage


def tokens(text: str) -> float:
    """Estimate the tokens of a text, by :data:`TOKEN_RULE`."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) / _CHARS_PER_TOKEN
