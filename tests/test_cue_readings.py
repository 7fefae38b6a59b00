"""What a time means beside its usual reading, and whether a question asks for anything else."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import pytest
from cue_cases import ASKED, ASKED_US, day_of, meaning, microseconds
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.cues.parse import LONGEST_QUESTION, names_nothing, parse_time_cue
from cpersona_jit.cues.readings import WEEKS_EARLIER
from cpersona_jit.cues.time_cue import US_PER_DAY, declared_cue


def cue_of(question: str, asked_us: int | None = ASKED_US):
    cue = parse_time_cue(question, asked_us)
    assert cue is not None, question
    return cue


def days(span: tuple[int, int]) -> str:
    start, end = span
    assert start % US_PER_DAY == 0 and (end + 1) % US_PER_DAY == 0
    return f"{day_of(start)}..{day_of(end)}"


@pytest.mark.parametrize(
    ("question", "n"),
    [
        ("What did we discuss 3 days ago?", 3),
        ("What did we say in our chat from 12 days ago?", 12),
        ("三日前に何を話した?", 3),
        ("12日前の会話で何を聞いた?", 12),
    ],
)
def test_days_ago_are_full_days_as_well(question: str, n: int) -> None:
    """Wednesday, 10:00: three days ago is Sunday, or from Saturday 10:00 to Sunday 10:00."""
    cue = cue_of(question)
    assert day_of(cue.start_us) == day_of(cue.end_us) == day_of(ASKED_US - n * US_PER_DAY)
    assert cue.readings == ((ASKED_US - (n + 1) * US_PER_DAY + 1, ASKED_US - n * US_PER_DAY),)


@pytest.mark.parametrize(
    ("question", "usual", "other"),
    [
        ("What did I read 2 months ago?", "2024-02-29..2024-03-30", "2024-03-01..2024-03-31"),
        ("二ヶ月前に何を読んだ?", "2024-02-29..2024-03-30", "2024-03-01..2024-03-31"),
        ("What did I read two weeks ago?", "2024-04-28..2024-05-04", "2024-04-29..2024-05-05"),
        ("二週間前に何を読んだ?", "2024-04-28..2024-05-04", "2024-04-29..2024-05-05"),
        ("What did I read in the last 3 days?", "2024-05-13..2024-05-15", "2024-05-12..2024-05-15"),
        ("この三日間で何を読んだ?", "2024-05-13..2024-05-15", "2024-05-12..2024-05-15"),
        (
            "What did I read over this last week?",
            "2024-05-09..2024-05-15",
            "2024-05-08..2024-05-15",
        ),
        ("過去1週間に何を読んだ?", "2024-05-09..2024-05-15", "2024-05-08..2024-05-15"),
    ],
)
def test_units_are_those_of_the_calendar_as_well(question: str, usual: str, other: str) -> None:
    cue = cue_of(question)
    assert meaning(cue) == usual
    assert [days(span) for span in cue.readings] == [other]


@pytest.mark.parametrize(
    "question",
    [
        *("What did I eat about 3 days ago?", "What did I eat 2 or 3 days ago?"),
        *("What did I eat yesterday?", "What did I eat last week?", "What did I eat on May 3?"),
        *("What did I eat two years ago?", "What did I eat in our last session?"),
        *("三日ほど前に何を食べた?", "2、3日前に何を食べた?", "昨日何を食べた?"),
        *("先週何を食べた?", "5月3日に何を食べた?", "二年前に何を食べた?"),
    ],
)
def test_other_times_have_one_reading(question: str) -> None:
    assert cue_of(question).readings == ()


@pytest.mark.parametrize(
    "question",
    [
        *("What did we discuss earlier today?", "What did I say earlier this morning?"),
        *("今日さっき何を話した?", "今日の早い時間に何を話した?"),
    ],
)
def test_earlier_today_is_before_the_conversation_that_is_going_on(question: str) -> None:
    cue = cue_of(question)
    assert meaning(cue) == "2024-05-15"
    nine = microseconds(ASKED.replace(hour=9))
    assert cue.readings == ((cue.start_us, nine),)
    assert cue_of("What did we discuss today?").readings == ()
    assert cue_of("今日何を話した?").readings == ()
    just_after_midnight = microseconds(datetime.fromisoformat("2024-05-15T00:20:00+00:00"))
    assert cue_of(question, just_after_midnight).readings == ()


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did we discuss last Saturday?", "2024-05-04..2024-05-04"),
        ("What did I eat on Saturday?", "2024-05-04..2024-05-04"),
        ("Where did we go last weekend?", "2024-05-04..2024-05-05"),
        ("この前の土曜に何を話した?", "2024-05-04..2024-05-04"),
        ("土曜に何を食べた?", "2024-05-04..2024-05-04"),
    ],
)
def test_a_day_of_the_week_may_be_an_earlier_one(question: str, first: str) -> None:
    cue = cue_of(question)
    assert days(cue.earlier[0]) == first
    assert len(cue.earlier) == WEEKS_EARLIER
    weeks = [start for start, _ in ((cue.start_us, cue.end_us), *cue.earlier)]
    assert {a - b for a, b in pairwise(weeks)} == {7 * US_PER_DAY}


@pytest.mark.parametrize(
    "question",
    [
        *("What did I eat two Saturdays ago?", "What did I eat on Tuesday of last week?"),
        *("What did I eat last May?", "What did I eat on May 3?", "What did I eat 3 days ago?"),
        *("先週の火曜に何を食べた?", "去年の五月に何を食べた?", "三日前に何を食べた?"),
    ],
)
def test_other_times_have_no_earlier_one(question: str) -> None:
    assert cue_of(question).earlier == ()


def test_a_declared_time_has_the_same_readings_as_a_spoken_one() -> None:
    for unit, question in (
        *(("days", "What did I eat 3 days ago?"), ("weeks", "What did I eat 3 weeks ago?")),
        *(("months", "What did I eat 3 months ago?"), ("years", "What did I eat 3 years ago?")),
    ):
        declared = declared_cue({"ago": {"unit": unit, "value": 3}}, ASKED_US)
        spoken = cue_of(question)
        assert declared.readings == spoken.readings, unit
        assert (declared.start_us, declared.end_us) == (spoken.start_us, spoken.end_us)
    assert declared_cue({"ago": {"unit": "days", "value": 0}}, ASKED_US).readings == ()
    assert declared_cue({"after": "2024-05-01"}, ASKED_US).readings == ()


def test_readings_before_the_calendar_are_left_out() -> None:
    asked = microseconds(datetime.fromisoformat("1902-03-05T10:00:00+00:00"))
    days_ago = (datetime.fromtimestamp(asked / 1e6) - datetime(1, 1, 1)).days
    cue = declared_cue({"ago": {"unit": "days", "value": days_ago}}, asked)
    assert all(start <= end for start, end in cue.readings)


@given(
    st.integers(1, 400),
    st.sampled_from(["day", "week", "month"]),
    st.integers(0, 24 * 365 * 60),
)
def test_every_reading_lies_near_the_usual_one(n: int, unit: str, hours: int) -> None:
    asked_us = hours * US_PER_DAY // 24
    cue = parse_time_cue(f"What did I eat {n} {unit}s ago?", asked_us)
    japanese = {"day": "日", "week": "週間", "month": "ヶ月"}[unit]
    assert cue is None or parse_time_cue(f"{n}{japanese}前に何を食べた?", asked_us) is not None
    for start, end in () if cue is None else cue.readings:
        assert start <= end <= asked_us
        assert end >= cue.start_us - US_PER_DAY and start <= cue.end_us + US_PER_DAY


# -- does it ask for anything else? ---------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        *("What did we discuss 3 days ago?", "Can you summarise what we talked about last week?"),
        *("What were the topics of our last session?", "Show me our chats from March 2024."),
        *("What did I do last Saturday?", "What happened on May 3?"),
        *("三日前に何を話した?", "先週の会話を要約してください", "前回の会話の話題は何だったっけ?"),
        *("4月2日から9日に話したことをまとめて", "昨日、私たちはどんな話をしていた?"),
        "5月2日に何について話していましたか?",
    ],
)
def test_a_bare_question_names_a_time_and_nothing_else(question: str) -> None:
    assert cue_of(question).bare


@pytest.mark.parametrize(
    "question",
    [
        *("What did Sam say 3 days ago?", "What did you recommend last week?"),
        *("What did we discuss about tea last week?", "What did I eat on May 3?"),
        *('What did we say about "It" last week?', "Which K-4471 did we discuss last week?"),
        *("先週お茶について何を話した?", "昨日田中さんと何を話した?", "三日前に何を食べた?"),
        *("先週ももについて話した?", "昨日かにの話をした?", "先週「それ」について何を話した?"),
    ],
)
def test_a_question_about_something_is_not_bare(question: str) -> None:
    assert not cue_of(question).bare


def test_a_question_beside_a_declared_time_is_read_alike() -> None:
    assert names_nothing("What did we discuss?") and names_nothing("何を話した?")
    assert not names_nothing("green tea") and not names_nothing("茶道")
    assert not names_nothing("what " * LONGEST_QUESTION)
