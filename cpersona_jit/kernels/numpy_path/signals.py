"""Signals of calibrated fusion with NumPy alone; same results as `cpersona_jit.kernels.signals`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.numpy_path.gram_overlap import overlap_scores
from cpersona_jit.kernels.row_mask import admitted_rows

# Rows whose products float64 adds up without rounding: 2**11 products of at most 2**42.
CHUNK_ROWS = 2048


def best_of_blocks(
    block_row: np.ndarray,
    block_scores: np.ndarray,
    block_mask: np.ndarray,
    row_scores: np.ndarray,
    out: np.ndarray,
) -> None:
    """Score each row by its best block; see the kernel of the same name."""
    out[:] = row_scores
    blocks = admitted_rows(block_mask)
    if len(blocks):
        rows = block_row[blocks]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        out[rows[starts]] = np.maximum.reduceat(block_scores[blocks], starts)


def gram_scores(
    counters: np.ndarray, factor: np.ndarray, mask: np.ndarray, out: np.ndarray
) -> None:
    """Turn overlap counters into scores; see the kernel of the same name."""
    rows = admitted_rows(mask)
    out.fill(0)
    out[rows] = overlap_scores(counters, factor, rows)


def signal_moments(
    signals: np.ndarray, shifts: np.ndarray, mask: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """Exact first and second moments of the signals; see the kernel of the same name."""
    rows = admitted_rows(mask)
    arms = len(signals)
    sums, products = np.zeros(arms, np.int64), np.zeros((arms, arms), np.int64)
    for start in range(0, len(rows), CHUNK_ROWS):
        steps = signals[:, rows[start : start + CHUNK_ROWS]] >> shifts[:, None]
        sums += steps.sum(axis=1)
        exact = steps.astype(np.float64)
        products += (exact @ exact.T).astype(np.int64)
    return len(rows), sums, products


def linear_scores(
    signals: np.ndarray, weights: np.ndarray, bias: float, mask: np.ndarray, out: np.ndarray
) -> None:
    """Weighted sum of the signals; see the kernel of the same name."""
    rows = admitted_rows(mask)
    total = np.full(len(rows), bias, np.float64)
    for signal, weight in zip(signals, weights, strict=True):
        total += weight * signal[rows]
    out.fill(-np.inf)
    out[rows] = total


def top_rows(scores: np.ndarray, k: int) -> np.ndarray:
    """Find the best rows of a score; see the kernel of the same name."""
    rows = np.flatnonzero(scores > -np.inf) if k > 0 else np.empty(0, np.int64)
    if 0 < k < len(rows):
        found = scores[rows]
        limit = np.partition(found, len(rows) - k)[len(rows) - k]
        above, level = np.flatnonzero(found > limit), np.flatnonzero(found == limit)
        rows = rows[np.sort(np.concatenate((above, level[: k - len(above)])))]
    return rows[np.argsort(-scores[rows], kind="stable")]
