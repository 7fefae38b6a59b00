"""Recall as a process: intent, envelope, retrieval, evaluation, bounded revision, selection.

Every stage is a function of arrays. The arms are called once; a period that the envelope asks for
is a second retrieval over the same signals, under its own mask. Later stages weigh and order the
pool in hand, whatever their number, and what comes back does not grow with it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask, mask_of
from cpersona_jit.cues.time_cue import TimeCue
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.numpy_path.calibration import SIGNALS
from cpersona_jit.kernels.structure_weights import context_deficit
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recall.envelope import Envelope, envelope_prior, open_envelope
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.lists import DENSE, FUSED, GRAM, draw_lists
from cpersona_jit.recall.seats import reserve_seats
from cpersona_jit.recall.signals import Signals, measure_signals
from cpersona_jit.recall.speakers import speakers_named


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
    fused : ndarray of float64, shape (P,)
        Fused evidence of each candidate.
    terms : dict of str to ndarray of float64, shape (P,)
        What revisions and the envelope's prior add to it, in the order in which it is added.
    score : ndarray of float64, shape (P,)
        The fused evidence and all terms.
    order : ndarray of int64
        Candidates, best first; those that the gate removed are left out.
    gated : ndarray of bool, shape (P,)
        Candidates that the gate removed.
    reserved : ndarray of int64
        Candidates that keep a seat beyond the window since one kind of evidence alone found them.
    cued : ndarray of int64
        Candidates that keep one since they lie in the envelope's period.
    envelope : Envelope or None
        The period that retrieval aimed at.
    retrievals : int
        How often lists were drawn: one, or two with an envelope.
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
    fused: np.ndarray = field(default_factory=lambda: np.zeros(0))
    terms: dict[str, np.ndarray] = field(default_factory=dict)
    score: np.ndarray = field(default_factory=lambda: np.zeros(0))
    order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    gated: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    reserved: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    cued: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    envelope: Envelope | None = None
    retrievals: int = 0
    caps: list[str] = field(default_factory=list)
    stages: list[dict] = field(default_factory=list)


def run_process(
    columns: Columns,
    query: str,
    query_vector: np.ndarray | None,
    axes: Axes,
    settings: AdaptiveSettings,
    cue: TimeCue | None,
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
    limit : int
        The window after which reserved seats stand. It changes nothing before the selection.
    kernels : KernelSet
        The kernels to call.
    """
    clock = _Clock(settings.bounds.milliseconds)
    mask, block_mask = columns.mask(axes), columns.block_mask(axes)
    signals = measure_signals(
        columns,
        settings.gram3,
        settings.gram4,
        query,
        query_vector,
        mask,
        block_mask,
        kernels,
    )
    forms = kernels.calibrate(signals.covariance, settings.calibration.parameters())
    state = Process(columns, mask, signals, forms)
    state.stages.append(clock.stage("signals", notes=signals.notes))
    state.envelope = _aim(state, cue, settings)
    state.stages.append(clock.stage("envelope", opened=state.envelope is not None))
    evidence = _retrieve(state, settings, kernels)
    state.stages.append(clock.stage("retrieve", candidates=state.rows.size))
    _revise(state, query, axes, evidence, settings, clock, kernels)
    if state.envelope is not None:
        prior = envelope_prior(columns, state.rows, state.envelope, settings.cues)
        state.terms["period"] = state.envelope.weight * (prior - 1.0)
    state.score = state.fused.copy()
    for term in state.terms.values():
        state.score += term
    _gate(state, settings)
    removed = int(np.count_nonzero(state.gated))
    state.stages.append(clock.stage("gate", value=settings.gate, removed=removed))
    state.order = _ordered(state)
    state.reserved = reserve_seats(state.order, state.reached, limit, settings.seats)
    state.cued = _cue_seats(state, settings, limit)
    state.stages.append(clock.stage("select", reserved=state.reserved.size, cued=state.cued.size))
    return state


class _Clock:
    """Time spent, stage by stage, and whether the cap is reached."""

    def __init__(self, cap: float | None) -> None:
        self._start = self._last = time.perf_counter()
        self._cap = cap

    def stage(self, name: str, **facts: object) -> dict:
        now = time.perf_counter()
        spent, self._last = (now - self._last) * 1e3, now
        return {"stage": name, "milliseconds": spent, **facts}

    def over(self) -> bool:
        return self._cap is not None and (time.perf_counter() - self._start) * 1e3 > self._cap


def _aim(state: Process, cue: TimeCue | None, settings: AdaptiveSettings) -> Envelope | None:
    if cue is None or settings.cues is None:
        return None
    return open_envelope(state.columns, state.mask.as_bools(state.columns.n), cue, settings.cues)


