"""Fusion of several arms' ranks or scores over one candidate pool.

Every sum runs over the arms in their given order, in float64 and without reassociation, so that a
replayed setting and a live recall give the same bytes.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel


def rrf_scores(
    ranks: np.ndarray, weights: np.ndarray, rrf_k: float, prior: np.ndarray
) -> np.ndarray:
    """Reciprocal rank fusion: sum over arms of weight / (rrf_k + rank), each vote times the prior.

    Parameters
    ----------
    ranks : int32 (A, P)
        1-based rank of each candidate in each arm; 0 where the arm did not return it.
    weights : float64 (A,)
        Weight of each arm.
    rrf_k : float
        Rank constant.
    prior : float64 (P,)
        p(row) of each candidate; 0 removes it.

    Returns
    -------
    float64 (P,)
        -inf for a removed candidate.
    """
    fused = np.empty(ranks.shape[1])
    _add_votes(ranks, weights, float(rrf_k), prior, fused)
    return fused


def score_fusion(
    z_scores: np.ndarray,
    weights: np.ndarray,
    prior: np.ndarray,
    prior_weight: float,
) -> np.ndarray:
    """Calibrated score fusion: the weighted sum of z-scores, plus prior_weight * (prior - 1).

    Parameters
    ----------
    z_scores : float64 (A, P)
        Every candidate's score in every arm, standardised over the rows that the arm could score;
        0 where it could not.
    weights : float64 (A,)
        Weight of each arm.
    prior : float64 (P,)
        p(row) of each candidate; 0 removes it.
    prior_weight : float
        Score that a prior of 0 would cost. The prior is added, since a z-score may be negative.

    Returns
    -------
    float64 (P,)
        -inf for a removed candidate.
    """
    fused = np.empty(z_scores.shape[1])
    _add_z_scores(z_scores, weights, prior, float(prior_weight), fused)
    return fused


@kernel
def _add_votes(ranks, weights, rrf_k, prior, fused):
    for p in range(len(prior)):
        total = 0.0
        for arm in range(len(weights)):
            rank = ranks[arm, p]
            if rank > 0:
                total += weights[arm] * (1.0 / (rrf_k + rank)) * prior[p]
        fused[p] = total if prior[p] != 0.0 else -np.inf


@kernel
def _add_z_scores(z_scores, weights, prior, prior_weight, fused):
    for p in range(len(prior)):
        total = 0.0
        for arm in range(len(weights)):
            total += weights[arm] * z_scores[arm, p]
        total += prior_weight * (prior[p] - 1.0)
        fused[p] = total if prior[p] != 0.0 else -np.inf
