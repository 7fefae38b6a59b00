"""Building a snapshot: from stored rows, or from an older snapshot and what changed since."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np

from cpersona_jit.columns.arrays import empty_columns
from cpersona_jit.columns.buffers import spare_places
from cpersona_jit.columns.centring import StoredVectors, centred_columns
from cpersona_jit.columns.compact import folded
from cpersona_jit.columns.draft import Draft
from cpersona_jit.columns.postings import GramKernels
from cpersona_jit.columns.rows import NO_MODEL, Model, read_rows, with_blocks
from cpersona_jit.columns.snapshot import Columns

__all__ = ["NO_MODEL", "Model", "build_columns"]

# Rows that are held gram by gram at one time, before they go into the indexes.
CHUNK_ROWS = 65_536


def build_columns(
    changed: Iterable[tuple],
    deleted: Iterable[int],
    blocks: Iterable[tuple],
    unsplit: Iterable[int],
    *,
    generation: int,
    model: Model,
    kernels: GramKernels,
    previous: Columns | None = None,
    stored: StoredVectors | None = None,
    capacity: int = 0,
) -> Columns:
    """Return the snapshot of a store at `generation`.

    Parameters
    ----------
    changed : iterable of tuple
        Fields of a :class:`~cpersona_jit.columns.rows.StoredRow` for each row written since
        `previous`, by the generation that wrote it last, then by id; for every row when `previous`
        is None.
    deleted : iterable of int
        Ids that are gone since `previous`.
    blocks : iterable of tuple
        Fields of a :class:`~cpersona_jit.columns.rows.StoredBlock` for each block of the changed
        rows, in their order and by position.
    unsplit : iterable of int
        Ids of all rows that wait to be split.
    generation : int
        The store's generation that the result shows.
    model : Model
        Vectors of any other model are left out: two models are never compared.
    kernels : GramKernels
        The kernel set in use.
    previous : Columns, optional
        An older snapshot of the same store with vectors of the same model, centred or not alike.
    stored : StoredVectors, optional
        Where vectors are read again; only a model whose vectors are centred needs it.
    capacity : int
        Rows that the store has, where that is known: arrays get their places at once.
    """
    start = empty_columns(model, kernels) if previous is None else previous
    draft = Draft(start, kernels, spare_places(capacity) if capacity else 0)
    draft.remove(np.fromiter(deleted, np.int64))
    pairs = with_blocks(changed, blocks)
    while (rows := read_rows(islice(pairs, CHUNK_ROWS), model, kernels)).ids.size:
        draft.append(rows)
        if rows.ids.size == CHUNK_ROWS:
            draft.fold()
    columns = draft.finish(generation, np.fromiter(unsplit, np.int64))
    if model.centred:
        columns = centred_columns(columns, start.n, model, stored)
    return columns if previous is not None else folded(columns, kernels)
