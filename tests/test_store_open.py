"""Opening files: new ones, foreign ones, damaged ones, newer and older ones."""

from __future__ import annotations

import os
import sqlite3
import stat

import pytest
from store_cases import clean, contents, is_sound, put

from cpersona_jit.errors import (
    CorruptStoreError,
    CPersonaError,
    NewerSchemaError,
    NotAStoreError,
    StoreError,
    StoreNotFoundError,
    UsageError,
)
from cpersona_jit.isolation import Axes
from cpersona_jit.store import schema
from cpersona_jit.store.database import PAGE_SIZE, generation, is_read_only, open_database
from cpersona_jit.store.reads import changed_rows, fetch_rows
from cpersona_jit.store.schema import MIGRATIONS, SCHEMA_VERSION, migrate, schema_version

posix = pytest.mark.skipif(os.name != "posix", reason="file modes and pipes are POSIX")


def store_with(path, *texts):
    conn = open_database(path)
    put(conn, *(clean(text) for text in texts))
    conn.close()
    return path


# --- new files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["memory.db", "記憶 100%?#&=.db", "a'b\"c.db", "no-extension"])
def test_any_file_name_is_that_file(tmp_path, name):
    path = tmp_path / name
    store_with(path, "今日は")
    assert [file.name for file in tmp_path.iterdir()] == [name]
    conn = open_database(str(path), create=False)
    assert contents(conn) == ["今日は"]
    assert not is_read_only(conn)
    conn.close()


@posix
def test_a_new_store_is_its_owners_only(tmp_path):
    old = os.umask(0)
    try:
        conn = open_database(tmp_path / "new folder" / "memory.db")
        put(conn, clean())
        for file in (tmp_path / "new folder").iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        assert stat.S_IMODE((tmp_path / "new folder").stat().st_mode) == 0o700
        conn.close()
    finally:
        os.umask(old)


def test_the_settings_of_a_connection(tmp_path):
    conn = open_database(tmp_path / "memory.db")
    assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert conn.execute("PRAGMA synchronous").fetchone() == (1,)
    assert conn.execute("PRAGMA busy_timeout").fetchone() == (5000,)
    assert conn.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
    assert schema_version(conn) == SCHEMA_VERSION
    conn.close()


