"""Signals of calibrated fusion: one exact integer per row, their moments, and their weighted sums.

A signal is one arm's score of every row of a snapshot. Calibrated fusion standardises signals, adds
them, and standardises again, all of which is linear: the moments of the signals over the admitted
rows say by which weight each signal enters the fused score.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cpersona_jit.kernels.row_mask import count_admitted
from cpersona_jit.kernels.topk import buffer_size, select_largest

_OPTIONS = {"nogil": True, "error_model": "numpy", "cache": True}
_kernel = njit(**_OPTIONS)
# For what only a kernel calls: without the wrappers for other callers it compiles sooner.
_part = njit(**_OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)
# Rows that are worked on together: their shifted signals stay in the first-level cache.
_CHUNK_WORDS = 8
_CHUNK = 64 * _CHUNK_WORDS


def best_of_blocks(
    block_row: np.ndarray,
    block_scores: np.ndarray,
    block_mask: np.ndarray,
    row_scores: np.ndarray,
    out: np.ndarray,
) -> None:
    """Score each row by the best of its blocks.

    Parameters
    ----------
    block_row : int64 (nb,)
        Row of each block, ascending; a row may have no block.
    block_scores : int64 (nb,)
        Score of each block; only admitted blocks are read.
    block_mask : uint64 (ceil(nb / 64),)
        Admitted blocks; bits past nb are zero.
    row_scores : int64 (n,)
        Score of each row as a whole: what a row without an admitted block gets.
    out : int64 (n,)
        Written: the largest score of the row's admitted blocks.
    """
    out[:] = row_scores
    _take_best_blocks(block_row, block_scores, block_mask, out)


def gram_scores(
    counters: np.ndarray, factor: np.ndarray, mask: np.ndarray, out: np.ndarray
) -> None:
    """Turn the counters of `gram_overlap.overlap_all` into scores.

    Parameters
    ----------
    counters : uint16 (64 * ceil(n / 64),)
        Sum of the matched weights of each row.
    factor : uint16 (n,)
        Length factor of each row.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.
    out : int64 (n,)
        Written: counter times factor, 0 for rows that are not admitted.
    """
    _multiply(counters, factor, mask, out)


def signal_moments(
    signals: np.ndarray, shifts: np.ndarray, mask: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """Sum the signals, and all products of two of them, over the admitted rows, exactly.

    Parameters
    ----------
    signals : int64 (A, n), C order
        One signal per row of the array. Shifted, a value must lie within -2**21 and 2**21: dense
        scores shifted by ``DENSE_STAT_SHIFT`` and gram scores by ``GRAM_STAT_SHIFT`` do. The sums
        of products are then below 2**63 for 2**21 admitted rows even at the largest values, and
        for more rows as long as the mean product is smaller.
    shifts : int64 (A,)
        Bits by which each signal is shifted right (arithmetically) before it is summed.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.

    Returns
    -------
    count : int
        Admitted rows.
    sums : int64 (A,)
        Sum of each shifted signal.
    products : int64 (A, A)
        Sum of the product of each two shifted signals; symmetric.
    """
    arms = len(signals)
    sums, products = np.zeros(arms, np.int64), np.zeros((arms, arms), np.int64)
    keep, steps = np.empty(_CHUNK, np.int64), np.empty((arms, _CHUNK), np.int64)
    _add_moments(signals, shifts, mask, keep, steps, sums, products)
    return count_admitted(mask), sums, products


def linear_scores(
    signals: np.ndarray, weights: np.ndarray, bias: float, mask: np.ndarray, out: np.ndarray
) -> None:
    """Add up the weighted signals of every admitted row.

    Parameters
    ----------
    signals : int64 (A, n), C order
        One signal per row of the array, below 2**53 in size.
    weights : float64 (A,)
        Weight of each signal, finite.
    bias : float
        What the sum starts from; the signals are added in their order, without reassociation.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.
    out : float64 (n,)
        Written: the sum, -inf for rows that are not admitted.
    """
    _add_weighted(signals, weights, float(bias), mask, np.empty(_CHUNK, np.int64), out)


def top_rows(scores: np.ndarray, k: int) -> np.ndarray:
    """Find the ``k`` rows of the largest score.

    Parameters
    ----------
    scores : float64 (n,)
        Score of each row; -inf (or NaN) leaves a row out.
    k : int
        How many rows to keep; 0 or less keeps none.

    Returns
    -------
    int64 (at most k,)
        Best first; of rows with the same score the lowest first.
    """
    rows = _largest(scores, min(max(k, 0), len(scores)))
    return rows[np.argsort(-scores[rows], kind="stable")]


@_kernel
def _take_best_blocks(block_row, block_scores, block_mask, out):
    row = np.int64(-1)
    for word in range(len(block_mask)):
        admitted = np.int64(block_mask[word])
        if admitted == 0:
            continue
        for block in range(64 * word, min(64 * word + 64, len(block_row))):
            if (admitted >> (block & 63)) & 1:
                score = block_scores[block]
                if block_row[block] != row:
                    row = block_row[block]
                    out[row] = score
                elif score > out[row]:
                    out[row] = score


@_kernel
def _multiply(counters, factor, mask, out):
    for word in range(len(mask)):
        admitted = np.int64(mask[word])
        first, end = 64 * word, min(64 * word + 64, len(out))
        for row in range(first, end):
            score = np.int64(counters[row]) * np.int64(factor[row])
            out[row] = score & -((admitted >> (row - first)) & 1)


@_kernel
def _add_moments(signals, shifts, mask, keep, steps, sums, products):
    arms, n = signals.shape
    for first_word in range(0, len(mask), _CHUNK_WORDS):
        words = mask[first_word : first_word + _CHUNK_WORDS]
        if not _any_admitted(words):
            continue
        first = 64 * first_word
        size = min(_CHUNK, n - first)
        _spread(words, keep)
        for a in range(arms):
            sums[a] += _shift(signals[a, first : first + size], shifts[a], keep, steps[a])
        for a in range(arms):
            for b in range(0, a + 1, 2):
                # The last of an odd number comes twice, and is stored once.
                c = min(b + 1, a)
                with_b, with_c = _multiply_add(steps[a], steps[b], steps[c], size)
                products[a, b] += with_b
                if c > b:
                    products[a, c] += with_c
    for a in range(arms):
        for b in range(a):
            products[b, a] = products[a, b]


@_part
def _spread(words, keep):
    """-1 for every admitted row of a chunk, 0 for the others: what to mask a value with."""
    for word in range(len(words)):
        admitted, of_word = np.int64(words[word]), keep[64 * word : 64 * word + 64]
        for bit in range(64):
            of_word[bit] = -((admitted >> bit) & 1)


@_part
def _shift(signal, shift, keep, steps):
    """Shift the admitted rows' values of a chunk, set the others to 0; return the sum."""
    total = 0
    for i in range(len(signal)):
        step = (signal[i] >> shift) & keep[i]
        steps[i] = step
        total += step
    return total


