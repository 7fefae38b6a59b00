"""ISO 8601 text to UTC microseconds and back, in integers only."""

from __future__ import annotations

import re
import time
import unicodedata
from datetime import UTC, date, datetime

US_PER_SECOND = 1_000_000
US_PER_DAY = 86_400 * US_PER_SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = _EPOCH.date().toordinal()
# The first and the last microsecond that a calendar date can name.
MIN_TIME_US = (1 - _EPOCH_DAY) * US_PER_DAY
MAX_TIME_US = (date.max.toordinal() + 1 - _EPOCH_DAY) * US_PER_DAY - 1

_ISO = re.compile(
    r"""
    (?P<year>\d{4})
    (?: -(?P<month>\d\d)-(?P<day>\d\d) | (?P<month_c>\d\d)(?P<day_c>\d\d) )
    (?: (?: [Tt] | \ + )
        (?P<hour>\d\d)
        (?: :(?P<minute>\d\d) (?: :(?P<second>\d\d) (?: [.,](?P<fraction>\d+) )? )?
          | (?P<minute_c>\d\d) (?: (?P<second_c>\d\d) (?: [.,](?P<fraction_c>\d+) )? )?
        )?
        (?: \ ?(?: [Zz] | (?P<sign>[+-])(?P<offset_hour>\d\d)(?: :?(?P<offset_minute>\d\d) )? ) )?
    )?
    """,
    re.ASCII | re.VERBOSE,
)


def now_us() -> int:
    """Return the present in UTC microseconds since 1970."""
    return time.time_ns() // 1000


def parse_timestamp(text: str) -> int | None:
    """UTC microseconds since 1970 of an ISO 8601 calendar date or date-time.

    Extended and compact forms, ``T`` or a space between date and time, ``Z`` or an offset; without
    an offset it is UTC, without a time it is midnight. Full-width digits and signs, as Japanese
    input methods produce them, are read as their ASCII forms.

    Returns
    -------
    int or None
        None when the text is empty, has another form, or names a time that does not exist or that
        an offset moves before the year 1 in UTC.
    """
    part = _parts(text)
    if part is None:
        return None
    try:
        day = date(
            int(part["year"]),
            int(part["month"] or part["month_c"]),
            int(part["day"] or part["day_c"]),
        )
    except ValueError:
        return None
    clock = _clock_us(part)
    offset = _offset_us(part)
    if clock is None or offset is None:
        return None
    moment = (day.toordinal() - _EPOCH_DAY) * US_PER_DAY + clock - offset
    return moment if moment >= MIN_TIME_US else None


def end_of(text: str) -> int | None:
    """As `parse_timestamp`, of the end of a span: a date without a time is its last microsecond."""
    moment, part = parse_timestamp(text), _parts(text)
    if moment is None or part is None or part["hour"] is not None:
        return moment
    return moment + US_PER_DAY - 1


def offset_of(text: str) -> int:
    """Offset from UTC of a timestamp, in microseconds; 0 without one, or when it is none."""
    part = _parts(text)
    return (_offset_us(part) or 0) if part else 0


def local_offset_us() -> int:
    """Offset from UTC of this machine's clock at present, in microseconds."""
    offset = datetime.now().astimezone().utcoffset()
    return round(offset.total_seconds()) * US_PER_SECOND if offset else 0


def _parts(text: str) -> dict[str, str | None] | None:
    if text.isascii():
        plain = text.strip()
    else:
        plain = unicodedata.normalize("NFKC", text).replace("\u2212", "-").strip()
    match = _ISO.fullmatch(plain)
    return match.groupdict() if match else None


def _clock_us(part: dict[str, str | None]) -> int | None:
    """Time of day in microseconds; 24:00:00 and a leap second 60 are legal ISO 8601."""
    hour = int(part["hour"] or 0)
    minute = int(part["minute"] or part["minute_c"] or 0)
    second = int(part["second"] or part["second_c"] or 0)
    fraction = int((part["fraction"] or part["fraction_c"] or "")[:6].ljust(6, "0"))
    total = ((hour * 60 + minute) * 60 + second) * US_PER_SECOND + fraction
    if minute > 59 or second > 60 or (hour > 23 and total != US_PER_DAY):
        return None
    return total


def _offset_us(part: dict[str, str | None]) -> int | None:
    if part["sign"] is None:
        return 0
    hour, minute = int(part["offset_hour"] or 0), int(part["offset_minute"] or 0)
    if hour > 23 or minute > 59:
        return None
    size = (hour * 60 + minute) * 60 * US_PER_SECOND
    return -size if part["sign"] == "-" else size
