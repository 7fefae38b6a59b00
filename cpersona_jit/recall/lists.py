"""The lists: the rows that each kind of evidence hands to the pool."""

from __future__ import annotations

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.kernels.numpy_path.calibration import (
    GRAM3_BLOCK,
    GRAM3_ROW,
    GRAM4_BLOCK,
    GRAM4_ROW,
)
from cpersona_jit.recall.adaptive_settings import Calibration
from cpersona_jit.recall.evidence import DENSE, GRAM, Evidence


def draw_lists(
    columns: Columns,
    calibration: Calibration,
    evidence: Evidence,
    region: np.ndarray | None,
    depth: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best rows of the dense and of the gram evidence, best first.

    Rows that all show the same, as the one row of a young store does, are listed lowest first. A
    row without a vector is in no dense list, and one that shares no gram in no gram list, however
    few others are: having nothing against a row is no reason to find it.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    calibration : Calibration
        A gram size without a share is not looked at.
    evidence : Evidence
        Of the rows.
    region : ndarray of bool, shape (n,), or None
        Rows that the lists may hold; None for all that are admitted.
    depth : int
        Length of a list at most.

    Returns
    -------
    dense, gram : ndarray of int64
    """
    words, dense = evidence.within(region), np.zeros(0, np.int64)
    if evidence.signals.compared:
        dense = evidence.best(DENSE, words & columns.embedded.words, depth)
    gram = evidence.best(GRAM, words, depth)
    return dense, gram[shows_grams(evidence.signals.of(gram), calibration)]


def shows_grams(values: np.ndarray, calibration: Calibration) -> np.ndarray:
    """Return which rows share a gram with the query, of a size that has a share.

    Parameters
    ----------
    values : ndarray of int64, shape (7, rows)
        Signals of the rows.
    calibration : Calibration
        The shares.
    """
    found = np.zeros(values.shape[1], bool)
    for share, row, block in (
        (calibration.gram3_share, GRAM3_ROW, GRAM3_BLOCK),
        (calibration.gram4_share, GRAM4_ROW, GRAM4_BLOCK),
    ):
        if share:
            found |= (values[row] != 0) | (values[block] != 0)
    return found
