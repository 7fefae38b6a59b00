"""The dense arm: dot products of int8 rows with a 15-bit query, top-k fused into the scan.

Four rows are scored at a time by the best instructions of the machine (`cpu.cpu_tier`). Every tier
computes the same int32: products and sums of small integers are exact whatever their order.

The tier is the *type* of a kernel's first argument, a tuple of as many zeros as the tier's number.
That makes it part of the signature, and so of the key under which Numba caches the machine code:
two tiers never share an entry, and one process can run them all.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.cpu import cpu_tier
from cpersona_jit.kernels.row_mask import count_admitted
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, ScanStats
from cpersona_jit.kernels.topk import buffer_size, pack_key, select_largest
from cpersona_jit.kernels.topk_order import ROW_BITS
from cpersona_jit.kernels.vector_ir import (
    I8,
    I16,
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
    sum_four,
)

PLAIN, AVX2, AVX_VNNI, AVX512_VNNI = 1, 2, 3, 4
TIER_TAGS = {
    "plain": (0,) * PLAIN,
    "avx2": (0,) * AVX2,
    "avx_vnni": (0,) * AVX_VNNI,
    "avx512_vnni": (0,) * AVX512_VNNI,
}
TIER = TIER_TAGS[cpu_tier()]

# Coordinates per turn of the inner loop: one cache line of a row.
STEP = 64
# How many rows ahead a gather asks for: scattered rows would each begin with a wait for memory.
AHEAD_ROWS = 16
# 0x80 in each byte of an int32.
FLIP_TOP_BITS = 0x80808080 - (1 << 32)


def tier_tag() -> tuple[int, ...]:
    """Return the tag of the instructions that this process uses: first argument of the kernels."""
    return TIER


def dense_top_k(
    codes: np.ndarray, planes: np.ndarray, mask: np.ndarray, k: int
) -> tuple[np.ndarray, ScanStats]:
    """Find the ``k`` admitted rows of the largest dot product with the query.

    Parameters
    ----------
    codes : ndarray of int8, shape (n, D), C order
        Rows; ``D`` is a multiple of 64.
    planes : ndarray of int8, shape (2, D), C order
        High and low plane of the query (`quantize.quantize_query`).
    mask : ndarray of uint64, shape (ceil(n / 64),)
        Admitted rows; bits past ``n`` are zero.
    k : int
        How many rows to keep, at least 0.

    Returns
    -------
    keys : ndarray of int64, shape (min(k, admitted),)
        Best first; `topk_order.unpack_keys` splits them. The score is
        ``128 * (row . high) + row . low``, an int32.
    stats : ScanStats
        Over ``score >> DENSE_STAT_SHIFT`` of all admitted rows.
    """
    count = count_admitted(mask)
    keys, total, total_sq = _scan(TIER, codes, planes, mask, min(k, count))
    return np.sort(keys)[::-1].copy(), ScanStats(count, total, total_sq)


def dense_all(
    codes: np.ndarray, planes: np.ndarray, mask: np.ndarray, out: np.ndarray
) -> ScanStats:
    """Score every admitted row.

    Parameters
    ----------
    codes, planes, mask : ndarray
        As in `dense_top_k`.
    out : ndarray of int64, shape (n,)
        Written: the score of each admitted row, 0 for the others.

    Returns
    -------
    ScanStats
        As from `dense_top_k`.
    """
    total, total_sq = scan_all(TIER, codes, planes, mask, out)
    return ScanStats(count_admitted(mask), total, total_sq)


def dense_scores(codes: np.ndarray, planes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Score the given rows.

    Parameters
    ----------
    codes, planes : ndarray of int8
        As in `dense_top_k`.
    rows : ndarray of int64, shape (m,)
        Row positions in any order; ascending is fastest.

    Returns
    -------
    ndarray of int64, shape (m,)
    """
    return _gather(TIER, codes, planes, rows)


