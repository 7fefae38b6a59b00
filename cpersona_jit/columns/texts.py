"""What a snapshot keeps of a text that is scored, be it a whole row or one of its blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.postings import GramKernels
from cpersona_jit.columns.snapshot import GramRows
from cpersona_jit.kernels.quantize import padded_width, quantize_rows
from cpersona_jit.text.grams import GRAM_SIZES, normalise

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
        self._points: list[bytes] = []

    def add(self, indexed: str, vector: np.ndarray | None) -> None:
        """Take the text as it is indexed, and its vector if it has one of the model."""
        text = normalise(indexed)
        self._lengths.append(len(text))
        self._points.append(text.encode("utf-32-le", "surrogatepass"))
        self._embedded.append(vector is not None)
        self._pending.append(np.zeros(self._dim, np.float32) if vector is None else vector)
        if len(self._pending) == QUANTIZE_ROWS:
            self._quantize()

    def finish(self, kernels: GramKernels) -> Texts:
        """Return what was collected; its grams are cut by one of the `kernels`."""
        self._quantize()
        points = np.frombuffer(bytearray(b"".join(self._points)), "<u4").astype(
            np.uint32, copy=False
        )
        ptr = np.zeros(len(self._points) + 1, np.int64)
        np.cumsum(self._lengths, out=ptr[1:])
        return Texts(
            np.array(self._lengths, np.int32),
            np.concatenate(self._codes),
            np.array(self._embedded, bool),
            {size: GramRows(*kernels.extract_grams(points, ptr, size)) for size in GRAM_SIZES},
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
    start = pointers[positions]
    sizes = pointers[positions + 1] - start
    moved = np.zeros(positions.size + 1, np.int64)
    np.cumsum(sizes, out=moved[1:])
    return moved, np.arange(moved[-1]) + np.repeat(start - moved[:-1], sizes)


def take_grams(grams: GramRows, positions: np.ndarray) -> GramRows:
    """Return the grams of the rows at `positions`, in that order."""
    row_ptr, source = take_spans(grams.row_ptr, positions)
    return GramRows(row_ptr, grams.keys[source], grams.counts[source])


def join_grams(a: GramRows, b: GramRows) -> GramRows:
    """Return the grams of the rows of `a`, then of those of `b`."""
    return GramRows(
        np.concatenate((a.row_ptr, b.row_ptr[1:] + a.row_ptr[-1])),
        np.concatenate((a.keys, b.keys)),
        np.concatenate((a.counts, b.counts)),
    )


def no_grams() -> GramRows:
    """Return the grams of no row."""
    return GramRows(np.zeros(1, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.uint8))
