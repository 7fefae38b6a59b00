"""Batch replay with NumPy alone; same ranks as `cpersona_jit.kernels.replay`.

Vectorised over all queries at once, one setting at a time; it also sorts nothing. It is what the
kernel's speed is compared with.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.numpy_path.fusion import reciprocal_ranks


def replay_numpy(
    offsets: np.ndarray,
    scores: np.ndarray,
    ranks: np.ndarray,
    gold_ptr: np.ndarray,
    gold: np.ndarray,
    kind: np.ndarray,
    weights: np.ndarray,
    rrf_k: np.ndarray,
    depth: np.ndarray,
) -> np.ndarray:
    """Rank every relevant row under every setting; see `kernels.replay.replay_gold_ranks`."""
    gold_ranks = np.zeros((len(kind), len(gold)), np.int32)
    pooled = np.flatnonzero(gold >= 0)
    if not len(pooled):
        return gold_ranks
    gold_rows, rivals, starts, lengths, earlier = _pairs(offsets, gold_ptr, gold, pooled)
    for s in range(len(kind)):
        within = np.where(ranks <= depth[s], ranks, 0)
        fused = np.zeros(scores.shape[1])
        for arm in np.flatnonzero(weights[s]):
            votes = reciprocal_ranks(within[arm], rrf_k[s]) if kind[s] == 0 else scores[arm]
            fused += weights[s, arm] * votes
        fused[~(within[weights[s] > 0] > 0).any(axis=0)] = -np.inf
        own = fused[gold_rows]
        rival, target = fused[rivals], np.repeat(own, lengths)
        ahead = (rival > target) | ((rival == target) & earlier)
        found = np.add.reduceat(ahead, starts, dtype=np.int32) + 1
        gold_ranks[s, pooled] = np.where(np.isneginf(own), 0, found)
    return gold_ranks


def _pairs(
    offsets: np.ndarray, gold_ptr: np.ndarray, gold: np.ndarray, pooled: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Every (relevant row, row of the same query) pair, flat.

    Returns the row of each relevant row, the other row of each pair, where a relevant row's pairs
    start and how many it has, and whether the other row stands earlier.
    """
    query = np.repeat(np.arange(len(gold_ptr) - 1), np.diff(gold_ptr))[pooled]
    gold_rows = offsets[query] + gold[pooled]
    lengths = (offsets[1:] - offsets[:-1])[query]
    starts = np.cumsum(lengths) - lengths
    rivals = np.arange(lengths.sum()) + np.repeat(offsets[query] - starts, lengths)
    return gold_rows, rivals, starts, lengths, rivals < np.repeat(gold_rows, lengths)
