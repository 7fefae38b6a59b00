"""Every Japanese form and guard on the examples that stand beside it in its table."""

from __future__ import annotations

from collections import Counter

import pytest
from cue_cases import (
    ASKED_US,
    counter_examples,
    examples,
    guarded,
    read,
    unguarded,
)

from cpersona_jit.cues.japanese.language import JAPANESE
from cpersona_jit.cues.parse import find_cue, parse_time_cue


@pytest.mark.parametrize(("form", "question", "meant"), examples(JAPANESE))
def test_an_example_is_read(form: str, question: str, meant: str) -> None:
    assert read(question) == meant
    assert form in find_cue(question, ASKED_US).forms


@pytest.mark.parametrize(("form", "question"), counter_examples(JAPANESE))
def test_a_counter_example_is_no_cue(form: str, question: str) -> None:
    assert read(question) is None


@pytest.mark.parametrize(("guard", "question"), guarded(JAPANESE))
def test_a_guard_holds(guard: str, question: str) -> None:
    assert read(question) is None


@pytest.mark.parametrize(("guard", "question"), unguarded(JAPANESE))
def test_a_guard_lets_pass(guard: str, question: str) -> None:
    assert read(question) is not None


def test_every_form_and_guard_has_its_examples() -> None:
    forms = [(f.id, len(f.examples), len(f.counter_examples)) for f in JAPANESE.forms]
    assert [name for name, positive, negative in forms if positive < 3 or negative < 2] == []
    guards = [(g.id, len(g.examples), len(g.counter_examples)) for g in JAPANESE.guards]
    assert [name for name, held, passed in guards if held < 3 or passed < 2] == []


def test_ids_are_unique() -> None:
    ids = Counter([form.id for form in JAPANESE.forms] + [guard.id for guard in JAPANESE.guards])
    assert [name for name, count in ids.items() if count > 1] == []


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("先週何を話した?", False),
        ("先週何を食べた?", True),
        ("五月に勧めてくれた本は?", False),
        ("五月に行った店は?", True),
    ],
)
def test_an_event_is_told_from_talk(question: str, event: bool) -> None:
    assert parse_time_cue(question, ASKED_US).about_event is event


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("２０２３年２月２１日に話したことは？", "２０２３年２月２１日"),
        ("あの、三日前 に話したことは？", "三日前"),
        ("ｸﾘｽﾏｽﾊﾟｰﾃｨｰでなく、ｺﾞｰﾙﾃﾞﾝｳｨｰｸに話したことは？", "ｺﾞｰﾙﾃﾞﾝｳｨｰｸ"),
        ("二つ前のｾｯｼｮﾝで話したことは？", "二つ前のｾｯｼｮﾝ"),
    ],
)
def test_words_are_those_of_the_question(question: str, words: str) -> None:
    assert parse_time_cue(question, ASKED_US).words == words


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("去年の夏に話したことは?", "2023-06-01..2023-08-31"),
        ("4月2日から9日に話したことは?", "2024-04-02..2024-04-09"),
        ("前回の会話で言ったことは?", "session ago 1"),
        ("二つ前のセッションで言ったことは?", "session ago 2"),
        ("先週の火曜に言ったことは?", "2024-05-07"),
        ("令和五年三月五日に言ったことは?", "2023-03-05"),
    ],
)
def test_the_right_one_of_several_readings_wins(question: str, meant: str) -> None:
    assert read(question) == meant


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("2023年5月3日に話したことは?", True),
        ("2022年の夏に話したことは?", True),
        ("前回の会話で話したことは?", True),
        ("先週話したことは?", False),
        ("5月3日に話したことは?", False),
        ("三日前に話したことは?", False),
    ],
)
def test_only_absolute_times_need_no_reference(question: str, known: bool) -> None:
    assert (parse_time_cue(question, None) is not None) is known


def test_both_languages_are_read_in_one_question() -> None:
    assert read("meetingで決めたことは? I mean last Friday") == "2024-05-10"
    assert read("What was 先週の火曜 about, as we said?") == "2024-05-07"
