"""A query's grams as weights over posting lists, with statistics of the admitted rows alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import Mask
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.settings import ArmSpec
from cpersona_jit.text.grams import code_points, normalise

# Saturation of a gram that occurs t times, t (k1 + 1) / (t + k1), for the two gram sizes, as in
# BM25 (Robertson, Zaragoza: "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
_K1 = {3: 0.6, 4: 0.4}
_COUNTER_LIMIT = 65535  # the overlap kernel's counters are uint16
_MAX_LISTS = 8192  # so that every list keeps a weight of several units


class GramQuery(NamedTuple):
    """The posting lists that a query adds up, T of them.

    Attributes
    ----------
    lists : ndarray of int64, shape (T,)
        Lists of the index of rows; every one holds an admitted row.
    weights : ndarray of uint16, shape (T,)
        What each adds to a row's counter; they add up to at most 65,535.
    keys : ndarray of uint64, shape (T,)
        The gram of each list.
    levels : ndarray of int64, shape (T,)
        The frequency level of each list, 1 to 3.
    unit : float
        A counter times unit is a sum of saturated idf.
    note : str
        Says when lists were left out, empty otherwise.
    """

    lists: np.ndarray
    weights: np.ndarray
    keys: np.ndarray
    levels: np.ndarray
    unit: float
    note: str


def query_points(query: str) -> np.ndarray:
    """Return the code points of a query as it is cut into grams, uint32."""
    return code_points(normalise(query)).astype(np.uint32)


def weigh_grams(
    index: GramIndex, spec: ArmSpec, points: np.ndarray, mask: Mask, kernels: KernelSet
) -> GramQuery:
    """Weigh the query's grams by ``idf ** idf_power * saturation(tf)``.

    ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))`` with N and df counted over the admitted rows
    alone. The weights are scaled so that no counter can overflow. `points` are `query_points`.
    """
    _, keys, _ = kernels.extract_grams(points, np.array([0, points.size]), spec.size)
    at = _positions(index.keys, keys)
    grams = at[at >= 0]
    frequency = _frequency(index, grams, mask, kernels)
    grams, frequency = grams[frequency > 0], frequency[frequency > 0]
    idf = np.log1p((mask.count - frequency + 0.5) / (frequency + 0.5)) ** spec.idf_power
    lists, levels, which = _lists_of(index, grams, mask, spec, kernels)
    gain = np.array([0.0, 1.0, *(_gain(times, _K1[spec.size]) for times in (2, 3))])
    weights = idf[which] * gain[levels]
    note = ""
    if lists.size > _MAX_LISTS:
        note = f"query_grams_capped: {_MAX_LISTS} of {lists.size}"
        kept = np.sort(np.argsort(-weights, kind="stable")[:_MAX_LISTS])
        lists, weights, which, levels = lists[kept], weights[kept], which[kept], levels[kept]
    scale = (_COUNTER_LIMIT - lists.size) / weights.sum() if lists.size else 1.0
    fixed = np.maximum(np.rint(weights * scale), 1).astype(np.uint16)
    return GramQuery(lists, fixed, index.keys[grams[which]], levels, 1.0 / scale, note)


def lists_in(index: GramIndex, query: GramQuery) -> tuple[np.ndarray, np.ndarray]:
    """Return the same grams' lists in another index, int64, and their weights, uint16."""
    grams = _positions(index.keys, query.keys)
    lists = grams.copy()
    for level, of_level in ((2, index.level2), (3, index.level3)):
        higher = (query.levels == level) & (grams >= 0)
        lists[higher] = of_level[grams[higher]]
    found = lists >= 0
    return lists[found], query.weights[found]


def _lists_of(
    index: GramIndex, grams: np.ndarray, mask: Mask, spec: ArmSpec, kernels: KernelSet
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posting lists of the grams, by level; the level of each, and which of the grams it is of."""
    everyone = np.arange(grams.size)
    lists, levels, which = [grams], [np.ones(grams.size, np.int64)], [everyone]
    higher = () if spec.term_frequency == "binary" else ((2, index.level2), (3, index.level3))
    for level, of_level in higher:
        of_grams = of_level[grams].astype(np.int64)
        has = np.flatnonzero(of_grams >= 0)
        # A list without admitted rows would still move the scale of the weights: a neighbour who
        # repeats a word would be felt in this caller's scores.
        has = has[_frequency(index, of_grams[has], mask, kernels) > 0]
        lists.append(of_grams[has])
        levels.append(np.full(has.size, level))
        which.append(has)
    return np.concatenate(lists), np.concatenate(levels), np.concatenate(which)


def _frequency(index: GramIndex, lists: np.ndarray, mask: Mask, kernels: KernelSet) -> np.ndarray:
    """Admitted rows of each list, int64; known beforehand where all rows are admitted."""
    if mask.count == index.n:
        return index.df[lists].astype(np.int64)
    return kernels.masked_document_frequency(index, lists, mask.words)


def _positions(vocabulary: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Positions of `keys` in the ascending vocabulary, -1 for those that are not in it."""
    if not vocabulary.size:
        return np.full(keys.size, -1, np.int64)
    at = np.minimum(np.searchsorted(vocabulary, keys), vocabulary.size - 1)
    return np.where(vocabulary[at] == keys, at, -1).astype(np.int64)


def _gain(times: int, k1: float) -> float:
    """What the occurrence number `times` adds to the saturation of one gram."""
    return times * (k1 + 1) / (times + k1) - (times - 1) * (k1 + 1) / (times - 1 + k1)
