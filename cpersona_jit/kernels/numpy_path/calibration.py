"""Calibrated fusion as a linear form: from the moments of a query's signals to one weight each.

Every step of the pipeline standardises a weighted sum of signals, and standardising a sum needs
only the signals' means and covariances. So the whole pipeline is, for one query, a weighted sum of
the raw signals, whose weights are computed here. The same operations in the same order as
``kernels.calibration``, in Python's own floats, which are the same IEEE numbers.
"""

from __future__ import annotations

import math

import numpy as np

# The signals, in the order of every array of them.
DENSE_ROW, DENSE_BLOCK, GRAM3_ROW, GRAM4_ROW, GRAM3_BLOCK, GRAM4_BLOCK, LN_BLOCKS = range(7)
SIGNALS = 7
LN_SCALE = 4096.0  # the signal ln_blocks holds round(4096 ln m)

# The parameters, in the order of the array.
BLOCK_PENALTY, DENSE_ROW_SHARE, GRAM3_SHARE, GRAM4_SHARE, GRAM_ROW_SHARE = range(5)
DENSE_WEIGHT, GRAM_WEIGHT, CONDITIONAL = range(5, 8)
PARAMETERS = 8
MAX_CORRELATION = 0.9


def calibrate(covariance: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Return the weights of the dense evidence, the gram evidence and their fusion.

    ``D = z(z(z(dense_block) - k ln m) + r z(dense_row))``,
    ``B = z(a z(gram3_block) + b z(gram4_block))``, ``T`` the same of whole rows,
    ``L = z(z(B + t T) - k ln m)`` and ``F = u D + v L``; z standardises over the admitted rows.

    Parameters
    ----------
    covariance : float64 (7, 7)
        Of the signals over the admitted rows.
    parameters : float64 (8,)
        k, r, a, b, t, u, v, and whether the gram evidence is taken given the dense one
        (``L - rho D`` in place of L, rho their correlation clipped to 0..0.9).

    Returns
    -------
    float64 (3, 7)
        Rows D, L and F: the evidence of a row is the sum of ``weight * (signal - mean)``.
    """
    cov = covariance.tolist()
    p = parameters.tolist()
    penalty = p[BLOCK_PENALTY] / LN_SCALE
    dense = _unit(cov, _only(DENSE_BLOCK))
    dense[LN_BLOCKS] -= penalty
    dense = _unit(cov, dense) if _varies(cov, DENSE_BLOCK) else _only(-1)
    dense = _unit(cov, _sum(dense, p[DENSE_ROW_SHARE], _unit(cov, _only(DENSE_ROW))))
    best = _pair(cov, p, GRAM3_BLOCK, GRAM4_BLOCK)
    whole = _pair(cov, p, GRAM3_ROW, GRAM4_ROW)
    gram = _unit(cov, _sum(best, p[GRAM_ROW_SHARE], whole))
    if any(gram):
        gram[LN_BLOCKS] -= penalty
        gram = _unit(cov, gram)
    fused_gram = gram
    if p[CONDITIONAL] != 0.0:
        rho = min(max(_product(cov, dense, gram), 0.0), MAX_CORRELATION)
        fused_gram = _sum(gram, -rho, dense)
    zero = [0.0] * SIGNALS
    fused = _sum(_sum(zero, p[DENSE_WEIGHT], dense), p[GRAM_WEIGHT], fused_gram)
    return np.array([dense, gram, fused])


def _only(signal: int) -> list[float]:
    form = [0.0] * SIGNALS
    if signal >= 0:
        form[signal] = 1.0
    return form


def _varies(cov: list[list[float]], signal: int) -> bool:
    return cov[signal][signal] > 0.0


def _sum(a: list[float], weight: float, b: list[float]) -> list[float]:
    return [x + weight * y for x, y in zip(a, b, strict=True)]


def _pair(cov: list[list[float]], p: list[float], three: int, four: int) -> list[float]:
    zero = [0.0] * SIGNALS
    form = _sum(zero, p[GRAM3_SHARE], _unit(cov, _only(three)))
    return _unit(cov, _sum(form, p[GRAM4_SHARE], _unit(cov, _only(four))))


def _unit(cov: list[list[float]], form: list[float]) -> list[float]:
    """Scale a form to deviation 1; a form that does not vary becomes zero."""
    variance = _product(cov, form, form)
    if not variance > 0.0:
        return [0.0] * SIGNALS
    scale = 1.0 / math.sqrt(variance)
    return [x * scale for x in form]


def _product(cov: list[list[float]], a: list[float], b: list[float]) -> float:
    total = 0.0
    for i in range(SIGNALS):
        for j in range(SIGNALS):
            total += a[i] * cov[i][j] * b[j]
    return total
