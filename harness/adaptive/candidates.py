"""What a signal pool keeps of one query: every row that a setting may rank, with its signals."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from cpersona_jit.columns.snapshot import UNDATED, Columns
from cpersona_jit.cues.parse import parse_time_cue
from cpersona_jit.cues.time_cue import TimeCue
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.numpy_path.calibration import DENSE_ROW, LN_BLOCKS, SIGNALS
from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.memory import Memory
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings, CueWeights
from cpersona_jit.recall.clues import clue_keys
from cpersona_jit.recall.envelope import Envelope, open_envelope
from cpersona_jit.recall.evidence import Evidence
from cpersona_jit.recall.process import Process
from cpersona_jit.recall.retrieve import draw_candidates
from cpersona_jit.recall.row_prior import newest_time
from cpersona_jit.recall.signals import SIGNAL_NAMES
from cpersona_jit.recall.speakers import speakers_named
from cpersona_jit.store.timestamps import parse_timestamp
from harness.adaptive.cue_arms import CUE_ARMS, PARSED, wrong_cues
from harness.datasets.base import DatasetQuery
from harness.freeze_unit import FreezeError

_MOMENT = pa.list_(pa.float64())
QUERY_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("query_id", "scope_id", "task")),
        ("latency_ms", pa.float64()),
        ("asked_us", pa.int64()),
        ("admitted", pa.int64()),
        ("newest_us", pa.int64()),
        ("cosine_unit", pa.float64()),
        ("mean", _MOMENT),
        ("covariance", _MOMENT),
        ("alternation", pa.float64()),
        ("median_length", pa.float64()),
        *((name, pa.string()) for name in ("cue_words", "cue_form", "cue_certainty")),
        *((name, pa.bool_()) for name in ("cue_about_event", "cue_bare")),
        ("cue_readings", pa.list_(pa.int64())),
        *((f"{arm}_{end}_us", pa.int64()) for arm in CUE_ARMS for end in ("start", "end")),
    ]
)


def signal_candidates(
    memory: Memory,
    query: DatasetQuery,
    documents: dict[int, str],
    query_index: int,
    *,
    settings: AdaptiveSettings,
) -> tuple[pa.Table, pa.Table]:
    """Explore one query.

    Parameters and results are those of :data:`harness.freeze_unit.Ask`. Kept are the first
    ``settings.depth`` rows of the dense and of the gram evidence, of every signal alone, and of
    the evidence inside each period that a cue of the question names; and the rows up to two places
    away from those in their session, which only lend to them.
    """
    began = time.perf_counter()
    state = memory.explore(query.text, agent_id=query.scope_id, settings=settings)
    milliseconds = (time.perf_counter() - began) * 1e3
    _require_vectors(state, query)
    asked = parse_timestamp(query.timestamp or "")
    cue = parse_time_cue(query.text, asked)
    envelopes = _envelopes(state, cue, query.query_id)
    listed = _listed(state, envelopes, settings)
    rows = _with_neighbours(state.columns, listed)
    rows = rows[state.columns.tie_order(rows)]
    table = _rows_table(state, query, rows, listed, envelopes)
    ids = state.columns.ids[rows].tolist()
    table["doc_id"] = pa.array([documents[i] for i in ids], pa.string()).dictionary_encode()
    table["query_index"] = np.full(rows.size, query_index, np.int32)
    about = _about(state, query, cue, envelopes) | {"latency_ms": milliseconds, "asked_us": asked}
    return pa.table(table), pa.Table.from_pylist([about], QUERY_SCHEMA)


def _require_vectors(state: Process, query: DatasetQuery) -> None:
    """Refuse to freeze what an embedder that failed on the way leaves behind."""
    columns = state.columns
    embedded = np.bitwise_count(state.mask.words & columns.embedded.words).sum()
    if columns.dim and (embedded < state.mask.count or not state.signals.arrays.dense.any()):
        raise FreezeError(
            f"query {query.query_id!r}: it or rows it may see have no vector; "
            "what is finished is kept: run again to go on"
        )


def _envelopes(state: Process, cue: TimeCue | None, query_id: str) -> dict[str, Envelope]:
    """Open the envelope of each cue arm; those that say nothing about the store are left out."""
    admitted = state.mask.as_bools(state.columns.n)
    times = state.columns.event_time
    cues = {PARSED: cue} if cue is not None else {}
    opened: dict[str, Envelope] = {}
    while cues:
        arm, wanted = cues.popitem()
        envelope = open_envelope(state.columns, admitted, wanted, CueWeights())
        if envelope is None:
            continue
        opened[arm] = envelope
        if arm == PARSED:
            cues |= wrong_cues(envelope, times[admitted & (times != UNDATED)], query_id)
    return opened


def _listed(
    state: Process,
    envelopes: dict[str, Envelope],
    settings: AdaptiveSettings,
) -> np.ndarray:
    """Unite the lists, ascending."""
    evidence = _evidence(state, state.forms)
    regions = [None, *(envelope.inside for envelope in envelopes.values())]
    drawn = (state.columns, settings.calibration, evidence, regions, settings.depth)
    found = [draw_candidates(*drawn).rows]
    alone = _evidence(state, np.eye(SIGNALS))
    found += [
        alone.best(signal, state.mask.words, settings.depth)
        for signal in range(SIGNALS)
        if signal != LN_BLOCKS and state.signals.covariance[signal, signal] > 0.0
    ]
    return np.unique(np.concatenate(found))


def _evidence(state: Process, forms: np.ndarray) -> Evidence:
    return Evidence(state.signals, forms, np.zeros(len(forms)), state.mask)


def _with_neighbours(columns: Columns, rows: np.ndarray) -> np.ndarray:
    found = [rows]
    for neighbour in (columns.before, columns.after):
        step = rows
        for _ in range(2):
            step = neighbour[step[step >= 0]]
            found.append(step)
    rows = np.unique(np.concatenate(found))
    return rows[rows >= 0]


def _rows_table(
    state: Process,
    query: DatasetQuery,
    rows: np.ndarray,
    listed: np.ndarray,
    envelopes: dict[str, Envelope],
) -> dict[str, object]:
    columns = state.columns
    place = np.full(columns.n + 1, -1, np.int64)  # the last place is where -1, no row, leads
    place[rows] = np.arange(rows.size)
    nowhere = np.zeros(rows.size, bool)
    source, project = clue_keys(columns, rows, ["source", "project"])
    return {
        "row": rows,
        **dict(zip(SIGNAL_NAMES, state.signals.of(rows), strict=True)),
        "before": place[columns.before[rows]],
        "after": place[columns.after[rows]],
        "session": columns.session_key[rows],
        "event_time": columns.event_time[rows],
        "source": source,
        "project": project,
        "text_length": columns.text_length[rows],
        "is_question": columns.is_question[rows],
        "speaker_named": speakers_named(columns, query.text, rows),
        "listed": np.isin(rows, listed),
        **{
            f"inside_{arm}": envelopes[arm].inside[rows] if arm in envelopes else nowhere
            for arm in CUE_ARMS
        },
    }


def _about(
    state: Process, query: DatasetQuery, cue: TimeCue | None, envelopes: dict[str, Envelope]
) -> dict:
    scope = state.columns.scope_statistics(Axes.agent(query.scope_id))
    about = {
        "query_id": query.query_id,
        "scope_id": query.scope_id,
        "task": query.task,
        "admitted": state.mask.count,
        "newest_us": newest_time(state.columns.event_time[admitted_rows(state.mask.words)]),
        "cosine_unit": float(state.signals.unit[DENSE_ROW]),
        "mean": state.signals.mean.tolist(),
        "covariance": state.signals.covariance.ravel().tolist(),
        "alternation": scope.alternation,
        "median_length": scope.median_length,
    }
    if cue is not None:
        about |= {
            "cue_words": cue.words,
            "cue_form": cue.form,
            "cue_certainty": cue.certainty,
            "cue_about_event": cue.about_event,
            "cue_bare": cue.bare,
        }
    if PARSED in envelopes:
        about["cue_readings"] = [end for span in envelopes[PARSED].readings for end in span]
    for arm, envelope in envelopes.items():
        about |= {f"{arm}_start_us": envelope.start_us, f"{arm}_end_us": envelope.end_us}
    return about
