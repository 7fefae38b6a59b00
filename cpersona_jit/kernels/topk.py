"""Bounded selection of the largest keys, for use inside kernels.

A scan pushes keys into a buffer of ``buffer_size(k)`` and calls `select_largest` when it is full,
so that a worst-case order of scores costs a constant per row (a heap would cost log k).
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel_part
from cpersona_jit.kernels.topk_order import ROW_BITS, ROW_MASK


@kernel_part
def buffer_size(k):
    """Return the length of the key buffer of a scan that keeps ``k`` keys."""
    return 4 * k if k > 64 else 256


@kernel_part
def pack_key(score, row):
    """Join a score (int64 of 32 significant bits) and a row; see `topk_order.pack_keys`."""
    return (score << ROW_BITS) | (ROW_MASK - row)


@kernel_part
def select_largest(buffer, count, k):
    """Move the ``k`` largest of ``buffer[:count]`` to its front, in no particular order.

    Parameters
    ----------
    buffer : ndarray of int64
        Distinct keys; reordered in place.
    count, k : int
        ``1 <= k <= count <= len(buffer)``.

    Returns
    -------
    int64
        The smallest of the ``k`` keys.
    """
    low = np.int64(0)
    high = count - 1
    wanted = k - 1
    while low < high:
        pivot = _median_of_three(buffer[low], buffer[(low + high) >> 1], buffer[high])
        left = low
        right = high
        while left <= right:
            while buffer[left] > pivot:
                left += 1
            while buffer[right] < pivot:
                right -= 1
            if left <= right:
                buffer[left], buffer[right] = buffer[right], buffer[left]
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return buffer[wanted]


@kernel_part
def _median_of_three(a, b, c):
    if a > b:
        a, b = b, a
    return a if c < a else (b if c > b else c)
