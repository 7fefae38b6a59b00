"""The stages of an adaptive recall over one query of a frozen pool.

The same kernels as ``cpersona_jit.recall.process`` calls, over the pool's rows in place of all
rows: a setting ranks here as it does live, as long as the pool holds the first rows of its lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED, ScopeStatistics
from cpersona_jit.cues.time_cue import TimeCue
from cpersona_jit.kernels.numpy_path.calibration import (
    DENSE_ROW,
    GRAM3_BLOCK,
    GRAM3_ROW,
    GRAM4_BLOCK,
    GRAM4_ROW,
)
from cpersona_jit.kernels.numpy_path.draw import DrawnRows
from cpersona_jit.kernels.structure import neighbour_rows
from cpersona_jit.recall.adaptive_settings import (
    AdaptiveSettings,
    Calibration,
    CueWeights,
    Structure,
)
from cpersona_jit.recall.clues import day_keys
from cpersona_jit.recall.envelope import Envelope, cue_weight, envelope_prior
from cpersona_jit.recall.evidence import DENSE, GRAM
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.retrieve import inside_of, kept_candidates
from cpersona_jit.recall.revise import Surroundings, revision_terms
from cpersona_jit.recall.row_prior import priors_of, scan_regions
from cpersona_jit.recall.seats import leading_rows
from harness.adaptive.cue_arms import CUE_ARMS, PARSED
from harness.adaptive.pool import SignalPool


class Beside(NamedTuple):
    """What structure knows of the P rows of a query."""

    before: np.ndarray  # int64 (P,), position of the previous row of the session, -1 without one
    after: np.ndarray
    is_question: np.ndarray  # bool (P,)
    speaker_named: np.ndarray  # bool (P,)
    statistics: ScopeStatistics


class Question(NamedTuple):
    """One query of a pool; P rows, in tie order."""

    signals: np.ndarray  # int64 (7, P)
    mean: np.ndarray  # float64 (7,)
    row: np.ndarray  # int64 (P,)
    by_row: np.ndarray  # int64 (P,), positions by ascending row
    everyone: np.ndarray  # uint64, the mask of all P rows
    beside: Beside
    keys: dict[str, np.ndarray]  # each int64 (P,), groups under the clues
    event_time: np.ndarray
    position: np.ndarray  # int64 (P,), scan position
    now_us: int  # what ages count from
    admitted: int
    envelopes: dict[str, Envelope]


class Candidates(NamedTuple):
    """The rows that lists hand over; C of them, positions ascending, which is the tie order."""

    place: np.ndarray  # int64 (C,)
    reached: np.ndarray  # bool (2, C)
    leaders: np.ndarray  # int64 (2,), the best of each list, as a number 0 to C - 1 or -1
    prior: np.ndarray  # float64 (C,), above 0


def question(pool: SignalPool, query: int) -> Question:
    """Return the arrays of one query."""
    part = slice(pool.offsets[query], pool.offsets[query + 1])
    row, asked_us = pool.row[part], pool.asked_us[query]
    words = np.full((row.size + 63) // 64, ~np.uint64(0))
    if row.size % 64:
        words[-1] = np.uint64((1 << (row.size % 64)) - 1)
    return Question(
        np.ascontiguousarray(pool.signals[:, part]),
        pool.mean[query],
        row,
        np.argsort(row),
        words,
        _beside(pool, query, part),
        {
            "session": pool.session[part],
            "time": day_keys(pool.event_time[part]),
            "source": pool.source[part],
            "project": pool.project[part],
        },
        pool.event_time[part],
        pool.admitted[query] - 1 - row,
        int(pool.newest_us[query] if asked_us == UNDATED else asked_us),
        int(pool.admitted[query]),
        _envelopes(pool, query, part),
    )


def _beside(pool: SignalPool, query: int, part: slice) -> Beside:
    return Beside(
        pool.before[part],
        pool.after[part],
        pool.is_question[part],
        pool.speaker_named[part],
        ScopeStatistics(float(pool.alternation[query]), float(pool.median_length[query])),
    )


def _envelopes(pool: SignalPool, query: int, part: slice) -> dict[str, Envelope]:
    found = {}
    for number, arm in enumerate(CUE_ARMS):
        if pool.opened[number, query]:
            start, end = pool.period[number, query].tolist()
            certainty, about_event = pool.certainty[query], bool(pool.about_event[query])
            about = (certainty, "", pool.cue_form[query], about_event, bool(pool.bare[query]))
            cue = TimeCue(start, end, None, *about)
            readings = pool.readings[query] if arm == PARSED else ()
            found[arm] = Envelope(cue, start, end, pool.inside[number, part], 0.0, readings)
    return found


def evidence_of(asked: Question, forms: np.ndarray, kernels: KernelSet) -> np.ndarray:
    """Return dense, gram and fused evidence of every row, float64 (3, P)."""
    evidence = np.empty((3, asked.row.size))
    for form, weights in enumerate(forms):
        bias = 0.0
        for weight, mean in zip(weights.tolist(), asked.mean.tolist(), strict=True):
            bias += weight * mean
        kernels.linear_scores(asked.signals, weights, -bias, asked.everyone, evidence[form])
    return evidence


def candidates_of(
    asked: Question,
    settings: AdaptiveSettings,
    evidence: np.ndarray,
    envelope: Envelope | None,
    kernels: KernelSet,
) -> Candidates:
    """Draw the lists of both kinds over each region, unite them and leave out what may not stay."""
    regions = scan_regions(settings.prior, asked.position)
    if envelope is not None:
        regions.append(inside_of(regions, envelope.inside))
    reached = _drawn(asked, evidence, regions, settings.depth, kernels)
    # Without a vector of the query all of them are 0, and nothing is compared.
    reached[0] &= asked.signals[DENSE_ROW].any()
    reached[1] &= _shows_grams(asked.signals, settings.calibration)
    place = np.flatnonzero(reached[0] | reached[1])
    prior = np.ones(place.size)
    if settings.prior is not None:
        where = asked.position[place], asked.event_time[place]
        prior = priors_of(settings.prior, *where, asked.now_us, kernels)
    found = DrawnRows(asked.row[place], reached[:, place], evidence[:, place])
    kept = kept_candidates(found, prior, settings.bounds.candidates)
    place, reached = place[kept], found.reached[:, kept]
    leaders = leading_rows(reached, evidence[:, place], asked.row[place])
    return Candidates(place, reached, leaders, prior[kept])


def _shows_grams(values: np.ndarray, calibration: Calibration) -> np.ndarray:
    """Return which rows share a gram with the query, of a size that has a share.

    Parameters
    ----------
    values : ndarray of int64, shape (7, rows)
        Signals of the rows.
    calibration : Calibration
        The shares.
    """
    found = np.zeros(values.shape[1], bool)
    for share, row, block in (
        (calibration.gram3_share, GRAM3_ROW, GRAM3_BLOCK),
        (calibration.gram4_share, GRAM4_ROW, GRAM4_BLOCK),
    ):
        if share:
            found |= (values[row] != 0) | (values[block] != 0)
    return found


def _drawn(
    asked: Question,
    evidence: np.ndarray,
    regions: list[np.ndarray | None],
    depth: int,
    kernels: KernelSet,
) -> np.ndarray:
    """Return whether a list of either kind over some region holds the row, bool (2, P)."""
    reached = np.zeros((2, asked.row.size), bool)
    for region in regions:
        for number, kind in enumerate((DENSE, GRAM)):
            inside = evidence[kind] if region is None else np.where(region, evidence[kind], -np.inf)
            listed = kernels.top_rows(inside[asked.by_row], depth)
            reached[number, asked.by_row[listed]] = True
    return reached


def structure_of(
    asked: Question, fused: np.ndarray, place: np.ndarray, structure: Structure, kernels: KernelSet
) -> tuple[np.ndarray, ...]:
    """Return the terms of the revision, each float64 (C,), in the order they are added."""
    clues = structure.clues()
    keys = np.empty((len(clues), place.size), np.int64)
    for number, clue in enumerate(clues):
        keys[number] = asked.keys[clue][place]
    beside = asked.beside
    near = neighbour_rows(beside.before, beside.after, asked.everyone, place)
    around = Surroundings(
        np.where(near >= 0, fused[near], -np.inf),
        beside.is_question[place],
        beside.speaker_named[place],
        keys,
        beside.statistics,
    )
    terms = revision_terms(fused[place], around, structure, kernels)
    return tuple(terms.values())


def period_of(
    asked: Question,
    envelope: Envelope,
    place: np.ndarray,
    weights: CueWeights,
    kernels: KernelSet,
) -> np.ndarray:
    """Return what the period's prior adds, float64 (C,)."""
    prior = envelope_prior(asked, place, envelope, weights, kernels)
    return cue_weight(envelope.cue, weights) * (prior - 1.0)
