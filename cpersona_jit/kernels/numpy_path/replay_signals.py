"""Batch replay of signals with NumPy alone; same ranks as `cpersona_jit.kernels.replay_signals`.

Vectorised over the settings, one query at a time.
"""

from __future__ import annotations

import numpy as np


def replay_signals(
    offsets: np.ndarray,
    signals: np.ndarray,
    rows: np.ndarray,
    gold_ptr: np.ndarray,
    gold: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    depth: np.ndarray,
) -> np.ndarray:
    """Rank every relevant row under every setting; see the kernel of the same name."""
    gold_ranks = np.zeros((len(depth), len(gold)), np.int32)
    for query in range(len(offsets) - 1):
        own = np.arange(gold_ptr[query], gold_ptr[query + 1])
        own = own[gold[own] >= 0]
        pool = slice(offsets[query], offsets[query + 1])
        *lists, fused = (
            _linear(signals[:, pool], weights[:, query, i], bias[:, query, i])
            for i in range(weights.shape[2])
        )
        near = np.zeros(fused.shape, np.bool_)
        by_row = np.argsort(rows[pool])
        for i, scores in enumerate(lists):
            order = by_row[np.argsort(-scores[:, by_row], axis=1, kind="stable")]
            place = np.argsort(order, axis=1)
            ranks_any = weights[:, query, i].any(axis=1)
            near |= (place < depth[:, None]) & ranks_any[:, None]
        fused[~near] = -np.inf
        for g in own:
            target = fused[:, gold[g], None]
            ahead = (fused > target).sum(axis=1)
            ahead += (fused[:, : gold[g]] == target).sum(axis=1)
            gold_ranks[:, g] = np.where(near[:, gold[g]], ahead + 1, 0)
    return gold_ranks


def _linear(signals: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Sums of every setting (S, rows), with the operations and the order of the kernel."""
    total = np.repeat(bias[:, None], signals.shape[1], axis=1)
    for signal, weight in zip(signals, weights.T, strict=True):
        total += weight[:, None] * signal
    return total
