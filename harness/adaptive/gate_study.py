"""What a gate removes: evidence it should keep, and questions it should answer with nothing.

Questions that belong to another conversation are asked of each scope. Nothing there answers them,
so the more of them come back empty the better, as long as the gate spares the relevant rows that
recall without it would show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cpersona_jit.recall.kernel_set import warm_kernels
from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.grid import AdaptiveSetting
from harness.adaptive.pool import SignalPool
from harness.adaptive.ranking import QueryRanker
from harness.adaptive.replay import replay_adaptive
from harness.datasets.base import Dataset
from harness.evaluate import Evaluated
from harness.splits import VALIDATION

SHOWN = 10  # rows of recall without a gate in which relevant rows must survive it


def ask_elsewhere(dataset: Dataset) -> Dataset | None:
    """Return the dataset with each question asked of the next scope, where nothing is relevant.

    Returns
    -------
    Dataset or None
        None when there is one scope.
    """
    scopes = list(dict.fromkeys(query.scope_id for query in dataset.queries))
    if len(scopes) < 2:
        return None
    following = dict(zip(scopes, [*scopes[1:], scopes[0]], strict=True))
    moved = [query._replace(scope_id=following[query.scope_id]) for query in dataset.queries]
    queries = sorted(moved, key=lambda query: scopes.index(query.scope_id))
    return replace(dataset, queries=queries, qrels={})


def gate_study(
    evaluated: Sequence[Evaluated],
    elsewhere: Sequence[SignalPool | None],
    setting: AdaptiveSetting,
    config: AdaptiveConfig,
) -> dict:
    """Measure every gate of the config on one setting, on the validation part.

    Parameters
    ----------
    evaluated : sequence of Evaluated
        One per dataset.
    elsewhere : sequence of SignalPool or None
        Their questions, asked of other scopes.
    setting : AdaptiveSetting
        The setting; its own gate is left out.
    config : AdaptiveConfig
        Its ``gates``.

    Returns
    -------
    dict
        ``rows``: for each dataset and gate the share of relevant rows in the ungated top 10 that
        survive, the share of own and of foreign questions that come back empty, and the mean
        number of candidates left. JSON-ready.
    """
    plain = replace(setting, settings=replace(setting.settings, gate=None))
    gated = [replace(plain, settings=replace(plain.settings, gate=gate)) for gate in config.gates]
    rows = []
    for one, foreign in zip(evaluated, elsewhere, strict=True):
        ranks = _validation_ranks(one, [plain, *gated])
        shown = (ranks[0] >= 1) & (ranks[0] <= SHOWN)
        judged = np.flatnonzero(one.pool.has_relevant)
        own = _left(one.pool, gated, judged[one.part(VALIDATION)])
        far = None
        if foreign is not None:
            far = _left(foreign, gated, np.arange(len(foreign.query_ids)))
        for number, gate in enumerate(config.gates):
            rows.append(
                {
                    "dataset": one.dataset,
                    "gate": gate,
                    "relevant_shown": int(shown.sum()),
                    "kept": float((ranks[number + 1, shown] > 0).mean()) if shown.any() else None,
                    "own_empty": float((own[number] == 0).mean()),
                    "own_left": float(own[number].mean()),
                    "foreign": None if far is None else int(far.shape[1]),
                    "foreign_empty": None if far is None else float((far[number] == 0).mean()),
                }
            )
    return {"setting": setting.name, "shown": SHOWN, "rows": rows}


def _validation_ranks(one: Evaluated, settings: Sequence[AdaptiveSetting]) -> np.ndarray:
    """Rank the relevant documents of the validation part, int32 (settings, their number)."""
    pool = one.pool
    of_query = np.repeat(np.arange(len(pool.query_ids)), np.diff(pool.judged_ptr))
    queries = np.flatnonzero(pool.has_relevant)[one.part(VALIDATION)]
    return replay_adaptive(pool, settings)[:, np.isin(of_query, queries)]


def _left(pool: SignalPool, settings: Sequence[AdaptiveSetting], queries: np.ndarray) -> np.ndarray:
    """Count the candidates that each gate leaves, int64 (settings, queries)."""
    kernels = warm_kernels()
    left = np.zeros((len(settings), queries.size), np.int64)
    for column, query in enumerate(queries.tolist()):
        ranker = QueryRanker(pool, query, kernels)
        left[:, column] = [ranker.scored(setting).place.size for setting in settings]
    return left
