"""The schema of the one SQLite file, and how an older file moves forward to it.

``MIGRATIONS[v]`` turns a file of version v into version v + 1; version 0 is an empty file. Steps
are only ever appended. Each runs in a transaction of its own together with its version stamp, so
that a crash leaves the file at one version or the other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import cache

from cpersona_jit.errors import CorruptStoreError, NewerSchemaError

# "cpJ1": in the file's header, it tells our files from those of other programs.
APPLICATION_ID = 0x63704A31

Migration = Callable[[sqlite3.Connection], None]


def _create_version_1(conn: sqlite3.Connection) -> None:
    # Small columns come first: SQLite then reads them without touching the pages that a long
    # content or a vector overflows into.
    conn.execute(
        """
        CREATE TABLE memories (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            revision INTEGER NOT NULL,
            model_id INTEGER,
            event_time INTEGER,
            created_at INTEGER NOT NULL,
            updated_at INTEGER,
            agent_id TEXT NOT NULL CHECK (agent_id <> ''),
            project_id TEXT NOT NULL DEFAULT '',
            channel TEXT NOT NULL DEFAULT '',
            msg_id TEXT NOT NULL DEFAULT '',
            session_id TEXT NOT NULL DEFAULT '',
            source_type TEXT NOT NULL DEFAULT '',
            source_id TEXT NOT NULL DEFAULT '',
            source_name TEXT NOT NULL DEFAULT '',
            timestamp TEXT NOT NULL DEFAULT '',
            content_hash BLOB NOT NULL,
            metadata TEXT NOT NULL DEFAULT '{}',
            content TEXT NOT NULL,
            embedding BLOB,
            CHECK ((embedding IS NULL) = (model_id IS NULL))
        )
        """
    )
    conn.execute("CREATE INDEX memories_revision ON memories (revision)")
    conn.execute("CREATE INDEX memories_model ON memories (model_id)")
    conn.execute(
        "CREATE INDEX memories_content ON memories (agent_id, project_id, channel, content_hash)"
    )
    conn.execute(
        "CREATE UNIQUE INDEX memories_msg ON memories (agent_id, project_id, channel, msg_id)"
        " WHERE msg_id <> ''"
    )
    conn.execute("CREATE TABLE deletions (id INTEGER PRIMARY KEY, revision INTEGER NOT NULL)")
    conn.execute("CREATE INDEX deletions_revision ON deletions (revision)")
    conn.execute(
        "CREATE TABLE models (id INTEGER PRIMARY KEY, label TEXT NOT NULL,"
        " fingerprint TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL CHECK (dim > 0))"
    )
    conn.execute(
        "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL)"
    )
    conn.execute("INSERT INTO meta (id, generation) VALUES (1, 0)")
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _add_blocks(conn: sqlite3.Connection) -> None:
    # A table with rowids: in one without, a row of this size always overflows into a page of its
    # own (measured with 384 dimensions: 4.7 KB a block instead of 2.1, and stored 4 times slower).
    conn.execute(
        """
        CREATE TABLE blocks (
            memory_id INTEGER NOT NULL,
            block_index INTEGER NOT NULL,
            start_char INTEGER NOT NULL,
            end_char INTEGER NOT NULL CHECK (end_char > start_char),
            model_id INTEGER,
            embedding BLOB,
            PRIMARY KEY (memory_id, block_index),
            CHECK ((embedding IS NULL) = (model_id IS NULL))
        )
        """
    )
    conn.execute("CREATE INDEX blocks_model ON blocks (model_id)")
    conn.execute("CREATE TABLE unsplit (memory_id INTEGER PRIMARY KEY)")
    conn.execute("ALTER TABLE meta ADD COLUMN blocks_version INTEGER NOT NULL DEFAULT 0")
    # Whoever changes a row: blocks never outlive the text that they were cut from.
    for trigger, event in (("gone", "DELETE"), ("rewritten", "UPDATE OF content")):
        conn.execute(
            f"CREATE TRIGGER memories_{trigger} AFTER {event} ON memories BEGIN"
            " DELETE FROM blocks WHERE memory_id = old.id;"
            " DELETE FROM unsplit WHERE memory_id = old.id; END"
        )


def _add_imports(conn: sqlite3.Connection) -> None:
    conn.execute("CREATE TABLE imports (key TEXT PRIMARY KEY, state TEXT NOT NULL)")


def _add_columns_token(conn: sqlite3.Connection) -> None:
    conn.execute("ALTER TABLE meta ADD COLUMN columns_token TEXT NOT NULL DEFAULT ''")


def _add_episodes_versions_nodes(conn: sqlite3.Connection) -> None:
    # The axes are those of the memory, which never change: here for the index.
    conn.execute(
        """
        CREATE TABLE episodes (
            memory_id INTEGER PRIMARY KEY,
            start_time INTEGER NOT NULL,
            end_time INTEGER NOT NULL CHECK (end_time >= start_time),
            agent_id TEXT NOT NULL,
            project_id TEXT NOT NULL,
            channel TEXT NOT NULL,
            end_timestamp TEXT NOT NULL,
            keywords TEXT NOT NULL
        )
        """
    )
    conn.execute(
        "CREATE INDEX episodes_start ON episodes (agent_id, project_id, channel, start_time)"
    )
    # Their references look like those of rows, so their ids begin where no row's ever comes to.
    # Out of the sequence of rows they would move the ids of all rows behind an update.
    conn.execute(
        """
        CREATE TABLE versions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL,
            written_at INTEGER NOT NULL,
            superseded_at INTEGER NOT NULL,
            content TEXT NOT NULL
        )
        """
    )
    conn.execute("CREATE INDEX versions_memory ON versions (memory_id)")
    conn.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('versions', 1000000000000000)")
    conn.execute(
        """
        CREATE TABLE nodes (
            memory_id INTEGER NOT NULL,
            node_index INTEGER NOT NULL,
            start_char INTEGER NOT NULL,
            end_char INTEGER NOT NULL CHECK (end_char > start_char),
            model_id INTEGER,
            embedding BLOB,
            PRIMARY KEY (memory_id, node_index),
            CHECK ((embedding IS NULL) = (model_id IS NULL))
        )
        """
    )
    conn.execute(
        "CREATE TRIGGER memories_forgotten AFTER DELETE ON memories BEGIN"
        " DELETE FROM episodes WHERE memory_id = old.id;"
        " DELETE FROM versions WHERE memory_id = old.id;"
        " DELETE FROM nodes WHERE memory_id = old.id; END"
    )
    conn.execute(
        "CREATE TRIGGER memories_retold AFTER UPDATE OF content ON memories BEGIN"
        " DELETE FROM nodes WHERE memory_id = old.id; END"
    )


MIGRATIONS: tuple[Migration, ...] = (
    _create_version_1,
    _add_blocks,
    _add_imports,
    _add_columns_token,
    _add_episodes_versions_nodes,
)
SCHEMA_VERSION = len(MIGRATIONS)


def schema_version(conn: sqlite3.Connection) -> int:
    """Version stamp of the file (0 = empty)."""
    return int(conn.execute("PRAGMA user_version").fetchone()[0])


def refuse_newer(version: int, newest: int = SCHEMA_VERSION) -> None:
    """Refuse a file that a newer version of the package wrote.

    Raises
    ------
    NewerSchemaError
        `version` is above `newest`.
    CorruptStoreError
        No version is below 0.
    """
    if version < 0:
        raise CorruptStoreError(
            f"the store has schema version {version}; allowed: 0 to {newest}; it is damaged"
        )
    if version > newest:
        raise NewerSchemaError(
            f"the store has schema version {version}; this version of cpersona_jit knows "
            f"versions up to {newest}: upgrade cpersona_jit (the file was not changed)"
        )


@cache
def _expected() -> frozenset[str]:
    conn = sqlite3.connect(":memory:", isolation_level=None)
    for step in MIGRATIONS:
        step(conn)
    names = frozenset(schema_parts(conn))
    conn.close()
    return names


def schema_parts(conn: sqlite3.Connection) -> set[str]:
    """Name every table, column, index and trigger of a file."""
    # Indexes that SQLite makes by itself have no statement, and are as the table is.
    objects = conn.execute("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    parts = {f"{kind} {name}" for kind, name in objects}
    for kind, table in objects:
        if kind == "table":
            columns = conn.execute("SELECT name FROM pragma_table_info(?)", (table,))
            parts.update(f"column {table}.{column}" for (column,) in columns)
    return parts


def missing_parts(conn: sqlite3.Connection) -> list[str]:
    """Name what a file of the newest version must have and this one has not."""
    missing = _expected() - schema_parts(conn)
    tables = {part.removeprefix("table ") for part in missing if part.startswith("table ")}
    return sorted(
        part
        for part in missing
        if not (part.startswith("column ") and part[len("column ") :].split(".")[0] in tables)
    )


def migrate(conn: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Move the file forward to the newest version.

    Parameters
    ----------
    conn : sqlite3.Connection
        In autocommit mode, outside a transaction.
    migrations : sequence of callables
        Step v turns version v into v + 1.

    Returns
    -------
    int
        The version reached, ``len(migrations)``.

    Raises
    ------
    NewerSchemaError
        The file is ahead of `migrations`; nothing was changed.
    """
    version = schema_version(conn)
    refuse_newer(version, len(migrations))
    while version < len(migrations):
        version = _step(conn, migrations)
    refuse_newer(version, len(migrations))
    return version


def _step(conn: sqlite3.Connection, migrations: Sequence[Migration]) -> int:
    conn.execute("BEGIN IMMEDIATE")
    try:
        # Read again under the lock: another process may have done this step meanwhile.
        version = schema_version(conn)
        if version < len(migrations):
            migrations[version](conn)
            version += 1
            conn.execute(f"PRAGMA user_version = {version}")
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
    return version
