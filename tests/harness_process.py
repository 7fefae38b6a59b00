"""``python -m harness`` in a process of its own, on a small sound dataset called ``parcels``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).parent.parent
CONFIG = """
name = "bad"
[[datasets]]
name = "parcels"
[model]
provider = "none"
[[arms]]
name = "gram3"
kind = "gram"
[[arms]]
name = "gram4"
kind = "gram"
size = 4
[freeze]
depth = 20
[sweep]
depth = [5, 20]
weights = [{gram3 = 1, gram4 = 1}]
[bootstrap]
resamples = 100
"""
DENSE = '[[arms]]\nname = "dense"\nkind = "dense"\n[[arms]]'
SCOPES = 6


def write_parcels(folder: Path) -> Path:
    """Write the dataset into a data folder."""
    rows, queries, qrels = [], [], []
    for scope in (f"s{number}" for number in range(SCOPES)):
        rows += [
            {"doc_id": f"{scope}d{i}", "scope_id": scope, "speaker": "Mika", "session_id": None,
             "text": f"Parcel {i * 7} of {scope} is on shelf {i}. 荷物{i * 7}は棚{i}にあります。",
             "timestamp": f"2026-01-{i + 1:02d}T09:00:00Z" if i else None}
            for i in range(6)
        ]  # fmt: skip
        for i in range(2):
            text = f"Where is parcel {i * 7}?" if i else "荷物0はどこですか?"
            about = {"scope_id": scope, "task": "where", "answer": None, "timestamp": None}
            queries.append({"query_id": f"{scope}q{i}", "text": text} | about)
            qrels.append({"query_id": f"{scope}q{i}", "doc_id": f"{scope}d{i}", "score": 1})
    (folder / "parcels").mkdir()
    for name, records in (("corpus", rows), ("queries", queries), ("qrels", qrels)):
        pq.write_table(pa.Table.from_pylist(records), folder / "parcels" / f"{name}.parquet")
    return folder


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "harness", *map(str, arguments)]


def environment(folder: Path, cores: int = 1) -> dict[str, str]:
    """Return an environment with caches of its own and without a way to the network."""
    return os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "CPERSONA_JIT_DATA_CACHE": str(folder / "datasets"),
        "HF_HUB_OFFLINE": "1",
        "LOKY_MAX_CPU_COUNT": str(cores),
        "MPLCONFIGDIR": matplotlib.get_cachedir(),  # looking for fonts anew takes seconds
    }


def harness(folder: Path, *arguments: object, cores: int = 1) -> subprocess.CompletedProcess:
    """Run the command line with caches of its own and without a way to the network.

    More than one core makes worker processes.
    """
    return subprocess.run(
        command(*arguments),
        env=environment(folder, cores),
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def run(
    folder: Path,
    data: Path,
    config: str | bytes = CONFIG,
    out: Path | None = None,
    cores: int = 1,
) -> subprocess.CompletedProcess:
    path = folder / "run.toml"
    path.write_bytes(config if isinstance(config, bytes) else config.encode())
    out = out or folder / "out"
    return harness(folder, "run", path, "--data", data, "--out", out, cores=cores)


def said_lines(stderr: str) -> list[str]:
    """Lines of a run's stderr that are its own.

    joblib's tracker may find, after all is said, that a worker let go of its semaphore late.
    """
    return [line for line in stderr.splitlines() if line.strip() and not _of_tracker(line)]


def _of_tracker(line: str) -> bool:
    return "loky/backend/resource_tracker.py:" in line or line.startswith("  warnings.warn(")


def check(done: subprocess.CompletedProcess, code: int, *words: str) -> None:
    """Check that it failed with this code and one line that says these words."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout == ""
    lines = said_lines(done.stderr)
    said = [number for number, line in enumerate(lines) if line.lower().startswith("error: ")]
    assert said == [len(lines) - 1], done.stderr
    for word in words:
        assert word in lines[-1]
