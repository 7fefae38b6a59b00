"""What an adaptive recall did, in enough detail to replay it without an index or a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from cpersona_jit.isolation import Axes
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recall.envelope import Envelope
from cpersona_jit.recall.explain import process_contributions
from cpersona_jit.recall.process import Process
from cpersona_jit.text.grams import normalise


@dataclass(frozen=True)
class ProcessTrace:
    """One adaptive recall.

    Attributes
    ----------
    query : str
        The query in the form that its grams are cut from.
    axes, settings : dict
        The call's isolation, and all settings.
    now_us : int or None
        When the question was asked, UTC microseconds; None when nothing had to know.
    limit : int
        Rows asked for; it has no part in what was considered.
    generation, admitted : int
        Write generation of the snapshot; rows that the axes admit.
    embedder, fingerprint, kernels : str
        The active model, and which kernels served.
    mean, covariance : ndarray of float64, shapes (7,) and (7, 7)
        Moments of the signals over the admitted rows.
    forms : ndarray of float64, shape (3, 7)
        Weights of the signals in the dense evidence, the gram evidence and their fusion.
    pool_ids : ndarray of int64, shape (P,)
        Memory ids of the candidates, in tie order.
    pool_signals : ndarray of int64, shape (7, P)
        Their signals.
    pool_reached : ndarray of bool, shape (2, P)
        Whether the dense and the gram evidence listed the candidate.
    pool_gated : ndarray of bool, shape (P,)
        Candidates that the gate removed.
    contributions : dict of str to ndarray of float64, shape (P,)
        What adds up to each candidate's score.
    pool_score : ndarray of float64, shape (P,)
        The scores.
    ranking, reserved, cued : ndarray of int64
        Memory ids, best first, before the limit; and those that keep a seat after it.
    envelope : dict or None
        The period that retrieval aimed at, with the words that asked for it.
    retrievals : int
        How often lists were drawn from the signals, at most two.
    caps : tuple of str
        Bounds that acted.
    stages : tuple of dict
        Each stage with what it did and its wall time, the only part that may differ between equal
        calls.
    """

    query: str
    axes: dict
    settings: dict
    now_us: int | None
    limit: int
    generation: int
    admitted: int
    embedder: str
    fingerprint: str
    kernels: str
    mean: np.ndarray
    covariance: np.ndarray
    forms: np.ndarray
    pool_ids: np.ndarray
    pool_signals: np.ndarray
    pool_reached: np.ndarray
    pool_gated: np.ndarray
    contributions: dict[str, np.ndarray]
    pool_score: np.ndarray
    ranking: np.ndarray
    reserved: np.ndarray
    cued: np.ndarray
    envelope: dict | None
    retrievals: int
    caps: tuple[str, ...]
    stages: tuple[dict, ...]


def trace_process(
    query: str,
    axes: Axes,
    settings: AdaptiveSettings,
    now_us: int | None,
    limit: int,
    state: Process,
    embedder: str,
    kernels: str,
) -> ProcessTrace:
    """Put a trace together from the state that a process left."""
    columns, ids = state.columns, state.columns.ids
    return ProcessTrace(
        query=normalise(query),
        axes={"agent_id": axes.agent_id, "project_id": axes.project_id, "channel": axes.channel},
        settings=asdict(settings),
        now_us=now_us,
        limit=limit,
        generation=columns.generation,
        admitted=state.mask.count,
        embedder=embedder,
        fingerprint=columns.fingerprint,
        kernels=kernels,
        mean=state.signals.mean,
        covariance=state.signals.covariance,
        forms=state.forms,
        pool_ids=ids[state.rows],
        pool_signals=state.signals.of(state.rows),
        pool_reached=state.reached,
        pool_gated=state.gated,
        contributions=process_contributions(state),
        pool_score=state.score,
        ranking=ids[state.rows[state.order]],
        reserved=ids[state.rows[state.reserved]],
        cued=ids[state.rows[state.cued]],
        envelope=describe_envelope(state.envelope),
        retrievals=state.retrievals,
        caps=tuple(state.caps),
        stages=tuple(state.stages),
    )


def describe_envelope(envelope: Envelope | None) -> dict | None:
    """Return an envelope as plain values; an end that the cue leaves open is None."""
    if envelope is None:
        return None
    cue = envelope.cue
    counted = cue.session is not None
    return {
        "start_us": envelope.start_us if counted or cue.start_us is not None else None,
        "end_us": envelope.end_us if counted or cue.end_us is not None else None,
        "rows": int(np.count_nonzero(envelope.inside)),
        "weight": envelope.weight,
        "certainty": cue.certainty,
        "form": cue.form,
        "words": cue.words,
        "about_event": cue.about_event,
        "bare": cue.bare,
        "moved": envelope.moved,
    }
