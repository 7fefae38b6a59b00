"""Wall time of the stages of a process."""

from __future__ import annotations

import time


class StageClock:
    """Time spent, stage by stage, and whether the cap is reached.

    Parameters
    ----------
    cap : float or None
        Milliseconds; None for no cap.
    """

    def __init__(self, cap: float | None) -> None:
        self._start = self._last = time.perf_counter()
        self._cap = cap

    def stage(self, name: str, **facts: object) -> dict:
        """Return the entry of a stage that ends now: its name, its milliseconds, its facts."""
        now = time.perf_counter()
        spent, self._last = (now - self._last) * 1e3, now
        return {"stage": name, "milliseconds": spent, **facts}

    def over(self) -> bool:
        """Whether the cap is reached."""
        return self._cap is not None and (time.perf_counter() - self._start) * 1e3 > self._cap
