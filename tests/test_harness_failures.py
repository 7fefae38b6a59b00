"""What breaks under a run: the disk, the embedder, its record. What was finished stays."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from embedding_server import EmbeddingServer
from harness_process import CONFIG, DENSE, SCOPES, check, harness, run, write_parcels


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Return a data folder with one small sound dataset."""
    return write_parcels(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def whole_run(data, tmp_path_factory) -> Path:
    """Return the folder of a run that nothing was wrong with."""
    folder = tmp_path_factory.mktemp("whole")
    done = run(folder, data)
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.fixture
def small_disk(tmp_path):
    """Return a file system with room for some units of a run and not for all."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=28k", "tmpfs", str(disk)]
    if not sys.platform.startswith("linux") or subprocess.run(mount).returncode:
        pytest.skip("no right to mount a small file system")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_is_said_and_the_run_goes_on_where_there_is_room(
    tmp_path, data, whole_run, small_disk
):
    out = small_disk / "out"
    check(run(tmp_path, data, out=out, cores=2), 1, "No space left", str(small_disk))
    kept = list(small_disk.rglob("parts/[0-9]*.queries.parquet"))
    assert 0 < len(kept) < SCOPES
    for path in small_disk.rglob("*.parquet"):
        assert pq.read_table(path).num_rows > 0
    # Room for the pool but not for the pictures: the record of the run is whole.
    subprocess.run(["mount", "-o", "remount,size=100k", str(small_disk)], check=True)
    check(run(tmp_path, data, out=out), 1, "No space left", str(small_disk))
    subprocess.run(["mount", "-o", "remount,size=2m", str(small_disk)], check=True)
    done = harness(tmp_path, "report", out)
    assert done.returncode == 0, done.stderr
    for name in ("candidates.parquet", "qrels.parquet"):
        (expected,) = whole_run.glob(f"pools/*/{name}")
        (written,) = out.glob(f"pools/*/{name}")
        assert written.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("name", ["summary.json", "records.parquet"])
def test_a_truncated_record_given_to_report(tmp_path, whole_run, name):
    shutil.copytree(whole_run, tmp_path / "out")
    path = tmp_path / "out" / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    before = (tmp_path / "out" / "report.md").read_bytes()
    check(harness(tmp_path, "report", tmp_path / "out"), 1, str(path), "truncated or damaged")
    assert (tmp_path / "out" / "report.md").read_bytes() == before


def test_an_embedder_that_cannot_be_reached(tmp_path, data):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        check(run(tmp_path, data, CONFIG.replace('"none"', f'"{url}"')), 1, url, "refused")


def test_an_embedder_that_dies_midway_costs_only_what_it_had_not_answered(tmp_path, data):
    server = EmbeddingServer()
    try:
        config = CONFIG.replace('"none"', f'"{server.url}"').replace("[[arms]]", DENSE, 1)
        server.alive = lambda texts: len(texts) <= 2 * SCOPES  # the queries, and not the rows
        check(run(tmp_path, data, config), 1, server.url)
        kept = set(server.answered) - {"dimension"}
        assert len(kept) > 1
        server.alive = lambda texts: True
        server.answered.clear()
        done = run(tmp_path, data, config)
        assert done.returncode == 0, done.stderr
        assert not kept & set(server.answered)
    finally:
        server.close()
