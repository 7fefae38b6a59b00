"""From a question to rows: embed it, run the recall over the columns, fetch what won."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cpersona_jit.columns.centring import centred_query
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.degraded import (
    CUE_IGNORED,
    CUE_OUT_OF_REACH,
    missing_blocks,
    missing_vectors,
)
from cpersona_jit.embed.guard import guarded_embed, model_info
from cpersona_jit.embed.provider import ModelInfo, Provider
from cpersona_jit.errors import EmbeddingError
from cpersona_jit.exits.candidates import Candidate, Candidates
from cpersona_jit.exits.quoter import Quoter
from cpersona_jit.intent import Intent, read_intent
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.cores import usable_cores
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.pipeline import rank
from cpersona_jit.recall.process import Process, run_process
from cpersona_jit.recall.process_trace import describe_envelope, trace_process
from cpersona_jit.recall.settings import RecallSettings
from cpersona_jit.recall.trace import trace_recall
from cpersona_jit.records import Row
from cpersona_jit.results import RecallResult, RecallRow, recall_row

# As many recalls at a time as there are cores, and one that is ready when a core is free: more of
# them would take the interpreter's lock from each other instead of answering. The embedding of the
# query, which may be an endpoint's, waits for nobody's turn.
_TURNS = threading.BoundedSemaphore(usable_cores() + 1)

# The active model (None while it cannot be asked), the query's vector, what is missing.
_Embedded = tuple[ModelInfo | None, np.ndarray | None, tuple[str, ...]]


class Sources(NamedTuple):
    """Where a recall gets what it needs."""

    provider: Provider
    columns: Callable[[ModelInfo | None], Columns]  # the snapshot, as new as the store
    fetch: Callable[[Axes, list[int]], dict[int, Row]]  # rows by id, under the axes
    kernels: Callable[[], KernelSet]


class AdaptiveRun(NamedTuple):
    """An adaptive recall before its rows are fetched."""

    state: Process
    embedder: str
    kernels: str
    degraded: tuple[str, ...]
    quoter: Quoter


def recall_rows(
    sources: Sources,
    query: str,
    axes: Axes,
    settings: RecallSettings | AdaptiveSettings,
    time_cue: Mapping[str, Any] | None,
    now: str | None,
    limit: int,
    trace: bool,
) -> tuple[RecallResult, Quoter]:
    """Recall as the settings say; parameters as in :meth:`cpersona_jit.Memory.recall`.

    Returns
    -------
    result : RecallResult
        Whole rows.
    quoter : Quoter
        Quotes them where they match the query, for an exit that shows less.
    """
    cues = settings.cues if isinstance(settings, AdaptiveSettings) else None
    intent = read_intent(query, time_cue, now, parse=cues is not None and cues.parse)
    if isinstance(settings, RecallSettings):
        result, quoter = recall_fused(sources, query, axes, settings, limit, trace)
    else:
        result, quoter = recall_adaptive(sources, query, axes, settings, intent, limit, trace)
    if time_cue is not None and cues is None:
        result = replace(result, degraded=(*result.degraded, CUE_IGNORED))
    return result, quoter


def recall_fused(
    sources: Sources, query: str, axes: Axes, settings: RecallSettings, limit: int, trace: bool
) -> tuple[RecallResult, Quoter]:
    """Recall by rank or score fusion of the arms."""
    kernels = sources.kernels()
    start = time.perf_counter()
    dense = any(arm.kind == "dense" for arm in settings.active_arms)
    info, vector, degraded = _embed_query(sources.provider, query, dense)
    embedded = time.perf_counter()
    columns = sources.columns(info)
    vector, degraded = _fitting(columns, vector, degraded)
    vector = centred_query(columns, vector, axes)
    refreshed = time.perf_counter()
    ranking = rank(columns, query, vector, axes, settings, kernels)
    ranking.milliseconds["embed"] = (embedded - start) * 1e3
    ranking.milliseconds["refresh"] = (refreshed - embedded) * 1e3
    if vector is not None:
        degraded += missing_vectors(columns, ranking.mask)
    degraded += tuple(f"{a.spec.name}: {a.note}" for a in ranking.pool.arms if a.note)
    degraded += kernels.notes
    best = ranking.order[:limit]
    admission = [""] * best.size
    rows = _rows(sources, columns, axes, ranking.pool.rows[best], ranking.fused[best], admission)
    traced = None
    if trace:
        traced = trace_recall(
            query, axes, settings, limit, columns, ranking, model_label(info), kernels.name
        )
    return RecallResult(rows, degraded, traced), Quoter(columns, query, vector)


def recall_adaptive(
    sources: Sources,
    query: str,
    axes: Axes,
    settings: AdaptiveSettings,
    intent: Intent,
    limit: int,
    trace: bool,
) -> tuple[RecallResult, Quoter]:
    """Recall by the process."""
    embedded = _embed_query(sources.provider, query, dense=True)
    with _TURNS:
        run = _run_embedded(sources, query, embedded, axes, settings, intent, limit)
        state = run.state
        rows = _rows(sources, state.columns, axes, *_chosen(state, limit))
    traced = None
    if trace:
        traced = trace_process(
            query, axes, settings, intent.now_us, limit, state, run.embedder, run.kernels
        )
    period = describe_envelope(state.envelope)
    return RecallResult(rows, run.degraded, traced, period), run.quoter


def candidates_of(
    sources: Sources,
    query: str,
    axes: Axes,
    settings: AdaptiveSettings,
    time_cue: Mapping[str, Any] | None,
    now: str | None,
    limit: int,
) -> Candidates:
    """Recall for an exit; parameters as in :meth:`cpersona_jit.Memory.recall`."""
    cues = settings.cues
    intent = read_intent(query, time_cue, now, parse=cues is not None and cues.parse)
    embedded = _embed_query(sources.provider, query, dense=True)
    with _TURNS:
        run = _run_embedded(sources, query, embedded, axes, settings, intent, limit)
        state = run.state
        positions, scores, admission = _chosen(state, limit)
        ids = state.columns.ids[positions].tolist()
        found = sources.fetch(axes, ids)
    ranked = enumerate(zip(ids, scores.tolist(), admission, strict=True))
    ignored = (CUE_IGNORED,) if time_cue is not None and cues is None else ()
    return Candidates(
        tuple(Candidate(found[i], rank, *rest) for rank, (i, *rest) in ranked if i in found),
        len(ids) - len(found),
        int(np.count_nonzero(state.gated)),
        state.priced_out,
        run.quoter,
        (*run.degraded, *ignored),
        describe_envelope(state.envelope),
        state,
    )


def _chosen(state: Process, limit: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Positions, scores and admissions of the window's rows, then of those on seats."""
    window = state.order[:limit]
    chosen = np.concatenate((window, state.reserved, state.cued))
    admission = [""] * window.size
    admission += ["reservation"] * state.reserved.size + ["time_cue"] * state.cued.size
    return state.rows[chosen], state.score[chosen], admission


