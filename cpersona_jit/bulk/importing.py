"""Importing a file: read, check, embed, store, in batches that are whole or not there.

How far an import has come is written in the transaction of each batch, under the hash of the file's
bytes and of the options. Running the same import again goes on behind the last batch, also after a
kill in the middle of one; running it after its end does nothing. Neither depends on how duplicates
are told. A stream that cannot be read twice has no such record: there the dedup key alone keeps
what is stored already from being stored again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from cpersona_jit.bulk.fields import Item, Unreadable, known_fields
from cpersona_jit.bulk.jsonl import JsonLines
from cpersona_jit.bulk.rejects import Rejects
from cpersona_jit.bulk.report import ImportReport, Told, report_of
from cpersona_jit.bulk.source import Source, import_key, opened
from cpersona_jit.bulk.vectors import GivenVectors, without_direction
from cpersona_jit.errors import ImportFileError, StoreBusyError, UsageError
from cpersona_jit.ingest import Ingest
from cpersona_jit.records import StoreOutcome

# A batch ends with whichever comes first: what is lost when a model is interrupted, rows that cost
# next to nothing each, and characters that are held in memory.
MOST_EMBEDDED = 256
MOST_ROWS = 8192
MOST_CHARS = 8_000_000

# Called as progress(stage, done, total, records): bytes or rows of the stage "reading" (identifying
# the file) or "storing"; the total is None for a stream.
Progress = Callable[[str, int, "int | None", int], None]


@dataclass(frozen=True)
class ImportOptions:
    """How the records of a file are read.

    Parameters
    ----------
    agent_id, project_id, channel : str
        For records that have none of their own.
    embedding_model : str
        Label or fingerprint of the model that made the vectors of records which do not say so.
    ignored : tuple of str
        Fields that are left out.
    dedup : bool
        False stores equal contents again (msg_id stays unique).
    """

    agent_id: str = ""
    project_id: str = ""
    channel: str = ""
    embedding_model: str = ""
    ignored: tuple[str, ...] = ()
    dedup: bool = True


def import_file(
    ingest: Ingest,
    path: str | os.PathLike[str],
    options: ImportOptions,
    *,
    again: bool = False,
    rejects: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file; see :meth:`cpersona_jit.Memory.import_file`."""
    known_fields(options.ignored)
    show = progress or (lambda stage, done, total, records: None)
    with opened(path) as source:
        if rejects is not None and source.is_file(rejects):
            raise UsageError(f"{os.fspath(rejects)!r} is the file to import itself")
        info = ingest.info()
        told = {**vars(options), "ignored": sorted(options.ignored), "model": info.fingerprint}
        key = import_key(source, told, lambda done: show("reading", done, source.size, 0))
        state = None if key is None or again else ingest.import_state(key)
        unit = "row" if source.is_parquet else "line"
        if state is not None and state["finished"]:
            return replace(report_of(state, unit), already=True, finished=True)
        place = state["rejects"] if state else None
        with Rejects(rejects, place) as written, ingest.many_batches():
            return _Import(ingest, source, options, key, written, show).run(state, unit)


class _Import:
    """One run over one file."""

    def __init__(
        self,
        ingest: Ingest,
        source: Source,
        options: ImportOptions,
        key: str | None,
        rejects: Rejects,
        show: Progress,
    ) -> None:
        self._ingest, self._source, self._options, self._key = ingest, source, options, key
        self._rejects, self._show = rejects, show
        self._embeds = ingest.info().dim is not None
        self._report = ImportReport()
        self._found: dict[str, Any] | None = None

    def run(self, state: dict[str, Any] | None, unit: str) -> ImportReport:
        """Store what comes behind `state`, and return the report over the whole file."""
        at, number = (state["at"], state["number"]) if state else (0, 0)
        before = report_of(state, unit) if state else ImportReport(unit)
        self._report = replace(before, resumed=number)
        if self._key is not None:
            self._found = self._ingest.import_state(self._key)
        reader, total = self._reader(at, number)
        for batch in self._batches(reader):
            at, number = batch[-1].end, batch[-1].number
            self._store(batch, {"at": at, "number": number, "finished": False})
            self._show("storing", at, total, self._report.records)
        self._store([], {"at": at, "number": reader.number, "finished": True})
        return replace(self._report, finished=True)

    def _reader(self, at: int, number: int) -> tuple[Any, int | None]:
        options, source = self._options, self._source
        vectors = GivenVectors(self._ingest.info(), options.embedding_model)
        defaults = {
            name: getattr(options, name)
            for name in ("agent_id", "project_id", "channel")
            if getattr(options, name)
        }
        if source.is_parquet:
            try:
                from cpersona_jit.bulk.parquet import ParquetRows
            except ImportError as error:
                raise ImportFileError(
                    f"reading Parquet needs pyarrow ({error}); pip install pyarrow"
                ) from error
            rows = ParquetRows(source.stream, vectors, defaults, options.ignored, at)
            return rows, rows.total
        lines = JsonLines(
            source.stream, vectors.read, defaults, options.ignored, at, number, source.size
        )
        return lines, source.size

    def _batches(self, items: Iterable[Item]) -> Iterator[list[Item]]:
        batch: list[Item] = []
        embedded = chars = 0
        for item in items:
            batch.append(item)
            record = item.record
            if type(record) is not Unreadable:
                embedded += item.vector is None
                chars += len(record.content or "")
            full = self._embeds and embedded >= MOST_EMBEDDED
            if full or len(batch) >= MOST_ROWS or chars >= MOST_CHARS:
                yield batch
                batch, embedded, chars = [], 0, 0
        if batch:
            yield batch

    def _store(self, batch: list[Item], place: dict[str, Any]) -> None:
        """Store a batch, and in its transaction how far the import has come with it."""
        batch = _with_direction(batch)
        kept = [item for item in batch if type(item.record) is not Unreadable]
        report = self._report

        def alongside(outcomes: list[StoreOutcome]) -> None:
            nonlocal report
            told = list(_told(batch, outcomes))
            report = self._report.adding(told, place["number"])
            self._rejects.write(told)
            if self._key is not None:
                self._keep(self._key, place | report.state())

        self._ingest.store_batch(
            [item.record for item in kept], [item.vector for item in kept], alongside
        )
        self._report = report

    def _keep(self, key: str, state: dict[str, Any]) -> None:
        if self._ingest.import_state(key) != self._found:
            raise StoreBusyError("another process imports the same file into this store")
        self._found = state | {"rejects": self._rejects.place}
        self._ingest.keep_import_state(key, self._found)


def _with_direction(batch: list[Item]) -> list[Item]:
    """Return the items, those whose vector cannot be normalised as unreadable."""
    positions = [at for at, item in enumerate(batch) if item.vector is not None]
    refused = without_direction([batch[at].vector for at in positions])
    bad = {at: why for at, why in zip(positions, refused, strict=True) if why is not None}
    return [
        item._replace(record=bad[at], vector=None) if at in bad else item
        for at, item in enumerate(batch)
    ]


def _told(batch: list[Item], outcomes: list[StoreOutcome]) -> Iterator[Told]:
    """Yield what became of each item; those with a record have an outcome."""
    of_records = iter(outcomes)
    for item in batch:
        if isinstance(item.record, Unreadable):
            yield Told(item.number, "rejected", *item.record)
            continue
        outcome = next(of_records)
        yield Told(item.number, outcome.status, outcome.reason, outcome.detail)
        for warning in outcome.warnings:
            yield Told(item.number, "warning", warning)
