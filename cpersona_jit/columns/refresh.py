"""Keeping a snapshot in step with its store, whoever wrote to it."""

from __future__ import annotations

import logging
import sqlite3
from functools import partial

from cpersona_jit.columns.build import Model, build_columns
from cpersona_jit.columns.centring import StoredVectors
from cpersona_jit.columns.postings import GramKernels
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.isolation import Axes
from cpersona_jit.store.block_reads import changed_blocks, unsplit_rows
from cpersona_jit.store.database import generation, read_snapshot
from cpersona_jit.store.presence import refuse_replaced
from cpersona_jit.store.reads import changed_rows, counts, deleted_since
from cpersona_jit.store.vector_reads import block_vectors, row_vectors

_log = logging.getLogger("cpersona_jit.columns")


def refreshed_columns(
    conn: sqlite3.Connection,
    previous: Columns | None,
    model: Model,
    kernels: GramKernels,
    now: int | None = None,
) -> Columns:
    """Return `previous` while it is current, else a snapshot that is.

    Parameters
    ----------
    conn : sqlite3.Connection
        The store; the caller holds its lock.
    previous : Columns or None
        The last snapshot of this store.
    model : Model
        The model whose vectors the snapshot holds; another one than before, or one that is centred
        where the last was not, rebuilds everything.
    kernels : GramKernels
        The kernel set in use.
    now : int, optional
        The store's generation, when it was read since `previous` was made; else it is read here.
    """
    refuse_replaced(conn)
    if previous is not None and _vectors_of(previous) != (model.fingerprint, model.centred):
        previous = None
    if now is None:
        now = generation(conn)
    if previous is not None and previous.generation == now:
        return previous
    if previous is not None and previous.generation > now:
        _log.warning("the store went back to generation %d: the columns are made again", now)
        previous = None
    since = 0 if previous is None else previous.generation
    with read_snapshot(conn):
        return build_columns(
            changed_rows(conn, since),
            deleted_since(conn, since),
            changed_blocks(conn, since),
            unsplit_rows(conn),
            generation=generation(conn),
            model=model,
            kernels=kernels,
            previous=previous,
            stored=StoredVectors(partial(row_vectors, conn), partial(block_vectors, conn)),
            capacity=counts(conn, Axes.across_agents()).rows if previous is None else 0,
        )


def _vectors_of(columns: Columns) -> tuple[str, bool]:
    return columns.fingerprint, columns.centres is not None
