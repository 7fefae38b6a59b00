"""Scores by the query's vector of rows and their blocks, each stage of a recall in one call.

A small scope is scored whole; a large one is put in a rough order by its sign bits, and a sample of
it says how scores are spread. Each call of a kernel costs microseconds, and gives up the
interpreter's lock.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel
from cpersona_jit.kernels.evidence import copy_signals
from cpersona_jit.kernels.int8_scan import scan_all, tier_tag
from cpersona_jit.kernels.numpy_path.calibration import DENSE_BLOCK, DENSE_ROW, SIGNALS
from cpersona_jit.kernels.row_mask import count_admitted
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, ScanStats
from cpersona_jit.kernels.sign_scan import score_signs
from cpersona_jit.kernels.signals import add_moments, blend_blocks, moment_scratch, take_best_blocks

__all__ = ["estimate_rows", "sample_moments", "score_vectors"]

_STAT_UNIT = np.float64(1 << DENSE_STAT_SHIFT)


def score_vectors(
    codes: np.ndarray,
    planes: np.ndarray,
    mask: np.ndarray,
    block_codes: np.ndarray,
    block_mask: np.ndarray,
    block_ptr: np.ndarray,
    parted: np.ndarray,
    dense: np.ndarray,
    own: np.ndarray,
    best: np.ndarray,
) -> ScanStats:
    """Score every admitted row, and every parted row by its best block.

    The same as `int8_scan.dense_all` of the rows and of the blocks, and `signals.best_of_blocks`.

    Parameters
    ----------
    codes, block_codes : int8 (n, D), (nb, D)
        Rows and blocks.
    planes : int8 (2, D)
        The query, as in `int8_scan.dense_top_k`.
    mask, block_mask : uint64
        Those that have a vector and are admitted; bits past their number are zero.
    block_ptr : int64 (m + 1,)
        Row i of the m parted rows owns the blocks ``block_ptr[i]:block_ptr[i + 1]``, if any.
    parted : int64 (m,)
        The parted rows.
    dense : int32 (n,)
        Written: the score of each admitted row, 0 for the others.
    own, best : int64 (m,)
        Written: the score of each parted row, and the largest of its admitted blocks' (its own
        without one).

    Returns
    -------
    ScanStats
        Of the rows, as from `int8_scan.dense_top_k`.
    """
    of_blocks = np.empty(len(block_codes), np.int32)
    where = codes, planes, mask, block_codes, block_mask, block_ptr, parted
    total, total_sq = _score_vectors(tier_tag(), *where, dense, of_blocks, own, best)
    return ScanStats(count_admitted(mask), total, total_sq)


def estimate_rows(
    signs: np.ndarray,
    query_planes: np.ndarray,
    n: int,
    mask: np.ndarray,
    block_signs: np.ndarray,
    nb: int,
    block_mask: np.ndarray,
    block_ptr: np.ndarray,
    parted: np.ndarray,
) -> np.ndarray:
    """Score every admitted row by its signs, a parted row by the mean of it and its best block.

    The same as `sign_scan.planes_all` of the rows and of the blocks, and
    `signals.blend_best_blocks`.

    Parameters
    ----------
    signs, block_signs : uint64 (ceil(n / 8), W, 8), (ceil(nb / 8), W, 8)
        Sign bits of rows and blocks (`quantize.block_signs`).
    query_planes : uint64 (4, W)
        The query, as in `sign_scan.planes_top_k`.
    n, nb : int
        Rows and blocks.
    mask, block_mask, block_ptr, parted : ndarray
        As in `score_vectors`.

    Returns
    -------
    int32 (64 * words of the mask,)
        Scores of the admitted rows; what stands in other places has no meaning.
    """
    of_rows = np.empty(64 * len(mask), np.int32)
    of_blocks = np.empty(64 * len(block_mask), np.int32)
    rows, blocks = (signs, n, mask, of_rows), (block_signs, nb, block_mask, of_blocks)
    _estimate(query_planes, *rows, *blocks, block_ptr, parted)
    return of_rows


def sample_moments(
    arrays: tuple[np.ndarray, ...],
    rows: np.ndarray,
    planes: np.ndarray,
    codes: np.ndarray,
    seen: np.ndarray,
    block_codes: np.ndarray,
    block_mask: np.ndarray,
    block_ptr: np.ndarray,
    shifts: np.ndarray,
    means: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Sum the signals of a sample of rows and their products, scoring its vectors on the way.

    The same as `evidence.signals_at`, with the dense signals as `score_vectors` gives them, and
    `signals.signal_moments`. A row without a vector shows the mean of those that have one.

    Parameters
    ----------
    arrays : tuple of ndarray
        The first six parameters of `evidence.signals_at`; their dense signals are not read.
    rows : int64 (s,)
        The sample.
    planes : int8 (2, D)
        As in `score_vectors`.
    codes, block_codes : int8 (s, D), (sb, D)
        Copies of the codes of the sampled rows and of their blocks.
    seen, block_mask : uint64 (ceil(s / 64),), (ceil(sb / 64),)
        Those that have a vector.
    block_ptr : int64 (s + 1,)
        Sampled row i owns the copies ``block_ptr[i]:block_ptr[i + 1]``, none when it is its own
        one block.
    shifts : int64 (7,)
        As in `signals.signal_moments`.
    means : int64 (2,)
        Written: the mean of the rows' scores and of their best blocks', rounded to whole scores;
        left alone when no row of the sample has a vector.

    Returns
    -------
    sums : int64 (7,)
    products : int64 (7, 7)
    """
    sums, products = np.zeros(SIGNALS, np.int64), np.zeros((SIGNALS, SIGNALS), np.int64)
    values, scores = np.empty((SIGNALS, len(rows)), np.int64), np.empty(len(rows), np.int32)
    of_blocks = np.empty(len(block_codes), np.int32)
    dense, gram3, gram4, _, place, of_parted = arrays
    _sum_sample(
        *(tier_tag(), dense, gram3, gram4, place, of_parted, rows, planes, codes, seen),
        *(block_codes, block_mask, block_ptr, shifts, means, scores, of_blocks, values),
        *(sums, products),
    )
    return sums, products


