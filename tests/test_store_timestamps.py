"""ISO 8601 in, UTC microseconds out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.records import format_utc
from cpersona_jit.store.timestamps import now_us, parse_timestamp

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


NOON = us(datetime(2024, 3, 5, 12, 0, tzinfo=UTC))
MIDNIGHT = us(datetime(2024, 3, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-05", MIDNIGHT),
        ("20240305", MIDNIGHT),
        ("2024-03-05T12:00", NOON),
        ("2024-03-05T12", NOON),
        ("2024-03-05T12:00:00", NOON),
        ("2024-03-05 12:00:00", NOON),
        ("2024-03-05t12:00:00z", NOON),
        ("  2024-03-05T12:00:00Z\n", NOON),
        ("20240305T120000Z", NOON),
        ("20240305T1200", NOON),
        ("2024-03-05T21:00:00+09:00", NOON),
        ("2024-03-05T21:00:00+0900", NOON),
        ("2024-03-05 21:00:00 +09:00", NOON),
        ("2024-03-05T21+09", NOON),
        ("2024-03-05T07:00:00-05:00", NOON),
        ("2024-03-05T07:00:00\u221205:00", NOON),
        ("2024-03-05T17:30:00+05:30", NOON),
        ("2024-03-05T12:00:00.000001", NOON + 1),
        ("2024-03-05T12:00:00,5Z", NOON + 500_000),
        ("2024-03-05T12:00:00.1234567899Z", NOON + 123_456),
        ("20240305T120000.25Z", NOON + 250_000),
        ("2024-03-04T24:00:00", MIDNIGHT),
        ("2024-03-04T23:59:60Z", MIDNIGHT),
        ("２０２４－０３－０５", MIDNIGHT),
        ("２０２４－０３－０５Ｔ２１：００：００＋０９：００", NOON),
        ("2024-03-05　12:00", NOON),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("0001-01-01", us(datetime(1, 1, 1, tzinfo=UTC))),
        ("0001-01-01T23:59:00+23:59", us(datetime(1, 1, 1, tzinfo=UTC))),
        ("9999-12-31T23:59:59-23:59", us(datetime(9999, 12, 31, tzinfo=UTC)) + 172_739_000_000),
        ("2024-02-29", us(datetime(2024, 2, 29, tzinfo=UTC))),
    ],
)
def test_forms_that_are_read(text, expected):
    assert parse_timestamp(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "yesterday",
        "きのう",
        "2024年3月5日",
        "令和6年3月5日",
        "March 5, 2024",
        "2024/03/05",
        "2024-3-5",
        "2024-03",
        "2024",
        "1709640000",
        "2023-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-04-31",
        "0000-01-01",
        "0001-01-01T00:00:00+00:01",
        "2024-03-05T25:00",
        "2024-03-05T24:00:01",
        "2024-03-05T12:60",
        "2024-03-05T12:00:61",
        "2024-03-05T12:00.5",
        "2024-03-05T12:00:00+24:00",
        "2024-03-05T12:00:00+09:60",
        "2024-03-05T12:00:00 JST",
        "2024-03-05T",
        "2024-03-05X12:00",
        "2024-03-05T12:00:00Z Z",
        "٢٠٢٤-٠٣-٠٥",
        "2024-03-05\x00",
        "+002024-03-05",
        "-2024-03-05",
    ],
)
def test_forms_that_are_not(text):
    assert parse_timestamp(text) is None


@given(
    st.datetimes(timezones=st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m))))
)
def test_every_isoformat_is_read_exactly(moment):
    expected = us(moment)
    assert parse_timestamp(moment.isoformat()) == expected
    assert parse_timestamp(moment.isoformat(" ")) == expected


@given(st.datetimes())
def test_naive_is_utc_and_the_text_of_a_time_reads_back(moment):
    expected = us(moment.replace(tzinfo=UTC))
    assert parse_timestamp(moment.isoformat()) == expected
    assert parse_timestamp(format_utc(expected)) == expected


@given(st.text(max_size=64))
def test_any_text_is_an_instant_or_none(text):
    found = parse_timestamp(text)
    assert found is None or isinstance(found, int)


def test_format():
    assert format_utc(0) == "1970-01-01T00:00:00Z"
    assert format_utc(NOON + 1) == "2024-03-05T12:00:00.000001Z"


def test_now_is_now():
    before = datetime.now(UTC) - timedelta(seconds=1)
    assert us(before) <= now_us() <= us(datetime.now(UTC) + timedelta(seconds=1))
