"""Freezing one unit: store the rows of a scope, ask a slice of its queries, keep the answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cpersona_jit
from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.embed.provider import Provider
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import CPersonaError
from cpersona_jit.memory import Memory
from cpersona_jit.records import Record, Source
from harness.adaptive.config import SignalModelConfig
from harness.datasets.base import DatasetQuery, DatasetRow
from harness.embedding_cache import CachedProvider


class FreezeError(CPersonaError):
    """A pool could not be frozen; what was finished is kept."""


Ask = Callable[[Memory, DatasetQuery, dict[int, str], int], tuple[pa.Table, pa.Table]]
"""Asks one query of a memory that holds its scope. Takes the memory, the query, the document of
each memory id and the query's number; gives the query's candidates, in tie order, and one row of
what is known of the query. It goes to worker processes, so it is a function of a module, or a
``functools.partial`` of one."""


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
    ask: Ask,
    model: SignalModelConfig,
    cache_dir: Path,
    parts: Path,
) -> None:
    """Freeze one unit into `parts`; runs in a worker process.

    Parameters
    ----------
    unit : Unit
        Rows and queries.
    ask : callable
        What is kept of each query.
    model : SignalModelConfig
        The embedding model, and whether blocks are embedded.
    cache_dir : Path
        Folder of the embedding cache, filled beforehand.
    parts : Path
        Folder of finished units.
    """
    provider = load_provider(model.provider)
    if provider.info.dim is not None:
        provider = CachedProvider(provider, cache_dir, centred=model.centred)
    with (
        tempfile.TemporaryDirectory(prefix="cpersona-jit-freeze-") as folder,
        cpersona_jit.open(Path(folder) / "scope.db", embedder=provider) as memory,
    ):
        vectors = _row_vectors(provider, unit) if model.rows_only else None
        documents = ingest_scope(memory, unit, vectors)
        answers = [
            ask(memory, query, documents, unit.first_query + position)
            for position, query in enumerate(unit.queries)
        ]
    write_table(parts / unit.candidates_file, pa.concat_tables([one for one, _ in answers]))
    write_table(parts / unit.queries_file, pa.concat_tables([query for _, query in answers]))


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


def _row_vectors(provider: Provider, unit: Unit) -> np.ndarray | None:
    """Return vectors of whole rows; a store that is given them embeds no blocks."""
    if provider.info.dim is None or not unit.rows:
        return None
    texts = [indexed_text(row.speaker or "", row.text) for row in unit.rows]
    return guarded_embed(provider, texts, "passage")


def ingest_scope(memory: Memory, unit: Unit, vectors: np.ndarray | None) -> dict[int, str]:
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
        vectors=vectors,
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
