"""A memory in a file that cannot be written: it answers, and says why it does not store."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import cpersona_jit
from cpersona_jit import Record

pytestmark = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")

# Root may write anything: the child becomes nobody, after a first life in a folder of its own has
# imported everything, since the code need not be readable without the rights of root.
CHILD = """
import os, sys, tempfile
import cpersona_jit
from cpersona_jit.errors import CPersonaError
with tempfile.TemporaryDirectory() as own:
    with cpersona_jit.open(own + "/m.db", "none", wait_for_kernels=False) as memory:
        memory.store("tea", agent_id="a")
        memory.recall("tea", agent_id="a")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with cpersona_jit.open(sys.argv[1], "none", wait_for_kernels=False) as memory:
    for query in ("tea", "抹茶"):
        print([row.content for row in memory.recall(query, agent_id="a").rows])
    print([row.content for row in memory.get_contents(["mem:2"], agent_id="a").rows])
    print(memory.status().rows)
    for change in (
        lambda: memory.store("new", agent_id="a"),
        lambda: memory.update("mem:1", "new", agent_id="a"),
        lambda: memory.delete(["mem:1"], agent_id="a"),
    ):
        try:
            print(change())
        except CPersonaError as error:
            print(type(error).__name__)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that everybody may enter, which those of pytest are not."""
    path = Path(tempfile.mkdtemp(prefix="memory-read-only-"))
    path.chmod(0o755)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


def test_a_memory_that_cannot_be_written_still_answers(folder: Path) -> None:
    path = folder / "m.db"
    with cpersona_jit.open(path, "none", wait_for_kernels=False) as memory:
        memory.store_many([Record("green tea", "a"), Record("京都で抹茶", "a")])
    path.chmod(0o444)
    folder.chmod(0o555)
    before = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "['green tea']",
        "['京都で抹茶']",
        "['京都で抹茶']",
        "2",
        *["ReadOnlyStoreError"] * 3,
    ]
    assert path.read_bytes() == before
