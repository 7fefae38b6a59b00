"""Structure terms: what the rows beside a candidate, and its form, add to its fused score.

A short turn of a conversation is understood by its neighbours and its speaker. Each term is a
number that explains itself; the caller adds them. What a candidate shares with other candidates,
such as its session, is in `cpersona_jit.kernels.structure_clues`.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.structure_weights import StructureWeights


def neighbour_rows(
    before: np.ndarray, after: np.ndarray, mask: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Find the rows beside some rows of their sessions.

    Parameters
    ----------
    before, after : int64 (n,)
        Previous and next row of the row's session, -1 without one.
    mask : uint64 (ceil(n / 64),)
        Admitted rows.
    rows : int64 (P,)
        Rows in any order.

    Returns
    -------
    int64 (4, P)
        The row one place before, one after, two before and two after; -1 where there is none or
        the mask does not admit it.
    """
    out = np.empty((4, len(rows)), np.int64)
    fill_neighbours(before, after, mask, rows, out)
    return out


def structure_terms(
    near_fused: np.ndarray,
    is_question: np.ndarray,
    speaker_named: np.ndarray,
    context: float,
    weights: StructureWeights,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the three terms of every candidate.

    With F the fused score of a neighbour, c the context deficit, and ``max(F - strong, 0)`` its
    strength s:

    neighbours ``c * (near * (s[i - 1] + s[i + 1]) + next_near * (s[i - 2] + s[i + 2]))``,
    question ``c * question`` if the row is one, speaker ``speaker`` if the query names it.

    Parameters
    ----------
    near_fused : float64 (4, P)
        F of the rows of `neighbour_rows`, -inf where there is none.
    is_question, speaker_named : bool (P,)
        Whether the candidate ends as a question; whether the query names its speaker.
    context : float
        Context deficit (`structure_weights.context_deficit`); 0 leaves the speaker term alone.
    weights : StructureWeights
        Weights of the terms.

    Returns
    -------
    neighbours, question, speaker : float64 (P,)
    """
    terms = np.zeros((3, len(is_question)))
    _fill_terms(near_fused, is_question, speaker_named, float(context), weights, terms)
    return terms[0], terms[1], terms[2]


@kernel
def fill_neighbours(before, after, mask, rows, out):
    for p in range(len(rows)):
        one_before, one_after = before[rows[p]], after[rows[p]]
        out[0, p], out[1, p] = _admitted(mask, one_before), _admitted(mask, one_after)
        out[2, p] = _admitted(mask, before[one_before] if one_before >= 0 else -1)
        out[3, p] = _admitted(mask, after[one_after] if one_after >= 0 else -1)


@kernel_part
def _admitted(mask, row):
    """The row, or -1 if it is none or the mask does not admit it."""
    if row < 0 or (mask[row >> 6] >> np.uint64(row & 63)) & np.uint64(1) == 0:
        return np.int64(-1)
    return np.int64(row)


@kernel
def _fill_terms(near_fused, is_question, speaker_named, context, weights, terms):
    strong = weights.strong
    for p in range(len(is_question)):
        if speaker_named[p]:
            terms[2, p] = weights.speaker
        if context == 0.0:
            continue
        near = max(near_fused[0, p] - strong, 0.0) + max(near_fused[1, p] - strong, 0.0)
        next_near = max(near_fused[2, p] - strong, 0.0) + max(near_fused[3, p] - strong, 0.0)
        terms[0, p] = context * (weights.near * near + weights.next_near * next_near)
        if is_question[p]:
            terms[1, p] = context * weights.question
