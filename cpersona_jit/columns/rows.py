"""Rows on their way into a snapshot: read from the store, taken from an older snapshot, merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED, BlockColumns, Columns
from cpersona_jit.columns.texts import (
    TextReader,
    Texts,
    join_pointers,
    join_texts,
    take_spans,
    take_texts,
)
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.records import format_ref
from cpersona_jit.text.questions import is_question

STRING_COLUMNS = (
    "agent_id",
    "project_id",
    "channel",
    "session_id",
    "source_type",
    "source_id",
    "source_name",
)


class StoredRow(NamedTuple):
    """What a snapshot needs of a stored row, in the order that the store reads it."""

    id: int
    agent_id: str
    project_id: str
    channel: str
    session_id: str
    source_type: str
    source_id: str
    source_name: str
    event_time: int | None
    created_at: int
    content: str
    embedding: bytes | None
    model_id: int | None


class StoredBlock(NamedTuple):
    """What it needs of a block."""

    memory_id: int
    start_char: int
    end_char: int
    embedding: bytes | None
    model_id: int | None


class Model(NamedTuple):
    """The embedding model whose vectors a snapshot may hold."""

    model_id: int  # the store's number of the model; -1 without one
    fingerprint: str
    dim: int
    centred: bool = False  # whether codes are made of centred vectors


NO_MODEL = Model(-1, "", 0)


class Blocks(NamedTuple):
    """Blocks of some rows; row r owns ``row_ptr[r]:row_ptr[r + 1]``."""

    row_ptr: np.ndarray  # int64 (n + 1,)
    start: np.ndarray  # int32
    end: np.ndarray  # int32
    texts: Texts


class Rows(NamedTuple):
    """Some rows by ascending id, before names are coded and grams are inverted."""

    ids: np.ndarray
    event_time: np.ndarray
    created_at: np.ndarray
    text_length: np.ndarray
    is_question: np.ndarray
    strings: dict[str, np.ndarray]  # object arrays
    texts: Texts
    blocks: Blocks


def read_rows(stored: Iterable[tuple], blocks: Iterable[tuple], model: Model) -> Rows:
    """Read stored rows and their blocks, both by ascending id.

    Parameters
    ----------
    stored : iterable of tuple
        Fields of a :class:`StoredRow` each.
    blocks : iterable of tuple
        Fields of a :class:`StoredBlock` each.
    model : Model
        Vectors of any other model are left out.
    """
    ids, event_time, created_at, text_length, asks = [], [], [], [], []
    strings: dict[str, list[str]] = {name: [] for name in STRING_COLUMNS}
    texts, block_texts = TextReader(model.dim), TextReader(model.dim)
    starts, ends, row_ptr = [], [], [0]
    for row, own_blocks in _with_blocks(stored, blocks):
        ids.append(row.id)
        event_time.append(UNDATED if row.event_time is None else row.event_time)
        created_at.append(row.created_at)
        text_length.append(len(row.content))
        asks.append(is_question(row.content))
        for name in STRING_COLUMNS:
            strings[name].append(getattr(row, name))
        texts.add(indexed_text(row.source_name, row.content), _vector(row, model))
        for block in own_blocks:
            if not 0 <= block.start_char < block.end_char <= len(row.content):
                raise CorruptStoreError(f"{format_ref(row.id)}: a block of it lies outside of it")
            part = row.content[block.start_char : block.end_char]
            block_texts.add(indexed_text(row.source_name, part), _vector(block, model))
            starts.append(block.start_char)
            ends.append(block.end_char)
        row_ptr.append(len(starts))
    return Rows(
        np.array(ids, np.int64),
        np.array(event_time, np.int64),
        np.array(created_at, np.int64),
        np.array(text_length, np.int32),
        np.array(asks, bool),
        {name: np.array(values, object) for name, values in strings.items()},
        texts.finish(),
        Blocks(
            np.array(row_ptr, np.int64),
            np.array(starts, np.int32),
            np.array(ends, np.int32),
            block_texts.finish(),
        ),
    )


def _with_blocks(
    stored: Iterable[tuple], blocks: Iterable[tuple]
) -> Iterator[tuple[StoredRow, list[StoredBlock]]]:
    groups = groupby(blocks, itemgetter(0))
    owner, group = next(groups, (None, ()))
    for values in stored:
        row = StoredRow._make(values)
        while owner is not None and owner < row.id:  # blocks without a row
            owner, group = next(groups, (None, ()))
        yield row, list(map(StoredBlock._make, group)) if owner == row.id else []


def _vector(item: StoredRow | StoredBlock, model: Model) -> np.ndarray | None:
    return vector_of(item[0], item.embedding, item.model_id, model)


def vector_of(
    memory_id: int, embedding: bytes | None, model_id: int | None, model: Model
) -> np.ndarray | None:
    """Return a stored vector as float32, shape (dim,); None when it is none of the model's."""
    if embedding is None or model_id != model.model_id:
        return None
    # The product with itself is not finite when any number is not.
    if len(embedding) == 4 * model.dim:
        vector = np.frombuffer(embedding, "<f4")
        if np.isfinite(vector.dot(vector)):
            return vector
    raise CorruptStoreError(
        f"{format_ref(memory_id)}: its vector is not {model.dim} finite numbers; "
        "the store is damaged"
    )


