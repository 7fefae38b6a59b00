"""The candidate pool: one row per candidate, one column per property."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.kernels.row_mask import has_rows
from cpersona_jit.recall.arms import ArmResult


@dataclass(frozen=True)
class Pool:
    """The candidates that fusion sees: the union of what the arms handed over.

    Attributes
    ----------
    arms : tuple of ArmResult
        A arms.
    rows : ndarray of int64, shape (P,)
        Snapshot positions, in tie order: event time descending, undated last, id ascending.
    ranks : ndarray of int32, shape (A, P)
        1-based rank of the candidate in each arm's list, 0 where it is not in the list.
    scores : ndarray of int64, shape (A, P)
        The arm's score of every candidate, also of those that only another arm reached.
    z : ndarray of float64, shape (A, P)
        Scores standardised over the rows the arm could score; 0 where it could not.
    """

    arms: tuple[ArmResult, ...]
    rows: np.ndarray
    ranks: np.ndarray
    scores: np.ndarray
    z: np.ndarray


def build_pool(columns: Columns, arms: tuple[ArmResult, ...]) -> Pool:
    """Unite the arms' lists and complete the scores."""
    found = [arm.rows for arm in arms]
    rows = np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
    rows = rows[columns.tie_order(rows)]
    shape = (len(arms), rows.size)
    ranks, scores, z = np.zeros(shape, np.int32), np.zeros(shape, np.int64), np.zeros(shape)
    by_row = np.argsort(rows)
    for a, arm in enumerate(arms):
        at = by_row[np.searchsorted(rows, arm.rows, sorter=by_row)]
        ranks[a, at] = np.arange(1, arm.rows.size + 1)
        scores[a] = arm.score_rows(rows)
        z[a] = standardise(scores[a], arm.mean, arm.std)
        z[a, ~has_rows(arm.can_score, rows)] = 0.0
    return Pool(arms, rows, ranks, scores, z)


def standardise(scores: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Return ``(scores - mean) / std``; all zero when the scores do not differ."""
    if std == 0.0:
        return np.zeros(scores.size)
    return (scores.astype(np.float64) - mean) / std
