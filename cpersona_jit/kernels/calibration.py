"""Calibrated fusion as a linear form, compiled, for many queries at once.

The operations and their order are those of ``numpy_path.calibration``, so both give the same bits.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from cpersona_jit.kernels.numpy_path.calibration import (
    BLOCK_PENALTY,
    CONDITIONAL,
    DENSE_BLOCK,
    DENSE_ROW,
    DENSE_ROW_SHARE,
    DENSE_WEIGHT,
    GRAM3_BLOCK,
    GRAM3_ROW,
    GRAM3_SHARE,
    GRAM4_BLOCK,
    GRAM4_ROW,
    GRAM4_SHARE,
    GRAM_ROW_SHARE,
    GRAM_WEIGHT,
    LN_BLOCKS,
    LN_SCALE,
    MAX_CORRELATION,
    SIGNALS,
)

_kernel = njit(nogil=True, error_model="numpy", cache=True)


def calibrate_many(covariance: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Calibrate every query under every setting.

    Parameters
    ----------
    covariance : float64 (Q, 7, 7)
        Of the signals over each query's admitted rows.
    parameters : float64 (S, 8)
        As in ``numpy_path.calibration.calibrate``.

    Returns
    -------
    float64 (S, Q, 3, 7)
        Weights of the dense evidence, the gram evidence and their fusion.
    """
    out = np.zeros((parameters.shape[0], covariance.shape[0], 3, SIGNALS))
    _calibrate_many(covariance, parameters, out)
    return out


def calibrate(covariance: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Calibrate one query; see ``numpy_path.calibration.calibrate``."""
    return calibrate_many(covariance[np.newaxis], parameters[np.newaxis])[0, 0]


@_kernel
def _product(cov, a, b):
    total = 0.0
    for i in range(SIGNALS):
        for j in range(SIGNALS):
            total += a[i] * cov[i, j] * b[j]
    return total


@_kernel
def _make_unit(cov, form):
    variance = _product(cov, form, form)
    if not variance > 0.0:
        form[:] = 0.0
        return
    scale = 1.0 / math.sqrt(variance)
    for i in range(SIGNALS):
        form[i] = form[i] * scale


@_kernel
def _set_only(form, signal):
    form[:] = 0.0
    form[signal] = 1.0


@_kernel
def _add(form, weight, other):
    for i in range(SIGNALS):
        form[i] = form[i] + weight * other[i]


@_kernel
def _set_pair(cov, p, three, four, form, scratch):
    form[:] = 0.0
    _set_only(scratch, three)
    _make_unit(cov, scratch)
    _add(form, p[GRAM3_SHARE], scratch)
    _set_only(scratch, four)
    _make_unit(cov, scratch)
    _add(form, p[GRAM4_SHARE], scratch)
    _make_unit(cov, form)


@_kernel
def _calibrate(cov, p, out, scratch, whole):
    dense, gram, fused = out[0], out[1], out[2]
    penalty = p[BLOCK_PENALTY] / LN_SCALE
    _set_only(dense, DENSE_BLOCK)
    _make_unit(cov, dense)
    dense[LN_BLOCKS] -= penalty
    if cov[DENSE_BLOCK, DENSE_BLOCK] > 0.0:
        _make_unit(cov, dense)
    else:
        dense[:] = 0.0
    _set_only(scratch, DENSE_ROW)
    _make_unit(cov, scratch)
    _add(dense, p[DENSE_ROW_SHARE], scratch)
    _make_unit(cov, dense)

    _set_pair(cov, p, GRAM3_BLOCK, GRAM4_BLOCK, gram, scratch)
    _set_pair(cov, p, GRAM3_ROW, GRAM4_ROW, whole, scratch)
    _add(gram, p[GRAM_ROW_SHARE], whole)
    _make_unit(cov, gram)
    if np.any(gram != 0.0):
        gram[LN_BLOCKS] -= penalty
        _make_unit(cov, gram)

    scratch[:] = gram
    if p[CONDITIONAL] != 0.0:
        rho = min(max(_product(cov, dense, gram), 0.0), MAX_CORRELATION)
        _add(scratch, -rho, dense)
    fused[:] = 0.0
    _add(fused, p[DENSE_WEIGHT], dense)
    _add(fused, p[GRAM_WEIGHT], scratch)


@_kernel
def _calibrate_many(covariance, parameters, out):
    scratch, whole = np.empty(SIGNALS), np.empty(SIGNALS)
    for s in range(parameters.shape[0]):
        for q in range(covariance.shape[0]):
            _calibrate(covariance[q], parameters[s], out[s, q], scratch, whole)
