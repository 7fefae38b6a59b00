"""Evidence of the rows that stand beside the candidates of a recall, in one call."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.evidence import evidence_of_row
from cpersona_jit.kernels.int8_scan import measure_rows, tier_tag
from cpersona_jit.kernels.numpy_path.draw import Measured
from cpersona_jit.kernels.structure import fill_neighbours

__all__ = ["evidence_beside", "near_evidence_beside"]

_BESIDE = 4  # rows that `structure.neighbour_rows` finds of each


def evidence_beside(
    arrays: tuple[np.ndarray, ...],
    weights: np.ndarray,
    bias: float,
    before: np.ndarray,
    after: np.ndarray,
    mask: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:
    """Compute the evidence of the rows beside some rows.

    Parameters
    ----------
    arrays : tuple of ndarray
        The first six parameters of `evidence.evidence_at`.
    weights : float64 (7,)
        Weight of each signal.
    bias : float
        What each sum starts from.
    before, after, mask, rows : ndarray
        As in `structure.neighbour_rows`.

    Returns
    -------
    float64 (4, P)
        In the order of `structure.neighbour_rows`; -inf where there is no row.
    """
    near = np.empty((_BESIDE, len(rows)), np.int64)
    out = np.empty(near.shape)
    _sum_beside(*arrays, weights, bias, before, after, mask, rows, near, out)
    return out


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
    """Compute the same in a large scope, measuring the dense signals of the rows first.

    Parameters
    ----------
    arrays, weights, bias, before, after, mask, rows
        As in `evidence_beside`.
    measured : Measured
        As in `draw.draw_near_rows`.
    """
    near = np.empty((_BESIDE, len(rows)), np.int64)
    out = np.empty(near.shape)
    where = before, after, mask, rows, near, out
    _sum_near_beside(*arrays, weights, bias, *where, tier_tag(), *measured)
    return out


@kernel
def _sum_beside(
    dense,
    gram3,
    gram4,
    parted,
    place,
    values,
    weights,
    bias,
    before,
    after,
    mask,
    rows,
    near,
    out,
):
    fill_neighbours(before, after, mask, rows, near)
    _sum_near(dense, gram3, gram4, place, values, weights, bias, near, out)


@kernel
def _sum_near_beside(
    dense,
    gram3,
    gram4,
    parted,
    place,
    values,
    weights,
    bias,
    before,
    after,
    mask,
    rows,
    near,
    out,
    tier,
    codes,
    block_codes,
    planes,
    embedded,
    block_mask,
    block_ptr,
    means,
    known,
    own,
    best,
):
    fill_neighbours(before, after, mask, rows, near)
    asked, count = np.empty(near.size, np.int64), 0
    for beside in range(near.shape[0]):
        for p in range(near.shape[1]):
            if near[beside, p] >= 0:
                asked[count] = near[beside, p]
                count += 1
    where = codes, block_codes, planes, embedded, block_mask, place, block_ptr, means
    measure_rows(tier, *where, asked[:count], known, dense, own, best)
    _sum_near(dense, gram3, gram4, place, values, weights, bias, near, out)


@kernel_part
def _sum_near(dense, gram3, gram4, place, values, weights, bias, near, out):
    for beside in range(near.shape[0]):
        for p in range(near.shape[1]):
            out[beside, p] = -np.inf
            if near[beside, p] >= 0:
                out[beside, p] = evidence_of_row(
                    dense, gram3, gram4, place, values, weights, bias, near[beside, p]
                )
