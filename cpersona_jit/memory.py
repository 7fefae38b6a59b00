"""The library's one object: a memory in one SQLite file."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cpersona_jit.columns.build import NO_MODEL, Model
from cpersona_jit.columns.refresh import refreshed_columns
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.defaults import DEFAULT_LIMIT, DEFAULT_SETTINGS
from cpersona_jit.embed.guard import clean_text, guarded_embed
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.embed.provider import ModelInfo, Provider
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import EmbeddingError, UsageError
from cpersona_jit.ingest import NOT_EMBEDDED, Ingest, check_batch_size
from cpersona_jit.isolation import Axes
from cpersona_jit.recall.kernel_set import current_kernels, warm_kernels
from cpersona_jit.recall.pipeline import Ranking, rank
from cpersona_jit.recall.settings import RecallSettings
from cpersona_jit.recall.trace import trace_recall
from cpersona_jit.records import Record, Row, Source, StoreOutcome, format_ref, parse_ref
from cpersona_jit.results import (
    ContentsResult,
    DeleteResult,
    RecallResult,
    RecallRow,
    ReembedResult,
    StoreStatus,
)
from cpersona_jit.store.database import generation, open_database
from cpersona_jit.store.models import find_model, list_models
from cpersona_jit.store.reads import counts, fetch_rows, rows_without_vector
from cpersona_jit.store.schema import schema_version
from cpersona_jit.store.timestamps import format_utc, now_us
from cpersona_jit.store.validate import Rejection, check_content
from cpersona_jit.store.writes import delete, set_vectors, update_content

MAX_LIMIT = 10_000
MAX_REFS = 20
MAX_QUERY_CHARS = 16_000


class Memory:
    """A memory: store, recall, read, change. Made by :func:`cpersona_jit.open`.

    Safe to use from several threads. Other processes may use the same file; what they write is
    seen by the next recall.

    Parameters
    ----------
    path : str or path
        The SQLite file.
    embedder : str or Provider
        ``"default"``, ``"quality"``, ``"minilm"``, ``"none"``, an ``http(s)://`` endpoint,
        ``"onnx:<folder>"``, or any object with the provider interface.
    create : bool
        Make the file when there is none.
    wait_for_kernels : bool
        False answers with the NumPy kernels while the compiled ones are made ready elsewhere (see
        :func:`cpersona_jit.recall.kernel_set.warm_kernels`); the rows are the same.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        embedder: str | Provider = "default",
        *,
        create: bool = True,
        wait_for_kernels: bool = True,
    ) -> None:
        self._provider = _provider(embedder)
        self._conn = open_database(path, create=create)
        self._path = os.fspath(path)
        self._lock = threading.RLock()
        self._kernels = warm_kernels if wait_for_kernels else current_kernels
        self._columns: Columns | None = None

    # -- writing ----------------------------------------------------------------------------------

    def store(
        self,
        content: str,
        *,
        agent_id: str,
        project_id: str = "",
        channel: str = "",
        msg_id: str = "",
        source: Source | Mapping[str, str] | None = None,
        session_id: str = "",
        timestamp: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> StoreOutcome:
        """Store one memory; parameters as in :class:`cpersona_jit.Record`.

        Returns
        -------
        StoreOutcome
            ``stored``, ``skipped`` or ``rejected``, with a reason. A rejected or skipped record
            changes nothing; this method does not raise for them.
        """
        record = Record(
            content, agent_id, project_id, channel, msg_id, source, session_id, timestamp, metadata
        )
        return self.store_many([record])[0]

    def store_many(
        self,
        records: Iterable[Record],
        *,
        vectors: np.ndarray | None = None,
        dedup: bool = True,
        batch_size: int = 256,
        progress: Callable[[int], None] | None = None,
    ) -> list[StoreOutcome]:
        """Store records, one transaction per batch.

        Parameters
        ----------
        records : iterable of Record
            Any number; read lazily.
        vectors : ndarray of float, shape (number of records, dim), optional
            Embeddings by the active model, made elsewhere; normalised on the way in.
        dedup : bool
            False stores equal contents again (msg_id stays unique).
        batch_size : int
            Records embedded and committed together.
        progress : callable, optional
            Called with the number of records done after each batch.

        Returns
        -------
        list of StoreOutcome
            One per record, in order.
        """
        ingest = Ingest(self._conn, self._lock, self._provider, dedup=dedup)
        return ingest.run(records, vectors, batch_size, progress)

    def update(
        self,
        ref: str,
        content: str,
        *,
        agent_id: str,
        project_id: str | None = None,
        channel: str | None = None,
    ) -> StoreOutcome:
        """Replace the content of a memory, and embed it again; everything else stays.

        Returns
        -------
        StoreOutcome
            ``stored``; ``skipped`` (``unchanged``, ``duplicate_content``); ``rejected``
            (``not_found``, or a limit on content).
        """
        axes = Axes.agent(agent_id, project_id, channel)
        ingest = Ingest(self._conn, self._lock, self._provider)
        with self._lock:
            found = fetch_rows(self._conn, axes, [parse_ref(ref) or 0])
        blob, model_id = None, None
        if found and not isinstance(check_content(content), Rejection):
            source = next(iter(found.values())).source
            (blob,), model_id = ingest.embed([indexed_text(source.name, content)])
        with self._lock:
            outcome = update_content(self._conn, axes, ref, content, blob, model_id, now_us())
        if outcome.status == "stored" and ingest.embedder_failed:
            return StoreOutcome("stored", outcome.ref, warnings=(NOT_EMBEDDED,))
        return outcome

    def delete(
        self,
        refs: Sequence[str],
        *,
        agent_id: str,
        project_id: str | None = None,
        channel: str | None = None,
    ) -> DeleteResult:
        """Delete memories by reference; foreign and unknown references are reported missing."""
        with self._lock:
            gone, missing = delete(
                self._conn, Axes.agent(agent_id, project_id, channel), _checked_refs(refs)
            )
        return DeleteResult(gone, missing)

    def reembed(
        self, *, batch_size: int = 64, progress: Callable[[int, int], None] | None = None
    ) -> ReembedResult:
        """Give every row without a vector of the active model one.

        Each batch is committed, so a run that was stopped goes on where it was.

        Parameters
        ----------
        batch_size : int
            Rows embedded and committed together.
        progress : callable, optional
            Called as ``progress(done, total)`` after each batch.

        Raises
        ------
        UsageError
            The active embedder makes no vectors, or `batch_size` is below 1.
        EmbeddingError
            It failed; finished batches are kept.
        """
        check_batch_size(batch_size)
        info = self._provider.info
        if info.dim is None:
            raise UsageError(f"embedder {info.label!r} makes no vectors; choose one that does")
        model_id = Ingest(self._conn, self._lock, self._provider).model_id(info.dim)
        with self._lock:
            total = counts(self._conn, Axes.across_agents(), model_id).without_vector
        done, last = 0, 0
        while True:
            with self._lock:
                pending = rows_without_vector(self._conn, model_id, last, batch_size)
            if not pending:
                break
            texts = [indexed_text(row.source_name, row.content) for row in pending]
            rows = guarded_embed(self._provider, texts, "passage")
            blobs = [row.astype("<f4").tobytes() for row in rows]
            with self._lock:
                done += set_vectors(self._conn, pending, blobs, model_id)
            last = pending[-1].id
            if progress is not None:
                progress(done, total)
        with self._lock:
            remaining = counts(self._conn, Axes.across_agents(), model_id).without_vector
        return ReembedResult(done, remaining)

    # -- reading ----------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        *,
        agent_id: str | None = None,
        project_id: str | None = None,
        channel: str | None = None,
        limit: int = DEFAULT_LIMIT,
        settings: RecallSettings = DEFAULT_SETTINGS,
        trace: bool = False,
        across_agents: bool = False,
    ) -> RecallResult:
        """Recall the memories that answer a query, best first.

        Parameters
        ----------
        query : str
            1 to 16,000 characters.
        agent_id, project_id, channel : str, optional
            Isolation: an omitted project or channel is not filtered; a named one
            admits itself and the rows without one; ``project_id=""`` admits the global pool only.
        limit : int
            Rows to return, 0 to 10,000. It never changes what is considered.
        settings : RecallSettings
            Arms, fusion and depth.
        trace : bool
            Also return what happened.
        across_agents : bool
            An administrator's call over every agent; `agent_id` is then left out.

        Raises
        ------
        UsageError
            A parameter is outside its limits.
        """
        query = _checked_query(query)
        if not isinstance(settings, RecallSettings):
            raise UsageError(f"settings is {settings!r}; allowed: a RecallSettings object")
        if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit <= MAX_LIMIT:
            raise UsageError(f"limit is {limit!r}; allowed: a whole number from 0 to {MAX_LIMIT}")
        if across_agents:
            if agent_id is not None:
                raise UsageError(f"agent_id {agent_id!r} contradicts across_agents")
            axes = Axes.across_agents(project_id, channel)
        else:
            axes = Axes.agent(agent_id, project_id, channel)
        kernels = self._kernels()
        start = time.perf_counter()
        info, vector, degraded = self._embed_query(query, settings)
        embedded = time.perf_counter()
        columns = self._refreshed(info)
        refreshed = time.perf_counter()
        ranking = rank(columns, query, vector, axes, settings, kernels)
        ranking.milliseconds["embed"] = (embedded - start) * 1e3
        ranking.milliseconds["refresh"] = (refreshed - embedded) * 1e3
        if vector is not None:
            degraded += _missing_vectors(columns, ranking)
        degraded += tuple(f"{a.spec.name}: {a.note}" for a in ranking.pool.arms if a.note)
        rows = self._rows(columns, ranking, axes, limit)
        traced = None
        if trace:
            traced = trace_recall(
                query, axes, settings, limit, columns, ranking, _label(info), kernels.name
            )
        return RecallResult(rows, degraded, traced)

    def get_contents(
        self,
        refs: Sequence[str],
        *,
        agent_id: str,
        project_id: str | None = None,
        channel: str | None = None,
    ) -> ContentsResult:
        """Return memories by reference, under the caller's isolation.

        Parameters
        ----------
        refs : sequence of str
            At most 20.
        agent_id, project_id, channel : str, optional
            Isolation, as in :meth:`recall`.

        Returns
        -------
        ContentsResult
            Rows in the order of `refs`; what is foreign, unknown or malformed is `missing`.

        Raises
        ------
        UsageError
            More than 20 refs, or refs is not a list of strings.
        """
        refs = _checked_refs(refs)
        if len(refs) > MAX_REFS:
            raise UsageError(f"refs has {len(refs)} entries; allowed: at most {MAX_REFS}")
        axes = Axes.agent(agent_id, project_id, channel)
        wanted = {ref: parse_ref(ref) for ref in refs}
        ids = [memory_id for memory_id in wanted.values() if memory_id is not None]
        with self._lock:
            found = fetch_rows(self._conn, axes, ids)
        missing = tuple(ref for ref, memory_id in wanted.items() if memory_id not in found)
        return ContentsResult(tuple(found.values()), missing)

    def columns(self) -> Columns:
        """Return the snapshot of the store as it is now."""
        return self._refreshed(self._info())

    def _refreshed(self, info: ModelInfo | None) -> Columns:
        with self._lock:
            model = self._model(info)
            self._columns = refreshed_columns(
                self._conn, self._columns, model, self._kernels().build_gram_index
            )
            return self._columns

    def status(self) -> StoreStatus:
        """Return the state of the store, over all agents."""
        info = self._info()
        with self._lock:
            model = self._model(info)
            found = counts(
                self._conn, Axes.across_agents(), None if model is NO_MODEL else model.model_id
            )
            return StoreStatus(
                path=self._path,
                schema_version=schema_version(self._conn),
                generation=generation(self._conn),
                rows=found.rows,
                rows_without_vector=found.rows if model is NO_MODEL else found.without_vector,
                embedder=_label(info),
                dim=model.dim or None,
                models=tuple(model.label for model in list_models(self._conn)),
            )

    def close(self) -> None:
        """Close the file and the embedder. The object is of no use afterwards."""
        with self._lock:
            self._conn.close()
            self._columns = None
        self._provider.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # -- inside -----------------------------------------------------------------------------------

    def _info(self) -> ModelInfo | None:
        """Return the active model; None while it cannot be asked. Never call it under the lock:
        an endpoint may take its whole time limit to say nothing.
        """
        try:
            return self._provider.info
        except EmbeddingError:
            return None

    def _model(self, info: ModelInfo | None) -> Model:
        """Return the active model as the store knows it."""
        if info is None:  # an endpoint that is down for now: keep the columns of the last model
            fingerprint = self._columns.fingerprint if self._columns else ""
        else:
            fingerprint = "" if info.dim is None else info.fingerprint
        known = find_model(self._conn, fingerprint) if fingerprint else None
        return Model(known.id, known.fingerprint, known.dim) if known else NO_MODEL

    def _embed_query(
        self, query: str, settings: RecallSettings
    ) -> tuple[ModelInfo | None, np.ndarray | None, tuple[str, ...]]:
        if all(arm.kind != "dense" for arm in settings.active_arms):
            return self._info(), None, ()
        info = None
        try:
            info = self._provider.info
            if info.dim is None:
                return info, None, ("no_embedder: recall is lexical only",)
            return info, guarded_embed(self._provider, [query], "query")[0], ()
        except EmbeddingError as error:
            return info, None, (f"embedder_failed: {error}; recall is lexical only",)

    def _rows(
        self, columns: Columns, ranking: Ranking, axes: Axes, limit: int
    ) -> tuple[RecallRow, ...]:
        best = ranking.order[:limit]
        ids = columns.ids[ranking.pool.rows[best]].tolist()
        with self._lock:
            found = fetch_rows(self._conn, axes, ids)
        scored = zip(ids, ranking.fused[best].tolist(), strict=True)
        return tuple(_recall_row(found[i], score) for i, score in scored if i in found)


