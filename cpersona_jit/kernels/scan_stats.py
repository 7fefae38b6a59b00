"""Exact statistics of an arm's scores over the rows that a mask admits."""

from __future__ import annotations

import math
from typing import NamedTuple

# Scores are shifted right before they are summed, so that the sum of squares stays in int64.
# A dense score of unit vectors is below 2**29 and a gram score below 2**32, both below 2**21 once
# shifted: even 2**21 rows that all have the largest score are safe.
DENSE_STAT_SHIFT = 8
GRAM_STAT_SHIFT = 11


class ScanStats(NamedTuple):
    """Integer sums over ``score >> shift`` of the admitted rows.

    Integers add up to the same whatever the order, so neither chunks nor threads can change a
    mean or a deviation.

    Attributes
    ----------
    count : int
        Admitted rows.
    total, total_sq : int
        Sum of the shifted scores, and of their squares.
    """

    count: int
    total: int
    total_sq: int

    def mean(self, shift: int) -> float:
        """Return the mean in score units (0.0 over no rows)."""
        if self.count == 0:
            return 0.0
        return self.total / self.count * (1 << shift)

    def std(self, shift: int) -> float:
        """Return the population standard deviation in score units (0.0 over no rows)."""
        if self.count == 0:
            return 0.0
        # Python integers: the difference is exact, where float64 would cancel.
        spread = self.count * self.total_sq - self.total * self.total
        return math.sqrt(spread) / self.count * (1 << shift)
