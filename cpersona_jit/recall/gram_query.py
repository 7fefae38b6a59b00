"""A query's grams as weights over posting lists, with statistics of the admitted rows alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.numpy_path.gram_find import FoundGrams
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.settings import ArmSpec
from cpersona_jit.text.grams import code_points, normalise

# Saturation of a gram that occurs t times, t (k1 + 1) / (t + k1), for the two gram sizes, as in
# BM25 (Robertson, Zaragoza: "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
_K1 = {3: 0.6, 4: 0.4}
_COUNTER_LIMIT = 65535  # the overlap kernel's counters are uint16
_MAX_LISTS = 8192  # so that every list keeps a weight of several units


class GramQuery(NamedTuple):
    """The grams of a query, T of them, and what each adds to a row's counter.

    Attributes
    ----------
    size : {3, 4}
        Size of the grams.
    found : FoundGrams
        The grams, and where they stand.
    weights : ndarray of uint16, shape (3, T)
        What a gram adds where it occurs, where it occurs twice, and thrice; 0 where no admitted
        row has it so often. They add up to at most 65,535.
    unit : float
        A counter times unit is a sum of saturated idf.
    note : str
        Says when lists were left out, empty otherwise.
    """

    size: int
    found: FoundGrams
    weights: np.ndarray
    unit: float
    note: str


def query_points(query: str) -> np.ndarray:
    """Return the code points of a query as it is cut into grams, uint32."""
    return code_points(normalise(query)).astype(np.uint32)


def weigh_grams(
    columns: Columns,
    spec: ArmSpec,
    points: np.ndarray,
    mask: Mask,
    block_mask: Mask,
    kernels: KernelSet,
) -> GramQuery:
    """Weigh the query's grams by ``idf ** idf_power * saturation(tf)``.

    ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))`` with N and df counted over the admitted rows
    alone. The weights are scaled so that no counter can overflow. `points` are `query_points`.
    """
    size, blocks = spec.size, columns.blocks
    index = columns.gram_index[size]
    of_rows = index, columns.gram_tail[size], mask.words
    of_blocks = blocks.gram_index[size], blocks.gram_tail[size], block_mask.words
    found = kernels.find_grams(points, size, *of_rows, *of_blocks)
    frequency = _frequency(columns, index, found, mask, kernels) + found.tail.frequency
    if spec.term_frequency == "binary":
        frequency[1:] = 0
    # A list without admitted rows would move the scale of the weights: a neighbour who repeats a
    # word would be felt in this caller's scores.
    used = frequency > 0
    inverse = np.log1p((mask.count - frequency[0] + 0.5) / (frequency[0] + 0.5)) ** spec.idf_power
    weights = (inverse * _GAINS[size])[used]
    note = ""
    if weights.size > _MAX_LISTS:
        note = f"query_grams_capped: {_MAX_LISTS} of {weights.size}"
        kept = np.sort(np.argsort(-weights, kind="stable")[:_MAX_LISTS])
        used.flat[np.delete(np.flatnonzero(used), kept)] = False
        weights = weights[kept]
    scale = (_COUNTER_LIMIT - weights.size) / weights.sum() if weights.size else 1.0
    fixed = np.zeros(used.shape, np.uint16)
    fixed[used] = np.maximum(np.rint(weights * scale), 1)
    return GramQuery(size, found, fixed, 1.0 / scale, note)


def weighed_lists(query: GramQuery) -> tuple[np.ndarray, np.ndarray]:
    """Return those lists of a query that weigh something, int64, and their weights, uint16."""
    used = (query.found.lists >= 0) & (query.weights > 0)
    return query.found.lists[used], query.weights[used]


def _frequency(
    columns: Columns, index: GramIndex, found: FoundGrams, mask: Mask, kernels: KernelSet
) -> np.ndarray:
    """Admitted rows of each list, int64 (3, T); known beforehand where all rows are admitted."""
    gone, known = columns.gone_rows, found.lists >= 0
    if mask.count == columns.alive.count and not gone.size:
        return found.frequency
    frequency, lists = found.frequency.copy(), found.lists[known]
    if mask.count < columns.alive.count:
        frequency[known] = kernels.masked_document_frequency(index, lists, mask.words)
    else:
        gone = gone[: gone.searchsorted(index.n)]
        frequency[known] -= kernels.dead_document_frequency(index, lists, gone)
    return frequency


def _gain(times: int, k1: float) -> float:
    """What the occurrence number `times` adds to the saturation of one gram."""
    return times * (k1 + 1) / (times + k1) - (times - 1) * (k1 + 1) / (times - 1 + k1)


# What the first, second and third occurrence add, for the two gram sizes, shape (3, 1).
_GAINS = {size: np.array([[1.0], [_gain(2, k1)], [_gain(3, k1)]]) for size, k1 in _K1.items()}
