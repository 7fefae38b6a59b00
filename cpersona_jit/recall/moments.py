"""Means and covariances of the signals, in exact sums: over a scope, or over a sample of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.parted import PartedRows
from cpersona_jit.columns.sample import Sample
from cpersona_jit.columns.snapshot import Mask
from cpersona_jit.kernels.numpy_path.calibration import (
    DENSE_BLOCK,
    DENSE_ROW,
    GRAM3_BLOCK,
    GRAM3_ROW,
    GRAM4_BLOCK,
    GRAM4_ROW,
    SIGNALS,
)
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, GRAM_STAT_SHIFT
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.two_phase import TwoPhase

_SHIFTS = np.array(
    [DENSE_STAT_SHIFT] * 2 + [GRAM_STAT_SHIFT] * 4 + [0],
    np.int64,
)
# The signals of a whole row, and which of them its block signals are when it is its own one block.
_WHOLE = [DENSE_ROW, GRAM3_ROW, GRAM4_ROW]
_ALIKE = [DENSE_ROW, DENSE_BLOCK, GRAM3_ROW, GRAM4_ROW, GRAM3_BLOCK, GRAM4_BLOCK]
_AS_WHOLE = [0, 0, 1, 2, 1, 2]
_ALIKE_PAIRS, _PAIRS_AS_WHOLE = np.ix_(_ALIKE, _ALIKE), np.ix_(_AS_WHOLE, _AS_WHOLE)


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
    sums, products = np.zeros(SIGNALS, np.int64), np.zeros((SIGNALS, SIGNALS), np.int64)
    alone = mask.words & ~apart.words
    _, of_whole, with_whole = kernels.row_moments(*arrays[:3], _SHIFTS[_WHOLE], alone)
    sums[_ALIKE] = of_whole[_AS_WHOLE]
    products[_ALIKE_PAIRS] = with_whole[_PAIRS_AS_WHOLE]
    everyone = pack_mask(np.ones(apart.rows.size, bool))
    _, of_parted, with_parted = kernels.signal_moments(arrays.parted_values, _SHIFTS, everyone)
    return _standardised(mask.count, sums + of_parted, products + with_parted)


def moments_of_sample(
    arrays: SignalArrays, sample: Sample, two_phase: TwoPhase | None, kernels: KernelSet
) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances over the rows of a sample."""
    values = kernels.signals_at(*arrays, sample.rows)
    if two_phase is not None:
        two_phase.of_sample(sample, values[DENSE_ROW], values[DENSE_BLOCK])
    everyone = pack_mask(np.ones(sample.rows.size, bool))
    _, sums, products = kernels.signal_moments(values, _SHIFTS, everyone)
    return _standardised(sample.rows.size, sums, products)


def _standardised(
    count: int, sums: np.ndarray, products: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances from exact sums; the cancelling difference is taken in integers."""
    size = sums.size
    mean, covariance = np.zeros(size), np.zeros((size, size))
    if not count:
        return mean, covariance
    scale = [1 << int(shift) for shift in _SHIFTS]
    exact = sums.tolist()
    rows = products.tolist()
    for i in range(size):
        mean[i] = exact[i] / count * scale[i]
        for j in range(i + 1):
            spread = count * rows[i][j] - exact[i] * exact[j]
            covariance[i, j] = spread / (count * count) * (scale[i] * scale[j])
            covariance[j, i] = covariance[i, j]
    return mean, covariance
