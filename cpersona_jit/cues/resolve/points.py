"""Resolvers of times with a name or a number of their own."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from cpersona_jit.cues.named_days import (
    NAMED_DAYS,
    SEASONS,
    nth_weekday,
)
from cpersona_jit.cues.parts import (
    part_of_period,
)
from cpersona_jit.cues.periods import (
    DAY,
    Cycle,
    Period,
    calendar_unit,
    changed,
    day_of_month,
    decade_of,
    hull,
    latest,
    month_of,
    single,
    weekly,
    within,
    year_of,
    yearly,
)
from cpersona_jit.cues.resolve.base import (
    Captures,
    Context,
    Value,
    change_each,
    resolver,
)


@resolver
def full_date(context: Context, captures: Captures) -> Period:
    """Resolve a day with its year."""
    number = captures["year"]
    number += 2000 if number < 100 else 0  # '23
    return replace(single(date(number, captures["month"], captures["day"])), absolute=True)


@resolver
def era_date(context: Context, captures: Captures) -> Period:
    """Resolve a day with the year of a Japanese era."""
    return full_date(context, {**captures, "year": captures["year"] + captures["era"]})


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
    return replace(year_of(number), absolute=True)


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
    return replace(decade_of(captures["year"]), absolute=True)


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
def this_season(context: Context, captures: Captures) -> Period | None:
    """Resolve この春: the latest that has begun."""
    return latest(season(context, captures), context.today)


@resolver
def season_with_part(context: Context, captures: Captures) -> Cycle:
    """Resolve 初夏, 晩秋."""
    return changed(
        season(context, captures), lambda period: part_of_period(captures["part"], period)
    )


@resolver
def named_day(context: Context, captures: Captures) -> Cycle:
    """Resolve Christmas, Golden Week, New Year's Eve."""
    return yearly(NAMED_DAYS[captures["name"]])


@resolver
def quarter(context: Context, captures: Captures) -> Cycle:
    """Three months of the calendar year."""
    return yearly(lambda number: month_of(number, 3 * captures["n"] - 2, 3))


@resolver
def months(context: Context, captures: Captures) -> Cycle | None:
    """Resolve 三~五月."""
    first, to = captures["from"], captures["to"]
    return yearly(lambda number: month_of(number, first, (to - first) % 12 + 1))


@resolver
def days(context: Context, captures: Captures) -> Cycle:
    """Resolve 五月三~九日."""
    number, first, to = captures["month"], captures["from"], captures["to"]
    date(2000, number, to)
    if to < first:
        raise ValueError("the days run backwards")
    return yearly(lambda year: Period(date(year, number, first), date(year, number, to)))


@resolver
def years(context: Context, captures: Captures) -> Period:
    """Resolve 2019~2021年."""
    return hull(
        replace(year_of(captures["from"]), absolute=True),
        replace(year_of(captures["to"]), absolute=True),
    )


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

    return change_each(value, change)


@resolver
def season_of_year(context: Context, captures: Captures) -> Period | None:
    """Resolve 昨秋, 今春."""
    year_before = calendar_unit(context.today, "year", captures["back"])
    return within(season(context, captures), year_before)
