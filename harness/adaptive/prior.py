"""Priors on scan position and age, replayed over signal pools: window, reach, far vote, recency.

A prior is added to a row's score as ``weight * (p - 1)``; a row of prior 0 is no candidate. Rows
beyond the window are a second list of their own, as deep as the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED
from cpersona_jit.cues.time_cue import US_PER_DAY
from cpersona_jit.kernels.numpy_path.prior import row_prior


@dataclass(frozen=True)
class Prior:
    """A prior; the defaults are the identity.

    Parameters
    ----------
    window : int
        Newest rows that are near; -1 for all.
    reach : int
        Rows from the window up to this scan position are far rows; -1 for none.
    far_weight : float
        Prior of a far row.
    half_life_days : float
        Age at which half of what the floor leaves is gone; 0 for no recency.
    floor : float
        Prior of an infinitely old row.
    weight : float
        Score that the whole prior is worth.
    """

    window: int = -1
    reach: int = -1
    far_weight: float = 1.0
    half_life_days: float = 0.0
    floor: float = 0.0
    weight: float = 1.0


NO_PRIOR = Prior()


def prior_of(
    prior: Prior, row: np.ndarray, admitted: int, event_time: np.ndarray, asked_us: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the prior of rows, and which of them are near.

    Parameters
    ----------
    prior : Prior
        The shape.
    row : int64 (P,)
        Positions in a scope's snapshot, where later rows are newer.
    admitted : int
        Rows of the scope.
    event_time : int64 (P,)
        UTC microseconds, or undated: such a row's age is neutral.
    asked_us : int
        When the question was asked; ages count from the newest row when nobody knows.

    Returns
    -------
    p : float64 (P,)
    near : bool (P,)
    """
    position = admitted - 1 - row
    window = admitted if prior.window < 0 else prior.window
    dated = event_time != UNDATED
    now = asked_us
    if now == UNDATED:
        now = int(event_time.max(initial=UNDATED))
    age = np.full(row.size, np.nan)
    age[dated] = (now - event_time[dated]) / US_PER_DAY
    p = row_prior(
        position,
        age,
        np.full(row.size, np.nan),
        window,
        prior.reach,
        prior.far_weight,
        -1,
        prior.half_life_days or np.inf,
        prior.floor,
        np.inf,
    )
    return p, position < window
