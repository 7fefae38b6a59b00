"""Grams of the newest rows, which are read row by row because no posting list holds them yet.

A row has some hundred grams and a query has few of them. Each gram is looked up in a set of bits,
where one that the query lacks is hardly ever found, without a branch that could be guessed wrongly;
what is left is looked up in a table.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.gram_lists import HASH_MULTIPLIER, LEVELS
from cpersona_jit.kernels.numpy_path.gram_tail import TailMatches

__all__ = ["TailMatches", "add_tail", "tail_matches"]

_HASH_BITS = 32
_TABLE_BITS = 2  # more than it takes to number the keys: at most a quarter of the table is used
_FILTER_BITS = 7  # the same for the set of bits: at most one in 128 is set


def tail_matches(
    row_ptr: np.ndarray,
    row_keys: np.ndarray,
    row_counts: np.ndarray,
    keys: np.ndarray,
    first_row: int,
    mask: np.ndarray,
) -> TailMatches:
    """Find a query's grams in the admitted rows among those that no posting list holds.

    Parameters
    ----------
    row_ptr : int64 (t + 1,)
        Row ``first_row + r`` holds the postings ``row_ptr[r]`` to ``row_ptr[r + 1]``; the first may
        begin anywhere.
    row_keys : uint64
        Gram keys, distinct within a row.
    row_counts : uint8
        Times the row has the gram, at least 1; counts above 3 are equal to 3.
    keys : uint64 (Q,)
        The query's grams, distinct, in any order.
    first_row : int
        Row number of the first of these rows.
    mask : uint64
        Admitted rows by their row numbers, ``first_row + t`` of them at least.

    Returns
    -------
    TailMatches
        In the order of the rows, and of the postings within a row.
    """
    return TailMatches(*match_rows(row_ptr, row_keys, row_counts, keys, first_row, mask))


def add_tail(matches: TailMatches, weights: np.ndarray, counters: np.ndarray) -> None:
    """Add the weights of the grams that rows have to the counters of `gram_overlap.overlap_all`.

    Parameters
    ----------
    matches : TailMatches
        From `tail_matches`.
    weights : uint16 (3, Q)
        What a row that has the gram once, twice, three times gains each time; 0 where the query
        does not count that. They must add up to at most 65,535.
    counters : uint16
        The counter of each row, added to.
    """
    add_matches(matches.rows, matches.grams, matches.counts, weights, counters)


@kernel
def match_rows(row_ptr, row_keys, row_counts, keys, first_row, mask):
    """What `tail_matches` returns, as four arrays."""
    bits, table, present = _tables_of(keys)
    in_table = np.uint64(_HASH_BITS - bits - _TABLE_BITS)
    in_filter = np.uint64(_HASH_BITS - bits - _FILTER_BITS)
    last, low = np.uint64(len(table) - 1), np.uint64(63)
    most, widest = row_ptr[-1] - row_ptr[0], np.int64(1)
    for row in range(len(row_ptr) - 1):
        widest = max(widest, row_ptr[row + 1] - row_ptr[row])
    candidates, frequency = np.empty(widest, np.int64), np.zeros((LEVELS, len(keys)), np.int64)
    rows, grams = np.empty(most, np.int64), np.empty(most, np.int64)
    counts, filled = np.empty(most, np.uint8), 0
    for row in range(first_row, first_row + len(row_ptr) - 1):
        if not mask[row >> 6] >> np.uint64(row & 63) & np.uint64(1):
            continue
        start, end = row_ptr[row - first_row], row_ptr[row - first_row + 1]
        own_keys, own_counts, held = row_keys[start:end], row_counts[start:end], 0
        for i in range(len(own_keys)):
            bit = (own_keys[i] * HASH_MULTIPLIER >> np.uint64(_HASH_BITS)) >> in_filter
            candidates[held] = i
            held += np.int64(present[bit >> np.uint64(6)] >> (bit & low) & np.uint64(1))
        for c in range(held):
            i = candidates[c]
            at = (own_keys[i] * HASH_MULTIPLIER >> np.uint64(_HASH_BITS)) >> in_table
            while table[at] >= 0 and keys[table[at]] != own_keys[i]:
                at = (at + np.uint64(1)) & last
            if table[at] >= 0:
                count = min(own_counts[i], np.uint8(LEVELS))
                rows[filled], grams[filled], counts[filled] = row, table[at], count
                for level in range(count):
                    frequency[level, table[at]] += 1
                filled += 1
    return rows[:filled], grams[:filled], counts[:filled], frequency


@kernel_part
def _tables_of(keys):
    """The bits that number the keys, a table of them by their hashes, and the set of these."""
    bits = np.int64(1)
    while (np.int64(1) << bits) < len(keys):
        bits += 1
    table = np.empty(np.int64(1) << (bits + _TABLE_BITS), np.int32)
    for slot in range(len(table)):
        table[slot] = -1
    present = np.zeros(np.int64(1) << max(bits + _FILTER_BITS - 6, 0), np.uint64)
    in_table = np.uint64(_HASH_BITS - bits - _TABLE_BITS)
    in_filter = np.uint64(_HASH_BITS - bits - _FILTER_BITS)
    last, low = np.uint64(len(table) - 1), np.uint64(63)
    for gram in range(len(keys)):
        hashed = keys[gram] * HASH_MULTIPLIER >> np.uint64(_HASH_BITS)
        bit = hashed >> in_filter
        present[bit >> np.uint64(6)] |= np.uint64(1) << (bit & low)
        at = hashed >> in_table
        while table[at] >= 0:
            at = (at + np.uint64(1)) & last
        table[at] = gram
    return bits, table, present


@kernel
def add_matches(rows, grams, counts, weights, counters):
    """Add what `add_tail` adds."""
    for i in range(len(rows)):
        for level in range(counts[i]):
            counters[rows[i]] += weights[level, grams[i]]
