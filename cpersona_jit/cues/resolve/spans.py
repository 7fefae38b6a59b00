"""Resolvers of times counted from the day of the question."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from cpersona_jit.cues.periods import (
    DAY,
    Period,
    add_months,
    calendar_unit,
    hull,
    single,
    year_of,
)
from cpersona_jit.cues.resolve.base import (
    Captures,
    Context,
    Value,
    period_of,
    resolver,
)


@resolver
def same(context: Context, captures: Captures, value: Value) -> Value | None:
    """Words around a time that change nothing but make it a cue."""
    return period_of(context, value)


@resolver
def days_back(context: Context, captures: Captures) -> Period:
    """One day: yesterday, the day before yesterday."""
    days = captures["days"]
    return replace(single(context.today - days * DAY), guessed=days == 0)


@resolver
def earlier_today(context: Context, captures: Captures) -> Period:
    """Resolve "earlier today", 今日さっき: today; before the conversation that is going on."""
    return days_back(context, captures)


@resolver
def ago(context: Context, captures: Captures) -> Period:
    """Resolve "3 days ago", "about 3 weeks ago", "2 or 3 months ago"."""
    unit = captures["unit"]
    width = 3 if captures.get("about") else 0
    counts = {captures.get("n", 1), captures.get("m", captures.get("n", 1))}
    return hull(*(_ago(context, unit, count, width) for count in counts))


def _ago(context: Context, unit: str, n: int, width: int = 0) -> Period:
    if unit in _CALENDAR_DAYS:
        day = context.today - n * _CALENDAR_DAYS[unit] * DAY
        return Period(day - 3 * DAY, day + 3 * DAY)
    if unit in _MONTHS:
        day = add_months(context.today, -n * _MONTHS[unit])
        return Period(day - 15 * DAY, day + 15 * DAY)
    if unit in _YEARS:
        return year_of(context.today.year - n * _YEARS[unit])
    moment = context.now - n * _CLOCK[unit]
    return Period(moment.date() - width * DAY, moment.date() + width * DAY)


_CLOCK = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
_CALENDAR_DAYS = {"week": 7, "fortnight": 14, "half month": 15}
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
def within_time(context: Context, captures: Captures) -> Period:
    """Resolve 三日以内: as well a time limit that lies ahead."""
    return replace(past(context, captures), guessed=True)


@resolver
def calendar(context: Context, captures: Captures) -> Period:
    """Resolve "last week", "this month", "the year before last": whole calendar units."""
    unit, back = captures["unit"], captures["back"]
    return replace(calendar_unit(context.today, unit, back), guessed=back == 0)


@resolver
def calendar_word(context: Context, captures: Captures) -> Period:
    """Resolve 先週, 一昨年, 昨年度."""
    unit, back = captures["calendar"]
    return replace(calendar_unit(context.today, unit, back), guessed=back == 0)


@resolver
def weekend_back(context: Context, captures: Captures) -> Period:
    """Resolve 先週末, 先々週末."""
    return calendar_unit(context.today, "weekend", captures["back"])
