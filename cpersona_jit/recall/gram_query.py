"""A query's grams as weights over posting lists, with statistics of the admitted rows alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import BlockColumns, Columns, Mask
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.numpy_path.gram_tail import TailMatches
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
    keys : ndarray of uint64, shape (T,)
        The grams, ascending.
    weights : ndarray of uint16, shape (3, T)
        What a gram adds where it occurs, where it occurs twice, and thrice; 0 where no admitted
        row has it so often. They add up to at most 65,535.
    lists : ndarray of int64, shape (3, T)
        Its posting lists in the index of rows, -1 where there is none.
    tail : TailMatches or None
        Where the grams occur in rows that are not indexed yet.
    unit : float
        A counter times unit is a sum of saturated idf.
    note : str
        Says when lists were left out, empty otherwise.
    """

    size: int
    keys: np.ndarray
    weights: np.ndarray
    lists: np.ndarray
    tail: TailMatches | None
    unit: float
    note: str


def query_points(query: str) -> np.ndarray:
    """Return the code points of a query as it is cut into grams, uint32."""
    return code_points(normalise(query)).astype(np.uint32)


def weigh_grams(
    columns: Columns, spec: ArmSpec, points: np.ndarray, mask: Mask, kernels: KernelSet
) -> GramQuery:
    """Weigh the query's grams by ``idf ** idf_power * saturation(tf)``.

    ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))`` with N and df counted over the admitted rows
    alone. The weights are scaled so that no counter can overflow. `points` are `query_points`.
    """
    _, keys, _ = kernels.extract_grams(points, np.array([0, points.size]), spec.size)
    index = columns.gram_index[spec.size]
    lists = posting_lists(index, keys, kernels)
    tail = match_tail(columns, spec.size, keys, mask, kernels)
    frequency = np.zeros(lists.shape, np.int64) if tail is None else tail.frequency.copy()
    known = lists >= 0
    frequency[known] += _frequency(columns, index, lists[known], mask, kernels)
    if spec.term_frequency == "binary":
        lists[1:], frequency[1:] = -1, 0
    # A list without admitted rows would move the scale of the weights: a neighbour who repeats a
    # word would be felt in this caller's scores.
    used = frequency > 0
    inverse = np.log1p((mask.count - frequency[0] + 0.5) / (frequency[0] + 0.5)) ** spec.idf_power
    weights = (inverse * _GAINS[spec.size])[used]
    note = ""
    if weights.size > _MAX_LISTS:
        note = f"query_grams_capped: {_MAX_LISTS} of {weights.size}"
        kept = np.sort(np.argsort(-weights, kind="stable")[:_MAX_LISTS])
        used.flat[np.delete(np.flatnonzero(used), kept)] = False
        weights = weights[kept]
    scale = (_COUNTER_LIMIT - weights.size) / weights.sum() if weights.size else 1.0
    fixed = np.zeros(lists.shape, np.uint16)
    fixed[used] = np.maximum(np.rint(weights * scale), 1)
    return GramQuery(spec.size, keys, fixed, lists, tail, 1.0 / scale, note)


def match_tail(
    texts: Columns | BlockColumns, size: int, keys: np.ndarray, mask: Mask, kernels: KernelSet
) -> TailMatches | None:
    """Find grams in the admitted texts that no posting list holds yet; None without such texts.

    The texts are the rows of a snapshot, or its blocks.
    """
    tail = texts.gram_tail[size]
    if tail.row_ptr.size == 1:
        return None
    return kernels.tail_matches(*tail, keys, texts.gram_index[size].n, mask.words)


def count_overlap(
    texts: Columns | BlockColumns,
    lists: np.ndarray,
    tail: TailMatches | None,
    query: GramQuery,
    mask: Mask,
    kernels: KernelSet,
) -> np.ndarray:
    """Return the counter of each admitted text: uint16, shape (64 * words of the mask,).

    Parameters
    ----------
    texts : Columns or BlockColumns
        Rows or blocks.
    lists : ndarray of int64, shape (3, T)
        Their lists of the query's grams.
    tail : TailMatches or None
        From `match_tail`.
    query : GramQuery
        What the grams weigh.
    mask : Mask
        The admitted ones.
    kernels : KernelSet
        The kernels to call.
    """
    counters = np.empty(64 * mask.words.size, np.uint16)
    kernels.overlap_all(
        texts.gram_index[query.size], *weighed_lists(lists, query), mask.words, counters
    )
    if tail is not None:
        kernels.add_tail(tail, query.weights, counters)
    return counters


def posting_lists(index: GramIndex, keys: np.ndarray, kernels: KernelSet) -> np.ndarray:
    """Return the lists of the levels of some grams, int64, shape (3, T); -1 where there is none."""
    lists = np.full((3, keys.size), -1, np.int64)
    lists[0] = at = kernels.lookup_keys(index, keys)
    known = at >= 0
    lists[1, known], lists[2, known] = index.level2[at[known]], index.level3[at[known]]
    return lists


def weighed_lists(lists: np.ndarray, query: GramQuery) -> tuple[np.ndarray, np.ndarray]:
    """Return those lists of a query that weigh something, int64, and their weights, uint16."""
    used = (lists >= 0) & (query.weights > 0)
    return lists[used], query.weights[used]


def _frequency(
    columns: Columns, index: GramIndex, lists: np.ndarray, mask: Mask, kernels: KernelSet
) -> np.ndarray:
    """Admitted rows of each list, int64; known beforehand where all rows are admitted."""
    if mask.count < columns.alive.count:
        return kernels.masked_document_frequency(index, lists, mask.words)
    frequency = index.df[lists].astype(np.int64)
    gone = columns.gone_rows
    gone = gone[: gone.searchsorted(index.n)]
    return (
        frequency - kernels.dead_document_frequency(index, lists, gone) if gone.size else frequency
    )


def _gain(times: int, k1: float) -> float:
    """What the occurrence number `times` adds to the saturation of one gram."""
    return times * (k1 + 1) / (times + k1) - (times - 1) * (k1 + 1) / (times - 1 + k1)


# What the first, second and third occurrence add, for the two gram sizes, shape (3, 1).
_GAINS = {size: np.array([[1.0], [_gain(2, k1)], [_gain(3, k1)]]) for size, k1 in _K1.items()}
