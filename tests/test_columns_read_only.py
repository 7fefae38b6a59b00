"""Columns of a store that cannot be written: read from their file, or kept in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from columns_file_cases import fill, keep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")

# Root may write anything: the child becomes nobody, after a first life in a folder of its own has
# imported everything, since the code need not be readable without the rights of root.
CHILD = """
import os, sys, tempfile
from pathlib import Path
from columns_file_cases import fill, is_mapped, keep, opened
with tempfile.TemporaryDirectory() as own:
    fill(Path(own) / "m.db")
    keep(Path(own) / "m.db")
    with opened(Path(own) / "m.db") as memory:
        memory.recall("tea", agent_id="a")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with opened(sys.argv[1]) as memory:
    print(is_mapped(memory.columns()), len(memory.recall("tea 抹茶", agent_id="a").rows))
    memory._keeper.wait()
    print(memory.status().columns)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that everybody may enter, which those of pytest are not."""
    path = Path(tempfile.mkdtemp(prefix="columns-read-only-"))
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


def look(folder: Path) -> list[str]:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    before = sorted(folder.iterdir())
    told = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder / "m.db")],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert sorted(folder.iterdir()) == before
    return told.stdout.splitlines()


@pytest.mark.parametrize("damaged", [False, True])
def test_a_file_is_read_where_none_can_be_written(folder: Path, damaged: bool) -> None:
    fill(folder / "m.db")
    file = keep(folder / "m.db")
    if damaged:
        file.write_bytes(file.read_bytes()[:5000])
    first, second = look(folder)
    assert first == f"{not damaged} 12"
    assert second.startswith("the file is of no use" if damaged else "file of ")


def test_columns_stay_in_memory_where_no_file_can_be_written(folder: Path) -> None:
    fill(folder / "m.db")
    first, second = look(folder)
    assert first == "False 12"
    assert second == "no file is written: the store is open for reading only"
