"""Rows of a study's record: means over tasks of what was measured on every query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.adaptive.config import AdaptiveConfig
from harness.evaluate import Evaluated, part_means
from harness.measures import MACRO


def macro_rows(
    evaluated: Sequence[Evaluated],
    columns: Sequence[np.ndarray],
    labels: Sequence[dict],
    config: AdaptiveConfig,
) -> list[dict]:
    """Average columns over every part that has queries.

    Parameters
    ----------
    evaluated : sequence of Evaluated
        D datasets.
    columns : sequence of float64 (C, Qr)
        For each dataset values, or differences, of every judged query.
    labels : sequence of dict
        What names each of the C columns; it goes into the column's rows.
    config : AdaptiveConfig
        Gives the bootstrap's numbers.

    Returns
    -------
    list of dict
        For each part, dataset (and their mean) and column the unweighted mean over tasks with its
        interval. JSON-ready.
    """
    found = []
    for part in dict.fromkeys(part for one in evaluated for part in one.parts):
        if not any(one.part(part).size for one in evaluated):
            continue
        means = part_means(evaluated, columns, part, config)
        for row, (dataset, task) in enumerate(means.labels):
            if task != MACRO:
                continue
            for column, label in enumerate(labels):
                numbers = [float(limit[row, column]) for limit in means.intervals]
                found.append(
                    {"dataset": dataset, "part": part, **label, "n": means.counts[row]}
                    | dict(zip(("value", "ci_low", "ci_high"), numbers, strict=True))
                )
    return found
