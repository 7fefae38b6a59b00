"""Retrieval measures: from ranked lists by ir-measures, and from gold ranks for whole sweeps.

Both give one value per query that has a relevant document; the others are left out and counted.
The two agree (a test holds it), so a sweep of hundreds of settings need not build ranked lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import ir_measures
import numpy as np

from harness.judged import Judged

MEASURES = ("nDCG@10", "R@10", "R@100", "RR@10", "AP@100")
LIST_LENGTH = 100
"""Rows of a ranked list that the deepest measure looks at."""

MACRO = "macro"
"""Name of the unweighted mean over tasks in records."""


class TaskStrata(NamedTuple):
    """Tasks of the judged queries; Qr queries, T tasks in sorted order."""

    tasks: tuple[str, ...]
    of_query: np.ndarray  # int64 (Qr,)


def task_strata(pool: Judged) -> TaskStrata:
    """Number the tasks of the queries that have a relevant document."""
    tasks = [pool.tasks[query] for query in np.flatnonzero(pool.has_relevant)]
    names = tuple(sorted(set(tasks)))
    place = {name: number for number, name in enumerate(names)}
    return TaskStrata(names, np.array([place[task] for task in tasks], dtype=np.int64))


def from_ranked_lists(
    pool: Judged, lists: Sequence[np.ndarray], measures: Sequence[str] = MEASURES
) -> np.ndarray:
    """Measure one setting's ranked lists with ir-measures.

    Parameters
    ----------
    pool : Pool
        Where the lists came from.
    lists : sequence of int64 arrays
        For each of the pool's queries, positions of its best candidates, best first.
    measures : sequence of str
        Names as ir-measures writes them.

    Returns
    -------
    float64 (len(measures), Qr)
        Values of the queries that have a relevant document, in pool order.
    """
    judged = np.flatnonzero(pool.has_relevant)
    column = {str(query): number for number, query in enumerate(judged)}
    row = {ir_measures.parse_measure(name): number for number, name in enumerate(measures)}
    run = {str(query): _scored(pool, query, lists[query]) for query in judged}
    values = np.zeros((len(measures), len(judged)))
    for metric in ir_measures.iter_calc(list(row), _qrels(pool, judged), run):
        values[row[metric.measure], column[metric.query_id]] = metric.value
    return values


def from_gold_ranks(pool: Judged, ranks: np.ndarray, measure: str) -> np.ndarray:
    """Measure many settings from the ranks of the relevant documents alone.

    Parameters
    ----------
    pool : Pool
        Where the ranks came from.
    ranks : int32 (S, J)
        1-based rank of every relevant document under every setting, 0 when it is no candidate.
    measure : str
        One of :data:`MEASURES`.

    Returns
    -------
    float64 (S, Qr)
        Values of the queries that have a relevant document, in pool order.
    """
    name, cutoff = measure.split("@")
    starts = pool.judged_ptr[:-1][pool.has_relevant]
    if starts.size == 0:
        return np.zeros((len(ranks), 0))
    found = (ranks >= 1) & (ranks <= int(cutoff))
    sizes = np.diff(pool.judged_ptr)[pool.has_relevant]
    if name == "nDCG":
        gains = np.where(found, pool.judged_gain / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)
        return np.add.reduceat(gains, starts, axis=1) / _ideal_gains(pool, int(cutoff))
    if name == "R":
        return np.add.reduceat(found.astype(np.float64), starts, axis=1) / sizes
    if name == "RR":
        reciprocal = np.where(found, 1.0 / np.maximum(ranks, 1), 0.0)
        return np.maximum.reduceat(reciprocal, starts, axis=1)
    return np.add.reduceat(_precisions(ranks, found, starts, sizes), starts, axis=1) / sizes


def _scored(pool: Judged, query: int, positions: np.ndarray) -> dict[str, float]:
    """Give a list descending scores, as ir-measures orders by score."""
    codes = pool.doc_codes[pool.offsets[query] + positions[:LIST_LENGTH]]
    return {f"d{code}": -float(place) for place, code in enumerate(codes)}


def _qrels(pool: Judged, judged: np.ndarray) -> dict[str, dict[str, int]]:
    code_of = {doc: code for code, doc in enumerate(pool.doc_ids.to_pylist())}
    qrels: dict[str, dict[str, int]] = {}
    for query in judged:
        span = range(pool.judged_ptr[query], pool.judged_ptr[query + 1])
        qrels[str(query)] = {
            f"d{code_of.get(pool.judged_ids[j], f' outside {j}')}": int(pool.judged_gain[j])
            for j in span
        }
    return qrels


def _ideal_gains(pool: Judged, cutoff: int) -> np.ndarray:
    discounts = 1.0 / np.log2(np.arange(cutoff) + 2.0)
    ideal = []
    for query in np.flatnonzero(pool.has_relevant):
        gains = pool.judged_gain[pool.judged_ptr[query] : pool.judged_ptr[query + 1]]
        best = np.sort(gains)[::-1][:cutoff]
        ideal.append(best @ discounts[: len(best)])
    return np.array(ideal)


def _precisions(
    ranks: np.ndarray, found: np.ndarray, starts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Precision at each found document's rank, documents of a query sorted by rank."""
    nowhere = np.int64(1) << 40
    query_of = np.repeat(np.arange(len(starts)), sizes)
    ordered = np.sort(np.where(found, ranks, nowhere) + query_of * (nowhere * 2), axis=1)
    rank = ordered - query_of * (nowhere * 2)
    seen = np.arange(len(query_of)) - np.repeat(starts, sizes) + 1.0
    return np.where(rank < nowhere, seen / np.maximum(rank, 1), 0.0)
