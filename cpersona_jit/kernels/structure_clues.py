"""Clue terms: what the strong candidates of a group add to every candidate of it.

A session, a day, a speaker or a project in which rows answer well is a clue that its other rows
belong to the answer. A group is judged by its three best candidates, so its size says little.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.gram_lists import HASH_MULTIPLIER


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
    if context != 0.0 and keys.size:
        _fill_terms(scores, keys, weights, float(context), terms)
    return terms


@kernel
def _fill_terms(scores, keys, weights, context, terms):
    candidates, bits = keys.shape[1], 1
    while (np.int64(1) << bits) < 2 * candidates:
        bits += 1
    table = np.empty(np.int64(1) << bits, np.int64)  # the group in each slot, -1 in empty ones
    group, sizes = np.empty(candidates, np.int64), np.empty(candidates, np.int64)
    best = np.empty((3, candidates))
    for clue in range(len(keys)):
        of_clue, own = keys[clue], terms[clue]
        if _all_alike(of_clue):
            continue
        groups = _group(of_clue, bits, table, group)
        _take_best(scores, group, groups, best, sizes)
        for p in range(candidates):
            g = group[p]
            if g >= 0:
                total = best[0, g]
                if sizes[g] > 1:
                    total += best[1, g]
                if sizes[g] > 2:
                    total += best[2, g]
                own[p] = context * (weights[clue] * (total / min(sizes[g], 3)))


@kernel_part
def _all_alike(keys):
    different = False
    for i in range(len(keys)):
        different |= keys[i] != keys[0]
    return not different


@kernel_part
def _group(keys, bits, table, group):
    """Number the groups in the order of their first candidates; return how many there are."""
    first, count = np.empty(len(keys), np.int64), 0
    last, shift = np.uint64(len(table) - 1), np.uint64(32 - bits)
    for slot in range(len(table)):
        table[slot] = -1
    for p in range(len(keys)):
        group[p] = -1
        if keys[p] < 0:
            continue
        hashed = np.uint64(keys[p]) * HASH_MULTIPLIER >> np.uint64(32)
        at = hashed >> shift
        while table[at] >= 0 and keys[first[table[at]]] != keys[p]:
            at = (at + np.uint64(1)) & last
        if table[at] < 0:
            table[at], first[count] = count, p
            count += 1
        group[p] = table[at]
    return count


@kernel_part
def _take_best(scores, group, groups, best, sizes):
    """Find the three best scores of each group, and its size."""
    for g in range(groups):
        sizes[g] = 0
        best[0, g] = best[1, g] = best[2, g] = -np.inf
    for p in range(len(scores)):
        g, score = group[p], scores[p]
        if g < 0:
            continue
        sizes[g] += 1
        if score > best[0, g]:
            best[0, g], best[1, g], best[2, g] = score, best[0, g], best[1, g]
        elif score > best[1, g]:
            best[1, g], best[2, g] = score, best[1, g]
        elif score > best[2, g]:
            best[2, g] = score
