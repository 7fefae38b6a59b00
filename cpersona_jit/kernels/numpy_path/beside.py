"""Evidence of rows beside others with NumPy alone; same bits as `cpersona_jit.kernels.beside`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.numpy_path.draw import Measured, measure
from cpersona_jit.kernels.numpy_path.evidence import evidence_at
from cpersona_jit.kernels.numpy_path.structure import neighbour_rows


def evidence_beside(
    arrays: tuple[np.ndarray, ...],
    weights: np.ndarray,
    bias: float,
    before: np.ndarray,
    after: np.ndarray,
    mask: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:
    """Evidence of the rows beside some rows; see the kernel of the same name."""
    near = neighbour_rows(before, after, mask, rows)
    return _evidence(arrays, weights, bias, near)


def near_evidence_beside(
    arrays: tuple[np.ndarray, ...],
    weights: np.ndarray,
    bias: float,
    before: np.ndarray,
    after: np.ndarray,
    mask: np.ndarray,
    rows: np.ndarray,
    measured: Measured,
) -> np.ndarray:
    """Evidence of rows that are measured first; see the kernel of the same name."""
    near = neighbour_rows(before, after, mask, rows)
    measure(arrays, measured, near[near >= 0])
    return _evidence(arrays, weights, bias, near)


def _evidence(
    arrays: tuple[np.ndarray, ...], weights: np.ndarray, bias: float, near: np.ndarray
) -> np.ndarray:
    out, there = np.full(near.shape, -np.inf), near >= 0
    out[there] = evidence_at(*arrays, weights[None], np.array([bias]), near[there])[0]
    return out
