"""What a pool of arms keeps of one query: the candidates of every arm, their ranks and scores."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cpersona_jit.memory import Memory
from cpersona_jit.recall.settings import RecallSettings
from harness.datasets.base import DatasetQuery
from harness.freeze_unit import FreezeError


def arm_candidates(
    memory: Memory,
    query: DatasetQuery,
    documents: dict[int, str],
    query_index: int,
    *,
    settings: RecallSettings,
) -> tuple[pa.Table, pa.Table]:
    """Run one query: its candidates, and what is known of the query and its arms.

    Parameters and results are those of :data:`harness.freeze_unit.Ask`; every arm of `settings`
    runs to its depth.
    """
    result = memory.recall(
        query.text, agent_id=query.scope_id, limit=0, settings=settings, trace=True
    )
    trace = result.trace
    lost = [note for note in result.degraded if not note.startswith("no_embedder")]
    if lost:
        raise FreezeError(f"query {query.query_id!r}: recall was degraded ({'; '.join(lost)})")
    ids = [documents[memory_id] for memory_id in trace.pool_ids.tolist()]
    keep, ranks, scores = fold_parts(ids, trace.pool_ranks, trace.pool_scores)
    ran = {arm.name: a for a, arm in enumerate(trace.arms)}
    columns: dict[str, object] = {
        "query_index": np.full(len(keep), query_index, np.int32),
        "doc_id": pa.array([ids[i] for i in keep], pa.string()).dictionary_encode(),
    }
    about = {
        "query_id": query.query_id,
        "scope_id": query.scope_id,
        "task": query.task,
        "latency_ms": sum(trace.milliseconds.values()),
    }
    for spec in settings.arms:
        a = ran.get(spec.name)
        arm = None if a is None else trace.arms[a]
        nothing = np.zeros(len(keep), np.int64)
        columns[f"{spec.name}_rank"] = (nothing if a is None else ranks[a]).astype(np.int32)
        columns[f"{spec.name}_score"] = nothing if a is None else scores[a]
        about[f"{spec.name}_mean"] = 0.0 if arm is None else arm.mean
        about[f"{spec.name}_std"] = 0.0 if arm is None else arm.std
        about[f"{spec.name}_count"] = 0 if arm is None else arm.count
    return pa.table(columns), pa.Table.from_pylist([about])


def fold_parts(
    ids: list[str], ranks: np.ndarray, scores: np.ndarray
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Fold the parts of one document into one candidate: the best rank and score of each arm.

    Parameters
    ----------
    ids : list of str, length P
        Document of each candidate, in tie order.
    ranks, scores : ndarray, shape (A, P)
        Ranks (0: not listed) and scores.

    Returns
    -------
    keep : list of int
        The first position of each document.
    ranks, scores : ndarray, shape (A, len(keep))
    """
    first: dict[str, int] = {}
    group = np.array([first.setdefault(doc, len(first)) for doc in ids], np.int64)
    if len(first) == len(ids):
        return list(range(len(ids))), ranks, scores
    keep = np.unique(group, return_index=True)[1].tolist()
    unlisted = np.iinfo(np.int32).max
    best_rank = np.full((ranks.shape[0], len(first)), unlisted, np.int32)
    best_score = np.full((ranks.shape[0], len(first)), np.iinfo(np.int64).min, np.int64)
    for a in range(ranks.shape[0]):
        np.minimum.at(best_rank[a], group, np.where(ranks[a] > 0, ranks[a], unlisted))
        np.maximum.at(best_score[a], group, scores[a])
    return keep, np.where(best_rank == unlisted, 0, best_rank), best_score
