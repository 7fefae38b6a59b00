"""What the library's calls return."""

from __future__ import annotations

from dataclasses import dataclass, field

from cpersona_jit.recall.process_trace import ProcessTrace
from cpersona_jit.recall.trace import RecallTrace
from cpersona_jit.records import Node, Row, Source, Version, format_utc


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
    admission : str
        Empty for a row of the window; ``reservation`` or ``time_cue`` for one of the bounded seats
        that stand after it.
    revision : int
        Generation of the transaction that wrote the row last.
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
    admission: str = ""
    revision: int = 0


@dataclass(frozen=True, slots=True)
class RecallResult:
    """Recalled rows, best first.

    Attributes
    ----------
    rows : tuple of RecallRow
        At most `limit`, in the total order (score, then event time descending with undated rows
        last, then id ascending); then the rows of the seats, marked by their ``admission``.
    degraded : tuple of str
        What this recall had to do without, each as ``code: explanation``; empty when nothing.
    trace : RecallTrace, ProcessTrace or None
        Only when asked for.
    period : dict or None
        The period that a time cue aimed recall at, with the words that asked for it.
    """

    rows: tuple[RecallRow, ...]
    degraded: tuple[str, ...] = ()
    trace: RecallTrace | ProcessTrace | None = None
    period: dict | None = None


@dataclass(frozen=True, slots=True)
class ContentsResult:
    """Rows found by reference.

    Attributes
    ----------
    rows : tuple of Row
        In the order asked for; the reference of an old text gives a row with that text.
    missing : tuple of str
        Foreign, unknown and malformed references.
    history : dict of str to tuple of Version
        Old texts of the current rows, newest first, when asked for; of those that have any.
    superseded : dict of str to str
        For each old text in `rows`, the reference of the row that says something else now.
    nodes : dict of str to tuple of Node
        The parts of rows whose text is longer than the embedder's window, when asked for.
    """

    rows: tuple[Row, ...]
    missing: tuple[str, ...]
    history: dict[str, tuple[Version, ...]] = field(default_factory=dict)
    superseded: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, tuple[Node, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """References deleted, and those that were foreign, unknown or malformed."""

    deleted: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReembedResult:
    """What got vectors of the active model, and what still lacks one.

    Attributes
    ----------
    done, remaining : int
        Rows.
    blocks_done, blocks_remaining : int
        Blocks of long rows.
    chains_done, chains_remaining : int
        Rows longer than the model's window, each with all of its overflow nodes.
    """

    done: int
    remaining: int
    blocks_done: int
    blocks_remaining: int
    chains_done: int = 0
    chains_remaining: int = 0


@dataclass(frozen=True, slots=True)
class ReblockResult:
    """What rebuilding the blocks did.

    Attributes
    ----------
    rows, changed : int
        Rows that were split, and those whose blocks had to be made anew.
    blocks_done, blocks_remaining : int
        Blocks that got a vector, and that still have none of the active model.
    """

    rows: int
    changed: int
    blocks_done: int
    blocks_remaining: int


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
    blocks, blocks_without_vector : int
        Blocks of long memories, and those without a vector of the active model.
    rows_without_blocks : int
        Long memories from before there were blocks, or with blocks of an older splitter.
    embedder, dim : str, int or None
        The active model.
    models : tuple of str
        Labels of every model that wrote vectors into this file.
    columns : str
        The state of the file of columns beside the store, in words.
    """

    path: str
    schema_version: int
    generation: int
    rows: int
    rows_without_vector: int
    blocks: int
    blocks_without_vector: int
    rows_without_blocks: int
    embedder: str
    dim: int | None
    models: tuple[str, ...]
    columns: str = ""


def recall_row(row: Row, score: float, admission: str = "") -> RecallRow:
    """Return a stored row as recall hands it out."""
    return RecallRow(
        row.ref,
        row.msg_id,
        row.content,
        row.source,
        row.timestamp,
        row.session_id,
        row.project_id,
        row.channel,
        format_utc(row.created_at),
        score,
        admission,
        row.revision,
    )
