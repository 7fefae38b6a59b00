"""Every English form and guard on the examples that stand beside it in its table."""

from __future__ import annotations

from collections import Counter

import pytest
from cue_cases import (
    ASKED_US,
    counter_examples,
    day_of,
    examples,
    guarded,
    read,
    unguarded,
)

from cpersona_jit.cues.english.language import ENGLISH
from cpersona_jit.cues.parse import find_cue, parse_time_cue


@pytest.mark.parametrize(("form", "question", "meant"), examples(ENGLISH))
def test_an_example_is_read(form: str, question: str, meant: str) -> None:
    assert read(question) == meant
    assert form in find_cue(question, ASKED_US).forms


@pytest.mark.parametrize(("form", "question"), counter_examples(ENGLISH))
def test_a_counter_example_is_no_cue(form: str, question: str) -> None:
    assert read(question) is None


@pytest.mark.parametrize(("guard", "question"), guarded(ENGLISH))
def test_a_guard_holds(guard: str, question: str) -> None:
    assert read(question) is None


@pytest.mark.parametrize(("guard", "question"), unguarded(ENGLISH))
def test_a_guard_lets_pass(guard: str, question: str) -> None:
    assert read(question) is not None


def test_every_form_and_guard_has_its_examples() -> None:
    forms = [(f.id, len(f.examples), len(f.counter_examples)) for f in ENGLISH.forms]
    assert [name for name, positive, negative in forms if positive < 3 or negative < 2] == []
    guards = [(g.id, len(g.examples), len(g.counter_examples)) for g in ENGLISH.guards]
    assert [name for name, held, passed in guards if held < 3 or passed < 2] == []


def test_ids_are_unique() -> None:
    ids = Counter([form.id for form in ENGLISH.forms] + [guard.id for guard in ENGLISH.guards])
    assert [name for name, count in ids.items() if count > 1] == []


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("What did we discuss last Friday?", False),
        ("What did I eat last Friday?", True),
        ("Which city did you recommend in May?", False),
        ("Where did I go in May?", True),
        ("What did I cook in our last session?", False),
    ],
)
def test_an_event_is_told_from_talk(question: str, event: bool) -> None:
    assert parse_time_cue(question, ASKED_US).about_event is event


@pytest.mark.parametrize(
    ("question", "words", "certainty"),
    [
        ("What did I eat on  the\u00a014th, Ana?", "on  the\u00a014th", "sure"),
        ("What did I eat the other week, or TWO WEEKS AGO?", "TWO WEEKS AGO", "likely"),
        ("What did I eat around March\u200915?", "around March\u200915", "vague"),
        ("What did I say in the twenty-first session?", "in the twenty-first session", "sure"),
    ],
)
def test_words_are_those_of_the_question(question: str, words: str, certainty: str) -> None:
    cue = parse_time_cue(question, ASKED_US)
    assert (cue.words, cue.certainty) == (words, certainty)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("In the first session, what sport did Ana mention?", "session ordinal 1"),
        ("What changed between session 3 and 5?", "session range 3 5"),
        ("What did we plan earlier today?", "2024-05-15"),
        ("What did we discuss on April 5th?", "2024-04-05"),
        ("What did we discuss in the last 2 weeks?", "2024-05-02..2024-05-15"),
        # The date of the conversation, not the day that was spoken of in it.
        ("What did he do last weekend, according to the chat on May 4, 2024?", "2024-05-04"),
        # The longest form wins.
        ("What did I say on Tuesday of last week?", "2024-05-07"),
        ("What did I say in May of last year?", "2023-05-01..2023-05-31"),
    ],
)
def test_the_right_one_of_several_readings_wins(question: str, meant: str) -> None:
    assert read(question) == meant


def test_of_two_equally_long_times_the_first_wins() -> None:
    assert read("Was it 3 days ago, or was it 5 days ago that we spoke?") == "2024-05-12"


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did we discuss on May 3, 2023?", "2023-05-03", "2023-05-03"),
        ("What did we do in the summer of 2022?", "2022-06-01", "2022-08-31"),
        ("What did we do between 2019 and 2021?", "2019-01-01", "2021-12-31"),
        ("What have I read since March 2023?", "2023-03-01", None),
    ],
)
def test_absolute_times_need_no_reference(question: str, start: str, end: str | None) -> None:
    cue = parse_time_cue(question, None)
    assert str(day_of(cue.start_us)) == start
    assert (cue.end_us if end is None else str(day_of(cue.end_us))) == end


def test_sessions_need_no_reference() -> None:
    assert parse_time_cue("What did we say two sessions ago?", None).session.n == 2


@pytest.mark.parametrize(
    "question",
    [
        "What did we discuss last week?",
        "What did we discuss on May 3?",
        "What did we discuss in May?",
        "What did I eat on Tuesday?",
        "What did I eat two days ago?",
        "What did I eat last Christmas?",
    ],
)
def test_relative_times_need_a_reference(question: str) -> None:
    assert read(question) is not None
    assert parse_time_cue(question, None) is None


def test_a_time_that_lies_ahead_is_no_cue() -> None:
    assert read("What did I say about the trip on May 3, 2031?") is None


def test_a_pasted_passage_is_no_question() -> None:
    question = "What did I say on May 3, 2023? "
    assert read(question) == "2023-05-03"
    assert read(question + "And so on. " * 200) is None
