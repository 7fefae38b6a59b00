"""What a snapshot keeps of a text that is scored, be it a whole row or one of its blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import GramRows
from cpersona_jit.kernels.quantize import padded_width, quantize_rows
from cpersona_jit.text.grams import GRAM_SIZES, code_points, gram_keys, normalise

QUANTIZE_ROWS = 4096  # vectors that are float32 at one time while a snapshot is built


class Texts(NamedTuple):
    """Some texts, one position each, before their grams are inverted."""

    lengths: np.ndarray  # int32, code points of the normalised text
    codes: np.ndarray  # int8 (texts, width)
    embedded: np.ndarray  # bool
    grams: dict[int, GramRows]


class TextReader:
    """Collects texts one by one.

    Parameters
    ----------
    dim : int
        Dimension of the vectors; 0 when there are none.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._lengths: list[int] = []
        self._embedded: list[bool] = []
        self._pending: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
        self._grams: dict[int, tuple[list, list]] = {size: ([], []) for size in GRAM_SIZES}

    def add(self, indexed: str, vector: np.ndarray | None) -> None:
        """Take the text as it is indexed, and its vector if it has one of the model."""
        points = code_points(normalise(indexed))
        self._lengths.append(points.size)
        for size, (keys, counts) in self._grams.items():
            of_text = gram_keys(points, size)
            keys.append(of_text[0])
            counts.append(of_text[1])
        self._embedded.append(vector is not None)
        self._pending.append(np.zeros(self._dim, np.float32) if vector is None else vector)
        if len(self._pending) == QUANTIZE_ROWS:
            self._quantize()

    def finish(self) -> Texts:
        """Return what was collected."""
        self._quantize()
        return Texts(
            np.array(self._lengths, np.int32),
            np.concatenate(self._codes),
            np.array(self._embedded, bool),
            {size: _gram_rows(*lists) for size, lists in self._grams.items()},
        )

    def _quantize(self) -> None:
        if not self._dim:
            codes = np.zeros((len(self._pending), 0), np.int8)
        elif not self._pending:
            codes = np.zeros((0, padded_width(self._dim)), np.int8)
        else:
            codes = quantize_rows(np.stack(self._pending))
        self._codes.append(codes)
        self._pending = []


def take_texts(texts: Texts, positions: np.ndarray) -> Texts:
    """Return the texts at `positions`, in that order."""
    return Texts(
        texts.lengths[positions],
        texts.codes[positions],
        texts.embedded[positions],
        {size: _take_grams(grams, positions) for size, grams in texts.grams.items()},
    )


def join_texts(a: Texts, b: Texts) -> Texts:
    """Return the texts of `a`, then those of `b`; the arrays of `a` when `b` has none."""
    if not b.lengths.size:
        return a
    return Texts(
        np.concatenate((a.lengths, b.lengths)),
        np.concatenate((a.codes, b.codes)),
        np.concatenate((a.embedded, b.embedded)),
        {size: _join_grams(a.grams[size], b.grams[size]) for size in GRAM_SIZES},
    )


def take_spans(pointers: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reorder spans that lie one behind the other.

    Parameters
    ----------
    pointers : ndarray of int64, shape (n + 1,)
        Span i is ``pointers[i]:pointers[i + 1]``.
    positions : ndarray of int64, shape (m,)
        Spans to keep, in their new order.

    Returns
    -------
    pointers : ndarray of int64, shape (m + 1,)
        Of the spans in their new order.
    source : ndarray of int64
        Where each of their elements was.
    """
    start, sizes = pointers[positions], np.diff(pointers)[positions]
    moved = np.zeros(positions.size + 1, np.int64)
    np.cumsum(sizes, out=moved[1:])
    return moved, np.arange(moved[-1]) + np.repeat(start - moved[:-1], sizes)


def join_pointers(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pointers of two runs of spans laid one behind the other."""
    return np.concatenate((a, b[1:] + a[-1]))


def _gram_rows(keys: list[np.ndarray], counts: list[np.ndarray]) -> GramRows:
    row_ptr = np.zeros(len(keys) + 1, np.int64)
    np.cumsum([k.size for k in keys], out=row_ptr[1:])
    none_k, none_c = np.zeros(0, np.uint64), np.zeros(0, np.uint8)
    return GramRows(row_ptr, np.concatenate([none_k, *keys]), np.concatenate([none_c, *counts]))


def _take_grams(grams: GramRows, positions: np.ndarray) -> GramRows:
    row_ptr, source = take_spans(grams.row_ptr, positions)
    return GramRows(row_ptr, grams.keys[source], grams.counts[source])


def _join_grams(a: GramRows, b: GramRows) -> GramRows:
    return GramRows(
        join_pointers(a.row_ptr, b.row_ptr),
        np.concatenate((a.keys, b.keys)),
        np.concatenate((a.counts, b.counts)),
    )
