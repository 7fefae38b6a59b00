"""Evidence of calibrated fusion: weighted sums of the signals of each row, and the best rows.

All sums start from a bias and add the signals in their order, without reassociation, so that every
way to a row's evidence gives the same bits.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from cpersona_jit.kernels.bits import trailing_zeros
from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.topk import buffer_size, select_largest
from cpersona_jit.kernels.vector_ir import I64, byte_pointer, load, splat

_CHUNK_WORDS = 8  # words of the mask whose rows are worked on together, in the first-level cache
_CHUNK = 64 * _CHUNK_WORDS
_SIGNALS = 7
_FEW = 64  # rows that are passed over at once when none of them is good enough


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
    _add_weighted(signals, weights, float(bias), mask, out)


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
    rows, kept = find_largest(scores, min(max(k, 0), len(scores)))
    return rows[np.argsort(-kept, kind="stable")]


def best_rows(
    dense: np.ndarray,
    gram3: np.ndarray,
    gram4: np.ndarray,
    parted: np.ndarray,
    place: np.ndarray,
    parted_values: np.ndarray,
    weights: np.ndarray,
    bias: float,
    mask: np.ndarray,
    k: int,
) -> np.ndarray:
    """Find the ``k`` admitted rows of the most evidence, without writing it down.

    Parameters
    ----------
    dense : int32 (n,)
        Score of each row by its embedding.
    gram3, gram4 : uint32 (n,)
        Scores by its grams.
    parted : int64 (m,)
        Rows whose blocks have scores of their own, ascending; any other row is its own one block.
    place : int32 (n,)
        Place of a row among them, -1 for the others.
    parted_values : int64 (7, m)
        Their signals, in the order of ``numpy_path.calibration``.
    weights : float64 (7,)
        Weight of each signal, finite.
    bias : float
        What every sum starts from.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.
    k : int
        How many rows to keep; 0 or less keeps none.

    Returns
    -------
    int64 (at most k,)
        Best first; of rows with the same evidence the lowest first.
    """
    k = min(max(k, 0), len(dense))
    signals = dense, gram3, gram4, parted, parted_values
    rows, scores = find_best(*signals, weights, float(bias), mask, k)
    return rows[np.argsort(-scores, kind="stable")]


def evidence_at(
    dense: np.ndarray,
    gram3: np.ndarray,
    gram4: np.ndarray,
    parted: np.ndarray,
    place: np.ndarray,
    parted_values: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:
    """Compute the evidence of some rows.

    Parameters
    ----------
    dense, gram3, gram4, parted, place, parted_values : ndarray
        As in `best_rows`.
    weights : float64 (F, 7)
        Weights of the signals in each of F sums.
    bias : float64 (F,)
        What they start from.
    rows : int64 (P,)
        Rows in any order.

    Returns
    -------
    float64 (F, P)
    """
    out = np.empty((len(bias), len(rows)))
    sum_at(dense, gram3, gram4, place, parted_values, weights, bias, rows, out)
    return out


def signals_at(
    dense: np.ndarray,
    gram3: np.ndarray,
    gram4: np.ndarray,
    parted: np.ndarray,
    place: np.ndarray,
    parted_values: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:
    """Return all signals of some rows, int64, shape (7, P).

    Parameters
    ----------
    dense, gram3, gram4, parted, place, parted_values, rows : ndarray
        As in `evidence_at`.
    """
    out = np.empty((_SIGNALS, len(rows)), np.int64)
    copy_signals(dense, gram3, gram4, place, parted_values, rows, out)
    return out


@kernel_part
def _any_admitted(words):
    found = np.uint64(0)
    for word in words:
        found |= word
    return found != 0


@kernel_part
def _fill_from(total, start):
    """Leave out what lies from a place on; assigning to a slice would compile for a second."""
    for i in range(start, len(total)):
        total[i] = -np.inf


@kernel_part
def _start(words, bias, total):
    """Let sums start from the bias in admitted rows, from -inf in others (and stay there)."""
    for word in range(len(words)):
        admitted, of_word = np.int64(words[word]), total[64 * word : 64 * word + 64]
        for bit in range(len(of_word)):
            of_word[bit] = bias if (admitted >> bit) & 1 else -np.inf


@kernel
def _add_weighted(signals, weights, bias, mask, out):
    arms, n = signals.shape
    for first_word in range(0, len(mask), _CHUNK_WORDS):
        words = mask[first_word : first_word + _CHUNK_WORDS]
        first = 64 * first_word
        total = out[first : min(first + _CHUNK, n)]
        if not _any_admitted(words):
            _fill_from(total, np.int64(0))
            continue
        _start(words, bias, total)
        for a in range(arms):
            signal, weight = signals[a, first : first + len(total)], weights[a]
            for i in range(len(total)):
                total[i] += weight * np.float64(signal[i])


@kernel
def find_best(dense, gram3, gram4, parted, parted_values, weights, bias, mask, k):
    """Rows of the ``k`` largest sums, ascending, and the sums."""
    rows = np.empty(buffer_size(k), np.int64)
    kept, scratch = np.empty(len(rows)), np.empty(len(rows))
    total = np.empty(_CHUNK)
    filled, part, floor = np.int64(0), 0, -np.inf if k > 0 else np.inf
    vectors = weights[0] != 0 or weights[1] != 0
    grams = weights[2] != 0 or weights[3] != 0 or weights[4] != 0 or weights[5] != 0
    for first_word in range(0, len(mask), _CHUNK_WORDS):
        words = mask[first_word : first_word + _CHUNK_WORDS]
        if not _any_admitted(words):
            continue
        first, end = 64 * first_word, min(64 * first_word + _CHUNK, len(dense))
        of_chunk = total[: end - first]
        _fill_from(total, len(of_chunk))
        _start(words, bias, of_chunk)
        if vectors:  # a sum of zeros changes no sum
            _add_dense(dense[first:end], weights, of_chunk)
        if grams:
            _add_grams(gram3[first:end], gram4[first:end], weights, of_chunk)
        while part < len(parted) and parted[part] < first:  # in chunks that were passed over
            part += 1
        while part < len(parted) and parted[part] < end:
            i = parted[part] - first
            if of_chunk[i] != -np.inf:
                of_chunk[i] = _sum_parted(parted_values, part, weights, bias)
            part += 1
        filled, floor = _push(total, first, k, rows, kept, scratch, filled, floor)
    if filled > k:
        _cut(rows, kept, scratch, filled, k)
        filled = k
    return rows[:filled], kept[:filled]


@kernel_part
def _add_dense(dense, weights, total):
    for_row, for_block = weights[0], weights[1]
    for i in range(len(total)):
        x = np.float64(dense[i])
        total[i] = total[i] + for_row * x + for_block * x


@kernel_part
def _add_grams(gram3, gram4, weights, total):
    row3, row4, block3, block4 = weights[2], weights[3], weights[4], weights[5]
    for i in range(len(total)):
        x, y = np.float64(gram3[i]), np.float64(gram4[i])
        total[i] = total[i] + row3 * x + row4 * y + block3 * x + block4 * y


@kernel_part
def _sum_parted(values, at, weights, bias):
    total = bias
    for a in range(_SIGNALS):
        total += weights[a] * np.float64(values[a, at])
    return total


@kernel_part
def evidence_of_row(dense, gram3, gram4, place, parted_values, weights, bias, row):
    """Sum the weighted signals of one row."""
    at = np.int64(place[row])
    if at >= 0:
        return _sum_parted(parted_values, at, weights, bias)
    x, y, z = np.float64(dense[row]), np.float64(gram3[row]), np.float64(gram4[row])
    total = bias + weights[0] * x + weights[1] * x + weights[2] * y + weights[3] * z
    return total + weights[4] * y + weights[5] * z + weights[6] * 0.0


@kernel
def sum_at(dense, gram3, gram4, place, parted_values, weights, bias, rows, out):
    """Write what `evidence_at` returns."""
    for p in range(len(rows)):
        for form in range(len(bias)):
            out[form, p] = evidence_of_row(
                dense, gram3, gram4, place, parted_values, weights[form], bias[form], rows[p]
            )


@kernel
def copy_signals(dense, gram3, gram4, place, parted_values, rows, out):
    for p in range(len(rows)):
        row = rows[p]
        at = place[row]
        if at >= 0:
            for a in range(_SIGNALS):
                out[a, p] = parted_values[a, at]
            continue
        out[0, p] = out[1, p] = dense[row]
        out[2, p] = out[4, p] = gram3[row]
        out[3, p] = out[5, p] = gram4[row]
        out[6, p] = 0


@kernel
def find_largest(scores, k):
    """Rows of the ``k`` largest scores, ascending, and the scores."""
    rows = np.empty(buffer_size(k), np.int64)
    kept, scratch = np.empty(len(rows)), np.empty(len(rows))
    filled, floor = np.int64(0), -np.inf if k > 0 else np.inf
    total = np.empty(_CHUNK)
    for first in range(0, len(scores), _CHUNK):
        of_chunk = scores[first : first + _CHUNK]
        for i in range(len(of_chunk)):
            total[i] = of_chunk[i]
        _fill_from(total, len(of_chunk))
        filled, floor = _push(total, first, k, rows, kept, scratch, filled, floor)
    if filled > k:
        _cut(rows, kept, scratch, filled, k)
        filled = k
    return rows[:filled], kept[:filled]


@kernel_part
def _push(scores, first, k, rows, kept, scratch, filled, floor):
    """Take up the scores of a chunk of rows that can still be among the ``k`` largest."""
    # Rows ascend, so that a later row of the k-th score would lose the tie: only more gets in.
    for start in range(0, len(scores), _FEW):
        above = _above(scores, start, floor)
        while above != 0:
            i = start + trailing_zeros(np.uint64(above))
            above &= above - 1
            if scores[i] > floor:  # which may have risen since
                rows[filled], kept[filled] = first + i, scores[i]
                filled += 1
                if filled == len(rows):
                    floor = _cut(rows, kept, scratch, filled, k)
                    filled = k
    return filled, floor


@intrinsic
def _above(typing_context, scores, start, floor):
    """Bits of the 64 float64 from a place on that are above a floor; no number is above NaN."""

    def generate(context, builder, signature, arguments):
        scores_value, start_value, floor_value = arguments
        data = byte_pointer(context, builder, signature.args[0], scores_value)
        few = load(builder, data, builder.mul(start_value, I64(8)), ir.DoubleType(), _FEW)
        limit = splat(builder, floor_value, _FEW)
        return builder.bitcast(builder.fcmp_ordered(">", few, limit), I64)

    return types.int64(scores, types.int64, types.float64), generate


@kernel_part
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