def rows_of(columns: Columns) -> Rows:
    """Return the rows of a snapshot; arrays are shared with it."""
    strings = {
        name: _names(columns.tables[name])[columns.codes_by_name[name]] for name in STRING_COLUMNS
    }
    blocks = columns.blocks
    return Rows(
        columns.ids,
        columns.event_time,
        columns.created_at,
        columns.text_length,
        columns.is_question,
        strings,
        _texts_of(columns),
        Blocks(blocks.row_ptr, blocks.start, blocks.end, _texts_of(blocks)),
    )


def _texts_of(columns: Columns | BlockColumns) -> Texts:
    return Texts(
        columns.lengths,
        columns.codes,
        columns.embedded.as_bools(columns.lengths.size),
        columns.gram_rows,
    )


def _names(table: dict[str, int]) -> np.ndarray:
    names = np.empty(len(table), object)
    for name, code in table.items():
        names[code] = name
    return names


def take_rows(rows: Rows, positions: np.ndarray) -> Rows:
    """Return the rows at `positions`, in that order, with their blocks; `rows` when that is all."""
    if np.array_equal(positions, np.arange(rows.ids.size)):
        return rows
    row_ptr, source = take_spans(rows.blocks.row_ptr, positions)
    return Rows(
        rows.ids[positions],
        rows.event_time[positions],
        rows.created_at[positions],
        rows.text_length[positions],
        rows.is_question[positions],
        {name: values[positions] for name, values in rows.strings.items()},
        take_texts(rows.texts, positions),
        Blocks(
            row_ptr,
            rows.blocks.start[source],
            rows.blocks.end[source],
            take_texts(rows.blocks.texts, source),
        ),
    )


def merge_rows(a: Rows, b: Rows) -> Rows:
    """Return the rows of both by ascending id."""
    joined = Rows(
        np.concatenate((a.ids, b.ids)),
        np.concatenate((a.event_time, b.event_time)),
        np.concatenate((a.created_at, b.created_at)),
        np.concatenate((a.text_length, b.text_length)),
        np.concatenate((a.is_question, b.is_question)),
        {name: np.concatenate((a.strings[name], b.strings[name])) for name in STRING_COLUMNS},
        join_texts(a.texts, b.texts),
        Blocks(
            join_pointers(a.blocks.row_ptr, b.blocks.row_ptr),
            np.concatenate((a.blocks.start, b.blocks.start)),
            np.concatenate((a.blocks.end, b.blocks.end)),
            join_texts(a.blocks.texts, b.blocks.texts),
        ),
    )
    return take_rows(joined, np.argsort(joined.ids, kind="stable"))
