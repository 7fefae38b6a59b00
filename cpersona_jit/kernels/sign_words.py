"""Scores of sign bits, 64 rows or eight at a time: what the scans of `sign_scan` are made of.

The rows of a mask's word are eight blocks of eight rows (`quantize.block_signs`). Their counts add
up side by side, so that a word of the query is loaded once for all of them, and no count waits for
the one before.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cpersona_jit.kernels.vector_ir import (
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
    shuffle,
    splat,
)

_BLOCKS = 8  # of a word
_LANES = 8  # rows of a block
_LINE = 64  # bytes of a block's word
_MOST_SUMS = 16  # vectors that are added to at a time; half of the registers


@intrinsic
def score_word(typing_context, signs, query, word, floor, out, at):
    """Score the 64 rows of a word whose eight blocks all exist.

    A query of one dimension is sign words (the score is minus the distance), one of two is bit
    planes. Written: ``out[at : at + 64]``, int32. Returned: the bits of the rows at or above
    `floor`, an int64 of 32 bits.
    """

    def generate(context, builder, signature, arguments):
        _, _, word_value, floor_value, _, at_value = arguments
        first = builder.mul(word_value, I64(_BLOCKS))
        scores = _scores(context, builder, signature, arguments, first, _BLOCKS)
        home = _home(context, builder, signature, arguments, at_value)
        limit = splat(builder, builder.trunc(floor_value, I32), 2 * _LANES)
        passed = I64(0)
        for pair in range(_BLOCKS // 2):
            both = shuffle(builder, scores[2 * pair], scores[2 * pair + 1], range(2 * _LANES))
            _store(builder, both, home, 2 * _LANES * pair)
            above = builder.bitcast(builder.icmp_signed(">=", both, limit), I16)
            above = builder.shl(builder.zext(above, I64), I64(2 * _LANES * pair))
            passed = builder.or_(passed, above)
        return passed

    where = types.int64, types.int64, out, types.int64
    return types.int64(signs, query, *where), generate


@intrinsic
def score_block(typing_context, signs, query, block, floor, out, at):
    """Score the eight rows of one block; as `score_word`, but nothing is compared or returned."""

    def generate(context, builder, signature, arguments):
        _, _, block_value, _, _, at_value = arguments
        (scores,) = _scores(context, builder, signature, arguments, block_value, 1)
        _store(builder, scores, _home(context, builder, signature, arguments, at_value), 0)
        return context.get_dummy_value()

    where = types.int64, types.int64, out, types.int64
    return types.void(signs, query, *where), generate


def _scores(context, builder, signature, arguments, first_block, count):
    """Emit the scores of some blocks, one after another: a vector of eight int32 of each."""
    signs, query = signature.args[:2]
    array = context.make_array(signs)(context, builder, arguments[0])
    width = cgutils.unpack_tuple(builder, array.shape, 3)[1]
    block_bytes = builder.mul(width, I64(_LINE))
    data = byte_pointer(context, builder, signs, arguments[0])
    words = byte_pointer(context, builder, query, arguments[1])
    starts = [
        builder.gep(data, [builder.mul(builder.add(first_block, I64(i)), block_bytes)])
        for i in range(count)
    ]
    emit, planes = (_distances, 1) if query.ndim == 1 else (_plane_sums, 4)
    at_a_time = _MOST_SUMS // planes
    scores = []
    for first in range(0, count, at_a_time):
        scores += emit(builder, starts[first : first + at_a_time], words, width)
    return [builder.trunc(score, ir.VectorType(I32, _LANES)) for score in scores]


def _distances(builder, starts, words, width):
    """Emit minus the Hamming distances of some blocks."""
    counts = _count_bits(builder, builder.xor, starts, words, width, 1)
    return [builder.neg(different) for (different,) in counts]


def _plane_sums(builder, starts, words, width):
    """Emit ``sum 2**b * popcount(row & plane b)`` of some blocks, the top plane negative."""
    sums = []
    for counts in _count_bits(builder, builder.and_, starts, words, width, 4):
        terms = [
            builder.shl(ones, constant(I64, _LANES, plane)) for plane, ones in enumerate(counts)
        ]
        positive = builder.add(builder.add(terms[0], terms[1]), terms[2])
        sums.append(builder.sub(positive, terms[3]))
    return sums


def _count_bits(builder, combine, starts, words, width, n_planes):
    """Emit the loop over words; of each block and plane, how many bits ``combine`` sets per row."""
    zero = constant(I64, _LANES, 0)
    sums = [[accumulator(builder, zero) for _ in range(n_planes)] for _ in starts]
    with cgutils.for_range(builder, width) as loop:
        offset = builder.mul(loop.index, I64(_LINE))
        planes = []
        for plane in range(n_planes):
            position = builder.add(builder.mul(I64(plane), width), loop.index)
            query_word = load(builder, words, builder.mul(position, I64(8)), I64, 1)
            planes.append(splat(builder, builder.extract_element(query_word, I64(0)), _LANES))
        for start, of_block in zip(starts, sums, strict=True):
            prefetch(builder, start, builder.add(offset, I64(PREFETCH_BYTES)))
            row_words = load(builder, start, offset, I64, _LANES)
            for plane, total in zip(planes, of_block, strict=True):
                combined = combine(row_words, plane)
                ones = call(builder, "llvm.ctpop.v8i64", combined.type, [combined])
                builder.store(builder.add(builder.load(total), ones), total)
    return [[builder.load(total) for total in of_block] for of_block in sums]


def _home(context, builder, signature, arguments, at):
    """Return the address of ``out[at]``."""
    data = byte_pointer(context, builder, signature.args[4], arguments[4])
    return builder.gep(data, [builder.mul(at, I64(4))])


def _store(builder, scores, home, lane):
    address = builder.gep(home, [I64(4 * lane)])
    builder.store(scores, builder.bitcast(address, scores.type.as_pointer()), align=4)
