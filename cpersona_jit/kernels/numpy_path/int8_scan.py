"""The int8 scan without Numba: what answers while the kernels compile, with the same integers."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.row_mask import admitted_rows, has_rows
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, ScanStats
from cpersona_jit.kernels.topk_order import largest_keys, pack_keys

# Rows turned into float64 at a time: 2**12 rows of 384 take 12 MiB.
CHUNK_ROWS = 4096


def dense_top_k(
    codes: np.ndarray, planes: np.ndarray, mask: np.ndarray, k: int
) -> tuple[np.ndarray, ScanStats]:
    """Find the ``k`` rows of the largest dot product; see ``kernels.int8_scan.dense_top_k``."""
    rows = admitted_rows(mask)
    scores = dense_scores(codes, planes, rows)
    return largest_keys(pack_keys(scores, rows), k), _statistics(scores)


def dense_all(
    codes: np.ndarray, planes: np.ndarray, mask: np.ndarray, out: np.ndarray
) -> ScanStats:
    """Score every admitted row; see ``kernels.int8_scan.dense_all``."""
    rows = admitted_rows(mask)
    scores = dense_scores(codes, planes, rows)
    out.fill(0)
    out[rows] = scores
    return _statistics(scores)


def dense_scores(codes: np.ndarray, planes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Score the given rows; see ``kernels.int8_scan.dense_scores``."""
    query = planes[0].astype(np.float64) * 128 + planes[1]
    scores = np.empty(rows.shape[0], np.int64)
    for start in range(0, rows.shape[0], CHUNK_ROWS):
        chunk = slice(start, start + CHUNK_ROWS)
        # float64 holds every partial sum exactly, so BLAS may add in any order.
        scores[chunk] = codes[rows[chunk]].astype(np.float64) @ query
    return scores


def dense_at(
    codes: np.ndarray,
    block_codes: np.ndarray,
    planes: np.ndarray,
    mask: np.ndarray,
    block_mask: np.ndarray,
    place: np.ndarray,
    block_ptr: np.ndarray,
    means: np.ndarray,
    rows: np.ndarray,
    known: np.ndarray,
    dense: np.ndarray,
    own: np.ndarray,
    best: np.ndarray,
) -> None:
    """Score some rows and their blocks; see ``kernels.int8_scan.dense_at``."""
    rows = np.unique(rows[~known[rows]])
    known[rows] = True
    seen = has_rows(mask, rows)
    dense[rows[seen]] = dense_scores(codes, planes, rows[seen])
    dense[rows[~seen]] = means[0]
    for row, has_vector in zip(rows.tolist(), seen.tolist(), strict=True):
        at = int(place[row])
        if at < 0:
            continue
        own[at] = dense[row]
        blocks = np.arange(block_ptr[at], block_ptr[at + 1])
        blocks = blocks[has_rows(block_mask, blocks)]
        best[at] = own[at] if has_vector else means[1]
        if has_vector and blocks.size:
            best[at] = dense_scores(block_codes, planes, blocks).max()


def _statistics(scores: np.ndarray) -> ScanStats:
    shifted = scores >> DENSE_STAT_SHIFT
    return ScanStats(scores.shape[0], int(shifted.sum()), int((shifted * shifted).sum()))
