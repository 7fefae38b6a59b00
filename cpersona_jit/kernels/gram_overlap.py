"""Weighted gram overlap of a query with every row, fused with top-k and the arm's statistics."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.numpy_path.gram_overlap import overlap_scores
from cpersona_jit.kernels.scan_stats import GRAM_STAT_SHIFT, ScanStats
from cpersona_jit.kernels.topk import pack_key, select_largest
from cpersona_jit.kernels.vector_ir import I1, I16, I32, I64, call, constant, splat

__all__ = ["overlap_all", "overlap_scores", "overlap_top_k"]

_kernel = njit(nogil=True, error_model="numpy", cache=True)
_LANES = 64
_NEVER = np.int64(0xFFFFFFFF)  # no 32-bit score is above it


def overlap_top_k(
    index: GramIndex,
    lists: np.ndarray,
    weights: np.ndarray,
    factor: np.ndarray,
    mask: np.ndarray,
    k: int,
    counters: np.ndarray,
) -> tuple[np.ndarray, ScanStats]:
    """Score rows by the weights of the posting lists they are in, and keep the best k.

    score[row] = factor[row] * sum of ``weights[t]`` over the lists ``lists[t]`` that hold the row.

    Parameters
    ----------
    index : GramIndex
        Index of the snapshot.
    lists : int64 (T,)
        Posting lists of the query's grams.
    weights : uint16 (T,)
        Weight of each list; they must add up to at most 65,535.
    factor : uint16 (n,)
        Length factor of each row.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.
    k : int
        Rows to keep.
    counters : uint16 (64 * ceil(n / 64),)
        Scratch space. Left holding the sum of weights of every admitted row, from which
        `overlap_scores` reads a score; other rows' counters are unspecified.

    Returns
    -------
    keys : int64 (at most k,)
        Keys of the best admitted rows, unordered; a row with score 0 is never among them.
    stats : ScanStats
        Over ``score >> GRAM_STAT_SHIFT`` of all admitted rows, those with score 0 included.
    """
    full_blocks, left_over = divmod(index.n, _LANES)
    tail = np.zeros(_LANES, np.uint16)
    tail[:left_over] = factor[index.n - left_over :]
    counters.fill(0)
    slots, slot_weights = np.empty(len(lists), np.int64), np.empty(len(lists), np.uint16)
    dense = _add_sparse_lists(
        index.ptr, index.rows, index.dense_slot, lists, weights, counters, slots, slot_weights
    )
    buffer = np.empty(max(4 * k, 256), np.int64)
    kept, count, total, total_sq = _scan_blocks(
        counters,
        index.bitmaps,
        slots,
        slot_weights,
        dense,
        factor,
        tail,
        full_blocks,
        mask,
        k,
        buffer,
    )
    return buffer[:kept], ScanStats(count, total, total_sq)


def overlap_all(
    index: GramIndex,
    lists: np.ndarray,
    weights: np.ndarray,
    mask: np.ndarray,
    counters: np.ndarray,
) -> None:
    """Count the weights of the posting lists that each row is in, without ranking any row.

    Parameters
    ----------
    index, lists, weights, mask : GramIndex and ndarray
        As in `overlap_top_k`.
    counters : uint16 (64 * ceil(n / 64),)
        Written: the sum of weights of every admitted row; other rows' counters are unspecified.
    """
    counters.fill(0)
    slots, slot_weights = np.empty(len(lists), np.int64), np.empty(len(lists), np.uint16)
    dense = _add_sparse_lists(
        index.ptr, index.rows, index.dense_slot, lists, weights, counters, slots, slot_weights
    )
    _fill_blocks(counters, index.bitmaps, slots, slot_weights, dense, mask)


def _block(builder, data, block):
    """Address of the 64 uint16 of a block, as one vector."""
    first = builder.gep(data, [builder.mul(block, I64(_LANES))])
    return builder.bitcast(first, ir.VectorType(I16, _LANES).as_pointer())


def _data(context, builder, signature, arguments, which):
    """Data pointers of the array arguments at these positions."""
    return [
        context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in which
    ]


@intrinsic
def _trailing_zeros(typing_context, word):
    """Number of the lowest set bit of a uint64 that is not zero."""

    def generate(context, builder, signature, arguments):
        return call(builder, "llvm.cttz.i64", I64, [arguments[0], I1(1)])

    return types.int64(types.uint64), generate


@intrinsic
def _popcount(typing_context, word):
    """Set bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return call(builder, "llvm.ctpop.i64", I64, arguments)

    return types.int64(types.uint64), generate


