"""Gram index: rows of grams turned into posting lists, and document frequency under a mask."""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from cpersona_jit.kernels.gram_lists import LEVELS, GramIndex, empty_lists, vocabulary
from cpersona_jit.kernels.vector_ir import I64, call

__all__ = ["GramIndex", "build_gram_index", "masked_document_frequency"]

_kernel = njit(nogil=True, error_model="numpy", cache=True)
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: spreads nearby keys


def build_gram_index(
    row_ptr: np.ndarray, row_keys: np.ndarray, row_counts: np.ndarray, n: int
) -> GramIndex:
    """Invert rows of grams into posting lists.

    Parameters
    ----------
    row_ptr : int64 (n + 1,)
        Row r holds the postings ``row_ptr[r]`` to ``row_ptr[r + 1]``.
    row_keys : uint64 (row_ptr[n],)
        Gram keys, ascending and distinct within a row.
    row_counts : uint8 (row_ptr[n],)
        Times the row contains the gram, at least 1; counts above 3 are equal to 3.
    n : int
        Rows, below 2**31.

    Returns
    -------
    GramIndex
        Lists of at least max(16, n / 64) rows are bitmaps, the others row numbers.
    """
    keys = vocabulary(row_keys)
    grams = np.empty(len(row_keys), np.int32)
    level_df = np.zeros((LEVELS, len(keys)), np.int64)
    _number_postings(keys, row_keys, row_counts, _empty_hash_table(len(keys)), grams, level_df)
    index = empty_lists(keys, level_df, n)
    _fill_lists(
        row_ptr,
        grams,
        row_counts,
        index.level2,
        index.level3,
        index.dense_slot,
        index.ptr[:-1].copy(),
        index.rows,
        index.bitmaps,
    )
    return index


def masked_document_frequency(index: GramIndex, lists: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Count the admitted rows of posting lists.

    Parameters
    ----------
    index : GramIndex
        Index of the snapshot.
    lists : int64 (T,)
        List ids.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.

    Returns
    -------
    int64 (T,)
    """
    counts = np.empty(len(lists), np.int64)
    _count_admitted(index.ptr, index.rows, index.dense_slot, index.bitmaps, lists, mask, counts)
    return counts


def _empty_hash_table(keys: int) -> np.ndarray:
    """Slots of an open-addressing table, a power of two, at most half of them to be used."""
    return np.full(1 << max(1, 2 * keys - 1).bit_length(), -1, np.int32)


@intrinsic
def _popcount(typing_context, word):
    """Set bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return call(builder, "llvm.ctpop.i64", I64, arguments)

    return types.int64(types.uint64), generate


@_kernel
def _number_postings(keys, row_keys, row_counts, table, grams, level_df):
    """Number the gram of each posting through a hash table; count the rows of every list."""
    last = np.uint64(len(table) - 1)
    for gram in range(len(keys)):
        at = (keys[gram] * _HASH_MULTIPLIER >> np.uint64(32)) & last
        while table[at] >= 0:
            at = (at + np.uint64(1)) & last
        table[at] = gram
    for i in range(len(row_keys)):
        at = (row_keys[i] * _HASH_MULTIPLIER >> np.uint64(32)) & last
        while keys[table[at]] != row_keys[i]:
            at = (at + np.uint64(1)) & last
        grams[i] = table[at]
        for level in range(min(row_counts[i], LEVELS)):
            level_df[level, grams[i]] += 1


@_kernel
def _fill_lists(row_ptr, grams, row_counts, level2, level3, dense_slot, cursor, rows, bitmaps):
    """Write every posting: a counting sort, since `cursor` starts at each list's first place."""
    for row in range(len(row_ptr) - 1):
        word, bit = row >> 6, np.uint64(1) << np.uint64(row & 63)
        for i in range(row_ptr[row], row_ptr[row + 1]):
            for level in range(min(row_counts[i], LEVELS)):
                posting_list = grams[i]
                if level == 1:
                    posting_list = level2[grams[i]]
                elif level == 2:
                    posting_list = level3[grams[i]]
                slot = dense_slot[posting_list]
                if slot >= 0:
                    bitmaps[slot, word] |= bit
                else:
                    rows[cursor[posting_list]] = row
                    cursor[posting_list] += 1


@_kernel
def _count_admitted(ptr, rows, dense_slot, bitmaps, lists, mask, counts):
    for t in range(len(lists)):
        slot = dense_slot[lists[t]]
        count = 0
        if slot >= 0:
            for word in range(len(mask)):
                count += _popcount(bitmaps[slot, word] & mask[word])
        else:
            for i in range(ptr[lists[t]], ptr[lists[t] + 1]):
                row = np.uint64(rows[i])
                count += np.int64(mask[row >> np.uint64(6)] >> (row & np.uint64(63)) & np.uint64(1))
        counts[t] = count
