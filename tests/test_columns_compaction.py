"""Making a snapshot compact while it goes on changing: the same rows, and the same for readers."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from columns_file_cases import WORDS, fill, opened, rebuilt
from memory_cases import plain, plain_columns

from cpersona_jit import Memory, Record
from cpersona_jit.columns import build
from cpersona_jit.columns.compact import folded, without_gone
from cpersona_jit.columns.keeper import Limits, _Made
from cpersona_jit.columns.postings import NUMPY_GRAMS
from cpersona_jit.columns.snapshot import Columns

NEVER = Limits(1 << 30, 1 << 40, 1 << 30, 8, 1 << 30)
ALWAYS = Limits(2, 1 << 30, 2, 100, 1 << 30)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "m.db"
    fill(made)
    return made


def grown(memory: Memory, step: int) -> Columns:
    """Store, change and delete a row each, and look."""
    memory.store_many([Record(f"tea {step} 抹茶", "a", session_id="s1")])
    memory.update(f"mem:{10 + step}", f"again {step} 京都", agent_id="a")
    memory.delete([f"mem:{30 + step}"], agent_id="a")
    return memory.columns()


@pytest.mark.parametrize("later", [0, 1, 3])
@pytest.mark.parametrize("moved", [False, True])
def test_what_was_made_of_an_older_snapshot_is_taken_over(
    path: Path, moved: bool, later: int
) -> None:
    with opened(path) as memory:
        memory._keeper.limits = NEVER
        memory.columns()
        source = grown(memory, 1)
        result = (without_gone if moved else folded)(source, NUMPY_GRAMS)
        assert plain_columns(result) == plain_columns(source)
        for step in range(2, 2 + later):
            grown(memory, step)
        added = memory.columns().n - source.n
        memory._keeper._made = _Made(source, result, moved)
        columns = memory.columns()
        assert columns.gram_index[3] is result.gram_index[3]
        assert columns.n - columns.gram_index[3].n == added
        assert plain_columns(columns) == rebuilt(path)
        assert plain_columns(grown(memory, 9)) == rebuilt(path)


def test_what_was_made_of_another_snapshot_is_left(path: Path) -> None:
    with opened(path) as memory, opened(path) as other:
        memory._keeper.limits = other._keeper.limits = NEVER
        memory.columns()
        source = other.columns()
        memory._keeper._made = _Made(source, folded(source, NUMPY_GRAMS), moved=False)
        assert memory.columns().gram_index[3] is not source.gram_index[3]


def test_a_worker_keeps_the_tail_short_and_the_rows_alive(path: Path) -> None:
    with opened(path) as memory:
        memory._keeper.limits = ALWAYS
        memory.columns()
        for step in range(1, 9):
            grown(memory, step)
            memory._keeper.wait()
            columns = memory.columns()
            memory._keeper.wait()
            assert plain_columns(columns) == rebuilt(path)
        columns = memory.columns()
        assert columns.n - columns.gram_index[3].n <= 2
        assert columns.n - columns.alive.count <= 4


def test_no_compaction_while_little_changed(path: Path) -> None:
    with opened(path, file_rows=1 << 30) as memory:
        memory.columns()
        grown(memory, 1)
        assert memory._keeper._worker is None


def test_older_snapshots_stay_as_they_were(path: Path) -> None:
    with opened(path) as memory:
        memory._keeper.limits = ALWAYS
        kept = []
        for step in range(1, 8):
            columns = grown(memory, step)
            kept.append((columns, plain(columns.before), plain(columns.after), told(columns)))
            if step % 3 == 0:
                memory._keeper.wait()
        for columns, before, after, found in kept:
            assert (plain(columns.before), plain(columns.after)) == (before, after)
            assert told(columns) == found


def told(columns: Columns) -> object:
    return plain_columns(columns)


def test_recalls_go_on_during_compaction(path: Path) -> None:
    problems: list[BaseException] = []
    stop = threading.Event()

    def recall() -> None:
        try:
            while not stop.is_set():
                found = memory.recall("again 京都 tea", agent_id="a", limit=100, trace=True)
                assert len(set(found.trace.ranking.tolist())) == found.trace.ranking.size
        except BaseException as error:
            problems.append(error)

    with opened(path) as memory:
        memory._keeper.limits = ALWAYS
        memory.columns()
        reader = threading.Thread(target=recall)
        reader.start()
        rng = np.random.default_rng(5)
        for step in range(1, 15):
            grown(memory, step)
            memory.store_many([Record(" ".join(rng.choice(WORDS, 9)), "b") for _ in range(3)])
        stop.set()
        reader.join()
        assert problems == []
        memory._keeper.wait()
        assert plain_columns(memory.columns()) == rebuilt(path)


def test_a_compaction_that_fails_is_said_and_recalls_go_on(path: Path, caplog) -> None:
    with opened(path) as memory:
        memory._keeper.limits = ALWAYS
        memory.columns()

        def fails(*arguments: object) -> object:
            raise MemoryError("no room")

        kernels = memory._kernels()
        broken = NUMPY_GRAMS._replace(merge_gram_index=fails)
        memory._kernels = lambda: broken
        for step in range(1, 6):
            grown(memory, step)
        memory._keeper.wait()
        assert "could not be made compact" in memory.status().columns
        assert "no room" in caplog.text
        memory._kernels = lambda: kernels
        assert plain_columns(grown(memory, 7)) == rebuilt(path)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, 30, 31])
def test_a_store_is_read_a_chunk_at_a_time(
    tmp_path: Path, chunk: int, centred: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chunks.db"
    fill(path, centred=centred, rows=32)  # one of them is deleted
    at_once = rebuilt(path, centred=centred)
    monkeypatch.setattr(build, "CHUNK_ROWS", chunk)
    with opened(path, centred=centred, file_rows=1 << 30) as memory:
        columns = memory.columns()
        assert plain_columns(columns) == at_once
        assert columns.gram_index[3].n == columns.n == 31
        memory.store_many([Record(f"more 抹茶 {i}", "a", session_id="s2") for i in range(40)])
        assert plain_columns(memory.columns()) == rebuilt(path, centred=centred)
