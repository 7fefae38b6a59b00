"""How a figure grows with the rows: the exponent, by least squares over logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def slope(rows: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent b of the best ``value = a * rows ** b``; 1 is linear, 0 is flat."""
    x, y = np.log(np.asarray(rows, float)), np.log(np.asarray(values, float))
    x -= x.mean()
    return float(x @ y / (x @ x))


def slopes(rows: Sequence[float], values: Sequence[float]) -> dict[str, Any] | None:
    """Return the exponent between neighbouring sizes and over all.

    Parameters
    ----------
    rows : sequence of float, length k
        Distinct, above 0.
    values : sequence of float, length k
        Above 0.

    Returns
    -------
    dict or None
        ``overall``, and ``between``: one of ``from``, ``to``, ``slope`` for each pair of
        neighbours, ascending. None for fewer than two sizes.
    """
    if len(rows) < 2:
        return None
    points = sorted(zip(rows, values, strict=True))
    return {
        "overall": round(slope(*zip(*points, strict=True)), 3),
        "between": [
            {"from": low[0], "to": high[0], "slope": round(slope(*zip(low, high, strict=True)), 3)}
            for low, high in pairwise(points)
        ],
    }
