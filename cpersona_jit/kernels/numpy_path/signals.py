"""Signals of calibrated fusion with NumPy alone; same results as `cpersona_jit.kernels.signals`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.numpy_path.gram_overlap import overlap_scores
from cpersona_jit.kernels.row_mask import admitted_rows, pack_mask

# Rows whose products float64 adds up without rounding: 2**11 products of at most 2**42.
CHUNK_ROWS = 2048
# Which of dense, 3-grams and 4-grams each signal of a row that is its own one block is.
_AS_WHOLE = [0, 0, 1, 2, 1, 2]


def best_of_blocks(
    block_ptr: np.ndarray,
    block_scores: np.ndarray,
    block_mask: np.ndarray,
    own: np.ndarray,
    out: np.ndarray,
) -> None:
    """Score each parted row by its best block; see the kernel of the same name."""
    out[:] = own
    blocks = admitted_rows(block_mask)
    if len(blocks):
        rows = np.searchsorted(block_ptr, blocks, side="right") - 1
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        out[rows[starts]] = np.maximum.reduceat(block_scores[blocks].astype(np.int64), starts)


def best_gram_blocks(
    block_ptr: np.ndarray,
    counters: np.ndarray,
    factor: np.ndarray,
    block_mask: np.ndarray,
    rows: np.ndarray,
    of_rows: np.ndarray,
    own: np.ndarray,
    out: np.ndarray,
) -> None:
    """Score parted rows and their best blocks by grams; see the kernel of the same name."""
    scores = np.empty(len(factor), np.uint32)
    gram_scores(counters, factor, block_mask, scores)
    own[:] = of_rows[rows]
    best_of_blocks(block_ptr, scores, block_mask, own, out)


def blend_best_blocks(
    block_ptr: np.ndarray,
    block_scores: np.ndarray,
    block_mask: np.ndarray,
    rows: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Blend parted rows with their best blocks; see the kernel of the same name."""
    own = scores[rows].astype(np.int64)
    best = np.empty_like(own)
    best_of_blocks(block_ptr, block_scores, block_mask, own, best)
    scores[rows] = (own + best) >> 1


def scope_moments(
    dense: np.ndarray,
    gram3: np.ndarray,
    gram4: np.ndarray,
    parted_values: np.ndarray,
    shifts: np.ndarray,
    alone: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Exact moments of the signals of a scope; see the kernel of the same name."""
    whole = np.array([dense, gram3, gram4], np.int64)
    _, of_whole, with_whole = signal_moments(whole, shifts[[0, 2, 3]], alone)
    everyone = pack_mask(np.ones(parted_values.shape[1], bool))
    _, sums, products = signal_moments(parted_values, shifts, everyone)
    sums[:-1] += of_whole[_AS_WHOLE]
    products[:-1, :-1] += with_whole[np.ix_(_AS_WHOLE, _AS_WHOLE)]
    return sums, products


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
