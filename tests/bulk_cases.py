"""What the tests of import and export share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import ImportOptions, ImportReport, Memory

ME = ImportOptions(agent_id="me")
DIM = 8


def opened(path: Path, embedder: object = "none") -> Memory:
    return cpersona_jit.open(path, embedder, wait_for_kernels=False)


def bag() -> BagOfWords:
    return BagOfWords(dim=DIM)


def lines(*records: Any) -> bytes:
    """JSON Lines; bytes stand for a line as it is."""
    return b"".join(
        (r if isinstance(r, bytes) else json.dumps(r, ensure_ascii=False).encode()) + b"\n"
        for r in records
    )


def written(path: Path, *records: Any) -> Path:
    path.write_bytes(lines(*records))
    return path


def vectors(count: int, seed: int = 0) -> np.ndarray:
    """Vectors of length other than 1."""
    return np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)


def rows(memory: Memory, columns: str = "content") -> list[Any]:
    """Columns of every row, in the order of insertion."""
    found = memory._conn.execute(f"SELECT {columns} FROM memories ORDER BY id").fetchall()
    return [row[0] if len(row) == 1 else row for row in found]


def stored_vectors(memory: Memory) -> np.ndarray:
    return np.array([np.frombuffer(raw, "<f4") for raw in rows(memory, "embedding")])


def told(report: ImportReport) -> dict[str, int]:
    """Counts by reason, and of what was stored."""
    return {reason or status: count for (status, reason), count in report.counts.items()}


def examples(report: ImportReport, reason: str) -> list[tuple[int, str]]:
    return [(one.number, one.detail) for one in report.examples.get(reason, ())]


def texts(count: int, start: int = 0) -> Iterable[str]:
    for number in range(start, start + count):
        yield f"row {number} 記憶{number}番"
