"""Grams of a query with NumPy alone; same arrays as `cpersona_jit.kernels.gram_find`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.kernels.gram_lists import LEVELS, GramIndex
from cpersona_jit.kernels.numpy_path.gram_extract import extract_grams
from cpersona_jit.kernels.numpy_path.gram_index import lookup_keys
from cpersona_jit.kernels.numpy_path.gram_tail import TailMatches, tail_matches

# `row_ptr`, `keys` and `counts` of the newest rows, as `gram_tail.tail_matches` takes them.
GramRows = tuple[np.ndarray, np.ndarray, np.ndarray]


class FoundGrams(NamedTuple):
    """The grams of a query, T of them, and where they stand.

    Attributes
    ----------
    keys : uint64 (T,)
        The grams, ascending.
    lists : int64 (3, T)
        Posting lists of the rows that have each at least once, twice, three times; -1 where there
        is none.
    frequency : int64 (3, T)
        Rows in those lists, 0 where there is none.
    tail : TailMatches
        Where they occur in the admitted rows behind those of the index.
    block_lists : int64 (3, T)
        Likewise the posting lists of the blocks.
    block_tail : TailMatches
        And where they occur in the admitted blocks that are not indexed.
    """

    keys: np.ndarray
    lists: np.ndarray
    frequency: np.ndarray
    tail: TailMatches
    block_lists: np.ndarray
    block_tail: TailMatches


def find_grams(
    points: np.ndarray,
    size: int,
    index: GramIndex,
    tail: GramRows,
    mask: np.ndarray,
    block_index: GramIndex,
    block_tail: GramRows,
    block_mask: np.ndarray,
) -> FoundGrams:
    """Cut a query into grams and find them; see the kernel of the same name."""
    _, keys, _ = extract_grams(points, np.array([0, len(points)]), size)
    lists = _lists_of(index, keys)
    frequency = np.zeros(lists.shape, np.int64)
    frequency[lists >= 0] = index.df[lists[lists >= 0]]
    return FoundGrams(
        keys,
        lists,
        frequency,
        tail_matches(*tail, keys, index.n, mask),
        _lists_of(block_index, keys),
        tail_matches(*block_tail, keys, block_index.n, block_mask),
    )


def _lists_of(index: GramIndex, keys: np.ndarray) -> np.ndarray:
    lists = np.full((LEVELS, keys.size), -1, np.int64)
    lists[0] = at = lookup_keys(index, keys)
    known = at >= 0
    lists[1, known], lists[2, known] = index.level2[at[known]], index.level3[at[known]]
    return lists
