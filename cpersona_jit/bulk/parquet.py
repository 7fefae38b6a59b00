"""Reading Parquet: some thousand rows at a time, whatever the size of the row groups.

What a column holds is known before the first row, so a column that cannot be one of a memory's
fields is an error of the whole file and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cpersona_jit.bulk.columns import check_columns, read_column
from cpersona_jit.bulk.fields import Item, Unreadable, read_record
from cpersona_jit.bulk.vectors import GivenVectors
from cpersona_jit.errors import ImportFileError, shown

# Rows decoded at a time, and the part of a column chunk that is read at a time: a row group may
# hold a million rows, 2 GB of vectors.
_ROWS = 2048
_BUFFER = 2**20
FINGERPRINT_KEY = b"embedding_fingerprint"


class ParquetRows:
    """The records of a Parquet file.

    Parameters
    ----------
    stream : binary file
        That can be sought in.
    vectors : GivenVectors
        Checks the column ``embedding``.
    defaults : mapping
        See :func:`cpersona_jit.bulk.fields.read_record`.
    ignored : collection of str
        Columns to leave out.
    start : int
        Rows to leave out: an `end` of an earlier run.

    Attributes
    ----------
    number : int
        Rows read so far.
    total : int
        Rows of the file.

    Raises
    ------
    UsageError
        A column is missing, unknown or of a type that cannot be read.
    ImportFileError
        No Parquet file, or a damaged one.
    """

    def __init__(
        self,
        stream: BinaryIO,
        vectors: GivenVectors,
        defaults: Mapping[str, str],
        ignored: Collection[str] = (),
        start: int = 0,
    ) -> None:
        with _arrow_errors():
            self._file = pq.ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False)
            schema = self._file.schema_arrow
        self.total = self._file.metadata.num_rows
        self._names = [name for name in schema.names if name not in ignored]
        check_columns(schema, self._names)
        self._vectors, self._defaults = vectors, defaults
        self.number = start
        named = (schema.metadata or {}).get(FINGERPRINT_KEY, b"")
        vectors.declare(named.decode("utf-8", "replace"))

    def __iter__(self) -> Iterator[Item]:
        """Yield an item per row."""
        for batch in self._batches():
            yield from self._items(batch)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows behind the start; row groups before it are not read at all."""
        skip, groups = self.number, self._file.metadata.num_row_groups
        first = 0
        while first < groups and skip >= self._file.metadata.row_group(first).num_rows:
            skip -= self._file.metadata.row_group(first).num_rows
            first += 1
        with _arrow_errors():
            for batch in self._file.iter_batches(
                _ROWS, row_groups=range(first, groups), columns=self._names, use_threads=False
            ):
                if skip >= batch.num_rows:
                    skip -= batch.num_rows
                    continue
                yield batch.slice(skip)
                skip = 0

    def _items(self, batch: pa.RecordBatch) -> Iterator[Item]:
        columns = {name: read_column(name, batch.column(name)) for name in self._names}
        for at in range(batch.num_rows):
            fields = {}
            unreadable = None
            for name, values in columns.items():
                value = values[at]
                if type(value) is Unreadable:
                    unreadable = unreadable or value
                elif value is not None:
                    fields[name] = value
            self.number = number = self.number + 1
            if unreadable is not None:
                yield Item(number, number, unreadable)
                continue
            yield read_record(number, number, fields, self._defaults, self._vector)

    def _vector(self, vector: np.ndarray, model: Any) -> np.ndarray | Unreadable:
        refused = self._vectors.refused_model(model) or self._vectors.refused_length(len(vector))
        return refused or vector


@contextmanager
def _arrow_errors() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ImportFileError(f"the Parquet file cannot be read ({shown(error)})") from error
