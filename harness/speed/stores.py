"""A store of made-up talk with its snapshot, and vectors that no model had to make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import cpersona_jit
from cpersona_jit.columns.build import Model, build_columns
from cpersona_jit.columns.snapshot import BlockColumns, Columns
from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.recall.kernel_set import warm_kernels
from cpersona_jit.store.block_reads import changed_blocks, unsplit_rows
from cpersona_jit.store.database import generation, open_database
from cpersona_jit.store.models import register_model
from cpersona_jit.store.reads import changed_rows
from harness.speed.talk import QUESTIONS, Shape, records

DIM = 512  # as the bundled default embedding
_SEED = 20261201
_BATCH = 4096


class GivenVectors:
    """An embedder that has the vectors of the questions ready."""

    info = ModelInfo("given", DIM, model_fingerprint(provider="given", dim=DIM), None)

    def __init__(self) -> None:
        vectors = _vectors(np.random.default_rng(_SEED - 1))
        self._known = dict(zip(QUESTIONS, vectors, strict=False))

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return the vector of each question."""
        return np.stack([self._known[text] for text in texts])

    def close(self) -> None:
        """Do nothing."""


def make_store(path: Path, rows: int, shape: Shape) -> Columns:
    """Write a store of texts, and return its snapshot with a vector for every row and block.

    The vectors are random and in the snapshot alone: what recall reads of the file is its
    generation and the rows that won.
    """
    with cpersona_jit.open(path, "none") as memory:
        memory.store_many(records(rows, shape), dedup=False, batch_size=_BATCH)
    conn = open_database(path, create=False)
    info, rng = GivenVectors.info, np.random.default_rng(_SEED)
    model = Model(register_model(conn, info.label, info.fingerprint, DIM), info.fingerprint, DIM)
    columns = build_columns(
        _embedded(changed_rows(conn, 0), model, rng),
        (),
        _embedded(changed_blocks(conn, 0), model, np.random.default_rng(_SEED + 1)),
        unsplit_rows(conn),
        generation=generation(conn),
        model=model,
        kernels=warm_kernels(),
    )
    conn.close()
    return columns


def without_blocks(columns: Columns) -> Columns:
    """Return the same rows, each its own one block."""
    model = Model(0, columns.fingerprint, columns.dim)
    empty = build_columns((), (), (), (), generation=0, model=model, kernels=warm_kernels())
    # Remembered masks belong to one snapshot.
    fresh = {
        name: type(getattr(columns, name))() for name in ("_masks", "_block_masks", "_samples")
    }
    return replace(
        columns,
        blocks=replace(empty.blocks, row_ptr=np.zeros(columns.n + 1, np.int64)),
        block_count=np.ones_like(columns.block_count),
        **fresh,
    )


def scored_bytes(columns: Columns | BlockColumns) -> int:
    """Return the bytes by which texts are scored: codes, sign bits, lengths and gram lists."""
    arrays = [columns.codes, columns.signs, columns.lengths, columns.embedded.words]
    for index in columns.gram_index.values():
        arrays += [part for part in index if isinstance(part, np.ndarray)]
    return sum(array.nbytes for array in arrays)


def _embedded(stored: Iterable[tuple], model: Model, rng: np.random.Generator) -> Iterator[tuple]:
    """Put a vector and its model into the last two fields."""
    for fields, vector in zip(stored, _vectors(rng), strict=False):
        yield (*fields[:-2], vector.tobytes(), model.model_id)


def _vectors(rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield random unit vectors without end."""
    while True:
        vectors = rng.standard_normal((_BATCH, DIM), np.float32)
        yield from vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
