"""Some rows of a scope, evenly spread, from which the moments of a large scope are taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.columns.texts import take_spans
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.row_mask import admitted_rows, has_rows, pack_mask


class Sample(NamedTuple):
    """The rows, s of them, and copies of their codes: read one after the other they cost little."""

    rows: np.ndarray  # int64 (s,), ascending
    codes: np.ndarray  # int8 (s, width)
    seen: np.ndarray  # uint64 (ceil(s / 64),), those that have a vector
    block_ptr: np.ndarray  # int64 (s + 1,), row i owns block_ptr[i]:block_ptr[i + 1] of the copies
    block_codes: np.ndarray  # int8 (sb, width)
    block_words: np.ndarray  # uint64 (ceil(sb / 64),), those that have a vector


def sample_of(columns: Columns, axes: Axes, size: int) -> Sample:
    """Return a sample of the rows that `axes` admits; remembered with the snapshot.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    axes : Axes
        Isolation.
    size : int
        Rows at most: those with the numbers ``i * admitted // size`` among the admitted ones.
    """
    return columns.remembered_sample(axes, size, lambda: _sample(columns, axes, size))


def _sample(columns: Columns, axes: Axes, size: int) -> Sample:
    rows = admitted_rows(columns.mask(axes).words)
    if rows.size > size:
        rows = rows[np.arange(size) * rows.size // size]
    blocks = columns.blocks
    ptr, places = take_spans(blocks.row_ptr, rows)
    return Sample(
        rows,
        columns.codes[rows],
        pack_mask(has_rows(columns.embedded.words, rows)),
        ptr,
        blocks.codes[places],
        pack_mask(has_rows(blocks.embedded.words, places)),
    )
