"""What a caller gets back: all returned rows, the window and every seat beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cpersona_jit.recall.kernel_set import warm_kernels
from harness.adaptive.grid import AnySetting
from harness.adaptive.pool import SignalPool
from harness.adaptive.ranking import QueryRanker

EVIDENCE, ROWS = "evidence recall", "rows returned"


class Returned(NamedTuple):
    """Of S settings on the Qr judged queries, each float64 (S, Qr)."""

    evidence: np.ndarray  # share of the relevant documents among the returned rows
    rows: np.ndarray  # number of returned rows


def returned_values(
    pool: SignalPool,
    settings: Sequence[AnySetting],
    limit: int,
    at_least: np.ndarray | None = None,
) -> Returned:
    """Measure what settings return.

    Parameters
    ----------
    pool : SignalPool
        A frozen pool.
    settings : sequence
        Any settings.
    limit : int
        Rows that the caller asks for.
    at_least : float64 (S, Qr), optional
        Rows to return where a setting returns fewer: the next of its ranking fill up.
    """
    kernels = warm_kernels()
    judged = np.flatnonzero(pool.has_relevant)
    evidence, rows = np.zeros((2, len(settings), judged.size))
    for column, query in enumerate(judged.tolist()):
        ranker = QueryRanker(pool, query, kernels)
        gold = slice(pool.gold_ptr[query], pool.gold_ptr[query + 1])
        wanted = pool.judged_ptr[query + 1] - pool.judged_ptr[query]
        for number, setting in enumerate(settings):
            places = ranker.returned(setting, limit)
            if at_least is not None and places.size < at_least[number, column]:
                places = _filled_up(ranker, setting, places, int(at_least[number, column]))
            found = np.isin(pool.gold[gold], places)
            evidence[number, column] = np.unique(pool.gold_judged[gold][found]).size / wanted
            rows[number, column] = places.size
    return Returned(evidence, rows)


def _filled_up(
    ranker: QueryRanker, setting: AnySetting, places: np.ndarray, size: int
) -> np.ndarray:
    found = ranker.scored(setting)
    ranking = found.place[found.order()]
    more = ranking[~np.isin(ranking, places)]
    return np.concatenate([places, more[: size - places.size]])
