"""Processes that are killed while they write columns or make them compact, and two at a time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from columns_file_cases import LONG, fill, is_mapped, keep, opened, rebuilt
from memory_cases import plain_columns

from cpersona_jit import Record

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")

# The child dies by its own hand at the place that it is told: a signal from outside would hardly
# ever find it there.
CHILD = """
import os, signal, sys
from columns_file_cases import opened
from cpersona_jit import Record
from cpersona_jit.columns import beside, keeper, sections

path, where, number = sys.argv[1], sys.argv[2], int(sys.argv[3])

def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)

if where == "part":
    write_all, written = sections._write_all, []
    def dies_half_way(file, data):
        written.append(data)
        if len(written) == number:
            file.write(data[: len(data) // 2])
            die()
        write_all(file, data)
    sections._write_all = dies_half_way
elif where == "synced":
    sections.os.fsync = die
elif where == "unpublished":
    beside.os.replace = die
elif where == "unnamed":
    replace = os.replace
    def dies_behind(source, target):
        replace(source, target)
        die()
    beside.os.replace = dies_behind
elif where == "named":
    beside.sync_folder = die
elif where in ("folded", "without_gone"):
    setattr(keeper, where, die)

with opened(path) as memory:
    memory._keeper.limits = keeper.Limits(4, 1 << 30, 4, 100, 1)
    memory.columns()
    memory._keeper.wait()
    memory.store_many([Record(f"in the child {i} 抹茶", "a", session_id="s1") for i in range(9)])
    memory.columns()
    memory._keeper.wait()
    memory.delete([f"mem:{i}" for i in range(5, 30)], agent_id="a")
    memory.columns()
    memory._keeper.wait()
    memory.columns()
print("lived")
"""
PLACES = [
    *(("part", number) for number in (1, 2, 9, 20, 30, 40, 60, 75)),
    ("synced", 0),
    ("unpublished", 0),
    ("unnamed", 0),
    ("named", 0),
    ("folded", 0),
    ("without_gone", 0),
]


def run(path: Path, where: str, number: int = 0) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(path), where, str(number)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("has_file", [False, True])
@pytest.mark.parametrize(("where", "number"), PLACES)
def test_kill_9_leaves_right_answers(path: Path, where: str, number: int, has_file: bool) -> None:
    if has_file:
        keep(path)
    child = run(path, where, number)
    assert (child.returncode, child.stdout) == (-signal.SIGKILL, ""), child.stderr
    expected = rebuilt(path)
    for _ in range(2):
        with opened(path) as memory:
            assert plain_columns(memory.columns()) == expected
            assert memory.recall("抹茶", agent_id="a").rows
    with opened(path) as memory:
        assert is_mapped(memory.columns())
        assert "in order" in memory.status().columns
    assert not Path(f"{path}-columns.tmp").exists()


def test_the_child_lives_where_it_is_not_killed(path: Path) -> None:
    child = run(path, "nowhere")
    assert (child.returncode, child.stdout) == (0, "lived\n"), child.stderr
    with opened(path) as memory:
        assert is_mapped(memory.columns())
        assert plain_columns(memory.columns()) == rebuilt(path)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("filled") / "m.db"
    fill(made)
    return made


@pytest.fixture
def path(tmp_path: Path, filled: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "m.db"))


WRITER = """
import sys
from columns_file_cases import opened
from cpersona_jit import Record
from cpersona_jit.columns.keeper import Limits

path, agent = sys.argv[1:]
with opened(path) as memory:
    memory._keeper.limits = Limits(3, 1 << 30, 2, 100, 1)
    for step in range(12):
        text = f"{agent} says 抹茶 {step}" + (" and the harbour is quiet." * 40) * (step % 3 == 0)
        ref = memory.store_many([Record(text, agent, session_id="s1")])[0].ref
        (found,) = memory.recall(f"{agent} says {step}", agent_id=agent, limit=1).rows[:1]
        if step % 4 == 3:
            memory.delete([ref], agent_id=agent)
print("done")
"""


def test_two_processes_keep_one_store(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), agent],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for agent in ("a", "b")
    ]
    for writer in writers:
        out, errors = writer.communicate()
        assert out == "done\n", errors
    with opened(path) as memory:
        assert plain_columns(memory.columns()) == rebuilt(path)
        memory.store_many([Record(LONG, "a")])
        assert plain_columns(memory.columns()) == rebuilt(path)
    with opened(path) as memory:
        assert is_mapped(memory.columns())
        assert plain_columns(memory.columns()) == rebuilt(path)