def test_an_empty_file_becomes_a_store_only_when_asked(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(NotAStoreError, match="empty file"):
        open_database(path, create=False)
    assert path.stat().st_size == 0
    conn = open_database(path)
    assert generation(conn) == 0
    conn.close()


@posix
def test_a_link_leads_to_its_target(tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "target.db")
    store_with(link, "through the link")
    conn = open_database(tmp_path / "target.db", create=False)
    assert contents(conn) == ["through the link"]
    conn.close()


def test_there_is_nothing_at_the_path(tmp_path):
    with pytest.raises(StoreNotFoundError, match=r"nothing\.db"):
        open_database(tmp_path / "nothing.db", create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["", ":memory:", b"bytes.db"])
def test_what_is_no_file_name(path):
    with pytest.raises(UsageError, match="path"):
        open_database(path)


@posix
def test_names_that_lead_nowhere(tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for bad in ("a\0b", "\ud800", "x" * 300, "file/x.db", "file/y/x.db", "loop"):
        with pytest.raises(StoreError) as caught:
            open_database(f"{tmp_path}/{bad}")
        str(caught.value).encode("utf-8")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "loop"]


# --- foreign files --------------------------------------------------------------------------------


def test_a_folder(tmp_path):
    with pytest.raises(NotAStoreError, match="folder"):
        open_database(tmp_path)


@posix
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(NotAStoreError, match="regular"):
            open_database(path)


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        b"hello",
        "こんにちは\n".encode() * 500,
        bytes(8192),
        bytes(range(256)) * 64,
        b"SQLite format 3\0",
        b"SQLite format 3\0" + bytes(4080),
    ],
)
def test_a_file_of_another_format_is_left_alone(tmp_path, data):
    path = tmp_path / "notes.txt"
    path.write_bytes(data)
    for create in (True, False):
        with pytest.raises(NotAStoreError, match=r"notes\.txt"):
            open_database(path, create=create)
    assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE memories (id INTEGER, content TEXT); INSERT INTO memories VALUES (1, 'x');",
        "PRAGMA user_version = 1; CREATE TABLE t (x);",
        "PRAGMA user_version = 7;",
        "PRAGMA application_id = 12345;",
        "CREATE VIEW v AS SELECT 1;",
    ],
)
def test_the_database_of_another_program_is_left_alone(tmp_path, script):
    path = tmp_path / "theirs.db"
    theirs = sqlite3.connect(path)
    theirs.executescript(script)
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(NotAStoreError, match="another program"):
        open_database(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# --- damaged files --------------------------------------------------------------------------------


def test_missing_tables_are_noticed_at_once(tmp_path):
    for table in ("memories", "blocks", "unsplit", "deletions", "models", "meta"):
        path = store_with(tmp_path / f"{table}.db", "a")
        conn = sqlite3.connect(path)
        conn.execute(f"DROP TABLE {table}")
        conn.close()
        with pytest.raises(CorruptStoreError, match=table):
            open_database(path)
    conn = sqlite3.connect(store_with(tmp_path / "no row.db"))
    conn.execute("DELETE FROM meta")
    conn.commit()
    conn.close()
    with pytest.raises(CorruptStoreError, match="meta row"):
        open_database(tmp_path / "no row.db")


@pytest.mark.parametrize("keep", [100, 600, PAGE_SIZE, PAGE_SIZE + 1, 40_000, -PAGE_SIZE])
def test_a_truncated_file_is_an_error_never_a_wrong_answer(tmp_path, keep):
    path = store_with(tmp_path / "cut.db", *(f"row {i} " + "x" * 900 for i in range(60)))
    data = path.read_bytes()
    path.write_bytes(data[:keep])
    with pytest.raises(CPersonaError, match=r"cut\.db"):
        read_all(path)


@pytest.mark.parametrize("page", range(1, 12))
def test_garbage_in_a_page_is_an_error_or_harmless(tmp_path, page):
    texts = [f"row {i} " + "x" * 900 for i in range(60)]
    path = store_with(tmp_path / "garbage.db", *texts)
    data = bytearray(path.read_bytes())
    data[page * PAGE_SIZE : (page + 1) * PAGE_SIZE] = b"\xa5" * PAGE_SIZE
    path.write_bytes(data)
    try:
        found = read_all(path)
    except StoreError as error:
        assert "garbage.db" in str(error)
    else:
        assert found == texts


def read_all(path):
    conn = open_database(path)
    try:
        found = [dict(enumerate(row))[10] for row in changed_rows(conn, 0)]
        fetch_rows(conn, Axes.agent("me"), range(1, 61))
        return found
    finally:
        conn.close()


# --- schema versions ------------------------------------------------------------------------------


def test_a_newer_file_is_left_untouched(tmp_path):
    path = store_with(tmp_path / "newer.db", "a")
    conn = sqlite3.connect(path)
    conn.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    conn.close()
    before = path.read_bytes()
    with pytest.raises(NewerSchemaError, match=f"{SCHEMA_VERSION + 1}.*upgrade"):
        open_database(path)
    assert path.read_bytes() == before


def add_mood(conn):
    conn.execute("ALTER TABLE memories ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")


def split_table(conn):
    conn.execute("CREATE TABLE moods (mood TEXT)")
    conn.execute("INSERT INTO moods SELECT DISTINCT mood FROM memories")


LATER = (*MIGRATIONS, add_mood, split_table)


def test_an_older_file_moves_forward_step_by_step_and_keeps_its_rows(tmp_path):
    path = store_with(tmp_path / "old.db", "一", "two")
    conn = open_database(path)
    assert migrate(conn, LATER) == len(LATER)
    assert schema_version(conn) == len(LATER)
    assert conn.execute("SELECT content, mood FROM memories").fetchall() == [
        ("一", "calm"),
        ("two", "calm"),
    ]
    assert conn.execute("SELECT mood FROM moods").fetchall() == [("calm",)]
    # Once only: a second run has nothing to do.
    assert migrate(conn, LATER) == len(LATER)
    with pytest.raises(NewerSchemaError):
        migrate(conn, MIGRATIONS)
    assert is_sound(conn)
    conn.close()


def test_an_empty_file_takes_every_step(tmp_path):
    conn = sqlite3.connect(tmp_path / "new.db", isolation_level=None)
    assert migrate(conn, LATER) == len(LATER)
    assert conn.execute("SELECT count(mood) FROM memories").fetchone() == (0,)
    conn.close()


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path):
    def half_way(conn):
        conn.execute("DELETE FROM memories")
        conn.execute("CREATE TABLE half (x)")
        raise RuntimeError("power cut")

    path = store_with(tmp_path / "old.db", "kept")
    conn = open_database(path)
    with pytest.raises(RuntimeError, match="power cut"):
        migrate(conn, (*MIGRATIONS, add_mood, half_way))
    assert schema_version(conn) == len(MIGRATIONS) + 1
    assert contents(conn) == ["kept"]
    names = {row[0] for row in conn.execute("SELECT name FROM sqlite_master")}
    assert "half" not in names
    # And the next start goes on from there.
    assert migrate(conn, LATER) == len(LATER)
    conn.close()


def test_open_migrates_an_older_file(tmp_path, monkeypatch):
    path = store_with(tmp_path / "old.db", "kept")
    monkeypatch.setattr(schema.migrate, "__defaults__", (LATER,))
    monkeypatch.setattr(schema.refuse_newer, "__defaults__", (len(LATER),))
    conn = open_database(path)
    assert schema_version(conn) == len(LATER)
    assert put(conn, clean("written after"))[0].status == "stored"
    assert contents(conn) == ["kept", "written after"]
    conn.close()
