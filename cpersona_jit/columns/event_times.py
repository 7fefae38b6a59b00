"""Event times of the rows, in an order that finds those of a period without looking at all."""

from __future__ import annotations

from functools import cached_property

import numpy as np

UNDATED = np.iinfo(np.int64).min


class EventTimes:
    """The times at which what the rows tell of happened.

    Parameters
    ----------
    event_time : ndarray of int64, shape (n,)
        UTC microseconds, ``UNDATED`` for rows without a time.
    """

    def __init__(self, event_time: np.ndarray) -> None:
        self._event_time = event_time

    @cached_property
    def dated(self) -> np.ndarray:
        """Which rows have a time, bool, shape (n,)."""
        return self._event_time != UNDATED

    @cached_property
    def _ascending(self) -> tuple[np.ndarray, np.ndarray]:
        rows = np.argsort(self._event_time, kind="stable")
        return rows, self._event_time[rows]

    def within(self, start_us: int, end_us: int) -> np.ndarray:
        """Return which rows lie in a period, both ends inside; bool, shape (n,)."""
        rows, times = self._ascending
        inside = np.zeros(rows.size, bool)
        inside[rows[times.searchsorted(start_us) : times.searchsorted(end_us, side="right")]] = True
        return inside