@kernel
def _score_vectors(
    tier,
    codes,
    planes,
    mask,
    block_codes,
    block_mask,
    block_ptr,
    parted,
    dense,
    of_blocks,
    own,
    best,
):
    sums = scan_all(tier, codes, planes, mask, dense)
    scan_all(tier, block_codes, planes, block_mask, of_blocks)
    for i in range(len(parted)):
        own[i] = dense[parted[i]]
    take_best_blocks(block_ptr, of_blocks, block_mask, own, best)
    return sums


@kernel
def _estimate(
    query_planes, signs, n, mask, of_rows, block_signs, nb, block_mask, of_blocks, block_ptr, parted
):
    score_signs(signs, query_planes, n, mask, of_rows)
    score_signs(block_signs, query_planes, nb, block_mask, of_blocks)
    blend_blocks(block_ptr, of_blocks, block_mask, parted, of_rows)


@kernel
def _sum_sample(
    tier,
    dense,
    gram3,
    gram4,
    place,
    of_parted,
    rows,
    planes,
    codes,
    seen,
    block_codes,
    block_mask,
    block_ptr,
    shifts,
    means,
    scores,
    of_blocks,
    values,
    sums,
    products,
):
    copy_signals(dense, gram3, gram4, place, of_parted, rows, values)
    total, _ = scan_all(tier, codes, planes, seen, scores)
    scan_all(tier, block_codes, planes, block_mask, of_blocks)
    own, best = values[DENSE_ROW], values[DENSE_BLOCK]
    for i in range(len(rows)):
        own[i] = scores[i]
    take_best_blocks(block_ptr, of_blocks, block_mask, own, best)
    count, of_best = 0, 0
    for i in range(len(rows)):
        if (seen[i >> 6] >> np.uint64(i & 63)) & np.uint64(1) != 0:
            count += 1
            of_best += best[i]
    if count > 0:
        means[0] = np.int64(np.rint(total / count * _STAT_UNIT))
        means[1] = np.int64(np.rint(of_best / count))
        for i in range(len(rows)):
            if (seen[i >> 6] >> np.uint64(i & 63)) & np.uint64(1) == 0:
                own[i], best[i] = means[0], means[1]
    keep, steps, everyone = moment_scratch(len(values), len(rows))
    add_moments(values, shifts, everyone, keep, steps, sums, products)
