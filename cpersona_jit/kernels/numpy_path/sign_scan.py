"""The sign-bit scans without Numba, with the same integers as the kernels."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.numpy_path.int8_scan import dense_scores
from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.kernels.topk_order import largest_keys, pack_keys, unpack_keys

# Blocks of eight rows looked at together, which bounds the temporary arrays.
CHUNK_BLOCKS = 8192

PLANE_WEIGHTS = (1, 2, 4, -8)


def hamming_top_k(
    signs: np.ndarray, query_words: np.ndarray, n: int, mask: np.ndarray, k: int
) -> np.ndarray:
    """Find the rows of the smallest distance; see ``kernels.sign_scan.hamming_top_k``."""
    scores = np.empty(signs.shape[0] * 8, np.int64)
    for start in range(0, signs.shape[0], CHUNK_BLOCKS):
        blocks = signs[start : start + CHUNK_BLOCKS]
        distances = _ones(blocks ^ query_words[:, np.newaxis])
        scores[start * 8 : (start + CHUNK_BLOCKS) * 8] = -distances
    return _best_admitted(scores, n, mask, k)


def planes_top_k(
    signs: np.ndarray, query_planes: np.ndarray, n: int, mask: np.ndarray, k: int
) -> np.ndarray:
    """Find the rows that agree most with the query; see ``kernels.sign_scan.planes_top_k``."""
    scores = np.zeros(signs.shape[0] * 8, np.int64)
    planes_all(signs, query_planes, n, mask, scores)
    return _best_admitted(scores, n, mask, k)


def planes_all(
    signs: np.ndarray, query_planes: np.ndarray, n: int, mask: np.ndarray, out: np.ndarray
) -> None:
    """Score every row by its signs; see ``kernels.sign_scan.planes_all``."""
    out.fill(0)
    for start in range(0, signs.shape[0], CHUNK_BLOCKS):
        blocks = signs[start : start + CHUNK_BLOCKS]
        chunk = slice(start * 8, (start + len(blocks)) * 8)
        for weight, plane in zip(PLANE_WEIGHTS, query_planes, strict=True):
            out[chunk] += (weight * _ones(blocks & plane[:, np.newaxis])).astype(out.dtype)


def best_estimates(scores: np.ndarray, mask: np.ndarray, k: int) -> np.ndarray:
    """Find the rows of the largest score; see ``kernels.sign_scan.best_estimates``."""
    rows = admitted_rows(mask)
    keys = largest_keys(pack_keys(scores[rows].astype(np.int64), rows), k)
    return np.sort(unpack_keys(keys)[0])


def two_phase_top_k(
    signs: np.ndarray,
    query_planes: np.ndarray,
    codes: np.ndarray,
    planes: np.ndarray,
    mask: np.ndarray,
    shortlist: int,
    k: int,
) -> np.ndarray:
    """Rescore a shortlist of the sign scan; see ``kernels.sign_scan.two_phase_top_k``."""
    kept = planes_top_k(signs, query_planes, codes.shape[0], mask, shortlist)
    rows = np.sort(unpack_keys(kept)[0])
    return largest_keys(pack_keys(dense_scores(codes, planes, rows), rows), k)


def _ones(blocks: np.ndarray) -> np.ndarray:
    """Count the set bits of every row of some blocks: (b, W, 8) -> int64 (b * 8,)."""
    return np.bitwise_count(blocks).sum(axis=1, dtype=np.int64).reshape(-1)


def _best_admitted(scores: np.ndarray, n: int, mask: np.ndarray, k: int) -> np.ndarray:
    rows = admitted_rows(mask)
    rows = rows[rows < n]
    return largest_keys(pack_keys(scores[rows], rows), k)
