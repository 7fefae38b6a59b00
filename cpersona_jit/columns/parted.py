"""Parted rows: those whose blocks have scores of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.kernels.row_mask import pack_mask


class PartedRows(NamedTuple):
    """Some rows of a snapshot, m of its n, and their blocks."""

    rows: np.ndarray  # int64 (m,), ascending
    place: np.ndarray  # int32 (n,), of a row among them, -1 for the others
    block_ptr: np.ndarray  # int64 (m + 1,), row i of them owns block_ptr[i]:block_ptr[i + 1]
    words: np.ndarray  # uint64 (ceil(n / 64),), the same rows as a mask


def parted_rows(chosen: np.ndarray, row_ptr: np.ndarray) -> PartedRows:
    """Return the rows set in a boolean array of shape (n,): all that have blocks, or more.

    Blocks lie by row: where a row without any would have them, those of the next one begin.

    Parameters
    ----------
    chosen : ndarray of bool, shape (n,)
        The rows.
    row_ptr : ndarray of int64, shape (n + 1,)
        Row r owns the blocks ``row_ptr[r]:row_ptr[r + 1]``.
    """
    rows = np.flatnonzero(chosen)
    place = np.full(chosen.size, -1, np.int32)
    place[rows] = np.arange(rows.size)
    return PartedRows(rows, place, np.append(row_ptr[rows], row_ptr[-1]), pack_mask(chosen))
