"""Scans over sign bits: Hamming distance, a 4-bit query against signs, and the two-phase search.

Sixty-four rows are scored at a time, eight to a vector, one word of each side by side
(`quantize.block_signs`), so counts add up in vector lanes without a horizontal sum. The code is
generic LLVM: a population count of vectors becomes one instruction where there is one and a table
or shifts elsewhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from cpersona_jit.kernels.bits import popcount, trailing_zeros
from cpersona_jit.kernels.compiled import kernel
from cpersona_jit.kernels.int8_scan import dense_scores
from cpersona_jit.kernels.row_mask import count_admitted
from cpersona_jit.kernels.sign_words import score_block, score_word
from cpersona_jit.kernels.topk import buffer_size, pack_key, select_largest
from cpersona_jit.kernels.topk_order import ROW_BITS, ROW_MASK, largest_keys, pack_keys, unpack_keys
from cpersona_jit.kernels.vector_ir import I32, I64, byte_pointer, load, splat

# Of fewer admitted rows in a word only the blocks that hold them are scored.
FEW_ROWS = 8


def hamming_top_k(
    signs: np.ndarray, query_words: np.ndarray, n: int, mask: np.ndarray, k: int
) -> np.ndarray:
    """Find the ``k`` admitted rows whose signs differ least from the query's.

    Parameters
    ----------
    signs : ndarray of uint64, shape (ceil(n / 8), W, 8), C order
        Sign bits of the rows (`quantize.block_signs`).
    query_words : ndarray of uint64, shape (W,)
        Sign bits of the query.
    n : int
        Rows.
    mask : ndarray of uint64, shape (ceil(n / 64),)
        Admitted rows; bits past ``n`` are zero.
    k : int
        How many rows to keep, at least 0.

    Returns
    -------
    ndarray of int64, shape (min(k, admitted),)
        Keys, best first; the score is minus the distance.
    """
    return _best_keys(signs, query_words, n, mask, k)


def planes_top_k(
    signs: np.ndarray, query_planes: np.ndarray, n: int, mask: np.ndarray, k: int
) -> np.ndarray:
    """Find the ``k`` admitted rows whose positive coordinates weigh most in a 4-bit query.

    Parameters
    ----------
    signs, n, mask, k
        As in `hamming_top_k`.
    query_planes : ndarray of uint64, shape (4, W), C order
        Bit planes of the query in two's complement (`quantize.query_bit_planes`).

    Returns
    -------
    ndarray of int64, shape (min(k, admitted),)
        Keys, best first; the score is the sum of the 4-bit values at a row's set bits.
    """
    return _best_keys(signs, query_planes, n, mask, k)


def planes_all(
    signs: np.ndarray, query_planes: np.ndarray, n: int, mask: np.ndarray, out: np.ndarray
) -> None:
    """Score every admitted row by its signs, without ranking any.

    Parameters
    ----------
    signs, query_planes, n, mask
        As in `planes_top_k`.
    out : ndarray of int32, shape (8 * ceil(n / 8) or more,)
        Written: the score of each admitted row; other rows' scores are unspecified.
    """
    score_signs(signs, query_planes, n, mask, out)


def best_estimates(scores: np.ndarray, mask: np.ndarray, k: int) -> np.ndarray:
    """Find the ``k`` admitted rows of the largest score of `planes_all`.

    Parameters
    ----------
    scores : ndarray of int32, shape (64 * ceil(n / 64),)
        Score of each row; what lies past ``n`` is not looked at.
    mask : ndarray of uint64, shape (ceil(n / 64),)
        Admitted rows; bits past ``n`` are zero.
    k : int
        How many rows to keep, at least 0.

    Returns
    -------
    ndarray of int64, shape (min(k, admitted),)
        Rows, ascending; of equals the lowest are kept.
    """
    keys = find_largest_scores(scores, mask, min(k, count_admitted(mask)))
    return np.sort(ROW_MASK - (keys & ROW_MASK))


def two_phase_top_k(
    signs: np.ndarray,
    query_planes: np.ndarray,
    codes: np.ndarray,
    planes: np.ndarray,
    mask: np.ndarray,
    shortlist: int,
    k: int,
) -> np.ndarray:
    """Find the ``k`` best rows by int8 score of a shortlist that the sign bits choose.

    Parameters
    ----------
    signs, query_planes, mask
        As in `planes_top_k`.
    codes, planes : ndarray of int8
        As in `int8_scan.dense_top_k`.
    shortlist : int
        Rows that are rescored; ties at its end go to the lowest row.
    k : int
        How many rows to keep, at least 0.

    Returns
    -------
    ndarray of int64, shape (min(k, shortlist, admitted),)
        Keys of the int8 scores, best first.
    """
    kept = planes_top_k(signs, query_planes, codes.shape[0], mask, shortlist)
    rows = np.sort(unpack_keys(kept)[0])
    return largest_keys(pack_keys(dense_scores(codes, planes, rows), rows), k)


def _best_keys(signs, query, n, mask, k):
    keys = _scan(signs, query, n, mask, min(k, n))
    keys.sort()
    return keys[::-1].copy()


@kernel
def _scan(signs, query, n, mask, k):
    buffer = np.empty(buffer_size(k), np.int64)
    if k == 0:  # nothing can enter a list of no rows
        return buffer[:0]
    scores = np.empty(64, np.int32)
    filled = np.int64(0)
    floor = np.int64(-(1 << 31))  # scores below this cannot enter the list
    for word in range((n + 63) // 64):
        admitted = np.int64(mask[word])
        if admitted == 0:
            continue
        passed = _score_admitted(signs, query, word, admitted, floor, scores, 0)
        while passed != 0:
            lane = trailing_zeros(np.uint64(passed))
            passed &= passed - 1
            score = np.int64(scores[lane])
            if score < floor:  # it may have risen since the word was compared
                continue
            buffer[filled] = pack_key(score, 64 * word + lane)
            filled += 1
            if filled == buffer.shape[0]:
                # Rows ascend: a later row of the k-th score would lose the tie.
                floor = (select_largest(buffer, filled, k) >> ROW_BITS) + 1
                filled = k
    if filled > k:
        select_largest(buffer, filled, k)
        filled = k
    return buffer[:filled]


@kernel
def score_signs(signs, query, n, mask, out):
    for word in range((n + 63) // 64):
        if mask[word] != 0:
            _score_admitted(signs, query, word, np.int64(mask[word]), 0, out, 64 * word)


# Inlined by Numba: a call would cost more than scoring some of the rows.
@njit(nogil=True, error_model="numpy", inline="always")
def _score_admitted(signs, query, word, admitted, floor, out, at):
    """Write the scores of a word's admitted rows from ``out[at]`` on; return the bits of those that
    may be at or above the floor.
    """
    if 8 * word + 8 <= signs.shape[0] and popcount(np.uint64(admitted)) >= FEW_ROWS:
        return admitted & score_word(signs, query, word, floor, out, at)
    for block in range(8):
        if (admitted >> (8 * block)) & 255:
            score_block(signs, query, 8 * word + block, floor, out, at + 8 * block)
    return admitted


@kernel
def find_largest_scores(scores, mask, k):
    buffer = np.empty(buffer_size(k), np.int64)
    filled = np.int64(0)
    # Scores below this cannot enter the list; nothing can enter a list of no rows.
    floor = np.int64(-(1 << 31)) if k > 0 else np.int64(1 << 31)
    for word in range(len(mask)):
        passed = _at_least(scores, word, floor) & np.int64(mask[word]) if floor < 1 << 31 else 0
        while passed != 0:
            row = 64 * word + trailing_zeros(np.uint64(passed))
            passed &= passed - 1
            if scores[row] < floor:  # it may have risen since the word was compared
                continue
            buffer[filled] = pack_key(np.int64(scores[row]), row)
            filled += 1
            if filled == len(buffer):
                # Rows ascend: a later row of the k-th score would lose the tie.
                floor = (select_largest(buffer, filled, k) >> ROW_BITS) + 1
                filled = k
    if filled > k:
        select_largest(buffer, filled, k)
        filled = k
    return buffer[:filled]


@intrinsic
def _at_least(typing_context, scores, word, floor):
    """Bits of the rows of a word, of 64 int32 scores, that are not below a floor of 32 bits."""

    def generate(context, builder, signature, arguments):
        scores_value, word_value, floor_value = arguments
        data = byte_pointer(context, builder, signature.args[0], scores_value)
        of_word = load(builder, data, builder.mul(word_value, I64(256)), I32, 64)
        limit = splat(builder, builder.trunc(floor_value, I32), 64)
        return builder.bitcast(builder.icmp_signed(">=", of_word, limit), I64)

    return types.int64(scores, types.int64, types.int64), generate
