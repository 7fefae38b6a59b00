"""Gram indexes taken apart and put together: rows that are read back, joined, left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.gram_ranges import grams_between
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
    return grams_between(index, 0, index.n)


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
