"""Resolvers of words that say which time it is, and of parts and containers."""

from __future__ import annotations

from dataclasses import replace

from dateutil.relativedelta import relativedelta

from cpersona_jit.cues.parts import (
    part_of_period,
)
from cpersona_jit.cues.periods import (
    DAY,
    Cycle,
    Period,
    calendar_unit,
    day_of_month,
    ended,
    hull,
    latest,
    within,
)
from cpersona_jit.cues.resolve.base import (
    Captures,
    Context,
    Value,
    change_each,
    resolver,
)
from cpersona_jit.cues.resolve.points import (
    season,
)


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
    found = within(cycle, calendar_unit(context.today, "week", 0))
    return found and replace(found, guessed=True)


@resolver
def second(context: Context, captures: Captures, first: Value, value: Value) -> Value:
    """Resolve "Thursday, July 27": the date says it all."""
    return value


@resolver
def part(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "early March", "the end of last year", "the first week of May"."""
    return change_each(value, lambda period: part_of_period(captures["part"], period))


@resolver
def parts(context: Context, captures: Captures, value: Value) -> Value | None:
    """Resolve "early to mid March", 四月上旬から中旬."""

    def change(period: Period) -> Period | None:
        both = [part_of_period(captures[name], period) for name in ("from", "to")]
        return hull(*both) if all(both) else None

    return change_each(value, change)


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
def nth_months_ago(context: Context, captures: Captures) -> Period | None:
    """Resolve 二ヶ月前の十日: a day of that calendar month."""
    container = calendar_unit(context.today, "month", captures["n"])
    return within(day_of_month(captures["day"]), container)


@resolver
def nth_inside(context: Context, captures: Captures, container: Period) -> Period | None:
    """Resolve 先月十日."""
    return within(day_of_month(captures["day"]), container)


@resolver
def season_inside(context: Context, captures: Captures, container: Period) -> Period | None:
    """Resolve 去年夏: a season whose name needs no particle behind a year."""
    return within(season(context, captures), container)


@resolver
def fiscal_half(context: Context, captures: Captures, container: Period) -> Period:
    """Resolve 昨年度の下期."""
    first = container.start + relativedelta(months=6 * captures["half"] - 6)
    return replace(container, start=first, end=first + relativedelta(months=6) - DAY)


@resolver
def fiscal_quarter(context: Context, captures: Captures, container: Period) -> Period | None:
    """Resolve 昨年度の第一四半期."""
    if not 1 <= captures["n"] <= 4:
        return None
    first = container.start + relativedelta(months=3 * captures["n"] - 3)
    return replace(container, start=first, end=first + relativedelta(months=3) - DAY)


@resolver
def year_end(context: Context, captures: Captures, container: Period) -> Period:
    """Resolve 昨年末: the last seven days."""
    return replace(container, start=container.end - 6 * DAY)
