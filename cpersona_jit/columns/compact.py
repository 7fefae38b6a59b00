"""Making the places of a snapshot anew: its tail into the indexes, rows that are gone out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cpersona_jit.columns.arrays import arrays_of, block_array, put_together
from cpersona_jit.columns.buffers import Buffers, put_signs
from cpersona_jit.columns.masks import mask_of
from cpersona_jit.columns.postings import GramKernels, joined_index
from cpersona_jit.columns.snapshot import BlockColumns, Columns
from cpersona_jit.columns.texts import no_grams, take_grams, take_spans
from cpersona_jit.text.grams import GRAM_SIZES


def folded(columns: Columns, kernels: GramKernels) -> Columns:
    """Return a snapshot with the same rows in the same places, all of them indexed."""
    blocks = replace(columns.blocks, **_indexed(columns.blocks, None, kernels))
    return replace(columns, blocks=blocks, **_indexed(columns, None, kernels))


def without_gone(columns: Columns, kernels: GramKernels) -> Columns:
    """Return a snapshot of the rows that are not gone, in their order, all of them indexed.

    It shares no array with the older one.
    """
    alive = columns.alive.as_bools(columns.n)
    rows = np.flatnonzero(alive)
    row_ptr, blocks = take_spans(columns.blocks.row_ptr, rows)
    arrays, buffers = {}, Buffers(rows=rows.size, blocks=blocks.size)
    moved = np.cumsum(alive) - 1
    for name, array in arrays_of(columns).items():
        of_blocks = name.startswith(block_array(""))
        source = blocks if of_blocks else rows
        if name.endswith("signs"):
            words = array[source // 8, :, source % 8]
            arrays[name] = put_signs(buffers, name, 0, words, 0)
            continue
        values = row_ptr if name == block_array("row_ptr") else array[source]
        if name in ("before", "after"):
            values = np.where(values >= 0, moved[values], -1)
        if name == block_array("row"):
            values = moved[values]
        arrays[name] = buffers.put(name, 0, values)
    kept_blocks = alive[columns.blocks.row]
    parts = {
        name: getattr(columns, name)
        for name in ("generation", "tables", "fingerprint", "dim", "centres")
    }
    of_rows = _kept(columns, alive, kernels)
    waiting = mask_of(columns.unsplit.as_bools(columns.n)[alive])
    parts |= {"_buffers": buffers, "unsplit": waiting, "alive": mask_of(np.ones(rows.size, bool))}
    return put_together(arrays, parts | of_rows, _kept(columns.blocks, kept_blocks, kernels))


def rebased(latest: Columns, older: Columns) -> Columns:
    """Return the latest snapshot with the indexes of an older one, made of its first rows.

    Parameters
    ----------
    latest : Columns
        A snapshot.
    older : Columns
        An older one whose rows have the same places, all of them indexed.
    """
    blocks = replace(latest.blocks, **_with_index_of(latest.blocks, older.blocks))
    return replace(latest, blocks=blocks, **_with_index_of(latest, older))


def tail_of(columns: Columns) -> tuple[int, int]:
    """Return how many rows or blocks are not indexed, whichever are more, and their postings."""
    rows, postings = 0, 0
    for texts in (columns, columns.blocks):
        for tail in texts.gram_tail.values():
            rows = max(rows, tail.row_ptr.size - 1)
            postings += tail.keys.size
    return rows, postings


def _with_index_of(latest: Columns | BlockColumns, older: Columns | BlockColumns) -> dict:
    tails = {}
    for size, tail in latest.gram_tail.items():
        indexed = older.gram_index[size].n - latest.gram_index[size].n
        tails[size] = take_grams(tail, np.arange(indexed, tail.row_ptr.size - 1))
    return {"gram_index": older.gram_index, "gram_tail": tails}


def _kept(texts: Columns | BlockColumns, keep: np.ndarray, kernels: GramKernels) -> dict:
    embedded = mask_of(texts.embedded.as_bools(texts.n)[keep])
    return {"embedded": embedded, **_indexed(texts, keep, kernels)}


def _indexed(texts: Columns | BlockColumns, keep: np.ndarray | None, kernels: GramKernels) -> dict:
    return {
        "gram_index": {
            size: joined_index(texts.gram_index[size], texts.gram_tail[size], keep, kernels)
            if keep is not None or texts.gram_tail[size].row_ptr.size > 1
            else texts.gram_index[size]
            for size in GRAM_SIZES
        },
        "gram_tail": dict.fromkeys(GRAM_SIZES, no_grams()),
    }
