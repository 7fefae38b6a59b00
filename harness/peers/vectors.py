"""Random unit vectors as the engine codes them, and the queries that are asked of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.kernels.quantize import (
    block_signs,
    quantize_query,
    quantize_rows,
    query_sign_words,
    sign_words,
)
from cpersona_jit.kernels.row_mask import pack_mask

QUERIES = 4
_SEED = 20261202
_CHUNK = 8192


class Coded(NamedTuple):
    """Rows and queries.

    Attributes
    ----------
    codes : ndarray of int8, shape (n, dim)
    words : ndarray of uint64, shape (n, dim // 64)
        Sign bits, row by row.
    mask : ndarray of uint64, shape (ceil(n / 64),)
        Admits every row.
    planes : list of ndarray of int8, shape (2, dim)
        One of each query.
    queries : ndarray of float32, shape (4, dim)
        The same queries as numbers: what the two planes say together.
    query_words : list of ndarray of uint64, shape (dim // 64,)
        Sign bits of the queries.
    """

    codes: np.ndarray
    words: np.ndarray
    mask: np.ndarray
    planes: list[np.ndarray]
    queries: np.ndarray
    query_words: list[np.ndarray]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def dim(self) -> int:
        """Coordinates of a row."""
        return self.codes.shape[1]

    @property
    def signs(self) -> np.ndarray:
        """Sign bits as the engine's scan reads them, laid out anew at every call."""
        return block_signs(self.words)


def coded_vectors(rows: int, dim: int) -> Coded:
    """Make random unit vectors and queries, the same at every call.

    Parameters
    ----------
    rows : int
        How many.
    dim : int
        A multiple of 64.
    """
    rng = np.random.default_rng(_SEED + dim)
    codes, words = np.empty((rows, dim), np.int8), np.empty((rows, dim // 64), np.uint64)
    for start in range(0, rows, _CHUNK):
        vectors = _unit(rng, min(_CHUNK, rows - start), dim)
        codes[start : start + _CHUNK] = quantize_rows(vectors)
        words[start : start + _CHUNK] = sign_words(vectors)
    return with_queries(codes, words, _unit(np.random.default_rng(_SEED - 1), QUERIES, dim))


def with_queries(codes: np.ndarray, words: np.ndarray, queries: np.ndarray) -> Coded:
    """Put coded rows together with queries, float32, shape (Q, dim)."""
    planes = [quantize_query(query)[0] for query in queries]
    joined = np.stack([128.0 * high + low for high, low in (p.astype(np.float32) for p in planes)])
    mask = pack_mask(np.ones(len(codes), bool))
    query_words = [query_sign_words(query) for query in queries]
    return Coded(codes, words, mask, planes, joined, query_words)


def _unit(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    vectors = rng.standard_normal((count, dim), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
