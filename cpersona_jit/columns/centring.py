"""Keeping the codes of a snapshot centred: whose centre moved, and which codes that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.arrays import block_array
from cpersona_jit.columns.buffers import Buffers
from cpersona_jit.columns.centre import Centre, centre_vector, centred, leading_rows
from cpersona_jit.columns.rows import Model, vector_of
from cpersona_jit.columns.snapshot import BlockColumns, Columns
from cpersona_jit.columns.texts import QUANTIZE_ROWS, take_spans
from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.quantize import quantize_rows, sign_words


class StoredVectors(NamedTuple):
    """How to read the vectors of some memories again, by ascending id.

    Both take ids that ascend, and give the memory's id, the vector's bytes and its model's id; the
    blocks of a memory in their order.
    """

    rows: Callable[[Sequence[int]], Iterator[tuple]]
    blocks: Callable[[Sequence[int]], Iterator[tuple]]


def centred_columns(
    columns: Columns, first_new: int, model: Model, stored: StoredVectors
) -> Columns:
    """Return a snapshot with the codes of centred vectors.

    Codes are made again only where they change: of rows that are new, and of all rows of an agent
    whose centre moved.

    Parameters
    ----------
    columns : Columns
        A snapshot whose ``centres`` are those of the codes of its first rows; None without any.
    first_new : int
        Rows from here on have the codes of vectors as they are.
    model : Model
        Whose vectors.
    stored : StoredVectors
        Where vectors are read.
    """
    codes, table = columns.codes_by_name["agent_id"], columns.tables["agent_id"]
    names = {code: name for name, code in table.items()}
    order = np.argsort(columns.ids, kind="stable")
    embedded = columns.embedded.as_bools(columns.n)
    again = np.arange(columns.n) >= first_new
    known, centres = columns.centres or {}, {}
    for code, leading in leading_rows(codes[order], embedded[order]).items():
        old, rows = known.get(names[code]), order[leading]
        ids = columns.ids[rows]
        if old is not None and np.array_equal(old.rows, ids) and rows.max() < first_new:
            centres[names[code]] = old
            continue
        vectors = (vector_of(*one, model) for one in stored.rows(ids.tolist()))
        centres[names[code]] = Centre(ids, centre_vector(vectors, ids.size, model.dim))
        again |= codes == code
    for name in known.keys() - centres.keys():
        again |= codes == table.get(name, -1)
    again &= columns.alive.as_bools(columns.n)
    places = order[again[order]]  # by id, as the store gives the vectors
    of_codes = np.zeros((len(table), model.dim))
    for name, centre in centres.items():
        of_codes[table[name]] = centre.vector
    columns = replace(columns, centres=centres)
    if not places.size or not model.dim:
        return columns
    return _recoded(columns, places, first_new, of_codes, model, stored)


def centred_query(columns: Columns, vector: np.ndarray | None, axes: Axes) -> np.ndarray | None:
    """Return a query's unit vector as the agent that asks sees it.

    An administrator's call across agents sees it from the mean of their centres, each counted as
    often as the agent has rows in its own.

    Parameters
    ----------
    columns : Columns
        The snapshot whose codes it will be compared with.
    vector : ndarray of float32, shape (dim,), or None
        As the model made it.
    axes : Axes
        Who asks.
    """
    if vector is None or not columns.centres:
        return vector
    if axes.agent_id is None:
        centres = [columns.centres[name] for name in sorted(columns.centres)]
        weights = [centre.rows.size for centre in centres]
        middle = np.zeros(columns.dim)
        for centre, weight in zip(centres, weights, strict=True):
            middle += centre.vector * (weight / sum(weights))
    elif axes.agent_id in columns.centres:
        middle = columns.centres[axes.agent_id].vector
    else:
        return vector
    return centred(vector[np.newaxis], middle)[0]


def _recoded(
    columns: Columns,
    places: np.ndarray,
    first_new: int,
    of_codes: np.ndarray,
    model: Model,
    stored: StoredVectors,
) -> Columns:
    """Return a snapshot with new codes of the rows at `places`, which ascend by id."""
    blocks, agents = columns.blocks, columns.codes_by_name["agent_id"]
    ids = columns.ids[places].tolist()
    embedded = columns.embedded.as_bools(columns.n)
    made = _codes(stored.rows(ids), places, embedded, agents[places], of_codes, model)
    row_ptr, of_blocks = take_spans(blocks.row_ptr, places)
    owners = np.repeat(agents[places], np.diff(row_ptr))
    embedded = blocks.embedded.as_bools(blocks.n)
    made_blocks = _codes(stored.blocks(ids), of_blocks, embedded, owners, of_codes, model)
    buffers = columns._buffers
    first_block = int(blocks.row_ptr[first_new])
    blocks = replace(blocks, **_put(buffers, block_array("{}"), blocks, made_blocks, first_block))
    return replace(columns, blocks=blocks, **_put(buffers, "{}", columns, made, first_new))


def _codes(
    stored: Iterator[tuple],
    places: np.ndarray,
    embedded: np.ndarray,
    agents: np.ndarray,
    centres: np.ndarray,
    model: Model,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield some of the `places` and their new codes, made from the vectors that are stored."""
    for start in range(0, places.size, QUANTIZE_ROWS):
        part = places[start : start + QUANTIZE_ROWS]
        found = [vector_of(*one, model) for one in islice(stored, part.size)]
        has = embedded[part]
        if [vector is not None for vector in found] != has.tolist():
            raise CorruptStoreError("vectors changed unnoticed; the store is damaged")
        if has.any():
            vectors = np.stack([vector for vector in found if vector is not None])
            owners = agents[start : start + QUANTIZE_ROWS][has]
            yield part[has], quantize_rows(centred(vectors, centres[owners]))


def _put(
    buffers: Buffers,
    name: str,
    texts: Columns | BlockColumns,
    made: Iterator[tuple[np.ndarray, np.ndarray]],
    first_new: int,
) -> dict[str, np.ndarray]:
    """Return the codes and sign bits of all; those of older ones are copied when they change."""
    arrays = {"codes": texts.codes, "signs": texts.signs}
    copied = False
    for places, codes in made:
        if not copied and (places < first_new).any():  # older snapshots hold these
            copied = True
            for array in arrays:
                arrays[array] = buffers.replace(name.format(array), arrays[array])
        arrays["codes"][places] = codes
        arrays["signs"][places // 8, :, places % 8] = sign_words(codes)
    return arrays
