"""Resolvers of times near another: since, before, after, around."""

from __future__ import annotations

from dataclasses import replace

from dateutil.relativedelta import relativedelta

from cpersona_jit.cues.periods import (
    DAY,
    Cycle,
    Period,
    following,
    monday_of,
    preceding,
)
from cpersona_jit.cues.resolve.base import (
    Captures,
    Context,
    Value,
    change_each,
    period_of,
    resolver,
)

NEAR_DAYS = 14
AROUND_DAYS = 3


@resolver
def since(context: Context, captures: Captures, value: Value) -> Period | None:
    """From the start of a time to today; the end stays open when today is unknown."""
    period = period_of(context, value)
    if period is None:
        return None
    end = context.asked.date() if context.asked else None
    if end is not None and end < period.start:
        return None
    return replace(period, end=end)


@resolver
def before(context: Context, captures: Captures, value: Value) -> Period | None:
    """Two weeks before a time, that time not included."""
    period = period_of(context, value)
    return period and replace(period, start=period.start - NEAR_DAYS * DAY, end=period.start - DAY)


@resolver
def after(context: Context, captures: Captures, value: Value) -> Period | None:
    """Two weeks after a time, that time not included."""
    period = period_of(context, value)
    return period and replace(period, start=period.end + DAY, end=period.end + NEAR_DAYS * DAY)


@resolver
def around(context: Context, captures: Captures, value: Value) -> Period | None:
    """Three days either side of a day; a longer time is its own surrounding."""
    period = period_of(context, value)
    if period is None or (period.end - period.start).days > NEAR_DAYS:
        return period
    return replace(
        period, start=period.start - AROUND_DAYS * DAY, end=period.end + AROUND_DAYS * DAY
    )


@resolver
def shifted(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "the day before Christmas", "two days after Easter", "the week before X"."""
    n, unit, sign = captures.get("n", 1), captures["unit"], captures["sign"]

    def change(period: Period) -> Period:
        if unit == "day":
            day = (period.start if sign < 0 else period.end) + sign * n * DAY
            return replace(period, start=day, end=day)
        days = {"week": 7, "fortnight": 14}.get(unit, 0)
        if "n" in captures and unit == "week":
            day = (period.start if sign < 0 else period.end) + sign * days * n * DAY
            return replace(period, start=day - AROUND_DAYS * DAY, end=day + AROUND_DAYS * DAY)
        length = days * DAY if days else relativedelta(months=n)
        if sign < 0:
            return replace(period, start=period.start - length, end=period.start - DAY)
        return replace(period, start=period.end + DAY, end=period.end + length)

    return change_each(value, change)


@resolver
def neighbour(
    context: Context, captures: Captures, cycle: Cycle, value: Value
) -> Period | Cycle | None:
    """Resolve "the Friday before Christmas", "the weekend after Easter"."""

    def change(period: Period) -> Period | None:
        if captures["sign"] < 0:
            found = preceding(cycle, period.start)
        else:
            found = following(cycle, period.end)
        return found and replace(found, absolute=period.absolute)

    return change_each(value, change)


@resolver
def week_of(context: Context, captures: Captures, value: Value) -> Value | None:
    """Calendar week, or weekend, that holds a day."""

    def change(period: Period) -> Period:
        monday = monday_of(period.start)
        if captures.get("unit") != "weekend":
            return replace(period, start=monday, end=monday + 6 * DAY)
        # The weekend of a Monday is the one before it.
        saturday = monday + (-2 if period.start == monday else 5) * DAY
        return replace(period, start=saturday, end=saturday + DAY)

    return change_each(value, change)
