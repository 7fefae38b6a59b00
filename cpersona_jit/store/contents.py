"""Rows and old texts by reference, for a caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from cpersona_jit.isolation import Axes
from cpersona_jit.records import Node, Row, Version, parse_ref
from cpersona_jit.store.database import read_snapshot
from cpersona_jit.store.nodes import nodes_of
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.versions import fetch_versions, versions_of


class FoundContents(NamedTuple):
    """What some references name.

    Attributes
    ----------
    rows : dict of str to Row
        By reference, in the order asked for; an old text with the other fields of its row.
    history : dict of str to tuple of Version
        Old texts of the current rows among them, newest first; of those that have any.
    superseded : dict of str to str
        For each old text among them, the reference of its row.
    nodes : dict of str to tuple of Node
        The parts of the current rows among them whose text is longer than the embedder's window.
    """

    rows: dict[str, Row]
    history: dict[str, tuple[Version, ...]]
    superseded: dict[str, str]
    nodes: dict[str, tuple[Node, ...]]


def find_contents(
    conn: sqlite3.Connection,
    axes: Axes,
    refs: Sequence[str],
    *,
    history: bool,
    nodes: bool = False,
) -> FoundContents:
    """Resolve references under `axes`; one that names nothing there is absent.

    Parameters
    ----------
    conn : sqlite3.Connection
        An open store.
    axes : Axes
        Whose rows may be seen.
    refs : sequence of str
        Of rows or of old texts.
    history : bool
        Also read the old texts of the rows.
    nodes : bool
        Also read their nodes.
    """
    wanted = list(dict.fromkeys(refs))
    ids = [number for ref in wanted if (number := parse_ref(ref)) is not None]
    with read_snapshot(conn):
        rows = fetch_rows(conn, axes, ids)
        old = fetch_versions(conn, axes, [number for number in ids if number not in rows])
        owners = {version.id: parse_ref(version.memory_ref) for version in old.values()}
        owner_rows = fetch_rows(conn, axes, owners.values())
        texts = versions_of(conn, axes, rows) if history else {}
        parts = nodes_of(conn, axes, rows) if nodes else {}
    named = {row.ref: row for row in rows.values()}
    named |= {
        version.ref: _old_row(owner_rows[owners[version.id]], version) for version in old.values()
    }
    found = {ref: named[ref] for ref in wanted if ref in named}
    return FoundContents(
        found,
        {ref: tuple(texts[row.id]) for ref, row in found.items() if row.id in texts},
        {version.ref: version.memory_ref for version in old.values() if version.ref in found},
        {ref: tuple(parts[row.id]) for ref, row in found.items() if row.id in parts},
    )


def _old_row(row: Row, version: Version) -> Row:
    """Return a row as it was when it had an old text."""
    first = version.written_at == row.created_at
    return row._replace(
        ref=version.ref,
        id=version.id,
        content=version.content,
        updated_at=None if first else version.written_at,
        model_id=None,
    )
