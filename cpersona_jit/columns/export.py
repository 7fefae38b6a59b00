"""Writing the columns for other tools, as an Arrow IPC file or Parquet."""

from __future__ import annotations

import os
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from cpersona_jit.columns.compact import without_gone
from cpersona_jit.columns.export_target import whole_file
from cpersona_jit.columns.postings import NUMPY_GRAMS, grams_of_rows
from cpersona_jit.columns.snapshot import UNDATED, BlockColumns, Columns
from cpersona_jit.columns.texts import join_grams
from cpersona_jit.errors import UsageError
from cpersona_jit.records import format_ref

ExportFormat = Literal["arrow", "parquet"]


def export_columns(
    columns: Columns,
    path: str | os.PathLike[str],
    format: ExportFormat,
    *,
    store: str | os.PathLike[str],
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
    table = columns_table(columns)
    with whole_file(path, store) as temporary:
        if format == "arrow":
            feather.write_feather(table, temporary, compression="uncompressed")
        else:
            pq.write_table(table, temporary)
    return table.num_rows


def columns_table(columns: Columns) -> pa.Table:
    """Return the columns as an Arrow table.

    Parameters
    ----------
    columns : Columns
        The snapshot.

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
    if columns.alive.count < columns.n:
        columns = without_gone(columns, NUMPY_GRAMS)
    arrays: dict[str, pa.Array] = {
        "ref": pa.array([format_ref(i) for i in columns.ids.tolist()], pa.string()),
        "id": pa.array(columns.ids),
    }
    for name, codes in columns.codes_by_name.items():
        names = pa.array(list(columns.tables[name]), pa.string())
        arrays[name] = pa.DictionaryArray.from_arrays(pa.array(codes), names)
    utc = pa.timestamp("us", tz="UTC")
    dated = columns.event_time != UNDATED
    arrays["event_time"] = pa.array(columns.event_time, mask=~dated).cast(utc)
    arrays["created_at"] = pa.array(columns.created_at).cast(utc)
    arrays["text_length"] = pa.array(columns.text_length)
    arrays["is_question"] = pa.array(columns.is_question)
    arrays |= _scored(columns)
    blocks = columns.blocks
    of_blocks = {
        "start": pa.array(blocks.start),
        "end": pa.array(blocks.end),
        **_scored(blocks),
    }
    for name, values in of_blocks.items():
        arrays[f"block_{name}"] = pa.LargeListArray.from_arrays(blocks.row_ptr, values)
    metadata = {
        "generation": str(columns.generation),
        "embedding_fingerprint": columns.fingerprint,
        "embedding_dim": str(columns.dim),
    }
    if columns.centres is not None:
        metadata["embedding_centred"] = "true"
    return pa.table(arrays, metadata=metadata)


def _scored(columns: Columns | BlockColumns) -> dict[str, pa.Array]:
    """Return the columns by which texts are scored, be they rows or blocks."""
    embedded = columns.embedded.as_bools(columns.n)
    arrays: dict[str, pa.Array] = {
        "length": pa.array(columns.lengths),
        "code": _fixed_lists(columns.codes, embedded),
        "sign_bits": _fixed_lists(_sign_words(columns), embedded),
    }
    for size, index in columns.gram_index.items():
        rows = join_grams(grams_of_rows(index), columns.gram_tail[size])
        # 64-bit offsets: a large store has more than 2**31 grams.
        arrays[f"gram{size}_keys"] = pa.LargeListArray.from_arrays(rows.row_ptr, rows.keys)
        arrays[f"gram{size}_counts"] = pa.LargeListArray.from_arrays(rows.row_ptr, rows.counts)
    return arrays


def _sign_words(columns: Columns | BlockColumns) -> np.ndarray:
    blocks, width, lanes = columns.signs.shape
    return columns.signs.transpose(0, 2, 1).reshape(blocks * lanes, width)[: columns.n]


def _fixed_lists(values: np.ndarray, present: np.ndarray) -> pa.Array:
    width = values.shape[1]
    if not width:
        return pa.nulls(values.shape[0], pa.list_(pa.from_numpy_dtype(values.dtype)))
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, width, mask=pa.array(~present))
