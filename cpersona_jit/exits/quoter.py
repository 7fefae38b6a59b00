"""Quoting the rows of one recall where they match its query."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.exits.block_rank import QueryCodes, QueryGrams, rank_blocks
from cpersona_jit.exits.quote import Quote, fill, joined, start_of, whole
from cpersona_jit.kernels.row_mask import has_rows
from cpersona_jit.records import parse_ref
from cpersona_jit.text.blocks import Range, split_blocks


class Quotable(Protocol):
    """What quoting needs of a stored row."""

    @property
    def ref(self) -> str:
        """Public reference."""

    @property
    def content(self) -> str:
        """The stored text."""

    @property
    def revision(self) -> int:
        """Generation of the transaction that wrote the row last."""


class Quoter:
    """Quotes rows of one recall; asks no model and changes nothing.

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

    def quote(self, row: Quotable, max_chars: int) -> Quote:
        """Quote a stored row.

        Parameters
        ----------
        row : Row or RecallRow
            As it was read. When it changed after the snapshot, or waits for the splitter, it is
            split again and its passages are chosen by shared words only.
        max_chars : int
            Longest quote in code points, joiners counted; nothing is quoted below 1.

        Returns
        -------
        Quote
        """
        return whole(row.content) if len(row.content) <= max_chars else self.excerpt(row, max_chars)

    def excerpt(self, row: Quotable, max_chars: int) -> Quote:
        """Quote the passages of a stored row, even if all of it would fit; else as `quote`."""
        place = self._place(row)
        if place < 0:
            return self._text_excerpt(row.content, max_chars)
        blocks = self._columns.blocks
        first, end = blocks.row_ptr[place : place + 2].tolist()
        if first == end:
            return start_of(row.content, max(max_chars, 0))
        ranges = list(
            zip(blocks.start[first:end].tolist(), blocks.end[first:end].tolist(), strict=True)
        )
        return self._best(row.content, ranges, max_chars, self._cosines(first, end))

    def quote_text(self, content: str, max_chars: int) -> Quote:
        """Quote a text that is in no snapshot, such as an older version of a row."""
        return (
            whole(content) if len(content) <= max_chars else self._text_excerpt(content, max_chars)
        )

    def _text_excerpt(self, content: str, max_chars: int) -> Quote:
        ranges = split_blocks(content)
        if len(ranges) < 2:
            return start_of(content, max(max_chars, 0))
        return self._best(content, ranges, max_chars, None)._replace(basis="lexical")

    def _best(
        self, content: str, ranges: list[Range], max_chars: int, cosines: list[float] | None
    ) -> Quote:
        if max_chars < 1:
            return Quote("", (), "blocks")
        order = rank_blocks(self._grams.evidence(content, ranges), cosines)
        passages = fill(content, [ranges[block] for block in order], max_chars)
        quote = joined(content, passages, "blocks", cosines is not None)
        return quote._replace(best=ranges[order[0]])

    def _place(self, row: Quotable) -> int:
        """Where the snapshot has this very text, split by the current rules; -1 when it has not."""
        columns, memory_id = self._columns, parse_ref(row.ref)
        if memory_id is None or row.revision > columns.generation:
            return -1
        place = int(columns.positions(np.array([memory_id], np.int64))[0])
        if place < 0 or int(columns.text_length[place]) != len(row.content):
            return -1
        unsplit = columns.unsplit
        return -1 if unsplit.count and has_rows(unsplit.words, np.array([place]))[0] else place

    def _cosines(self, first: int, end: int) -> list[float] | None:
        """Cosines of some blocks; None unless all of them have a vector.

        A block without codes has no sign bits either: nothing coarser can stand in.
        """
        blocks = self._columns.blocks
        embedded = blocks.embedded
        if self._codes is None or (
            embedded.count < blocks.n and not has_rows(embedded.words, np.arange(first, end)).all()
        ):
            return None
        return self._codes.cosines(blocks.codes[first:end])

    @cached_property
    def _grams(self) -> QueryGrams:
        return QueryGrams(self._query)

    @cached_property
    def _codes(self) -> QueryCodes | None:
        return None if self._vector is None else QueryCodes(self._vector)
