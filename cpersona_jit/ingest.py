"""Storing records: check, look for duplicates, embed, write, batch by batch."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cpersona_jit.batches import batches, check_batch_size, check_records, checked_vectors
from cpersona_jit.embed.guard import guarded_embed, model_info, unit_rows
from cpersona_jit.embed.provider import ModelInfo, Provider, window_chars
from cpersona_jit.errors import EmbeddingError, UsageError
from cpersona_jit.isolation import Axes
from cpersona_jit.passages import block_ranges, passages
from cpersona_jit.records import Record, StoreOutcome, parse_ref
from cpersona_jit.store.blocks import NewBlock
from cpersona_jit.store.bulk import give_back, take_room
from cpersona_jit.store.changes import update_content
from cpersona_jit.store.duplicates import stored_duplicates
from cpersona_jit.store.imports import import_state, keep_import_state
from cpersona_jit.store.models import find_model, register_model
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.timestamps import now_us
from cpersona_jit.store.validate import CleanRecord, Rejection, check_content, check_record
from cpersona_jit.store.writes import insert_batch
from cpersona_jit.text.nodes import node_ranges

NOT_EMBEDDED = "not_embedded"
BLOCKS_NOT_EMBEDDED = "blocks_not_embedded"


class Embedded(NamedTuple):
    """Vectors of some contents, of their blocks and of their overflow nodes, as they are stored;
    None where there is none.

    `model_id` is the store's number of the model that made them.
    """

    vectors: list[bytes | None]
    blocks: list[list[NewBlock]]
    nodes: list[list[NewBlock]]
    model_id: int | None


class Ingest:
    """The way of records into one store, for the length of one call.

    Once the embedder fails the rest of the call stores without vectors, with a warning on each
    outcome, and does not ask it again: a dead endpoint would cost its time limit per batch.

    Parameters
    ----------
    conn : sqlite3.Connection
        The store.
    lock : context manager
        Held around every use of `conn`, never while embedding.
    provider : Provider
        The active model.
    dedup : bool
        False stores equal contents again.
    """

    def __init__(
        self,
        conn: sqlite3.Connection,
        lock: AbstractContextManager,
        provider: Provider,
        *,
        dedup: bool = True,
    ) -> None:
        self._conn, self._lock, self._provider, self._dedup = conn, lock, provider, dedup
        self._embedder_failed = False

    def run(
        self,
        records: Iterable[Record],
        vectors: np.ndarray | None,
        batch_size: int,
        progress: Callable[[int], None] | None = None,
    ) -> list[StoreOutcome]:
        """Store the records and return one outcome each, in their order.

        Every batch is one transaction: after an interruption, whole batches are there.
        """
        check_batch_size(batch_size)
        if not isinstance(records, Iterable):
            raise UsageError(f"records is {records!r}; allowed: a list of cpersona_jit.Record")
        outcomes: list[StoreOutcome] = []
        if vectors is not None:
            vectors = checked_vectors(vectors)
            if isinstance(records, Sized) and len(records) != len(vectors):
                raise UsageError(f"vectors has {len(vectors)} rows for {len(records)} records")
        for batch in batches(records, batch_size):
            check_records(batch, len(outcomes))
            given = None
            if vectors is not None:
                given = vectors[len(outcomes) : len(outcomes) + len(batch)]
                if len(given) != len(batch):
                    raise UsageError(f"vectors has {len(vectors)} rows; there are more records")
            outcomes += self.store_batch(batch, given)
            if progress is not None:
                progress(len(outcomes))
        if vectors is not None and len(vectors) != len(outcomes):
            raise UsageError(f"vectors has {len(vectors)} rows for {len(outcomes)} records")
        return outcomes

    def store_batch(
        self,
        batch: Sequence[Record],
        given: Sequence[np.ndarray | None] | None = None,
        alongside: Callable[[list[StoreOutcome]], None] | None = None,
    ) -> list[StoreOutcome]:
        """Store records in one transaction and return one outcome each, in their order.

        Parameters
        ----------
        batch : sequence of Record, length n
            Of any content.
        given : sequence of (ndarray of float32, shape (dim,), or None), length n, optional
            Vectors by the active model, finite and not zero; rows with None are embedded.
        alongside : callable, optional
            Called with the outcomes before the transaction ends, to write in it too.
        """
        now = now_us()
        outcomes: list[StoreOutcome | None] = []
        clean: list[tuple[int, CleanRecord]] = []
        for position, record in enumerate(batch):
            checked = check_record(record, now)
            if isinstance(checked, Rejection):
                outcomes.append(checked.outcome)
            else:
                outcomes.append(None)
                clean.append((position, checked))
        if given is None or any(given[position] is None for position, _ in clean):
            clean = self._without_duplicates(clean, outcomes)
        embedded = self._embedded(clean, given)

        def finish(written: list[StoreOutcome]) -> None:
            for (position, _), vector, blocks, outcome in zip(
                clean, embedded.vectors, embedded.blocks, written, strict=True
            ):
                outcomes[position] = self._with_warnings(outcome, vector, blocks)
            if alongside is not None:
                alongside(outcomes)

        with self._lock:
            insert_batch(
                self._conn,
                [record for _, record in clean],
                embedded.vectors,
                embedded.model_id,
                now,
                self._dedup,
                embedded.blocks,
                finish,
                embedded.nodes,
            )
        return outcomes

    def _without_duplicates(
        self, clean: list[tuple[int, CleanRecord]], outcomes: list[StoreOutcome | None]
    ) -> list[tuple[int, CleanRecord]]:
        """Enter the outcomes of what is stored already: it need not be embedded."""
        with self._lock:
            found = stored_duplicates(self._conn, [record for _, record in clean], self._dedup)
        for (position, _), duplicate in zip(clean, found, strict=True):
            outcomes[position] = duplicate
        return [entry for entry in clean if outcomes[entry[0]] is None]

    def _with_warnings(
        self, outcome: StoreOutcome, vector: bytes | None, blocks: Sequence[NewBlock]
    ) -> StoreOutcome:
        if outcome.status != "stored":
            return outcome
        if vector is None:
            found = (NOT_EMBEDDED,) if self._embedder_failed else ()
        else:
            found = (BLOCKS_NOT_EMBEDDED,) if blocks and blocks[0].vector is None else ()
        return replace(outcome, warnings=(*outcome.warnings, *found)) if found else outcome

    def update(self, axes: Axes, ref: str, content: str) -> StoreOutcome:
        """Replace the content of a row that `axes` admit, its blocks and all their vectors."""
        with self._lock:
            found = fetch_rows(self._conn, axes, [parse_ref(ref) or 0])
        embedded = Embedded([None], [[]], [[]], None)
        if found and not isinstance(check_content(content), Rejection):
            row = next(iter(found.values()))
            embedded = self.embed([(row.source.name, content, row.keywords)])
        (vector,), (blocks,), (nodes,), model_id = embedded
        with self._lock:
            outcome = update_content(
                self._conn, axes, ref, content, vector, model_id, now_us(), blocks, nodes
            )
        if outcome.status == "stored" and self._embedder_failed:
            return replace(outcome, warnings=(NOT_EMBEDDED,))
        return outcome

    def _embedded(
        self,
        clean: list[tuple[int, CleanRecord]],
        given: Sequence[np.ndarray | None] | None,
    ) -> Embedded:
        """Take the vectors that are given; the caller's are of whole rows: parts wait."""
        vectors = [None if given is None else given[position] for position, _ in clean]
        missing = [at for at, vector in enumerate(vectors) if vector is None]
        made = self.embed([_indexed(clean[at][1]) for at in missing])
        if len(missing) == len(clean):
            return made
        rows = unit_rows(np.asarray([vector for vector in vectors if vector is not None]))
        model_id = self.model_id(rows.shape[1])
        stored = iter(_stored(rows))
        of_rows = [None if vector is None else next(stored) for vector in vectors]
        blocks = [[NewBlock(*at) for at in block_ranges(record.content)] for _, record in clean]
        window = self._window()
        nodes = [_chain(part, window) for part in blocks]
        for at, *parts in zip(missing, made.vectors, made.blocks, made.nodes, strict=True):
            of_rows[at], blocks[at], nodes[at] = parts
        return Embedded(of_rows, blocks, nodes, model_id)

    def embed(self, contents: Sequence[tuple[str, str, Sequence[str]]]) -> Embedded:
        """Split contents into blocks, and long ones into nodes, and embed all of it.

        Each comes as the name of who said it, the content, and the keywords of an episode. All
        go to the model in one call. When it fails, all go without vectors.
        """
        window = self._window()
        parted = [passages(*content, window) for content in contents]
        vectors, model_id = self._passages([text for part in parted for text in part.texts])
        remaining = iter(vectors)
        of_rows: list[bytes | None] = []
        of_blocks: list[list[NewBlock]] = []
        of_nodes: list[list[NewBlock]] = []
        for part in parted:
            of_rows.append(next(remaining))
            of_blocks.append([NewBlock(*at, next(remaining)) for at in part.ranges])
            of_nodes.append([NewBlock(*at, next(remaining)) for at in part.nodes])
        return Embedded(of_rows, of_blocks, of_nodes, model_id)

    def _window(self) -> int | None:
        """Characters of a node; None without a model, or while it cannot be asked."""
        try:
            return None if self._embedder_failed else window_chars(model_info(self._provider))
        except EmbeddingError:
            self._embedder_failed = True
            return None

    def _passages(self, texts: list[str]) -> tuple[Sequence[bytes | None], int | None]:
        none = [None] * len(texts)
        if self._embedder_failed or not texts:
            return none, None
        try:
            if model_info(self._provider).dim is None:
                return none, None
            rows = guarded_embed(self._provider, texts, "passage")
            model_id = self._registered(model_info(self._provider), rows.shape[1])
        except EmbeddingError:
            self._embedder_failed = True
            return none, None
        return _stored(rows), model_id

    def model_id(self, dim: int) -> int:
        """Return the store's number of the active model, entering it on first use."""
        info = model_info(self._provider)
        if info.dim is None:
            raise UsageError(f"vectors were given, but embedder {info.label!r} makes none")
        if dim != info.dim:
            raise UsageError(
                f"vectors have {dim} dimensions; embedder {info.label!r} has {info.dim}"
            )
        return self._registered(info, dim)

    @contextmanager
    def many_batches(self) -> Iterator[None]:
        """Prepare the store for many calls of `store_batch` with thousands of records."""
        with self._lock:
            before = take_room(self._conn)
        try:
            yield
        finally:
            with self._lock:
                give_back(self._conn, before)

    def info(self) -> ModelInfo:
        """Return the active model; may raise EmbeddingError."""
        return model_info(self._provider)

    def import_state(self, key: str) -> dict[str, Any] | None:
        """Return the progress that `keep_import_state` wrote last."""
        with self._lock:
            return import_state(self._conn, key)

    def keep_import_state(self, key: str, state: dict[str, Any]) -> None:
        """Write the progress of an import, from within ``store_batch(alongside=...)``."""
        keep_import_state(self._conn, key, state)

    def _registered(self, info: ModelInfo, dim: int) -> int:
        """As `model_id`; a model that changed its dimension has failed."""
        with self._lock:
            known = find_model(self._conn, info.fingerprint)
            if dim != info.dim or (known is not None and known.dim != dim):
                had = info.dim if known is None else known.dim
                raise EmbeddingError(
                    f"embedding model {info.label!r} answered with {dim} dimensions after {had}"
                )
            return register_model(self._conn, info.label, info.fingerprint, dim)


def _chain(blocks: Sequence[NewBlock], window: int | None) -> list[NewBlock]:
    """Return the nodes that some blocks are packed into, without vectors."""
    if window is None:
        return []
    return [NewBlock(*at) for at in node_ranges([block[:2] for block in blocks], window)]


def _indexed(record: CleanRecord) -> tuple[str, str, Sequence[str]]:
    """Return what `Ingest.embed` takes of a record."""
    keywords = () if record.episode is None else json.loads(record.episode.keywords)
    return record.source_name, record.content, keywords


def _stored(vectors: np.ndarray) -> list[bytes]:
    return [vector.tobytes() for vector in vectors.astype("<f4", copy=False)]
