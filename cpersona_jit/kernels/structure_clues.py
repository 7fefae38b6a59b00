"""Clue terms: what the strong candidates of a group add to every candidate of it.

A session, a day, a speaker or a project in which rows answer well is a clue that its other rows
belong to the answer. A group is judged by its three best candidates, so its size says little.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel


def clue_terms(
    scores: np.ndarray, keys: np.ndarray, weights: np.ndarray, context: float
) -> np.ndarray:
    """Compute ``context * (weight * mean of the three best scores of the group)``.

    A clue under which all candidates are alike tells none from another, and has no term.

    Parameters
    ----------
    scores : float64 (P,)
        Fused score of each candidate.
    keys : int64 (K, P)
        Group of each candidate under each clue; negative without one, and then without a term.
    weights : float64 (K,)
        What a candidate gets of the mean of its group.
    context : float
        Context deficit (`structure_weights.context_deficit`).

    Returns
    -------
    float64 (K, P)
    """
    terms = np.zeros(keys.shape)
    if context == 0.0 or not keys.size:
        return terms
    for clue in np.flatnonzero(keys.min(axis=1) != keys.max(axis=1)).tolist():
        by_group = np.argsort(keys[clue], kind="stable")
        _fill_terms(scores, by_group, keys[clue], context, weights[clue], terms[clue])
    return terms


@kernel
def _fill_terms(scores, by_group, keys, context, weight, terms):
    """Terms of one clue; `by_group` orders the candidates so that a group's stand together."""
    first = 0
    while first < len(by_group):
        key = keys[by_group[first]]
        best, second, third = -np.inf, -np.inf, -np.inf
        end = first
        while end < len(by_group) and keys[by_group[end]] == key:
            score = scores[by_group[end]]
            if score > best:
                best, second, third = score, best, second
            elif score > second:
                second, third = score, second
            elif score > third:
                third = score
            end += 1
        if key >= 0:
            total = best
            if end - first > 1:
                total += second
            if end - first > 2:
                total += third
            term = context * (weight * (total / min(end - first, 3)))
            for i in range(first, end):
                terms[by_group[i]] = term
        first = end
