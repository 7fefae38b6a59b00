"""Storing records: check, look for duplicates, embed, write, batch by batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice

import numpy as np

from cpersona_jit.embed.guard import guarded_embed, unit_rows
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.embed.provider import Provider
from cpersona_jit.errors import EmbeddingError, UsageError
from cpersona_jit.records import Record, StoreOutcome
from cpersona_jit.store.duplicates import would_skip
from cpersona_jit.store.models import register_model
from cpersona_jit.store.timestamps import now_us
from cpersona_jit.store.validate import CleanRecord, Rejection, check_record
from cpersona_jit.store.writes import insert_batch

NOT_EMBEDDED = "not_embedded"


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
        outcomes: list[StoreOutcome] = []
        if vectors is not None:
            vectors = _checked_vectors(vectors)
            if isinstance(records, Sized) and len(records) != len(vectors):
                raise UsageError(f"vectors has {len(vectors)} rows for {len(records)} records")
        for batch in _batches(records, batch_size):
            _check_records(batch, len(outcomes))
            given = None
            if vectors is not None:
                given = vectors[len(outcomes) : len(outcomes) + len(batch)]
                if len(given) != len(batch):
                    raise UsageError(f"vectors has {len(vectors)} rows; there are more records")
            outcomes += self._store(batch, given)
            if progress is not None:
                progress(len(outcomes))
        if vectors is not None and len(vectors) != len(outcomes):
            raise UsageError(f"vectors has {len(vectors)} rows for {len(outcomes)} records")
        return outcomes

    def _store(self, batch: list[Record], given: np.ndarray | None) -> list[StoreOutcome]:
        now = now_us()
        outcomes: list[StoreOutcome | None] = []
        clean: list[tuple[int, CleanRecord]] = []
        for position, record in enumerate(batch):
            checked = check_record(record, now)
            if isinstance(checked, Rejection):
                outcomes.append(checked.outcome)
                continue
            with self._lock:
                outcomes.append(would_skip(self._conn, checked, self._dedup))
            if outcomes[-1] is None:
                clean.append((position, checked))
        vectors, model_id = self._vectors(clean, given)
        with self._lock:
            written = insert_batch(
                self._conn, [record for _, record in clean], vectors, model_id, now, self._dedup
            )
        for (position, _), vector, outcome in zip(clean, vectors, written, strict=True):
            if vector is None and outcome.status == "stored" and self._embedder_failed:
                outcome = replace(outcome, warnings=(*outcome.warnings, NOT_EMBEDDED))
            outcomes[position] = outcome
        return outcomes

    def _vectors(
        self, clean: list[tuple[int, CleanRecord]], given: np.ndarray | None
    ) -> tuple[list[bytes | None], int | None]:
        if not clean:
            return [], None
        if given is not None:
            rows = unit_rows(given[[position for position, _ in clean]])
            return [row.astype("<f4").tobytes() for row in rows], self.model_id(rows.shape[1])
        texts = [indexed_text(record.source_name, record.content) for _, record in clean]
        blobs, model_id = self.embed(texts)
        return blobs, model_id

    def embed(self, texts: list[str]) -> tuple[list[bytes | None], int | None]:
        """Return the vectors of passages as stored bytes, or None for each when that fails."""
        if self._embedder_failed:
            return [None] * len(texts), None
        try:
            if self._provider.info.dim is None:
                return [None] * len(texts), None
            rows = guarded_embed(self._provider, texts, "passage")
        except EmbeddingError:
            self._embedder_failed = True
            return [None] * len(texts), None
        return [row.astype("<f4").tobytes() for row in rows], self.model_id(rows.shape[1])

    @property
    def embedder_failed(self) -> bool:
        """Whether the embedder failed during this call."""
        return self._embedder_failed

    def model_id(self, dim: int) -> int:
        """Return the store's number of the active model, entering it on first use."""
        info = self._provider.info
        if info.dim is None:
            raise UsageError(f"vectors were given, but embedder {info.label!r} makes none")
        if dim != info.dim:
            raise UsageError(
                f"vectors have {dim} dimensions; embedder {info.label!r} has {info.dim}"
            )
        with self._lock:
            return register_model(self._conn, info.label, info.fingerprint, dim)


def check_batch_size(size: int) -> None:
    """Raise UsageError unless `size` is a whole number above 0."""
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise UsageError(f"batch_size is {size!r}; allowed: a whole number, 1 or more")


def _check_records(batch: list[Record], start: int) -> None:
    for position, record in enumerate(batch, start):
        if not isinstance(record, Record):
            kind = type(record).__name__
            raise UsageError(f"records[{position}] is a {kind}; allowed: cpersona_jit.Record")


def _checked_vectors(vectors: np.ndarray) -> np.ndarray:
    """Return the caller's vectors as float32, or say which of them is none."""
    try:
        array = np.asarray(vectors)
    except ValueError as error:
        raise UsageError("vectors has ragged rows; allowed: one row of numbers a record") from error
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise UsageError(
            f"vectors has shape {array.shape} of {array.dtype}; "
            "allowed: one row of numbers a record"
        )
    with np.errstate(over="ignore"):  # too large for float32 becomes inf, refused as not finite
        array = array.astype(np.float32, copy=False)
    squares = np.einsum("ij,ij->i", array, array, dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(squares) & (squares > 0)))
    if bad.size:
        raise UsageError(f"vectors[{bad[0]}] is zero or not finite")
    return array


def _batches(records: Iterable[Record], size: int) -> Iterator[list[Record]]:
    iterator = iter(records)
    while batch := list(islice(iterator, size)):
        yield batch
