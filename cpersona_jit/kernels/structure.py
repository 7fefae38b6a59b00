"""Structure terms: what the rows beside a candidate, and its form, add to its fused score.

A short turn of a conversation is understood by its neighbours and its speaker. Each term is a
number that explains itself; the caller adds them. What a candidate shares with other candidates,
such as its session, is in `cpersona_jit.kernels.structure_clues`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cpersona_jit.kernels.structure_weights import StructureWeights

_kernel = njit(nogil=True, error_model="numpy", cache=True)


def structure_terms(
    fused: np.ndarray,
    candidates: np.ndarray,
    mask: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    is_question: np.ndarray,
    speaker_named: np.ndarray,
    context: float,
    weights: StructureWeights,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the three terms of every candidate.

    With F the fused score, c the context deficit, and s a row's strength
    ``max(F - weights.strong, 0)`` where the mask admits it, 0 elsewhere:

    neighbours ``c * (near * (s[i - 1] + s[i + 1]) + next_near * (s[i - 2] + s[i + 2]))``,
    question ``c * question`` if the row is one, speaker ``speaker`` if the query names it.

    Parameters
    ----------
    fused : float64 (n,)
        F of every admitted row (others are not read).
    candidates : int64 (P,)
        Distinct admitted rows.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.
    before, after : int64 (n,)
        Previous and next row of the row's session, -1 without one.
    is_question, speaker_named : bool (n,)
        Whether the row ends as a question; whether the query names its speaker.
    context : float
        Context deficit (`structure_weights.context_deficit`); 0 leaves the speaker term alone.
    weights : StructureWeights
        Weights of the terms.

    Returns
    -------
    neighbours, question, speaker : float64 (P,)
    """
    terms = np.zeros((3, len(candidates)))
    _fill_terms(
        fused,
        candidates,
        mask,
        before,
        after,
        is_question,
        speaker_named,
        float(context),
        weights,
        terms,
    )
    return terms[0], terms[1], terms[2]


@_kernel
def _fill_terms(
    fused,
    candidates,
    mask,
    before,
    after,
    is_question,
    speaker_named,
    context,
    weights,
    terms,
):
    for p in range(len(candidates)):
        row = candidates[p]
        if speaker_named[row]:
            terms[2, p] = weights.speaker
        if context == 0.0:
            continue
        one_before, one_after = before[row], after[row]
        near = _lent(fused, mask, one_before, weights.strong) + _lent(
            fused, mask, one_after, weights.strong
        )
        two_before, two_after = _step(before, one_before), _step(after, one_after)
        next_near = _lent(fused, mask, two_before, weights.strong) + _lent(
            fused, mask, two_after, weights.strong
        )
        terms[0, p] = context * (weights.near * near + weights.next_near * next_near)
        if is_question[row]:
            terms[1, p] = context * weights.question


@_kernel
def _step(neighbour, row):
    """The neighbour of a row that may be none."""
    return neighbour[row] if row >= 0 else row


@_kernel
def _lent(fused, mask, row, strong):
    """Strength that a neighbour lends; 0 if there is none or the mask does not admit it."""
    if row < 0 or (mask[row >> 6] >> np.uint64(row & 63)) & np.uint64(1) == 0:
        return 0.0
    return max(fused[row] - strong, 0.0)
