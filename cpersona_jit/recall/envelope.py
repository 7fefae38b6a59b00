"""The retrieval envelope: the part of the store that retrieval aims at, and the prior it gives.

Made from a time cue. It is a prior and never a filter: every admitted row stays a candidate, and a
period in which nothing lies says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED, Columns
from cpersona_jit.cues.time_cue import SessionReference, TimeCue
from cpersona_jit.recall.adaptive_settings import CueWeights

DAY_US = 86_400_000_000
# Tail of the prior outside the period, in days: at least `days`, at least this share of the width.
_TAILS = {"sure": (0.75, 0.0), "likely": (2.0, 0.15), "vague": (5.0, 0.35)}
# An event is told of later: after its period the prior starts at 0.8 and decays slowly.
_TOLD_LATER, _TOLD_LATER_DAYS = 0.8, 3.0
# A prior is never below exp(-this): no cue makes a row unreachable, and the kernel stays finite.
_FURTHEST = 60.0


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
    """

    cue: TimeCue
    start_us: int
    end_us: int
    inside: np.ndarray
    weight: float


def open_envelope(
    columns: Columns, admitted: np.ndarray, cue: TimeCue, weights: CueWeights
) -> Envelope | None:
    """Return the envelope of a cue, or None when it says nothing about this store.

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
    dated = admitted & (columns.event_time != UNDATED)
    if cue.session is not None:
        inside = _in_sessions(columns, dated, cue)
    else:
        start = np.iinfo(np.int64).min + 1 if cue.start_us is None else cue.start_us
        end = np.iinfo(np.int64).max if cue.end_us is None else cue.end_us
        inside = dated & (columns.event_time >= start) & (columns.event_time <= end)
    if not inside.any():
        return None
    if cue.session is not None:
        times = columns.event_time[inside & dated]
        start, end = int(times.min()), int(times.max())
    return Envelope(cue, int(start), int(end), inside, cue_weight(cue, weights))


def cue_weight(cue: TimeCue, weights: CueWeights) -> float:
    """Return what a cue weighs: by what it is about, less when it is not sure."""
    weight = weights.event if cue.about_event else weights.said
    return weight * {"sure": 1.0, "likely": weights.likely, "vague": weights.vague}[cue.certainty]


def envelope_prior(
    columns: Columns, rows: np.ndarray, envelope: Envelope, weights: CueWeights
) -> np.ndarray:
    """Return the prior of `rows`, float64: 1 inside the period, less outside, above 0 always.

    An undated row is neither near nor far: it gets the prior of a row half a tail away.
    """
    times = columns.event_time[rows]
    days, share = _TAILS[envelope.cue.certainty]
    width = (envelope.end_us - envelope.start_us) / DAY_US
    tail = max(days, share * min(width, 3650.0))
    before = np.maximum(envelope.start_us - times.astype(np.float64), 0.0) / DAY_US
    after = np.maximum(times.astype(np.float64) - envelope.end_us, 0.0) / DAY_US
    undated = times == UNDATED
    before[undated], after[undated] = 0.5 * tail, 0.0
    prior = weights.outside * np.exp(-np.minimum(before / tail + after / (2 * tail), _FURTHEST))
    if envelope.cue.about_event:
        later = _TOLD_LATER * np.exp(-np.minimum(after / max(_TOLD_LATER_DAYS, width), _FURTHEST))
        prior = np.where(after > 0, later, prior)
    return np.where(envelope.inside[rows], 1.0, prior)


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
