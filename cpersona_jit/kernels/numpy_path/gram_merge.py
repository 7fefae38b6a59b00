"""Two gram indexes made one with NumPy alone; same arrays as `cpersona_jit.kernels.gram_merge`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.kernels.gram_lists import LEVELS, GramIndex, empty_lists, key_slots
from cpersona_jit.kernels.numpy_path.gram_index import masked_document_frequency, set_bits
from cpersona_jit.kernels.row_mask import admitted_rows, pack_mask


class Part(NamedTuple):
    """One of the indexes that are merged."""

    index: GramIndex
    words: np.ndarray  # uint64, the rows of it that stay
    places: np.ndarray  # int64 (index.n,), the new number of each row, -1 for those that go
    kept: int

    @property
    def all_kept(self) -> bool:
        """Whether no row of it goes."""
        return self.kept == self.index.n


def merge_gram_index(
    base: GramIndex, added: GramIndex, keep: np.ndarray | None = None
) -> GramIndex:
    """Index of the rows of two indexes; see the kernel of the same name."""
    parts = kept_parts(base, added, keep)
    frequencies = [
        masked_document_frequency(part.index, np.arange(len(part.index.df)), part.words)
        for part in parts
    ]
    held = [
        part.index.keys[df[: len(part.index.keys)] > 0]
        for part, df in zip(parts, frequencies, strict=True)
    ]
    keys = np.union1d(*held)
    grams = []
    for part in parts:
        at = np.searchsorted(keys, part.index.keys)
        found = np.append(keys, np.uint64(0))[at] == part.index.keys
        grams.append(np.where(found & (at < len(keys)), at, -1))
    level_df = level_frequency(len(keys), parts, grams, frequencies)
    index = empty_lists(keys, key_slots(keys), level_df, sum(part.kept for part in parts))
    lists, rows = [], []
    for part, of_part in zip(parts, grams, strict=True):
        of_lists, of_rows = _kept_postings(part)
        lists.append(list_targets(part.index, of_part, index)[of_lists])
        rows.append(part.places[of_rows])
    lists, rows = np.concatenate(lists), np.concatenate(rows)
    order = np.argsort(lists, kind="stable")
    lists, rows = lists[order], rows[order]
    slots = index.dense_slot[lists]
    index.rows[:] = rows[slots < 0]
    set_bits(index.bitmaps, slots[slots >= 0], rows[slots >= 0])
    return index


def kept_parts(base: GramIndex, added: GramIndex, keep: np.ndarray | None) -> tuple[Part, Part]:
    """Say of either index which of its rows stay, and their new numbers."""
    admitted = np.ones(base.n + added.n, bool)
    if keep is not None:
        admitted[:] = False
        admitted[admitted_rows(keep)] = True
    places = np.where(admitted, np.cumsum(admitted) - 1, -1)
    return tuple(
        Part(index, pack_mask(own), places[start : start + index.n], int(own.sum()))
        for index, start in ((base, 0), (added, base.n))
        for own in [admitted[start : start + index.n]]
    )


def level_frequency(
    grams: int, parts: tuple[Part, Part], of_parts: list[np.ndarray], frequencies: list[np.ndarray]
) -> np.ndarray:
    """Kept rows that hold each gram of the merged vocabulary, by level, int64 (3, grams)."""
    level_df = np.zeros((LEVELS, grams), np.int64)
    for part, of_part, df in zip(parts, of_parts, frequencies, strict=True):
        for level, lists in enumerate(_lists_by_level(part.index)):
            here = (lists >= 0) & (of_part >= 0)
            level_df[level, of_part[here]] += df[lists[here]]
    return level_df


def list_targets(part: GramIndex, of_part: np.ndarray, merged: GramIndex) -> np.ndarray:
    """List of the merged index that each list of a part becomes, int64; -1 when no row stays."""
    targets = np.full(len(part.df), -1, np.int64)
    for own, theirs in zip(_lists_by_level(part), _lists_by_level(merged), strict=True):
        here = (own >= 0) & (of_part >= 0)
        targets[own[here]] = theirs[of_part[here]]
    return targets


def _lists_by_level(index: GramIndex) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(len(index.keys)), index.level2, index.level3


def _kept_postings(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """The (list, row) pairs of the rows that stay, rows ascending within a list."""
    index = part.index
    lists = [np.repeat(np.arange(len(index.df)), np.diff(index.ptr))]
    rows = [index.rows]
    for posting_list in np.flatnonzero(index.dense_slot >= 0):
        held = admitted_rows(index.bitmaps[index.dense_slot[posting_list]])
        lists.append(np.full(held.size, posting_list))
        rows.append(held)
    lists, rows = np.concatenate(lists), np.concatenate(rows).astype(np.int64)
    stays = part.places[rows] >= 0
    return lists[stays], rows[stays]
