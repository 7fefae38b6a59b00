"""Building a snapshot: from stored rows, or from an older snapshot and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from cpersona_jit.columns.centring import StoredVectors, centre_rows
from cpersona_jit.columns.neighbours import session_neighbours
from cpersona_jit.columns.rows import (
    NO_MODEL,
    Model,
    Rows,
    merge_rows,
    read_rows,
    rows_of,
    take_rows,
)
from cpersona_jit.columns.snapshot import BlockColumns, Columns, mask_of, tie_order
from cpersona_jit.columns.texts import Texts
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.quantize import block_signs, sign_words

__all__ = ["NO_MODEL", "BuildIndex", "Model", "build_columns"]

BuildIndex = Callable[[np.ndarray, np.ndarray, np.ndarray, int], GramIndex]


def build_columns(
    changed: Iterable[tuple],
    deleted: Iterable[int],
    blocks: Iterable[tuple],
    unsplit: Iterable[int],
    *,
    generation: int,
    model: Model,
    build_index: BuildIndex,
    previous: Columns | None = None,
    stored: StoredVectors | None = None,
) -> Columns:
    """Return the snapshot of a store at `generation`.

    Parameters
    ----------
    changed : iterable of tuple
        Fields of a :class:`~cpersona_jit.columns.rows.StoredRow` for each row written since
        `previous`, ascending id; for every row when `previous` is None.
    deleted : iterable of int
        Ids that are gone since `previous`.
    blocks : iterable of tuple
        Fields of a :class:`~cpersona_jit.columns.rows.StoredBlock` for each block of the changed
        rows, by row and position.
    unsplit : iterable of int
        Ids of all rows that wait to be split.
    generation : int
        The store's generation that the result shows.
    model : Model
        Vectors of any other model are left out: two models are never compared.
    build_index : callable
        ``build_gram_index`` of the kernel set in use.
    previous : Columns, optional
        An older snapshot of the same store with vectors of the same model, centred or not alike.
    stored : StoredVectors, optional
        Where vectors are read again; only a model whose vectors are centred needs it.
    """
    rows = read_rows(changed, blocks, model)
    written = rows.ids
    if previous is not None:
        gone = np.fromiter(deleted, np.int64)
        keep = ~np.isin(previous.ids, np.concatenate((rows.ids, gone)))
        rows = merge_rows(take_rows(rows_of(previous), np.flatnonzero(keep)), rows)
    coded = {name: _code(values) for name, values in rows.strings.items()}
    codes_by_name = {name: codes for name, (codes, _) in coded.items()}
    tables = {name: table for name, (_, table) in coded.items()}
    centres = None
    if model.centred:
        agents = codes_by_name["agent_id"], tables["agent_id"]
        known = previous.centres if previous else None
        rows, centres = centre_rows(rows, written, agents, model, known, stored)
    before, after = session_neighbours(codes_by_name, tables)
    return Columns(
        generation=generation,
        ids=rows.ids,
        event_time=rows.event_time,
        created_at=rows.created_at,
        codes_by_name=codes_by_name,
        tables=tables,
        tie_rank=tie_order(rows.event_time),
        fingerprint=model.fingerprint,
        dim=model.dim,
        centres=centres,
        text_length=rows.text_length,
        is_question=rows.is_question,
        before=before,
        after=after,
        block_count=np.maximum(np.diff(rows.blocks.row_ptr), 1).astype(np.int32),
        blocks=_block_columns(rows, build_index, previous),
        unsplit=mask_of(np.isin(rows.ids, np.fromiter(unsplit, np.int64))),
        **_scored(rows.texts, build_index),
    )


def _block_columns(rows: Rows, build_index: BuildIndex, previous: Columns | None) -> BlockColumns:
    blocks = rows.blocks
    row = np.repeat(np.arange(rows.ids.size), np.diff(blocks.row_ptr))
    if previous is not None and blocks.texts.lengths is previous.blocks.lengths:
        # Rows of one block came behind the others: their blocks are as they were, at most seen
        # from another centre.
        known = replace(previous.blocks, row=row, row_ptr=blocks.row_ptr)
        if blocks.texts.codes is previous.blocks.codes:
            return known
        return replace(known, **_coded(blocks.texts))
    scored = _scored(blocks.texts, build_index)
    return BlockColumns(row, blocks.row_ptr, blocks.start, blocks.end, **scored)


def _scored(texts: Texts, build_index: BuildIndex) -> dict:
    """Return the columns by which texts are scored, be they rows or blocks."""
    return {
        "lengths": texts.lengths,
        **_coded(texts),
        "embedded": mask_of(texts.embedded),
        "gram_rows": texts.grams,
        "gram_index": {
            size: build_index(grams.row_ptr, grams.keys, grams.counts, texts.lengths.size)
            for size, grams in texts.grams.items()
        },
    }


def _coded(texts: Texts) -> dict:
    return {
        "codes": np.ascontiguousarray(texts.codes),
        "signs": block_signs(sign_words(texts.codes)),
    }


def _code(values: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
    table: dict[str, int] = {}
    codes = np.fromiter((table.setdefault(v, len(table)) for v in values), np.int32, values.size)
    return codes, table
