"""Storing records: check, look for duplicates, embed, write, batch by batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from cpersona_jit.embed.guard import guarded_embed, model_info, unit_rows
from cpersona_jit.embed.provider import ModelInfo, Provider
from cpersona_jit.errors import EmbeddingError, UsageError
from cpersona_jit.isolation import Axes
from cpersona_jit.passages import block_ranges, passages
from cpersona_jit.records import Record, StoreOutcome, parse_ref
from cpersona_jit.store.blocks import NewBlock
from cpersona_jit.store.duplicates import would_skip
from cpersona_jit.store.models import find_model, register_model
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.timestamps import now_us
from cpersona_jit.store.validate import CleanRecord, Rejection, check_content, check_record
from cpersona_jit.store.writes import insert_batch, update_content

NOT_EMBEDDED = "not_embedded"
MAX_BATCH_SIZE = 1_000_000


class Embedded(NamedTuple):
    """Vectors of some contents and of their blocks, as they are stored; None where there is none.

    `model_id` is the store's number of the model that made them.
    """

    vectors: list[bytes | None]
    blocks: list[list[NewBlock]]
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
        embedded = self._embedded(clean, given)
        with self._lock:
            written = insert_batch(
                self._conn,
                [record for _, record in clean],
                embedded.vectors,
                embedded.model_id,
                now,
                self._dedup,
                embedded.blocks,
            )
        for (position, _), vector, outcome in zip(clean, embedded.vectors, written, strict=True):
            if vector is None and outcome.status == "stored" and self._embedder_failed:
                outcome = replace(outcome, warnings=(*outcome.warnings, NOT_EMBEDDED))
            outcomes[position] = outcome
        return outcomes

    def update(self, axes: Axes, ref: str, content: str) -> StoreOutcome:
        """Replace the content of a row that `axes` admit, its blocks and all their vectors."""
        with self._lock:
            found = fetch_rows(self._conn, axes, [parse_ref(ref) or 0])
        embedded = Embedded([None], [[]], None)
        if found and not isinstance(check_content(content), Rejection):
            source = next(iter(found.values())).source
            embedded = self.embed([(source.name, content)])
        (vector,), (blocks,), model_id = embedded
        with self._lock:
            outcome = update_content(
                self._conn, axes, ref, content, vector, model_id, now_us(), blocks
            )
        if outcome.status == "stored" and self._embedder_failed:
            return StoreOutcome("stored", outcome.ref, warnings=(NOT_EMBEDDED,))
        return outcome

    def _embedded(self, clean: list[tuple[int, CleanRecord]], given: np.ndarray | None) -> Embedded:
        if not clean or given is None:
            return self.embed([(record.source_name, record.content) for _, record in clean])
        # The caller's vectors are of whole rows: their blocks wait for `reembed`.
        rows = unit_rows(given[[position for position, _ in clean]])
        blocks = [[NewBlock(*at) for at in block_ranges(record.content)] for _, record in clean]
        return Embedded([_stored(row) for row in rows], blocks, self.model_id(rows.shape[1]))

    def embed(self, contents: Sequence[tuple[str, str]]) -> Embedded:
        """Split contents (each with the name of who said it) into blocks and embed all of it.

        Rows and blocks go to the model in one call. When it fails, all go without vectors.
        """
        parted = [passages(name, content) for name, content in contents]
        vectors, model_id = self._passages([text for part in parted for text in part.texts])
        remaining = iter(vectors)
        of_rows: list[bytes | None] = []
        of_blocks: list[list[NewBlock]] = []
        for part in parted:
            of_rows.append(next(remaining))
            of_blocks.append([NewBlock(*at, next(remaining)) for at in part.ranges])
        return Embedded(of_rows, of_blocks, model_id)

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
        return [_stored(row) for row in rows], model_id

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


def _stored(vector: np.ndarray) -> bytes:
    return vector.astype("<f4").tobytes()


def check_batch_size(size: int) -> None:
    """Raise UsageError unless `size` is a number of rows that may be committed together."""
    whole = isinstance(size, int) and not isinstance(size, bool)
    if not whole or not 1 <= size <= MAX_BATCH_SIZE:
        raise UsageError(
            f"batch_size is {size!r}; allowed: a whole number from 1 to {MAX_BATCH_SIZE}"
        )


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