@intrinsic
def _add_dense_lists(typing_context, counters, block, bitmaps, words, slots, weights, count):
    """Add the weights of `count` bitmaps to the 64 counters of one block.

    The counters stay in registers while the loop, written in IR, runs over the bitmaps: numba
    would reload them for every list.
    """

    def generate(context, builder, signature, arguments):
        _, block_, _, words_, _, _, count_ = arguments
        counter_data, bitmap_data, slot_data, weight_data = _data(
            context, builder, signature, arguments, (0, 2, 4, 5)
        )
        home = _block(builder, counter_data, block_)
        accumulator = cgutils.alloca_once_value(builder, builder.load(home, align=2))
        with cgutils.for_range(builder, count_, intp=I64) as loop:
            slot = builder.load(builder.gep(slot_data, [loop.index]))
            weight = builder.load(builder.gep(weight_data, [loop.index]))
            at = builder.add(builder.mul(slot, words_), block_)
            word = builder.load(builder.gep(bitmap_data, [at]))
            bits = builder.bitcast(word, ir.VectorType(I1, _LANES))
            before = builder.load(accumulator)
            after = builder.add(before, splat(builder, weight, _LANES))
            builder.store(builder.select(bits, after, before), accumulator)
        builder.store(builder.load(accumulator), home, align=2)
        return context.get_dummy_value()

    signature = types.void(counters, types.int64, bitmaps, types.int64, slots, weights, types.int64)
    return signature, generate


@intrinsic
def _score_block(typing_context, counters, factor, tail, block, full_blocks, admitted, threshold):
    """Mask of the admitted rows of a block above the threshold, and the block's two sums.

    `tail` replaces `factor` in the last, partial block, whose 64 factors do not all exist.
    """

    def generate(context, builder, signature, arguments):
        _, _, _, block_, full_blocks_, admitted_, threshold_ = arguments
        counter_data, factor_data, tail_data = _data(
            context, builder, signature, arguments, (0, 1, 2)
        )
        is_full = builder.icmp_signed("<", block_, full_blocks_)
        factor_home = builder.select(
            is_full, _block(builder, factor_data, block_), _block(builder, tail_data, I64(0))
        )
        lanes32, lanes64 = ir.VectorType(I32, _LANES), ir.VectorType(I64, _LANES)
        counter = builder.load(_block(builder, counter_data, block_), align=2)
        length_factor = builder.load(factor_home, align=2)
        product = builder.mul(builder.zext(counter, lanes32), builder.zext(length_factor, lanes32))
        bits = builder.bitcast(admitted_, ir.VectorType(I1, _LANES))
        score = builder.select(bits, product, constant(I32, _LANES, 0))

        step = builder.lshr(score, constant(I32, _LANES, GRAM_STAT_SHIFT))
        total = call(builder, "llvm.vector.reduce.add.v64i32", I32, [step])
        step = builder.zext(step, lanes64)
        square = builder.mul(step, step)
        total_sq = call(builder, "llvm.vector.reduce.add.v64i64", I64, [square])
        limit = splat(builder, builder.trunc(threshold_, I32), _LANES)
        above = builder.bitcast(builder.icmp_unsigned(">", score, limit), I64)
        results = [above, builder.zext(total, I64), total_sq]
        return context.make_tuple(builder, signature.return_type, results)

    result = types.Tuple((types.uint64, types.int64, types.int64))
    signature = result(counters, factor, tail, types.int64, types.int64, types.uint64, types.int64)
    return signature, generate


@_kernel
def _add_sparse_lists(ptr, rows, dense_slot, lists, weights, counters, slots, slot_weights):
    """Add the sparse lists' weights to their rows; gather the dense lists; return how many."""
    dense = 0
    for t in range(len(lists)):
        slot = dense_slot[lists[t]]
        if slot >= 0:
            slots[dense] = slot
            slot_weights[dense] = weights[t]
            dense += 1
        else:
            for i in range(ptr[lists[t]], ptr[lists[t] + 1]):
                counters[rows[i]] += weights[t]
    return dense


@_kernel
def _fill_blocks(counters, bitmaps, slots, slot_weights, dense, mask):
    for block in range(len(mask)):
        if mask[block] != 0:
            _add_dense_lists(counters, block, bitmaps, len(mask), slots, slot_weights, dense)


@_kernel
def _scan_blocks(
    counters, bitmaps, slots, slot_weights, dense, factor, tail, full_blocks, mask, k, buffer
):
    """Finish the counters block by block, while scores, sums and the best k come out of them."""
    words = len(mask)
    kept, count, total, total_sq = 0, 0, 0, 0
    threshold = np.int64(0) if k > 0 else _NEVER
    for block in range(words):
        admitted = mask[block]
        if admitted == 0:
            continue
        _add_dense_lists(counters, block, bitmaps, words, slots, slot_weights, dense)
        above, block_total, block_total_sq = _score_block(
            counters, factor, tail, block, full_blocks, admitted, threshold
        )
        count += _popcount(admitted)
        total += block_total
        total_sq += block_total_sq
        while above != 0:
            row = block * _LANES + _trailing_zeros(above)
            above &= above - np.uint64(1)
            score = np.int64(counters[row]) * np.int64(factor[row])
            if score > threshold:
                buffer[kept] = pack_key(score, row)
                kept += 1
                if kept == len(buffer):
                    threshold = select_largest(buffer, kept, k) >> 31
                    kept = k
    if kept > k:
        select_largest(buffer, kept, k)
        kept = k
    return kept, count, total, total_sq
