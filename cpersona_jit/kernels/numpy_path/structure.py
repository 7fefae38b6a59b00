"""Structure terms with NumPy alone; same bytes as `cpersona_jit.kernels.structure`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.row_mask import has_rows
from cpersona_jit.kernels.structure_weights import StructureWeights


def neighbour_rows(
    before: np.ndarray, after: np.ndarray, mask: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Rows beside some rows; see the kernel of the same name."""
    found = np.empty((4, len(rows)), np.int64)
    for side, neighbour in enumerate((before, after)):
        # One more place, which is what -1 (no neighbour) leads to, and leads there again.
        leads = np.append(neighbour, -1)
        found[side] = leads[rows]
        found[2 + side] = leads[found[side]]
    there = found >= 0
    found[there] = np.where(has_rows(mask, found[there]), found[there], -1)
    return found


def structure_terms(
    near_fused: np.ndarray,
    is_question: np.ndarray,
    speaker_named: np.ndarray,
    context: float,
    weights: StructureWeights,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms that the rows beside a candidate add to its score; see the kernel of the same name."""
    speaker = np.where(speaker_named, weights.speaker, 0.0)
    if context == 0.0:
        return *np.zeros((2, len(is_question))), speaker
    lent = np.maximum(near_fused - weights.strong, 0.0)
    near, next_near = lent[0] + lent[1], lent[2] + lent[3]
    neighbours = context * (weights.near * near + weights.next_near * next_near)
    return neighbours, np.where(is_question, context * weights.question, 0.0), speaker
