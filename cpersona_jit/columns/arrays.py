"""The arrays of a snapshot by name, and a snapshot put together from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpersona_jit.columns.buffers import Buffers
from cpersona_jit.columns.postings import GramKernels
from cpersona_jit.columns.rows import NO_MODEL, STRING_COLUMNS, Model
from cpersona_jit.columns.snapshot import BlockColumns, Columns, mask_of
from cpersona_jit.columns.texts import no_grams
from cpersona_jit.kernels.quantize import padded_width
from cpersona_jit.text.grams import GRAM_SIZES

Arrays = dict[str, np.ndarray]

_ROW = {
    "ids": np.int64,
    "event_time": np.int64,
    "created_at": np.int64,
    "lengths": np.int32,
    "text_length": np.int32,
    "is_question": bool,
    "block_count": np.int32,
    "before": np.int64,
    "after": np.int64,
    "session_key": np.int64,
}
_BLOCK = {"row": np.int64, "start": np.int32, "end": np.int32, "lengths": np.int32}
_SCORED = ("codes", "signs")
_CODES, _BLOCKS = "code of ", "blocks "  # what the names of those arrays begin with


def code_array(name: str) -> str:
    """Return the name of the array that holds the codes of a string column."""
    return _CODES + name


def block_array(name: str) -> str:
    """Return the name of an array of blocks."""
    return _BLOCKS + name


def arrays_of(columns: Columns) -> Arrays:
    """Return the arrays of a snapshot, but for masks and grams."""
    blocks = columns.blocks
    return {
        **{name: getattr(columns, name) for name in (*_ROW, *_SCORED)},
        **{code_array(name): codes for name, codes in columns.codes_by_name.items()},
        **{block_array(name): getattr(blocks, name) for name in (*_BLOCK, *_SCORED, "row_ptr")},
    }


def array_names() -> tuple[str, ...]:
    """Return the names of those arrays."""
    return tuple(empty_arrays(NO_MODEL))


def empty_arrays(model: Model) -> Arrays:
    """Return the arrays of a snapshot without rows."""
    width = padded_width(model.dim) if model.dim else 0
    scored = {"codes": np.zeros((0, width), np.int8), "signs": np.zeros((0, width // 64, 8), "u8")}
    arrays = {name: np.zeros(0, kind) for name, kind in _ROW.items()} | scored
    arrays |= {code_array(name): np.zeros(0, np.int32) for name in STRING_COLUMNS}
    of_blocks = {name: np.zeros(0, kind) for name, kind in _BLOCK.items()} | scored
    of_blocks["row_ptr"] = np.zeros(1, np.int64)
    return arrays | {block_array(name): array for name, array in of_blocks.items()}


def put_together(arrays: Arrays, parts: dict[str, Any], block_parts: dict[str, Any]) -> Columns:
    """Return the snapshot of some arrays.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Named as in `arrays_of`.
    parts, block_parts : dict of str to anything
        What else :class:`Columns` and :class:`BlockColumns` hold.
    """
    blocks = {name: arrays[block_array(name)] for name in (*_BLOCK, *_SCORED, "row_ptr")}
    return Columns(
        **{name: arrays[name] for name in (*_ROW, *_SCORED)},
        codes_by_name={name: arrays[code_array(name)] for name in STRING_COLUMNS},
        blocks=BlockColumns(**blocks, **block_parts),
        **parts,
    )


def empty_columns(model: Model, kernels: GramKernels) -> Columns:
    """Return a snapshot without rows."""
    none = no_grams()
    nothing = mask_of(np.zeros(0, bool))
    scored = {
        "embedded": nothing,
        "gram_index": {size: kernels.build_gram_index(*none, 0) for size in GRAM_SIZES},
        "gram_tail": dict.fromkeys(GRAM_SIZES, none),
    }
    parts = {
        "generation": 0,
        "tables": {name: {} for name in STRING_COLUMNS},
        "unsplit": nothing,
        "alive": nothing,
        "fingerprint": model.fingerprint,
        "dim": model.dim,
    }
    return put_together(empty_arrays(model), parts | scored, scored)


def buffers_of(columns: Columns) -> Buffers:
    """Return the buffers behind a snapshot while nothing lies behind its rows, else new ones.

    New ones hold copies, so that what was written behind the snapshot stays with who wrote it.
    """
    known = columns._buffers
    if known is not None and (known.rows, known.blocks) == (columns.n, columns.blocks.n):
        return known
    copied = {name: array.copy() for name, array in arrays_of(columns).items()}
    for name, rows in (("signs", columns.n), (block_array("signs"), columns.blocks.n)):
        if rows % 8:
            copied[name][-1, :, rows % 8 :] = 0
    return Buffers(copied, columns.n, columns.blocks.n)
