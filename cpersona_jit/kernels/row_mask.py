"""Row masks: 64 rows to a uint64 word, row ``r`` is bit ``r & 63`` of word ``r >> 6``."""

from __future__ import annotations

import numpy as np


def pack_mask(admitted: np.ndarray) -> np.ndarray:
    """Pack one bool per row into words.

    Parameters
    ----------
    admitted : ndarray of bool, shape (n,)
        Which rows a scan may see.

    Returns
    -------
    ndarray of uint64, shape (ceil(n / 64),)
        Bits past ``n`` are zero.
    """
    words = np.zeros((admitted.shape[0] + 63) // 64, "<u8")
    packed = np.packbits(admitted, bitorder="little")
    words.view(np.uint8)[: packed.shape[0]] = packed
    return words.astype(np.uint64, copy=False)


def admitted_rows(mask: np.ndarray) -> np.ndarray:
    """Return the rows of a mask, ascending.

    Parameters
    ----------
    mask : ndarray of uint64, shape (ceil(n / 64),)
        Bits past ``n`` are zero.

    Returns
    -------
    ndarray of int64
    """
    bits = np.unpackbits(mask.astype("<u8", copy=False).view(np.uint8), bitorder="little")
    return np.flatnonzero(bits).astype(np.int64, copy=False)


def has_rows(mask: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return whether a mask admits each of `rows`, bool, in their order."""
    return (mask[rows >> 6] >> (rows & 63).astype(np.uint64)) & np.uint64(1) == 1


def count_admitted(mask: np.ndarray) -> int:
    """Return how many rows a mask admits."""
    return int(np.bitwise_count(mask).sum())
