"""Parts of a period: early, middle, late, halves, numbered weeks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from cpersona_jit.cues.periods import DAY, Period, month_of

# Longest number of days of each kind of period that has parts.
_WEEK, _MONTH, _SEASON, _YEAR = 8, 31, 92, 366


def part_of_period(part: str, period: Period) -> Period | None:
    """Part of a week, a month, a season or a year; None when it has no such part."""
    days = (period.end - period.start).days + 1
    parts = next((parts for limit, parts in _PARTS if days <= limit), {})
    if part not in parts:
        return None
    start, end = parts[part](period.start, period.end)
    return replace(period, start=start, end=end)


Bounds = tuple[date, date]
Part = Callable[[date, date], Bounds]


def _days(first: int, last: int | None) -> Part:
    """Days by their number; None is the end of the period."""
    return lambda start, end: (
        start + (first - 1) * DAY,
        end if last is None else start + (last - 1) * DAY,
    )


def _last_days(count: int) -> Part:
    return lambda start, end: (end - (count - 1) * DAY, end)


def _months(first: int, count: int) -> Part:
    """Months by their number, counted from the start of the period."""

    def bounds(start: date, end: date) -> Bounds:
        year, month = divmod(start.month - 1 + first - 1, 12)
        period = month_of(start.year + year, month + 1, count)
        return period.start, period.end

    return bounds


_WEEK_PARTS = {
    "early": _days(1, 2),
    "mid": _days(3, 4),
    "late": _days(5, None),
    "start": _days(1, 1),
    "first half": _days(1, 3),
    "second half": _days(4, None),
}
_MONTH_PARTS = {
    "early": _days(1, 10),
    "mid": _days(11, 20),
    "late": _days(21, None),
    "start": _days(1, 10),
    "first half": _days(1, 15),
    "second half": _days(16, None),
    "week 1": _days(1, 7),
    "week 2": _days(8, 14),
    "week 3": _days(15, 21),
    "week 4": _days(22, 28),
    "last week": _last_days(7),
    "first day": _days(1, 1),
    "last day": _last_days(1),
}
_SEASON_PARTS = {
    "early": _months(1, 1),
    "mid": _months(2, 1),
    "late": _months(3, 1),
    "start": _months(1, 1),
}
_YEAR_PARTS = {
    "early": _months(1, 4),
    "mid": _months(5, 4),
    "late": _months(9, 4),
    "start": _months(1, 4),
    "first half": _months(1, 6),
    "second half": _months(7, 6),
    "week 1": _days(1, 7),
    "last week": _last_days(7),
    "first day": _days(1, 1),
    "last day": _last_days(1),
}

_PARTS = (
    (_WEEK, _WEEK_PARTS),
    (_MONTH, _MONTH_PARTS),
    (_SEASON, _SEASON_PARTS),
    (_YEAR, _YEAR_PARTS),
)