def open(
    path: str | os.PathLike[str],
    embedder: str | Provider = "default",
    *,
    create: bool = True,
    wait_for_kernels: bool = True,
) -> Memory:
    """Open a memory, making it when there is none; parameters as in :class:`Memory`."""
    return Memory(path, embedder, create=create, wait_for_kernels=wait_for_kernels)


def _provider(embedder: str | Provider) -> Provider:
    if isinstance(embedder, str):
        return load_provider(embedder)
    if not callable(getattr(embedder, "embed", None)):
        raise UsageError(f"embedder {embedder!r} is neither a name nor an object with `embed`")
    return embedder


def _label(info: ModelInfo | None) -> str:
    return "unreachable" if info is None else info.label


def _recall_row(row: Row, score: float) -> RecallRow:
    return RecallRow(
        ref=format_ref(row.id),
        id=row.msg_id,
        content=row.content,
        source=row.source,
        timestamp=row.timestamp,
        session_id=row.session_id,
        project_id=row.project_id,
        channel=row.channel,
        created_at=format_utc(row.created_at),
        score=score,
    )


def _missing_vectors(columns: Columns, ranking: Ranking) -> tuple[str, ...]:
    words = ranking.mask.words & columns.embedded.words
    missing = ranking.mask.count - int(np.bitwise_count(words).sum())
    if not missing:
        return ()
    return (
        f"rows_without_vector: {missing} of {ranking.mask.count} rows have no vector of the active "
        "model and are found by their words only; run `cpersona-jit reembed`",
    )


def _checked_query(query: str) -> str:
    if not isinstance(query, str):
        raise UsageError(f"query must be a string, not {type(query).__name__}")
    cleaned = clean_text(query)
    if not cleaned.strip():
        raise UsageError("query is empty; allowed: 1 to 16,000 characters")
    if len(cleaned) > MAX_QUERY_CHARS:
        raise UsageError(f"query has {len(cleaned)} characters; allowed: at most {MAX_QUERY_CHARS}")
    return cleaned


def _checked_refs(refs: Sequence[str]) -> list[str]:
    listed = list(refs) if isinstance(refs, Iterable) and not isinstance(refs, str) else [None]
    if not all(isinstance(ref, str) for ref in listed):
        raise UsageError("refs must be a list of strings such as 'mem:12'")
    return listed
