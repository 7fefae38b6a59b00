"""Calibrated fusion as a linear form, compiled, for many queries at once.

The operations and their order are those of ``numpy_path.calibration``, so both give the same bits.
"""

from __future__ import annotations

import math

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
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
    _calibrate_many(covariance, parameters, np.empty(SIGNALS), np.empty(SIGNALS), out)
    return out


def calibrate(covariance: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Calibrate one query; see ``numpy_path.calibration.calibrate``."""
    return calibrate_many(covariance[np.newaxis], parameters[np.newaxis])[0, 0]


# Loops run to the length of an array: over a number known beforehand each would be written out, 49
# steps for every product, and compile for seconds.


@kernel_part
def _product(cov, a, b):
    total = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            total += a[i] * cov[i, j] * b[j]
    return total


@kernel_part
def _make_unit(cov, form):
    variance = _product(cov, form, form)
    scale = 1.0 / math.sqrt(variance) if variance > 0.0 else 0.0
    for i in range(len(form)):
        form[i] = form[i] * scale if variance > 0.0 else 0.0


@kernel_part
def _set_only(form, signal):
    for i in range(len(form)):
        form[i] = 1.0 if i == signal else 0.0


@kernel_part
def _add(form, weight, other):
    for i in range(len(form)):
        form[i] = form[i] + weight * other[i]


@kernel_part
def _add_unit(cov, form, weight, signal, scratch):
    _set_only(scratch, signal)
    _make_unit(cov, scratch)
    _add(form, weight, scratch)


@kernel_part
def _is_zero(form):
    found = False
    for i in range(len(form)):
        found |= form[i] != 0.0
    return not found


@kernel_part
def _set_pair(cov, p, three, four, form, scratch):
    _set_only(form, np.int64(-1))
    _add_unit(cov, form, p[GRAM3_SHARE], three, scratch)
    _add_unit(cov, form, p[GRAM4_SHARE], four, scratch)
    _make_unit(cov, form)


@kernel_part
def _calibrate(cov, p, dense, gram, fused, scratch, whole):
    penalty = p[BLOCK_PENALTY] / LN_SCALE
    nothing = np.int64(-1)
    _set_only(dense, np.int64(DENSE_BLOCK))
    _make_unit(cov, dense)
    dense[LN_BLOCKS] -= penalty
    if cov[DENSE_BLOCK, DENSE_BLOCK] > 0.0:
        _make_unit(cov, dense)
    else:
        _set_only(dense, nothing)
    _add_unit(cov, dense, p[DENSE_ROW_SHARE], np.int64(DENSE_ROW), scratch)
    _make_unit(cov, dense)

    _set_pair(cov, p, np.int64(GRAM3_BLOCK), np.int64(GRAM4_BLOCK), gram, scratch)
    _set_pair(cov, p, np.int64(GRAM3_ROW), np.int64(GRAM4_ROW), whole, scratch)
    _add(gram, p[GRAM_ROW_SHARE], whole)
    _make_unit(cov, gram)
    if not _is_zero(gram):
        gram[LN_BLOCKS] -= penalty
        _make_unit(cov, gram)

    _set_only(scratch, nothing)
    _add(scratch, 1.0, gram)
    if p[CONDITIONAL] != 0.0:
        rho = _product(cov, dense, gram)
        rho = rho if rho > 0.0 else 0.0
        _add(scratch, -(rho if rho < MAX_CORRELATION else MAX_CORRELATION), dense)
    _set_only(fused, nothing)
    _add(fused, p[DENSE_WEIGHT], dense)
    _add(fused, p[GRAM_WEIGHT], scratch)


@kernel
def _calibrate_many(covariance, parameters, scratch, whole, out):
    for s in range(parameters.shape[0]):
        for q in range(covariance.shape[0]):
            forms = out[s, q]
            _calibrate(covariance[q], parameters[s], forms[0], forms[1], forms[2], scratch, whole)
