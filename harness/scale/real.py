"""The same on vectors of a model: a benchmark's scopes put into one large one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import cpersona_jit
from cpersona_jit import Record, Source
from cpersona_jit.embed.provider import Provider, TextKind
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import EmbeddingError
from cpersona_jit.records import parse_ref
from harness.adaptive.splits import committed_split, keep_parts
from harness.datasets.base import Dataset, DatasetRow
from harness.datasets.registry import load_dataset
from harness.embedding_cache import CachedProvider
from harness.scale.config import RealConfig, SweepConfig
from harness.scale.scan import sweep_scan
from harness.speed.talk import AGENT
from harness.splits import DEVELOPMENT, VALIDATION

_MODEL = "default"
_BATCH = 2048

Progress = Callable[[str, int, int], None]


class NotThereError(Exception):
    """There is nothing to measure on; says why."""


class Merged(NamedTuple):
    """Rows of many scopes, each once, and for each question the numbers of those that answer."""

    rows: list[DatasetRow]
    questions: list[str]
    gold: list[set[int]]
    scopes: int


class NoModel:
    """Stands in for a model: what is not in the cache is not made.

    Parameters
    ----------
    model : Provider
        Whose vectors the cache holds.
    """

    def __init__(self, model: Provider) -> None:
        self.info = model.info

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Raise."""
        raise EmbeddingError(f"{len(texts)} vectors are not in the cache of embeddings")

    def close(self) -> None:
        """Do nothing."""


def measure_real(
    config: RealConfig,
    sweep: SweepConfig,
    seed: int,
    data: Path | None,
    cache: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Sweep the scan over one scope of real rows.

    Raises
    ------
    NotThereError
        There is no data folder, the dataset is not in it, or vectors are not cached.
    """
    if data is None or not (data / config.dataset).is_dir():
        raise NotThereError(f"--data names no folder with {config.dataset}")
    stage = f"{config.dataset}, in one scope"
    progress(stage, 0, 2)
    dataset = load_dataset(config.dataset, data, seed=seed, sample_queries=config.sample_queries)
    parts = (DEVELOPMENT, VALIDATION)
    merged = merge_scopes(keep_parts(dataset, committed_split(dataset.name), parts), config)
    provider = CachedProvider(NoModel(load_provider(_MODEL)), cache)
    try:
        provider.embed(merged.questions, kind="query")
        with TemporaryDirectory() as folder:
            found = _swept(Path(folder) / "real.db", provider, merged, sweep, progress, stage)
    except EmbeddingError as error:
        raise NotThereError(str(error)) from error
    finally:
        provider.close()
    facts = {"dataset": config.dataset, "model": provider.info.label, "scopes": merged.scopes}
    return {**facts, "questions": len(merged.questions), "parts": list(parts), **found}


def merge_scopes(dataset: Dataset, config: RealConfig) -> Merged:
    """Put scopes into one until there are enough rows. A session of several scopes is there once,
    and answers the questions of all of them.
    """
    by_scope = dataset.rows_by_scope()
    number: dict[tuple[str | None, str], int] = {}
    rows: list[DatasetRow] = []
    told: dict[tuple[str, str], set[int]] = {}
    scopes = set()
    for scope in dataset.scope_ids:
        if len(rows) >= config.most_rows:
            break
        scopes.add(scope)
        for row in by_scope[scope]:
            key = row.session_id, row.text
            if key not in number:
                number[key] = len(rows)
                rows.append(row)
            told.setdefault((scope, row.doc_id), set()).add(number[key])
    asked = [query for query in dataset.queries if query.scope_id in scopes]
    gold = [
        set().union(*(told[q.scope_id, doc] for doc in dataset.qrels.get(q.query_id, {})))
        for q in asked
    ]
    return Merged(rows, [query.text for query in asked], gold, len(scopes))


def _swept(
    path: Path,
    provider: CachedProvider,
    merged: Merged,
    sweep: SweepConfig,
    progress: Progress,
    stage: str,
) -> dict[str, Any]:
    with cpersona_jit.open(path, provider) as memory:
        records = (
            Record(
                row.text,
                AGENT,
                timestamp=row.timestamp,
                session_id=row.session_id,
                source=Source("user", "", row.speaker or ""),
            )
            for row in merged.rows
        )
        outcomes = memory.store_many(records, dedup=False, batch_size=_BATCH)
        if any(outcome.warnings for outcome in outcomes):
            raise EmbeddingError("vectors of rows or blocks are not in the cache of embeddings")
        ids = [parse_ref(outcome.ref) for outcome in outcomes]
        gold = [{ids[place] for place in places} for places in merged.gold]
        columns = memory.columns()
        progress(stage, 1, 2)
        scans = sweep_scan(memory, merged.questions, gold, sweep, lambda turn: None)
        progress(stage, 2, 2)
    return {"rows": columns.n, "blocks": columns.blocks.n, "scans": scans}