def _retrieve(state: Process, settings: AdaptiveSettings, kernels: KernelSet) -> np.ndarray:
    """Draw the lists and unite them; return the fused evidence of every row."""
    columns, signals = state.columns, state.signals
    values, mean = signals.values, signals.mean
    evidence = np.empty((3, columns.n))
    for form in (DENSE, GRAM, FUSED):
        bias = -_inner(state.forms[form], mean)
        kernels.linear_scores(values, state.forms[form], bias, state.mask.words, evidence[form])
    drawn = (columns, signals, settings.calibration)
    lists = [draw_lists(*drawn, evidence, settings.depth, kernels)]
    state.retrievals = 1
    if state.envelope is not None:
        period = mask_of(state.envelope.inside)
        inside = np.where(state.envelope.inside, evidence, -np.inf)
        lists.append(draw_lists(*drawn, inside, settings.depth, kernels))
        state.retrievals = 2
        state.stages.append({"stage": "period", "rows": period.count, "milliseconds": 0.0})
    found = [np.unique(np.concatenate([pair[kind] for pair in lists])) for kind in (0, 1)]
    rows = np.unique(np.concatenate(found))
    if rows.size > settings.bounds.candidates:
        state.caps.append(f"candidates: {settings.bounds.candidates} of {rows.size}")
        best = np.lexsort((rows, -evidence[FUSED, rows]))[: settings.bounds.candidates]
        rows = np.sort(rows[best])
    rows = rows[np.argsort(columns.tie_rank[rows])]
    state.rows = rows
    state.reached = np.array([np.isin(rows, members) for members in found])
    state.fused = evidence[FUSED, rows]
    return evidence[FUSED]


def _revise(
    state: Process,
    query: str,
    axes: Axes,
    evidence: np.ndarray,
    settings: AdaptiveSettings,
    clock: _Clock,
    kernels: KernelSet,
) -> None:
    """Weigh the pool again by what its strong rows hand over: neighbours, sessions, speakers.

    The one revision there is; with no sessions, speakers or conversation it adds nothing.
    """
    structure = settings.structure
    if structure is None or not state.rows.size:
        return
    if settings.bounds.revisions < 1:
        state.caps.append("revisions: 0")
        return
    if clock.over():
        state.caps.append(f"milliseconds: {settings.bounds.milliseconds:g}")
        return
    columns = state.columns
    scope = columns.scope_statistics(axes)
    context = context_deficit(
        scope.alternation,
        scope.median_length,
        structure.least_alternation,
        structure.half_length,
    )
    found = kernels.structure_terms(
        evidence,
        state.rows,
        state.mask.words,
        columns.before,
        columns.after,
        columns.session_key,
        columns.is_question,
        speakers_named(columns, query),
        context,
        structure.weights(),
    )
    names = ("neighbours", "session", "question", "speaker")
    state.terms.update(zip(names, found, strict=True))
    state.stages.append(clock.stage("structure", context=context))


def _gate(state: Process, settings: AdaptiveSettings) -> None:
    """Remove candidates whose evidence is that of a row picked at random.

    The null distribution is the scope itself: the fused evidence is in deviations of its rows. A
    row that one kind of evidence finds alone, such as an exact identifier, stands out in that
    kind, so the stronger of the two is judged. Rows that all show the same have no distribution,
    and nothing is known against any of them.
    """
    state.gated = np.zeros(state.rows.size, bool)
    if settings.gate is None or not np.any(state.forms[FUSED] != 0.0):
        return
    best = np.maximum(_evidence(state, DENSE), _evidence(state, GRAM))
    state.gated = np.maximum(best, state.fused) < settings.gate


def _evidence(state: Process, form: int) -> np.ndarray:
    total = np.zeros(state.rows.size)
    for signal in range(SIGNALS):
        weight = state.forms[form, signal]
        if weight != 0.0:
            values = state.signals.values[signal, state.rows]
            total += weight * (values - state.signals.mean[signal])
    return total


def _ordered(state: Process) -> np.ndarray:
    """Candidates by score; the pool lies in the tie order, which a stable sort keeps."""
    best_first = np.argsort(-state.score, kind="stable")
    return best_first[~state.gated[best_first]]


def _cue_seats(state: Process, settings: AdaptiveSettings, limit: int) -> np.ndarray:
    """The best candidates of the period that neither the window nor a reserved seat holds."""
    if state.envelope is None or limit == 0:
        return state.order[:0]
    outside = state.order[limit:]
    inside = outside[state.envelope.inside[state.rows[outside]]]
    return inside[~np.isin(inside, state.reserved)][: settings.cues.seats]


def _inner(a: np.ndarray, b: np.ndarray) -> float:
    """Sum of products in the order of the signals, whatever library adds it up elsewhere."""
    total = 0.0
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        total += x * y
    return total
