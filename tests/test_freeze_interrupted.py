"""Freezing that is killed, starved or loses its embedder keeps what it finished and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from embedding_server import EmbeddingServer
from freeze_cases import conversations, run_config, same_pools
from joblib.externals.loky import get_reusable_executor

from cpersona_jit.embed.http import HttpProvider
from cpersona_jit.errors import EmbeddingError
from harness.embedding_cache import cache_path
from harness.freeze import freeze
from harness.freeze_unit import FreezeError
from harness.pool import load_pool

TESTS = Path(__file__).parent
PER_UNIT = 4
UNITS = 9  # three scopes of nine queries, each in slices of 4, 4 and 1

CHILD = """
import sys
import harness.freeze as freezing
from freeze_cases import conversations, run_config
from pathlib import Path
url, cache, pools, jobs, per_unit = sys.argv[1:]
freezing.QUERIES_PER_UNIT = int(per_unit)
freezing.freeze(
    run_config(url), conversations(), cache_dir=Path(cache), pools_dir=Path(pools), jobs=int(jobs),
    progress=lambda stage, done, total: print(stage, done, flush=True),
)
"""


@pytest.fixture(scope="module")
def server():
    server = EmbeddingServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def uninterrupted(server, tmp_path_factory) -> Path:
    """Return the pool of a run that nothing disturbed, each scope frozen in one unit."""
    folder = tmp_path_factory.mktemp("whole")
    config = run_config(server.url)
    return freeze(config, conversations(), jobs=1, cache_dir=folder / "c", pools_dir=folder / "p")


@pytest.fixture
def small_units(monkeypatch, server):
    server.alive = lambda texts: True
    monkeypatch.setattr("harness.freeze.QUERIES_PER_UNIT", PER_UNIT)


def folders(tmp_path: Path) -> dict[str, Path]:
    return {"cache_dir": tmp_path / "cache", "pools_dir": tmp_path / "pools"}


def finished(tmp_path: Path) -> dict[str, tuple[int, int]]:
    """Every finished unit by the file that was written last, with what tells a rewrite."""
    found = {}
    for path in (tmp_path / "pools").glob("*/parts/[0-9]*.queries.parquet"):
        found[path.name] = (path.stat().st_ino, path.stat().st_mtime_ns)
    return found


def resume(server, tmp_path: Path, jobs: int = 1) -> tuple[Path, int]:
    """Freeze to the end; return the pool and how many units were found done and left alone."""
    # Taken before, not while freezing: workers of a killed run may go on for a moment, and then
    # both write the same unit, which harms nothing.
    begun = finished(tmp_path)
    counted = []

    def watch(stage: str, done: int, total: int) -> None:
        if stage == "freeze":
            counted.append((done, total))
            if done == total:
                assert begun.items() <= finished(tmp_path).items(), "a finished unit was redone"

    config = run_config(server.url)
    pool = freeze(config, conversations(), jobs=jobs, progress=watch, **folders(tmp_path))
    assert [done for done, _ in counted] == list(range(counted[0][0], UNITS + 1))
    assert counted[0][0] >= len(begun)
    return pool, counted[0][0]


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
@pytest.mark.parametrize("jobs", [1, 2])
def test_kill_9_loses_no_finished_unit(server, uninterrupted, small_units, tmp_path, jobs):
    where = folders(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, server.url, *map(str, [*where.values(), jobs, PER_UNIT])],
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if line == "freeze 2\n":
            break
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    process.stdout.close()
    assert list(where["pools_dir"].glob("*/meta.json")) == []
    assert len(finished(tmp_path)) >= 2
    server.answered.clear()
    pool, kept = resume(server, tmp_path)
    assert 2 <= kept < UNITS
    assert same_pools(pool, uninterrupted)
    assert set(server.answered) == {"dimension"}, "texts were embedded again"


def test_neither_the_number_of_jobs_nor_the_size_of_a_unit_changes_the_pool(
    server, uninterrupted, small_units, tmp_path
):
    for jobs in (1, 2):
        pool, kept = resume(server, tmp_path / str(jobs), jobs)
        assert kept == 0
        assert not (pool / "parts").exists()
        assert same_pools(pool, uninterrupted)


def test_an_embedder_that_dies_while_texts_are_embedded(
    server, uninterrupted, small_units, tmp_path
):
    calls = []
    server.answered.clear()
    server.alive = lambda texts: calls.append(texts) or len(calls) <= 5
    with pytest.raises(EmbeddingError, match=server.url):
        resume(server, tmp_path)
    # Call 1 asks for the dimension, 2 for the queries; 3 to 5 are the first 256 texts.
    kept = set(server.answered)
    assert len(calls[1]) == 27 and len(calls[2]) == 100
    server.alive = lambda texts: True
    server.answered.clear()
    pool, _ = resume(server, tmp_path)
    assert kept & set(server.answered) <= {"dimension"}
    assert same_pools(pool, uninterrupted)


def test_an_embedder_that_dies_while_units_are_frozen(server, uninterrupted, small_units, tmp_path):
    probes = []

    def alive(texts: list[str]) -> bool:
        if texts == ["dimension"]:  # asked once by the run, then once by each unit
            probes.append(texts)
        return len(probes) <= 4

    server.alive = alive
    with pytest.raises(EmbeddingError, match=server.url):
        resume(server, tmp_path)
    assert len(finished(tmp_path)) == 3
    server.alive = lambda texts: True
    pool, kept = resume(server, tmp_path)
    assert kept == 3
    assert same_pools(pool, uninterrupted)


def test_a_worker_that_is_killed_is_said_and_the_rest_is_kept(
    server, uninterrupted, small_units, tmp_path
):
    def kill(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("freeze", 1):
            for pid in list(get_reusable_executor(reuse=True)._processes):
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(FreezeError, match=r"worker process.*run again"):
        freeze(run_config(server.url), conversations(), jobs=2, progress=kill, **folders(tmp_path))
    pool, kept = resume(server, tmp_path)
    assert 1 <= kept < UNITS
    assert same_pools(pool, uninterrupted)


@pytest.mark.parametrize("damaged", ["0000004.candidates.parquet", "0000013.queries.parquet"])
def test_a_damaged_part_is_named_and_only_it_is_frozen_again(
    server, uninterrupted, small_units, tmp_path, damaged
):
    config, where = run_config("none"), folders(tmp_path)

    def damage(stage: str, done: int, total: int) -> None:
        if done == total:
            (path,) = where["pools_dir"].glob(f"*/parts/{damaged}")
            path.write_bytes(path.read_bytes()[:200])

    with pytest.raises(FreezeError, match=f"{damaged}: cannot be read .* delete it") as caught:
        freeze(config, conversations(), jobs=1, progress=damage, **where)
    assert "\n" not in str(caught.value)
    Path(str(caught.value).partition(":")[0]).unlink()
    counted = []
    pool = freeze(config, conversations(), jobs=1, **where,
                  progress=lambda stage, done, total: counted.append(done))  # fmt: skip
    assert counted == [UNITS - 1, UNITS]
    assert load_pool(pool).query_ids == load_pool(uninterrupted).query_ids


def test_a_damaged_cache_is_said_not_used(server, tmp_path):
    where = folders(tmp_path)
    where["cache_dir"].mkdir()
    cache_path(where["cache_dir"], HttpProvider(server.url).info).write_bytes(b"not SQLite" * 500)
    with pytest.raises(EmbeddingError, match=r"embedding cache .* cannot be used"):
        freeze(run_config(server.url), conversations(), jobs=1, **where)
