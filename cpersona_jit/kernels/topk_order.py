"""The key that orders rows: score first, then the lowest row. NumPy only."""

from __future__ import annotations

import numpy as np

ROW_BITS = 31
ROW_MASK = (1 << ROW_BITS) - 1


def pack_keys(scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Join scores and rows into keys whose integer order is the order of recall.

    Parameters
    ----------
    scores : ndarray of int64, shape (m,)
        Exact integer scores that fit 32 signed bits.
    rows : ndarray of int64, shape (m,)
        Row positions, ``0 <= row < 2**31``.

    Returns
    -------
    ndarray of int64, shape (m,)
        ``(score << 31) | (0x7fffffff - row)``: a larger key is a better row, and of two rows with
        one score the lower row has the larger key.
    """
    return (scores << ROW_BITS) | (ROW_MASK - rows)


def largest_keys(keys: np.ndarray, k: int) -> np.ndarray:
    """Return the ``k`` largest keys (all of them if there are fewer), best first.

    Parameters
    ----------
    keys : ndarray of int64, shape (m,)
        Keys in any order.
    k : int
        How many to keep; 0 or less keeps none.

    Returns
    -------
    ndarray of int64, shape (min(m, k),)
    """
    if k <= 0:
        return np.empty(0, np.int64)
    if k < keys.shape[0]:
        keys = np.partition(keys, keys.shape[0] - k)[-k:]
    return np.sort(keys)[::-1].copy()


def unpack_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split keys into rows and scores, score descending and row ascending.

    Parameters
    ----------
    keys : ndarray of int64, shape (m,)
        Keys in any order.

    Returns
    -------
    rows, scores : ndarray of int64, shape (m,)
    """
    ordered = np.sort(keys)[::-1]
    return ROW_MASK - (ordered & ROW_MASK), ordered >> ROW_BITS
