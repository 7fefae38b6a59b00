"""Which blocks of one record match a query best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpersona_jit.kernels.quantize import quantize_query
from cpersona_jit.text.grams import CJK_RANGES, normalise

RRF_K = 60  # as published (Cormack, Clarke, Buettcher: "Reciprocal rank fusion", SIGIR 2009)

_GRAM = 3
# Of ASCII text NFKC changes nothing: a table is five times as fast as normalising.
_ASCII = {code: " " for code in range(128) if not chr(code).isalnum()}


def searchable(text: str) -> str:
    """Return exactly what :func:`cpersona_jit.text.grams.normalise` returns, faster for ASCII."""
    if not text.isascii():
        return normalise(text)
    words = " ".join(text.lower().translate(_ASCII).split())
    return f" {words} " if words else ""


def query_grams(query: str) -> tuple[str, ...]:
    """Return the distinct grams of a query: of size 3, and of size 2 inside CJK runs."""
    text = searchable(query)
    grams = [text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)]
    cjk = [_is_cjk(ord(letter)) for letter in text]
    grams += [text[at : at + 2] for at in range(len(text) - 1) if cjk[at] and cjk[at + 1]]
    return tuple(dict.fromkeys(grams))


def _is_cjk(code: int) -> bool:
    return any(low <= code <= high for low, high in CJK_RANGES)


def shared_grams(grams: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Count the distinct grams that occur in each text."""
    counts = []
    for text in texts:
        words = searchable(text)
        counts.append(sum([gram in words for gram in grams]))
    return counts


class QueryCodes:
    """A query's vector, ready for cosines with int8 codes.

    Parameters
    ----------
    vector : ndarray of float32, shape (dim,)
        Of norm 1.
    """

    def __init__(self, vector: np.ndarray) -> None:
        high, low = quantize_query(vector)[0].astype(np.int64)
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
            Cosine times the query's norm. All but the last step is in integers, so that a machine's
            way of adding cannot change the order.
        """
        wide = codes.astype(np.int64)
        norms = np.sqrt((wide * wide).sum(axis=1).astype(np.float64))
        return ((wide @ self._query) / np.maximum(norms, 1.0)).tolist()


def rank_blocks(*evidence: Sequence[float]) -> list[int]:
    """Rank the blocks of a record by reciprocal rank fusion.

    Parameters
    ----------
    evidence : sequence of float, length m
        One or two kinds of it, each with one number per block; more is better.

    Returns
    -------
    list of int, length m
        Places of the blocks, best first; of equals the first one comes first. Equal numbers of one
        kind share a rank, and the next number has the next rank.
    """
    fused = [0.0] * len(evidence[0])
    for kind in evidence:
        ranks = {value: rank for rank, value in enumerate(sorted(set(kind), reverse=True), 1)}
        fused = [
            so_far + 1.0 / (RRF_K + ranks[value]) for so_far, value in zip(fused, kind, strict=True)
        ]
    return sorted(range(len(fused)), key=lambda block: -fused[block])
