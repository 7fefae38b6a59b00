"""Replay of adaptive settings: rank the relevant rows of every query under every setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed

from cpersona_jit.recall.kernel_set import warm_kernels
from harness.adaptive.grid import AnySetting
from harness.adaptive.pool import SignalPool
from harness.adaptive.ranking import QueryRanker, Scored

QUERY_CHUNK = 16
"""Queries of one job: enough to be worth sending, few enough for the progress bar to move."""

WORTH_PROCESSES = 20_000
"""Rankings below which starting processes takes longer than ranking, about two seconds."""


def replay_adaptive(
    pool: SignalPool,
    settings: Sequence[AnySetting],
    *,
    jobs: int = -1,
    progress: Callable[[int], None] | None = None,
) -> np.ndarray:
    """Rank the relevant documents of every query under every setting.

    Parameters
    ----------
    pool : SignalPool
        A frozen pool.
    settings : sequence
        S baselines and adaptive settings.
    jobs : int
        Processes, as joblib counts them.
    progress : callable, optional
        Told how many more queries are done.

    Returns
    -------
    int32 (S, J)
        1-based rank of each of the pool's J relevant documents; 0 when the setting does not
        return it. Parts of one document count once, by the best of them.
    """
    if len(settings) * len(pool.query_ids) < WORTH_PROCESSES:
        jobs = 1
    starts = range(0, len(pool.query_ids), QUERY_CHUNK)
    chunks = [range(start, min(start + QUERY_CHUNK, len(pool.query_ids))) for start in starts]
    found = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_chunk_ranks)(pool, settings, chunk) for chunk in chunks
    )
    ranks = np.zeros((len(settings), len(pool.judged_ids)), np.int32)
    for chunk, part in zip(chunks, found, strict=True):
        ranks[:, pool.judged_ptr[chunk.start] : pool.judged_ptr[chunk.stop]] = part
        if progress is not None:
            progress(len(chunk))
    return ranks


def ranked_adaptive(pool: SignalPool, setting: AnySetting, *, top: int) -> list[np.ndarray]:
    """Rank every query's candidates under one setting.

    Returns
    -------
    list of int64 arrays
        For each query, positions inside its slice of the pool, best first, at most `top`; of
        the parts of one document the best one alone.
    """
    kernels = warm_kernels()
    lists = []
    for query in range(len(pool.query_ids)):
        found = QueryRanker(pool, query, kernels).scored(setting)
        place = found.place[found.order()]
        documents = pool.doc_codes[pool.offsets[query] + place]
        first = np.sort(np.unique(documents, return_index=True)[1])
        lists.append(place[first[:top]])
    return lists


def _chunk_ranks(pool: SignalPool, settings: Sequence[AnySetting], queries: range) -> np.ndarray:
    kernels = warm_kernels()
    first = pool.judged_ptr[queries.start]
    ranks = np.zeros((len(settings), pool.judged_ptr[queries.stop] - first), np.int32)
    for query in queries:
        gold = slice(pool.gold_ptr[query], pool.gold_ptr[query + 1])
        if gold.start == gold.stop:
            continue
        judged = pool.gold_judged[gold] - first
        documents = pool.doc_codes[pool.offsets[query] : pool.offsets[query + 1]]
        parted = documents if np.unique(documents).size < documents.size else None
        ranker = QueryRanker(pool, query, kernels)
        for number, setting in enumerate(settings):
            found = ranker.scored(setting)
            for row, document in zip(pool.gold[gold].tolist(), judged.tolist(), strict=True):
                rank = _rank(found, row, parted)
                known = ranks[number, document]
                if rank and (known == 0 or rank < known):
                    ranks[number, document] = rank
    return ranks


def _rank(found: Scored, row: int, parted: np.ndarray | None) -> int:
    """Rank of one row by counting: those above it, and its equals that stand earlier.

    Given the documents of all rows, another document counts once, however many parts are above.
    """
    at = int(np.searchsorted(found.place, row))
    if at == found.place.size or found.place[at] != row:
        return 0
    score = found.score[at]
    above = found.score > score
    above[:at] |= found.score[:at] == score
    if parted is None:
        return 1 + int(np.count_nonzero(above))
    return 1 + np.unique(parted[found.place[above]]).size
