"""Resolvers of ranges of times."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from cpersona_jit.cues.periods import (
    Cycle,
    Period,
    changed,
    day_of_month,
    following,
    hull,
)
from cpersona_jit.cues.resolve.base import (
    Captures,
    Context,
    Value,
    change_each,
    period_of,
    resolver,
)


@resolver
def to_day(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "March 3 to 9", 4月2日から9日: the next such day of the month after the start."""
    return change_each(value, lambda period: _extended(period, day_of_month(captures["to"])))


@resolver
def days_of_month(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "3-9 March", "the 3rd to the 9th of last month"."""
    first, to = captures["from"], captures["to"]
    if to < first:
        return None

    def change(period: Period) -> Period:
        start = period.start
        return replace(period, start=start.replace(day=first), end=start.replace(day=to))

    return change_each(value, change)


def _extended(period: Period, cycle: Cycle) -> Period | None:
    end = following(cycle, period.start)
    return end and replace(period, end=end.end)


@resolver
def span(context: Context, captures: Captures, first: Value, second: Value) -> Value | None:
    """Range: without a year it starts on the latest such start and ends on the first such end."""
    if isinstance(first, Cycle) and isinstance(second, Cycle):
        return changed(first, lambda period: _extended(period, second))
    if isinstance(first, Period) and isinstance(second, Cycle):
        return _extended(first, second)
    if isinstance(first, Cycle):
        begun = [p for p in first.around(second.start) if p.start < second.start]
        return hull(replace(begun[-1], absolute=second.absolute), second) if begun else None
    return hull(first, second) if first.start <= second.end else None


@resolver
def either(context: Context, captures: Captures, first: Value, second: Value) -> Period | None:
    """Resolve "in March or April", "yesterday or the day before": both."""
    periods = period_of(context, first), period_of(context, second)
    return hull(*periods) if all(periods) else None


@resolver
def month_days(context: Context, captures: Captures, container: Period) -> Period | None:
    """Resolve 先月の三日から九日."""
    first: date = container.start
    return Period(first.replace(day=captures["from"]), first.replace(day=captures["to"]))
