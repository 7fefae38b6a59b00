"""Weighted gram overlap of a query with every row, fused with top-k and the arm's statistics."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cpersona_jit.kernels.bits import popcount, trailing_zeros
from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.numpy_path.gram_overlap import overlap_scores
from cpersona_jit.kernels.prefetch import ask_for
from cpersona_jit.kernels.scan_stats import GRAM_STAT_SHIFT, ScanStats
from cpersona_jit.kernels.topk import pack_key, select_largest
from cpersona_jit.kernels.vector_ir import (
    I1,
    I8,
    I16,
    I32,
    I64,
    call,
    constant,
    prefetch,
    splat,
)

__all__ = ["overlap_all", "overlap_scores", "overlap_top_k"]

_LANES = 64
_TILE = 64  # words of the mask that are worked on together: 8 KB of counters
_LINE = 8  # words of a cache line
_GROUP = 4  # bitmaps that are added at a time
_AHEAD = 2  # sparse lists that are asked for before their turn,
_AHEAD_ROWS = 256  # and how many of their rows
_ROWS_PER_LINE = 16
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
    overlap_all(index, lists, weights, mask, counters)
    buffer = np.empty(max(4 * k, 256), np.int64)
    kept, count, total, total_sq = _scan_blocks(
        counters, factor, tail, full_blocks, mask, k, buffer
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
    index, lists, weights : GramIndex and ndarray
        As in `overlap_top_k`.
    mask : uint64 (at least ceil(n / 64),)
        Admitted rows. It may go on past the rows of the index, to rows that the lists know nothing
        of.
    counters : uint16 (64 * words of the mask,)
        Written: the sum of weights of every admitted row, 0 for rows past those of the index; other
        rows' counters are unspecified.
    """
    of_index = index.ptr, index.rows, index.dense_slot, index.bitmaps
    count_overlap(*of_index, lists, weights, mask, counters)


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
def _add_bitmaps(typing_context, counters, bitmaps, slots, weights, group, ahead, first, end):
    """Add the weights of a group of bitmaps to the counters of words `first` to `end` of the mask.

    Slots and weights begin at `group`. The same words of the group that begins at `ahead` are asked
    for meanwhile: bitmaps are far apart, and without that each would begin with a wait for memory.
    """

    def generate(context, builder, signature, arguments):
        _, bitmaps_, _, _, group_, ahead_, first_, end_ = arguments
        counter_data, bitmap_data, slot_data, weight_data = _data(
            context, builder, signature, arguments, (0, 1, 2, 3)
        )
        shape = context.make_array(signature.args[1])(context, builder, bitmaps_).shape
        words = cgutils.unpack_tuple(builder, shape, 2)[1]

        def starts(at):
            places = [builder.add(at, I64(i)) for i in range(_GROUP)]
            slots_ = [builder.load(builder.gep(slot_data, [place])) for place in places]
            return [builder.gep(bitmap_data, [builder.mul(slot, words)]) for slot in slots_]

        def add(word):
            home = _block(builder, counter_data, word)
            total = builder.load(home, align=2)
            for bitmap, weight in zip(own, added, strict=True):
                bits = builder.load(builder.gep(bitmap, [word]))
                bits = builder.bitcast(bits, ir.VectorType(I1, _LANES))
                total = builder.select(bits, builder.add(total, weight), total)
            builder.store(total, home, align=2)

        own, after = starts(group_), starts(ahead_)
        weights_ = [builder.gep(weight_data, [builder.add(group_, I64(i))]) for i in range(_GROUP)]
        added = [splat(builder, builder.load(weight), _LANES) for weight in weights_]
        whole = builder.and_(builder.sub(end_, first_), I64(-_LINE))
        whole = builder.add(first_, whole)
        with cgutils.for_range_slice(builder, first_, whole, I64(_LINE)) as (at, _):
            for bitmap in after:
                prefetch(builder, builder.bitcast(bitmap, I8.as_pointer()), builder.shl(at, I64(3)))
            for word in range(_LINE):
                add(builder.add(at, I64(word)))
        with cgutils.for_range_slice(builder, whole, end_, I64(1)) as (at, _):
            add(at)
        return context.get_dummy_value()

    where = types.int64, types.int64, types.int64, types.int64
    return types.void(counters, bitmaps, slots, weights, *where), generate


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


@kernel
def count_overlap(ptr, rows, dense_slot, bitmaps, lists, weights, mask, counters):
    """Write what `overlap_all` writes."""
    for i in range(len(counters)):
        counters[i] = 0
    # The last group of bitmaps is filled up with some that weigh nothing.
    places = len(lists) + _GROUP
    slots, slot_weights = np.zeros(places, np.int64), np.zeros(places, np.uint16)
    dense = _add_sparse_lists(ptr, rows, dense_slot, lists, weights, counters, slots, slot_weights)
    _add_dense_lists(counters, bitmaps, slots, slot_weights, dense, mask)


@kernel_part
def _add_sparse_lists(ptr, rows, dense_slot, lists, weights, counters, slots, slot_weights):
    """Add the sparse lists' weights to their rows; gather the dense lists; return how many.

    Lists are short and far apart: the first lines of the next ones are asked for meanwhile.
    """
    spans, span_weights = np.empty((len(lists) + _AHEAD, 2), np.int64), np.empty_like(weights)
    dense, sparse = 0, 0
    for t in range(len(lists)):
        slot = dense_slot[lists[t]]
        if slot >= 0:
            slots[dense], slot_weights[dense] = slot, weights[t]
            dense += 1
        else:
            spans[sparse, 0], spans[sparse, 1] = ptr[lists[t]], ptr[lists[t] + 1]
            span_weights[sparse] = weights[t]
            sparse += 1
    spans[sparse : sparse + _AHEAD] = 0
    for t in range(sparse):
        start, end = spans[t + _AHEAD, 0], spans[t + _AHEAD, 1]
        for i in range(start, min(end, start + _AHEAD_ROWS), _ROWS_PER_LINE):
            ask_for(rows, i)
        for i in range(spans[t, 0], spans[t, 1]):
            counters[rows[i]] += span_weights[t]
    return dense


@kernel_part
def _add_dense_lists(counters, bitmaps, slots, slot_weights, dense, mask):
    """Add the dense lists' weights, to some words of the mask at a time: their counters stay in the
    first-level cache while the lists pass by.
    """
    words = bitmaps.shape[1]
    for first in range(0, words, _TILE):
        end = min(first + _TILE, words)
        admitted = np.uint64(0)
        for word in range(first, end):
            admitted |= mask[word]
        if admitted == 0:
            continue
        for group in range(0, dense, _GROUP):
            ahead = group + _GROUP if group + _GROUP < dense else group
            _add_bitmaps(counters, bitmaps, slots, slot_weights, group, ahead, first, end)


@kernel
def _scan_blocks(counters, factor, tail, full_blocks, mask, k, buffer):
    """Go through the counters block by block; scores, sums and the best k come out of them."""
    words = len(mask)
    kept, count, total, total_sq = np.int64(0), 0, 0, 0
    threshold = np.int64(0) if k > 0 else _NEVER
    for block in range(words):
        admitted = mask[block]
        if admitted == 0:
            continue
        above, block_total, block_total_sq = _score_block(
            counters, factor, tail, block, full_blocks, admitted, threshold
        )
        count += popcount(admitted)
        total += block_total
        total_sq += block_total_sq
        while above != 0:
            row = block * _LANES + trailing_zeros(above)
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
