"""Bringing what is stored up to date with the model and the splitter: vectors and blocks.

Each batch is committed, so work that was stopped goes on where it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

from cpersona_jit.batches import check_batch_size
from cpersona_jit.embed.guard import guarded_embed, model_info
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.embed.provider import Provider, window_chars
from cpersona_jit.embedding import Embedding
from cpersona_jit.errors import UsageError
from cpersona_jit.isolation import Axes
from cpersona_jit.passages import block_ranges
from cpersona_jit.results import ReblockResult, ReembedResult
from cpersona_jit.store.block_reads import (
    PendingBlock,
    block_counts,
    blocks_without_vector,
    rows_to_split,
)
from cpersona_jit.store.blocks import NewBlock, set_block_vectors, set_ranges
from cpersona_jit.store.nodes import drop_short_chains, long_rows, rows_without_chain, set_chains
from cpersona_jit.store.reads import ID_BATCH, PendingRow, counts, rows_without_vector
from cpersona_jit.store.writes import set_vectors
from cpersona_jit.text.nodes import node_ranges

_ROWS_SPLIT_AT_ONCE = 256

Lock = AbstractContextManager


class _Work(NamedTuple):
    """What may lack vectors: how to read it behind a place, the text of each, how to write them,
    where to begin.
    """

    read: Callable[..., Sequence]
    text: Callable[[Any], str]
    write: Callable[..., int]
    start: int | tuple[int, int]


def _text_of_row(row: PendingRow) -> str:
    return indexed_text(row.source_name, row.content, row.keywords)


def _text_of_block(block: PendingBlock) -> str:
    return indexed_text(block.source_name, block.content)


_ROWS = _Work(rows_without_vector, _text_of_row, set_vectors, 0)
_BLOCKS = _Work(blocks_without_vector, _text_of_block, set_block_vectors, (0, -1))


def reembed(
    conn: sqlite3.Connection,
    lock: Lock,
    provider: Provider,
    batch_size: int,
    progress: Callable[[int, int], None] | None = None,
) -> ReembedResult:
    """Give every row, block and overflow node a vector of the provider's model.

    Parameters
    ----------
    conn : sqlite3.Connection
        The store.
    lock : context manager
        Held around every use of `conn`, never while embedding.
    provider : Provider
        The active model.
    batch_size : int
        Texts embedded and committed together.
    progress : callable, optional
        Called as ``progress(done, total)`` after each batch; rows come first, then blocks, then
        the rows that are longer than the model's window.
    """
    check_batch_size(batch_size)
    model_id = _model_id(conn, lock, provider)

    def lacking() -> tuple[int, int]:
        with lock:
            rows = counts(conn, Axes.across_agents(), model_id).without_vector
            return rows, block_counts(conn, model_id).without_vector

    chains = _without_chain(conn, lock, provider, model_id)
    total = sum(lacking()) + len(chains)
    report = progress or (lambda done, total: None)
    embed = partial(_embed, conn, lock, provider, model_id, batch_size)
    rows_done = embed(_ROWS, lambda done: report(done, total))
    blocks_done = embed(_BLOCKS, lambda done: report(rows_done + done, total))
    before = rows_done + blocks_done
    chains_done = _chain(
        *(conn, lock, provider, model_id, batch_size, chains),
        lambda done: report(before + done, total),
    )
    left = lacking()
    return ReembedResult(
        *(rows_done, left[0], blocks_done, left[1]), chains_done, len(chains) - chains_done
    )


def reblock(
    conn: sqlite3.Connection,
    lock: Lock,
    provider: Provider,
    batch_size: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> ReblockResult:
    """Split every row again, rebuild the blocks that differ, and embed those without a vector.

    Parameters as in :func:`reembed`; `progress` is called as ``progress(stage, done, total)``, in
    the stage ``"split"`` with rows and in the stage ``"embed"`` with blocks. Without a model
    the blocks are made and go without vectors.
    """
    check_batch_size(batch_size)
    report = progress or (lambda stage, done, total: None)
    rows, split = _split(conn, lock, partial(report, "split"))
    embedded, model_id = 0, None
    if model_info(provider).dim is not None:
        model_id = _model_id(conn, lock, provider)
        with lock:
            total = block_counts(conn, model_id).without_vector
        embedded = _embed(
            conn,
            lock,
            provider,
            model_id,
            batch_size,
            _BLOCKS,
            lambda done: report("embed", done, total),
        )
        chains = _without_chain(conn, lock, provider, model_id)
        _chain(conn, lock, provider, model_id, batch_size, chains, lambda done: None)
    with lock:
        remaining = block_counts(conn, model_id).without_vector
    return ReblockResult(rows, split, embedded, remaining)


def _split(
    conn: sqlite3.Connection, lock: Lock, report: Callable[[int, int], None]
) -> tuple[int, int]:
    """Compare every row's blocks with what the splitter says; returns rows seen and changed."""
    with lock:
        total = counts(conn, Axes.across_agents()).rows
    seen, changed, last = 0, 0, 0
    while True:
        with lock:
            rows = rows_to_split(conn, last, _ROWS_SPLIT_AT_ONCE)
        if not rows:
            return seen, changed
        ranges = [block_ranges(row.content) for row in rows]
        with lock:
            changed += set_ranges(conn, rows, ranges)
        seen, last = seen + len(rows), rows[-1].id
        report(seen, total)


