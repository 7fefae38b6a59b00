"""Quoting the rows of one recall where they match its query."""

from __future__ import annotations

import numpy as np

from cpersona_jit.columns.snapshot import Columns


class Quoter:
    """Quotes rows of one recall.

    Parameters
    ----------
    columns : Columns
        The snapshot that was recalled from.
    query : str
        The query's text.
    query_vector : ndarray of float32, shape (dim,), or None
        Its embedding as it was compared with the rows; None without one.
    """

    def __init__(self, columns: Columns, query: str, query_vector: np.ndarray | None) -> None:
        self._columns, self._query, self._vector = columns, query, query_vector
