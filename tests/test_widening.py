"""Widening a block to its sentences, and to the neighbour that overturns it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_blocks import texts

from cpersona_jit.text.blocks import split_blocks
from cpersona_jit.text.widening import MAX_PASSAGE_CHARS, overturns, visible, widen


def quoted(text: str, part: str, max_chars: int = MAX_PASSAGE_CHARS) -> str:
    """Widen `part` of `text`."""
    at = text.index(part)
    start, end = widen(text, (at, at + len(part)), max_chars)
    return text[start:end]


@pytest.mark.parametrize(
    "sentence",
    [
        "However, she came back.",
        "but it failed",
        "On the other hand, tea is cheaper.",
        "- Although it rained",
        '"Actually, no."',
        "2. Unless you call first",
        "ただし、水曜は休みです。",
        "「でも、行かなかった」",
        "・一方、東京では雨だった。",
        "実は違いました。",
        "訂正: 木曜日でした。",
    ],
)
def test_what_overturns(sentence: str) -> None:
    assert overturns(sentence)
    assert overturns("It is so. " + sentence, 10)


@pytest.mark.parametrize(
    "sentence",
    [
        "Butter is cheap.",
        "Exceptional.",
        "Yeti sightings",
        "今日は晴れ。",
        "It is, however, so.",
        "",
    ],
)
def test_what_does_not(sentence: str) -> None:
    assert not overturns(sentence)


@pytest.mark.parametrize(
    ("text", "part", "passage"),
    [
        # the rest of the sentence, on both sides
        ("One. Mia moved to Lisbon in March. Two.", "to Lisbon", "Mia moved to Lisbon in March."),
        ("一。ユキは京都で茶道を習う。二。", "京都で", "ユキは京都で茶道を習う。"),
        # what follows and overturns; and what that overturns in turn
        ("It opens at 9. However, not on Monday. Bye.", "It opens at 9.",
         "It opens at 9. However, not on Monday."),
        ("It opens. But not today. Though it may. Bye.", "It opens.",
         "It opens. But not today. Though it may."),
        ("店は九時に開く。ただし月曜は休み。では。", "店は九時に開く。",
         "店は九時に開く。ただし月曜は休み。"),
        # what it overturns itself
        ("Hi. It opens at 9. However, not on Monday. Bye.", "However, not on Monday.",
         "It opens at 9. However, not on Monday."),
        ("朝。店は開く。しかし今日は休み。夜。", "しかし今日は休み。",
         "店は開く。しかし今日は休み。"),
        # lines are sentences; in code nothing else is
        ("# Title\nfirst line\nsecond line\n", "first", "first line"),
        ("x\n```\na = b. But c\n```\ny", "b. But", "a = b. But c"),
        # nothing to add
        ("One. Two. Three.", "Two.", "Two."),
        ("  padded  ", "  padded  ", "padded"),
        ("Call Mr. Sato today. Bye.", "today", "Call Mr. Sato today."),
        ("😀😀。京都は😀雨。😀", "雨", "京都は😀雨。"),
    ],
)  # fmt: skip
def test_a_passage(text: str, part: str, passage: str) -> None:
    assert quoted(text, part) == passage


def test_a_sentence_that_does_not_fit_adds_nothing() -> None:
    text = "It opens at 9. However, " + "not today " * 40 + "at all. Bye."
    assert quoted(text, "It opens at 9.", 100) == "It opens at 9."
    assert quoted(text, "It opens at 9.").endswith("at all.")
    long = "word " * 100 + "here " + "word " * 100 + "end."
    assert quoted(long, "here", 200) == "here"
    assert quoted(long, "here", len(long)) == long


@given(texts, st.data())
@settings(max_examples=300, deadline=None)
def test_laws_of_widening(text: str, data: st.DataObject) -> None:
    for block in split_blocks(text):
        limit = data.draw(st.integers(1, 1500))
        first, last = visible(text, *block)
        start, end = widen(text, block, limit)
        assert 0 <= start <= first <= last <= end <= len(text)
        assert end - start <= max(limit, last - first)
        assert text[start:end] == text[start:end].strip()
