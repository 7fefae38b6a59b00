"""Bootstrap intervals of means over tasks, for any number of settings and differences at once.

Queries are resampled inside each task, so every resample has the benchmark's own mix of tasks.
What is resampled are query *positions*: all columns (settings, and differences between settings)
are averaged over the same drawn queries, which makes every difference a paired one and lets one
call of :func:`scipy.stats.bootstrap` serve a whole sweep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import bootstrap
from threadpoolctl import threadpool_limits

CHUNK_NUMBERS = 8_000_000
"""Resampled means held at once (64 MB): decides how many columns are done together."""

RESAMPLE_BATCH = 250


class Intervals(NamedTuple):
    """Values with their confidence limits; M means, C columns."""

    value: np.ndarray  # float64 (M, C)
    low: np.ndarray  # float64 (M, C)
    high: np.ndarray  # float64 (M, C)


def task_means(tasks: int) -> np.ndarray:
    """Return the mixing matrix of T task means and then their unweighted mean, (T + 1, T)."""
    return np.vstack([np.eye(tasks), np.full((1, tasks), 1.0 / max(tasks, 1))])


def stratified_intervals(
    values: np.ndarray,
    strata: np.ndarray,
    mixing: np.ndarray,
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> Intervals:
    """Estimate means over strata and their percentile bootstrap intervals.

    Parameters
    ----------
    values : float64 (C, Q)
        One row per setting or difference, one column per query.
    strata : int64 (Q,)
        Stratum (task) of each query, 0 to T - 1; every stratum has at least one query.
    mixing : float64 (M, T)
        Each row mixes the T stratum means into one reported mean.
    resamples : int
        Number of bootstrap resamples.
    confidence : float
        Two-sided confidence level, such as 0.95.
    seed : int
        The same seed gives the same limits, whatever else is in ``values``.

    Returns
    -------
    Intervals
        A stratum of one query cannot vary: where only such strata enter, low = value = high.
    """
    members = [np.flatnonzero(strata == stratum) for stratum in range(mixing.shape[1])]
    options = (resamples, confidence, seed)
    step = max(CHUNK_NUMBERS // (len(mixing) * resamples), 1)
    # The products are small: threads of the linear algebra would wait for each other, not work.
    with threadpool_limits(1):
        chunks = [
            _chunk_intervals(values[start : start + step], members, mixing, options)
            for start in range(0, len(values), step)
        ]
    if not chunks:
        empty = np.empty((len(mixing), 0))
        return Intervals(empty, empty, empty)
    return Intervals(*(np.concatenate(parts, axis=1) for parts in zip(*chunks, strict=True)))


def _chunk_intervals(
    values: np.ndarray, members: list[np.ndarray], mixing: np.ndarray, options: tuple
) -> Intervals:
    resamples, confidence, seed = options
    fixed = np.stack([values[:, queries].mean(axis=1) for queries in members])
    value = mixing @ fixed
    drawn = [stratum for stratum, queries in enumerate(members) if len(queries) > 1]
    if not drawn:
        return Intervals(value, value.copy(), value.copy())

    def means_of(*positions: np.ndarray, axis: int = -1) -> np.ndarray:
        batch = np.atleast_2d(positions[0]).shape[0]
        means = np.repeat(fixed[:, :, None], batch, axis=2)
        for stratum, drawn_positions in zip(drawn, positions, strict=True):
            counts = _counts(np.atleast_2d(drawn_positions).astype(np.int64))
            inside = values[:, members[stratum]]
            means[stratum] = (inside @ counts.T) / inside.shape[1]
        return np.tensordot(mixing, means, axes=1)

    result = bootstrap(
        [np.arange(len(members[stratum])) for stratum in drawn],
        means_of,
        n_resamples=resamples,
        confidence_level=confidence,
        method="percentile",
        vectorized=True,
        paired=False,
        batch=RESAMPLE_BATCH,
        rng=np.random.default_rng(seed),
    )
    return Intervals(value, result.confidence_interval.low, result.confidence_interval.high)


def _counts(positions: np.ndarray) -> np.ndarray:
    """Count how often each of n positions was drawn in each of B resamples: float64 (B, n)."""
    batch, n = positions.shape
    flat = positions + np.arange(batch)[:, None] * n
    return np.bincount(flat.ravel(), minlength=batch * n).reshape(batch, n).astype(np.float64)
