"""Writing the memories themselves to a file that `import` reads again, some thousand at a time.

The vectors of rows go along, with the fingerprint of their model, and the texts that rows had
before. The vectors of blocks and nodes do not: after an import, `reembed` makes them. What a store
gives by itself is given anew: references, and when a row was stored.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from cpersona_jit.columns.export_target import whole_file
from cpersona_jit.errors import CorruptStoreError, ExportError, UsageError
from cpersona_jit.records import OldText, format_ref, format_utc
from cpersona_jit.store.memory_reads import WholeRow
from cpersona_jit.store.stored_values import stored_keywords

MemoryFormat = Literal["jsonl", "parquet"]
ROWS_AT_ONCE = 2048

_TEXTS = WholeRow._fields[1 : WholeRow._fields.index("end") + 1]


def export_memories(
    read: Callable[[int, int], list[WholeRow]],
    models: Mapping[int, str],
    path: str | os.PathLike[str],
    format: MemoryFormat,
    *,
    store: str | os.PathLike[str],
    vectors: bool = True,
) -> int:
    """Write every memory; the file appears whole or not at all, for its owner only.

    Parameters
    ----------
    read : callable
        ``read(behind, count)`` returns rows by ascending id.
    models : mapping
        Fingerprints by the store's numbers of models; of all that the rows read so far have.
    path : str or path
        File to write. An existing regular file is replaced.
    format : {"jsonl", "parquet"}
        JSON Lines or Parquet.
    store : str or path
        The store that is read: none of its files is ever replaced.
    vectors : bool
        False leaves them out.

    Returns
    -------
    int
        Memories written.

    Raises
    ------
    UsageError
        Unknown format, or no such file can be written.
    ExportError
        Writing failed; an older file is as it was.
    """
    if format not in get_args(MemoryFormat):
        raise UsageError(f"format is {format!r}; allowed: {', '.join(get_args(MemoryFormat))}")
    write = _write_jsonl if format == "jsonl" else _write_parquet
    with whole_file(path, store) as temporary:
        return write(_pages(read), models if vectors else None, temporary)


def _pages(read: Callable[[int, int], list[WholeRow]]) -> Iterator[list[WholeRow]]:
    page = read(0, ROWS_AT_ONCE)
    while page:
        yield page
        page = read(page[-1].id, ROWS_AT_ONCE)


def _write_jsonl(
    pages: Iterator[list[WholeRow]], models: Mapping[int, str] | None, file: str
) -> int:
    written = 0
    with Path(file).open("w", encoding="utf-8", newline="\n") as out:
        for page in pages:
            for row in page:
                line = json.dumps(_fields(row, models), ensure_ascii=False, separators=(",", ":"))
                out.write(line + "\n")
            written += len(page)
    return written


def _fields(row: WholeRow, models: Mapping[int, str] | None) -> dict[str, Any]:
    fields: dict[str, Any] = {name: text for name in _TEXTS if (text := getattr(row, name))}
    fields["metadata"] = json.loads(row.metadata) if row.metadata != "{}" else None
    fields["kind"] = "episode" if row.end else None
    fields["keywords"] = _keywords(row) or None
    fields["history"] = _history(row) or None
    if row.embedding is not None and models is not None:
        fields["embedding"] = base64.b64encode(row.embedding).decode("ascii")
        fields["embedding_model"] = _model(row, models)
    return {name: value for name, value in fields.items() if value is not None}


def _keywords(row: WholeRow) -> tuple[str, ...]:
    return stored_keywords(row.id, row.keywords)


def _history(row: WholeRow) -> list[dict[str, str]]:
    """Return the old texts of a row, oldest first."""
    return [
        {
            "content": old.content,
            "written_at": format_utc(old.written_at),
            "superseded_at": format_utc(old.superseded_at),
        }
        for old in row.history
    ]


def _model(row: WholeRow, models: Mapping[int, str]) -> str:
    if row.model_id not in models:
        raise CorruptStoreError(f"{format_ref(row.id)}: its model is none that the store knows")
    return models[row.model_id]


def _write_parquet(
    pages: Iterator[list[WholeRow]], models: Mapping[int, str] | None, file: str
) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ExportError(
            f"writing Parquet needs pyarrow ({error}); pip install pyarrow"
        ) from error
    texts = _TEXTS if models is None else (*_TEXTS, "embedding_model")
    fields = [pa.field(name, pa.string()) for name in (*texts, "kind")]
    old_text = pa.struct([(name, pa.string()) for name in OldText.__dataclass_fields__])
    lists = {"keywords": pa.list_(pa.string()), "history": pa.list_(old_text)}
    fields += [pa.field(name, kind) for name, kind in lists.items()]
    if models is not None:
        fields.append(pa.field("embedding", pa.list_(pa.float32())))
    schema = pa.schema(fields)
    # Vectors do not repeat: a dictionary of them would only be made and thrown away.
    repeating = [name for name in texts if name not in ("content", "msg_id", "timestamp")]
    written = 0
    with pq.ParquetWriter(file, schema, use_dictionary=repeating) as out:
        for page in pages:
            arrays = [
                pa.array([getattr(row, name) for row in page], pa.string()) for name in _TEXTS
            ]
            if models is not None:
                named = [None if r.embedding is None else _model(r, models) for r in page]
                arrays.append(pa.array(named, pa.string()))
            arrays += [
                pa.array(["episode" if row.end else None for row in page], pa.string()),
                pa.array([_keywords(row) or None for row in page], lists["keywords"]),
                pa.array([_history(row) or None for row in page], lists["history"]),
            ]
            if models is not None:
                arrays.append(_vectors(page))
            out.write_batch(pa.record_batch(arrays, schema=schema))
            written += len(page)
    return written


def _vectors(page: Sequence[WholeRow]) -> Any:
    """Return an Arrow list of float32 per row, null where there is none."""
    import pyarrow as pa

    sizes = [len(row.embedding or b"") // 4 for row in page]
    flat = np.frombuffer(b"".join(row.embedding or b"" for row in page), "<f4")
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    missing = pa.array([row.embedding is None for row in page])
    return pa.ListArray.from_arrays(pa.array(starts), pa.array(flat), mask=missing)
