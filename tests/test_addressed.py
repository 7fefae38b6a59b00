"""Whose words a question asks for, in English and Japanese."""

from __future__ import annotations

from pathlib import Path

import pytest

import cpersona_jit
from cpersona_jit import AdaptiveSettings, Source
from cpersona_jit.defaults import ROW_ARMS
from cpersona_jit.recall import addressed
from cpersona_jit.recall.adaptive_settings import Structure
from cpersona_jit.recall.addressed import role_addressed

ASKER = (
    "What is the name of my hamster?",
    "How many plants did I buy in spring?",
    "I’m planning a party. Can you recommend a drink?",
    "What did I say about the roof in our last conversation?",
    "私の犬の名前は?",
    "僕が買った自転車はどこのもの?",
    "前回の会話で私は何と言った?",
)
ASSISTANT = (
    "Can you remind me which cheese went into the pie?",
    "What was the third book you recommended?",
    "Which shop have you mentioned to me?",
    "In our previous chat about tents, what was the weight?",
    "What did you suggest for my back?",
    "教えてくれた店の名前は?",
    "あなたが勧めた本はどれ?",
    "前回の会話で出た数字を思い出させて",
)
NOBODY = (
    "When did Mika move to Osaka?",
    "Where is the island of Iki?",
    "What tips are given on mining?",
    "ミカはいつ引っ越した?",
    "私鉄の駅はどこ?",
    "",
)


@pytest.mark.parametrize("question", ASKER)
def test_a_question_in_the_first_person_asks_for_the_askers_words(question: str) -> None:
    assert role_addressed(question) == "user"


@pytest.mark.parametrize("question", ASSISTANT)
def test_a_question_about_what_was_answered_asks_for_the_assistants_words(question: str) -> None:
    assert role_addressed(question) == "assistant"


@pytest.mark.parametrize("question", NOBODY)
def test_other_questions_ask_for_nobodys_words(question: str) -> None:
    assert role_addressed(question) is None


@pytest.mark.parametrize("full_width", [False, True])
def test_width_and_case_do_not_matter(full_width: bool) -> None:
    question = "WHAT DID YOU SUGGEST?"
    if full_width:
        question = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in question)
    assert role_addressed(question) == "assistant"


@pytest.mark.parametrize(
    ("question", "side"),
    [
        ("What do I feed the hamster?", 1),
        ("What did you say of the hamster?", 2),
        ("私のハムスターは?", 1),
        ("What eats oats?", None),
    ],
)
@pytest.mark.parametrize("by_type", [False, True])
def test_the_rows_of_that_side_gain(
    tmp_path: Path, question: str, side: int | None, by_type: bool
) -> None:
    settings = AdaptiveSettings(*ROW_ARMS[1:], depth=10, structure=Structure())
    with cpersona_jit.open(tmp_path / "m.db", "none") as memory:
        for name in ("user", "assistant"):
            source = Source(name, name, "Kim") if by_type else Source("", name, name)
            memory.store("The hamster (ハムスター) eats oats.", agent_id="a", source=source)
        trace = memory.recall(question, agent_id="a", settings=settings, trace=True).trace
    gains = dict(zip(trace.pool_ids.tolist(), trace.contributions["speaker"].tolist(), strict=True))
    assert gains == {row: Structure().speaker * (row == side) for row in (1, 2)}


def test_no_english_pattern_is_passed_over():
    """A question without a word of the clue is not looked at any further."""
    patterns = (*addressed._TO_ASSISTANT, *addressed._FROM_ASKER, *addressed._ASKER_SAID)
    for pattern in patterns:
        if pattern.isascii():
            assert addressed._ENGLISH_CLUE.search(pattern.replace(r"\b", " ")), pattern
