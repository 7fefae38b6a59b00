"""Periods, and cycles of periods (every May, every Tuesday) of which a question means one."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

DAY = timedelta(days=1)

YEARS_BACK = 9  # a leap day recurs after 8 years at the longest
MONTHS_BACK = 13
WEEKS_BACK = 13


@dataclass(frozen=True, slots=True)
class Period:
    """Calendar days from `start` to `end`, both included; None is an open end.

    Parameters
    ----------
    start, end : datetime.date or None
        First and last day.
    absolute : bool
        The days do not depend on when the question was asked.
    guessed : bool
        The words may as well mean one that lies ahead ("on Friday").
    """

    start: date | None
    end: date | None
    absolute: bool = False
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Cycle:
    """Something that comes again: a month, a weekday, a named day.

    Parameters
    ----------
    around : callable
        Its occurrences near a day, in order, from some time before that day to after it.
    over : bool
        Without further words the latest one that is over is meant ("on Tuesday"), rather than the
        latest one that has begun ("in May").
    """

    around: Callable[[date], list[Period]]
    over: bool = False


def yearly(of_year: Callable[[int], Period | None]) -> Cycle:
    """Cycle of one period a year; years without one are left out."""

    def around(day: date) -> list[Period]:
        years = range(day.year - YEARS_BACK, day.year + 2)
        return [period for year in years if (period := _existing(of_year, year))]

    return Cycle(around)


def day_of_month(number: int) -> Cycle:
    """Cycle of one day a month; months without that day are left out."""

    def around(day: date) -> list[Period]:
        first = day.replace(day=1)
        months = (add_months(first, step) for step in range(-MONTHS_BACK, 2))
        days = (_existing(lambda m: single(m.replace(day=number)), month) for month in months)
        return [period for period in days if period]

    return Cycle(around)


def weekly(weekday: int, length: int = 1) -> Cycle:
    """Cycle of `length` days from a weekday on (0 is Monday)."""

    def around(day: date) -> list[Period]:
        first = monday_of(day) + weekday * DAY
        starts = (first + timedelta(weeks=step) for step in range(-WEEKS_BACK, 2))
        return [Period(start, start + (length - 1) * DAY) for start in starts]

    return Cycle(around, over=True)


def changed(cycle: Cycle, change: Callable[[Period], Period | None]) -> Cycle:
    """Cycle of a part, or a surrounding, of each occurrence."""

    def around(day: date) -> list[Period]:
        parts = (_existing(change, period) for period in cycle.around(day))
        return [period for period in parts if period]

    return replace(cycle, around=around)


def latest(cycle: Cycle, today: date) -> Period | None:
    """Occurrence that is meant when nothing else is said."""
    if cycle.over:
        found = ended(cycle, today, 1)
    else:
        begun = [period for period in cycle.around(today) if period.start <= today]
        found = begun[-1] if begun else None
    return found and replace(found, guessed=True)


def ended(cycle: Cycle, today: date, n: int) -> Period | None:
    """Return the n-th latest occurrence that was over before `today` (1 is the latest)."""
    over = [period for period in cycle.around(today) if period.end < today]
    return over[-n] if 1 <= n <= len(over) else None


def within(cycle: Cycle, container: Period) -> Period | None:
    """First occurrence that begins inside the container."""
    for period in cycle.around(container.start):
        if container.start <= period.start and period.start <= container.end:
            return replace(period, absolute=container.absolute, guessed=container.guessed)
    return None


def following(cycle: Cycle, day: date) -> Period | None:
    """First occurrence that begins after `day`."""
    return next((period for period in cycle.around(day) if period.start > day), None)


def preceding(cycle: Cycle, day: date) -> Period | None:
    """Latest occurrence that is over before `day`."""
    return ended(cycle, day, 1)


def single(day: date) -> Period:
    """One day."""
    return Period(day, day)


def monday_of(day: date) -> date:
    """First day of the calendar week."""
    return day - day.weekday() * DAY


def add_months(day: date, months: int) -> date:
    """Same day of a later month, or of an earlier one, or its last day if it is shorter."""
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(f"year {year}")
    return day.replace(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def month_of(year: int, month: int, months: int = 1) -> Period:
    """`months` calendar months from a given one on."""
    start = date(year, month, 1)
    return Period(start, add_months(start, months) - DAY)


def hull(*periods: Period) -> Period:
    """Shortest period that holds all of them."""
    absolute = all(period.absolute for period in periods)
    guessed = any(period.guessed for period in periods)
    return Period(min(p.start for p in periods), max(p.end for p in periods), absolute, guessed)


def year_of(number: int) -> Period:
    """One calendar year."""
    return Period(date(number, 1, 1), date(number, 12, 31))


def decade_of(first: int) -> Period:
    """Ten calendar years from a given one on."""
    return Period(date(first, 1, 1), date(first + 9, 12, 31))


def calendar_unit(today: date, unit: str, back: int) -> Period:
    """Whole calendar unit, some units before the one that holds `today`."""
    if unit == "week":
        start = monday_of(today) - 7 * back * DAY
        return Period(start, start + 6 * DAY)
    if unit == "weekend":
        start = monday_of(today) + (5 - 7 * back) * DAY
        return Period(start, start + DAY)
    if unit == "year":
        return year_of(today.year - back)
    if unit == "decade":
        return decade_of(today.year - today.year % 10 - 10 * back)
    if unit == "fiscal year":
        return month_of(today.year - back - (today.month < 4), 4, 12)
    months = {"month": 1, "quarter": 3, "half": 6}[unit]
    first = today.month - (today.month - 1) % months
    start = add_months(date(today.year, first, 1), -months * back)
    return month_of(start.year, start.month, months)


def _existing(make: Callable, argument: object) -> Period | None:
    """Feb 30, or a day before the year 1, is no occurrence rather than an error."""
    try:
        return make(argument)
    except (ValueError, OverflowError):
        return None