def dense_at(
    codes: np.ndarray,
    block_codes: np.ndarray,
    planes: np.ndarray,
    mask: np.ndarray,
    block_mask: np.ndarray,
    place: np.ndarray,
    block_ptr: np.ndarray,
    means: np.ndarray,
    rows: np.ndarray,
    known: np.ndarray,
    dense: np.ndarray,
    own: np.ndarray,
    best: np.ndarray,
) -> None:
    """Score some rows, and their blocks where a row has several; rows that are known are passed.

    Parameters
    ----------
    codes, block_codes : ndarray of int8, shape (n, D) and (nb, D), C order
        Rows, and blocks of the m parted rows.
    planes : ndarray of int8, shape (2, D)
        As in `dense_top_k`.
    mask, block_mask : ndarray of uint64
        Rows and blocks that have a vector; bits past their number are zero.
    place : ndarray of int32, shape (n,)
        Place of a row among the parted ones, -1 for the others.
    block_ptr : ndarray of int64, shape (m + 1,)
        Row i of the parted rows owns the blocks ``block_ptr[i]:block_ptr[i + 1]``, if any.
    means : ndarray of int64, shape (2,)
        Score of a row without a vector, and of its best block.
    rows : ndarray of int64, shape (P,)
        Rows in any order; one may come twice.
    known : ndarray of bool, shape (n,)
        Rows whose scores are there; written.
    dense : ndarray of int32, shape (n,)
        Written: the score of each row.
    own, best : ndarray of int64, shape (m,)
        Written for parted rows: the score of the row, and the largest of its blocks' (its own
        without a block that has a vector).
    """
    measure_rows(
        TIER,
        codes,
        block_codes,
        planes,
        mask,
        block_mask,
        place,
        block_ptr,
        means,
        rows,
        known,
        dense,
        own,
        best,
    )


@kernel
def _scan(tier, codes, planes, mask, k):
    n = codes.shape[0]
    query, bias = _joined_query(planes)
    buffer = np.empty(buffer_size(k), np.int64)
    filled = np.int64(0)
    # Scores below this cannot enter the list; nothing can enter a list of no rows.
    floor = np.int64(-(1 << 31)) if k > 0 else np.int64(1 << 31)
    total = 0
    total_sq = 0
    for word in range(mask.shape[0]):
        admitted = np.int64(mask[word])
        if admitted == 0:
            continue
        for group in range(16):
            bits = (admitted >> (4 * group)) & 15
            if bits == 0:
                continue
            row = 64 * word + 4 * group
            # The last group may be short: its missing rows repeat the last one, unadmitted.
            row1, row2, row3 = min(row + 1, n - 1), min(row + 2, n - 1), min(row + 3, n - 1)
            scores = _dot_four(
                tier, codes, planes, query, bias, row, row1, row2, row3, PREFETCH_BYTES
            )
            for lane in range(4):
                if (bits >> lane) & 1 == 0:
                    continue
                score = np.int64(scores[lane])
                shifted = score >> DENSE_STAT_SHIFT
                total += shifted
                total_sq += shifted * shifted
                if score >= floor:
                    buffer[filled] = pack_key(score, row + lane)
                    filled += 1
                    if filled == buffer.shape[0]:
                        # Rows ascend: a later row of the k-th score would lose the tie.
                        floor = (select_largest(buffer, filled, k) >> ROW_BITS) + 1
                        filled = k
    if filled > k:
        select_largest(buffer, filled, k)
        filled = k
    return buffer[:filled], total, total_sq


@kernel
def scan_all(tier, codes, planes, mask, out):
    n = codes.shape[0]
    query, bias = _joined_query(planes)
    total = 0
    total_sq = 0
    for word in range(mask.shape[0]):
        admitted = np.int64(mask[word])
        if admitted == 0:
            out[64 * word : min(64 * word + 64, n)] = 0
            continue
        for row in range(64 * word, min(64 * word + 64, n), 4):
            bits = (admitted >> (row & 63)) & 15
            if bits == 0:
                out[row : min(row + 4, n)] = 0
                continue
            row1, row2, row3 = min(row + 1, n - 1), min(row + 2, n - 1), min(row + 3, n - 1)
            scores = _dot_four(
                tier, codes, planes, query, bias, row, row1, row2, row3, PREFETCH_BYTES
            )
            for lane in range(min(4, n - row)):
                score = np.int64(scores[lane]) if (bits >> lane) & 1 else np.int64(0)
                out[row + lane] = score
                shifted = score >> DENSE_STAT_SHIFT
                total += shifted
                total_sq += shifted * shifted
    return total, total_sq


@kernel
def _gather(tier, codes, planes, rows):
    query, bias = _joined_query(planes)
    scores = np.empty(rows.shape[0], np.int64)
    last = rows.shape[0] - 1
    for row in rows[:AHEAD_ROWS]:
        _prefetch_row(codes, row)
    for start in range(0, rows.shape[0], 4):
        for row in rows[start + AHEAD_ROWS : start + AHEAD_ROWS + 4]:
            _prefetch_row(codes, row)
        row0, row1 = rows[start], rows[min(start + 1, last)]
        row2, row3 = rows[min(start + 2, last)], rows[min(start + 3, last)]
        found = _dot_four(tier, codes, planes, query, bias, row0, row1, row2, row3, 0)
        for lane in range(min(4, rows.shape[0] - start)):
            scores[start + lane] = found[lane]
    return scores


