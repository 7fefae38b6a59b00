"""The revision: weigh the pool again by what its strong rows hand over.

Neighbours lend their strength; session, day, speaker and project become clues. It looks at the
pool and its neighbours by index and calls no arm. Without sessions, dates and names it adds
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import ScopeStatistics
from cpersona_jit.kernels.structure_weights import context_deficit
from cpersona_jit.recall.adaptive_settings import Structure
from cpersona_jit.recall.kernel_set import KernelSet


class Surroundings(NamedTuple):
    """What is known of P candidates apart from their own evidence."""

    near_fused: np.ndarray  # float64 (4, P), of the rows beside them, -inf where there is none
    is_question: np.ndarray  # bool (P,)
    speaker_named: np.ndarray  # bool (P,), by the query
    keys: np.ndarray  # int64 (K, P), groups under the clues of the structure, in their order
    statistics: ScopeStatistics


def context_of(statistics: ScopeStatistics, structure: Structure) -> float:
    """Return how much the rows of a scope need their context, 0 to 1."""
    return context_deficit(
        statistics.alternation,
        statistics.median_length,
        structure.least_alternation,
        structure.half_length,
    )


def revision_terms(
    fused: np.ndarray, around: Surroundings, structure: Structure, kernels: KernelSet
) -> dict[str, np.ndarray]:
    """Return what the revision adds to each candidate, in the order in which it is added.

    Parameters
    ----------
    fused : ndarray of float64, shape (P,)
        Fused evidence of the candidates.
    around : Surroundings
        What else is known of them.
    structure : Structure
        The weights.
    kernels : KernelSet
        The kernels to call.

    Returns
    -------
    dict of str to ndarray of float64, shape (P,)
        ``neighbours``, the clues that have a weight, ``question``, ``speaker``.
    """
    context = context_of(around.statistics, structure)
    neighbours, question, speaker = kernels.structure_terms(
        around.near_fused,
        around.is_question,
        around.speaker_named,
        context,
        structure.weights(),
    )
    clues = structure.clues()
    shared: Iterable[np.ndarray] = ()
    if clues:
        weights = np.array([*clues.values()], np.float64)
        shared = kernels.clue_terms(fused, around.keys, weights, context)
    return {
        "neighbours": neighbours,
        **dict(zip(clues, shared, strict=True)),
        "question": question,
        "speaker": speaker,
    }
