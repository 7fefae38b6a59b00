"""Rules of the named days and seasons, in the shape ``year -> period``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta, weekday

from cpersona_jit.cues.periods import DAY, Period, month_of, single

MONDAY, THURSDAY, SUNDAY = 0, 3, 6

Rule = Callable[[int], Period]


def fixed(month: int, day: int, days: int = 1) -> Rule:
    """Build the rule of a day, or of some days, with a fixed date."""
    return lambda year: Period(date(year, month, day), date(year, month, day) + (days - 1) * DAY)


def nth_weekday(month: int, day_of_week: int, n: int, shift: int = 0) -> Rule:
    """Build the rule of the n-th weekday of a month (n = -1: the last), moved by `shift` days."""

    def rule(year: int) -> Period:
        first = date(year, month, 1)
        start = first if n > 0 else first + relativedelta(day=31)
        day = start + relativedelta(weekday=weekday(day_of_week)(n))
        if day.month != month:
            raise ValueError("the month has no such day")
        return single(day + shift * DAY)

    return rule


def from_easter(shift: int) -> Rule:
    """Build the rule of a day that moves with Western Easter."""
    return lambda year: single(easter(year) + timedelta(days=shift))


SEASONS: dict[str, Rule] = {
    "spring": lambda year: month_of(year, 3, 3),
    "summer": lambda year: month_of(year, 6, 3),
    "autumn": lambda year: month_of(year, 9, 3),
    "winter": lambda year: month_of(year, 12, 3),
}

NAMED_DAYS: dict[str, Rule] = {
    "new year's day": fixed(1, 1),
    "first three days": fixed(1, 1, 3),
    "coming of age day": nth_weekday(1, MONDAY, 2),
    "martin luther king day": nth_weekday(1, MONDAY, 3),
    "groundhog day": fixed(2, 2),
    "setsubun": fixed(2, 3),
    "valentine's day": fixed(2, 14),
    "presidents' day": nth_weekday(2, MONDAY, 3),
    "leap day": fixed(2, 29),
    "doll festival": fixed(3, 3),
    "white day": fixed(3, 14),
    "saint patrick's day": fixed(3, 17),
    "april fools' day": fixed(4, 1),
    "earth day": fixed(4, 22),
    "ash wednesday": from_easter(-46),
    "palm sunday": from_easter(-7),
    "good friday": from_easter(-2),
    "easter": from_easter(0),
    "easter monday": from_easter(1),
    "golden week": fixed(4, 29, 7),
    "may day": fixed(5, 1),
    "cinco de mayo": fixed(5, 5),
    "children's day": fixed(5, 5),
    "mother's day": nth_weekday(5, SUNDAY, 2),
    "memorial day": nth_weekday(5, MONDAY, -1),
    "juneteenth": fixed(6, 19),
    "father's day": nth_weekday(6, SUNDAY, 3),
    "canada day": fixed(7, 1),
    "fourth of july": fixed(7, 4),
    "tanabata": fixed(7, 7),
    "bastille day": fixed(7, 14),
    "marine day": nth_weekday(7, MONDAY, 3),
    "mountain day": fixed(8, 11),
    "obon": fixed(8, 13, 4),
    "labor day": nth_weekday(9, MONDAY, 1),
    "respect for the aged day": nth_weekday(9, MONDAY, 3),
    "sports day": nth_weekday(10, MONDAY, 2),
    "columbus day": nth_weekday(10, MONDAY, 2),
    "halloween": fixed(10, 31),
    "culture day": fixed(11, 3),
    "guy fawkes night": fixed(11, 5),
    "veterans day": fixed(11, 11),
    "shichi-go-san": fixed(11, 15),
    "labor thanksgiving day": fixed(11, 23),
    "thanksgiving": nth_weekday(11, THURSDAY, 4),
    "black friday": nth_weekday(11, THURSDAY, 4, shift=1),
    "cyber monday": nth_weekday(11, THURSDAY, 4, shift=4),
    "christmas eve": fixed(12, 24),
    "christmas": fixed(12, 25),
    "boxing day": fixed(12, 26),
    "year's end": fixed(12, 25, 7),
    "turn of the year": fixed(12, 25, 10),
    "new year's eve": fixed(12, 31),
}
