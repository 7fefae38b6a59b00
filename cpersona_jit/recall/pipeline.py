"""One recall over a snapshot: mask, arms, pool, fusion, order. No SQL, no model, no clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.isolation import Axes
from cpersona_jit.recall.arms import ArmResult, dense_arm, gram_arm
from cpersona_jit.recall.fuse import fuse, order
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.pool import Pool, build_pool
from cpersona_jit.recall.settings import RecallSettings


@dataclass(frozen=True)
class Ranking:
    """The candidates of one recall in their final order.

    Attributes
    ----------
    mask : Mask
        Rows that the axes admit.
    pool : Pool
        The candidates, in tie order.
    prior, fused : ndarray of float64, shape (P,)
        Row weight and fused score of each candidate.
    order : ndarray of int64
        Pool positions, best first. Asking for fewer rows cuts this list and changes nothing else.
    milliseconds : dict of str to float
        Wall time of each stage.
    """

    mask: Mask
    pool: Pool
    prior: np.ndarray
    fused: np.ndarray
    order: np.ndarray
    milliseconds: dict[str, float]


def rank(
    columns: Columns,
    query: str,
    query_vector: np.ndarray | None,
    axes: Axes,
    settings: RecallSettings,
    kernels: KernelSet,
) -> Ranking:
    """Rank the admitted rows of a snapshot for a query.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    query : str
        The query's text.
    query_vector : ndarray of float32, shape (dim,), or None
        Its embedding by the model of the snapshot; None leaves the dense arms out.
    axes : Axes
        Isolation; applied inside the scans, before top-k and before any statistic.
    settings : RecallSettings
        Arms, fusion and depth.
    kernels : KernelSet
        The kernels to call.
    """
    spent: dict[str, float] = {}
    with _timed(spent, "mask"):
        mask, block_mask = columns.mask(axes), columns.block_mask(axes)
    arms: list[ArmResult] = []
    for spec in settings.active_arms:
        with _timed(spent, f"arm:{spec.name}"):
            if spec.kind == "gram":
                masks = mask, block_mask
                arms.append(gram_arm(columns, spec, query, *masks, settings.depth, kernels))
            elif query_vector is not None and columns.dim:
                arms.append(dense_arm(columns, spec, query_vector, mask, settings.depth, kernels))
    with _timed(spent, "pool"):
        pool = build_pool(columns, tuple(arms))
    with _timed(spent, "fuse"):
        prior = np.ones(pool.rows.size)
        fused = fuse(pool, settings.fusion, prior, kernels)
    with _timed(spent, "order"):
        best_first = order(fused)
    return Ranking(mask, pool, prior, fused, best_first, spent)


@contextmanager
def _timed(spent: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    spent[stage] = (time.perf_counter() - start) * 1e3
