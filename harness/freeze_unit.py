"""Freezing one unit: store the rows of a scope, run a slice of its queries, keep the candidates."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cpersona_jit
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import CPersonaError
from cpersona_jit.memory import Memory
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings
from cpersona_jit.records import Record, Source
from harness.datasets.base import DatasetQuery, DatasetRow
from harness.embedding_cache import CachedProvider


class FreezeError(CPersonaError):
    """A pool could not be frozen; what was finished is kept."""


class Unit(NamedTuple):
    """A slice of the queries of one scope, with the scope's rows."""

    scope_id: str
    rows: list[DatasetRow]
    first_query: int
    queries: list[DatasetQuery]

    @property
    def candidates_file(self) -> str:
        """Name of the file of the unit's candidates."""
        return f"{self.first_query:07d}.candidates.parquet"

    @property
    def queries_file(self) -> str:
        """Name of the file of the unit's queries, written last."""
        return f"{self.first_query:07d}.queries.parquet"

    def is_done(self, parts: Path) -> bool:
        """Whether both files of the unit are in `parts`."""
        return all((parts / name).is_file() for name in (self.candidates_file, self.queries_file))


def freeze_unit(
    unit: Unit,
    arms: tuple[ArmSpec, ...],
    depth: int,
    provider_spec: str,
    cache_dir: Path,
    parts: Path,
) -> None:
    """Freeze one unit into `parts`; runs in a worker process.

    Parameters
    ----------
    unit : Unit
        Rows and queries.
    arms : tuple of ArmSpec
        Arms to run, each to `depth`.
    depth : int
        Candidates per arm.
    provider_spec : str
        The embedding model, as in a config.
    cache_dir : Path
        Folder of the embedding cache, filled beforehand.
    parts : Path
        Folder of finished units.
    """
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
    write_table(parts / unit.candidates_file, pa.concat_tables([table for table, _ in found]))
    write_table(parts / unit.queries_file, pa.Table.from_pylist([query for _, query in found]))


def write_table(path: Path, table: pa.Table) -> None:
    """Write a Parquet file that appears whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        pq.write_table(table, temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise FreezeError(
            f"{path}: cannot be written ({error.strerror or error}); "
            "what is finished is kept: run again to go on"
        ) from error


def _ingest(memory: Memory, unit: Unit) -> dict[int, str]:
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
