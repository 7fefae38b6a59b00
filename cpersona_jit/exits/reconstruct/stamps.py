"""What a time stamp proves: an instant, a day, or nothing."""

from __future__ import annotations

import unicodedata

from cpersona_jit.records import Row

_DAY_US = 86_400_000_000
_DATE_CHARS = 10  # YYYY-MM-DD or YYYYMMDD; the shortest stamp with a time has 11


def is_date_only(timestamp: str) -> bool:
    """Whether a stamp that was parsed names a day without a time."""
    return len(unicodedata.normalize("NFKC", timestamp).strip()) <= _DATE_CHARS


def span_of(row: Row) -> tuple[int, int] | None:
    """First and last microsecond of a row's time: a day, an instant, an episode; None = unknown."""
    if row.event_time is None:
        return None
    if row.kind == "episode":
        return None if row.end_time is None else (row.event_time, row.end_time)
    return row.event_time, row.event_time + (_DAY_US - 1 if is_date_only(row.timestamp) else 0)


def lies_in(row: Row, episode: Row) -> bool:
    """Whether a row's time is proven to lie in an episode's; undated rows lie in none.

    A day lies in an episode as a whole or not at all.
    """
    inner, outer = span_of(row), span_of(episode)
    if inner is None or outer is None:
        return False
    return outer[0] <= inner[0] and inner[1] <= outer[1]
