"""Scores by the query's vector with NumPy alone; same as `cpersona_jit.kernels.vector_score`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.numpy_path.calibration import DENSE_BLOCK, DENSE_ROW
from cpersona_jit.kernels.numpy_path.evidence import signals_at
from cpersona_jit.kernels.numpy_path.int8_scan import dense_all
from cpersona_jit.kernels.numpy_path.sign_scan import planes_all
from cpersona_jit.kernels.numpy_path.signals import (
    best_of_blocks,
    blend_best_blocks,
    signal_moments,
)
from cpersona_jit.kernels.row_mask import has_rows, pack_mask
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, ScanStats


def score_vectors(
    codes: np.ndarray,
    planes: np.ndarray,
    mask: np.ndarray,
    block_codes: np.ndarray,
    block_mask: np.ndarray,
    block_ptr: np.ndarray,
    parted: np.ndarray,
    dense: np.ndarray,
    own: np.ndarray,
    best: np.ndarray,
) -> ScanStats:
    """Score rows and the best blocks of parted ones; see the kernel of the same name."""
    stats = dense_all(codes, planes, mask, dense)
    of_blocks = np.empty(len(block_codes), np.int32)
    dense_all(block_codes, planes, block_mask, of_blocks)
    own[:] = dense[parted]
    best_of_blocks(block_ptr, of_blocks, block_mask, own, best)
    return stats


def estimate_rows(
    signs: np.ndarray,
    query_planes: np.ndarray,
    n: int,
    mask: np.ndarray,
    block_signs: np.ndarray,
    nb: int,
    block_mask: np.ndarray,
    block_ptr: np.ndarray,
    parted: np.ndarray,
) -> np.ndarray:
    """Score rows roughly, by their signs; see the kernel of the same name."""
    of_rows = np.empty(64 * len(mask), np.int32)
    planes_all(signs, query_planes, n, mask, of_rows)
    of_blocks = np.empty(64 * len(block_mask), np.int32)
    planes_all(block_signs, query_planes, nb, block_mask, of_blocks)
    blend_best_blocks(block_ptr, of_blocks, block_mask, parted, of_rows)
    return of_rows


def sample_moments(
    arrays: tuple[np.ndarray, ...],
    rows: np.ndarray,
    planes: np.ndarray,
    codes: np.ndarray,
    seen: np.ndarray,
    block_codes: np.ndarray,
    block_mask: np.ndarray,
    block_ptr: np.ndarray,
    shifts: np.ndarray,
    means: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Exact moments of the signals of a sample; see the kernel of the same name."""
    values = signals_at(*arrays, rows)
    own, best = values[DENSE_ROW], values[DENSE_BLOCK]
    scores, of_blocks = np.empty(len(rows), np.int32), np.empty(len(block_codes), np.int32)
    stats = dense_all(codes, planes, seen, scores)
    dense_all(block_codes, planes, block_mask, of_blocks)
    own[:] = scores
    best_of_blocks(block_ptr, of_blocks, block_mask, own, best)
    if stats.count:
        known = has_rows(seen, np.arange(len(rows)))
        means[0] = round(stats.mean(DENSE_STAT_SHIFT))
        means[1] = round(int(best[known].sum()) / stats.count)
        own[~known], best[~known] = means
    _, sums, products = signal_moments(values, shifts, pack_mask(np.ones(len(rows), bool)))
    return sums, products
