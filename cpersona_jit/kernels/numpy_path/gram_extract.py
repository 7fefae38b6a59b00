"""Grams of many texts with NumPy alone; same arrays as `cpersona_jit.kernels.gram_extract`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cpersona_jit.text.grams import gram_keys


def extract_grams(
    points: np.ndarray, ptr: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut normalised texts into grams; see the kernel of the same name."""
    rows = [gram_keys(points[start:end].astype(np.uint64), size) for start, end in pairwise(ptr)]
    row_ptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([keys.size for keys, _ in rows], out=row_ptr[1:])
    keys = np.concatenate([np.zeros(0, np.uint64), *(keys for keys, _ in rows)])
    counts = np.concatenate([np.zeros(0, np.uint8), *(counts for _, counts in rows)])
    return row_ptr, keys, counts
