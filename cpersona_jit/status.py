"""The state of a store, counted over all agents."""

from __future__ import annotations

import sqlite3

from cpersona_jit.columns.build import NO_MODEL, Model
from cpersona_jit.isolation import Axes
from cpersona_jit.results import StoreStatus
from cpersona_jit.store.block_reads import block_counts
from cpersona_jit.store.database import generation
from cpersona_jit.store.models import list_models
from cpersona_jit.store.reads import counts
from cpersona_jit.store.schema import schema_version


def store_status(conn: sqlite3.Connection, path: str, embedder: str, model: Model) -> StoreStatus:
    """Return the state of a store as `model`, named `embedder`, finds it."""
    unknown = model is NO_MODEL  # then no vector is of use
    model_id = None if unknown else model.model_id
    rows = counts(conn, Axes.across_agents(), model_id)
    blocks = block_counts(conn, model_id)
    return StoreStatus(
        path=path,
        schema_version=schema_version(conn),
        generation=generation(conn),
        rows=rows.rows,
        rows_without_vector=rows.rows if unknown else rows.without_vector,
        blocks=blocks.blocks,
        blocks_without_vector=blocks.blocks if unknown else blocks.without_vector,
        rows_without_blocks=blocks.unsplit_rows,
        embedder=embedder,
        dim=model.dim or None,
        models=tuple(known.label for known in list_models(conn)),
    )
