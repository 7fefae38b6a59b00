"""The readers that reconstruct follows relations with, under one caller's isolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cpersona_jit.exits.reconstruct.sources import Related
from cpersona_jit.isolation import Axes
from cpersona_jit.store.episodes import episodes_containing
from cpersona_jit.store.models import find_model
from cpersona_jit.store.nodes import nodes_of
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.versions import fetch_versions, versions_of


def related_rows(
    read: Callable[[Callable[..., Any]], Any], axes: Axes, fingerprint: str
) -> Related:
    """Return the readers.

    Parameters
    ----------
    read : callable
        Called as ``read(work)``: calls ``work(connection)`` under the lock and returns its result.
    axes : Axes
        The caller's.
    fingerprint : str
        Of the model whose vectors count.
    """

    def model_id(conn: Any) -> int | None:
        model = find_model(conn, fingerprint) if fingerprint else None
        return None if model is None else model.id

    return Related(
        rows=lambda ids: read(lambda conn: fetch_rows(conn, axes, ids)),
        episodes=lambda points, limit: read(
            lambda conn: episodes_containing(conn, axes, points, limit)
        ),
        versions=lambda ids: read(lambda conn: versions_of(conn, axes, ids)),
        old_texts=lambda ids: read(lambda conn: fetch_versions(conn, axes, ids)),
        nodes=lambda ids: read(lambda conn: nodes_of(conn, axes, ids)),
        model_id=lambda: read(model_id),
    )