@_part
def _multiply_add(a, b, c, size):
    """Inner products of a with b and with c, of values of 32 bits: one instruction multiplies."""
    with_b, with_c = 0, 0
    for i in range(size):
        step = np.int64(np.int32(a[i]))
        with_b += step * np.int64(np.int32(b[i]))
        with_c += step * np.int64(np.int32(c[i]))
    return with_b, with_c


@_part
def _any_admitted(words):
    found = np.uint64(0)
    for word in words:
        found |= word
    return found != 0


@_kernel
def _add_weighted(signals, weights, bias, mask, keep, out):
    arms, n = signals.shape
    for first_word in range(0, len(mask), _CHUNK_WORDS):
        words = mask[first_word : first_word + _CHUNK_WORDS]
        first = 64 * first_word
        total = out[first : min(first + _CHUNK, n)]
        if not _any_admitted(words):
            total[:] = -np.inf
            continue
        _spread(words, keep)
        for i in range(len(total)):
            total[i] = bias if keep[i] != 0 else -np.inf  # and a sum that starts there stays
        for a in range(arms):
            signal, weight = signals[a, first : first + len(total)], weights[a]
            for i in range(len(total)):
                total[i] += weight * np.float64(signal[i])


@_kernel
def _largest(scores, k):
    """Rows of the ``k`` largest scores, ascending."""
    rows = np.empty(buffer_size(k), np.int64)
    kept = np.empty(len(rows), np.float64)
    scratch = np.empty(len(rows), np.float64)
    filled = 0
    # Rows ascend, so that a later row of the k-th score would lose the tie: only more gets in.
    floor = -np.inf if k > 0 else np.inf
    for first in range(0, len(scores), 64):
        end = min(first + 64, len(scores))
        above = 0
        for row in range(first, end):
            above += scores[row] > floor
        if above == 0:
            continue
        for row in range(first, end):
            if scores[row] > floor:
                rows[filled], kept[filled] = row, scores[row]
                filled += 1
                if filled == len(rows):
                    floor = _cut(rows, kept, scratch, filled, k)
                    filled = k
    if filled > k:
        _cut(rows, kept, scratch, filled, k)
        filled = k
    return rows[:filled]


@_part
def _cut(rows, kept, scratch, count, k):
    """Keep the ``k`` best of the first ``count`` rows in their order; return the k-th score."""
    for i in range(count):
        scratch[i] = kept[i]
    limit = select_largest(scratch, count, k)
    ties = k
    for i in range(count):
        ties -= kept[i] > limit
    place = 0
    for i in range(count):
        level = kept[i] == limit
        if kept[i] > limit or (level and ties > 0):
            ties -= level
            rows[place], kept[place] = rows[i], kept[i]
            place += 1
    return limit
