"""What the words of a time mean beside its usual reading.

People count in more than one way: "three days ago" is a calendar day to some and between 72 and 96
hours to others, "two months ago" a month around the same day or a calendar month. A cue carries
all of them, and the rows that are stored decide.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from cpersona_jit.cues.chart import Found
from cpersona_jit.cues.periods import DAY, Period
from cpersona_jit.cues.resolve import Context
from cpersona_jit.cues.time_cue import US_PER_DAY, Span, full_units

# "Earlier today" leaves out the conversation that is going on.
GOING_ON = timedelta(hours=1)
# Weeks before a "last Saturday" without rows in which another one is looked for.
WEEKS_EARLIER = 8

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def other_readings(found: Found, context: Context) -> tuple[Span, ...]:
    """Return the periods that a found time means as often as its value.

    Parameters
    ----------
    found : Found
        The cue, its value a period with both ends.
    context : Context
        When the question was asked.
    """
    core, period = _core(found), found.value
    if context.asked is None or period.start is None or period.end is None:
        return ()
    captures = core.captures
    try:
        if core.resolver == "ago" and "m" not in captures and "about" not in captures:
            return full_units(context.now, captures["unit"], captures.get("n", 1))
        if core.resolver == "past":
            return (_span(Period(period.start - DAY, period.end)),)
        if core.resolver == "earlier_today":
            end = _us(context.now - GOING_ON)
            start = _us(datetime.combine(period.start, time(), UTC))
            return ((start, end),) if start <= end else ()
    except (OverflowError, ValueError):
        return ()  # before the first day of the calendar
    return ()


def earlier_periods(found: Found) -> tuple[Span, ...]:
    """Return the earlier occurrences of a day of the week, the latest first.

    "Last Saturday" is the last one of which anything is stored; other times have none.
    """
    core, period = _core(found), found.value
    counted = core.captures.get("n", 1) + core.captures.get("more", 0) > 1
    if core.resolver == "last" and not counted:
        core = core.slots[0]
    if core.resolver not in ("weekday", "weekend"):
        return ()
    start, end = _span(period)
    weeks = (7 * US_PER_DAY * n for n in range(1, WEEKS_EARLIER + 1))
    return tuple((start - back, end - back) for back in weeks)


def _core(found: Found) -> Found:
    """Leave out words around a time that change nothing."""
    while found.resolver == "same":
        found = found.slots[0]
    return found


def _span(period: Period) -> Span:
    start, end = (_us(datetime.combine(day, time(), UTC)) for day in (period.start, period.end))
    return start, end + US_PER_DAY - 1


def _us(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
