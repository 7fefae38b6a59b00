"""The columnar snapshot of a store: one array per property, one position per memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cpersona_jit.columns.buffers import Buffers
from cpersona_jit.columns.centre import Centre
from cpersona_jit.columns.event_times import UNDATED, EventTimes
from cpersona_jit.columns.lengths import length_factor, median_of
from cpersona_jit.columns.masks import Mask, mask_of
from cpersona_jit.columns.parted import PartedRows, parted_rows
from cpersona_jit.isolation import Axes, code_predicate
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.row_mask import has_rows

__all__ = ["UNDATED", "BlockColumns", "Columns", "GramRows", "Mask", "ScopeStatistics", "mask_of"]

_MASKS_KEPT = 64


class GramRows(NamedTuple):
    """The grams of each row before they are inverted; row r owns ``row_ptr[r]:row_ptr[r + 1]``."""

    row_ptr: np.ndarray  # int64 (n + 1,)
    keys: np.ndarray  # uint64, sorted and distinct inside a row
    counts: np.ndarray  # uint8, term frequency clipped at 3


class ScopeStatistics(NamedTuple):
    """What the rows of some axes are like, as far as structure needs to know."""

    alternation: float  # share of adjacent rows of a session with different speakers
    median_length: float  # characters


@dataclass(frozen=True)
class BlockColumns:
    """The blocks of the rows that have two or more; any other row is its own one block.

    Blocks lie by row and position in it; ``nb`` of them in all.

    Attributes
    ----------
    row : ndarray of int64, shape (nb,)
        The row that each block is a part of, ascending.
    row_ptr : ndarray of int64, shape (n + 1,)
        Row r owns the blocks ``row_ptr[r]:row_ptr[r + 1]``, none when it is its own one block.
    start, end : ndarray of int32, shape (nb,)
        Range of the block in the row's stored content, in code points.
    lengths : ndarray of int32, shape (nb,)
        Code points of the normalised text, which begins with the speaker like a row's.
    codes, signs, embedded, gram_index, gram_tail
        As in :class:`Columns`, for the blocks.
    """

    row: np.ndarray
    row_ptr: np.ndarray
    start: np.ndarray
    end: np.ndarray
    lengths: np.ndarray
    codes: np.ndarray
    signs: np.ndarray
    embedded: Mask
    gram_index: dict[int, GramIndex]
    gram_tail: dict[int, GramRows]
    _factors: dict[float, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Number of blocks."""
        return self.row.size

    @cached_property
    def parted(self) -> PartedRows:
        """The rows that have blocks."""
        return parted_rows(self.row_ptr[1:] > self.row_ptr[:-1], self.row_ptr)

    def length_factor(self, exponent: float) -> np.ndarray:
        """Return the factor of each block's length, as for rows: uint16, shape (nb,)."""
        return _length_factor(self._factors, self.lengths, exponent)


