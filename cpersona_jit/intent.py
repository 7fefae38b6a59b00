"""The intent of a recall: which time it is about, as the caller says or the question says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpersona_jit.cues.parse import parse_time_cue
from cpersona_jit.cues.time_cue import TimeCue, declared_cue
from cpersona_jit.errors import UsageError
from cpersona_jit.store.timestamps import now_us, parse_timestamp


def read_intent(
    query: str, time_cue: Mapping[str, Any] | None, now: str | None, *, parse: bool
) -> TimeCue | None:
    """Return the time cue of a call: the declared one, else the one its question carries.

    Parameters
    ----------
    query : str
        The question.
    time_cue : mapping or None
        A declared cue; it wins over the question.
    now : str or None
        When the question is asked, ISO 8601; None reads the clock, here and nowhere deeper.
    parse : bool
        Derive a cue from the question when none is declared.

    Raises
    ------
    UsageError
        The cue is malformed, or `now` is not a time.
    """
    if time_cue is None and not parse:
        return None
    reference = now_us() if now is None else parse_timestamp(now) if isinstance(now, str) else None
    if reference is None:
        raise UsageError(f"now is {now!r}; allowed: an ISO 8601 time such as 2026-03-02T09:30:00Z")
    if time_cue is not None:
        return declared_cue(time_cue, reference)
    return parse_time_cue(query, reference)
