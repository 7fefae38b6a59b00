"""Layout of the inverted gram index: what both build paths share and every reader relies on.

A *posting list* is one (gram, level) pair: level 1 holds the rows that contain the gram, level 2
those that contain it at least twice, level 3 at least three times. A term frequency clipped at 3
is then the number of lists of the gram that hold the row, so a weighted sum over lists serves
binary and term-frequency scoring alike. Short lists are stored as row numbers, long ones as
bitmaps: a bitmap costs one masked add per 64 rows, whatever its length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEVELS = 3
# A list becomes a bitmap at n / 64 rows, where 64 rows of it cost about one scattered add. Lists
# shorter than 16 rows stay postings in every store, so that a tiny one has next to no bitmaps.
ROWS_PER_DENSE_ROW = 64
SHORTEST_DENSE_LIST = 16
SLOTS_PER_KEY = 2  # of the hash table: a key is found at the first or second look
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: spreads nearby keys
_VOCABULARY_CHUNK = 1 << 22


class GramIndex(NamedTuple):
    """Inverted index of grams over the rows 0..n-1, as arrays.

    Attributes
    ----------
    keys : uint64 (G,)
        Gram keys, ascending. The level-1 list of ``keys[g]`` is list ``g``.
    level2, level3 : int32 (G,)
        List id of the gram's higher levels, -1 where the list would be empty. Level-2 lists
        follow the G level-1 lists, level-3 lists follow those, each in gram order.
    ptr : int64 (L + 1,)
        Postings of a sparse list are ``rows[ptr[list] : ptr[list + 1]]``; empty for dense lists.
    rows : uint32 (ptr[L],)
        Row numbers, ascending within a list.
    dense_slot : int32 (L,)
        Row of `bitmaps` that holds a dense list, -1 for a sparse one.
    bitmaps : uint64 (dense lists, ceil(n / 64))
        Row r is bit r & 63 of word r >> 6. Bits past n are zero.
    df : int32 (L,)
        Rows in each list.
    n : int
        Rows indexed.
    slots : int32 (at least 2 G + 1,)
        Hash table of the keys, see `key_slots`.
    """

    keys: np.ndarray
    level2: np.ndarray
    level3: np.ndarray
    ptr: np.ndarray
    rows: np.ndarray
    dense_slot: np.ndarray
    bitmaps: np.ndarray
    df: np.ndarray
    n: int
    slots: np.ndarray


def vocabulary(row_keys: np.ndarray) -> np.ndarray:
    """Distinct gram keys in ascending order.

    Sorted chunk by chunk, so that the extra memory is bounded by a chunk and the vocabulary, not
    by the number of postings.
    """
    parts = [
        np.unique(row_keys[start : start + _VOCABULARY_CHUNK])
        for start in range(0, len(row_keys), _VOCABULARY_CHUNK)
    ]
    if not parts:
        return np.empty(0, np.uint64)
    return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))


def key_slots(keys: np.ndarray) -> np.ndarray:
    """Hash table of a vocabulary: the positions of its keys, by their hash.

    The table has two slots a key. A key's home is the slot ``hash * slots >> 32`` of its 32-bit
    hash; keys lie in the order of their homes, then of their positions, each in its home or in the
    first slot behind it that is free. None lies before its home, so a search goes forward from
    there, to the key or to an empty slot. The last slot is always empty; the slots behind those of
    the homes take what runs over.

    Parameters
    ----------
    keys : uint64 (G,)
        Ascending vocabulary.

    Returns
    -------
    int32 (at least 2 G + 1,)
        Position of the key in each slot, -1 in empty ones.
    """
    homes = SLOTS_PER_KEY * len(keys)
    hashes = keys * HASH_MULTIPLIER >> np.uint64(32)
    home = (hashes * np.uint64(homes) >> np.uint64(32)).astype(np.int64)
    order = np.argsort(home, kind="stable")
    steps = np.arange(len(keys))
    places = np.maximum.accumulate(home[order] - steps) + steps if len(keys) else home
    slots = np.full(max(homes, int(places.max(initial=-1)) + 1) + 1, -1, np.int32)
    slots[places] = order
    return slots


def empty_lists(keys: np.ndarray, slots: np.ndarray, level_df: np.ndarray, n: int) -> GramIndex:
    """Index with every list placed and no posting written yet.

    Parameters
    ----------
    keys : uint64 (G,)
        Ascending vocabulary.
    slots : int32
        Its hash table.
    level_df : int64 (3, G)
        Rows that hold each gram at least 1, 2 and 3 times.
    n : int
        Rows of the store.

    Returns
    -------
    GramIndex
        `rows` uninitialised and `bitmaps` zero, both of their final size; a build path fills
        them in place. A list is dense when it has at least max(16, n / 64) rows.
    """
    grams = len(keys)
    has2, has3 = level_df[1] > 0, level_df[2] > 0
    level2, level3 = np.full((2, grams), -1, np.int32)
    level2[has2] = grams + np.arange(has2.sum(), dtype=np.int32)
    level3[has3] = grams + has2.sum() + np.arange(has3.sum(), dtype=np.int32)
    df = np.concatenate((level_df[0], level_df[1][has2], level_df[2][has3])).astype(np.int32)

    dense = (df >= SHORTEST_DENSE_LIST) & (df.astype(np.int64) * ROWS_PER_DENSE_ROW >= n)
    dense_slot = np.full(len(df), -1, np.int32)
    dense_slot[dense] = np.arange(dense.sum(), dtype=np.int32)
    ptr = np.zeros(len(df) + 1, np.int64)
    np.cumsum(np.where(dense, 0, df), out=ptr[1:])
    rows = np.empty(ptr[-1], np.uint32)
    bitmaps = np.zeros((dense.sum(), (n + 63) // 64), np.uint64)
    return GramIndex(keys, level2, level3, ptr, rows, dense_slot, bitmaps, df, n, slots)
