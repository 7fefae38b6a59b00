"""Retrieval: the lists drawn from the evidence, and the pool that they make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.kernels.numpy_path.draw import DrawnRows, Wanted
from cpersona_jit.recall.adaptive_settings import Calibration
from cpersona_jit.recall.evidence import FUSED, Evidence
from cpersona_jit.recall.seats import leading_rows


def draw_candidates(
    columns: Columns,
    calibration: Calibration,
    evidence: Evidence,
    regions: Sequence[np.ndarray | None],
    depth: int,
) -> DrawnRows:
    """Draw the lists of both kinds over each region and unite them.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    calibration : Calibration
        A gram size without a share is not looked at.
    evidence : Evidence
        Of the rows.
    regions : sequence of (ndarray of bool, shape (n,), or None)
        Where each pair of lists looks; None is everywhere.
    depth : int
        Length of a list at most.
    """
    words = np.array([evidence.within(region) for region in regions])
    wanted = Wanted(depth, bool(calibration.gram3_share), bool(calibration.gram4_share))
    return evidence.draw(columns, words, wanted)


def inside_of(regions: Sequence[np.ndarray | None], period: np.ndarray) -> np.ndarray:
    """Return the rows of a period that lie in one of the regions, bool, shape (n,)."""
    if any(region is None for region in regions):
        return period
    return period & np.any(regions, axis=0)


def kept_candidates(found: DrawnRows, prior: np.ndarray, cap: int) -> np.ndarray:
    """Return the candidates that stay, ascending: a prior above 0, and the most fused evidence.

    Under the cap the best row of each kind of evidence is kept before any other.

    Parameters
    ----------
    found : DrawnRows
        The candidates, P of them; of equals the lowest row is kept.
    prior : ndarray of float64, shape (P,)
        Prior of each candidate.
    cap : int
        Candidates to keep.
    """
    stays = np.flatnonzero(prior > 0.0)
    if stays.size <= cap:
        return stays
    rows, evidence = found.rows[stays], found.evidence[:, stays]
    behind = np.ones(rows.size, bool)
    leaders = leading_rows(found.reached[:, stays], evidence, rows)
    behind[leaders[leaders >= 0]] = False
    return stays[np.sort(np.lexsort((rows, -evidence[FUSED], behind))[:cap])]
