"""Reading bytes as fast as one thread can: wide loads, several sums, lines asked for ahead."""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from cpersona_jit.kernels.vector_ir import (
    I64,
    PREFETCH_BYTES,
    accumulator,
    byte_pointer,
    call,
    constant,
    load,
    prefetch,
)

_LINE, _SUMS = 64, 8
_STEP = _LINE * _SUMS


def read_all(array: np.ndarray) -> int:
    """Read every byte of an array, but for an end of fewer than 512.

    Parameters
    ----------
    array : ndarray
        In C order.

    Returns
    -------
    int
        Exclusive or of the int64 words that were read: it depends on all of them.
    """
    return int(_read(array.reshape(-1).view(np.int8)))


@njit(nogil=True, error_model="numpy", cache=True)
def _read(data):
    return _read_steps(data, data.shape[0] // _STEP * _STEP)


@intrinsic
def _read_steps(typing_context, data, end):
    """Combine the words of the first `end` bytes, a multiple of the step."""

    def generate(context, builder, signature, arguments):
        start = byte_pointer(context, builder, signature.args[0], arguments[0])
        sums = [accumulator(builder, constant(I64, 8, 0)) for _ in range(_SUMS)]
        with cgutils.for_range_slice(builder, I64(0), arguments[1], I64(_STEP)) as (at, _):
            for line, combined in enumerate(sums):
                here = builder.add(at, I64(line * _LINE))
                prefetch(builder, start, builder.add(here, I64(PREFETCH_BYTES)))
                words = load(builder, start, here, I64, 8)
                builder.store(builder.xor(builder.load(combined), words), combined)
        total = builder.load(sums[0])
        for combined in sums[1:]:
            total = builder.xor(total, builder.load(combined))
        return call(builder, "llvm.vector.reduce.xor.v8i64", I64, [total])

    return types.int64(data, types.int64), generate
