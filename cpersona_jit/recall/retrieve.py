"""Retrieval: the lists drawn from the evidence, and the pool that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.recall.adaptive_settings import Calibration
from cpersona_jit.recall.evidence import FUSED, Evidence
from cpersona_jit.recall.lists import draw_lists
from cpersona_jit.recall.seats import leading_rows


class Found(NamedTuple):
    """The candidates; P of them, in tie order."""

    rows: np.ndarray  # int64 (P,)
    reached: np.ndarray  # bool (2, P), by the list of the dense and of the gram evidence


def draw_candidates(
    columns: Columns,
    calibration: Calibration,
    evidence: Evidence,
    regions: Sequence[np.ndarray | None],
    depth: int,
) -> Found:
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
    lists = [draw_lists(columns, calibration, evidence, region, depth) for region in regions]
    of_kind = [members for pair in lists for members in pair]
    bits = np.repeat(np.array([1, 2] * len(lists), np.uint8), [one.size for one in of_kind])
    rows, reached = evidence.kernels.unite_lists(np.concatenate(of_kind), bits, columns.n)
    by_tie = columns.tie_order(rows)
    reached = reached[by_tie]
    return Found(rows[by_tie], np.array([reached & 1, reached & 2], bool))


def inside_of(regions: Sequence[np.ndarray | None], period: np.ndarray) -> np.ndarray:
    """Return the rows of a period that lie in one of the regions, bool, shape (n,)."""
    if any(region is None for region in regions):
        return period
    return period & np.any(regions, axis=0)


def kept_candidates(found: Found, evidence: np.ndarray, prior: np.ndarray, cap: int) -> np.ndarray:
    """Return the candidates that stay, ascending: a prior above 0, and the most fused evidence.

    Under the cap the best row of each kind of evidence is kept before any other.

    Parameters
    ----------
    found : Found
        The candidates; of equals the lowest row is kept.
    evidence : ndarray of float64, shape (3, P)
        Dense, gram and fused evidence of each candidate.
    prior : ndarray of float64, shape (P,)
        Prior of each candidate.
    cap : int
        Candidates to keep.
    """
    stays = np.flatnonzero(prior > 0.0)
    if stays.size <= cap:
        return stays
    rows, evidence = found.rows[stays], evidence[:, stays]
    behind = np.ones(rows.size, bool)
    leaders = leading_rows(found.reached[:, stays], evidence, rows)
    behind[leaders[leaders >= 0]] = False
    return stays[np.sort(np.lexsort((rows, -evidence[FUSED], behind))[:cap])]
