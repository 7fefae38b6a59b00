"""A file of schema version 4, from before there were episodes, earlier texts and nodes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from memory_cases import BagOfWords
from store_cases import contents, is_sound

import cpersona_jit
from cpersona_jit.isolation import Axes
from cpersona_jit.store.database import generation, open_database
from cpersona_jit.store.nodes import nodes_of
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.schema import MIGRATIONS, SCHEMA_VERSION, migrate, schema_version
from cpersona_jit.store.versions import versions_of
from cpersona_jit.text.blocks import split_blocks

LONG = "".join(f"{i}日目、灯台守は風と波を日誌に書き留めた。" for i in range(200))
ME = Axes.agent("me")


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    old = sqlite3.connect(path, isolation_level=None)
    assert migrate(old, MIGRATIONS[:4]) == 4
    old.executemany(
        "INSERT INTO memories (revision, created_at, agent_id, content_hash, content)"
        " VALUES (?, 7, 'me', x'00', ?)",
        [(1, "tea"), (2, LONG), (3, "お茶")],
    )
    old.executemany(
        "INSERT INTO blocks (memory_id, block_index, start_char, end_char) VALUES (2, ?, ?, ?)",
        [(index, *block) for index, block in enumerate(split_blocks(LONG))],
    )
    old.execute("DELETE FROM memories WHERE id = 3")
    old.execute("INSERT INTO deletions VALUES (3, 4)")
    old.execute("UPDATE meta SET generation = 4, blocks_version = 1")
    old.close()
    return path


def test_it_moves_forward_and_keeps_its_rows(old_file):
    conn = open_database(old_file, create=False)
    assert schema_version(conn) == SCHEMA_VERSION > 4
    assert contents(conn) == ["tea", LONG]
    assert generation(conn) == 4
    assert {row.kind for row in fetch_rows(conn, ME, [1, 2, 3]).values()} == {"memory"}
    assert versions_of(conn, ME, [1, 2, 3]) == nodes_of(conn, ME, [1, 2, 3]) == {}
    assert is_sound(conn)
    conn.close()


def test_what_is_new_works_in_it(old_file):
    with cpersona_jit.open(old_file, BagOfWords(), wait_for_kernels=False) as memory:
        assert memory.update("mem:1", "緑茶", agent_id="me").status == "stored"
        (old,) = memory.get_contents(["mem:1"], agent_id="me", history=True).history["mem:1"]
        assert (old.ref, old.content, old.written_at) == (f"mem:{10**15 + 1}", "tea", 7)
        span = {"start": "2026-03-01", "end": "2026-03-02"}
        assert memory.archive_episode("trip", agent_id="me", **span).ref == "ep:4"  # 3 was used
        assert memory.reembed().chains_done == 1
        assert len(nodes_of(memory._conn, ME, [2])[2]) > 1
        assert memory.recall("trip", agent_id="me").rows[0].ref == "ep:4"


UPDATES = """
import sys
import cpersona_jit
with cpersona_jit.open(sys.argv[1], "none", wait_for_kernels=False) as memory:
    print(memory.store("text 0", agent_id="me").ref, flush=True)
    for number in range(1, 100_000):
        assert memory.update("mem:1", f"text {number} 文", agent_id="me").status == "stored"
        print(number, flush=True)
"""


def test_a_killed_process_leaves_each_text_once(tmp_path):
    path = tmp_path / "m.db"
    with subprocess.Popen(
        [sys.executable, "-c", UPDATES, os.fspath(path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "mem:1\n"
        for _ in range(40):
            last = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
    conn = open_database(path)
    assert is_sound(conn)
    now = fetch_rows(conn, ME, [1])[1].content
    old = [version.content for version in versions_of(conn, ME, [1])[1]]
    texts = [now, *old]
    assert texts == [*(f"text {n} 文" for n in range(len(old), 0, -1)), "text 0"]
    assert len(old) >= last  # whatever was acknowledged is there
    conn.close()
