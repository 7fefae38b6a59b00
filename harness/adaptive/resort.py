"""Second sorts of a fused answer: by cosine x age, and by a monotone map of the fused score.

Sorts are stable over the fused order, so rows of equal confidence stay as fusion put them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED
from cpersona_jit.cues.time_cue import US_PER_DAY
from cpersona_jit.kernels.numpy_path.calibration import DENSE_ROW
from cpersona_jit.kernels.numpy_path.prior import row_prior
from harness.adaptive.config import ResortConfig
from harness.adaptive.pool import SignalPool

FUSED, COSINE, CPERSONA = "fused score", "cosine", "cpersona confidence"

# cpersona 2.6, scoring stage, at its defaults (CPERSONA_COSINE_FLOOR and _CEIL, _DECAY_RATE,
# _DECAY_FLOOR). A store of a benchmark has never been recalled from and resolves nothing, so the
# recall boost and both penalties of that formula are at their neutral values.
COSINE_FLOOR, COSINE_CEIL = 0.20, 0.75
DECAY_RATE, DECAY_FLOOR = 0.005, 0.3
RANGE_HOURS, LEAST_RANGE_HOURS = 168.0, 24.0
DIGITS = 4
US_PER_HOUR = US_PER_DAY / 24


def _bent(score: np.ndarray) -> np.ndarray:
    """Map the line onto (0, 1); the order of 1 + x, 1 / x and 1 - x survives their rounding."""
    return 0.5 + np.sign(score) * (0.5 - 0.5 / (1.0 + np.abs(score)))


# No logistic function: libraries promise no order of the last bits of an exponential.
CONFIDENCES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear, cut to [0, 1]": lambda score: np.clip(0.5 + score / 16.0, 0.0, 1.0),
    "bent": _bent,
    "bent, of two digits": lambda score: np.round(_bent(score), 2),
}
"""Monotone maps of the fused score that could be shown as a confidence."""


def resort(order: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Sort again what fusion returned.

    Parameters
    ----------
    order : int64 (R,)
        What is sorted, best first.
    confidence : float64 (R,)
        Of each, in the same order.
    """
    return order[np.argsort(-confidence, kind="stable")]


def second_sorts(pool: SignalPool, query: int, config: ResortConfig) -> dict[str, np.ndarray]:
    """Return the scores of every second sort by name, each float64 (P,).

    Parameters
    ----------
    pool : SignalPool
        The pool.
    query : int
        One of its queries, of P rows.
    config : ResortConfig
        Half-lives and their floor.
    """
    part = slice(pool.offsets[query], pool.offsets[query + 1])
    dense = pool.signals[DENSE_ROW, part]
    # Without a vector of the query all of them are 0, and nothing is compared.
    cosine = dense * pool.cosine_unit[query] if dense.any() else np.ones(dense.size)
    ages = ages_of(pool.event_time[part], int(pool.asked_us[query]))
    sorts = {COSINE: cosine, CPERSONA: cpersona_confidence(cosine, ages)}
    for days in config.half_lives_days:
        # A factor of age would lift the older one of two rows whose cosines are below 0.
        sorts[half_life_name(days)] = np.maximum(cosine, 0.0) * recency(ages, days, config.floor)
    return sorts


def sort_names(config: ResortConfig) -> list[str]:
    """Return the names of all orders, that of the fused score first."""
    return [FUSED, COSINE, CPERSONA, *map(half_life_name, config.half_lives_days)]


def half_life_name(days: float) -> str:
    """Return the name of the sort by cosine x age with this half-life."""
    return f"cosine x age, {days:g} d"


def ages_of(event_time: np.ndarray, asked_us: int) -> np.ndarray:
    """Return ages in hours, float64 (P,), NaN for an undated row; below 0 in the future.

    Parameters
    ----------
    event_time : int64 (P,)
        UTC microseconds, or undated.
    asked_us : int
        When the question was asked; ages count from the newest row when nobody knows.
    """
    dated = event_time != UNDATED
    now = int(event_time.max(initial=UNDATED)) if asked_us == UNDATED else asked_us
    ages = np.full(event_time.size, np.nan)
    ages[dated] = (now - event_time[dated]) / US_PER_HOUR
    return ages


def recency(ages: np.ndarray, half_life_days: float, floor: float) -> np.ndarray:
    """Return the factor of age, float64 (P,): half of what the floor leaves goes per half-life."""
    nothing = np.full(ages.size, np.nan)
    near = np.zeros(ages.size, np.int64)
    return row_prior(near, ages / 24.0, nothing, 1, -1, 1.0, -1, half_life_days, floor, np.inf)


def cpersona_confidence(cosine: np.ndarray, ages: np.ndarray) -> np.ndarray:
    """Return the older line's confidence, ``sqrt(cosine' * decay)``, of four digits.

    Parameters
    ----------
    cosine : float64 (P,)
        Of the rows; cosine' is it rescaled from its floor and ceiling to [0, 1].
    ages : float64 (P,)
        In hours. A row without one counts as half a span older than the newest.
    """
    dated = ages[~np.isnan(ages)]
    newest = dated.min() if dated.size else 0.0
    span = dated.max() - newest if dated.size else 0.0
    reach = max(LEAST_RANGE_HOURS, span)
    rate = DECAY_RATE / max(1.0, reach / RANGE_HOURS) if span > 0.0 else DECAY_RATE
    ages = np.where(np.isnan(ages), max(newest, 0.0) + (span or reach) / 2.0, ages)
    decay = np.maximum(DECAY_FLOOR, 1.0 / (1.0 + np.maximum(ages, 0.0) * rate))
    scaled = np.clip((cosine - COSINE_FLOOR) / (COSINE_CEIL - COSINE_FLOOR), 0.0, 1.0)
    return np.round(np.sqrt(scaled * decay), DIGITS)
