"""Blocks: laws on any text, and where English and Japanese texts are parted."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.text.blocks import (
    MAX_CHARS,
    MIN_CHARS,
    TARGET_CHARS,
    WHOLE_CHARS,
    split_blocks,
)
from cpersona_jit.text.questions import is_question

SCRAPS = [
    "The train was late. ",
    "Did it rain? ",
    "Mr. Sato paid 3.14 dollars, e.g. by card. ",
    "昨日は雨だった。",
    "「本当？」と聞いた。",
    "すごい！",
    "https://example.com/a.b?c=d. ",
    "- item\n",
    "1. first\n",
    "```\ncode = a. B\n```\n",
    "\n\n",
    " " * 50,
    "\u3000",
    "x" * 90,
    "長" * 90,
    "one two three, four; five ",
    "e\u0301" * 30,
    "👩\u200d👩\u200d👧",
    "…",
    "．",
]
texts = st.lists(st.sampled_from(SCRAPS) | st.text(max_size=40), max_size=60).map("".join)


def blocks(text: str) -> list[str]:
    return [text[start:end] for start, end in split_blocks(text)]


def visible(text: str, first: int, last: int) -> int:
    """Characters from block `first` to block `last` without white space at either end."""
    ranges = split_blocks(text)
    return len(text[ranges[first][0] : ranges[last][1]].strip())


@given(texts)
@settings(max_examples=300, deadline=None)
def test_blocks_partition_any_text_and_keep_the_cap(text: str) -> None:
    parts = blocks(text)
    assert "".join(parts) == text
    assert split_blocks(text) == split_blocks(str(text))
    if len(text.strip()) <= WHOLE_CHARS:
        assert parts == ([text] if text else [])
        return
    for number, part in enumerate(parts):
        assert 0 < len(part.strip()) <= MAX_CHARS
        if len(part.strip()) < MIN_CHARS:  # it joined a neighbour unless that broke the cap
            last = number == len(parts) - 1
            pair = (number - 1, number) if last else (number, number + 1)
            assert visible(text, *pair) > MAX_CHARS


@given(texts)
@settings(max_examples=100, deadline=None)
def test_greedy_blocks_could_not_take_the_next_one(text: str) -> None:
    parts = blocks(text)
    for number in range(len(parts) - 1):
        assert visible(text, number, number + 1) > TARGET_CHARS


@given(st.lists(st.sampled_from([*SCRAPS[:6], "長い文が続く、" * 50 + "。"]), max_size=60))
@settings(max_examples=100, deadline=None)
def test_a_block_of_plain_sentences_is_one_block_itself(sentences: list[str]) -> None:
    for part in blocks("".join(sentences)):
        assert len(part.strip()) <= WHOLE_CHARS
        assert len(blocks(part)) == 1


def test_the_empty_text_has_no_block() -> None:
    assert split_blocks("") == []
    assert split_blocks(" \n\u3000") == [(0, 3)]


@pytest.mark.parametrize("unit", ["word ", "語"])
def test_a_chat_turn_stays_whole(unit: str) -> None:
    turn = (unit * WHOLE_CHARS)[: WHOLE_CHARS - 1] + "。"
    assert split_blocks(turn) == [(0, WHOLE_CHARS)]
    assert split_blocks(f"  {turn}\n") == [(0, WHOLE_CHARS + 3)]
    assert len(split_blocks(turn + "Yes. " * 9)) == 2


FILLER_EN = "It was a quiet day at the harbour, and nobody came to see the boats. "
FILLER_JA = "港は静かな一日で、船を見に来る人はだれもいなかったので、みんな早く家に帰った。"


def sentences(middle: str, filler: str) -> list[str]:
    """Pieces of `middle` that the splitter may part, found by pushing it over a block's edge."""
    cuts = set()
    for padding in range(len(middle) + 1):
        before = (filler * 9)[: TARGET_CHARS - padding].rstrip() + "\n"
        text = before + middle + "\n" + filler * 9
        cuts |= {
            end - len(before)
            for _, end in split_blocks(text)
            if 0 < end - len(before) < len(middle)
        }
    edges = [0, *sorted(cuts), len(middle)]
    return [middle[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize(
    "pieces",
    [
        ["He left. ", "She stayed. ", "Why?"],
        ["Really?! ", "Yes! ", "“No.” ", "(Maybe.) ", "**Bold.** ", "The end."],
        ['"Why?" she asked. ', "He said nothing."],
        ["Dr. Smith met Mrs. Ito and Prof. U. N. Owen in the U.S. capital. ", "They talked."],
        [
            "It cost 3.14 dollars, e.g. in v1.2 of the fare, cf. No. 5 and Fig. 3, on Jan. 2. ",
            "Ok.",
        ],
        ["No. ", "I did not. ", "See vol. 3 instead."],
        ["Open www.example.com/a.b?c=d! ", "Or https://example.com/x?y=1. ", "Then close it."],
        ["Well... that is odd. ", "Hmm… ", "Is it?"],
        ["1. Wash the rice. ", "Then wait.\n", "2. Cook it.\n", "- item one\n", "- item two"],
    ],
    ids=lambda pieces: pieces[0][:12],
)
def test_english_is_parted_between_sentences_and_lines(pieces: list[str]) -> None:
    assert sentences("".join(pieces), FILLER_EN) == pieces


@pytest.mark.parametrize(
    "pieces",
    [
        ["雨が降った。", "傘を忘れた！", "なぜだろう？", "分からない。"],
        ["本当！？", "はい。", "「元気です。」", "彼は笑った。"],
        ["先生は「もう一度行くよ。」と言った。", "（笑）終わり。"],
        ["そうですね…", "でも違う｡", "ﾊﾝｶｸも終わる。"],
        ["円周率は3．14です．", "次の文．", "v1.2を使う。"],
        ["https://example.com/a?q=1を見て。", "見た? ", "見た!", "はい。"],
        ["・牛乳\n", "・卵\n", "買った。 　", "終わり。"],
    ],
    ids=lambda pieces: pieces[0][:6],
)
def test_japanese_is_parted_between_sentences_and_lines(pieces: list[str]) -> None:
    assert sentences("".join(pieces), FILLER_JA) == pieces


def test_fenced_code_is_parted_at_lines_only() -> None:
    code = "```python\n" + "print('One. Two. Three.'); run.it(). Now()\n" * 12 + "```\n"
    for part in blocks(FILLER_EN * 3 + "\n" + code + FILLER_EN * 3):
        assert part.rstrip(" ").endswith(("\n", "."))
        for line in part.splitlines():
            assert not line.startswith(("Two", "Three", "Now"))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("word " * 400, " "),
        ("長い文が続く、" * 300, "、"),
        ("（注）あ" * 300, "）"),
    ],
)
def test_a_long_run_without_stops_is_cut_where_it_hurts_least(text: str, marks: str) -> None:
    parts = blocks(text)
    assert len(parts) > 3
    for part in parts[:-1]:
        assert part[-1] in marks
        assert len(part) > TARGET_CHARS * 0.9


@pytest.mark.parametrize(
    "letter", ["x", "語", "e\u0301", "が", "か\u3099", "👩\u200d👧", "☕\ufe0f"]
)
def test_a_hard_cut_takes_no_letter_apart(letter: str) -> None:
    parts = blocks(letter * 1000)
    assert len(parts) > 2
    for part in parts:
        assert part == letter * (len(part) // len(letter))


def test_marks_without_end_are_cut_all_the_same() -> None:
    parts = blocks("\u0301" * 16_000)
    assert {len(part) for part in parts[:-1]} == {TARGET_CHARS}


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where?", True),
        ("どこ？", True),
        ('He asked "where?" \n', True),
        ("「どこですか？」　", True),
        ("(really?)*", True),
        ("Where? Here.", False),
        ("Why?!", False),
        ("そうです。", False),
        ("", False),
        ("” ", False),
    ],
)
def test_a_question_ends_with_its_mark(text: str, asks: bool) -> None:
    assert is_question(text) is asks
