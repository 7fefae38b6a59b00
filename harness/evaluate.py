"""From pools to values: every setting measured on every query, and means over any part of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.grid import AnySetting
from harness.adaptive.pool import SignalPool
from harness.adaptive.replay import replay_adaptive
from harness.adaptive.splits import SplitError, committed_split
from harness.bootstrap import Intervals, stratified_intervals, task_means
from harness.config import RunConfig
from harness.grid import Setting
from harness.judged import Judged, PoolError
from harness.measures import MACRO, TaskStrata, from_gold_ranks, task_strata
from harness.replay import SETTING_CHUNK, replay
from harness.splits import ALL, DEVELOPMENT, HOLDOUT, UNSEEN, VALIDATION, validation_mask

MEAN_OF_DATASETS = "mean of datasets"


@dataclass(frozen=True)
class Evaluated:
    """One dataset's values of the selecting measure; S settings, Qr judged queries.

    Parameters
    ----------
    pool : Judged
    strata : TaskStrata
        Task of each judged query.
    validation : bool (Qr,)
        The query may choose a setting.
    values : float64 (S, Qr)
    rest : str
        Name of the part that all other queries make, on which a choice is judged.
    """

    pool: Judged
    strata: TaskStrata
    validation: np.ndarray
    values: np.ndarray
    rest: str = UNSEEN

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self.pool.dataset

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts to report; the holdout is never mixed with what chose."""
        return (VALIDATION, HOLDOUT) if self.rest == HOLDOUT else (ALL, VALIDATION, self.rest)

    def part(self, part: str) -> np.ndarray:
        """Return the positions of a part's queries among the judged ones."""
        if part == ALL:
            return np.arange(len(self.validation))
        return np.flatnonzero(self.validation == (part == VALIDATION))


class Means(NamedTuple):
    """Means over one part of the queries: M means, C columns."""

    labels: list[tuple[str, str]]  # (dataset, task) of each mean; the task may be MACRO
    counts: list[int]  # queries behind each mean
    intervals: Intervals  # (M, C)


def evaluate(
    pool: Judged,
    settings: Sequence[Setting] | Sequence[AnySetting],
    config: RunConfig | AdaptiveConfig,
    progress: Callable[[int], None] | None = None,
) -> Evaluated:
    """Replay all settings over a pool and measure each query.

    Raises
    ------
    PoolError
        The pool has no query with a relevant document.
    """
    judged = np.flatnonzero(pool.has_relevant)
    if judged.size == 0:
        raise PoolError(f"dataset {pool.dataset!r}: no query has a relevant document to find")
    replayed = replay_adaptive if isinstance(pool, SignalPool) else replay
    ranks = replayed(pool, settings, progress=progress)
    values = np.concatenate(
        [
            from_gold_ranks(pool, ranks[start : start + SETTING_CHUNK], config.select.measure)
            for start in range(0, len(ranks), SETTING_CHUNK)
        ]
    )
    validation, rest = _parted(pool, judged, config)
    return Evaluated(pool, task_strata(pool), validation, values, rest)


def part_means(
    evaluated: Sequence[Evaluated], columns: Sequence[np.ndarray], part: str, config: RunConfig
) -> Means:
    """Average columns over one part of the queries, with intervals.

    Parameters
    ----------
    evaluated : sequence of Evaluated
        D datasets.
    columns : sequence of float64 (C, Qr)
        For each dataset, C columns of per-query values or differences.
    part : str
        Which queries: a name of their ``parts``.
    config : RunConfig
        Gives the seed and the bootstrap's numbers.

    Returns
    -------
    Means
        For each dataset its tasks and their unweighted mean; with several datasets also the
        unweighted mean of those means. Datasets without a query in the part are left out.
    """
    values, strata, labels, counts, blocks = [], [], [], [], []
    for one, column in zip(evaluated, columns, strict=True):
        queries = one.part(part)
        if queries.size == 0:
            continue
        present, numbers = np.unique(one.strata.of_query[queries], return_inverse=True)
        values.append(column[:, queries])
        strata.append(numbers + sum(block.shape[1] for block in blocks))
        blocks.append(task_means(len(present)))
        labels += [(one.dataset, one.strata.tasks[task]) for task in present]
        labels.append((one.dataset, MACRO))
        counts += [*np.bincount(numbers).tolist(), len(queries)]
    mixing = _block_diagonal(blocks)
    if len(blocks) > 1:
        last_rows = np.cumsum([len(block) for block in blocks]) - 1
        mixing = np.vstack([mixing, mixing[last_rows].mean(axis=0)])
        labels.append((MEAN_OF_DATASETS, MACRO))
        counts.append(sum(len(numbers) for numbers in strata))
    intervals = stratified_intervals(
        np.concatenate(values, axis=1),
        np.concatenate(strata),
        mixing,
        resamples=config.bootstrap.resamples,
        confidence=config.bootstrap.confidence,
        seed=config.seed,
    )
    return Means(labels, counts, intervals)


def macro_values(one: Evaluated, part: str) -> np.ndarray:
    """Return every setting's unweighted mean over tasks on one part, float64 (S,).

    Returns
    -------
    float64 (S,)
        NaN when the part has no queries.
    """
    queries = one.part(part)
    if queries.size == 0:
        return np.full(len(one.values), np.nan)
    tasks = one.strata.of_query[queries]
    values = one.values[:, queries]
    return np.mean([values[:, tasks == task].mean(axis=1) for task in np.unique(tasks)], axis=0)


def _parted(
    pool: Judged, judged: np.ndarray, config: RunConfig | AdaptiveConfig
) -> tuple[np.ndarray, str]:
    """Return which judged queries validate, and the name of the part of the others."""
    queries = [pool.query_ids[query] for query in judged]
    scopes = [pool.scope_ids[query] for query in judged]
    if isinstance(config, AdaptiveConfig):
        split = committed_split(pool.meta["dataset"])
        parts = np.array([split.part_of(*ids) for ids in zip(queries, scopes, strict=True)])
        if HOLDOUT in parts and DEVELOPMENT in parts:
            raise SplitError(
                f"dataset {pool.dataset!r}: the pool mixes the holdout with other parts"
            )
        return parts == VALIDATION, HOLDOUT if HOLDOUT in parts else DEVELOPMENT
    share = config.select.validation_share
    return validation_mask(queries, scopes, share=share, seed=config.seed), UNSEEN


def _block_diagonal(blocks: Sequence[np.ndarray]) -> np.ndarray:
    out = np.zeros((sum(len(b) for b in blocks), sum(b.shape[1] for b in blocks)))
    row = column = 0
    for block in blocks:
        out[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return out
