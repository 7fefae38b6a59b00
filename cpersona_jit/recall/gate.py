"""The gate: removes candidates whose evidence is that of a row picked at random.

The null distribution is the scope itself: evidence is in deviations of its rows. A row that one
kind of evidence finds alone, such as an exact identifier, stands out in that kind, so the strongest
of the evidence is judged.
"""

from __future__ import annotations

import math

import numpy as np

# When r of n rows answer equally well and no other answers at all, those r stand
# sqrt((n - r) / r) deviations above the mean, and no evidence lifts all of them higher. A gate
# acts where this many answers could pass it together; in a smaller scope it would remove rows
# for the scope's size and not for what they say.
ANSWERS = 4


def least_rows(gate: float) -> int:
    """Return the size of the smallest scope in which a gate acts."""
    return math.ceil(ANSWERS * (1.0 + max(gate, 0.0) ** 2))


def gated_rows(
    evidence: np.ndarray, forms: np.ndarray, gate: float | None, admitted: int
) -> np.ndarray:
    """Return which candidates a gate removes, bool, shape (P,).

    Parameters
    ----------
    evidence : ndarray of float64, shape (3, P)
        Dense, gram and fused evidence of each candidate.
    forms : ndarray of float64, shape (3, 7)
        Weights of the signals in them. Rows that all show the same have no distribution, the
        weights are then 0, and nothing is known against any of them.
    gate : float or None
        Evidence that a row needs; None removes none.
    admitted : int
        Rows of the scope.
    """
    if gate is None or admitted < least_rows(gate) or not forms[-1].any():
        return np.zeros(evidence.shape[1], bool)
    return evidence.max(axis=0) < gate
