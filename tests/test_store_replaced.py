"""A store whose file goes away while it is open: no write is acknowledged that would be lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.errors import StoreError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="an open file cannot be removed there")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "m.db"


def opened(path: Path) -> Memory:
    return cpersona_jit.open(path, BagOfWords(), wait_for_kernels=False)


def remove(path: Path) -> None:
    for file in path.parent.iterdir():
        file.unlink()


def remove_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def replace(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


def move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


@pytest.mark.parametrize("happen", [remove, remove_log, replace, move_folder])
def test_writes_and_recalls_say_that_the_file_is_gone(path: Path, happen) -> None:
    with opened(path) as memory:
        memory.store_many([Record("green tea", "a"), Record("抹茶", "a")])
        memory.recall("tea", agent_id="a")
        happen(path)
        calls = [
            lambda: memory.store("new", agent_id="a"),
            lambda: memory.store("green tea", agent_id="a"),  # a duplicate of what is gone
            lambda: memory.update("mem:1", "black tea", agent_id="a"),
            lambda: memory.delete(["mem:1"], agent_id="a"),
            lambda: memory.recall("tea", agent_id="a"),
        ]
        for call in calls:
            with pytest.raises(StoreError, match="moved, removed or replaced"):
                call()


def test_a_file_removed_during_a_write_is_noticed_before_the_answer(path: Path) -> None:
    class Slow(BagOfWords):
        def embed(self, texts, *, kind):
            remove(path)
            return super().embed(texts, kind=kind)

    with (
        cpersona_jit.open(path, Slow(), wait_for_kernels=False) as memory,
        pytest.raises(StoreError, match="moved, removed or replaced"),
    ):
        memory.store("new", agent_id="a")
    with opened(path) as memory:
        assert memory.status().rows == 0


def test_other_processes_may_come_and_go(path: Path) -> None:
    """Their checkpoints, and the last one's clean-up, leave the files in place."""
    with opened(path) as memory:
        memory.store("one", agent_id="a")
        with opened(path) as other:
            other.store("two", agent_id="a")
        conn = sqlite3.connect(path)
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        conn.execute("VACUUM")
        conn.close()
        memory.store("three", agent_id="a")
        assert len(memory.recall("two", agent_id="a").rows) == 3