def run_adaptive(
    sources: Sources,
    query: str,
    axes: Axes,
    settings: AdaptiveSettings,
    intent: Intent,
    limit: int,
) -> AdaptiveRun:
    """Run the process and say what it had to do without."""
    embedded = _embed_query(sources.provider, query, dense=True)
    with _TURNS:
        return _run_embedded(sources, query, embedded, axes, settings, intent, limit)


def _run_embedded(
    sources: Sources,
    query: str,
    embedded: _Embedded,
    axes: Axes,
    settings: AdaptiveSettings,
    intent: Intent,
    limit: int,
) -> AdaptiveRun:
    info, vector, degraded = embedded
    columns, kernels = sources.columns(info), sources.kernels()
    vector, degraded = _fitting(columns, vector, degraded)
    vector = centred_query(columns, vector, axes)
    state = run_process(columns, query, vector, axes, settings, *intent, limit, kernels)
    if vector is not None:
        degraded += missing_vectors(columns, state.mask)
    degraded += missing_blocks(columns, axes)
    degraded += state.signals.notes + kernels.notes
    degraded += tuple(f"cap_reached: {cap}" for cap in state.caps)
    if intent.cue is not None and settings.cues is not None and state.envelope is None:
        degraded += (CUE_OUT_OF_REACH,)
    quoter = Quoter(columns, query, vector)
    return AdaptiveRun(state, model_label(info), kernels.name, degraded, quoter)


def _embed_query(provider: Provider, query: str, dense: bool) -> _Embedded:
    """The active model (None while it cannot be asked), the query's vector, what is missing."""
    info = None
    try:
        info = model_info(provider)
        if not dense:
            return info, None, ()
        if info.dim is None:
            return info, None, ("no_embedder: recall is lexical only",)
        return info, guarded_embed(provider, [query], "query")[0], ()
    except EmbeddingError as error:
        if not dense:
            return None, None, ()
        return info, None, (f"embedder_failed: {error}; recall is lexical only",)


def _fitting(
    columns: Columns, vector: np.ndarray | None, degraded: tuple[str, ...]
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Leave out a query vector that is not as long as those of the rows.

    The kernels trust lengths: one too many numbers and they would read beyond the columns.
    """
    if vector is None or not columns.dim or vector.size == columns.dim:
        return vector, degraded
    note = (
        f"embedder_failed: the query's vector has dimension {vector.size}, those of the rows have "
        f"{columns.dim}; recall is lexical only"
    )
    return None, (*degraded, note)


def _rows(
    sources: Sources,
    columns: Columns,
    axes: Axes,
    positions: np.ndarray,
    scores: np.ndarray,
    admission: list[str],
) -> tuple[RecallRow, ...]:
    """Fetch rows of the snapshot; one that was deleted meanwhile is left out."""
    ids = columns.ids[positions].tolist()
    found = sources.fetch(axes, ids)
    scored = zip(ids, scores.tolist(), admission, strict=True)
    return tuple(recall_row(found[i], score, how) for i, score, how in scored if i in found)


def model_label(info: ModelInfo | None) -> str:
    """Name of the active model, for people."""
    return "unreachable" if info is None else info.label
