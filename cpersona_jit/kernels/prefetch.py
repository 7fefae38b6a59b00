"""Asking for memory before it is used, from a kernel."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic

from cpersona_jit.kernels.vector_ir import I8, I64, prefetch


@intrinsic
def ask_for(typing_context, array, at):
    """Ask for the cache line of one element of a one-dimensional array; it need not exist."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        element = builder.bitcast(builder.gep(data, [arguments[1]]), I8.as_pointer())
        prefetch(builder, element, I64(0))
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
