"""The prior of a row: what its scan position and its age are worth, by the one prior kernel."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED
from cpersona_jit.cues.time_cue import US_PER_DAY
from cpersona_jit.errors import UsageError
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.requirements import require_number, require_whole

# Further than any store reaches; what is nowhere far lies beyond all rows.
_EVERYWHERE = 2**62


@dataclass(frozen=True)
class RowPrior:
    """A prior on scan position and age; the defaults are the identity.

    The scan position counts the rows that the axes admit, the last stored one first. A row of
    prior p scores ``weight * (p - 1)`` more, which is never above 0; one of prior 0 is no
    candidate.

    =================  ==========================================
    window only        `window`
    reach              `window`, `reach`
    far list length    `window`, `reach`, `far_count`
    priced far vote    `window`, `reach`, ``0 < far_weight < 1``
    recency            `half_life_days`, `floor`
    =================  ==========================================

    The sixth shape, the distance from a declared period, belongs to a time cue.

    Parameters
    ----------
    window : int or None
        Newest rows that are near; None for all. Nothing is far without a window.
    reach : int or None
        Rows from the window up to this scan position are far rows, with lists of their own, as
        deep as those of the near rows; None for no far rows.
    far_count : int or None
        Far rows among the candidates that stay, the newest of them; None for all.
    far_weight : float
        Prior of a far row, 0 to 1.
    half_life_days : float or None
        Age at which half of what the floor leaves is gone; None or infinity for no recency. Ages
        count from when the question is asked, and when the call does not say so from the newest
        dated row that the axes admit. A row without a time is neutral, and so is one of the future.
    floor : float
        Prior of an infinitely old row, 0 to 1.
    weight : float
        Score that the whole prior is worth.
    """

    window: int | None = None
    reach: int | None = None
    far_count: int | None = None
    far_weight: float = 1.0
    half_life_days: float | None = None
    floor: float = 0.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        for name, low in (("window", 1), ("reach", 1), ("far_count", 0)):
            if getattr(self, name) is not None:
                require_whole(f"prior.{name}", getattr(self, name), low, 10**9)
        for name in ("far_weight", "floor"):
            require_number(f"prior.{name}", getattr(self, name), 0.0, 1.0)
        require_number("prior.weight", self.weight, 0.0, 1000.0)
        if self.half_life_days is not None:
            require_number("prior.half_life_days", self.half_life_days, 0.0, math.inf)
            if self.recency and self.half_life_days > sys.float_info.max:
                raise UsageError(
                    "prior.half_life_days is a whole number that no float holds; allowed: above 0, "
                    "or infinity"
                )
            if self.half_life_days == 0:
                raise UsageError("prior.half_life_days is 0; allowed: above 0, or None for none")

    @property
    def recency(self) -> bool:
        """Whether the age of a row counts."""
        return self.half_life_days is not None and self.half_life_days != math.inf

    @property
    def far(self) -> bool:
        """Whether a far row can be a candidate."""
        reaches = self.window is not None and self.reach is not None and self.reach > self.window
        return reaches and self.far_weight > 0.0 and self.far_count != 0


def scan_positions(admitted: np.ndarray) -> np.ndarray:
    """Return the scan position of each row, int64, shape (n,); rows not admitted are nowhere.

    Parameters
    ----------
    admitted : ndarray of bool, shape (n,)
        Rows that the axes admit; later rows are newer.
    """
    counted = np.cumsum(admitted)
    position = (counted[-1] if counted.size else 0) - counted
    return np.where(admitted, position, _EVERYWHERE)


def scan_regions(prior: RowPrior | None, position: np.ndarray) -> list[np.ndarray | None]:
    """Return where the lists look: near rows, then far ones if there are any; None is everywhere.

    Parameters
    ----------
    prior : RowPrior or None
        Its window and reach.
    position : ndarray of int64, shape (n,)
        Scan position of each row.
    """
    if prior is None or prior.window is None:
        return [None]
    regions: list[np.ndarray | None] = [position < prior.window]
    far = (position >= prior.window) & (position < (prior.reach or 0))
    if prior.far and far.any():
        regions.append(far)
    return regions


def priors_of(
    prior: RowPrior, position: np.ndarray, event_time: np.ndarray, now_us: int, kernels: KernelSet
) -> np.ndarray:
    """Return the prior of each candidate, float64, shape (P,), 0 to 1.

    Parameters
    ----------
    prior : RowPrior
        The shape.
    position, event_time : ndarray of int64, shape (P,)
        Scan position; UTC microseconds or ``UNDATED``.
    now_us : int
        What ages count from.
    kernels : KernelSet
        The kernels to call.
    """
    unknown = np.full(position.size, np.nan)
    age = unknown.copy()
    if prior.recency and now_us != UNDATED:
        dated = event_time != UNDATED
        age[dated] = (now_us - event_time[dated]) / US_PER_DAY
    return kernels.row_prior(
        position,
        age,
        unknown,
        _EVERYWHERE if prior.window is None else prior.window,
        -1 if prior.reach is None else prior.reach,
        prior.far_weight,
        -1 if prior.far_count is None else prior.far_count,
        prior.half_life_days if prior.recency else np.inf,
        prior.floor,
        np.inf,
    )


def newest_time(event_time: np.ndarray) -> int:
    """Return the latest of some times, ``UNDATED`` when there is none."""
    return int(event_time.max(initial=UNDATED))
