"""Gram index: rows of grams turned into posting lists, and document frequency under a mask."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.bits import popcount
from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.gram_lists import HASH_MULTIPLIER, LEVELS, GramIndex, empty_lists
from cpersona_jit.kernels.gram_lookup import key_slots
from cpersona_jit.kernels.row_mask import pack_mask

__all__ = [
    "GramIndex",
    "build_gram_index",
    "dead_document_frequency",
    "masked_document_frequency",
]

_ROWS_PER_LOOK = 1024  # rows of a bitmap are counted in the time that one dead row is looked up
_FIRST_TABLE = 1 << 12


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
    grams, found = _numbered(row_keys)
    order = np.argsort(found)
    keys, ranks = found[order], np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    level_df = np.zeros((LEVELS, len(keys)), np.int64)
    _count_levels(grams, ranks, row_counts, level_df)
    index = empty_lists(keys, key_slots(keys), level_df, n)
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
    mask : uint64 (at least ceil(n / 64),)
        Admitted rows; what it says of rows past those of the index is not looked at.

    Returns
    -------
    int64 (T,)
    """
    counts = np.empty(len(lists), np.int64)
    _count_admitted(index.ptr, index.rows, index.dense_slot, index.bitmaps, lists, mask, counts)
    return counts


def dead_document_frequency(
    index: GramIndex, lists: np.ndarray, dead_rows: np.ndarray
) -> np.ndarray:
    """Count the dead rows of posting lists.

    Parameters
    ----------
    index : GramIndex
        Index of the snapshot, dead rows included.
    lists : int64 (T,)
        List ids.
    dead_rows : int64 (D,)
        Ascending, each below n.

    Returns
    -------
    int64 (T,)
    """
    if len(dead_rows) * _ROWS_PER_LOOK > index.n:
        is_dead = np.zeros(index.n, bool)
        is_dead[dead_rows] = True
        return masked_document_frequency(index, lists, pack_mask(is_dead))
    counts = np.empty(len(lists), np.int64)
    _count_dead(index.ptr, index.rows, index.dense_slot, index.bitmaps, lists, dead_rows, counts)
    return counts


def _numbered(row_keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of each posting's gram, int32, and the grams, in the order of their first postings.

    The hash table grows with the vocabulary, of which postings are many times as many.
    """
    numbers, slots = np.empty(len(row_keys), np.int32), _FIRST_TABLE
    keys, known, done = np.empty(0, np.uint64), 0, 0
    while True:
        table = np.full(slots, -1, np.int32)
        keys = np.concatenate((keys[:known], np.empty(slots // 2 - known, np.uint64)))
        done, known = _number(row_keys, done, numbers, table, keys, known)
        if done == len(row_keys):
            return numbers, keys[:known].copy()
        slots *= 4


@kernel
def _number(row_keys, done, numbers, table, keys, known):
    """Number postings from `done` on, until all are or half of the table is used."""
    last = np.uint64(len(table) - 1)
    for number in range(known):
        table[_slot(keys[number], table, keys, last)] = number
    for i in range(done, len(row_keys)):
        at = _slot(row_keys[i], table, keys, last)
        if table[at] < 0:
            if known == len(keys):
                return i, known
            table[at], keys[known] = known, row_keys[i]
            known += 1
        numbers[i] = table[at]
    return len(row_keys), known


@kernel_part
def _slot(key, table, keys, last):
    """The slot that holds a key, or the empty one where it belongs."""
    at = (key * HASH_MULTIPLIER >> np.uint64(32)) & last
    while table[at] >= 0 and keys[table[at]] != key:
        at = (at + np.uint64(1)) & last
    return at


@kernel
def _count_levels(grams, ranks, row_counts, level_df):
    """Put the rank of each posting's gram for its number; count the rows of every list."""
    for i in range(len(grams)):
        gram = ranks[grams[i]]
        grams[i] = gram
        for level in range(min(row_counts[i], LEVELS)):
            level_df[level, gram] += 1


@kernel
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


@kernel
def _count_admitted(ptr, rows, dense_slot, bitmaps, lists, mask, counts):
    for t in range(len(lists)):
        slot = dense_slot[lists[t]]
        count = 0
        if slot >= 0:
            for word in range(bitmaps.shape[1]):
                count += popcount(bitmaps[slot, word] & mask[word])
        else:
            for i in range(ptr[lists[t]], ptr[lists[t] + 1]):
                row = np.uint64(rows[i])
                count += np.int64(mask[row >> np.uint64(6)] >> (row & np.uint64(63)) & np.uint64(1))
        counts[t] = count


@kernel
def _count_dead(ptr, rows, dense_slot, bitmaps, lists, dead, counts):
    """Look dead rows up in bitmaps; of a list and the dead, the shorter in the longer."""
    for t in range(len(lists)):
        slot = dense_slot[lists[t]]
        own = rows[ptr[lists[t]] : ptr[lists[t] + 1]]
        count = 0
        if slot >= 0:
            for i in range(len(dead)):
                row = np.uint64(dead[i])
                word = bitmaps[slot, row >> np.uint64(6)]
                count += np.int64(word >> (row & np.uint64(63)) & np.uint64(1))
        elif len(own) < len(dead):
            for i in range(len(own)):
                count += _holds(dead, np.int64(own[i]))
        else:
            for i in range(len(dead)):
                count += _holds(own, dead[i])
        counts[t] = count


@kernel_part
def _holds(ascending, row):
    """1 when an ascending array holds a row, else 0."""
    first, size = 0, len(ascending)
    while size > 1:
        half = size >> 1
        first += half if np.int64(ascending[first + half]) <= row else 0
        size -= half
    return np.int64(size == 1 and np.int64(ascending[first]) == row)
