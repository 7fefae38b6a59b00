"""Gram index built and read with NumPy alone; same results as `cpersona_jit.kernels.gram_index`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.gram_lists import LEVELS, GramIndex, empty_lists, key_slots, vocabulary
from cpersona_jit.kernels.row_mask import pack_mask


def build_gram_index(
    row_ptr: np.ndarray, row_keys: np.ndarray, row_counts: np.ndarray, n: int
) -> GramIndex:
    """Invert rows of grams; see `cpersona_jit.kernels.gram_index.build_gram_index`."""
    keys = vocabulary(row_keys)
    grams = np.searchsorted(keys, row_keys)
    level_df = np.stack(
        [np.bincount(grams[row_counts >= level], minlength=len(keys)) for level in _levels()]
    )
    index = empty_lists(keys, key_slots(keys), level_df, n)
    lists, rows = _postings(index, row_ptr, grams, row_counts)
    slots = index.dense_slot[lists]
    index.rows[:] = rows[slots < 0]
    set_bits(index.bitmaps, slots[slots >= 0], rows[slots >= 0])
    return index


def masked_document_frequency(index: GramIndex, lists: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Admitted rows in each list; see the kernel of the same name."""
    counts = np.empty(len(lists), np.int64)
    for i, posting_list in enumerate(lists):
        slot = index.dense_slot[posting_list]
        if slot >= 0:
            words = index.bitmaps[slot]
            counts[i] = np.bitwise_count(words & mask[: len(words)]).sum()
        else:
            rows = index.rows[index.ptr[posting_list] : index.ptr[posting_list + 1]]
            admitted = mask[rows >> 6] >> (rows & 63).astype(np.uint64) & np.uint64(1)
            counts[i] = admitted.sum()
    return counts


def dead_document_frequency(
    index: GramIndex, lists: np.ndarray, dead_rows: np.ndarray
) -> np.ndarray:
    """Dead rows in each list; see the kernel of the same name."""
    is_dead = np.zeros(index.n, bool)
    is_dead[dead_rows] = True
    return masked_document_frequency(index, lists, pack_mask(is_dead))


def lookup_keys(index: GramIndex, keys: np.ndarray) -> np.ndarray:
    """Positions of keys in the vocabulary, -1 for none; see the kernel of the same name."""
    if not index.keys.size:
        return np.full(keys.size, -1, np.int64)
    at = np.minimum(np.searchsorted(index.keys, keys), index.keys.size - 1)
    return np.where(index.keys[at] == keys, at, -1).astype(np.int64)


def _levels() -> range:
    return range(1, LEVELS + 1)


def _postings(
    index: GramIndex, row_ptr: np.ndarray, grams: np.ndarray, row_counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """All (list, row) pairs by list, rows ascending within a list."""
    row_of = np.repeat(np.arange(index.n, dtype=np.uint32), np.diff(row_ptr))
    list_of_gram = (np.arange(len(index.keys)), index.level2, index.level3)
    held = [row_counts >= level for level in _levels()]
    lists = np.concatenate([list_of_gram[i][grams[held[i]]] for i in range(LEVELS)])
    rows = np.concatenate([row_of[here] for here in held])
    order = np.argsort(lists, kind="stable")
    return lists[order], rows[order]


def set_bits(bitmaps: np.ndarray, slots: np.ndarray, rows: np.ndarray) -> None:
    """Set the bits of some rows, each in the bitmap of its slot."""
    words = slots.astype(np.int64) * bitmaps.shape[1] + (rows >> 6)
    bits = np.uint64(1) << (rows & 63).astype(np.uint64)
    np.bitwise_or.at(bitmaps.reshape(-1), words, bits)
