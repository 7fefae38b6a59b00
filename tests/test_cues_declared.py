"""The cue a caller declares: what is understood, and what is refused by name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cue_cases import ASKED, ASKED_US, day_of, meaning, microseconds
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.cues.time_cue import (
    CERTAINTIES,
    LONG_AGO_DAYS,
    RECENTLY_DAYS,
    US_PER_DAY,
    SessionReference,
    declared_cue,
)
from cpersona_jit.errors import UsageError


@pytest.mark.parametrize(
    ("wire", "meant"),
    [
        ({"after": "2024-03-01", "before": "2024-03-09"}, "2024-03-01..2024-03-09"),
        ({"after": "2024-03-05", "before": "2024-03-05"}, "2024-03-05"),
        ({"ago": {"unit": "days", "value": 0}}, "2024-05-15"),
        ({"ago": {"unit": "days", "value": 3}}, "2024-05-12"),
        ({"ago": {"unit": "weeks", "value": 2}}, "2024-04-28..2024-05-04"),
        ({"ago": {"unit": "months", "value": 1}}, "2024-03-31..2024-04-30"),
        ({"ago": {"unit": "years", "value": 2}}, "2022-01-01..2022-12-31"),
        ({"ago": {"unit": "years", "value": 0}}, "2024-01-01..2024-05-15"),
        ({"ago": {"unit": "weeks", "value": 0}}, "2024-05-12..2024-05-15"),
        ({"sessions_ago": 2}, "session ago 2"),
    ],
)
def test_a_declared_cue_is_understood(wire: dict, meant: str) -> None:
    assert meaning(declared_cue(wire, ASKED_US)) == meant


def test_ends_may_be_open() -> None:
    after = declared_cue({"after": "2024-03-01"}, ASKED_US)
    assert (after.start_us, after.end_us) == (microseconds(datetime(2024, 3, 1, tzinfo=UTC)), None)
    before = declared_cue({"before": "2024-03-01"}, ASKED_US)
    assert before.start_us is None and day_of(before.end_us) == datetime(2024, 3, 1).date()


def test_times_are_utc_unless_they_say_otherwise() -> None:
    wire = {"after": "2024-03-01T09:00:00+09:00", "before": "2024-03-01T12:30:00"}
    cue = declared_cue(wire, ASKED_US)
    assert cue.start_us == microseconds(datetime(2024, 3, 1, 0, tzinfo=UTC))
    assert cue.end_us == microseconds(datetime(2024, 3, 1, 12, 30, tzinfo=UTC))


def test_a_date_ends_with_its_day() -> None:
    cue = declared_cue({"before": "2024-03-01"}, ASKED_US)
    assert (cue.end_us + 1) % US_PER_DAY == 0


def test_named_times_are_vague_and_touch_now() -> None:
    recently = declared_cue({"named": "recently"}, ASKED_US)
    assert (recently.start_us, recently.end_us) == (
        ASKED_US - RECENTLY_DAYS * US_PER_DAY,
        ASKED_US,
    )
    long_ago = declared_cue({"named": "long_ago"}, ASKED_US)
    assert (long_ago.start_us, long_ago.end_us) == (None, ASKED_US - LONG_AGO_DAYS * US_PER_DAY)
    assert recently.certainty == long_ago.certainty == "vague"


@pytest.mark.parametrize("certainty", CERTAINTIES)
def test_certainty_is_taken_over(certainty: str) -> None:
    cue = declared_cue({"sessions_ago": 1, "certainty": certainty}, ASKED_US)
    assert cue.certainty == certainty


def test_a_declared_cue_speaks_of_rows_and_has_no_words() -> None:
    cue = declared_cue({"sessions_ago": 1}, ASKED_US)
    assert cue.session == SessionReference("ago", 1)
    assert (cue.words, cue.form, cue.about_event) == ("", "declared.sessions_ago", False)


@pytest.mark.parametrize(
    ("wire", "field", "value", "allowed"),
    [
        ({}, "time_cue", "{}", "exactly one"),
        ("last week", "time_cue", "'last week'", "a mapping"),
        ({"certainty": "sure"}, "time_cue", "certainty", "exactly one"),
        ({"sessions_ago": 1, "named": "recently"}, "time_cue", "named", "exactly one"),
        ({"after": "2024-01-01", "ago": {"unit": "days", "value": 1}}, "time_cue", "ago", "one"),
        ({"befor": "2024-01-01"}, "time_cue", "'befor'", "did you mean 'before'?"),
        (
            {"after": "2024-03-09", "before": "2024-03-01"},
            "time_cue.before",
            "2024-03-01",
            "not be",
        ),
        ({"after": "2024-06-01"}, "time_cue.after", "'2024-06-01'", "not later than"),
        ({"after": "2024-06-01", "before": "2024-07-01"}, "time_cue.after", "06-01", "not later"),
        ({"after": "yesterday"}, "time_cue.after", "'yesterday'", "ISO 8601"),
        ({"after": "2024-02-30"}, "time_cue.after", "'2024-02-30'", "ISO 8601"),
        ({"before": 1709251200}, "time_cue.before", "1709251200", "ISO 8601"),
        ({"before": None}, "time_cue.before", "None", "ISO 8601"),
        ({"before": "9999-12-31T23:59:59-10:00"}, "time_cue.before", "9999", "1 to 9999"),
        ({"ago": {"unit": "fortnight", "value": 1}}, "time_cue.ago.unit", "'fortnight'", "weeks"),
        ({"ago": {"unit": "day", "value": 1}}, "time_cue.ago.unit", "'day'", "mean 'days'?"),
        ({"ago": {"unit": ["days"], "value": 1}}, "time_cue.ago.unit", "['days']", "days, weeks"),
        ({"ago": {"unit": "days", "value": -1}}, "time_cue.ago.value", "-1", "from 0 up"),
        ({"ago": {"unit": "days", "value": 1.5}}, "time_cue.ago.value", "1.5", "whole number"),
        ({"ago": {"unit": "days", "value": True}}, "time_cue.ago.value", "True", "whole number"),
        ({"ago": {"unit": "days", "value": 10**9}}, "time_cue.ago.value", "10000", "the year 1"),
        ({"ago": {"unit": "years", "value": 5000}}, "time_cue.ago.value", "5000", "the year 1"),
        ({"ago": {"unit": "days"}}, "time_cue.ago", "{'unit': 'days'}", "exactly the keys"),
        ({"ago": {"unit": "days", "value": 1, "x": 1}}, "time_cue.ago", "'x'", "exactly the keys"),
        ({"ago": 3}, "time_cue.ago", "3", "exactly the keys"),
        ({"named": "lately"}, "time_cue.named", "'lately'", "long_ago, recently"),
        ({"sessions_ago": 0}, "time_cue.sessions_ago", "0", "from 1 up"),
        ({"sessions_ago": -(10**5000)}, "time_cue.sessions_ago", "too many digits", "from 1 up"),
        ({"sessions_ago": "2"}, "time_cue.sessions_ago", "'2'", "whole number"),
        ({"sessions_ago": 1, "certainty": 0.8}, "time_cue.certainty", "0.8", "sure, likely, vague"),
        ({"sessions_ago": 1, "certainty": "likly"}, "time_cue.certainty", "'likly'", "'likely'?"),
        ({"sessions_ago": 1, "certainty": None}, "time_cue.certainty", "None", "sure, likely"),
    ],
)
def test_a_malformed_cue_names_field_value_and_what_is_allowed(
    wire: object, field: str, value: str, allowed: str
) -> None:
    with pytest.raises(UsageError) as caught:
        declared_cue(wire, ASKED_US)
    message = str(caught.value)
    assert message.startswith(f"{field}: ")
    assert value in message and allowed in message
    assert len(message) < 400


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
fields = st.sampled_from(["after", "before", "ago", "named", "sessions_ago", "certainty", "x"])


@given(st.one_of(json_values, st.dictionaries(fields, json_values)))
def test_any_json_is_a_cue_or_a_usage_error(wire: object) -> None:
    try:
        cue = declared_cue(wire, microseconds(ASKED))
    except UsageError:
        return
    assert cue.certainty in CERTAINTIES


@given(st.dates(datetime(1900, 1, 1).date(), ASKED.date()), st.integers(0, 4000))
def test_a_period_is_never_empty(first, days: int) -> None:
    last = first.fromordinal(first.toordinal() + days)
    cue = declared_cue({"after": first.isoformat(), "before": last.isoformat()}, ASKED_US)
    assert cue.end_us - cue.start_us + 1 == (days + 1) * US_PER_DAY
