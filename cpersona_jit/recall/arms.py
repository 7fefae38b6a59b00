"""The arms: each scores every row that the mask admits and hands its best `depth` rows on.

Scores are exact integers, ties go to the lowest row, and the mean and deviation over all admitted
rows come out of the same scan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.quantize import cosine_scale, quantize_query
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, GRAM_STAT_SHIFT, ScanStats
from cpersona_jit.kernels.topk_order import unpack_keys
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.settings import ArmSpec
from cpersona_jit.text.grams import code_points, gram_keys, normalise

# Saturation of a gram that occurs t times, t (k1 + 1) / (t + k1), for the two gram sizes, as in
# BM25 (Robertson, Zaragoza: "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
_K1 = {3: 0.6, 4: 0.4}
_COUNTER_LIMIT = 65535  # the overlap kernel's counters are uint16
_MAX_LISTS = 8192  # so that every list keeps a weight of several units


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
    columns: Columns, spec: ArmSpec, query: str, mask: Mask, depth: int, kernels: KernelSet
) -> ArmResult:
    """Sum the idf of the character n-grams that a row shares with the query.

    A row's score is its length factor times the sum over shared grams of
    ``idf ** idf_power * saturation(tf)``, with ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))``
    and N and df counted over the admitted rows alone.
    """
    index = columns.gram_index[spec.size]
    grams = _known_grams(index.keys, query, spec.size)
    frequency = kernels.masked_document_frequency(index, grams, mask.words)
    seen = frequency > 0
    lists, weights = _weighted_lists(index, grams[seen], frequency[seen], mask, spec, kernels)
    note = ""
    if lists.size > _MAX_LISTS:
        note = f"query_grams_capped: {_MAX_LISTS} of {lists.size}"
        kept = np.sort(np.argsort(-weights, kind="stable")[:_MAX_LISTS])
        lists, weights = lists[kept], weights[kept]
    scale = (_COUNTER_LIMIT - lists.size) / weights.sum() if lists.size else 1.0
    fixed = np.maximum(np.rint(weights * scale), 1).astype(np.uint16)
    factor = columns.length_factor(spec.length_exponent)
    counters = np.zeros(64 * mask.words.size, np.uint16)
    keys, stats = kernels.overlap_top_k(index, lists, fixed, factor, mask.words, depth, counters)
    return _result(
        spec,
        keys,
        stats,
        shift=GRAM_STAT_SHIFT,
        unit=1.0 / (scale * 65535.0),
        score_rows=lambda rows: kernels.overlap_scores(counters, factor, rows),
        can_score=mask.words,
        note=note,
    )


def _known_grams(vocabulary: np.ndarray, query: str, size: int) -> np.ndarray:
    keys, _ = gram_keys(code_points(normalise(query)), size)
    if not vocabulary.size:
        return np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(vocabulary, keys), vocabulary.size - 1)
    return at[vocabulary[at] == keys].astype(np.int64)


def _weighted_lists(
    index: GramIndex,
    grams: np.ndarray,
    frequency: np.ndarray,
    mask: Mask,
    spec: ArmSpec,
    kernels: KernelSet,
) -> tuple[np.ndarray, np.ndarray]:
    """Posting lists to add up, and the weight of each: one list per gram and frequency level."""
    idf = np.log1p((mask.count - frequency + 0.5) / (frequency + 0.5)) ** spec.idf_power
    if spec.term_frequency == "binary":
        return grams, idf
    lists, weights = [grams], [idf]
    for times, of_level in ((2, index.level2), (3, index.level3)):
        has = np.flatnonzero(of_level[grams] >= 0)
        of_grams = of_level[grams[has]].astype(np.int64)
        # A list without admitted rows would still move the scale of the weights: a neighbour who
        # repeats a word would be felt in this caller's scores.
        seen = kernels.masked_document_frequency(index, of_grams, mask.words) > 0
        lists.append(of_grams[seen])
        weights.append(idf[has[seen]] * _gain(times, _K1[spec.size]))
    return np.concatenate(lists), np.concatenate(weights)


def _gain(times: int, k1: float) -> float:
    """What the occurrence number `times` adds to the saturation of one gram."""
    return times * (k1 + 1) / (times + k1) - (times - 1) * (k1 + 1) / (times - 1 + k1)


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
