"""Counting and finding the set bits of a word, for the kernels."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic

from cpersona_jit.kernels.vector_ir import I1, I64, call


@intrinsic
def popcount(typing_context, word):
    """Set bits of a uint64, int64."""

    def generate(context, builder, signature, arguments):
        return call(builder, "llvm.ctpop.i64", I64, arguments)

    return types.int64(types.uint64), generate


@intrinsic
def trailing_zeros(typing_context, word):
    """Number of the lowest set bit of a uint64 that is not zero, int64."""

    def generate(context, builder, signature, arguments):
        return call(builder, "llvm.cttz.i64", I64, [arguments[0], I1(1)])

    return types.int64(types.uint64), generate
