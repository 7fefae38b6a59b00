"""Gram overlap with NumPy alone; same results as `cpersona_jit.kernels.gram_overlap`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.kernels.scan_stats import GRAM_STAT_SHIFT, ScanStats
from cpersona_jit.kernels.topk_order import largest_keys, pack_keys


def overlap_top_k(
    index: GramIndex,
    lists: np.ndarray,
    weights: np.ndarray,
    factor: np.ndarray,
    mask: np.ndarray,
    k: int,
    counters: np.ndarray,
) -> tuple[np.ndarray, ScanStats]:
    """Best rows by weighted gram overlap; see the kernel of the same name."""
    overlap_all(index, lists, weights, mask, counters)
    rows = admitted_rows(mask)
    scores = overlap_scores(counters, factor, rows)
    steps = scores >> GRAM_STAT_SHIFT
    stats = ScanStats(len(rows), int(steps.sum()), int((steps * steps).sum()))

    matched = scores > 0
    return largest_keys(pack_keys(scores[matched], rows[matched]), k), stats


def overlap_all(
    index: GramIndex,
    lists: np.ndarray,
    weights: np.ndarray,
    mask: np.ndarray,
    counters: np.ndarray,
) -> None:
    """Fill the counters of every row; see the kernel of the same name."""
    counters[:] = 0
    for posting_list, weight in zip(lists, weights, strict=True):
        slot = index.dense_slot[posting_list]
        if slot >= 0:
            bits = _bits(index.bitmaps[slot])
            counters[: len(bits)] += bits * weight
        else:
            counters[index.rows[index.ptr[posting_list] : index.ptr[posting_list + 1]]] += weight


def overlap_scores(counters: np.ndarray, factor: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Scores of chosen rows, from the counters that `overlap_top_k` left behind.

    Parameters
    ----------
    counters : uint16 (64 * ceil(n / 64),)
        As filled by `overlap_top_k`; exact for every row that its mask admitted.
    factor : uint16 (n,)
        Length factor of each row.
    rows : int64 (R,)
        Rows to score.

    Returns
    -------
    int64 (R,)
    """
    return counters[rows].astype(np.int64) * factor[rows]


def _bits(words: np.ndarray) -> np.ndarray:
    """Bits of row words, as uint8 0 or 1, 64 to a word."""
    return np.unpackbits(words.astype("<u8", copy=False).view(np.uint8), bitorder="little")
