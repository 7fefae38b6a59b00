"""The prior with NumPy alone; same bytes as `cpersona_jit.kernels.prior`.

The powers of two are computed from additions and multiplications only. The exponential functions
of NumPy, the C library and LLVM differ in the last bit from each other and from machine to
machine; these cannot, so a recall is the same bytes everywhere.
"""

from __future__ import annotations

import math

import numpy as np

# exp(x) on |x| <= ln(2) / 2 by its Taylor series, highest power first; the rest is below 1e-17.
COEFFICIENTS = tuple(1.0 / math.factorial(power) for power in range(13, -1, -1))
LN_2 = 0.6931471805599453
DOUBLINGS_PER_E = 1.0 / LN_2
# Beyond this a factor stays at 2**-500, so that the product of two of them is still above 0.
DEEPEST_HALVING = 500.0
US_PER_DAY = 86_400_000_000.0
UNDATED = np.iinfo(np.int64).min  # time of a row without one
POWERS = np.ldexp(1.0, -np.arange(int(DEEPEST_HALVING) + 1))


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
    """Weight of each row's votes; see the kernel of the same name."""
    last_far = last_far_position(position, window, reach, far_count)
    far = (position >= window) & (position <= last_far)
    prior = np.where(position < window, 1.0, np.where(far, float(far_weight), 0.0))
    if not math.isinf(half_life_days):
        remaining = halvings(_elapsed(age_days) / half_life_days)
        prior *= np.where(np.isnan(age_days), 1.0, floor + (1.0 - floor) * remaining)
    if not math.isinf(tail_days):
        near = halvings(_elapsed(distance_days) / tail_days * DOUBLINGS_PER_E)
        prior *= np.where(np.isnan(distance_days), 1.0, near)
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
    """Weight of each row by the period of a cue; see the kernel of the same name."""
    total, when, undated = np.zeros(len(times)), times.astype(np.float64), times == UNDATED
    for start, end, tail, told in zip(starts, ends, tail_days, later_days, strict=True):
        held = inside if len(starts) == 1 else inside & (times >= start) & (times <= end)
        before = np.maximum(np.float64(start) - when, 0.0) / US_PER_DAY
        after = np.maximum(when - np.float64(end), 0.0) / US_PER_DAY
        before[undated], after[undated] = 0.5 * tail, 0.0
        distance, level = before + 0.5 * after, np.full(len(times), float(outside))
        if not np.isnan(told):
            is_later = after > 0.0
            distance[is_later] = after[is_later] * (tail / told)
            level[is_later] = later
        near = halvings(_elapsed(distance) / tail * DOUBLINGS_PER_E)
        total += np.where(held, 1.0, level * near)
    return total / len(starts)


def last_far_position(position: np.ndarray, window: int, reach: int, far_count: int) -> int:
    """Scan position of the last far row that counts, -1 when there is none."""
    if far_count < 0:
        return reach - 1 if reach > window else -1
    far = position[(position >= window) & (position < reach)]
    if not len(far) or far_count == 0:
        return -1
    last = min(far_count, len(far)) - 1
    return int(np.partition(far, last)[last])


def halvings(times: np.ndarray) -> np.ndarray:
    """2**-times for times >= 0, never below 2**-500."""
    times = np.minimum(times, DEEPEST_HALVING)
    whole = np.floor(times + 0.5)
    x = (whole - times) * LN_2
    power = np.full(x.shape, COEFFICIENTS[0])
    for coefficient in COEFFICIENTS[1:]:
        power = power * x + coefficient
    return power * POWERS[whole.astype(np.int64)]


def _elapsed(days: np.ndarray) -> np.ndarray:
    """Days with negative and unknown ones as 0."""
    return np.where(days > 0.0, days, 0.0)
