"""Building a snapshot: from stored rows, or from an older snapshot and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED, Columns, GramRows, mask_of, tie_order
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.quantize import block_signs, padded_width, quantize_rows, sign_words
from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.text.grams import GRAM_SIZES, code_points, gram_keys, normalise

STRING_COLUMNS = ("agent_id", "project_id", "channel", "session_id", "source_id", "source_name")
_QUANTIZE_ROWS = 4096  # rows that are float32 at one time while a snapshot is built

BuildIndex = Callable[[np.ndarray, np.ndarray, np.ndarray, int], GramIndex]


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


class Model(NamedTuple):
    """The embedding model whose vectors a snapshot may hold."""

    model_id: int  # the store's number of the model; -1 without one
    fingerprint: str
    dim: int


NO_MODEL = Model(-1, "", 0)


class _Rows(NamedTuple):
    ids: np.ndarray
    event_time: np.ndarray
    created_at: np.ndarray
    strings: dict[str, np.ndarray]  # object arrays
    lengths: np.ndarray
    codes: np.ndarray
    embedded: np.ndarray  # bool
    grams: dict[int, GramRows]


def build_columns(
    changed: Iterable[tuple],
    deleted: Iterable[int],
    *,
    generation: int,
    model: Model,
    build_index: BuildIndex,
    previous: Columns | None = None,
) -> Columns:
    """Return the snapshot of a store at `generation`.

    Parameters
    ----------
    changed : iterable of tuple
        Fields of a :class:`StoredRow` for each row written since `previous`, ascending id; for
        every row when `previous` is None.
    deleted : iterable of int
        Ids that are gone since `previous`.
    generation : int
        The store's generation that the result shows.
    model : Model
        Vectors of any other model are left out: two models are never compared.
    build_index : callable
        ``build_gram_index`` of the kernel set in use.
    previous : Columns, optional
        An older snapshot of the same store with vectors of the same model.
    """
    rows = _extract(changed, model)
    if previous is not None:
        gone = np.fromiter(deleted, np.int64)
        keep = ~np.isin(previous.ids, np.concatenate((rows.ids, gone)))
        rows = _merge(_from_columns(previous, np.flatnonzero(keep)), rows)
    return _assemble(rows, generation, model, build_index)


def _extract(stored: Iterable[tuple], model: Model) -> _Rows:
    ids, event_time, created_at, lengths = [], [], [], []
    strings: dict[str, list[str]] = {name: [] for name in STRING_COLUMNS}
    codes, embedded, pending = [], [], []
    grams = {size: ([], []) for size in GRAM_SIZES}
    for values in stored:
        row = StoredRow._make(values)
        ids.append(row.id)
        event_time.append(UNDATED if row.event_time is None else row.event_time)
        created_at.append(row.created_at)
        for name in STRING_COLUMNS:
            strings[name].append(getattr(row, name))
        points = code_points(normalise(indexed_text(row.source_name, row.content)))
        lengths.append(points.size)
        for size, (keys, counts) in grams.items():
            row_keys, row_counts = gram_keys(points, size)
            keys.append(row_keys)
            counts.append(row_counts)
        vector = _vector(row, model)
        embedded.append(vector is not None)
        pending.append(np.zeros(model.dim, np.float32) if vector is None else vector)
        if len(pending) == _QUANTIZE_ROWS:
            codes.append(_quantize(pending, model.dim))
            pending = []
    codes.append(_quantize(pending, model.dim))
    return _Rows(
        np.array(ids, np.int64),
        np.array(event_time, np.int64),
        np.array(created_at, np.int64),
        {name: np.array(values, object) for name, values in strings.items()},
        np.array(lengths, np.int32),
        np.concatenate(codes),
        np.array(embedded, bool),
        {size: _gram_rows(keys, counts) for size, (keys, counts) in grams.items()},
    )


def _vector(row: StoredRow, model: Model) -> np.ndarray | None:
    if row.embedding is None or row.model_id != model.model_id:
        return None
    vector = np.frombuffer(row.embedding, "<f4")
    return vector if vector.size == model.dim else None


def _quantize(vectors: list[np.ndarray], dim: int) -> np.ndarray:
    if not dim:
        return np.zeros((len(vectors), 0), np.int8)
    if not vectors:
        return np.zeros((0, padded_width(dim)), np.int8)
    return quantize_rows(np.stack(vectors))


def _gram_rows(keys: list[np.ndarray], counts: list[np.ndarray]) -> GramRows:
    row_ptr = np.zeros(len(keys) + 1, np.int64)
    np.cumsum([k.size for k in keys], out=row_ptr[1:])
    none_k, none_c = np.zeros(0, np.uint64), np.zeros(0, np.uint8)
    return GramRows(row_ptr, np.concatenate([none_k, *keys]), np.concatenate([none_c, *counts]))


def _from_columns(columns: Columns, keep: np.ndarray) -> _Rows:
    embedded = np.zeros(columns.n, bool)
    embedded[admitted_rows(columns.embedded.words)] = True
    names = {name: _names(table) for name, table in columns.tables.items()}
    return _Rows(
        columns.ids[keep],
        columns.event_time[keep],
        columns.created_at[keep],
        {name: names[name][columns.codes_by_name[name][keep]] for name in STRING_COLUMNS},
        columns.lengths[keep],
        columns.codes[keep],
        embedded[keep],
        {size: _take(rows, keep) for size, rows in columns.gram_rows.items()},
    )


def _names(table: dict[str, int]) -> np.ndarray:
    names = np.empty(len(table), object)
    for name, code in table.items():
        names[code] = name
    return names


def _take(rows: GramRows, positions: np.ndarray) -> GramRows:
    start, sizes = rows.row_ptr[positions], np.diff(rows.row_ptr)[positions]
    row_ptr = np.zeros(positions.size + 1, np.int64)
    np.cumsum(sizes, out=row_ptr[1:])
    source = np.arange(row_ptr[-1]) + np.repeat(start - row_ptr[:-1], sizes)
    return GramRows(row_ptr, rows.keys[source], rows.counts[source])


def _merge(old: _Rows, new: _Rows) -> _Rows:
    ids = np.concatenate((old.ids, new.ids))
    order = np.argsort(ids, kind="stable")
    in_order = bool(np.all(order == np.arange(order.size)))

    def joined(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        both = np.concatenate((a, b))
        return both if in_order else both[order]

    def joined_grams(a: GramRows, b: GramRows) -> GramRows:
        row_ptr = np.concatenate((a.row_ptr, b.row_ptr[1:] + a.row_ptr[-1]))
        both = GramRows(
            row_ptr, np.concatenate((a.keys, b.keys)), np.concatenate((a.counts, b.counts))
        )
        return both if in_order else _take(both, order)

    return _Rows(
        ids[order],
        joined(old.event_time, new.event_time),
        joined(old.created_at, new.created_at),
        {name: joined(old.strings[name], new.strings[name]) for name in STRING_COLUMNS},
        joined(old.lengths, new.lengths),
        joined(old.codes, new.codes),
        joined(old.embedded, new.embedded),
        {size: joined_grams(old.grams[size], new.grams[size]) for size in GRAM_SIZES},
    )


def _assemble(rows: _Rows, generation: int, model: Model, build_index: BuildIndex) -> Columns:
    n = rows.ids.size
    coded = {name: _code(values) for name, values in rows.strings.items()}
    return Columns(
        generation=generation,
        ids=rows.ids,
        event_time=rows.event_time,
        created_at=rows.created_at,
        codes_by_name={name: codes for name, (codes, _) in coded.items()},
        tables={name: table for name, (_, table) in coded.items()},
        lengths=rows.lengths,
        codes=np.ascontiguousarray(rows.codes),
        signs=block_signs(sign_words(rows.codes)),
        embedded=mask_of(rows.embedded),
        gram_rows=rows.grams,
        gram_index={
            size: build_index(grams.row_ptr, grams.keys, grams.counts, n)
            for size, grams in rows.grams.items()
        },
        tie_rank=tie_order(rows.event_time),
        fingerprint=model.fingerprint,
        dim=model.dim,
    )


def _code(values: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
    table: dict[str, int] = {}
    codes = np.fromiter((table.setdefault(v, len(table)) for v in values), np.int32, values.size)
    return codes, table
