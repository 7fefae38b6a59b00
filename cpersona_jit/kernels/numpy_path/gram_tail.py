"""Grams of the newest rows with NumPy alone; same arrays as `cpersona_jit.kernels.gram_tail`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.kernels.gram_lists import LEVELS
from cpersona_jit.kernels.row_mask import has_rows


class TailMatches(NamedTuple):
    """Where grams of a query occur in rows that no posting list holds yet; M of these places.

    Attributes
    ----------
    rows : int64 (M,)
        Row of each, ascending.
    grams : int64 (M,)
        Which of the query's grams it has.
    counts : uint8 (M,)
        Times the row has it, at most 3.
    frequency : int64 (3, Q)
        Admitted rows that have each of the query's grams at least once, twice, three times: what
        the tail adds to the document frequencies of the lists.
    """

    rows: np.ndarray
    grams: np.ndarray
    counts: np.ndarray
    frequency: np.ndarray


def tail_matches(
    row_ptr: np.ndarray,
    row_keys: np.ndarray,
    row_counts: np.ndarray,
    keys: np.ndarray,
    first_row: int,
    mask: np.ndarray,
) -> TailMatches:
    """Find a query's grams in rows that no list holds; see the kernel of the same name."""
    row_of = first_row + np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))
    held = row_keys[row_ptr[0] : row_ptr[-1]]
    order = np.argsort(keys, kind="stable")
    at = np.searchsorted(keys[order], held)
    known = at < len(keys)
    known[known] = keys[order[at[known]]] == held[known]
    known &= has_rows(mask, row_of)
    rows, grams = row_of[known], order[at[known]]
    counts = np.minimum(row_counts[row_ptr[0] : row_ptr[-1]][known], LEVELS).astype(np.uint8)
    frequency = [
        np.bincount(grams[counts >= level], minlength=len(keys)) for level in range(1, LEVELS + 1)
    ]
    return TailMatches(rows, grams, counts, np.stack(frequency))


def add_tail(matches: TailMatches, weights: np.ndarray, counters: np.ndarray) -> None:
    """Add weights to the counters of the rows that match; see the kernel of the same name."""
    for level in range(LEVELS):
        here = matches.counts > level
        np.add.at(counters, matches.rows[here], weights[level, matches.grams[here]])
