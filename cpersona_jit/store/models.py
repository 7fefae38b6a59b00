"""The embedding models whose vectors the store holds; vectors of two models never mix."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from cpersona_jit.errors import CorruptStoreError, StoreError, UsageError
from cpersona_jit.store.database import checked_number, write_transaction
from cpersona_jit.store.sqlite_errors import store_errors


class StoredModel(NamedTuple):
    """A model that has written vectors. `fingerprint` identifies it, `label` is for people."""

    id: int
    label: str
    fingerprint: str
    dim: int


def find_model(conn: sqlite3.Connection, fingerprint: str) -> StoredModel | None:
    """Model with this fingerprint, if the store knows it."""
    with store_errors(conn):
        row = conn.execute(
            "SELECT id, label, fingerprint, dim FROM models WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
    return _model(row) if row else None


def generation_and_model(
    conn: sqlite3.Connection, fingerprint: str
) -> tuple[int, StoredModel | None]:
    """Return what `generation` and `find_model` return, in one statement: every recall asks.

    An empty fingerprint is no model's.
    """
    with store_errors(conn):
        found = conn.execute(
            "SELECT generation, models.id, label, fingerprint, dim"
            " FROM meta LEFT JOIN models ON fingerprint = ?",
            (fingerprint,),
        ).fetchone()
        now = checked_number(conn, "generation", found)
    return now, None if found[1] is None or not fingerprint else _model(found[1:])


def register_model(conn: sqlite3.Connection, label: str, fingerprint: str, dim: int) -> int:
    """Id of the model, entering it on first use.

    Raises
    ------
    StoreError
        The fingerprint is known with another dimension: then it does not identify a model.
    """
    known = find_model(conn, fingerprint)
    if known is None:
        with write_transaction(conn):
            conn.execute(
                "INSERT OR IGNORE INTO models (label, fingerprint, dim) VALUES (?, ?, ?)",
                (label, fingerprint, dim),
            )
        known = find_model(conn, fingerprint)
    if known is None or known.dim != dim:
        raise StoreError(
            f"model {label!r} has {dim} dimensions, but the store knows its fingerprint "
            f"{fingerprint[:12]} with {known.dim if known else 'none'}"
        )
    return known.id


def list_models(conn: sqlite3.Connection) -> list[StoredModel]:
    """Every model that the store knows, in the order of first use."""
    with store_errors(conn):
        return [
            _model(row)
            for row in conn.execute("SELECT id, label, fingerprint, dim FROM models ORDER BY id")
        ]


def _model(row: tuple[Any, ...]) -> StoredModel:
    if tuple(map(type, row)) != (int, str, str, int):
        raise CorruptStoreError(
            f"model {row[0]}: its label, fingerprint or dimension is not one; the store is damaged"
        )
    return StoredModel(*row)


def check_vectors(
    conn: sqlite3.Connection, vectors: Iterable[bytes | None], model_id: int | None
) -> None:
    """Refuse vectors that are not the model's: they could never be compared."""
    sizes = {len(vector) for vector in vectors if vector is not None}
    if not sizes:
        return
    model = conn.execute("SELECT label, dim FROM models WHERE id = ?", (model_id,)).fetchone()
    if model is None:
        raise UsageError(f"model_id {model_id} is not a model that the store knows")
    label, dim = model
    if sizes != {4 * dim}:
        raise UsageError(
            f"model {label!r} has {dim} dimensions, so a vector takes {4 * dim} bytes; "
            f"got {sorted(sizes)}"
        )
