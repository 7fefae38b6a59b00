"""Fusion of a candidate pool into one score per candidate, and the order that follows."""

from __future__ import annotations

import numpy as np

from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.pool import Pool
from cpersona_jit.recall.settings import FusionSpec

PRIOR_WEIGHT = 1.0  # has no effect while every prior is 1


def fuse(pool: Pool, fusion: FusionSpec, prior: np.ndarray, kernels: KernelSet) -> np.ndarray:
    """Return the fused score of each candidate.

    Parameters
    ----------
    pool : Pool
        P candidates of A arms.
    fusion : FusionSpec
        Kind and weights.
    prior : ndarray of float64, shape (P,)
        The row weight p(row) of each candidate; 1 leaves it alone, 0 removes it.
    kernels : KernelSet
        The kernels to call.

    Returns
    -------
    ndarray of float64, shape (P,)
        ``-inf`` for a candidate that the prior removed.
    """
    weights = np.array([fusion.weights[arm.spec.name] for arm in pool.arms], np.float64)
    if fusion.kind == "rrf":
        return kernels.rrf_scores(pool.ranks, weights, fusion.rrf_k, prior)
    return kernels.score_fusion(pool.z, weights, prior, PRIOR_WEIGHT)


def order(fused: np.ndarray) -> np.ndarray:
    """Return candidate positions, best first.

    The total order is: score descending, then event time descending with undated rows last, then
    id ascending. The pool already lies in the order of the last two, so a stable sort by score is
    all it takes.

    Parameters
    ----------
    fused : ndarray of float64, shape (P,)
        Scores; ``-inf`` is left out.

    Returns
    -------
    ndarray of int64
    """
    best_first = np.argsort(-fused, kind="stable")
    return best_first[: np.count_nonzero(fused > -np.inf)]
