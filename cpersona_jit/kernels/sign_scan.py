"""Scans over sign bits: Hamming distance, a 4-bit query against signs, and the two-phase search.

Eight rows are scored at a time, one word of each side by side (`quantize.block_signs`), so counts
add up in vector lanes without a horizontal sum. The code is generic LLVM: a population count of
vectors becomes one instruction where there is one and a table or shifts elsewhere.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cpersona_jit.kernels.compiled import kernel
from cpersona_jit.kernels.int8_scan import dense_scores
from cpersona_jit.kernels.row_mask import count_admitted
from cpersona_jit.kernels.topk import buffer_size, pack_key, select_largest
from cpersona_jit.kernels.topk_order import ROW_BITS, ROW_MASK, largest_keys, pack_keys, unpack_keys
from cpersona_jit.kernels.vector_ir import (
    I1,
    I8,
    I32,
    I64,
    PREFETCH_BYTES,
    accumulator,
    byte_pointer,
    call,
    constant,
    load,
    prefetch,
    splat,
)

ROWS = ir.VectorType(I64, 8)
ROWS_BYTES = 64


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
    _score_all(signs, query_planes, n, mask, out)


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
    keys = _largest_scores(scores, mask, min(k, count_admitted(mask)))
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
    keys = _scan(signs, query, n, mask, min(k, count_admitted(mask)))
    return np.sort(keys)[::-1].copy()


@kernel
def _scan(signs, query, n, mask, k):
    buffer = np.empty(buffer_size(k), np.int64)
    filled = np.int64(0)
    # Scores below this cannot enter the list; nothing can enter a list of no rows.
    floor = np.int64(-(1 << 31)) if k > 0 else np.int64(1 << 31)
    for word in range((n + 63) // 64):
        admitted = np.int64(mask[word])
        if admitted == 0:
            continue
        for group in range(8):
            bits = (admitted >> (8 * group)) & 255
            if bits == 0:
                continue
            passed, scores = _score_block(signs, query, 8 * word + group, floor)
            passed &= bits
            if passed == 0:
                continue
            for lane in range(8):
                # The floor may have risen since the block was compared.
                if (passed >> lane) & 1 and scores[lane] >= floor:
                    buffer[filled] = pack_key(scores[lane], 64 * word + 8 * group + lane)
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
def _score_all(signs, query, n, mask, out):
    for word in range((n + 63) // 64):
        admitted = np.int64(mask[word])
        for group in range(8):
            if (admitted >> (8 * group)) & 255:
                _write_scores(signs, query, 8 * word + group, out)


@kernel
def _largest_scores(scores, mask, k):
    buffer = np.empty(buffer_size(k), np.int64)
    filled = np.int64(0)
    # Scores below this cannot enter the list; nothing can enter a list of no rows.
    floor = np.int64(-(1 << 31)) if k > 0 else np.int64(1 << 31)
    for word in range(len(mask)):
        passed = _at_least(scores, word, floor) & np.int64(mask[word]) if floor < 1 << 31 else 0
        while passed != 0:
            row = 64 * word + _trailing_zeros(passed)
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
def _trailing_zeros(typing_context, word):
    """Number of the lowest set bit of an int64 that is not zero."""

    def generate(context, builder, signature, arguments):
        return call(builder, "llvm.cttz.i64", I64, [arguments[0], I1(1)])

    return types.int64(types.int64), generate


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


@intrinsic
def _write_scores(typing_context, signs, query, block, out):
    """Write the plane scores of the eight rows of a block."""

    def generate(context, builder, signature, arguments):
        signs_value, query_value, block_value, out_value = arguments
        array = context.make_array(signature.args[0])(context, builder, signs_value)
        width = cgutils.unpack_tuple(builder, array.shape, 3)[1]
        data = byte_pointer(context, builder, signature.args[0], signs_value)
        block_bytes = builder.mul(width, I64(ROWS_BYTES))
        start = builder.gep(data, [builder.mul(block_value, block_bytes)])
        words = byte_pointer(context, builder, signature.args[1], query_value)
        scores = _plane_sums(builder, start, words, width)
        narrow = builder.trunc(scores, ir.VectorType(I32, 8))
        home = byte_pointer(context, builder, signature.args[3], out_value)
        home = builder.gep(home, [builder.mul(block_value, I64(32))])
        builder.store(narrow, builder.bitcast(home, narrow.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(signs, query, types.intp, out), generate


@intrinsic
def _score_block(typing_context, signs, query, block, floor):
    """Score the eight rows of a block: the bits of those at or above ``floor``, and all scores.

    A query of one dimension is sign words (minus the distance), one of two is bit planes.
    """
    emit = _distances if query.ndim == 1 else _plane_sums

    def generate(context, builder, signature, arguments):
        signs_value, query_value, block_value, floor_value = arguments
        array = context.make_array(signature.args[0])(context, builder, signs_value)
        width = cgutils.unpack_tuple(builder, array.shape, 3)[1]
        data = byte_pointer(context, builder, signature.args[0], signs_value)
        block_bytes = builder.mul(width, I64(ROWS_BYTES))
        start = builder.gep(data, [builder.mul(block_value, block_bytes)])
        words = byte_pointer(context, builder, signature.args[1], query_value)
        scores = emit(builder, start, words, width)
        above = builder.icmp_signed(">=", scores, splat(builder, floor_value, 8))
        bits = builder.zext(builder.bitcast(above, I8), I64)
        lanes = [builder.extract_element(scores, I32(lane)) for lane in range(8)]
        score_tuple = context.make_tuple(builder, signature.return_type[1], lanes)
        return context.make_tuple(builder, signature.return_type, [bits, score_tuple])

    result = types.Tuple((types.int64, types.UniTuple(types.int64, 8)))
    return result(signs, query, types.intp, types.int64), generate


def _distances(builder, start, words, width):
    """Emit minus the Hamming distance of eight rows."""
    (different,) = _count_bits(builder, builder.xor, start, words, width, 1)
    return builder.neg(different)


def _plane_sums(builder, start, words, width):
    """Emit ``sum 2**b * popcount(row & plane b)`` of eight rows, the top plane negative."""
    counts = _count_bits(builder, builder.and_, start, words, width, 4)
    terms = [builder.shl(ones, constant(I64, 8, plane)) for plane, ones in enumerate(counts)]
    return builder.sub(builder.add(builder.add(terms[0], terms[1]), terms[2]), terms[3])


def _count_bits(builder, combine, start, words, width, n_planes):
    """Emit the loop over words; return for each plane how many bits ``combine`` sets per row."""
    counts = [accumulator(builder, constant(I64, 8, 0)) for _ in range(n_planes)]
    with cgutils.for_range(builder, width) as loop:
        offset = builder.mul(loop.index, I64(ROWS_BYTES))
        prefetch(builder, start, builder.add(offset, I64(PREFETCH_BYTES)))
        row_words = load(builder, start, offset, I64, 8)
        for plane, count in enumerate(counts):
            position = builder.add(builder.mul(I64(plane), width), loop.index)
            query_word = load(builder, words, builder.mul(position, I64(8)), I64, 1)
            query_word = builder.extract_element(query_word, I64(0))
            combined = combine(row_words, splat(builder, query_word, 8))
            ones = call(builder, "llvm.ctpop.v8i64", ROWS, [combined])
            builder.store(builder.add(builder.load(count), ones), count)
    return [builder.load(count) for count in counts]
