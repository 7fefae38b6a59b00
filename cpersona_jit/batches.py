"""What a caller hands over in bulk: the size of batches, the records, and their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from cpersona_jit.errors import UsageError
from cpersona_jit.records import Record

MAX_BATCH_SIZE = 1_000_000


def check_batch_size(size: int) -> None:
    """Raise UsageError unless `size` is a number of rows that may be committed together."""
    whole = isinstance(size, int) and not isinstance(size, bool)
    if not whole or not 1 <= size <= MAX_BATCH_SIZE:
        raise UsageError(
            f"batch_size is {size!r}; allowed: a whole number from 1 to {MAX_BATCH_SIZE}"
        )


def check_records(batch: list[Record], start: int) -> None:
    """Raise UsageError for what is no Record; `start` is the number of the batch's first."""
    for position, record in enumerate(batch, start):
        if not isinstance(record, Record):
            kind = type(record).__name__
            raise UsageError(f"records[{position}] is a {kind}; allowed: cpersona_jit.Record")


def checked_vectors(vectors: np.ndarray) -> np.ndarray:
    """Return the caller's vectors as float32, or say which of them is none."""
    try:
        array = np.asarray(vectors)
    except ValueError as error:
        raise UsageError("vectors has ragged rows; allowed: one row of numbers a record") from error
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise UsageError(
            f"vectors has shape {array.shape} of {array.dtype}; "
            "allowed: one row of numbers a record"
        )
    with np.errstate(over="ignore"):  # too large for float32 becomes inf, refused as not finite
        array = array.astype(np.float32, copy=False)
    squares = np.einsum("ij,ij->i", array, array, dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(squares) & (squares > 0)))
    if bad.size:
        raise UsageError(f"vectors[{bad[0]}] is zero or not finite")
    return array


def batches(records: Iterable[Record], size: int) -> Iterator[list[Record]]:
    """Yield lists of at most `size` records."""
    iterator = iter(records)
    while batch := list(islice(iterator, size)):
        yield batch
