"""The time cues that a question is asked with: the parsed one, a wrong one, a half right one.

A cue that helps must help for what it says. So the parsed cue is measured beside one of the same
width moved to where it is wrong, and one that is three times as wide and right in one third.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from cpersona_jit.cues.time_cue import US_PER_DAY, TimeCue
from cpersona_jit.recall.envelope import Envelope

NO_CUE, PARSED, SHIFTED, PARTLY = "none", "parsed", "shifted", "partly"
CueArm = Literal["none", "parsed", "shifted", "partly"]
CUE_ARMS: tuple[str, ...] = tuple(arm for arm in get_args(CueArm) if arm != NO_CUE)


def wrong_cues(envelope: Envelope, times: np.ndarray, query_id: str) -> dict[str, TimeCue]:
    """Return the cues that are wrong in a known way about what a parsed cue is right about.

    Parameters
    ----------
    envelope : Envelope
        Of the parsed cue.
    times : int64 (R,)
        Event times of the dated rows that the question may see.
    query_id : str
        Decides, by its hash, which of several wrong periods it is.

    Returns
    -------
    dict of str to TimeCue
        ``partly``: the same period and, before or after it, twice its width more. ``shifted``: a
        period of the same width, in which rows lie, and which the right one does not touch; left
        out when the store has none.
    """
    start = max(envelope.start_us, int(times.min()))
    end = min(envelope.end_us, int(times.max()))
    width = end - start
    draw = int.from_bytes(hashlib.sha256(query_id.encode()).digest()[:8], "big")
    more = 2 * max(width, US_PER_DAY)
    periods = {PARTLY: (start - more, end) if draw & 1 else (start, end + more)}
    elsewhere = _elsewhere(times, start, end)
    if elsewhere:
        periods[SHIFTED] = elsewhere[draw % len(elsewhere)]
    return {arm: _moved(envelope.cue, *period) for arm, period in periods.items()}


def _elsewhere(times: np.ndarray, start: int, end: int) -> list[tuple[int, int]]:
    """Periods of the width of one period that begin or end at a row and do not touch it."""
    width = end - start
    moments = np.unique(times)
    beginning = [(t, t + width) for t in moments.tolist() if t > end or t + width < start]
    inside = [period for period in beginning if period[1] <= int(moments[-1])]
    ending = [(t - width, t) for t in moments.tolist() if t < start or t - width > end]
    return inside or beginning or ending


def _moved(cue: TimeCue, start: int, end: int) -> TimeCue:
    return replace(cue, start_us=start, end_us=end, session=None, readings=(), earlier=())
