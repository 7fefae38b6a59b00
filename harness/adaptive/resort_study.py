"""Whether a second sort by cosine and age helps an answer that fusion has ordered.

Asked on the base setting, which has no prior, in three regimes: the whole ranking; what a caller
gets; and pools as shallow as the caller's window, in which the older line sorts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cpersona_jit.recall.kernel_set import warm_kernels
from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.grid import AdaptiveSetting
from harness.adaptive.pool import SignalPool
from harness.adaptive.ranking import QueryRanker
from harness.adaptive.resort import CONFIDENCES, resort, second_sorts, sort_names
from harness.adaptive.study_rows import macro_rows
from harness.evaluate import Evaluated
from harness.measures import from_gold_ranks

FULL, PRODUCTION, SHALLOW = "full ranking", "production", "shallow pool"
REGIMES = (FULL, PRODUCTION, SHALLOW)
MEASURES = ("nDCG@10", "R@10", "RR@10")
SHOWN = 10


class Sorted(NamedTuple):
    """One dataset; R regimes, O orders, M confidences, J relevant documents, Q queries."""

    ranks: np.ndarray  # int32 (R, O, J), 0 where a document is not among the sorted rows
    same_top: np.ndarray  # bool (R, O, Q), the first ten rows are those of the fused order
    told: np.ndarray  # bool (R, M, Q), a sort by this confidence gives the fused order


def resort_study(
    evaluated: Sequence[Evaluated], setting: AdaptiveSetting, config: AdaptiveConfig
) -> dict:
    """Compare the fused order with second sorts.

    Parameters
    ----------
    evaluated : sequence of Evaluated
        One per dataset.
    setting : AdaptiveSetting
        The setting whose answers are sorted again.
    config : AdaptiveConfig
        Its ``resort``, and the window.

    Returns
    -------
    dict
        ``monotone``: of each confidence that is a monotone map of the fused score, how many
        answers it sorted, and in how many the order changed. ``moved``: the share of queries whose
        first ten rows a second sort changes. ``values`` of every order, and their ``differences``
        from the fused one. JSON-ready.
    """
    orders = sort_names(config.resort)
    found = [sort_again(one.pool, setting, config) for one in evaluated]
    columns = [_columns(one.pool, sorts.ranks) for one, sorts in zip(evaluated, found, strict=True)]
    rows = macro_rows(evaluated, columns, _labels(orders), config)
    return {
        "setting": setting.name,
        "limit": config.limit,
        "gate": setting.settings.gate,
        "seats": setting.settings.seats,
        "orders": orders,
        "monotone": _monotone(found),
        "moved": _moved(evaluated, found, orders),
        "values": [row for row in rows if "against" not in row],
        "differences": [row for row in rows if "against" in row],
    }


def sort_again(pool: SignalPool, setting: AdaptiveSetting, config: AdaptiveConfig) -> Sorted:
    """Sort every answer of a pool in every regime by every score."""
    orders, queries = sort_names(config.resort), len(pool.query_ids)
    ranks = np.zeros((len(REGIMES), len(orders), len(pool.judged_ids)), np.int32)
    same_top = np.ones((len(REGIMES), len(orders), queries), bool)
    told = np.zeros((len(REGIMES), len(CONFIDENCES), queries), bool)
    settings = regimes_of(setting, config.limit)
    kernels = warm_kernels()
    for query in range(queries):
        judged = slice(pool.judged_ptr[query], pool.judged_ptr[query + 1])
        ranker = QueryRanker(pool, query, kernels)
        sorts = second_sorts(pool, query, config.resort)
        for number, regime in enumerate(REGIMES):
            scored = ranker.scored(settings[regime])
            limit = config.limit if regime == PRODUCTION else scored.place.size
            fused = ranker.returned(settings[regime], limit)
            score = scored.score[np.searchsorted(scored.place, fused)]
            for m, confidence in enumerate(CONFIDENCES.values()):
                told[number, m, query] = np.array_equal(resort(fused, confidence(score)), fused)
            answers = [fused, *(resort(fused, sorts[name][fused]) for name in orders[1:])]
            for o, places in enumerate(answers):
                ranks[number, o, judged] = _document_ranks(pool, query, places)
                same_top[number, o, query] = np.array_equal(places[:SHOWN], fused[:SHOWN])
    return Sorted(ranks, same_top, told)


def regimes_of(setting: AdaptiveSetting, limit: int) -> dict[str, AdaptiveSetting]:
    """Return the setting of each regime.

    Nothing leaves the full ranking. In the shallow pool each list is as long as the window, and the
    gate stands; no seats, as all that is left is sorted anyway.
    """
    settings = setting.settings
    return {
        FULL: replace(setting, settings=replace(settings, gate=None, seats=0)),
        PRODUCTION: setting,
        SHALLOW: replace(setting, settings=replace(settings, depth=limit, seats=0)),
    }


def _document_ranks(pool: SignalPool, query: int, places: np.ndarray) -> np.ndarray:
    """Rank the relevant documents of a query, int32; parts of a document count once."""
    start = pool.offsets[query]
    documents = pool.doc_codes[start + places]
    first = np.sort(np.unique(documents, return_index=True)[1])
    rank = {code: number for number, code in enumerate(documents[first].tolist(), 1)}
    gold = slice(pool.gold_ptr[query], pool.gold_ptr[query + 1])
    ranks = np.zeros(pool.judged_ptr[query + 1] - pool.judged_ptr[query], np.int32)
    for place, document in zip(pool.gold[gold], pool.gold_judged[gold], strict=True):
        ranks[document - pool.judged_ptr[query]] = rank.get(int(pool.doc_codes[start + place]), 0)
    return ranks


def _columns(pool: SignalPool, ranks: np.ndarray) -> np.ndarray:
    """Measure every order, and then its differences from the fused one; as :func:`_labels`."""
    flat = ranks.reshape(-1, ranks.shape[2])
    measured = np.array([from_gold_ranks(pool, flat, measure) for measure in MEASURES])
    values = measured.reshape(len(MEASURES), *ranks.shape[:2], -1)
    differences = values[:, :, 1:] - values[:, :, :1]
    return np.concatenate([part.reshape(-1, part.shape[3]) for part in (values, differences)])


def _labels(orders: Sequence[str]) -> list[dict]:
    return [
        {"regime": regime, "order": order, **against, "measure": measure}
        for against, among in (({}, orders), ({"against": orders[0]}, orders[1:]))
        for measure in MEASURES
        for regime in REGIMES
        for order in among
    ]


def _monotone(found: Sequence[Sorted]) -> list[dict]:
    told = np.concatenate([sorts.told for sorts in found], axis=2)
    return [
        {"confidence": name, "sorted": told[:, m].size, "changed": int((~told[:, m]).sum())}
        for m, name in enumerate(CONFIDENCES)
    ]


def _moved(
    evaluated: Sequence[Evaluated], found: Sequence[Sorted], orders: Sequence[str]
) -> list[dict]:
    return [
        {
            "dataset": one.dataset,
            "regime": regime,
            "order": order,
            "share": float((~sorts.same_top[r, o]).mean()),
        }
        for one, sorts in zip(evaluated, found, strict=True)
        for r, regime in enumerate(REGIMES)
        for o, order in enumerate(orders)
        if o
    ]