@kernel
def measure_rows(
    tier,
    codes,
    block_codes,
    planes,
    mask,
    block_mask,
    place,
    block_ptr,
    means,
    rows,
    known,
    dense,
    own,
    best,
):
    asked, blocks = np.empty(len(rows), np.int64), np.int64(0)
    scored, lacking = 0, len(rows)  # from the front: rows to score; from the end: without a vector
    for row in rows:
        if known[row]:
            continue
        known[row] = True
        if place[row] >= 0:
            blocks += block_ptr[place[row] + 1] - block_ptr[place[row]]
        if _has(mask, row):
            asked[scored] = row
            scored += 1
        else:
            lacking -= 1
            asked[lacking] = row
    scores = _gather(tier, codes, planes, asked[:scored])
    for i in range(scored):
        dense[asked[i]] = scores[i]
    for row in asked[lacking:]:
        dense[row] = means[0]
        if place[row] >= 0:
            own[place[row]], best[place[row]] = means[0], means[1]
    _measure_blocks(
        tier, block_codes, planes, block_mask, place, block_ptr, asked[:scored], blocks, dense,
        own, best
    )  # fmt: skip


@kernel_part
def _measure_blocks(
    tier, block_codes, planes, block_mask, place, block_ptr, rows, most, dense, own, best
):
    """Score the blocks of the parted ones of some rows; they have `most` blocks or fewer."""
    asked, owner, found = np.empty(most, np.int64), np.empty(most, np.int64), 0
    for row in rows:
        at = np.int64(place[row])
        if at < 0:
            continue
        own[at], best[at] = dense[row], np.int64(-(1 << 62))
        for block in range(block_ptr[at], block_ptr[at + 1]):
            if _has(block_mask, block):
                asked[found], owner[found] = block, at
                found += 1
    scores = _gather(tier, block_codes, planes, asked[:found])
    for i in range(found):
        best[owner[i]] = max(best[owner[i]], scores[i])
    for row in rows:
        at = np.int64(place[row])
        if at >= 0 and best[at] == np.int64(-(1 << 62)):
            best[at] = own[at]


@kernel_part
def _has(mask, row):
    return (np.int64(mask[row >> 6]) >> (row & 63)) & 1 == 1


@kernel_part
def _joined_query(planes):
    """Return the query as int16, and 128 times its sum (what unsigned rows add to a score)."""
    query = np.empty(planes.shape[1], np.int16)
    total = 0
    for j in range(planes.shape[1]):
        query[j] = (np.int16(planes[0, j]) << 7) + planes[1, j]
        total += query[j]
    return query, np.int32(total << 7)


def _dot_four(tier, codes, planes, query, bias, row0, row1, row2, row3, ahead):
    """Score four rows (any four): a tuple of four int32. ``ahead`` is a prefetch distance."""
    raise NotImplementedError("compiled code only")


@overload(_dot_four)
def _dot_four_of_tier(tier, codes, planes, query, bias, row0, row1, row2, row3, ahead):
    if tier.count == PLAIN:

        def plain(tier, codes, planes, query, bias, row0, row1, row2, row3, ahead):
            return (
                _dot_plain(codes[row0], query),
                _dot_plain(codes[row1], query),
                _dot_plain(codes[row2], query),
                _dot_plain(codes[row3], query),
            )

        return plain

    if tier.count == AVX2:

        def avx2(tier, codes, planes, query, bias, row0, row1, row2, row3, ahead):
            return _dot_four_words(codes, query, row0, row1, row2, row3, ahead)

        return avx2

    def vnni(tier, codes, planes, query, bias, row0, row1, row2, row3, ahead):
        return _dot_four_bytes(tier, codes, planes, bias, row0, row1, row2, row3, ahead)

    return vnni


@kernel_part
def _dot_plain(row, query):
    total = np.int32(0)
    for j in range(row.shape[0]):
        total += np.int32(row[j]) * np.int32(query[j])
    return np.int32(total)


@intrinsic
def _prefetch_row(typing_context, codes, row):
    """Ask for all cache lines of a row."""

    def generate(context, builder, signature, arguments):
        codes_value, row_value = arguments
        width = _row_length(context, builder, signature.args[0], codes_value)
        data = byte_pointer(context, builder, signature.args[0], codes_value)
        start = builder.gep(data, [builder.mul(row_value, width)])
        with cgutils.for_range_slice(builder, I64(0), width, I64(STEP)) as (offset, _):
            prefetch(builder, start, offset)
        return context.get_dummy_value()

    return types.void(codes, types.int64), generate


