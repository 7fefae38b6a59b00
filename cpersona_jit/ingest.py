"""Storing records: check, look for duplicates, embed, write, batch by batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from cpersona_jit.batches import batches, check_batch_size, check_records, checked_vectors
from cpersona_jit.embed.guard import model_info
from cpersona_jit.embed.provider import ModelInfo, Provider
from cpersona_jit.embedding import Embedded, Embedding
from cpersona_jit.errors import UsageError
from cpersona_jit.isolation import Axes
from cpersona_jit.records import Record, StoreOutcome, parse_ref
from cpersona_jit.store.blocks import NewBlock
from cpersona_jit.store.bulk import give_back, take_room
from cpersona_jit.store.changes import update_content
from cpersona_jit.store.duplicates import stored_duplicates
from cpersona_jit.store.imports import import_state, keep_import_state
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.timestamps import now_us
from cpersona_jit.store.validate import CleanRecord, Rejection, check_content, check_record
from cpersona_jit.store.writes import insert_batch

NOT_EMBEDDED = "not_embedded"
BLOCKS_NOT_EMBEDDED = "blocks_not_embedded"


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
        self._embedding = Embedding(conn, lock, provider)

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
        embedded = self._embedding.of_records(
            [record for _, record in clean],
            [None if given is None else given[position] for position, _ in clean],
        )

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
            found = (NOT_EMBEDDED,) if self._embedding.failed else ()
        else:
            found = (BLOCKS_NOT_EMBEDDED,) if blocks and blocks[0].vector is None else ()
        return replace(outcome, warnings=(*outcome.warnings, *found)) if found else outcome

    def update(self, axes: Axes, ref: str, content: str) -> StoreOutcome:
        """Replace the content of a row that `axes` admit, its blocks and all their vectors."""
        with self._lock:
            found = fetch_rows(self._conn, axes, [parse_ref(ref) or 0])
        embedded = Embedded([None], [[]], [[]], None)
        row = next(iter(found.values()), None)
        if row and row.ref == ref and not isinstance(check_content(content), Rejection):
            embedded = self._embedding.embed([(row.source.name, content, row.keywords)])
        (vector,), (blocks,), (nodes,), model_id = embedded
        with self._lock:
            outcome = update_content(
                self._conn, axes, ref, content, vector, model_id, now_us(), blocks, nodes
            )
        if outcome.status == "stored" and self._embedding.failed:
            return replace(outcome, warnings=(NOT_EMBEDDED,))
        return outcome

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
