"""What the library's calls return."""

from __future__ import annotations

from dataclasses import dataclass

from cpersona_jit.recall.trace import RecallTrace
from cpersona_jit.records import Row, Source


@dataclass(frozen=True, slots=True)
class RecallRow:
    """One recalled memory, in full.

    Attributes
    ----------
    ref : str
        ``mem:<id>``; hand it to ``get_contents``, ``update`` or ``delete``.
    id : str
        The caller's own ``msg_id``, empty when none was given.
    content : str
        The stored text, uncut.
    source : Source
        Who or what said it.
    timestamp : str
        When it happened, verbatim as stored; empty when undated.
    session_id, project_id, channel : str
        As stored.
    created_at : str
        When it was stored, ISO 8601 in UTC.
    score : float
        Fused score. Comparable inside one response only.
    """

    ref: str
    id: str
    content: str
    source: Source
    timestamp: str
    session_id: str
    project_id: str
    channel: str
    created_at: str
    score: float


@dataclass(frozen=True, slots=True)
class RecallResult:
    """Recalled rows, best first.

    Attributes
    ----------
    rows : tuple of RecallRow
        At most `limit`, in the total order (score, then event time descending with undated rows
        last, then id ascending).
    degraded : tuple of str
        What this recall had to do without, each as ``code: explanation``; empty when nothing.
    trace : RecallTrace or None
        Only when asked for.
    """

    rows: tuple[RecallRow, ...]
    degraded: tuple[str, ...] = ()
    trace: RecallTrace | None = None


@dataclass(frozen=True, slots=True)
class ContentsResult:
    """Rows found by reference; foreign, unknown and malformed references are `missing`."""

    rows: tuple[Row, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """References deleted, and those that were foreign, unknown or malformed."""

    deleted: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReembedResult:
    """Rows that got a vector of the active model, and rows that still lack one."""

    done: int
    remaining: int


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """State of a store.

    Attributes
    ----------
    path : str
        The SQLite file.
    schema_version, generation : int
        Version of the file's schema; number of write transactions so far.
    rows, rows_without_vector : int
        Memories, and those without a vector of the active model.
    embedder, dim : str, int or None
        The active model.
    models : tuple of str
        Labels of every model that wrote vectors into this file.
    """

    path: str
    schema_version: int
    generation: int
    rows: int
    rows_without_vector: int
    embedder: str
    dim: int | None
    models: tuple[str, ...]
