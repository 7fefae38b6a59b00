"""What a recall says when the rows it may see are not all they could be."""

from __future__ import annotations

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.isolation import Axes

_MEND = "run `cpersona-jit reembed` with this file and embedder"
CUE_OUT_OF_REACH = (
    "time_cue_out_of_reach: nothing is stored in or near the period that the time cue names; it "
    "has no part in the order"
)
CUE_IGNORED = "time_cue_ignored: the settings of this recall take no notice of time cues"


def missing_vectors(columns: Columns, mask: Mask) -> tuple[str, ...]:
    """Name the admitted rows without a vector of the active model, if there are any."""
    # Nearly always every row has one: then no mask has to be read.
    every = columns.embedded.count == columns.n
    missing = 0 if every else mask.count - _in_both(mask, columns.embedded)
    if not missing:
        return ()
    return (
        f"rows_without_vector: {missing} of {mask.count} rows have no vector of the active "
        f"model and are found by their words only; {_MEND}",
    )


def missing_blocks(columns: Columns, axes: Axes) -> tuple[str, ...]:
    """Name what block scores of the admitted rows do without; for recalls that use blocks."""
    lacking = columns.blocks_without_vector
    if not columns.unsplit.count and not lacking.count:
        return ()
    rows, blocks = columns.mask(axes), columns.block_mask(axes)
    notes = []
    unsplit = _in_both(rows, columns.unsplit)
    if unsplit:
        notes.append(
            f"rows_without_blocks: {unsplit} of {rows.count} rows are not split by the current "
            "rules and count as they are; run `cpersona-jit reblock` on this file"
        )
    # Where rows have no vectors either, `missing_vectors` says so.
    missing = _in_both(lacking, blocks)
    if missing:
        notes.append(
            f"blocks_without_vector: {missing} of {blocks.count} blocks have no vector of the "
            f"active model and are found by their words only; {_MEND}"
        )
    return tuple(notes)


def _in_both(a: Mask, b: Mask) -> int:
    return int(np.bitwise_count(a.words & b.words).sum())
