"""The parser on questions that were written before its rules, by somebody else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpersona_jit.cues.time_cue import US_PER_DAY, SessionReference, TimeCue
from harness.cue_parser_score import CueScore, Share, is_right, main_lines, score_folder

QUESTIONS = Path(__file__).parent / "data" / "time_cues"
RIGHT_PERCENT = 95.0
FALSE_ALARM_PERCENT = 3.0


@pytest.fixture(scope="module")
def score() -> CueScore:
    return score_folder(QUESTIONS)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_periods_and_sessions_are_right(score: CueScore, language: str) -> None:
    assert score.right[language].of >= 80
    assert score.right[language].percent >= RIGHT_PERCENT


def test_false_alarms_are_rare(score: CueScore) -> None:
    assert score.false_alarms["all"].of >= 80
    assert score.false_alarms["all"].percent <= FALSE_ALARM_PERCENT


def test_the_counts_add_up(score: CueScore) -> None:
    for total, parts in (
        (score.right, score.right_by_kind),
        (score.false_alarms, score.false_alarms_by_kind),
    ):
        for language in ("en", "ja"):
            own = [share for (name, _), share in parts.items() if name == language]
            assert total[language] == Share(sum(s.count for s in own), sum(s.of for s in own))
        assert total["all"].of == total["en"].of + total["ja"].of
    for language, missed in score.missed.items():
        assert missed <= score.right[language].of - score.right[language].count


def test_the_lines_show_no_question(score: CueScore) -> None:
    text = "\n".join(main_lines(score))
    for path in QUESTIONS.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert json.loads(line)["question"] not in text


def cue(first: int, last: int) -> TimeCue:
    start_us, end_us = first * US_PER_DAY, (last + 1) * US_PER_DAY - 1
    return TimeCue(start_us, end_us, None, "sure", "x", "en.x", True)


@pytest.mark.parametrize(
    ("first", "last", "right"),
    [
        (0, 9, True),
        (-1, 10, True),  # one day is always allowed
        (2, 9, False),
        (0, 11, False),
    ],
)
def test_both_ends_count(first: int, last: int, right: bool) -> None:
    case = {"period": ["1970-01-01", "1970-01-10"], "session": None}
    assert is_right(case, cue(first, last)) is right


def test_a_tenth_of_a_long_period_is_allowed() -> None:
    case = {"period": ["1970-01-01", "1970-04-10"], "session": None}  # 100 days
    assert is_right(case, cue(10, 109))
    assert not is_right(case, cue(11, 99))


@pytest.mark.parametrize(
    ("wanted", "reference"),
    [
        ({"ago": 2}, SessionReference("ago", 2)),
        ({"ordinal": 3}, SessionReference("ordinal", 3)),
        ({"ordinal": 3, "to": 5}, SessionReference("range", 3, 5)),
        ({"first": 3}, SessionReference("first", 3)),
        ({"last": 3}, SessionReference("last", 3)),
    ],
)
def test_sessions_must_be_equal(wanted: dict, reference: SessionReference) -> None:
    case = {"period": None, "session": wanted}
    found = TimeCue(None, None, reference, "sure", "x", "en.x", False)
    assert is_right(case, found)
    other = SessionReference(reference.kind, reference.n + 1, reference.to)
    assert not is_right(case, TimeCue(None, None, other, "sure", "x", "en.x", False))
    assert not is_right(case, cue(0, 9))
    assert not is_right(case, None)
