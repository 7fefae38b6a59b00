"""The retrieval envelope: the part of the store that retrieval aims at, and the prior it gives.

Made from a time cue. It is a prior and never a filter: every admitted row stays a candidate, and a
period in which nothing lies says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED, Columns
from cpersona_jit.cues.time_cue import (
    EARLIEST_US,
    LATEST_US,
    SessionReference,
    Span,
    TimeCue,
)
from cpersona_jit.recall.adaptive_settings import CueWeights
from cpersona_jit.recall.kernel_set import KernelSet

DAY_US = 86_400_000_000
# Tail of the prior outside the period, in days: at least `days`, at least this share of the width.
_TAILS = {"sure": (0.75, 0.0), "likely": (2.0, 0.15), "vague": (5.0, 0.35)}
# An event is told of later: after its period the prior starts at 0.8 and decays slowly.
_TOLD_LATER, _TOLD_LATER_DAYS = 0.8, 3.0
# An empty period moves to rows this far away, in days, or as far as its tail reaches.
_NEAR_DAYS = 1.0


@dataclass(frozen=True)
class Envelope:
    """A period of the store.

    Attributes
    ----------
    cue : TimeCue
        What asked for it.
    start_us, end_us : int
        The period, both ends inside, UTC microseconds.
    inside : ndarray of bool, shape (n,)
        Admitted rows in the period.
    weight : float
        Score that the prior is worth: a row scores ``weight * (prior - 1)`` less than one inside.
    readings : tuple of (int, int)
        Periods that the words mean as often as each other, the whole period their hull; empty for
        one reading. The prior is the mean of theirs.
    moved : bool
        No row lies in the period that the words name: this is the nearest one that holds any.
    """

    cue: TimeCue
    start_us: int
    end_us: int
    inside: np.ndarray
    weight: float
    readings: tuple[Span, ...] = ()
    moved: bool = False


def open_envelope(
    columns: Columns, admitted: np.ndarray, cue: TimeCue, weights: CueWeights
) -> Envelope | None:
    """Return the envelope of a cue, or None when it says nothing about this store.

    The rows that are stored decide what a period means. Of its readings those that hold rows
    count. When none does, it is the latest earlier occurrence that holds some; else the period
    moves to the nearest rows within the reach of its prior.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    admitted : ndarray of bool, shape (n,)
        Rows that the axes admit.
    cue : TimeCue
        A period, or a reference to stored sessions.
    weights : CueWeights
        What a cue weighs.
    """
    weight = cue_weight(cue, weights)
    if cue.session is not None:
        dated = admitted & columns.times.dated
        inside = _in_sessions(columns, dated, cue)
        times = columns.event_time[inside & dated]
        if not times.size:
            return None
        return Envelope(cue, int(times.min()), int(times.max()), inside, weight)
    named = _ends(cue)
    for moved, spans in ((False, (named, *cue.readings)), *((True, (s,)) for s in cue.earlier)):
        held = [(span, admitted & columns.times.within(*span)) for span in spans]
        held = [(span, inside) for span, inside in held if inside.any()]
        if held:
            return _envelope(cue, held, weight, moved or held[0][0] != named)
    near = _nearest(columns.event_time[admitted & columns.times.dated], cue)
    if near is None:
        return None
    return _envelope(cue, [(near, admitted & columns.times.within(*near))], weight, True)


def _ends(cue: TimeCue) -> Span:
    start = np.iinfo(np.int64).min + 1 if cue.start_us is None else cue.start_us
    end = np.iinfo(np.int64).max if cue.end_us is None else cue.end_us
    return int(start), int(end)


def _envelope(
    cue: TimeCue, held: list[tuple[Span, np.ndarray]], weight: float, moved: bool
) -> Envelope:
    spans = tuple(span for span, _ in held)
    inside = held[0][1]
    for _, rows in held[1:]:
        inside = inside | rows
    start, end = min(start for start, _ in spans), max(end for _, end in spans)
    return Envelope(cue, start, end, inside, weight, spans if len(spans) > 1 else (), moved)


def _nearest(times: np.ndarray, cue: TimeCue) -> Span | None:
    """Move an empty period by as little as brings a row inside; None when that is too far.

    An event is told of later, so after its period twice as far is near, as in its prior. What would
    lie outside the calendar is cut off.
    """
    if cue.start_us is None or cue.end_us is None or not times.size:
        return None
    width = cue.end_us - cue.start_us
    reach = max(_NEAR_DAYS, _tail(cue, width)) * DAY_US
    later = reach * (2 if cue.about_event else 1)
    before = int(times[times < cue.start_us].max(initial=UNDATED))
    after = int(times[times > cue.end_us].min(initial=np.iinfo(np.int64).max))
    ways = [
        (cue.start_us - before, reach, (max(before - width, EARLIEST_US), before)),
        (after - cue.end_us, later, (after, min(after + width, LATEST_US))),
    ]
    near = [(distance, span) for distance, reach, span in ways if distance <= reach]
    return min(near)[1] if near else None


def _tail(cue: TimeCue, width_us: int) -> float:
    """Days in which the prior falls to 1/e before the period of a cue."""
    days, share = _TAILS[cue.certainty]
    return max(days, share * min(width_us / DAY_US, 3650.0))


def cue_weight(cue: TimeCue, weights: CueWeights) -> float:
    """Return what a cue weighs: by what it is about, less when it is not sure."""
    weight = weights.event if cue.about_event else weights.said
    weight = weights.bare if cue.bare else weight
    return weight * {"sure": 1.0, "likely": weights.likely, "vague": weights.vague}[cue.certainty]


def envelope_prior(
    columns: Columns,
    rows: np.ndarray,
    envelope: Envelope,
    weights: CueWeights,
    kernels: KernelSet,
) -> np.ndarray:
    """Return the prior of `rows`, float64: 1 inside the period, less outside, above 0 always.

    An undated row is neither near nor far: it gets the prior of a row half a tail away. Rows that
    some readings of the period hold, and others do not, lie between those that all or none hold.
    """
    cue, spans = envelope.cue, envelope.readings or ((envelope.start_us, envelope.end_us),)
    widths = [end - start for start, end in spans]
    later = [
        max(_TOLD_LATER_DAYS, width / DAY_US) if cue.about_event else np.nan for width in widths
    ]
    return kernels.period_prior(
        columns.event_time[rows],
        envelope.inside[rows],
        np.array([start for start, _ in spans], np.int64),
        np.array([end for _, end in spans], np.int64),
        np.array([_tail(cue, width) for width in widths]),
        np.array(later),
        weights.outside,
        _TOLD_LATER,
    )


def _in_sessions(columns: Columns, dated: np.ndarray, cue: TimeCue) -> np.ndarray:
    """Rows of the sessions that a cue counts, in the order in which the sessions began.

    Sessions are told apart by agent, project, channel and name; of sessions that began at the same
    time the one with the lower row came first. A session without a dated row has no place in the
    order; one that has a place has all its rows there.
    """
    rows = np.flatnonzero(dated & (columns.session_key >= 0))
    inside = np.zeros(columns.n, bool)
    if not rows.size:
        return inside
    keys = columns.session_key[rows]
    order = np.lexsort((columns.event_time[rows], keys))
    first = rows[order[np.flatnonzero(np.diff(keys[order], prepend=-1))]]
    # Not by the numbers of the sessions: those depend on what other agents call theirs.
    sessions = columns.session_key[first[np.lexsort((first, columns.event_time[first]))]]
    low, high = _session_range(cue.session, sessions.size)
    inside[np.isin(columns.session_key, sessions[low:high])] = True
    return inside


def _session_range(session: SessionReference, count: int) -> tuple[int, int]:
    """Half-open range of the sessions that are meant, of `count` sessions in order of time."""
    n = session.n
    if session.kind == "ago":
        return max(count - n, 0), max(count - n + 1, 0)
    if session.kind == "ordinal":
        return n - 1, n
    if session.kind == "range":
        return n - 1, session.to or n
    if session.kind == "first":
        return 0, n
    return max(count - n, 0), count
