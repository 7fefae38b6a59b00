"""Two gram indexes made one, and rows dropped: posting lists are copied, nothing is sorted."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.bits import popcount, trailing_zeros
from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.gram_index import masked_document_frequency
from cpersona_jit.kernels.gram_lists import GramIndex, empty_lists
from cpersona_jit.kernels.gram_lookup import key_slots
from cpersona_jit.kernels.numpy_path.gram_merge import kept_parts, level_frequency, list_targets

__all__ = ["merge_gram_index"]

_WHOLE_WORD = ~np.uint64(0)


def merge_gram_index(
    base: GramIndex, added: GramIndex, keep: np.ndarray | None = None
) -> GramIndex:
    """Index of the rows of two indexes, without those that are dropped.

    Takes time in proportion to the postings, the bitmaps and the vocabularies.

    Parameters
    ----------
    base, added : GramIndex
        The rows of `added` follow those of `base`.
    keep : uint64 (ceil((base.n + added.n) / 64),) or None
        Rows that stay, numbered through both; they are renumbered without gaps. None keeps all.

    Returns
    -------
    GramIndex
        The same arrays as `build_gram_index` makes of the kept rows.
    """
    parts = kept_parts(base, added, keep)
    frequencies = [_kept_frequency(part.index, part.words, part.all_kept) for part in parts]
    firsts = [df[: len(part.index.keys)] for part, df in zip(parts, frequencies, strict=True)]
    keys, *grams = _merged(base.keys, firsts[0], added.keys, firsts[1])
    level_df = level_frequency(len(keys), parts, grams, frequencies)
    index = empty_lists(keys, key_slots(keys), level_df, sum(part.kept for part in parts))
    cursor = index.ptr[:-1].copy()
    first = 0
    for part, of_part in zip(parts, grams, strict=True):
        own, targets = part.index, list_targets(part.index, of_part, index)
        source = own.ptr, own.rows, own.dense_slot, own.bitmaps
        into = index.dense_slot, index.rows, index.bitmaps, cursor
        _copy_lists(*source, part.words, part.places, first, targets, *into)
        first += part.kept
    return index


def _kept_frequency(index: GramIndex, words: np.ndarray, all_kept: bool) -> np.ndarray:
    """Kept rows of every list, int64."""
    if all_kept:
        return index.df.astype(np.int64)
    return masked_document_frequency(index, np.arange(len(index.df)), words)


def _merged(base_keys, base_df, added_keys, added_df):
    """Vocabulary of the kept rows, and the number in it of each gram of either part, or -1."""
    keys = np.empty(len(base_keys) + len(added_keys), np.uint64)
    of_base, of_added = np.empty(len(base_keys), np.int64), np.empty(len(added_keys), np.int64)
    filled = _merge_keys(base_keys, base_df, added_keys, added_df, keys, of_base, of_added)
    return keys[:filled].copy(), of_base, of_added


@kernel
def _merge_keys(base_keys, base_df, added_keys, added_df, keys, of_base, of_added):
    filled, b, a = 0, 0, 0
    while b < len(base_keys) or a < len(added_keys):
        from_base = a == len(added_keys) or (b < len(base_keys) and base_keys[b] <= added_keys[a])
        from_added = b == len(base_keys) or (a < len(added_keys) and added_keys[a] <= base_keys[b])
        held = (from_base and base_df[b] > 0) or (from_added and added_df[a] > 0)
        gram = filled if held else -1
        if held:
            keys[filled] = base_keys[b] if from_base else added_keys[a]
            filled += 1
        if from_base:
            of_base[b] = gram
            b += 1
        if from_added:
            of_added[a] = gram
            a += 1
    return filled


@kernel
def _copy_lists(
    ptr,
    rows,
    dense_slot,
    bitmaps,
    keep,
    places,
    first,
    targets,
    to_slot,
    to_rows,
    to_bitmaps,
    cursor,
):
    """Append a part's lists to those that they become; its kept rows are numbered from `first`."""
    for source in range(len(targets)):
        target = targets[source]
        if target < 0:
            continue
        slot, into = dense_slot[source], to_slot[target]
        if slot < 0:
            for i in range(ptr[source], ptr[source + 1]):
                if places[rows[i]] >= 0:
                    _append(places[rows[i]], target, into, to_rows, to_bitmaps, cursor)
        elif into >= 0:
            _copy_bitmap(bitmaps[slot], keep, first, to_bitmaps[into])
        else:
            for word in range(len(keep)):
                bits = bitmaps[slot, word] & keep[word]
                while bits != 0:
                    row = 64 * word + trailing_zeros(bits)
                    bits &= bits - np.uint64(1)
                    _append(places[row], target, into, to_rows, to_bitmaps, cursor)


@kernel_part
def _append(row, target, slot, to_rows, to_bitmaps, cursor):
    if slot >= 0:
        to_bitmaps[slot, row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    else:
        to_rows[cursor[target]] = row
        cursor[target] += 1


@kernel_part
def _copy_bitmap(bitmap, keep, first, target):
    """Write the kept bits of a bitmap one behind the other, from bit `first` of the target on."""
    at = first
    for word in range(len(keep)):
        kept = keep[word]
        bits = bitmap[word]
        if kept != _WHOLE_WORD:
            bits = _close_gaps(bits, kept)
        over = np.uint64(at & 63)
        target[at >> 6] |= bits << over
        at += popcount(kept)
        if over > 0 and bits >> (np.uint64(64) - over) != 0:
            target[at >> 6] |= bits >> (np.uint64(64) - over)


@kernel_part
def _close_gaps(bits, kept):
    """The kept bits moved together at the low end, run by run."""
    packed, filled = np.uint64(0), np.uint64(0)
    while kept != 0:
        gap = np.uint64(trailing_zeros(kept))
        bits >>= gap
        kept >>= gap
        run = np.uint64(trailing_zeros(~kept))
        packed |= (bits & ((np.uint64(1) << run) - np.uint64(1))) << filled
        filled += run
        bits >>= run
        kept >>= run
    return packed
