"""Retrieval: evidence of every row, the lists drawn from it, and the pool that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.recall.adaptive_settings import Calibration
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.lists import DENSE, FUSED, GRAM, draw_lists
from cpersona_jit.recall.seats import leading_rows
from cpersona_jit.recall.signals import Signals


class Found(NamedTuple):
    """The candidates; P of them, in tie order."""

    rows: np.ndarray  # int64 (P,)
    reached: np.ndarray  # bool (2, P), by the list of the dense and of the gram evidence


def evidence_of(signals: Signals, forms: np.ndarray, mask: Mask, kernels: KernelSet) -> np.ndarray:
    """Return dense, gram and fused evidence of every row, float64, shape (3, n).

    -inf for rows that the mask does not admit.
    """
    evidence = np.empty((3, signals.values.shape[1]))
    for form in (DENSE, GRAM, FUSED):
        bias = -_inner(forms[form], signals.mean)
        kernels.linear_scores(signals.values, forms[form], bias, mask.words, evidence[form])
    return evidence


def draw_candidates(
    columns: Columns,
    signals: Signals,
    calibration: Calibration,
    evidence: np.ndarray,
    regions: Sequence[np.ndarray | None],
    depth: int,
    kernels: KernelSet,
) -> Found:
    """Draw the lists of both kinds over each region and unite them.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    signals : Signals
        What the rows show.
    calibration : Calibration
        A gram size without a share is not looked at.
    evidence : ndarray of float64, shape (3, n)
        As :func:`evidence_of` returns it.
    regions : sequence of (ndarray of bool, shape (n,), or None)
        Where each pair of lists looks; None is everywhere.
    depth : int
        Length of a list at most.
    kernels : KernelSet
        The kernels to call.
    """
    lists = []
    for region in regions:
        inside = evidence if region is None else np.where(region, evidence, -np.inf)
        lists.append(draw_lists(columns, signals, calibration, inside, depth, kernels))
    found = [np.unique(np.concatenate([pair[kind] for pair in lists])) for kind in (DENSE, GRAM)]
    rows = np.unique(np.concatenate(found))
    rows = rows[np.argsort(columns.tie_rank[rows])]
    return Found(rows, np.array([np.isin(rows, members) for members in found]))


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


def _inner(a: np.ndarray, b: np.ndarray) -> float:
    """Sum of products in the order of the signals, whatever library adds it up elsewhere."""
    total = 0.0
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        total += x * y
    return total
