"""The grams of some rows read back out of an inverted index, in memory bounded by those rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cpersona_jit.columns.snapshot import GramRows
from cpersona_jit.kernels.gram_lists import GramIndex

_POSTINGS_AT_ONCE = 1 << 23
_BITMAPS_AT_ONCE = 256


def grams_between(index: GramIndex, start: int, stop: int) -> GramRows:
    """Return the grams of the rows ``start:stop`` of an index, as they were before it was made.

    Parameters
    ----------
    index : GramIndex
        Of at least `stop` rows.
    start, stop : int
        Range of rows.
    """
    grams = index.keys.size
    # Lists lie by level, and within a level by gram.
    of_level = (np.flatnonzero(level >= 0) for level in (index.level2, index.level3))
    gram_of_list = np.concatenate([np.arange(grams), *of_level])
    places = [
        (rows - start) * grams + gram_of_list[lists]
        for rows, lists in (*_sparse(index, start, stop), *_dense(index, start, stop))
    ]
    # A row is in as many lists of a gram as it holds the gram, up to three times.
    found, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *places]), return_counts=True)
    row_ptr = np.zeros(stop - start + 1, np.int64)
    if grams:
        np.cumsum(np.bincount(found // grams, minlength=stop - start), out=row_ptr[1:])
    return GramRows(row_ptr, index.keys[found % max(grams, 1)], counts.astype(np.uint8))


def _sparse(index: GramIndex, start: int, stop: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows and the lists that they are in, of the lists that are row numbers."""
    for first in range(0, index.rows.size, _POSTINGS_AT_ONCE):
        rows = index.rows[first : first + _POSTINGS_AT_ONCE]
        at = np.flatnonzero((rows >= start) & (rows < stop))
        yield rows[at].astype(np.int64), np.searchsorted(index.ptr, first + at, "right") - 1


def _dense(index: GramIndex, start: int, stop: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the same of the lists that are bitmaps."""
    dense = np.flatnonzero(index.dense_slot >= 0)
    list_of_slot = np.empty(dense.size, np.int64)
    list_of_slot[index.dense_slot[dense]] = dense
    first = start // 64
    for slot in range(0, dense.size, _BITMAPS_AT_ONCE):
        words = index.bitmaps[slot : slot + _BITMAPS_AT_ONCE, first : (stop + 63) // 64]
        octets = np.ascontiguousarray(words, "<u8").view(np.uint8)
        which, rows = np.nonzero(np.unpackbits(octets, axis=1, bitorder="little"))
        rows += 64 * first
        inside = (rows >= start) & (rows < stop)
        yield rows[inside], list_of_slot[slot + which[inside]]
