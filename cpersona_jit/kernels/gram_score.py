"""Scores by the grams of a query: of every row as a whole, and of the best block of parted rows."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.gram_overlap import count_overlap
from cpersona_jit.kernels.gram_tail import add_matches
from cpersona_jit.kernels.numpy_path.gram_find import FoundGrams
from cpersona_jit.kernels.signals import multiply_counters, take_best_gram_blocks

__all__ = ["score_grams"]


def score_grams(
    found: FoundGrams,
    weights: np.ndarray,
    index: GramIndex,
    factor: np.ndarray,
    mask: np.ndarray,
    block_index: GramIndex,
    block_factor: np.ndarray,
    block_mask: np.ndarray,
    block_ptr: np.ndarray,
    parted: np.ndarray,
    of_rows: np.ndarray,
    own: np.ndarray,
    best: np.ndarray,
) -> None:
    """Score every admitted row, and every parted row by its best block.

    A score is the length factor times the sum of the weights of the grams. The same as
    `gram_overlap.overlap_all`, `gram_tail.add_tail` and `signals.gram_scores` of the rows, and
    then of the blocks with `signals.best_gram_blocks`.

    Parameters
    ----------
    found : FoundGrams
        From `gram_find.find_grams` with the same indices and masks.
    weights : uint16 (3, T)
        What a gram adds where it occurs, where it occurs twice, and thrice; they must add up to at
        most 65,535. Lists that weigh 0 are not read.
    index, block_index : GramIndex
        Indices of the rows and of the blocks.
    factor, block_factor : uint16 (n,), (nb,)
        Length factors.
    mask, block_mask : uint64 (ceil(n / 64),), (ceil(nb / 64),)
        Admitted rows and blocks; bits past their number are zero.
    block_ptr : int64 (m + 1,)
        Row i of the m parted rows owns the blocks ``block_ptr[i]:block_ptr[i + 1]``, if any.
    parted : int64 (m,)
        The parted rows.
    of_rows : uint32 (n,)
        Written: the score of each row, 0 for those that are not admitted.
    own, best : int64 (m,)
        Written: the score of each parted row as a whole, and the largest of its admitted blocks'
        (its own without one).
    """
    tail, block_tail = found.tail, found.block_tail
    counters = np.empty(64 * len(mask), np.uint16)
    block_counters = np.empty(64 * len(block_mask), np.uint16)
    _score(
        weights,
        *(index.ptr, index.rows, index.dense_slot, index.bitmaps, found.lists),
        *(tail.rows, tail.grams, tail.counts, factor, mask, counters),
        *(block_index.ptr, block_index.rows, block_index.dense_slot, block_index.bitmaps),
        *(found.block_lists, block_tail.rows, block_tail.grams, block_tail.counts),
        *(block_factor, block_mask, block_counters, block_ptr, parted, of_rows, own, best),
    )


@kernel
def _score(
    weights,
    ptr,
    rows,
    dense_slot,
    bitmaps,
    lists,
    tail_rows,
    tail_grams,
    tail_counts,
    factor,
    mask,
    counters,
    block_ptrs,
    block_rows,
    block_dense_slot,
    block_bitmaps,
    block_lists,
    block_tail_rows,
    block_tail_grams,
    block_tail_counts,
    block_factor,
    block_mask,
    block_counters,
    blocks_of_row,
    parted,
    of_rows,
    own,
    best,
):
    used, added = _used_lists(lists, weights)
    count_overlap(ptr, rows, dense_slot, bitmaps, used, added, mask, counters)
    add_matches(tail_rows, tail_grams, tail_counts, weights, counters)
    multiply_counters(counters, factor, mask, of_rows)
    used, added = _used_lists(block_lists, weights)
    of_index = block_ptrs, block_rows, block_dense_slot, block_bitmaps
    count_overlap(*of_index, used, added, block_mask, block_counters)
    add_matches(block_tail_rows, block_tail_grams, block_tail_counts, weights, block_counters)
    take_best_gram_blocks(
        blocks_of_row, block_counters, block_factor, block_mask, parted, of_rows, own, best
    )


@kernel_part
def _used_lists(lists, weights):
    """Return the lists that are there and weigh something, and what they weigh."""
    used, added = np.empty(lists.size, np.int64), np.empty(lists.size, np.uint16)
    count = 0
    for level in range(lists.shape[0]):
        for t in range(lists.shape[1]):
            if lists[level, t] >= 0 and weights[level, t] > 0:
                used[count], added[count] = lists[level, t], weights[level, t]
                count += 1
    return used[:count], added[:count]
