"""Freezing: each query runs its arms once, and the candidate pool goes to Parquet.

A pool is named by the hashes of the data, the embedding model, the arms with their depth, and the
engine's code, so the same run finds it again and a changed one makes its own. Work is done in
units of one scope and a slice of its queries; each finished unit is a file, so a run that was
stopped goes on where it was.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from joblib import Parallel, delayed

import cpersona_jit
from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.embed.provider import Provider
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import CPersonaError
from cpersona_jit.memory import Memory
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings
from cpersona_jit.records import Record, Source
from harness.config import RunConfig
from harness.datasets.base import Dataset, DatasetQuery, DatasetRow
from harness.embedding_cache import CachedProvider
from harness.hashes import config_hash, dataset_hash, engine_hash

QUERIES_PER_UNIT = 256
EMBED_AT_ONCE = 1024  # texts between two movements of the progress bar

Progress = Callable[[str, int, int], None]  # what is being done, done, of how many


class FreezeError(CPersonaError):
    """A pool could not be frozen; what was finished is kept."""


class _Unit(NamedTuple):
    scope_id: str
    rows: list[DatasetRow]
    first_query: int
    queries: list[DatasetQuery]

    @property
    def candidates_file(self) -> str:
        return f"{self.first_query:07d}.candidates.parquet"

    @property
    def queries_file(self) -> str:
        return f"{self.first_query:07d}.queries.parquet"


def freeze(
    config: RunConfig,
    dataset: Dataset,
    *,
    cache_dir: Path,
    pools_dir: Path,
    jobs: int = -1,
    progress: Progress | None = None,
) -> Path:
    """Freeze the candidate pool of a dataset, or find the one that is already there.

    Parameters
    ----------
    config : RunConfig
        Arms, depth and model of the run.
    dataset : Dataset
        Rows, queries and relevance.
    cache_dir : Path
        Folder of the embedding cache.
    pools_dir : Path
        Folder of pools; the pool is a folder in it.
    jobs : int
        Worker processes (joblib); -1 takes every core.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Path
        The pool's folder.

    Raises
    ------
    FreezeError
        Rows were refused by the store, or a unit failed.
    """
    arms = config.arm_specs()
    provider = load_provider(config.model.provider)
    meta = _describe(config, dataset, provider)
    pool_dir = Path(pools_dir) / f"{dataset.name.replace('/', '_')}-{config_hash(meta)[:12]}"
    if (pool_dir / "meta.json").is_file():
        return pool_dir
    parts = pool_dir / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    progress = progress or (lambda stage, done, total: None)
    units = list(_units(dataset))
    missing = [unit for unit in units if not (parts / unit.queries_file).is_file()]
    if provider.info.dim is not None:
        _embed(dataset, provider, cache_dir, progress)
    provider.close()
    calls = (
        delayed(_freeze_unit)(
            unit, arms, config.freeze.depth, config.model.provider, cache_dir, parts
        )
        for unit in missing
    )
    done = len(units) - len(missing)
    progress("freeze", done, len(units))
    for _ in Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
        done += 1
        progress("freeze", done, len(units))
    _join(pool_dir, units, dataset)
    temporary = pool_dir / "meta.json.tmp"
    temporary.write_text(json.dumps({**meta, "complete": True}, indent=1), encoding="utf-8")
    os.replace(temporary, pool_dir / "meta.json")
    shutil.rmtree(parts)
    return pool_dir


def _join(pool_dir: Path, units: list[_Unit], dataset: Dataset) -> None:
    """Put the finished units together, in the order of the queries."""
    parts = pool_dir / "parts"
    candidates = [pq.read_table(parts / unit.candidates_file) for unit in units]
    queries = [pq.read_table(parts / unit.queries_file) for unit in units]
    _write_table(pool_dir / "candidates.parquet", pa.concat_tables(candidates).combine_chunks())
    joined = pa.concat_tables(queries)
    named = pa.array([dataset.name] * joined.num_rows, pa.string())
    _write_table(pool_dir / "queries.parquet", joined.append_column("dataset", named))
    _write_table(pool_dir / "qrels.parquet", _qrels(joined["query_id"].to_pylist(), dataset))


def _qrels(query_ids: list[str], dataset: Dataset) -> pa.Table:
    judged = [
        (index, doc_id, grade)
        for index, query_id in enumerate(query_ids)
        for doc_id, grade in dataset.qrels.get(query_id, {}).items()
    ]
    index, doc_ids, grades = zip(*judged, strict=True) if judged else ((), (), ())
    return pa.table(
        {
            "query_index": pa.array(index, pa.int32()),
            "doc_id": pa.array(doc_ids, pa.string()),
            "score": pa.array(grades, pa.int32()),
        }
    )


def _describe(config: RunConfig, dataset: Dataset, provider: Provider) -> dict:
    return {
        "dataset": dataset.name,
        "data_hash": dataset_hash(dataset),
        "model": provider.info.label,
        "fingerprint": provider.info.fingerprint,
        "arms": [arm.model_dump() for arm in config.arms],
        "depth": config.freeze.depth,
        "engine_hash": engine_hash(),
        "notes": dataset.notes,
    }


def _units(dataset: Dataset) -> Iterator[_Unit]:
    rows = dataset.rows_by_scope()
    by_scope: dict[str, list[DatasetQuery]] = {}
    for query in dataset.queries:
        by_scope.setdefault(query.scope_id, []).append(query)
    first = 0
    for scope_id, queries in by_scope.items():
        for start in range(0, len(queries), QUERIES_PER_UNIT):
            part = queries[start : start + QUERIES_PER_UNIT]
            yield _Unit(scope_id, rows.get(scope_id, []), first, part)
            first += len(part)


def _embed(dataset: Dataset, provider: Provider, cache_dir: Path, progress: Progress) -> None:
    """Fill the embedding cache, so that the workers only read it."""
    cached = CachedProvider(provider, cache_dir)
    guarded_embed(cached, [query.text for query in dataset.queries], "query")
    texts = list(dict.fromkeys(indexed_text(row.speaker or "", row.text) for row in dataset.rows))
    for start in range(0, len(texts), EMBED_AT_ONCE):
        part = texts[start : start + EMBED_AT_ONCE]
        progress("embed", start, len(texts))
        guarded_embed(cached, part, "passage")
    progress("embed", len(texts), len(texts))


def _freeze_unit(
    unit: _Unit,
    arms: tuple[ArmSpec, ...],
    depth: int,
    provider_spec: str,
    cache_dir: Path,
    parts: Path,
) -> None:
    provider = load_provider(provider_spec)
    if provider.info.dim is not None:
        provider = CachedProvider(provider, cache_dir)
    fusion = FusionSpec("score", {arm.name: 1.0 for arm in arms})
    settings = RecallSettings(arms, fusion, depth)
    with (
        tempfile.TemporaryDirectory(prefix="cpersona-jit-freeze-") as folder,
        cpersona_jit.open(Path(folder) / "scope.db", embedder=provider) as memory,
    ):
        documents = _ingest(memory, unit)
        found = [
            _candidates(memory, query, settings, documents, unit.first_query + position)
            for position, query in enumerate(unit.queries)
        ]
    _write_table(parts / unit.candidates_file, pa.concat_tables([table for table, _ in found]))
    # Written last: a unit is done when this file is there.
    _write_table(parts / unit.queries_file, pa.Table.from_pylist([query for _, query in found]))


def _write_table(path: Path, table: pa.Table) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    pq.write_table(table, temporary)
    os.replace(temporary, path)


def _ingest(memory: Memory, unit: _Unit) -> dict[int, str]:
    """Store the rows of a scope and return the document of each memory id."""
    outcomes = memory.store_many(
        (
            Record(
                content=row.text,
                agent_id=unit.scope_id,
                msg_id=f"{row.doc_id}#{row.part}",
                source=Source("", row.speaker or "", row.speaker or ""),
                session_id=row.session_id or "",
                timestamp=row.timestamp or "",
            )
            for row in unit.rows
        ),
        dedup=False,
    )
    documents = {}
    for row, outcome in zip(unit.rows, outcomes, strict=True):
        if outcome.status != "stored":
            raise FreezeError(
                f"scope {unit.scope_id!r}, document {row.doc_id!r}: the store answered "
                f"{outcome.status} ({outcome.reason}): {outcome.detail}"
            )
        documents[int(outcome.ref.removeprefix("mem:"))] = row.doc_id
    return documents


def _candidates(
    memory: Memory,
    query: DatasetQuery,
    settings: RecallSettings,
    documents: dict[int, str],
    query_index: int,
) -> tuple[pa.Table, dict]:
    """Run one query: its candidates, and what is known of the query and its arms."""
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
    return pa.table(columns), about


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
