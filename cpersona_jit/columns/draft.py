"""A snapshot in the making: what an older one holds, less what is gone, and what came since."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cpersona_jit.columns.arrays import arrays_of, block_array, buffers_of, code_array, put_together
from cpersona_jit.columns.buffers import put_signs
from cpersona_jit.columns.lengths import length_factor
from cpersona_jit.columns.masks import Mask, no_rows
from cpersona_jit.columns.neighbours import Sessions, changed_sessions, ordered_sessions
from cpersona_jit.columns.postings import GramKernels, joined_index
from cpersona_jit.columns.rows import Rows
from cpersona_jit.columns.snapshot import BlockColumns, Columns, GramRows
from cpersona_jit.columns.texts import Texts, join_grams, no_grams, take_spans
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.quantize import sign_words
from cpersona_jit.text.grams import GRAM_SIZES

_NO_ROWS = np.zeros(0, np.int64)
_SESSION_ARRAYS = ("before", "after", "session_key")


class Draft:
    """Rows are taken out and put behind the others; `finish` gives the snapshot.

    Parameters
    ----------
    start : Columns
        The older snapshot. It stays as it is.
    kernels : GramKernels
        The kernel set in use.
    capacity : int
        Places that arrays of rows get at least.
    """

    def __init__(self, start: Columns, kernels: GramKernels, capacity: int = 0) -> None:
        self._start = start
        self._kernels = kernels
        self._capacity = capacity
        self._buffers = buffers_of(start)
        self._arrays = arrays_of(start)
        self._gone = [_NO_ROWS]
        self._rows = _Scored(start.gram_index, start.gram_tail)
        self._blocks = _Scored(start.blocks.gram_index, start.blocks.gram_tail)

    @property
    def _n(self) -> int:
        return self._arrays["ids"].size

    def remove(self, ids: np.ndarray) -> None:
        """Take out the rows of some memories; ids that are not there are none of its business."""
        if ids.size and ids.min() <= self._start.newest_id:
            rows = self._start.positions(ids)
            self._gone.append(rows[rows >= 0])

    def append(self, rows: Rows) -> None:
        """Put rows behind the others; what was there of these memories is gone."""
        self.remove(rows.ids)
        at, owners = self._n, np.diff(rows.blocks.row_ptr)
        for name, codes in self._coded(rows.strings).items():
            self._put(name, at, codes)
        self._put("block_count", at, np.maximum(owners, 1).astype(np.int32))
        for name in ("event_time", "created_at", "text_length", "is_question"):
            self._put(name, at, getattr(rows, name))
        self._rows.embedded.append(at + np.flatnonzero(rows.texts.embedded))
        self._put_texts("{}", at, rows.texts, self._capacity)
        first = self._arrays[block_array("row")].size
        self._put(block_array("row"), first, np.repeat(at + np.arange(owners.size), owners), 0)
        self._put(block_array("row_ptr"), at + 1, first + rows.blocks.row_ptr[1:])
        self._put(block_array("start"), first, rows.blocks.start, 0)
        self._put(block_array("end"), first, rows.blocks.end, 0)
        self._blocks.embedded.append(first + np.flatnonzero(rows.blocks.texts.embedded))
        self._put_texts(block_array("{}"), first, rows.blocks.texts, 0)
        self._put("ids", at, rows.ids)
        self._rows.add(rows.texts.grams)
        self._blocks.add(rows.blocks.texts.grams)

    def fold(self) -> None:
        """Bring the grams of all rows so far into the indexes: what is held row by row is large."""
        self._rows.fold(self._kernels)
        self._blocks.fold(self._kernels)

    def finish(self, generation: int, unsplit: np.ndarray) -> Columns:
        """Return the snapshot.

        Parameters
        ----------
        generation : int
            The store's generation that it shows.
        unsplit : ndarray of int64
            Ids of all rows that wait to be split.
        """
        start, n, nb = self._start, self._n, self._arrays[block_array("row")].size
        gone = np.concatenate(self._gone)
        new = np.arange(start.n, n)
        alive = start.alive.edited(n, gone, new)
        embedded = start.embedded.edited(n, gone, np.concatenate(self._rows.embedded))
        _, blocks_gone = take_spans(start.blocks.row_ptr, gone)
        of_blocks = np.concatenate(self._blocks.embedded)
        blocks_embedded = start.blocks.embedded.edited(nb, blocks_gone, of_blocks)
        # From here on the buffers are no longer those of the older snapshot, even if this fails.
        self._buffers.rows = self._buffers.blocks = -1
        self._put_sessions(np.concatenate((gone, new)), alive)
        self._buffers.rows, self._buffers.blocks = n, nb
        parts = {
            "generation": generation,
            "tables": start.tables,
            "fingerprint": start.fingerprint,
            "dim": start.dim,
            "centres": start.centres,
            "alive": alive,
            "embedded": embedded,
            "unsplit": no_rows(n),
            "_buffers": self._buffers,
            "_factors": self._factors(start, "{}"),
            **self._rows.grams(),
        }
        factors = self._factors(start.blocks, block_array("{}"))
        block_parts = {"embedded": blocks_embedded, "_factors": factors, **self._blocks.grams()}
        columns = put_together(self._arrays, parts, block_parts)
        return with_unsplit(columns, unsplit)

    def _factors(self, start: Columns | BlockColumns, name: str) -> dict[float, np.ndarray]:
        """Length factors that the older snapshot was asked for, those of the new rows with them."""
        lengths, known = self._arrays[name.format("lengths")][start.n :], start._factors.items()
        return {
            exponent: np.concatenate((factor, length_factor(lengths, exponent)))
            for exponent, factor in list(known)
        }

    def _put(self, name: str, at: int, values: np.ndarray, capacity: int | None = None) -> None:
        places = self._capacity if capacity is None else capacity
        self._arrays[name] = self._buffers.put(name, at, values, places)

    def _put_texts(self, name: str, at: int, texts: Texts, capacity: int) -> None:
        self._put(name.format("lengths"), at, texts.lengths, capacity)
        self._put(name.format("codes"), at, texts.codes, capacity)
        signs = name.format("signs")
        words = sign_words(texts.codes)
        self._arrays[signs] = put_signs(self._buffers, signs, at, words, capacity)

    def _coded(self, strings: dict[str, list[str]]) -> dict[str, np.ndarray]:
        coded = {}
        for name, values in strings.items():
            table = self._start.tables[name]  # shared: names are added, and never change
            codes = (table.setdefault(value, len(table)) for value in values)
            coded[code_array(name)] = np.fromiter(codes, np.int32, len(values))
        return coded

    def _put_sessions(self, touched: np.ndarray, alive: Mask) -> None:
        start, ids, tables = self._start, self._arrays["ids"], self._start.tables
        codes = {name: self._arrays[code_array(name)] for name in start.codes_by_name}
        known = Sessions(*(getattr(start, name) for name in _SESSION_ARRAYS))
        changed = changed_sessions(known, codes, tables, ids, alive, touched)
        if changed is None:
            every = ordered_sessions(codes, tables, ids, alive)
            for name, values in zip(_SESSION_ARRAYS, every, strict=True):
                self._arrays[name] = self._buffers.replace(name, values)
            return
        rows, sessions = changed
        for name, old, values in zip(_SESSION_ARRAYS, known, sessions, strict=True):
            self._arrays[name] = self._buffers.edit(name, old, self._n, rows, values)


class _Scored:
    """What a draft holds of texts, be they rows or blocks."""

    def __init__(self, index: dict[int, GramIndex], tail: dict[int, GramRows]) -> None:
        self.embedded = [_NO_ROWS]
        self._index = dict(index)
        self._tail = dict(tail)

    def add(self, grams: dict[int, GramRows]) -> None:
        for size in GRAM_SIZES:
            self._tail[size] = join_grams(self._tail[size], grams[size])

    def fold(self, kernels: GramKernels) -> None:
        for size in GRAM_SIZES:
            if self._tail[size].row_ptr.size > 1:
                self._index[size] = joined_index(self._index[size], self._tail[size], None, kernels)
                self._tail[size] = no_grams()

    def grams(self) -> dict[str, dict]:
        return {"gram_index": self._index, "gram_tail": self._tail}


def with_unsplit(columns: Columns, ids: np.ndarray) -> Columns:
    """Return a snapshot with the rows that wait to be split; ids that are not in it are skipped."""
    rows = columns.positions(ids) if ids.size else _NO_ROWS
    waiting = no_rows(columns.n).edited(columns.n, _NO_ROWS, rows[rows >= 0])
    return replace(columns, unsplit=waiting)
