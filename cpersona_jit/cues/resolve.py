"""Resolvers: from what a form captured to a period, a cycle or a session reference.

A resolver gets the time of the question, the captures and the values of the slots. It returns None
when there is no such time, and raises ValueError or OverflowError when the calendar has none. The
conventions are those of ``tests/data/time_cues/README.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from dateutil.relativedelta import relativedelta

from cpersona_jit.cues.named_days import NAMED_DAYS, SEASONS, nth_weekday
from cpersona_jit.cues.periods import (
    DAY,
    Cycle,
    Period,
    changed,
    day_of_month,
    hull,
    latest,
    monday_of,
    month_of,
    single,
    weekly,
    yearly,
)
from cpersona_jit.cues.time_cue import SessionReference

Value = Period | Cycle | SessionReference
Captures = dict[str, Any]


class NoReferenceError(Exception):
    """A relative time was met, and nobody said when the question was asked."""


@dataclass(frozen=True, slots=True)
class Context:
    """When the question was asked; None is unknown."""

    asked: datetime | None

    @property
    def now(self) -> datetime:
        """Time of the question."""
        if self.asked is None:
            raise NoReferenceError
        return self.asked

    @property
    def today(self) -> date:
        """Day of the question."""
        return self.now.date()


Resolver = Callable[..., Value | None]
RESOLVERS: dict[str, Resolver] = {}


def resolver(function: Resolver) -> Resolver:
    """Enter a function under its name; forms name it as text."""
    RESOLVERS[function.__name__] = function
    return function


def period_of(context: Context, value: Value) -> Period | None:
    """Period that a value means when nothing more is said."""
    return latest(value, context.today) if isinstance(value, Cycle) else value


# Points and spans counted from today.


@resolver
def same(context: Context, captures: Captures, value: Value) -> Value | None:
    """Words around a time that change nothing but make it a cue."""
    return period_of(context, value)


@resolver
def days_back(context: Context, captures: Captures) -> Period:
    """One day: yesterday, the day before yesterday."""
    return single(context.today - captures["days"] * DAY)


@resolver
def ago(context: Context, captures: Captures) -> Period:
    """Resolve "3 days ago", "about 3 weeks ago", "2 or 3 months ago"."""
    unit = captures["unit"]
    width = 3 if captures.get("about") else 0
    counts = [captures.get("n", 1), captures.get("m", captures.get("n", 1))]
    return hull(*(_ago(context, unit, count, width) for count in counts))


def _ago(context: Context, unit: str, n: int, width: int = 0) -> Period:
    if unit in _CALENDAR_DAYS:
        day = context.today - n * _CALENDAR_DAYS[unit] * DAY
        return Period(day - 3 * DAY, day + 3 * DAY)
    if unit in _MONTHS:
        day = context.today - relativedelta(months=n * _MONTHS[unit])
        return Period(day - 15 * DAY, day + 15 * DAY)
    if unit in _YEARS:
        return year(context.today.year - n * _YEARS[unit])
    moment = context.now - n * _CLOCK[unit]
    return Period(moment.date() - width * DAY, moment.date() + width * DAY)


_CLOCK = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
_CALENDAR_DAYS = {"week": 7, "fortnight": 14}
_MONTHS = {"month": 1, "half year": 6, "quarter": 3}
_YEARS = {"year": 1, "decade": 10}


@resolver
def ago_and_half(context: Context, captures: Captures) -> Period:
    """Resolve "a year and a half ago"."""
    n, unit = captures["n"], captures["unit"]
    if unit == "year":
        return _ago(context, "month", 12 * n + 6)
    if unit == "decade":
        return _ago(context, "year", 10 * n + 5)
    days = {"month": 30 * n + 15, "week": 7 * n + 3, "day": n}[unit]
    return _ago(context, "day", days, 3)


@resolver
def exactly_ago(context: Context, captures: Captures) -> Period:
    """Resolve "a year ago today": one day."""
    n, unit = captures.get("n", 1), captures["unit"]
    return single(_back(context.today, unit, n))


def _back(day: date, unit: str, n: int) -> date:
    if unit in _MONTHS:
        return day - relativedelta(months=n * _MONTHS[unit])
    if unit in _YEARS:
        return day - relativedelta(years=n * _YEARS[unit])
    return day - n * {"day": 1, **_CALENDAR_DAYS}[unit] * DAY


@resolver
def this_time(context: Context, captures: Captures) -> Period:
    """Resolve "around this time last year": a month around the same day."""
    day = _back(context.today, captures["unit"], captures.get("n", 1))
    width = 3 if captures["unit"] == "month" else 15
    return Period(day - width * DAY, day + width * DAY)


@resolver
def past(context: Context, captures: Captures) -> Period:
    """Resolve "the past 3 weeks": a span that ends today; a range counts to its far end."""
    n, unit = max(captures.get("n", 1), captures.get("m", 0)), captures["unit"]
    if unit in ("hour", "minute"):
        return Period((context.now - n * _CLOCK[unit]).date(), context.today)
    if captures.get("half"):
        halves = {"year": (12 * n + 6, "month"), "month": (30 * n + 15, "day")}
        n, unit = halves.get(unit) or (7 * n + 3, "day")
    return Period(_back(context.today, unit, n) + DAY, context.today)


@resolver
def calendar(context: Context, captures: Captures) -> Period:
    """Resolve "last week", "this month", "the year before last": whole calendar units."""
    unit, back = captures["unit"], captures["back"]
    return calendar_unit(context.today, unit, back)


def calendar_unit(today: date, unit: str, back: int) -> Period:
    """Whole calendar unit, some units before the one that holds `today`."""
    if unit == "week":
        start = monday_of(today) - 7 * back * DAY
        return Period(start, start + 6 * DAY)
    if unit == "weekend":
        start = monday_of(today) + (5 - 7 * back) * DAY
        return Period(start, start + DAY)
    if unit == "year":
        return replace(year(today.year - back), absolute=False)
    if unit == "decade":
        return Period(*_decade(today.year - today.year % 10 - 10 * back))
    if unit == "fiscal year":
        return month_of(today.year - back - (today.month < 4), 4, 12)
    months = {"month": 1, "quarter": 3, "half": 6}[unit]
    first = today.month - (today.month - 1) % months
    start = date(today.year, first, 1) - relativedelta(months=months * back)
    return month_of(start.year, start.month, months)


def year(number: int) -> Period:
    """One calendar year."""
    return Period(date(number, 1, 1), date(number, 12, 31))


def _decade(first: int) -> tuple[date, date]:
    return date(first, 1, 1), date(first + 9, 12, 31)


# Times with a name or a number of their own.


@resolver
def full_date(context: Context, captures: Captures) -> Period:
    """Resolve a day with its year."""
    number = captures["year"]
    number += 2000 if number < 100 else 0
    return replace(single(date(number, captures["month"], captures["day"])), absolute=True)


@resolver
def slashed_date(context: Context, captures: Captures) -> Period | Cycle:
    """Month/day, or day/month when only that can be; with or without a year behind it."""
    month, day = captures["first"], captures["second"]
    if month > 12:
        month, day = day, month
    if "year" in captures:
        return full_date(context, {**captures, "month": month, "day": day})
    return yearly_date(context, {"month": month, "day": day})


@resolver
def yearly_date(context: Context, captures: Captures) -> Cycle:
    """Resolve a day without its year."""
    month, day = captures["month"], captures["day"]
    date(2000, month, day)
    return yearly(lambda number: single(date(number, month, day)))


@resolver
def numbered_year(context: Context, captures: Captures) -> Period:
    """A year by its number, or by era and number."""
    number = captures["year"] + captures.get("era", 0)
    return replace(year(number), absolute=True)


@resolver
def numbered_month(context: Context, captures: Captures) -> Period:
    """A month written in digits with its year."""
    return replace(month_of(captures["year"], captures["month"]), absolute=True)


@resolver
def fiscal_year(context: Context, captures: Captures) -> Period:
    """Resolve a Japanese fiscal year: from April on."""
    number = captures["year"] + captures.get("era", 0)
    return replace(month_of(number, 4, 12), absolute=True)


@resolver
def decade(context: Context, captures: Captures) -> Period:
    """Resolve "the 1990s"."""
    return Period(*_decade(captures["year"]), absolute=True)


@resolver
def month(context: Context, captures: Captures) -> Cycle:
    """Resolve a month of the year."""
    return yearly(lambda number: month_of(number, captures["month"]))


@resolver
def weekday(context: Context, captures: Captures) -> Cycle:
    """Resolve a day of the week."""
    return weekly(captures["weekday"])


@resolver
def weekend(context: Context, captures: Captures) -> Cycle:
    """Saturday and Sunday."""
    return weekly(5, 2)


@resolver
def season(context: Context, captures: Captures) -> Cycle:
    """Three months; a winter carries the year it begins in."""
    return yearly(SEASONS[captures["season"]])


@resolver
def named_day(context: Context, captures: Captures) -> Cycle:
    """Resolve Christmas, Golden Week, New Year's Eve."""
    return yearly(NAMED_DAYS[captures["name"]])


@resolver
def quarter(context: Context, captures: Captures) -> Cycle:
    """Three months of the calendar year."""
    return yearly(lambda number: month_of(number, 3 * captures["n"] - 2, 3))


@resolver
def half_year(context: Context, captures: Captures) -> Cycle:
    """Six months of the calendar year."""
    return yearly(lambda number: month_of(number, 6 * captures["n"] - 5, 6))


@resolver
def nth(context: Context, captures: Captures) -> Cycle:
    """Resolve "the 14th": a day of some month."""
    return day_of_month(captures["day"])


@resolver
def weekday_of_month(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "the first Monday of March"."""

    def change(period: Period) -> Period:
        first, named = period.start, captures["weekday"]
        weekend = named == "weekend"
        day = nth_weekday(first.month, 5 if weekend else named, captures["n"])(first.year).start
        return replace(period, start=day, end=day + weekend * DAY)

    return _changed(value, change)


def _changed(value: Value, change: Callable[[Period], Period | None]) -> Value | None:
    return changed(value, change) if isinstance(value, Cycle) else change(value)
