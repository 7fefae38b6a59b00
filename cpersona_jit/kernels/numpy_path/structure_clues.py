"""Clue terms with NumPy alone; same bytes as `cpersona_jit.kernels.structure_clues`."""

from __future__ import annotations

import numpy as np


def clue_terms(
    scores: np.ndarray, keys: np.ndarray, weights: np.ndarray, context: float
) -> np.ndarray:
    """Terms that the strong candidates of a group add; see the kernel of the same name."""
    terms = np.zeros(keys.shape)
    if context == 0.0 or not keys.size:
        return terms
    for clue in np.flatnonzero(keys.min(axis=1) != keys.max(axis=1)).tolist():
        terms[clue] = context * (weights[clue] * _group_means(scores, keys[clue]))
        terms[clue, keys[clue] < 0] = 0.0
    return terms


def _group_means(scores: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Mean of the three best scores of each one's group, added best first."""
    order = np.lexsort((-scores, keys))
    starts = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0))
    sizes = np.diff(starts, append=len(order))
    totals = np.zeros(len(starts))
    for place in range(3):
        long_enough = sizes > place
        totals[long_enough] += scores[order[starts[long_enough] + place]]
    means = np.empty(len(scores))
    means[order] = np.repeat(totals / np.minimum(sizes, 3), sizes)
    return means
