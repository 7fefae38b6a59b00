"""A full disk or a size limit: the write fails as a whole, the store stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from store_cases import clean, contents, is_sound, put

from cpersona_jit.errors import StoreError, StoreFullError
from cpersona_jit.isolation import Axes
from cpersona_jit.store.changes import delete
from cpersona_jit.store.database import generation, open_database

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux mounts")

BIG = "満" * 15_000


@pytest.fixture
def small_disk(tmp_path):
    """Return a file system of four MiB; only the administrator can have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small file system")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk) -> None:
    with open(disk / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass


def write_until_full(conn) -> list[str]:
    stored = []
    with pytest.raises(StoreFullError, match="nothing was changed"):
        for number in range(1000):
            batch = [clean(f"{number}/{i} {BIG}") for i in range(3)]
            put(conn, *batch)
            stored += [record.content for record in batch]
    return stored


def test_a_full_disk_leaves_the_store_as_it_was(small_disk):
    path = small_disk / "memory.db"
    (small_disk / "reserve").write_bytes(bytes(500_000))
    conn = open_database(path)
    stored = write_until_full(conn)
    at = generation(conn)
    assert 0 < len(stored) == 3 * at
    assert contents(conn) == stored
    fill(small_disk)
    with pytest.raises(StoreFullError):
        put(conn, *(clean(f"never {i} {BIG}") for i in range(100)))
    assert contents(conn) == stored
    assert generation(conn) == at
    assert is_sound(conn)
    # With room again, the same connection goes on.
    (small_disk / "filler").unlink()
    (small_disk / "reserve").unlink()
    assert delete(conn, Axes.agent("me"), ["mem:1"])[0] == ("mem:1",)
    conn.close()
    again = open_database(path, create=False)
    assert contents(again) == stored[1:]
    assert is_sound(again)
    again.close()


def test_a_store_on_a_full_disk_opens_or_says_why_not(small_disk):
    path = small_disk / "memory.db"
    conn = open_database(path)
    put(conn, clean("今日は"))
    conn.close()
    fill(small_disk)
    try:
        conn = open_database(path)
    except StoreError as error:
        assert "full" in str(error)
    else:
        assert contents(conn) == ["今日は"]
        conn.close()
    (small_disk / "filler").unlink()
    conn = open_database(path)
    assert contents(conn) == ["今日は"]
    assert put(conn, clean("there is room"))[0].status == "stored"
    conn.close()


def test_no_new_store_on_a_full_disk(small_disk):
    fill(small_disk)
    with pytest.raises(StoreFullError, match=r"new\.db"):
        open_database(small_disk / "new.db")
    (small_disk / "filler").unlink()
    conn = open_database(small_disk / "new.db")
    assert put(conn, clean("a"))[0].status == "stored"
    conn.close()


LIMITED = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from store_cases import *
from cpersona_jit.errors import StoreFullError
from cpersona_jit.store.database import open_database
conn = open_database(sys.argv[1])
put(conn, clean("before"))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
stored = 1
try:
    for number in range(1000):
        put(conn, *(clean(f"{number}/{i} " + "x" * 5000) for i in range(3)))
        stored += 3
except StoreFullError as error:
    print(error)
assert len(contents(conn)) == stored, (len(contents(conn)), stored)
assert is_sound(conn)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
put(conn, clean("after"))
conn.close()
print(stored + 1)
"""


def test_a_file_size_limit_is_met_like_a_full_disk(tmp_path):
    path = tmp_path / "limited.db"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), os.path.dirname(__file__)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    message, stored = done.stdout.splitlines()
    assert "limited.db" in message
    assert "full" in message
    conn = open_database(path)
    assert len(contents(conn)) == int(stored)
    assert is_sound(conn)
    conn.close()
