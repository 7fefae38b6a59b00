"""Gram indexes taken apart and put together: rows that are read back, joined, left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import GramRows
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.numpy_path.gram_extract import extract_grams
from cpersona_jit.kernels.numpy_path.gram_index import build_gram_index
from cpersona_jit.kernels.numpy_path.gram_merge import merge_gram_index
from cpersona_jit.kernels.row_mask import pack_mask


class GramKernels(NamedTuple):
    """What a snapshot is built with; every kernel set has these."""

    build_gram_index: Callable[[np.ndarray, np.ndarray, np.ndarray, int], GramIndex]
    merge_gram_index: Callable[[GramIndex, GramIndex, np.ndarray | None], GramIndex]
    extract_grams: Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, ...]]


NUMPY_GRAMS = GramKernels(build_gram_index, merge_gram_index, extract_grams)


def grams_of_rows(index: GramIndex) -> GramRows:
    """Return the grams of each row of an index, as they were before it was made."""
    counts = np.ones(int(index.df[: index.keys.size].sum()), np.uint8)
    rows, grams = _postings(index, np.arange(index.keys.size))
    order = np.argsort(rows, kind="stable")  # the grams of a row stay ascending
    rows, grams = rows[order], grams[order]
    places = rows * max(index.keys.size, 1) + grams
    for of_level in (index.level2, index.level3):
        has = np.flatnonzero(of_level >= 0)
        more, which = _postings(index, of_level[has].astype(np.int64))
        counts[np.searchsorted(places, more * max(index.keys.size, 1) + has[which])] += 1
    row_ptr = np.zeros(index.n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=index.n), out=row_ptr[1:])
    return GramRows(row_ptr, index.keys[grams], counts)


def _postings(index: GramIndex, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of some lists, int64, and which of them each is of; by list, ascending rows."""
    dense = index.dense_slot[lists] >= 0
    parts: list[np.ndarray] = [np.zeros(0, np.int64)]
    for number, one in enumerate(lists.tolist()):
        if dense[number]:
            words = index.bitmaps[index.dense_slot[one]].astype("<u8").view(np.uint8)
            bits = np.unpackbits(words, bitorder="little")
            parts.append(np.flatnonzero(bits))
        else:
            parts.append(index.rows[index.ptr[one] : index.ptr[one + 1]].astype(np.int64))
    return np.concatenate(parts), np.repeat(np.arange(lists.size), index.df[lists])


def joined_index(
    index: GramIndex, tail: GramRows, keep: np.ndarray | None, kernels: GramKernels
) -> GramIndex:
    """Return the index of all rows, those of a tail behind the others.

    Parameters
    ----------
    index : GramIndex
        Of the first rows.
    tail : GramRows
        Grams of the rows behind them.
    keep : ndarray of bool, shape (n,), or None
        Rows that stay, and move up; None for all.
    kernels : GramKernels
        The kernel set in use.
    """
    added = kernels.build_gram_index(*tail, tail.row_ptr.size - 1)
    if keep is None and not index.n:
        return added
    return kernels.merge_gram_index(index, added, None if keep is None else pack_mask(keep))
