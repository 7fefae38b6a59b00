"""Unit vectors as small integers: int8 rows, a 15-bit query, sign bits, 4-bit query planes.

Every code depends on its own vector alone (fixed scales, no statistics of the data), so rows can be
appended without touching the others.
"""

from __future__ import annotations

import math

import numpy as np

# A coordinate of a unit vector has a deviation of 1/sqrt(dim); the int8 range ends at this many
# deviations. What lies beyond is clipped, so a larger value costs resolution and a smaller one
# outliers. Of 3.5, 4.5, 5.5, 7 and 9, the first two kept most of the exact top 10 with each of the
# three bundled models, whose largest coordinates lie at 3.0 (USE), 3.5 (E5) and 4.5 (MiniLM).
CODE_CLIP = 4.0
CODE_MAX = 127

# Largest query value of which the high plane still fits int8: 127 * 128.
QUERY_MAX = 16256
INT32_MAX = 2**31 - 1


def padded_width(dim: int) -> int:
    """Return the width of a stored row: ``dim`` rounded up to a multiple of 64."""
    return (dim + 63) // 64 * 64


def row_scale(dim: int) -> float:
    """Return the factor between a row's coordinate and its int8 code."""
    return math.sqrt(dim) / CODE_CLIP * CODE_MAX


def quantize_rows(vectors: np.ndarray) -> np.ndarray:
    """Turn unit vectors into int8 codes.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n, dim)
        Rows of norm 1.

    Returns
    -------
    ndarray of int8, shape (n, padded_width(dim))
        ``round(v * row_scale(dim))`` clipped to +-127; padding is zero.
    """
    n, dim = vectors.shape
    codes = np.zeros((n, padded_width(dim)), np.int8)
    scaled = np.rint(vectors * np.float32(row_scale(dim)))
    codes[:, :dim] = np.clip(scaled, -CODE_MAX, CODE_MAX)
    return codes


def quantize_query(vector: np.ndarray) -> tuple[np.ndarray, float]:
    """Turn a query vector into a 15-bit integer query, held as two int8 planes.

    Parameters
    ----------
    vector : ndarray of float32, shape (dim,)
        The query, of norm 1.

    Returns
    -------
    planes : ndarray of int8, shape (2, padded_width(dim))
        High and low plane: ``query = 128 * high + low``, low in [-64, 63].
    scale : float
        Factor between a coordinate and its integer. It is small enough that no dot product with
        int8 codes leaves int32, whatever the width.
    """
    dim = vector.shape[0]
    exact = vector.astype(np.float64)
    magnitude = np.abs(exact)
    scale = 1.0
    if magnitude.any():
        # Rounding may add 1/2 to every coordinate: dim / 2 of the allowed sum is kept for it.
        allowed_sum = INT32_MAX / CODE_MAX - dim / 2
        scale = float(min(QUERY_MAX / magnitude.max(), allowed_sum / magnitude.sum()))
    query = np.rint(exact * scale).astype(np.int64)
    high = (query + 64) >> 7
    planes = np.zeros((2, padded_width(dim)), np.int8)
    planes[0, :dim] = high
    planes[1, :dim] = query - (high << 7)
    return planes, scale


def cosine_scale(dim: int, query_scale: float) -> float:
    """Return the score that means a cosine of 1: a score divided by it is a cosine."""
    return row_scale(dim) * query_scale


def sign_words(vectors: np.ndarray) -> np.ndarray:
    """Return one sign bit per coordinate.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n, dim)
        Vectors of any norm.

    Returns
    -------
    ndarray of uint64, shape (n, padded_width(dim) // 64)
        Bit ``j & 63`` of word ``j >> 6`` is ``v[j] > 0``; padding is zero.
    """
    return _bit_words(vectors > 0)


def block_signs(words: np.ndarray) -> np.ndarray:
    """Arrange sign words for the scans: eight rows side by side, word by word.

    Parameters
    ----------
    words : ndarray of uint64, shape (n, W)
        Result of `sign_words`.

    Returns
    -------
    ndarray of uint64, shape (ceil(n / 8), W, 8)
        ``blocks[r // 8, w, r % 8] == words[r, w]``; rows past ``n`` are zero.
    """
    n, width = words.shape
    n_blocks = (n + 7) // 8
    padded = np.zeros((n_blocks * 8, width), np.uint64)
    padded[:n] = words
    return np.ascontiguousarray(padded.reshape(n_blocks, 8, width).transpose(0, 2, 1))


def query_sign_words(vector: np.ndarray) -> np.ndarray:
    """Return the sign words of one vector: uint64, shape (padded_width(dim) // 64,)."""
    return sign_words(vector[np.newaxis])[0]


def query_bit_planes(vector: np.ndarray) -> np.ndarray:
    """Return a 4-bit query as bit planes.

    Parameters
    ----------
    vector : ndarray of float32, shape (dim,)
        The query, of any norm.

    Returns
    -------
    ndarray of uint64, shape (4, padded_width(dim) // 64)
        Plane ``b`` holds bit ``b`` of ``round(7 * v / max|v|)`` in two's complement; plane 3 is
        the sign and counts -8.
    """
    exact = vector.astype(np.float64)
    largest = np.abs(exact).max(initial=0.0)
    if largest > 0:
        exact = exact * (7 / largest)
    nibbles = np.rint(exact).astype(np.int64) & 15
    return _bit_words((nibbles >> np.arange(4)[:, np.newaxis]) & 1)


def _bit_words(bits: np.ndarray) -> np.ndarray:
    """Pack the last axis of 0/1 values into uint64 words, little bit order, zero padding."""
    n, dim = bits.shape
    padded = np.zeros((n, padded_width(dim)), np.bool_)
    padded[:, :dim] = bits
    packed = np.packbits(padded, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)
