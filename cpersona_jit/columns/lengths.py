"""What the length of a text weighs, and what lengths are usual."""

from __future__ import annotations

import numpy as np


def length_factor(lengths: np.ndarray, exponent: float) -> np.ndarray:
    """Return ``65535 * length ** -exponent`` of each length: uint16, at least 1."""
    scaled = 65535.0 * np.maximum(lengths, 1).astype(np.float64) ** -exponent
    return np.maximum(np.rint(scaled), 1).astype(np.uint16)


def median_of(lengths: np.ndarray) -> float:
    """Return the median of some lengths, one at least; they are counted, not sorted."""
    behind = np.cumsum(np.bincount(lengths))
    middle = np.array([(lengths.size - 1) // 2, lengths.size // 2])
    return float(np.searchsorted(behind, middle, side="right").mean())
