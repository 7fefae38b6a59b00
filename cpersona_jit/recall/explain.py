"""Why a row stands where it stands: contributions that add up to its score."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.numpy_path.calibration import (
    DENSE_BLOCK,
    DENSE_ROW,
    GRAM3_BLOCK,
    GRAM3_ROW,
    GRAM4_BLOCK,
    GRAM4_ROW,
    LN_BLOCKS,
)
from cpersona_jit.recall.evidence import FUSED
from cpersona_jit.recall.pool import Pool
from cpersona_jit.recall.process import Process
from cpersona_jit.recall.settings import FusionSpec

# Which signals each named contribution sums; together they are all seven.
SIGNAL_GROUPS = {
    "dense": (DENSE_ROW, DENSE_BLOCK),
    "gram3": (GRAM3_ROW, GRAM3_BLOCK),
    "gram4": (GRAM4_ROW, GRAM4_BLOCK),
    "blocks": (LN_BLOCKS,),
}


def process_contributions(state: Process) -> dict[str, np.ndarray]:
    """Return what each signal, revision and prior adds to each candidate's score.

    Returns
    -------
    dict of str to ndarray of float64, shape (P,)
        ``dense``, ``gram3``, ``gram4``, ``blocks`` (the price of having many blocks), then the
        terms of the revisions and the period. They add up to the score within rounding.
    """
    weights, mean = state.forms[FUSED], state.signals.mean
    signals = state.signals.of(state.rows)
    found: dict[str, np.ndarray] = {}
    for name, members in SIGNAL_GROUPS.items():
        total = np.zeros(state.rows.size)
        for signal in members:
            if weights[signal] != 0.0:
                total += weights[signal] * (signals[signal] - mean[signal])
        found[name] = total
    return {**found, **state.terms}


def pool_contributions(pool: Pool, fusion: FusionSpec) -> dict[str, np.ndarray]:
    """Return what each arm adds to each candidate's score under rank or score fusion.

    Returns
    -------
    dict of str to ndarray of float64, shape (P,)
        One entry per arm, for a prior of 1. They add up to the score within rounding.
    """
    found: dict[str, np.ndarray] = {}
    for a, arm in enumerate(pool.arms):
        weight = fusion.weights[arm.spec.name]
        if fusion.kind == "score":
            found[arm.spec.name] = weight * pool.z[a]
        else:
            votes = np.zeros(pool.rows.size)
            listed = pool.ranks[a] > 0
            votes[listed] = weight / (fusion.rrf_k + pool.ranks[a, listed])
            found[arm.spec.name] = votes
    return found
