"""The intent of a recall: which time it is about, as the caller says or the question says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cpersona_jit.cues.parse import names_nothing, parse_time_cue
from cpersona_jit.cues.time_cue import TimeCue, declared_cue, moved_by
from cpersona_jit.errors import UsageError
from cpersona_jit.store.timestamps import local_offset_us, now_us, offset_of, parse_timestamp

# Calendars are counted from it, a few years back and forth: it must have years around it.
_EARLIEST_US = parse_timestamp("1900-01-01")
_LATEST_US = parse_timestamp("9998-12-31T23:59:59.999999")


class Intent(NamedTuple):
    """What a call is about.

    Attributes
    ----------
    cue : TimeCue or None
        The declared time, else the one its question carries.
    now_us : int or None
        When it is asked, UTC microseconds; None when nothing had to know.
    """

    cue: TimeCue | None
    now_us: int | None


def read_intent(
    query: str, time_cue: Mapping[str, Any] | None, now: str | None, *, parse: bool
) -> Intent:
    """Return the intent of a call.

    Parameters
    ----------
    query : str
        The question.
    time_cue : mapping or None
        A declared cue; it wins over the question.
    now : str or None
        When the question is asked, ISO 8601; None reads the clock, here and nowhere deeper. Days,
        weeks and months of the question and of ``ago`` are those of its offset: of UTC without
        one, and of this machine's when the clock is read.
    parse : bool
        Derive a cue from the question when none is declared.

    Raises
    ------
    UsageError
        The cue is malformed, or `now` is not a time.
    """
    asked = None if now is None else _moment(now)
    if time_cue is None and not parse:
        return Intent(None, asked)
    if asked is None:
        asked, offset = now_us(), local_offset_us()
    else:
        offset = offset_of(now)
    if time_cue is None:
        cue = parse_time_cue(query, asked + offset)
        return Intent(cue and moved_by(cue, -offset), asked)
    if not isinstance(time_cue, Mapping) or "ago" not in time_cue:
        offset = 0  # moments: a date without an offset is one of UTC, as in stored rows
    cue = declared_cue(time_cue, asked + offset, bare=names_nothing(query))
    return Intent(moved_by(cue, -offset), asked)


def _moment(now: object) -> int:
    moment = parse_timestamp(now) if isinstance(now, str) else None
    if moment is None or not _EARLIEST_US <= moment <= _LATEST_US:
        raise UsageError(
            f"now is {now!r}; allowed: an ISO 8601 time in the years 1900 to 9998, such as "
            "2026-03-02T09:30:00Z"
        )
    return moment