@intrinsic
def _dot_four_bytes(typing_context, tier, codes, planes, bias, row0, row1, row2, row3, ahead):
    """Four dot products by ``vpdpbusd``, of 512 bits or 256 by the tier.

    The instruction multiplies unsigned bytes by signed ones. Flipping the top bit of a row's byte
    adds 128 to it, which adds ``bias`` to the score. Both query planes ride on one load of a row.
    """
    lanes = 16 if tier.count == AVX512_VNNI else 8
    name = f"llvm.x86.avx512.vpdpbusd.{32 * lanes}"

    def generate(context, builder, signature, arguments):
        _, codes_value, planes_value, bias_value, *rows, ahead_value = arguments
        data = byte_pointer(context, builder, signature.args[1], codes_value)
        width = _row_length(context, builder, signature.args[1], codes_value)
        high = byte_pointer(context, builder, signature.args[2], planes_value)
        low = builder.gep(high, [width])
        # Bytes travel as int32, four to an element: the operand type that every LLVM accepts.
        flip = constant(I32, lanes, FLIP_TOP_BITS)

        def add_step(row, offset, sums):
            for part in range(0, STEP, 4 * lanes):
                at = builder.add(offset, I64(part))
                flipped = builder.xor(load(builder, row, at, I32, lanes), flip)
                for plane, variable in zip((high, low), sums, strict=True):
                    weights = load(builder, plane, at, I32, lanes)
                    old = builder.load(variable)
                    new = call(builder, name, old.type, [old, flipped, weights])
                    builder.store(new, variable)

        starts = [builder.gep(data, [builder.mul(row, width)]) for row in rows]
        sums = _loop_rows(builder, starts, width, ahead_value, add_step, lanes, 2)
        sevens = constant(I32, lanes, 7)
        joined = [builder.add(builder.shl(highs, sevens), lows) for highs, lows in sums]
        scores = builder.sub(sum_four(builder, joined), splat(builder, bias_value, 4))
        return _as_tuple(context, builder, signature, scores)

    return _four_int32(tier, codes, planes, bias, row0, row1, row2, row3, ahead), generate


@intrinsic
def _dot_four_words(typing_context, codes, query, row0, row1, row2, row3, ahead):
    """Four dot products by AVX2's ``vpmaddwd``: int8 widened to int16, times the int16 query."""
    lanes = 8

    def generate(context, builder, signature, arguments):
        codes_value, query_value, *rows, ahead_value = arguments
        data = byte_pointer(context, builder, signature.args[0], codes_value)
        width = _row_length(context, builder, signature.args[0], codes_value)
        weights_data = byte_pointer(context, builder, signature.args[1], query_value)

        def add_step(row, offset, sums):
            for part in range(0, STEP, 2 * lanes):
                at = builder.add(offset, I64(part))
                wide = ir.VectorType(I16, 2 * lanes)
                values = builder.sext(load(builder, row, at, I8, 2 * lanes), wide)
                weights_at = builder.shl(at, I64(1))
                weights = load(builder, weights_data, weights_at, I16, 2 * lanes)
                old = builder.load(sums[0])
                products = call(builder, "llvm.x86.avx2.pmadd.wd", old.type, [values, weights])
                builder.store(builder.add(old, products), sums[0])

        starts = [builder.gep(data, [builder.mul(row, width)]) for row in rows]
        sums = _loop_rows(builder, starts, width, ahead_value, add_step, lanes, 1)
        scores = sum_four(builder, [only for (only,) in sums])
        return _as_tuple(context, builder, signature, scores)

    return _four_int32(codes, query, row0, row1, row2, row3, ahead), generate


def _loop_rows(builder, starts, width, ahead, add_step, lanes, n_sums):
    """Emit the loop over a row's cache lines; return for each row its ``n_sums`` vectors."""
    zero = constant(I32, lanes, 0)
    sums = [[accumulator(builder, zero) for _ in range(n_sums)] for _ in starts]
    with cgutils.for_range_slice(builder, I64(0), width, I64(STEP)) as (offset, _):
        for start, of_row in zip(starts, sums, strict=True):
            prefetch(builder, start, builder.add(offset, ahead))
            add_step(start, offset, of_row)
    return [[builder.load(variable) for variable in of_row] for of_row in sums]


def _four_int32(*arguments):
    """Return the signature of an intrinsic that scores four rows; rows and distance are intp."""
    fixed = arguments[:-5]
    return types.UniTuple(types.int32, 4)(*fixed, *(types.intp,) * 5)


def _as_tuple(context, builder, signature, vector):
    elements = [builder.extract_element(vector, I32(lane)) for lane in range(4)]
    return context.make_tuple(builder, signature.return_type, elements)


def _row_length(context, builder, array_type, array):
    shape = context.make_array(array_type)(context, builder, array).shape
    return cgutils.unpack_tuple(builder, shape, 2)[1]