def _embed(
    conn: sqlite3.Connection,
    lock: Lock,
    provider: Provider,
    model_id: int,
    batch_size: int,
    work: _Work,
    report: Callable[[int], None],
) -> int:
    """Embed what lacks a vector, batch by batch; returns how many have theirs now."""
    done, place = 0, work.start
    while True:
        with lock:
            pending = work.read(conn, model_id, place, batch_size)
        if not pending:
            return done
        texts = [work.text(item) for item in pending]
        vectors = guarded_embed(provider, texts, "passage")
        with lock:
            blobs = [vector.astype("<f4").tobytes() for vector in vectors]
            done += work.write(conn, pending, blobs, model_id)
        place = pending[-1].place
        report(done)


def _without_chain(
    conn: sqlite3.Connection, lock: Lock, provider: Provider, model_id: int
) -> list[int]:
    """Ids of rows whose overflow nodes are to be made; drops those that are not needed any more."""
    window = window_chars(model_info(provider))
    with lock:
        drop_short_chains(conn, window)
        return rows_without_chain(conn, model_id, window)


def _chain(
    conn: sqlite3.Connection,
    lock: Lock,
    provider: Provider,
    model_id: int,
    batch_size: int,
    ids: Sequence[int],
    report: Callable[[int], None],
) -> int:
    """Make and embed the nodes of rows, batch by batch; returns how many rows have theirs now."""
    done, window = 0, window_chars(model_info(provider))
    size = min(batch_size, ID_BATCH)
    for start in range(0, len(ids), size):
        with lock:
            rows = long_rows(conn, ids[start : start + size])
        ranges = [node_ranges(row.blocks, window) for row in rows]
        texts = [
            indexed_text(row.source_name, row.content[begin:end])
            for row, parts in zip(rows, ranges, strict=True)
            for begin, end in parts
        ]
        blobs = iter([])
        if texts:
            vectors = guarded_embed(provider, texts, "passage")
            blobs = iter([vector.astype("<f4").tobytes() for vector in vectors])
        nodes = [[NewBlock(*at, next(blobs)) for at in parts] for parts in ranges]
        with lock:
            done += set_chains(conn, rows, nodes, model_id)
        report(done)
    return done


def _model_id(conn: sqlite3.Connection, lock: Lock, provider: Provider) -> int:
    info = model_info(provider)
    if info.dim is None:
        raise UsageError(f"embedder {info.label!r} makes no vectors; choose one that does")
    return Embedding(conn, lock, provider).model_id(info.dim)
