"""Writing the columns for other tools, as an Arrow IPC file or Parquet."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cpersona_jit.columns.export_target import whole_file
from cpersona_jit.columns.gram_ranges import grams_between
from cpersona_jit.columns.snapshot import UNDATED, BlockColumns, Columns, GramRows
from cpersona_jit.columns.texts import join_grams, take_grams
from cpersona_jit.errors import UsageError
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.records import format_ref

ExportFormat = Literal["arrow", "parquet"]

ROWS_AT_ONCE = 65_536


def export_columns(
    columns: Columns,
    path: str | os.PathLike[str],
    format: ExportFormat,
    *,
    store: str | os.PathLike[str],
    episodes: Collection[int] = frozenset(),
) -> int:
    """Write the snapshot of a store, one row per memory; the file appears whole or not at all.

    Its grams tell what the memories say, so like the store it is readable by its owner only.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    path : str or path
        File to write. An existing regular file is replaced.
    format : {"arrow", "parquet"}
        Arrow IPC (readable with memory mapping) or Parquet.
    store : str or path
        The store that the columns come from: none of its files is ever replaced.
    episodes : collection of int
        Ids of its episodes, which columns do not tell from memories; see `columns_table`.

    Returns
    -------
    int
        Rows written.

    Raises
    ------
    UsageError
        Unknown format, or no such file can be written: its folder is missing, or it is a file of
        the store or no regular file. Nothing was written.
    ExportError
        Writing failed (full disk, no permission); an older file is as it was.
    """
    if format not in get_args(ExportFormat):
        raise UsageError(f"format is {format!r}; allowed: {', '.join(get_args(ExportFormat))}")
    with whole_file(path, store) as temporary:
        return _write(columns, temporary, format, frozenset(episodes))


def _write(columns: Columns, file: str, format: ExportFormat, episodes: Collection[int]) -> int:
    """Write some thousand rows at a time: their grams take more room than all else there is."""
    schema = columns_table(columns, 0, 0).schema
    written = 0
    with _writer(file, schema, format) as out:
        for start in range(0, columns.n, ROWS_AT_ONCE):
            table = columns_table(columns, start, start + ROWS_AT_ONCE, episodes)
            out.write_table(table)
            written += table.num_rows
    return written


def _writer(
    file: str, schema: pa.Schema, format: ExportFormat
) -> pq.ParquetWriter | pa.RecordBatchFileWriter:
    return pq.ParquetWriter(file, schema) if format == "parquet" else pa.ipc.new_file(file, schema)


def columns_table(
    columns: Columns,
    start: int = 0,
    stop: int | None = None,
    episodes: Collection[int] = frozenset(),
) -> pa.Table:
    """Return the columns as an Arrow table.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    start, stop : int
        Range of positions; those of rows that are gone are left out.
    episodes : collection of int
        Ids whose ``ref`` is that of an episode.

    Returns
    -------
    pyarrow.Table
        ``ref``, ``id``, the axes, session and speaker as dictionaries, times as UTC microseconds,
        ``text_length``, ``is_question``, ``length``, ``code`` (int8 list, null without a vector),
        ``sign_bits`` (uint64 list), and per gram size the row's gram keys and counts. Columns
        ``block_...`` list the same of the row's blocks, with their ``start`` and ``end``; empty
        lists where the row is its own one block. The model's fingerprint, the generation and the
        dimension stand in the schema's metadata, with ``embedding_centred`` where codes are those
        of centred vectors.
    """
    rows = slice(start, columns.n if stop is None else min(stop, columns.n))
    of_blocks = slice(*columns.blocks.row_ptr[[rows.start, rows.stop]].tolist())
    ids = columns.ids[rows].tolist()
    arrays: dict[str, pa.Array] = {
        "ref": pa.array(
            [format_ref(i, "episode" if i in episodes else "memory") for i in ids], pa.string()
        ),
        "id": pa.array(columns.ids[rows]),
    }
    for name, codes in columns.codes_by_name.items():
        names = pa.array(list(columns.tables[name]), pa.string())
        arrays[name] = pa.DictionaryArray.from_arrays(pa.array(codes[rows]), names)
    utc = pa.timestamp("us", tz="UTC")
    times = columns.event_time[rows]
    arrays["event_time"] = pa.array(times, mask=times == UNDATED).cast(utc)
    arrays["created_at"] = pa.array(columns.created_at[rows]).cast(utc)
    arrays["text_length"] = pa.array(columns.text_length[rows])
    arrays["is_question"] = pa.array(columns.is_question[rows])
    arrays |= _scored(columns, rows)
    blocks = columns.blocks
    values = {
        "start": pa.array(blocks.start[of_blocks]),
        "end": pa.array(blocks.end[of_blocks]),
        **_scored(blocks, of_blocks),
    }
    row_ptr = blocks.row_ptr[rows.start : rows.stop + 1] - of_blocks.start
    for name, value in values.items():
        arrays[f"block_{name}"] = pa.LargeListArray.from_arrays(row_ptr, value)
    metadata = {
        "generation": str(columns.generation),
        "embedding_fingerprint": columns.fingerprint,
        "embedding_dim": str(columns.dim),
    }
    if columns.centres is not None:
        metadata["embedding_centred"] = "true"
    alive = columns.alive.as_bools(columns.n)[rows]
    return pa.table(arrays, metadata=metadata).filter(pa.array(alive))


def _scored(columns: Columns | BlockColumns, rows: slice) -> dict[str, pa.Array]:
    """Return the columns by which texts are scored, be they rows or blocks."""
    embedded = columns.embedded.as_bools(columns.n)[rows]
    at = np.arange(rows.start, rows.stop)
    arrays: dict[str, pa.Array] = {
        "length": pa.array(columns.lengths[rows]),
        "code": _fixed_lists(columns.codes[rows], embedded),
        "sign_bits": _fixed_lists(columns.signs[at // 8, :, at % 8], embedded),
    }
    for size, index in columns.gram_index.items():
        grams = _grams(index, columns.gram_tail[size], rows)
        # 64-bit offsets: a large store has more than 2**31 grams.
        arrays[f"gram{size}_keys"] = pa.LargeListArray.from_arrays(grams.row_ptr, grams.keys)
        arrays[f"gram{size}_counts"] = pa.LargeListArray.from_arrays(grams.row_ptr, grams.counts)
    return arrays


def _grams(index: GramIndex, tail: GramRows, rows: slice) -> GramRows:
    """Return the grams of some rows, of which the first may be indexed and the others not."""
    indexed = grams_between(index, min(rows.start, index.n), min(rows.stop, index.n))
    behind = np.arange(max(rows.start - index.n, 0), max(rows.stop - index.n, 0))
    return join_grams(indexed, take_grams(tail, behind))


def _fixed_lists(values: np.ndarray, present: np.ndarray) -> pa.Array:
    width = values.shape[1]
    if not width:
        return pa.nulls(values.shape[0], pa.list_(pa.from_numpy_dtype(values.dtype)))
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, width, mask=pa.array(~present))
