"""Keeping the codes of a snapshot centred: whose centre moved, and which codes that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.centre import Centre, centre_vector, centred, leading_rows
from cpersona_jit.columns.rows import Model, Rows, vector_of
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.columns.texts import QUANTIZE_ROWS, Texts, take_spans
from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.quantize import quantize_rows


class StoredVectors(NamedTuple):
    """How to read the vectors of some memories again, by ascending id.

    Both take ids that ascend, and give the memory's id, the vector's bytes and its model's id; the
    blocks of a memory in their order.
    """

    rows: Callable[[Sequence[int]], Iterator[tuple]]
    blocks: Callable[[Sequence[int]], Iterator[tuple]]


def centre_rows(
    rows: Rows,
    written: np.ndarray,
    agents: tuple[np.ndarray, Mapping[str, int]],
    model: Model,
    known: Mapping[str, Centre] | None,
    stored: StoredVectors,
) -> tuple[Rows, dict[str, Centre]]:
    """Give rows and their blocks the codes of centred vectors.

    Codes are made again only where they change: of rows that were written, and of all rows of an
    agent whose centre moved.

    Parameters
    ----------
    rows : Rows
        All rows of the new snapshot.
    written : ndarray of int64
        Ids of the rows that were written since the centres were made.
    agents : (ndarray of int32, mapping of str to int)
        Code of each row's agent, and the code of each name.
    model : Model
        Whose vectors.
    known : mapping of str to Centre, or None
        The centres of the snapshot that the rest of the codes come from; None without one.
    stored : StoredVectors
        Where vectors are read.

    Returns
    -------
    rows : Rows
        The same with their codes.
    centres : dict of str to Centre
        Of each agent that has vectors.
    """
    codes, table = agents
    names = {code: name for name, code in table.items()}
    fresh = np.isin(rows.ids, written)
    again = fresh.copy()
    centres: dict[str, Centre] = {}
    for code, leading in leading_rows(codes, rows.texts.embedded).items():
        old = (known or {}).get(names[code])
        ids = rows.ids[leading]
        if old is not None and np.array_equal(old.rows, ids) and not fresh[leading].any():
            centres[names[code]] = old
            continue
        vectors = (vector_of(*one, model) for one in stored.rows(ids.tolist()))
        vector = centre_vector(vectors, ids.size, model.dim)
        centres[names[code]] = Centre(ids, vector)
        again |= codes == code
    for name in (known or {}).keys() - centres.keys():
        again |= codes == table.get(name, -1)
    places = np.flatnonzero(again)
    ids = rows.ids[places].tolist()
    of_codes = np.zeros((len(table), model.dim))
    for name, centre in centres.items():
        of_codes[table[name]] = centre.vector
    texts = _recoded(rows.texts, places, codes[places], of_codes, stored.rows(ids), model)
    row_ptr, blocks = take_spans(rows.blocks.row_ptr, places)
    owners = np.repeat(codes[places], np.diff(row_ptr))
    block_texts = _recoded(rows.blocks.texts, blocks, owners, of_codes, stored.blocks(ids), model)
    return rows._replace(texts=texts, blocks=rows.blocks._replace(texts=block_texts)), centres


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
    texts: Texts,
    places: np.ndarray,
    agents: np.ndarray,
    centres: np.ndarray,
    stored: Iterator[tuple],
    model: Model,
) -> Texts:
    """Return texts with new codes at `places`, made from the vectors that are stored there."""
    if not places.size or not model.dim:
        return texts
    made = texts.codes.copy()  # the older snapshot may still hold the array
    for start in range(0, places.size, QUANTIZE_ROWS):
        part = places[start : start + QUANTIZE_ROWS]
        found = [vector_of(*one, model) for one in islice(stored, part.size)]
        has = texts.embedded[part]
        if [vector is not None for vector in found] != has.tolist():
            raise CorruptStoreError("vectors changed unnoticed; the store is damaged")
        if has.any():
            vectors = np.stack([vector for vector in found if vector is not None])
            owners = agents[start : start + QUANTIZE_ROWS][has]
            made[part[has]] = quantize_rows(centred(vectors, centres[owners]))
    return texts._replace(codes=made)
