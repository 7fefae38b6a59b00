"""Scores by the grams of a query with NumPy alone; same as `cpersona_jit.kernels.gram_score`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.numpy_path.gram_find import FoundGrams
from cpersona_jit.kernels.numpy_path.gram_overlap import overlap_all
from cpersona_jit.kernels.numpy_path.gram_tail import TailMatches, add_tail
from cpersona_jit.kernels.numpy_path.signals import best_gram_blocks, gram_scores


def score_grams(
    found: FoundGrams,
    weights: np.ndarray,
    index: GramIndex,
    factor: np.ndarray,
    mask: np.ndarray,
    block_index: GramIndex,
    block_factor: np.ndarray,
    block_mask: np.ndarray,
    block_ptr: np.ndarray,
    parted: np.ndarray,
    of_rows: np.ndarray,
    own: np.ndarray,
    best: np.ndarray,
) -> None:
    """Score rows and the best blocks of parted ones; see the kernel of the same name."""
    counters = _counters(index, found.lists, weights, found.tail, mask)
    gram_scores(counters, factor, mask, of_rows)
    counters = _counters(block_index, found.block_lists, weights, found.block_tail, block_mask)
    best_gram_blocks(block_ptr, counters, block_factor, block_mask, parted, of_rows, own, best)


def _counters(
    index: GramIndex,
    lists: np.ndarray,
    weights: np.ndarray,
    tail: TailMatches,
    mask: np.ndarray,
) -> np.ndarray:
    counters = np.empty(64 * len(mask), np.uint16)
    used = (lists >= 0) & (weights > 0)
    overlap_all(index, lists[used], weights[used], mask, counters)
    add_tail(tail, weights, counters)
    return counters
