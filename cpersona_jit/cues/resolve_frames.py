"""Resolvers of frames: words around times, parts of times, ranges; and of session references."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from dateutil.relativedelta import relativedelta

from cpersona_jit.cues.parts import part_of_period
from cpersona_jit.cues.periods import (
    DAY,
    Cycle,
    Period,
    changed,
    day_of_month,
    ended,
    following,
    hull,
    latest,
    monday_of,
    preceding,
    within,
)
from cpersona_jit.cues.resolve import (
    Captures,
    Context,
    Value,
    _changed,
    calendar_unit,
    period_of,
    resolver,
)
from cpersona_jit.cues.time_cue import SessionReference

NEAR_DAYS = 14
AROUND_DAYS = 3


@resolver
def last(context: Context, captures: Captures, cycle: Cycle) -> Period | None:
    """Resolve "last May", "two Tuesdays ago": the n-th latest that is over."""
    return ended(cycle, context.today, captures.get("n", 1) + captures.get("more", 0))


@resolver
def this(context: Context, captures: Captures, cycle: Cycle) -> Period | None:
    """Resolve "this summer": the latest that has begun."""
    return latest(replace(cycle, over=False), context.today)


@resolver
def of_this_week(context: Context, captures: Captures, cycle: Cycle) -> Period | None:
    """Resolve "this Monday", "this weekend": the one of this calendar week."""
    return within(cycle, calendar_unit(context.today, "week", 0))


@resolver
def second(context: Context, captures: Captures, first: Value, value: Value) -> Value:
    """Resolve "Thursday, July 27": the date says it all."""
    return value


@resolver
def part(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "early March", "the end of last year", "the first week of May"."""
    return _changed(value, lambda period: part_of_period(captures["part"], period))


@resolver
def inside(context: Context, captures: Captures, cycle: Cycle, container: Period) -> Period | None:
    """Resolve "May of last year", "Tuesday of last week"."""
    if container.start is None or container.end is None:
        return None
    return within(cycle, container)


@resolver
def contained(
    context: Context, captures: Captures, container: Period, cycle: Cycle
) -> Period | None:
    """Resolve a container first: "last week on Tuesday", 先週の火曜."""
    return inside(context, captures, cycle, container)


@resolver
def weekday_weeks_ago(context: Context, captures: Captures, cycle: Cycle) -> Period | None:
    """Resolve "Tuesday two weeks ago", 二週間前の火曜: a day of that calendar week."""
    return within(cycle, calendar_unit(context.today, "week", captures.get("n", 1)))


@resolver
def months_ago_nth(context: Context, captures: Captures, cycle: Cycle) -> Period | None:
    """Resolve 二ヶ月前の十日: a day of that calendar month."""
    return within(cycle, calendar_unit(context.today, "month", captures["n"]))


@resolver
def years_ago_cycle(context: Context, captures: Captures, cycle: Cycle) -> Period | None:
    """Resolve 二年前の夏: one of that calendar year."""
    return within(cycle, calendar_unit(context.today, "year", captures["n"]))


@resolver
def since(context: Context, captures: Captures, value: Value) -> Period | None:
    """From the start of a time to today; the end stays open when today is unknown."""
    period = period_of(context, value)
    if period is None:
        return None
    end = context.asked.date() if context.asked else None
    if end is not None and end < period.start:
        return None
    return Period(period.start, end, period.absolute)


@resolver
def before(context: Context, captures: Captures, value: Value) -> Period | None:
    """Two weeks before a time, that time not included."""
    period = period_of(context, value)
    return period and replace(
        period, start=period.start - NEAR_DAYS * DAY, end=period.start - DAY
    )


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

    return _changed(value, change)


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

    return _changed(value, change)


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

    return _changed(value, change)


@resolver
def to_day(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "March 3 to 9", 4月2日から9日: the next such day of the month after the start."""
    return _changed(value, lambda period: _extended(period, day_of_month(captures["to"])))


@resolver
def days_of_month(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "3-9 March", "the 3rd to the 9th of last month"."""
    first, to = captures["from"], captures["to"]
    if to < first:
        return None

    def change(period: Period) -> Period:
        start = period.start
        return replace(period, start=start.replace(day=first), end=start.replace(day=to))

    return _changed(value, change)


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


# Session references.


@resolver
def session_ago(context: Context, captures: Captures) -> SessionReference | None:
    """Counted from the newest: 1 is the newest stored session."""
    n = captures.get("n", captures.get("ago", 1))
    return SessionReference("ago", n) if n >= 1 else None


@resolver
def session_ordinal(context: Context, captures: Captures) -> SessionReference | None:
    """Counted from the beginning."""
    n = captures.get("n", 1)
    return SessionReference("ordinal", n) if n >= 1 else None


@resolver
def session_range(context: Context, captures: Captures) -> SessionReference | None:
    """From one to another, counted from the beginning."""
    first, to = captures["n"], captures["m"]
    return SessionReference("range", first, to) if 1 <= first <= to else None


@resolver
def first_sessions(context: Context, captures: Captures) -> SessionReference | None:
    """Return the n oldest."""
    return SessionReference("first", captures["n"]) if captures["n"] >= 1 else None


@resolver
def last_sessions(context: Context, captures: Captures) -> SessionReference | None:
    """Return the n newest."""
    return SessionReference("last", captures["n"]) if captures["n"] >= 1 else None


