"""Recall as a process: intent, envelope, retrieval, evaluation, bounded revision, selection.

Every stage is a function of arrays. The arms are called once; the far rows of a prior and the
period of an envelope are a second retrieval over the same signals, each under its own mask. Later
stages weigh and order the pool in hand, whatever their number, and what comes back does not grow
with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.cues.time_cue import TimeCue
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recall.clues import clue_keys
from cpersona_jit.recall.envelope import Envelope, envelope_prior, open_envelope
from cpersona_jit.recall.evidence import FUSED, Evidence, evidence_of
from cpersona_jit.recall.gate import gated_rows, least_rows
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.retrieve import draw_candidates, inside_of, kept_candidates
from cpersona_jit.recall.revise import Surroundings, context_of, revision_terms
from cpersona_jit.recall.row_prior import (
    RowPrior,
    newest_time,
    priors_of,
    scan_positions,
    scan_regions,
)
from cpersona_jit.recall.seats import cue_seats, leading_rows, reserve_seats
from cpersona_jit.recall.signals import Signals, measure_signals
from cpersona_jit.recall.speakers import speakers_named
from cpersona_jit.recall.stage_clock import StageClock


@dataclass
class Process:
    """The state of one adaptive recall, and its trace.

    Attributes
    ----------
    columns, mask : Columns, Mask
        Where it looks.
    signals : Signals
        What the arms found.
    forms : ndarray of float64, shape (3, 7)
        Weights of the signals in the dense evidence, the gram evidence and their fusion.
    rows : ndarray of int64, shape (P,)
        The candidates, in tie order.
    reached : ndarray of bool, shape (2, P)
        Whether the candidate is in the list of the dense and of the gram evidence.
    prior : ndarray of float64, shape (P,)
        Prior of each candidate, above 0; 1 without a prior.
    evidence : ndarray of float64, shape (3, P)
        Dense, gram and fused evidence of each candidate.
    terms : dict of str to ndarray of float64, shape (P,)
        What revisions and the envelope's prior add to it, in the order in which it is added.
    score : ndarray of float64, shape (P,)
        The fused evidence and all terms.
    order : ndarray of int64
        Candidates, best first; those that the gate removed are left out.
    gated : ndarray of bool, shape (P,)
        Candidates that the gate removed.
    reserved : ndarray of int64
        Candidates that keep a seat beyond the window: the best of a kind of evidence, and what one
        kind alone found.
    cued : ndarray of int64
        Candidates that keep one since they lie in the envelope's period.
    envelope : Envelope or None
        The period that retrieval aimed at.
    retrievals : int
        How often lists were drawn: one, or two with an envelope or far rows.
    priced_out : int
        Rows that the lists found and that a prior of 0 removed.
    caps : list of str
        Bounds that acted.
    stages : list of dict
        One entry per stage: name, milliseconds, and what it did.
    """

    columns: Columns
    mask: Mask
    signals: Signals
    forms: np.ndarray
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    reached: np.ndarray = field(default_factory=lambda: np.zeros((2, 0), bool))
    prior: np.ndarray = field(default_factory=lambda: np.zeros(0))
    evidence: np.ndarray = field(default_factory=lambda: np.zeros((3, 0)))
    terms: dict[str, np.ndarray] = field(default_factory=dict)
    score: np.ndarray = field(default_factory=lambda: np.zeros(0))
    order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    gated: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    reserved: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    cued: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    envelope: Envelope | None = None
    retrievals: int = 0
    priced_out: int = 0
    caps: list[str] = field(default_factory=list)
    stages: list[dict] = field(default_factory=list)


def run_process(
    columns: Columns,
    query: str,
    query_vector: np.ndarray | None,
    axes: Axes,
    settings: AdaptiveSettings,
    cue: TimeCue | None,
    now_us: int | None,
    limit: int,
    kernels: KernelSet,
) -> Process:
    """Recall.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    query : str
        The query's text.
    query_vector : ndarray of float32, shape (dim,), or None
        Its embedding by the model of the snapshot.
    axes : Axes
        Isolation; no stage crosses it.
    settings : AdaptiveSettings
        What the stages do.
    cue : TimeCue or None
        The intent: declared by the caller, or derived from the question.
    now_us : int or None
        When the question is asked, UTC microseconds. Only the ages of a recency prior need it;
        without it they count from the newest dated row that the axes admit.
    limit : int
        The window after which reserved seats stand. It changes nothing before the selection.
    kernels : KernelSet
        The kernels to call.
    """
    clock = StageClock(settings.bounds.milliseconds)
    mask = columns.mask(axes)
    signals = measure_signals(columns, settings, query, query_vector, axes, kernels)
    forms = kernels.calibrate(signals.covariance, settings.calibration.parameters())
    state = Process(columns, mask, signals, forms)
    state.stages.append(clock.stage("signals", notes=signals.notes))
    state.envelope = _aim(state, cue, settings)
    aimed = 0 if state.envelope is None else int(np.count_nonzero(state.envelope.inside))
    state.stages.append(clock.stage("envelope", opened=state.envelope is not None, rows=aimed))
    evidence = _retrieve(state, now_us, settings, clock, kernels)
    facts = {"candidates": state.rows.size, "retrievals": state.retrievals}
    state.stages.append(clock.stage("retrieve", **facts))
    _revise(state, query, axes, evidence, settings, clock, kernels)
    if settings.prior is not None:
        state.terms["prior"] = settings.prior.weight * (state.prior - 1.0)
    if state.envelope is not None:
        nearness = envelope_prior(columns, state.rows, state.envelope, settings.cues, kernels)
        state.terms["period"] = state.envelope.weight * (nearness - 1.0)
    state.score = state.evidence[FUSED].copy()
    for term in state.terms.values():
        state.score += term
    _gate(state, settings, clock)
    state.order = _ordered(state)
    leaders = leading_rows(state.reached, state.evidence, state.rows)
    state.reserved = reserve_seats(state.order, state.reached, leaders, limit, settings.seats)
    if state.envelope is not None:
        inside = state.envelope.inside[state.rows]
        state.cued = cue_seats(state.order, inside, state.reserved, limit, settings.cues.seats)
    state.stages.append(clock.stage("select", reserved=state.reserved.size, cued=state.cued.size))
    return state


def _aim(state: Process, cue: TimeCue | None, settings: AdaptiveSettings) -> Envelope | None:
    if cue is None or settings.cues is None:
        return None
    return open_envelope(state.columns, state.mask.as_bools(state.columns.n), cue, settings.cues)


def _retrieve(
    state: Process,
    now_us: int | None,
    settings: AdaptiveSettings,
    clock: StageClock,
    kernels: KernelSet,
) -> Evidence:
    """Draw the lists, unite them and weigh their rows; return the evidence.

    The near rows are the first retrieval, the far rows and those of the period the second.
    """
    columns, prior, cap = state.columns, settings.prior, settings.bounds.candidates
    evidence = evidence_of(state.signals, state.forms, state.mask)
    position = np.zeros(0, np.int64)
    if prior is not None:
        position = scan_positions(state.mask.as_bools(columns.n))
    regions = scan_regions(prior, position)
    if state.envelope is not None:
        regions.append(inside_of(regions, state.envelope.inside))
    state.retrievals = min(len(regions), 2)
    found = draw_candidates(columns, settings.calibration, evidence, regions, settings.depth)
    weights = np.ones(found.rows.size)
    if prior is not None:
        weights = _weigh(state, prior, position[found.rows], found.rows, now_us, clock, kernels)
    elif weights.size <= cap:  # nothing is left out
        state.rows, state.reached, state.evidence, state.prior = *found, weights
        return evidence
    kept = kept_candidates(found, weights, cap)
    considered = int(np.count_nonzero(weights))
    state.priced_out = weights.size - considered
    if kept.size < considered:
        state.caps.append(f"candidates: {cap} of {considered}")
    state.rows, state.reached = found.rows[kept], found.reached[:, kept]
    state.prior, state.evidence = weights[kept], found.evidence[:, kept]
    return evidence


def _weigh(
    state: Process,
    prior: RowPrior,
    position: np.ndarray,
    rows: np.ndarray,
    now_us: int | None,
    clock: StageClock,
    kernels: KernelSet,
) -> np.ndarray:
    times = state.columns.event_time
    now, basis = now_us, "the question"
    if now is None:
        now, basis = newest_time(times[admitted_rows(state.mask.words)]), "the newest row"
    weights = priors_of(prior, position, times[rows], now, kernels)
    facts: dict = {"removed": int(np.count_nonzero(weights == 0.0))}
    if prior.recency:
        facts |= {"ages_from": basis, "now_us": now}
    state.stages.append(clock.stage("prior", **facts))
    return weights


def _revise(
    state: Process,
    query: str,
    axes: Axes,
    evidence: Evidence,
    settings: AdaptiveSettings,
    clock: StageClock,
    kernels: KernelSet,
) -> None:
    """Weigh the pool again, once: the one revision there is."""
    structure = settings.structure
    if structure is None or not state.rows.size:
        return
    if settings.bounds.revisions < 1:
        state.caps.append("revisions: 0")
        return
    if clock.over():
        state.caps.append(f"milliseconds: {settings.bounds.milliseconds:g}")
        return
    columns, rows = state.columns, state.rows
    around = Surroundings(
        evidence.fused_beside(columns, rows),
        columns.is_question[rows],
        speakers_named(columns, query, rows),
        clue_keys(columns, rows, [*structure.clues()]),
        columns.scope_statistics(axes),
    )
    state.terms |= revision_terms(state.evidence[FUSED], around, structure, kernels)
    context = context_of(around.statistics, structure)
    state.stages.append(clock.stage("structure", context=context))


def _gate(state: Process, settings: AdaptiveSettings, clock: StageClock) -> None:
    gate, admitted = settings.gate, state.mask.count
    state.gated = gated_rows(state.evidence, state.forms, gate, admitted)
    facts: dict = {"value": gate, "removed": int(np.count_nonzero(state.gated))}
    if gate is not None and admitted < least_rows(gate):
        facts |= {"acts_from": least_rows(gate), "admitted": admitted}
    state.stages.append(clock.stage("gate", **facts))


def _ordered(state: Process) -> np.ndarray:
    """Candidates by score; the pool lies in the tie order, which a stable sort keeps."""
    falling = -state.score
    best_first = np.argsort(falling)
    ordered = falling[best_first]
    if (ordered[1:] == ordered[:-1]).any():  # the faster sort has no order for these
        best_first = np.argsort(falling, kind="stable")
    return best_first[~state.gated[best_first]] if state.gated.any() else best_first
