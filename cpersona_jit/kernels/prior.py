"""The prior p(row): one function of scan position, age and distance from a declared period."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.numpy_path.prior import (
    COEFFICIENTS,
    DEEPEST_HALVING,
    DOUBLINGS_PER_E,
    LN_2,
    POWERS,
    UNDATED,
    US_PER_DAY,
    last_far_position,
)

__all__ = ["period_prior", "row_prior"]


def row_prior(
    position: np.ndarray,
    age_days: np.ndarray,
    distance_days: np.ndarray,
    window: int,
    reach: int,
    far_weight: float,
    far_count: int,
    half_life_days: float,
    floor: float,
    tail_days: float,
) -> np.ndarray:
    """Weight of each row's votes: a far-region factor x a recency factor x a cue factor.

    ==================  =================================================================
    window only         ``reach = -1`` (or far_weight = 0)
    reach               ``reach > window``, ``far_weight = 1``, ``far_count = -1``
    far list length     as reach, with ``far_count >= 0``
    priced far vote     as reach, with ``0 < far_weight < 1``
    recency             finite ``half_life_days``: floor + (1 - floor) * 2**(-age / half-life)
    cue                 finite ``tail_days``: exp(-distance / tail)
    ==================  =================================================================

    Parameters
    ----------
    position : int64 (P,)
        Scan position of each row, 0 for the newest.
    age_days : float64 (P,)
        Age of each row in days; NaN (unknown) is neutral, a negative age counts as 0.
    distance_days : float64 (P,)
        Days between the row and the declared period, 0 or less inside it; NaN is neutral.
    window : int
        Rows before this position have a far-region factor of 1.
    reach : int
        Rows from `window` up to this position are far rows; -1 for none. Others weigh 0.
    far_weight : float
        Factor of a far row, 0 to 1.
    far_count : int
        Far rows that count, the first in scan order among the given ones; -1 for all.
    half_life_days : float
        Above 0; inf for no recency factor.
    floor : float
        Recency factor of an infinitely old row, 0 to 1.
    tail_days : float
        Above 0; inf for no cue factor.

    Returns
    -------
    float64 (P,)
        0 to 1. Only the far-region factor can be 0: recency and cue price a row, however far off,
        and never remove it.
    """
    prior = np.empty(len(position))
    _fill_prior(
        position,
        age_days,
        distance_days,
        int(window),
        last_far_position(position, window, reach, far_count),
        float(far_weight),
        float(half_life_days),
        float(floor),
        float(tail_days),
        prior,
    )
    return prior


def period_prior(
    times: np.ndarray,
    inside: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    tail_days: np.ndarray,
    later_days: np.ndarray,
    outside: float,
    later: float,
) -> np.ndarray:
    """Weight of each row by the period of a cue: 1 inside, by the cue's factor outside.

    The factor of `row_prior` for the distance from the period, times a level. A day before the
    period counts whole, one after it half. Of several readings of a period the mean counts.

    Parameters
    ----------
    times : int64 (P,)
        UTC microseconds; the smallest int64 for an undated row, which is half a tail away.
    inside : bool (P,)
        Whether the row lies in any reading; of several, in those between whose ends it lies.
    starts, ends : int64 (R,)
        Both ends of each reading, UTC microseconds.
    tail_days : float64 (R,)
        Days before the period in which the factor falls to 1/e.
    later_days : float64 (R,)
        The same after a period in which something happened that is told of later; NaN when nothing
        did.
    outside : float
        Level of rows outside.
    later : float
        Level of rows after a period with `later_days`.

    Returns
    -------
    float64 (P,)
    """
    prior = np.empty(len(times))
    _fill_period(
        times, inside, starts, ends, tail_days, later_days, float(outside), float(later), prior
    )
    return prior


@kernel
def _fill_period(times, inside, starts, ends, tail_days, later_days, outside, later, prior):
    readings = len(starts)
    for p in range(len(times)):
        total, when = 0.0, np.float64(times[p])
        for r in range(readings):
            between = readings == 1 or starts[r] <= times[p] <= ends[r]
            if inside[p] and between:
                total += 1.0
                continue
            before = max(np.float64(starts[r]) - when, 0.0) / US_PER_DAY
            after = max(when - np.float64(ends[r]), 0.0) / US_PER_DAY
            if times[p] == UNDATED:
                before, after = 0.5 * tail_days[r], 0.0
            distance, level = before + 0.5 * after, outside
            if after > 0.0 and not np.isnan(later_days[r]):
                distance, level = after * (tail_days[r] / later_days[r]), later
            total += level * _halvings(max(distance, 0.0) / tail_days[r] * DOUBLINGS_PER_E)
        prior[p] = total / readings


@kernel
def _fill_prior(
    position,
    age_days,
    distance_days,
    window,
    last_far,
    far_weight,
    half_life_days,
    floor,
    tail_days,
    prior,
):
    for p in range(len(position)):
        weight = 0.0
        if position[p] < window:
            weight = 1.0
        elif position[p] <= last_far:
            weight = far_weight
        if half_life_days != np.inf and not np.isnan(age_days[p]):
            remaining = _halvings(max(age_days[p], 0.0) / half_life_days)
            weight *= floor + (1.0 - floor) * remaining
        if tail_days != np.inf and not np.isnan(distance_days[p]):
            weight *= _halvings(max(distance_days[p], 0.0) / tail_days * DOUBLINGS_PER_E)
        prior[p] = weight


@kernel_part
def _halvings(times):
    """2**-times by the same operations as in the NumPy path."""
    times = min(times, DEEPEST_HALVING)
    whole = np.floor(times + 0.5)
    x = (whole - times) * LN_2
    power = COEFFICIENTS[0]
    for i in range(1, len(COEFFICIENTS)):
        power = power * x + COEFFICIENTS[i]
    return power * POWERS[int(whole)]
