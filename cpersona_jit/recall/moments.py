"""Means and covariances of the signals, in exact sums: over a scope, or over a sample of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.parted import PartedRows
from cpersona_jit.columns.sample import Sample
from cpersona_jit.columns.snapshot import Mask
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, GRAM_STAT_SHIFT
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.two_phase import TwoPhase

_SHIFTS = np.array(
    [DENSE_STAT_SHIFT] * 2 + [GRAM_STAT_SHIFT] * 4 + [0],
    np.int64,
)
_SCALES = [1 << int(shift) for shift in _SHIFTS]


class SignalArrays(NamedTuple):
    """The signals as the kernels take them.

    A row whose blocks have scores of their own is *parted*; any other is its own one block.
    """

    dense: np.ndarray  # int32 (n,), of the whole row, as far as it was measured
    gram3: np.ndarray  # uint32 (n,)
    gram4: np.ndarray  # uint32 (n,)
    parted: np.ndarray  # int64 (m,), ascending
    place: np.ndarray  # int32 (n,), of a row among the parted ones, -1 for the others
    parted_values: np.ndarray  # int64 (7, m), all signals of the parted rows


def moments_of_all(
    mask: Mask, apart: PartedRows, arrays: SignalArrays, kernels: KernelSet
) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances over the admitted rows.

    What a row that is its own one block adds to the sums is known from its three signals; parted
    rows that are not admitted hold zeros.
    """
    alone, whole = mask.words & ~apart.words, arrays[:3]
    sums, products = kernels.scope_moments(*whole, arrays.parted_values, _SHIFTS, alone)
    return _standardised(mask.count, sums, products)


def moments_of_sample(
    arrays: SignalArrays, sample: Sample, two_phase: TwoPhase | None, kernels: KernelSet
) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances over the rows of a sample."""
    if two_phase is not None:
        sums, products = two_phase.sums_of_sample(arrays, sample, _SHIFTS)
    else:
        values = kernels.signals_at(*arrays, sample.rows)
        everyone = pack_mask(np.ones(sample.rows.size, bool))
        _, sums, products = kernels.signal_moments(values, _SHIFTS, everyone)
    return _standardised(sample.rows.size, sums, products)


def _standardised(
    count: int, sums: np.ndarray, products: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances from exact sums; the cancelling difference is taken in integers."""
    size = sums.size
    if not count:
        return np.zeros(size), np.zeros((size, size))
    exact, rows, squared = sums.tolist(), products.tolist(), count * count
    mean = [total / count * scale for total, scale in zip(exact, _SCALES, strict=True)]
    covariance = [[0.0] * size for _ in range(size)]
    for i in range(size):
        total, scale, own = exact[i], _SCALES[i], rows[i]
        for j in range(i + 1):
            spread = (count * own[j] - total * exact[j]) / squared * (scale * _SCALES[j])
            covariance[i][j] = covariance[j][i] = spread
    return np.array(mean), np.array(covariance)
