"""The library's one object: a memory in one SQLite file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import getattr_static
from typing import Any

import numpy as np

from cpersona_jit import upkeep
from cpersona_jit.arguments import MAX_REFS, check_limit, checked_query, checked_refs
from cpersona_jit.bulk.exporting import MemoryFormat, export_memories
from cpersona_jit.bulk.importing import ImportOptions, Progress, import_file
from cpersona_jit.bulk.report import ImportReport
from cpersona_jit.columns.build import NO_MODEL, Model
from cpersona_jit.columns.export_target import refuse_target
from cpersona_jit.columns.keeper import Keeper
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.cues.time_cue import TimeCue
from cpersona_jit.defaults import DEFAULT_LIMIT, DEFAULT_SETTINGS
from cpersona_jit.embed.guard import guarded_embed, model_info
from cpersona_jit.embed.provider import ModelInfo, Provider
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import EmbeddingError, UsageError
from cpersona_jit.exits.quoter import Quoter
from cpersona_jit.exits.reconstruct.reconstruct import reconstruct
from cpersona_jit.exits.reconstruct.request import read_request
from cpersona_jit.exits.reconstruct.settings import DEFAULT_POLICY, ReconstructSettings
from cpersona_jit.exits.reconstruct.shape import Reconstruction
from cpersona_jit.exits.reconstruct.sources import Related
from cpersona_jit.ingest import Ingest
from cpersona_jit.intent import Intent
from cpersona_jit.isolation import Axes
from cpersona_jit.opening import open_store
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recall.kernel_set import current_kernels, warm_kernels
from cpersona_jit.recall.process import Process
from cpersona_jit.recall.settings import RecallSettings
from cpersona_jit.recalling import (
    Sources,
    candidates_of,
    model_label,
    recall_rows,
    run_adaptive,
)
from cpersona_jit.records import Record, Row, Source, StoreOutcome
from cpersona_jit.related import related_rows
from cpersona_jit.results import (
    ContentsResult,
    DeleteResult,
    ReblockResult,
    RecallResult,
    ReembedResult,
    StoreStatus,
)
from cpersona_jit.status import store_status
from cpersona_jit.store.changes import delete
from cpersona_jit.store.contents import find_contents
from cpersona_jit.store.episodes import episode_ids
from cpersona_jit.store.memory_reads import WholeRow, whole_rows
from cpersona_jit.store.models import generation_and_model, list_models
from cpersona_jit.store.reads import fetch_rows


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
        self._conn = open_store(path, create=create)
        self._path = os.fspath(path)
        self._lock = threading.RLock()
        self._kernels = warm_kernels if wait_for_kernels else current_kernels
        self._keeper = Keeper(os.path.realpath(self._path), self._lock)

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

    def archive_episode(
        self,
        summary: str,
        *,
        agent_id: str,
        start: str,
        end: str,
        keywords: Sequence[str] = (),
        project_id: str = "",
        channel: str = "",
        msg_id: str = "",
        source: Source | Mapping[str, str] | None = None,
        session_id: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> StoreOutcome:
        """Store the summary of a span of time; it is recalled beside memories, as ``ep:<id>``.

        Parameters
        ----------
        summary : str
            1 to 16,000 characters.
        start, end : str
            ISO 8601, both inside the span; an end without a time is the end of that day.
        keywords : sequence of str
            Indexed together with the summary: at most 50 of at most 100 characters.
        agent_id, project_id, channel, msg_id, source, session_id, metadata
            As in :class:`cpersona_jit.Record`.

        Returns
        -------
        StoreOutcome
            As of :meth:`store`.
        """
        record = Record(
            summary,
            agent_id,
            project_id,
            channel,
            msg_id,
            source,
            session_id,
            timestamp=start,
            metadata=metadata,
            kind="episode",
            end=end,
            keywords=keywords,
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

    def import_file(
        self,
        path: str | os.PathLike[str],
        options: ImportOptions | None = None,
        *,
        again: bool = False,
        rejects: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Store the records of a file of JSON Lines or Parquet, in bounded memory.

        An interrupted import goes on where it was when it is called again with the same file and
        options; one that was finished does nothing then.

        Parameters
        ----------
        path : str or path
            The file; ``-`` reads JSON Lines from stdin, which cannot be resumed.
        options : ImportOptions, optional
            How records are read, and what those get that do not say whose they are.
        again : bool
            Begin at the first record, whatever an earlier import did.
        rejects : str or path, optional
            File to list every rejected record in, as JSON Lines.
        progress : callable, optional
            Called as ``progress(stage, done, total, records)``.

        Returns
        -------
        ImportReport
            What became of the records.

        Raises
        ------
        UsageError
            The file is of another kind, or has columns that no memory has; nothing was stored.
        ImportFileError
            It cannot be read any further; the batches before are kept.
        """
        options = options or ImportOptions()
        if rejects is not None:
            refuse_target(rejects, self._path)
        ingest = Ingest(self._conn, self._lock, self._provider, dedup=options.dedup)
        return import_file(ingest, path, options, again=again, rejects=rejects, progress=progress)

    def export_memories(
        self,
        path: str | os.PathLike[str],
        format: MemoryFormat = "jsonl",
        *,
        vectors: bool = True,
    ) -> int:
        """Write the memories of all agents to a file that `import_file` reads again.

        In bounded memory; what is stored meanwhile may be in it or not.

        Parameters
        ----------
        path : str or path
            File to write. It appears whole or not at all; an existing one is replaced.
        format : {"jsonl", "parquet"}
            JSON Lines or Parquet.
        vectors : bool
            False leaves the vectors of the rows out. Those of blocks are never in it.

        Returns
        -------
        int
            Memories written.
        """
        models: dict[int, str] = {}

        def read(behind: int, count: int) -> list[WholeRow]:
            with self._lock:
                rows = whole_rows(self._conn, behind, count)
                models.update((model.id, model.fingerprint) for model in list_models(self._conn))
            return rows

        return export_memories(read, models, path, format, store=self._path, vectors=vectors)

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

        The text that it had can still be read: ``get_contents(history=True)`` lists it.

        Returns
        -------
        StoreOutcome
            ``stored``; ``skipped`` (``unchanged``, ``duplicate_content``); ``rejected``
            (``not_found``, or a limit on content).
        """
        axes = Axes.agent(agent_id, project_id, channel)
        return Ingest(self._conn, self._lock, self._provider).update(axes, ref, content)

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
                self._conn, Axes.agent(agent_id, project_id, channel), checked_refs(refs)
            )
        return DeleteResult(gone, missing)

    def reembed(
        self, *, batch_size: int = 64, progress: Callable[[int, int], None] | None = None
    ) -> ReembedResult:
        """Give every row and block without a vector of the active model one.

        Each batch is committed, so a run that was stopped goes on where it was.

        Parameters
        ----------
        batch_size : int
            Texts embedded and committed together.
        progress : callable, optional
            Called as ``progress(done, total)`` after each batch, in rows and blocks.

        Raises
        ------
        UsageError
            The active embedder makes no vectors, or `batch_size` is below 1.
        EmbeddingError
            It failed; finished batches are kept.
        """
        return upkeep.reembed(self._conn, self._lock, self._provider, batch_size, progress)

    def reblock(
        self, *, batch_size: int = 64, progress: Callable[[str, int, int], None] | None = None
    ) -> ReblockResult:
        """Split every row again, rebuild the blocks that differ, and embed those without a vector.

        For files from before there were blocks, or from an older splitter. A run that was stopped
        goes on where it was; where nothing differs, nothing is written.

        Parameters
        ----------
        batch_size : int
            Blocks embedded and committed together.
        progress : callable, optional
            Called as ``progress(stage, done, total)``: rows in the stage ``"split"``, then blocks
            in the stage ``"embed"``.

        Raises
        ------
        UsageError
            `batch_size` is below 1.
        EmbeddingError
            The embedder failed; the blocks are there and wait for their vectors.
        """
        return upkeep.reblock(self._conn, self._lock, self._provider, batch_size, progress)

    # -- reading ----------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        *,
        agent_id: str | None = None,
        project_id: str | None = None,
        channel: str | None = None,
        limit: int = DEFAULT_LIMIT,
        settings: RecallSettings | AdaptiveSettings = DEFAULT_SETTINGS,
        time_cue: Mapping[str, Any] | None = None,
        now: str | None = None,
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
        settings : RecallSettings or AdaptiveSettings
            What recall does; see there.
        time_cue : mapping, optional
            When the thing in question was: ``{"after": iso, "before": iso}`` (either end may be
            left out), ``{"ago": {"unit": "days", "value": 3}}``, ``{"named": "long_ago"}`` or
            ``"recently"``, ``{"sessions_ago": 2}``; with an optional ``certainty`` of ``sure``,
            ``likely`` or ``vague``. A prior, never a filter. Settings that read no cues say so in
            ``degraded``.
        now : str, optional
            When the question is asked, ISO 8601. Time cues need it and take the clock by default;
            a recency prior counts from it, and otherwise from the newest row.
        trace : bool
            Also return what happened.
        across_agents : bool
            An administrator's call over every agent; `agent_id` is then left out.

        Raises
        ------
        UsageError
            A parameter is outside its limits.
        """
        return self.recall_to_quote(
            query,
            agent_id=agent_id,
            project_id=project_id,
            channel=channel,
            limit=limit,
            settings=settings,
            time_cue=time_cue,
            now=now,
            trace=trace,
            across_agents=across_agents,
        )[0]

    def recall_to_quote(
        self,
        query: str,
        *,
        agent_id: str | None = None,
        project_id: str | None = None,
        channel: str | None = None,
        limit: int = DEFAULT_LIMIT,
        settings: RecallSettings | AdaptiveSettings = DEFAULT_SETTINGS,
        time_cue: Mapping[str, Any] | None = None,
        now: str | None = None,
        trace: bool = False,
        across_agents: bool = False,
    ) -> tuple[RecallResult, Quoter]:
        """Recall as :meth:`recall` does, for whoever shows less than whole rows.

        Returns
        -------
        result : RecallResult
            Whole rows.
        quoter : Quoter
            Quotes them where they match the query, by the embedding that recall made of it.
        """
        query = checked_query(query)
        check_limit(limit)
        axes = _axes(agent_id, project_id, channel, across_agents)
        if not isinstance(settings, RecallSettings | AdaptiveSettings):
            raise UsageError(
                f"settings is {settings!r}; allowed: RecallSettings or AdaptiveSettings"
            )
        sources = self._sources()
        return recall_rows(sources, query, axes, settings, time_cue, now, limit, trace)

    def reconstruct(
        self,
        query: str,
        *,
        agent_id: str,
        project_id: str | None = None,
        channel: str | None = None,
        count: int | None = None,
        budget: int | None = None,
        time_cue: Mapping[str, Any] | None = None,
        now: str | None = None,
        top_k: int | None = None,
        max_hops: int | None = None,
        max_evidence: int | None = None,
        settings: AdaptiveSettings = DEFAULT_SETTINGS,
        policy: ReconstructSettings = DEFAULT_POLICY,
        trace: bool = False,
    ) -> Reconstruction:
        """Recall memories instead of rows: items put together from stored rows, and quoted.

        It selects, orders and assigns roles; every text in the answer stands in the store.

        Parameters
        ----------
        query, agent_id, project_id, channel, time_cue, now
            As in :meth:`recall`.
        count : int, optional
            Items at most; the policy's when left out. Never how widely is searched.
        budget : int, optional
            Characters of quoted text at most.
        top_k : int, optional
            Candidate rows.
        max_hops : int, optional
            Steps along relations, 0 to 5.
        max_evidence : int, optional
            Claims of an item.
        settings : AdaptiveSettings
            What recall does.
        policy : ReconstructSettings
            What the operator allows, and what holds where the call says nothing.
        trace : bool
            Also return policies, bounds, candidates and every default.

        Returns
        -------
        Reconstruction
            A plain dict that JSON can say.

        Raises
        ------
        UsageError
            A parameter is outside its limits.
        """
        query = checked_query(query)
        axes = Axes.agent(agent_id, project_id, channel)
        if not isinstance(settings, AdaptiveSettings):
            raise UsageError(f"settings is {settings!r}; allowed: AdaptiveSettings")
        request = read_request(
            policy,
            settings.bounds.candidates,
            count=count,
            budget=budget,
            top_k=top_k,
            max_hops=max_hops,
            max_evidence=max_evidence,
        )
        settings = replace(settings, seats=min(settings.seats, policy.seats))
        found = candidates_of(
            self._sources(), query, axes, settings, time_cue, now, request.effective_top_k
        )
        related = self._related(axes, found.state.columns.fingerprint)
        return reconstruct(found, related, request, policy, trace)

    def explore(
        self,
        query: str,
        *,
        agent_id: str,
        project_id: str | None = None,
        channel: str | None = None,
        settings: AdaptiveSettings,
        cue: TimeCue | None = None,
        now_us: int | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Process:
        """Run an adaptive recall and return its whole state, for tools that measure.

        Parameters
        ----------
        query : str
            1 to 16,000 characters.
        agent_id, project_id, channel : str, optional
            Isolation, as in :meth:`recall`.
        settings : AdaptiveSettings
            What the stages do.
        cue : TimeCue, optional
            The intent; nothing is derived from the question.
        now_us : int, optional
            When the question is asked, UTC microseconds.
        limit : int
            The window after which reserved seats stand.
        """
        axes = Axes.agent(agent_id, project_id, channel)
        query = checked_query(query)
        check_limit(limit)
        intent = Intent(cue, now_us)
        return run_adaptive(self._sources(), query, axes, settings, intent, limit).state

    def get_contents(
        self,
        refs: Sequence[str],
        *,
        agent_id: str,
        project_id: str | None = None,
        channel: str | None = None,
        history: bool = False,
        nodes: bool = False,
    ) -> ContentsResult:
        """Return memories by reference, under the caller's isolation.

        Parameters
        ----------
        refs : sequence of str
            At most 20.
        agent_id, project_id, channel : str, optional
            Isolation, as in :meth:`recall`.
        history : bool
            Also return what the rows said before they were updated.
        nodes : bool
            Also return the parts of those that are longer than the embedder's window.

        Returns
        -------
        ContentsResult
            Rows in the order of `refs`; what is foreign, unknown or malformed is `missing`.

        Raises
        ------
        UsageError
            More than 20 refs, or refs is not a list of strings.
        """
        refs = checked_refs(refs)
        if len(refs) > MAX_REFS:
            raise UsageError(f"refs has {len(refs)} entries; allowed: at most {MAX_REFS}")
        axes = Axes.agent(agent_id, project_id, channel)
        with self._lock:
            found = find_contents(self._conn, axes, refs, history=history, nodes=nodes)
        missing = tuple(ref for ref in dict.fromkeys(refs) if ref not in found.rows)
        return ContentsResult(
            tuple(found.rows.values()), missing, found.history, found.superseded, found.nodes
        )

    def load_model(self) -> None:
        """Load the embedding model now, for which the next recall would wait.

        Raises
        ------
        EmbeddingError
            It cannot be loaded.
        """
        if model_info(self._provider).dim is not None:
            guarded_embed(self._provider, ["warm-up"], "query")

    def columns(self) -> Columns:
        """Return the snapshot of the store as it is now."""
        return self._refreshed(self._info())

    def episode_ids(self) -> frozenset[int]:
        """Return the ids of all episodes, of every agent; the columns do not tell them apart."""
        with self._lock:
            return episode_ids(self._conn)

    def _refreshed(self, info: ModelInfo | None) -> Columns:
        with self._lock:
            model, now = self._model_and_generation(info)
            return self._keeper.refreshed(self._conn, model, self._kernels(), now)

    def status(self) -> StoreStatus:
        """Return the state of the store, over all agents."""
        info = self._info()
        with self._lock:
            model, _ = self._model_and_generation(info)
            state = self._keeper.state(self._conn, model)
            found = store_status(self._conn, self._path, model_label(info), model)
        # Outside of the lock: every byte of the file is looked at.
        return replace(found, columns=state())

    def close(self) -> None:
        """Close the file and the embedder. The object is of no use afterwards.

        Waits while a file of columns is being written.
        """
        self._keeper.close()
        with self._lock:
            self._conn.close()
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
            return model_info(self._provider)
        except EmbeddingError:
            return None

    def _model_and_generation(self, info: ModelInfo | None) -> tuple[Model, int]:
        """Return the active model as the store knows it, and the generation of the store."""
        if info is None:  # an endpoint that is down for now: keep the columns of the last model
            fingerprint, centred = self._keeper.last_model(self._conn)
        else:
            fingerprint = "" if info.dim is None else info.fingerprint
            centred = info.centred
        now, known = generation_and_model(self._conn, fingerprint)
        model = Model(known.id, known.fingerprint, known.dim, centred) if known else NO_MODEL
        return model, now

    def _sources(self) -> Sources:
        return Sources(self._provider, self._refreshed, self._fetch, self._kernels)

    def _related(self, axes: Axes, fingerprint: str) -> Related:
        return related_rows(self._read, axes, fingerprint)

    def _read(self, work: Callable[..., Any]) -> Any:
        with self._lock:
            return work(self._conn)

    def _fetch(self, axes: Axes, ids: list[int]) -> dict[int, Row]:
        with self._lock:
            return fetch_rows(self._conn, axes, ids)


def open(
    path: str | os.PathLike[str],
    embedder: str | Provider = "default",
    *,
    create: bool = True,
    wait_for_kernels: bool = True,
) -> Memory:
    """Open a memory, making it when there is none; parameters as in :class:`Memory`."""
    return Memory(path, embedder, create=create, wait_for_kernels=wait_for_kernels)


def _axes(
    agent_id: str | None, project_id: str | None, channel: str | None, across_agents: bool
) -> Axes:
    if not across_agents:
        return Axes.agent(agent_id, project_id, channel)
    if agent_id is not None:
        raise UsageError(f"agent_id {agent_id!r} contradicts across_agents")
    return Axes.across_agents(project_id, channel)


def _provider(embedder: str | Provider) -> Provider:
    if isinstance(embedder, str):
        return load_provider(embedder)
    # Looked up without running it: `info` may ask an endpoint, or raise for now.
    missing = [
        name
        for name in ("info", "embed", "close")
        if getattr_static(embedder, name, None) is None and not hasattr(embedder, name)
    ]
    if missing:
        raise UsageError(
            f"embedder {embedder!r} is neither a name nor an object with info, embed and close "
            f"(missing: {', '.join(missing)})"
        )
    return embedder
