"""Where the grams of a query stand: its keys, their posting lists, and the rows not listed yet.

One call for what a recall asks of a gram size before it knows what the grams weigh: each call of a
kernel costs microseconds, and gives up the interpreter's lock.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.gram_extract import cut_texts
from cpersona_jit.kernels.gram_lists import LEVELS, GramIndex
from cpersona_jit.kernels.gram_lookup import find_key
from cpersona_jit.kernels.gram_tail import match_rows
from cpersona_jit.kernels.numpy_path.gram_find import FoundGrams, GramRows
from cpersona_jit.kernels.numpy_path.gram_tail import TailMatches

__all__ = ["find_grams"]


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
    """Cut a query into grams and find them among the rows and the blocks of a snapshot.

    Parameters
    ----------
    points : uint32 (m,)
        Code points of the normalised query.
    size : {3, 4}
        Size of the grams.
    index, block_index : GramIndex
        Indices of the rows, and of the blocks.
    tail, block_tail : tuple of ndarray
        ``row_ptr``, ``keys`` and ``counts`` of what stands behind the indexed rows and blocks, as
        `gram_tail.tail_matches` takes them.
    mask, block_mask : uint64
        Admitted rows and blocks, those of the tails among them.

    Returns
    -------
    FoundGrams
    """
    keys, lists, frequency, of_tail, block_lists, of_block_tail = _find(
        points,
        size,
        *(index.keys, index.slots, index.level2, index.level3, index.df, index.n, *tail, mask),
        *(block_index.keys, block_index.slots, block_index.level2, block_index.level3),
        *(block_index.n, *block_tail, block_mask),
    )
    matches, block_matches = TailMatches(*of_tail), TailMatches(*of_block_tail)
    return FoundGrams(keys, lists, frequency, matches, block_lists, block_matches)


@kernel
def _find(
    points,
    size,
    keys,
    slots,
    level2,
    level3,
    df,
    n,
    tail_ptr,
    tail_keys,
    tail_counts,
    mask,
    block_keys,
    block_slots,
    block_level2,
    block_level3,
    block_n,
    block_tail_ptr,
    block_tail_keys,
    block_tail_counts,
    block_mask,
):
    ptr = np.zeros(2, np.int64)
    ptr[1] = len(points)
    _, wanted, _ = cut_texts(points, ptr, size)
    lists = _lists_of(keys, slots, level2, level3, wanted)
    frequency = np.zeros((LEVELS, len(wanted)), np.int64)
    for level in range(LEVELS):
        for t in range(len(wanted)):
            if lists[level, t] >= 0:
                frequency[level, t] = df[lists[level, t]]
    of_tail = match_rows(tail_ptr, tail_keys, tail_counts, wanted, n, mask)
    block_lists = _lists_of(block_keys, block_slots, block_level2, block_level3, wanted)
    of_block_tail = match_rows(
        block_tail_ptr, block_tail_keys, block_tail_counts, wanted, block_n, block_mask
    )
    return wanted, lists, frequency, of_tail, block_lists, of_block_tail


@kernel_part
def _lists_of(keys, slots, level2, level3, wanted):
    """Lists of each level of the grams, int64 (3, T); -1 where there is none."""
    lists = np.empty((LEVELS, len(wanted)), np.int64)
    for t in range(len(wanted)):
        at = np.int64(find_key(keys, slots, wanted[t]))
        lists[0, t] = at
        lists[1, t] = level2[at] if at >= 0 else -1
        lists[2, t] = level3[at] if at >= 0 else -1
    return lists
