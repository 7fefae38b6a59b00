"""Fusion with NumPy alone; same bytes as `cpersona_jit.kernels.fusion`.

Each array operation below is one operation of the kernel's inner loop, in the kernel's order.
"""

from __future__ import annotations

import numpy as np


def rrf_scores(
    ranks: np.ndarray, weights: np.ndarray, rrf_k: float, prior: np.ndarray
) -> np.ndarray:
    """Reciprocal rank fusion; see the kernel of the same name."""
    fused = np.zeros(ranks.shape[1])
    for arm, weight in enumerate(weights):
        votes = weight * reciprocal_ranks(ranks[arm], rrf_k) * prior
        fused += votes
    fused[prior == 0.0] = -np.inf
    return fused


def score_fusion(
    z_scores: np.ndarray,
    weights: np.ndarray,
    prior: np.ndarray,
    prior_weight: float,
) -> np.ndarray:
    """Calibrated score fusion; see the kernel of the same name."""
    fused = np.zeros(z_scores.shape[1])
    for arm, weight in enumerate(weights):
        fused += weight * z_scores[arm]
    fused += prior_weight * (prior - 1.0)
    fused[prior == 0.0] = -np.inf
    return fused


def reciprocal_ranks(ranks: np.ndarray, rrf_k: float) -> np.ndarray:
    """1 / (rrf_k + rank), and 0 where the rank is 0 (absent)."""
    present = ranks > 0
    return np.divide(1.0, rrf_k + ranks, out=np.zeros(len(ranks)), where=present)
