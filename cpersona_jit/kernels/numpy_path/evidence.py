"""Evidence of calibrated fusion with NumPy alone; same results as `kernels.evidence`."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.row_mask import admitted_rows

# Where the signals of a row that is its own one block come from: dense, 3-grams, 4-grams, and no
# logarithm of a number of blocks.
_OF_WHOLE = (0, 0, 1, 2, 1, 2)


def linear_scores(
    signals: np.ndarray, weights: np.ndarray, bias: float, mask: np.ndarray, out: np.ndarray
) -> None:
    """Weighted sum of the signals; see the kernel of the same name."""
    rows = admitted_rows(mask)
    total = np.full(len(rows), bias, np.float64)
    for signal, weight in zip(signals, weights, strict=True):
        total += weight * signal[rows]
    out.fill(-np.inf)
    out[rows] = total


def top_rows(scores: np.ndarray, k: int) -> np.ndarray:
    """Find the best rows of a score; see the kernel of the same name."""
    rows = np.flatnonzero(scores > -np.inf) if k > 0 else np.empty(0, np.int64)
    if 0 < k < len(rows):
        found = scores[rows]
        limit = np.partition(found, len(rows) - k)[len(rows) - k]
        above, level = np.flatnonzero(found > limit), np.flatnonzero(found == limit)
        rows = rows[np.sort(np.concatenate((above, level[: k - len(above)])))]
    return rows[np.argsort(-scores[rows], kind="stable")]


def best_rows(
    dense: np.ndarray,
    gram3: np.ndarray,
    gram4: np.ndarray,
    parted: np.ndarray,
    place: np.ndarray,
    parted_values: np.ndarray,
    weights: np.ndarray,
    bias: float,
    mask: np.ndarray,
    k: int,
) -> np.ndarray:
    """Find the rows of the most evidence; see the kernel of the same name."""
    rows = admitted_rows(mask)
    of_rows = evidence_at(
        dense, gram3, gram4, parted, place, parted_values, weights[None], np.array([bias]), rows
    )
    return rows[top_rows(of_rows[0], k)]


def evidence_at(
    dense: np.ndarray,
    gram3: np.ndarray,
    gram4: np.ndarray,
    parted: np.ndarray,
    place: np.ndarray,
    parted_values: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:
    """Evidence of some rows; see the kernel of the same name."""
    values = signals_at(dense, gram3, gram4, parted, place, parted_values, rows)
    total = np.repeat(np.asarray(bias, np.float64)[:, None], len(rows), axis=1)
    for signal, weight in zip(values, weights.T, strict=True):
        total += weight[:, None] * signal
    return total


def signals_at(
    dense: np.ndarray,
    gram3: np.ndarray,
    gram4: np.ndarray,
    parted: np.ndarray,
    place: np.ndarray,
    parted_values: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:
    """Return all signals of some rows, int64, shape (7, P); parameters as in `evidence_at`."""
    whole = dense[rows], gram3[rows], gram4[rows]
    values = np.zeros((len(parted_values), len(rows)), np.int64)
    for signal, of in enumerate(_OF_WHOLE):
        values[signal] = whole[of]
    at = place[rows]
    own = np.flatnonzero(at >= 0)
    values[:, own] = parted_values[:, at[own]]
    return values
