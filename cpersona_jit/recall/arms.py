"""The arms: each scores every row that the mask admits and hands its best `depth` rows on.

Scores are exact integers, ties go to the lowest row, and the mean and deviation over all admitted
rows come out of the same scan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask, mask_of
from cpersona_jit.kernels.quantize import cosine_scale, quantize_query
from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, GRAM_STAT_SHIFT, ScanStats
from cpersona_jit.kernels.topk_order import largest_keys, pack_keys, unpack_keys
from cpersona_jit.recall.gram_query import GramQuery, query_points, weigh_grams, weighed_lists
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.settings import ArmSpec


@dataclass(frozen=True)
class ArmResult:
    """What one arm found.

    Attributes
    ----------
    spec : ArmSpec
        The arm.
    rows : ndarray of int64, shape (found,)
        Best first, at most `depth`.
    scores : ndarray of int64, shape (found,)
        Exact integer scores of those rows.
    count : int
        Rows that the arm could score.
    mean, std : float
        Of the score over those rows; ``std`` is the population deviation.
    unit : float
        Score times unit is what a person reads: a cosine, or a sum of idf times length factor.
    score_rows : callable
        Scores of any rows, int64; works for rows that the arm did not return.
    can_score : ndarray of uint64
        Mask words of the rows that the arm could score.
    note : str
        What limited the arm, empty when nothing did.
    """

    spec: ArmSpec
    rows: np.ndarray
    scores: np.ndarray
    count: int
    mean: float
    std: float
    unit: float
    score_rows: Callable[[np.ndarray], np.ndarray]
    can_score: np.ndarray
    note: str = ""


def dense_arm(
    columns: Columns,
    spec: ArmSpec,
    query_vector: np.ndarray,
    mask: Mask,
    depth: int,
    kernels: KernelSet,
) -> ArmResult:
    """Scan the int8 codes of the embedded rows that `mask` admits for their cosine to the query.

    `query_vector` is a unit vector, float32, shape (dim,), of the model whose vectors the columns
    hold.
    """
    planes, query_scale = quantize_query(query_vector)
    words = mask.words & columns.embedded.words
    keys, stats = kernels.dense_top_k(columns.codes, planes, words, depth)
    return _result(
        spec,
        keys,
        stats,
        shift=DENSE_STAT_SHIFT,
        unit=1.0 / cosine_scale(columns.dim, query_scale),
        score_rows=lambda rows: kernels.dense_scores(columns.codes, planes, rows),
        can_score=words,
    )


def gram_arm(
    columns: Columns,
    spec: ArmSpec,
    query: str,
    mask: Mask,
    block_mask: Mask,
    depth: int,
    kernels: KernelSet,
) -> ArmResult:
    """Sum the idf of the character n-grams that a row shares with the query.

    A row's score is its length factor times the sum over shared grams of
    ``idf ** idf_power * saturation(tf)``, with ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))``
    and N and df counted over the admitted rows alone.
    """
    weighed = weigh_grams(columns, spec, query_points(query), mask, block_mask, kernels)
    factor = columns.length_factor(spec.length_exponent)
    keys, stats, counters = _best_by_grams(columns, weighed, factor, mask, depth, kernels)
    return _result(
        spec,
        keys,
        stats,
        shift=GRAM_STAT_SHIFT,
        unit=weighed.unit / 65535.0,
        score_rows=lambda rows: kernels.overlap_scores(counters, factor, rows),
        can_score=mask.words,
        note=weighed.note,
    )


def _best_by_grams(
    columns: Columns,
    weighed: GramQuery,
    factor: np.ndarray,
    mask: Mask,
    depth: int,
    kernels: KernelSet,
) -> tuple[np.ndarray, ScanStats, np.ndarray]:
    """Return the keys of the best rows, the statistics of all, and the counters of all."""
    index, counters = columns.gram_index[weighed.size], np.zeros(64 * mask.words.size, np.uint16)
    of_lists = (index, *weighed_lists(weighed), factor[: index.n])
    if columns.n == index.n:
        return *kernels.overlap_top_k(*of_lists, mask.words, depth, counters), counters
    # Those behind the index are few, and rank among the others by the same keys.
    indexed = mask_of(mask.as_bools(columns.n)[: index.n]).words
    in_lists = counters[: 64 * indexed.size]
    keys, stats = kernels.overlap_top_k(*of_lists, indexed, depth, in_lists)
    counters[index.n :] = 0
    kernels.add_tail(weighed.found.tail, weighed.weights, counters)
    rows = admitted_rows(mask.words)
    rows = rows[rows.searchsorted(index.n) :]
    scores = kernels.overlap_scores(counters, factor, rows).astype(np.int64)
    found = scores > 0
    keys = largest_keys(np.concatenate((keys, pack_keys(scores[found], rows[found]))), depth)
    shifted = scores >> GRAM_STAT_SHIFT
    sums = (rows.size, int(shifted.sum()), int((shifted * shifted).sum()))
    return keys, ScanStats(*(a + b for a, b in zip(stats, sums, strict=True))), counters


def _result(
    spec: ArmSpec,
    keys: np.ndarray,
    stats: ScanStats,
    *,
    shift: int,
    unit: float,
    score_rows: Callable[[np.ndarray], np.ndarray],
    can_score: np.ndarray,
    note: str = "",
) -> ArmResult:
    rows, scores = unpack_keys(keys)
    mean, std = stats.mean(shift), stats.std(shift)
    return ArmResult(spec, rows, scores, stats.count, mean, std, unit, score_rows, can_score, note)
