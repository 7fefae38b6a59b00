"""Structure terms with NumPy alone; same bytes as `cpersona_jit.kernels.structure`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.kernels.structure_weights import StructureWeights


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
    """Terms that the rows beside a candidate add to its score; see the kernel of the same name."""
    speaker = np.where(speaker_named[candidates], weights.speaker, 0.0)
    if context == 0.0:
        return *np.zeros((2, len(candidates))), speaker
    # One more place, which is what -1 (no neighbour) leads to: it lends nothing, and leads there.
    lent = np.zeros(len(fused) + 1)
    admitted = admitted_rows(mask)
    lent[admitted] = np.maximum(fused[admitted] - weights.strong, 0.0)
    near, next_near = 0.0, 0.0
    for neighbour in (before, after):
        one_away = np.append(neighbour, -1)[candidates]
        two_away = np.append(neighbour, -1)[one_away]
        near = near + lent[one_away]
        next_near = next_near + lent[two_away]
    neighbours = context * (weights.near * near + weights.next_near * next_near)
    question = np.where(is_question[candidates], context * weights.question, 0.0)
    return neighbours, question, speaker
