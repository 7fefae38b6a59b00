"""The contract of a time cue: what a caller may declare, and what a parser may derive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any, Literal, get_args

from dateutil.relativedelta import relativedelta

from cpersona_jit.errors import UsageError

Certainty = Literal["sure", "likely", "vague"]
SessionKind = Literal["ago", "ordinal", "range", "first", "last"]
# First and last microsecond, both inside, UTC since 1970.
Span = tuple[int, int]

CERTAINTIES: tuple[Certainty, ...] = get_args(Certainty)

US_PER_SECOND = 1_000_000
US_PER_DAY = 86_400 * US_PER_SECOND

RECENTLY_DAYS = 14
LONG_AGO_DAYS = 365

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The first and the last moment of the calendar.
EARLIEST_US = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
LATEST_US = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SessionReference:
    """Stored sessions named by their place, whatever their dates are.

    Parameters
    ----------
    kind : {"ago", "ordinal", "range", "first", "last"}
        ``ago`` n: 1 is the newest stored session. ``ordinal`` n: the n-th from the beginning.
        ``range``: the `n`-th to the `to`-th from the beginning, both included. ``first`` n and
        ``last`` n: the n oldest, the n newest.
    n : int
        At least 1.
    to : int, optional
        Only with ``range``; not below `n`.
    """

    kind: SessionKind
    n: int
    to: int | None = None


@dataclass(frozen=True, slots=True)
class TimeCue:
    """One time cue: a period or a session reference, never both.

    Parameters
    ----------
    start_us, end_us : int or None
        First and last microsecond of the period, both included, UTC since 1970; None is an open
        end. Both None when the cue is a session reference.
    session : SessionReference or None
        The session reference.
    certainty : {"sure", "likely", "vague"}
        How far the ends can be trusted.
    words : str
        The words of the question that carry the cue; empty when the caller declared it.
    form : str
        Id of the form that matched, or ``declared.`` and the kind.
    about_event : bool
        The question speaks of an event, which is told later, rather than of what was said then.
        False when the caller declared the cue: then the time is that of the stored rows.
    bare : bool
        The question names a time and asks for nothing in particular: the time is all there is to
        go by.
    readings : tuple of (int, int)
        Other periods that the same words mean as often.
    earlier : tuple of (int, int)
        What the words mean when no row lies in the period, in this order: the Saturday before
        "last Saturday".
    """

    start_us: int | None
    end_us: int | None
    session: SessionReference | None
    certainty: Certainty
    words: str
    form: str
    about_event: bool
    bare: bool = False
    readings: tuple[Span, ...] = ()
    earlier: tuple[Span, ...] = ()


def moved_by(cue: TimeCue, by_us: int) -> TimeCue:
    """Return the cue with every time of it moved by `by_us` microseconds."""
    if not by_us:
        return cue

    def spans(held: tuple[Span, ...]) -> tuple[Span, ...]:
        return tuple((start + by_us, end + by_us) for start, end in held)

    return replace(
        cue,
        start_us=None if cue.start_us is None else cue.start_us + by_us,
        end_us=None if cue.end_us is None else cue.end_us + by_us,
        readings=spans(cue.readings),
        earlier=spans(cue.earlier),
    )


def full_units(now: datetime, unit: str, n: int) -> tuple[Span, ...]:
    """Return what "n units ago" means to those who count other than by the calendar, or by it.

    A day is one of full 24-hour days back from `now`, where the calendar day is the usual reading;
    a week or a month is a calendar week (from Monday) or month, where the days around the same day
    are. Other units, and none of them, have one reading.
    """
    if n < 1:
        return ()
    if unit == "day":
        end = now - n * timedelta(days=1)
        return ((_us(end) - US_PER_DAY + 1, _us(end)),)
    if unit == "week":
        day = now - n * timedelta(weeks=1)
        first = _midnight(day - timedelta(days=day.weekday()))
        last = first + timedelta(weeks=1)
    elif unit == "month":
        first = _midnight(now - relativedelta(months=n)).replace(day=1)
        last = first + relativedelta(months=1)
    else:
        return ()
    return ((_us(first), _us(last) - 1),)


def declared_cue(wire: Mapping[str, Any], now_us: int, *, bare: bool = False) -> TimeCue:
    """Check a cue as a caller writes it.

    Parameters
    ----------
    wire : mapping
        One of ``{"after": iso, "before": iso}`` (either may be left out; both ends belong to the
        period, and a date without a time stands for its whole day), ``{"ago": {"unit": "days",
        "value": 3}}``, ``{"named": "long_ago"}`` or ``"recently"``, ``{"sessions_ago": 2}``; and
        optionally ``certainty``. Dates without an offset are UTC.
    now_us : int
        The time of the question, UTC microseconds since 1970.
    bare : bool
        The question asks for nothing beside the time.

    Raises
    ------
    UsageError
        The cue is malformed; the message names the field, its value and what is allowed.
    """
    if not isinstance(wire, Mapping):
        raise _wrong("time_cue", wire, "a mapping such as {'ago': {'unit': 'days', 'value': 3}}")
    for key in wire:
        if key not in (*_FIELDS, "certainty"):
            raise _unknown("time_cue", key, (*_FIELDS, "certainty"))
    kinds = {_FIELDS[key] for key in wire if key != "certainty"}
    if len(kinds) != 1:
        allowed = "exactly one of after/before, ago, named, sessions_ago"
        raise _wrong("time_cue", dict(wire), allowed)
    kind = kinds.pop()
    start_us, end_us, session, certainty = _READERS[kind](wire, now_us)
    if "certainty" in wire:
        certainty = _one_of("certainty", wire["certainty"], CERTAINTIES)
    readings = _other_readings(wire["ago"], now_us) if kind == "ago" else ()
    form = f"declared.{kind}"
    return TimeCue(start_us, end_us, session, certainty, "", form, False, bare, readings)


Reading = tuple[int | None, int | None, SessionReference | None, Certainty]


def _read_range(wire: Mapping[str, Any], now_us: int) -> Reading:
    start_us = _instant("after", wire["after"], end=False) if "after" in wire else None
    end_us = _instant("before", wire["before"], end=True) if "before" in wire else None
    if start_us is not None and start_us > now_us:
        allowed = f"not later than the time of the question ({_iso(now_us)})"
        raise _wrong("time_cue.after", wire["after"], allowed)
    if start_us is not None and end_us is not None and end_us < start_us:
        raise _wrong("time_cue.before", wire["before"], f"not before after={wire['after']!r}")
    return start_us, end_us, None, "sure"


def _read_ago(wire: Mapping[str, Any], now_us: int) -> Reading:
    ago = wire["ago"]
    if not isinstance(ago, Mapping) or set(ago) != {"unit", "value"}:
        raise _wrong("time_cue.ago", ago, "a mapping with exactly the keys unit and value")
    unit = _one_of("ago.unit", ago["unit"], tuple(_UNITS))
    value = _count("ago.value", ago["value"], lowest=0)
    now = _EPOCH + timedelta(microseconds=now_us)
    try:
        first, last = _UNITS[unit](now, value)
    except (OverflowError, ValueError):
        allowed = "a number of units that does not reach before the year 1"
        raise _wrong("time_cue.ago.value", value, allowed) from None
    return _us(_midnight(first)), _us(_midnight(last)) + US_PER_DAY - 1, None, "likely"


def _other_readings(ago: Mapping[str, Any], now_us: int) -> tuple[Span, ...]:
    now = _EPOCH + timedelta(microseconds=now_us)
    try:
        return full_units(now, ago["unit"].removesuffix("s"), ago["value"])
    except (OverflowError, ValueError):
        return ()  # the usual reading is inside the calendar, this one is not


def _read_named(wire: Mapping[str, Any], now_us: int) -> Reading:
    named = _one_of("named", wire["named"], ("long_ago", "recently"))
    if named == "long_ago":
        return None, now_us - LONG_AGO_DAYS * US_PER_DAY, None, "vague"
    return now_us - RECENTLY_DAYS * US_PER_DAY, now_us, None, "vague"


def _read_sessions_ago(wire: Mapping[str, Any], now_us: int) -> Reading:
    n = _count("sessions_ago", wire["sessions_ago"], lowest=1)
    return None, None, SessionReference("ago", n), "sure"


def _days(now: datetime, n: int) -> tuple[datetime, datetime]:
    day = now - timedelta(days=n)
    return day, day


def _weeks(now: datetime, n: int) -> tuple[datetime, datetime]:
    day = now - timedelta(weeks=n)
    return day - timedelta(days=3), min(day + timedelta(days=3), now)


def _months(now: datetime, n: int) -> tuple[datetime, datetime]:
    day = now - relativedelta(months=n)
    return day - timedelta(days=15), min(day + timedelta(days=15), now)


def _years(now: datetime, n: int) -> tuple[datetime, datetime]:
    year = now.year - n
    return now.replace(year=year, month=1, day=1), min(now.replace(year, 12, 31), now)


_FIELDS = {
    "after": "range",
    "before": "range",
    "ago": "ago",
    "named": "named",
    "sessions_ago": "sessions_ago",
}

_READERS: dict[str, Callable[[Mapping[str, Any], int], Reading]] = {
    "range": _read_range,
    "ago": _read_ago,
    "named": _read_named,
    "sessions_ago": _read_sessions_ago,
}

_UNITS: dict[str, Callable[[datetime, int], tuple[datetime, datetime]]] = {
    "days": _days,
    "weeks": _weeks,
    "months": _months,
    "years": _years,
}


def _instant(field: str, value: Any, *, end: bool) -> int:
    allowed = "an ISO 8601 date or date-time such as '2024-03-05' or '2024-03-05T18:00:00Z'"
    if not isinstance(value, str):
        raise _wrong(f"time_cue.{field}", value, allowed)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise _wrong(f"time_cue.{field}", value, allowed) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    us = _us(moment)
    whole_day = end and not any(sign in value for sign in "Tt :")
    us = us + US_PER_DAY - 1 if whole_day else us
    if not EARLIEST_US <= us <= LATEST_US:
        raise _wrong(f"time_cue.{field}", value, "a time in the years 1 to 9999, in UTC")
    return us


def _count(field: str, value: Any, *, lowest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        raise _wrong(f"time_cue.{field}", value, f"a whole number from {lowest} up")
    return value


def _one_of(field: str, value: Any, allowed: tuple[str, ...]) -> Any:
    if not isinstance(value, str) or value not in allowed:
        raise _unknown(f"time_cue.{field}", value, allowed)
    return value


def _wrong(field: str, value: object, allowed: str) -> UsageError:
    return UsageError(f"{field}: {_short(value)} is not allowed; allowed: {allowed}")


def _unknown(field: str, value: object, allowed: tuple[str, ...]) -> UsageError:
    near = get_close_matches(value, allowed, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return UsageError(f"{field}: {_short(value)} is not known; allowed: {', '.join(allowed)}{hint}")


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = f"a {type(value).__name__} of too many digits to show"
    return text if len(text) <= 120 else f"{text[:117]}..."


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _us(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _iso(us: int) -> str:
    return (_EPOCH + timedelta(microseconds=us)).isoformat()
