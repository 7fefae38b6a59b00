"""A comparison as the record holds it: times, and figures with their goals."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.peers.goals import goal_for
from harness.peers.turns import Seconds, ratio

ENGINE = "engine"
TIMES_AS_FAST, TIMES_AS_LONG = "times as fast", "times as long"


def comparison(name: str, rows: int, seconds: Seconds, per: int = 1, **facts: Any) -> dict:
    """Begin the record of a comparison.

    Parameters
    ----------
    name : str
        Of the comparison, as in ``goals``.
    rows : int
        Rows that were searched.
    seconds : dict of str to ndarray
        From ``turns.take_turns``.
    per : int
        Queries of one call.
    **facts
        Written as they are.

    Returns
    -------
    dict
        ``milliseconds`` is of one query; ``figures`` are still to be added.
    """
    return {
        "comparison": name,
        "rows": rows,
        **facts,
        "queries": per,
        "rounds": len(next(iter(seconds.values()))),
        "milliseconds": {
            name: rounded(float(np.median(spent)) / per * 1e3) for name, spent in seconds.items()
        },
        "figures": [],
    }


def add_ratio(of: dict, seconds: Seconds, against: str, engine: str = ENGINE) -> None:
    """Add how many times as fast the engine is as something else."""
    found = ratio(seconds[against], seconds[engine])
    add_figure(of, against, found.value, TIMES_AS_FAST, quartiles=(found.low, found.high))


def add_figure(
    of: dict,
    against: str,
    value: float,
    unit: str,
    *,
    quartiles: tuple[float, float] | None = None,
    note: str = "",
) -> None:
    """Add one figure to a comparison, and whether it reaches its goal."""
    goal = goal_for(of["comparison"], against, of["rows"])
    figure: dict[str, Any] = {"against": against, "value": rounded(value), "unit": unit}
    if quartiles is not None:
        figure["quartiles"] = [rounded(one) for one in quartiles]
    if note:
        figure["note"] = note
    if goal is not None:
        figure["goal"] = f"{goal.sense} {goal.wanted:g}"
        figure["reached"] = goal.reached(value)
    of["figures"].append(figure)


def rounded(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}")
