"""Read a benchmark kept as Parquet columns: corpus, queries and qrels in one folder.

``corpus.parquet`` (doc_id, text, timestamp, session_id, speaker, scope_id), ``queries.parquet``
(query_id, text, timestamp, scope_id, task, answer), ``qrels.parquet`` (query_id, doc_id, score).
A folder may also hold ``corpus_session.parquet`` and ``qrels_session.parquet``: the same
benchmark with one row per session. Further columns are ignored.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from harness.datasets.base import Dataset, DatasetError, DatasetQuery, DatasetRow
from harness.datasets.build import build_dataset
from harness.datasets.checks import Places, numbered

_NULLABLE = frozenset({"timestamp", "session_id", "speaker", "answer"})
_ROW_COLUMNS = DatasetRow._fields[:-1]
_QUERY_COLUMNS = DatasetQuery._fields


def load_columnar(
    folder: Path | str, *, name: str | None = None, by_session: bool = False
) -> Dataset:
    """Load a folder of Parquet files.

    Parameters
    ----------
    folder : Path or str
        Holds the Parquet files.
    name : str, optional
        Default: the name of the folder, with ``_session`` appended when by session.
    by_session : bool
        Read ``corpus_session`` and ``qrels_session`` instead of the turns.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        A file is missing, is not Parquet, lacks a column, has one of another type or a missing
        value, or the records contradict each other.
    """
    folder = Path(folder)
    suffix = "_session" if by_session else ""
    corpus = folder / f"corpus{suffix}.parquet"
    queries = folder / "queries.parquet"
    qrels = folder / f"qrels{suffix}.parquet"
    rows = list(map(DatasetRow, *_columns(corpus, _ROW_COLUMNS)))
    return build_dataset(
        name or folder.name + suffix,
        rows,
        list(map(DatasetQuery, *_columns(queries, _QUERY_COLUMNS))),
        list(zip(*_columns(qrels, ("query_id", "doc_id", "score")), strict=True)),
        places=Places(numbered(str(corpus)), numbered(str(queries)), numbered(str(qrels))),
    )


def _columns(path: Path, names: tuple[str, ...]) -> list[list]:
    """Columns of a Parquet file as Python lists, each checked for type and missing values."""
    if not path.is_file():
        raise DatasetError(f"{path}: there is no such file")
    try:
        present = pq.read_schema(path).names
        missing = [name for name in names if name not in present]
        if missing:
            raise DatasetError(
                f"{path}: column {missing[0]!r} is missing; it has {', '.join(present)}"
            )
        table = pq.read_table(path, columns=list(names))
        return [_column(path, name, table[name]) for name in names]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise DatasetError(f"{path}: cannot be read as Parquet: {first_line}") from error


def _column(path: Path, name: str, values: pa.ChunkedArray) -> list:
    kind = values.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if name == "score":
        fits, wanted = pa.types.is_integer(kind), "whole numbers"
    else:
        fits, wanted = _is_text(kind, name), "text"
    if not fits:
        raise DatasetError(f"{path}: column {name!r} holds {kind}, {wanted} expected")
    if values.null_count and name not in _NULLABLE:
        row = values.is_null().index(True).as_py()
        raise DatasetError(f"{path}, row {row}: {name} is missing")
    return values.to_pylist()


def _is_text(kind: pa.DataType, name: str) -> bool:
    if pa.types.is_null(kind):
        return name in _NULLABLE
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )
