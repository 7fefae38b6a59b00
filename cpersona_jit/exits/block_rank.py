"""Which blocks of one record match a query best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np

from cpersona_jit.kernels.quantize import quantize_query
from cpersona_jit.text.blocks import Range
from cpersona_jit.text.grams import code_points, gram_keys, normalise, packed_pairs, packed_triples

# Measured on turns that answer questions of LoCoMo and REALTALK, inside records of 20 turns: with
# z-scores of cosines and half of those of grams, weighted by rarity, 3 and 1 points more of them
# are quoted (800 characters, development questions) than with reciprocal rank fusion of cosines and
# plain counts; with weights of 1/4, 3/4 and 1 it is less.
GRAM_WEIGHT = 0.5
_RARITY_ONE = 1024  # fixed point, so that sums are exact

# Of ASCII text NFKC changes nothing: a table is several times as fast as normalising.
_ASCII = {code: " " for code in range(128) if not chr(code).isalnum()}
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # a factor that spreads keys over the high bits
_FILTER_BITS = 13


def searchable(text: str, ranges: Sequence[Range]) -> list[str]:
    """Return what :func:`cpersona_jit.text.grams.normalise` returns for each range of a text."""
    if not text.isascii():
        return [normalise(text[start:end]) for start, end in ranges]
    folded = text.lower().translate(_ASCII)
    words = [" ".join(folded[start:end].split()) for start, end in ranges]
    return [f" {part} " if part else "" for part in words]


class QueryGrams:
    """The distinct grams of a query: of size 3, and of size 2 inside CJK runs.

    Parameters
    ----------
    query : str
        The query's text.
    """

    def __init__(self, query: str) -> None:
        self._keys = gram_keys(code_points(normalise(query)), 3)[0]
        self._has_pairs = bool(self._keys.size and self._keys[0] >> np.uint64(42) == 0)
        # Nine of ten grams of a text are none of the query's: a small table says so at once.
        self._filter = np.zeros(1 << _FILTER_BITS, bool)
        self._filter[_spread(self._keys)] = True

    def evidence(self, text: str, ranges: Sequence[Range]) -> list[int]:
        """Add up the rarity of the grams that occur in each range of a text.

        A gram that d of m ranges hold counts ``ln((m + 1) / (d + 1/2))``, as ``round(1024 x)``.
        """
        seen = self.seen(text, ranges)
        return (seen @ _rarities(len(ranges))[seen.sum(axis=0)]).tolist()

    def seen(self, text: str, ranges: Sequence[Range]) -> np.ndarray:
        """Return which of the grams occur in each range of a text, bool (ranges, grams)."""
        parts = searchable(text, ranges)
        ends = np.array(list(accumulate(map(len, parts))), np.int64)
        # Each part has a space at either end, and no gram of a query has two: none spans two parts.
        points = code_points("".join(parts))
        seen = np.zeros((len(parts), self._keys.size), bool)
        self._mark(seen, ends, packed_triples(points))
        if self._has_pairs:
            self._mark(seen, ends, packed_pairs(points))
        return seen

    def _mark(self, seen: np.ndarray, ends: np.ndarray, keys: np.ndarray) -> None:
        at = np.flatnonzero(self._filter[_spread(keys)])
        if at.size and self._keys.size:
            keys = keys[at]
            place = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
            same = self._keys[place] == keys
            seen[np.searchsorted(ends, at[same], "right"), place[same]] = True


@lru_cache(maxsize=256)
def _rarities(ranges: int) -> np.ndarray:
    """Rarity of a gram by how many of the ranges hold it, int64, shape (ranges + 1,)."""
    held = np.arange(ranges + 1)
    return np.rint(_RARITY_ONE * np.log((ranges + 1) / (held + 0.5))).astype(np.int64)


def _spread(keys: np.ndarray) -> np.ndarray:
    return ((keys * _SPREAD) >> np.uint64(64 - _FILTER_BITS)).astype(np.intp)


class QueryCodes:
    """A query's vector, ready for cosines with int8 codes.

    Parameters
    ----------
    vector : ndarray of float32, shape (dim,)
        Of norm 1.
    """

    def __init__(self, vector: np.ndarray) -> None:
        high, low = quantize_query(vector)[0].astype(np.float64)
        self._query = 128 * high + low

    def cosines(self, codes: np.ndarray) -> list[float]:
        """Return numbers that order codes as their cosines with the query do.

        Parameters
        ----------
        codes : ndarray of int8, shape (m, width)
            As a snapshot holds them.

        Returns
        -------
        list of float, length m
            Cosine times the query's norm. Sums are of integers that float64 holds exactly, so that
            a machine's way of adding cannot change the order.
        """
        wide = codes.astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        return (wide @ self._query / np.maximum(norms, 1.0)).tolist()


def rank_blocks(grams: Sequence[float], cosines: Sequence[float] | None) -> list[int]:
    """Rank the blocks of a record.

    Parameters
    ----------
    grams : sequence of float, length m
        Evidence of shared grams; more is better.
    cosines : sequence of float, length m, or None
        Likewise of the embeddings; None ranks by grams alone.

    Returns
    -------
    list of int, length m
        Places of the blocks by the sum of the z-scores among themselves, grams counting half, best
        first; of equals the first one comes first.
    """
    if cosines is None:
        score = list(grams)
    else:
        pairs = zip(z_scores(cosines), z_scores(grams), strict=True)
        score = [cosine + GRAM_WEIGHT * gram for cosine, gram in pairs]
    return sorted(range(len(score)), key=lambda block: -score[block])


def z_scores(values: Sequence[float]) -> list[float]:
    """Return z-scores, zeros when all values are equal; the same bits on every machine."""
    mean = math.fsum(values) / len(values)
    apart = [value - mean for value in values]
    deviation = math.sqrt(math.fsum([one * one for one in apart]) / len(values))
    return [one / deviation for one in apart] if min(values) < max(values) else [0.0] * len(values)