@dataclass(frozen=True)
class Columns:
    """Everything recall needs to know about the rows of a store, as arrays.

    Row ``r`` of every array is the memory ``ids[r]``. Rows ascend by the generation that wrote them
    last, then by memory id: a row that is changed gets a new place at the end, and its old place is
    *gone* like that of a deleted row, until the places are made anew. A snapshot never changes: a
    store that changed gives a new snapshot, which shares with this one what stayed as it was.

    Attributes
    ----------
    generation : int
        The store's write generation that this snapshot shows.
    ids, event_time, created_at : ndarray of int64, shape (n,)
        Memory ids; event and creation time in UTC microseconds, ``UNDATED`` without an event time.
    codes_by_name : dict of str to ndarray of int32, shape (n,)
        Codes of ``agent_id``, ``project_id``, ``channel``, ``session_id``, ``source_type``
        (the speaker's role), ``source_id`` and ``source_name`` (the speaker).
    tables : dict of str to dict of str to int
        The code of each string of those columns. Snapshots share a table, so that it may hold names
        that occur in no row of this one.
    lengths : ndarray of int32, shape (n,)
        Code points of the normalised text.
    codes : ndarray of int8, shape (n, width)
        Quantised embeddings, zero where the row has none of the active model. Width 0 without one.
    signs : ndarray of uint64, shape (ceil(n / 8), width / 64, 8)
        Sign bits in blocks of eight rows.
    embedded : Mask
        Rows that have a vector of the active model.
    gram_index : dict of int to GramIndex
        Grams of each size, inverted, of the first ``gram_index[size].n`` rows, gone ones as well.
    gram_tail : dict of int to GramRows
        Grams of the rows behind those, row by row.
    text_length : ndarray of int32, shape (n,)
        Code points of the stored content.
    is_question : ndarray of bool, shape (n,)
        Whether the content ends by asking something.
    before, after : ndarray of int64, shape (n,)
        The previous and the next row of the same session, agent, project and channel; -1 without.
    session_key : ndarray of int64, shape (n,)
        Number of each row's session; -1 without one. Sessions of one name in two agents, projects
        or channels have two numbers.
    block_count : ndarray of int32, shape (n,)
        Blocks of the row, at least 1.
    blocks : BlockColumns
        The blocks of the rows that have two or more.
    unsplit : Mask
        Rows that the splitter has not seen; they count as one block, or as their older blocks.
    alive : Mask
        Rows that are not gone. No mask admits another one.
    fingerprint : str
        Fingerprint of the embedding model whose vectors the codes hold; empty without one.
    dim : int
        Dimension of that model before padding; 0 without one.
    centres : dict of str to Centre, or None
        From where the codes of each agent are seen; None when the model's vectors are not centred.
    """

    generation: int
    ids: np.ndarray
    event_time: np.ndarray
    created_at: np.ndarray
    codes_by_name: dict[str, np.ndarray]
    tables: dict[str, dict[str, int]]
    lengths: np.ndarray
    codes: np.ndarray
    signs: np.ndarray
    embedded: Mask
    gram_index: dict[int, GramIndex]
    gram_tail: dict[int, GramRows]
    text_length: np.ndarray
    is_question: np.ndarray
    before: np.ndarray
    after: np.ndarray
    session_key: np.ndarray
    block_count: np.ndarray
    blocks: BlockColumns
    unsplit: Mask
    alive: Mask
    fingerprint: str
    dim: int
    centres: dict[str, Centre] | None = None
    _buffers: Buffers | None = field(default=None, repr=False)
    _masks: OrderedDict[tuple, Mask] = field(default_factory=OrderedDict, repr=False)
    _block_masks: OrderedDict[tuple, Mask] = field(default_factory=OrderedDict, repr=False)
    _factors: dict[float, np.ndarray] = field(default_factory=dict, repr=False)
    _samples: dict[int, OrderedDict] = field(default_factory=dict, repr=False)
    _scopes: OrderedDict[tuple, ScopeStatistics] = field(default_factory=OrderedDict, repr=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.ids.size

    def ln_blocks(self, rows: np.ndarray) -> np.ndarray:
        """Return ``round(4096 ln m)`` of the m blocks of each of `rows`, int64."""
        return np.rint(4096.0 * np.log(self.block_count[rows])).astype(np.int64)

    @cached_property
    def ln_parted(self) -> np.ndarray:
        """`ln_blocks` of the rows that have blocks."""
        return self.ln_blocks(self.blocks.parted.rows)

    @cached_property
    def blocks_without_vector(self) -> Mask:
        """Blocks that lack a vector though their row has one."""
        whole = self.embedded.as_bools(self.n)[self.blocks.row]
        return mask_of(whole & ~self.blocks.embedded.as_bools(self.blocks.n))

    @cached_property
    def times(self) -> EventTimes:
        """The event times, for finding the rows of a period."""
        return EventTimes(self.event_time)

    def tie_order(self, rows: np.ndarray) -> np.ndarray:
        """Return the order, places in `rows`, that breaks ties of a score.

        Event time descending, undated rows last, memory id ascending.
        """
        times, ids = self.event_time[rows], self.ids[rows]
        # UNDATED is the smallest int64, whose negation overflows back to itself: set it apart.
        undated = times == UNDATED
        return np.lexsort((ids, np.where(undated, 0, -times), undated))

    @cached_property
    def gone_rows(self) -> np.ndarray:
        """The rows that are gone, int64, ascending."""
        if self.alive.count == self.n:
            return np.zeros(0, np.int64)
        return np.flatnonzero(~self.alive.as_bools(self.n))

    def scope_statistics(self, axes: Axes) -> ScopeStatistics:
        """Return what the rows that `axes` admits are like; remembered for the last few axes."""
        return _remembered(self._scopes, axes, lambda: self._measured(axes))

    def _measured(self, axes: Axes) -> ScopeStatistics:
        admitted = self.mask(axes).as_bools(self.n)
        if not admitted.any():
            return ScopeStatistics(0.0, 0.0)
        later = np.flatnonzero(admitted & (self.before >= 0))
        later = later[admitted[self.before[later]]]
        speaker = self.codes_by_name["source_name"]
        changes = speaker[later] != speaker[self.before[later]]
        alternation = float(changes.mean()) if later.size else 0.0
        return ScopeStatistics(alternation, median_of(self.text_length[admitted]))

    def mask(self, axes: Axes) -> Mask:
        """Return the rows that `axes` admits; remembered for the last few axes."""
        return _remembered(self._masks, axes, lambda: mask_of(self._admitted(axes)))

    def _admitted(self, axes: Axes) -> np.ndarray:
        agent, project, channel = (
            self.codes_by_name[name] for name in ("agent_id", "project_id", "channel")
        )
        admitted = code_predicate(axes, agent, project, channel, self.tables)
        return admitted if self.alive.count == self.n else admitted & self.alive.as_bools(self.n)

    def block_mask(self, axes: Axes) -> Mask:
        """Return the blocks of the rows that `axes` admits; remembered likewise."""
        return _remembered(
            self._block_masks,
            axes,
            lambda: mask_of(self.mask(axes).as_bools(self.n)[self.blocks.row]),
        )

    def remembered_sample(self, axes: Axes, size: int, make: Callable[[], Any]) -> Any:
        """Return what `make` gave for a sample of the rows of `axes`; remembered likewise."""
        return _remembered(self._samples.setdefault(size, OrderedDict()), axes, make)

    def length_factor(self, exponent: float) -> np.ndarray:
        """Return ``65535 * length ** -exponent`` as uint16, shape (n,), at least 1.

        Being free of the scope's mean length, a row's factor never changes when others come or go.
        """
        return _length_factor(self._factors, self.lengths, exponent)

    def positions(self, ids: np.ndarray) -> np.ndarray:
        """Return the rows of memory `ids`, int64; -1 for those not in the snapshot."""
        if not self.n:
            return np.full(len(ids), -1, np.int64)
        order, ascending = self._by_id
        # Of the places of one id the last is its own; the others are gone.
        at = np.maximum(np.searchsorted(ascending, ids, side="right") - 1, 0)
        rows = order[at]
        return np.where((ascending[at] == ids) & has_rows(self.alive.words, rows), rows, -1)

    @cached_property
    def _by_id(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows by ascending id, and those ids."""
        order = np.argsort(self.ids, kind="stable")
        return order, self.ids[order]

    @cached_property
    def newest_id(self) -> int:
        """The highest id of any row, gone or not; 0 without rows. Later rows have higher ones."""
        return int(self.ids.max(initial=0))


def _remembered(known: OrderedDict, axes: Axes, make: Callable[[], Any]) -> Any:
    """Return what is known of some axes, made on first use; the last few are kept."""
    key = (axes.agent_id, axes.project_id, axes.channel)
    found = known.get(key)
    if found is None:
        found = known[key] = make()
        while len(known) > _MASKS_KEPT:
            known.popitem(last=False)
    return found


def _length_factor(
    known: dict[float, np.ndarray], lengths: np.ndarray, exponent: float
) -> np.ndarray:
    found = known.get(exponent)
    if found is None:
        found = known[exponent] = length_factor(lengths, exponent)
    return found
