"""Resolvers: from what a form captured to a period, a cycle or a session reference.

A resolver gets the time of the question, the captures and the values of the slots. It returns None
when there is no such time, and raises ValueError or OverflowError when the calendar has none. The
conventions are those of ``tests/data/time_cues/README.md``.
"""

from __future__ import annotations

from cpersona_jit.cues.resolve import frames, near, points, ranges, sessions, spans
from cpersona_jit.cues.resolve.base import RESOLVERS, Context, NoReferenceError, Value, period_of

__all__ = [
    "RESOLVERS",
    "Context",
    "NoReferenceError",
    "Value",
    "frames",
    "near",
    "period_of",
    "points",
    "ranges",
    "sessions",
    "spans",
]
