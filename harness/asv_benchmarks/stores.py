"""Stores of each size, made once per run of asv and read back in parts by the benchmarks.

A benchmark reads the parts that it needs and no others, so that peak memory is its own.
"""

from __future__ import annotations

import os
import pickle
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import cpersona_jit
from cpersona_jit.columns.postings import grams_of_rows
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.text.grams import GRAM_SIZES

from .chat_rows import DIM, chat_rows, chat_vectors

AGENT = "benchmark"
# A million rows take some ten minutes more, 15 GB of memory and as much disk.
MILLION = "CPERSONA_JIT_ASV_MILLION"
SIZES = (1_000, 10_000, 100_000) + ((1_000_000,) if os.environ.get(MILLION) == "1" else ())


class HashedVectors:
    """An embedder that costs next to nothing: a text's checksum seeds its vector."""

    info = ModelInfo("hashed", DIM, model_fingerprint(provider="benchmark", dim=DIM), None)

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return a vector per text."""
        seeds = [zlib.crc32(text.encode()) for text in texts]
        return np.stack([np.random.default_rng(s).standard_normal(DIM, np.float32) for s in seeds])

    def close(self) -> None:
        """Do nothing."""


def make_stores(folder: Path, sizes: Sequence[int]) -> dict[int, Path]:
    """Write a store and the parts of its snapshot for each size; return the folder of each."""
    made = {}
    for rows in sizes:
        made[rows] = folder / str(rows)
        made[rows].mkdir()
        with cpersona_jit.open(made[rows] / "memory.db", HashedVectors()) as memory:
            memory.store_many(
                _records(rows), vectors=chat_vectors(rows), dedup=False, batch_size=4096
            )
            _write_parts(memory.columns(), made[rows])
    return made


def read_part(folder: Path, name: str) -> Any:
    """Read ``dense`` (codes, sign blocks), ``gram3``, ``gram4`` (rows of grams, index) or
    ``rest``: the snapshot without those.
    """
    with (folder / f"{name}.pickle").open("rb") as file:
        part = pickle.load(file)
    # Where pickle puts an array there are no huge pages, with which NumPy and so a real snapshot
    # holds it; a scan is three times as fast over those.
    return tuple(array.copy() for array in part) if name == "dense" else part


def open_warm(folder: Path) -> cpersona_jit.Memory:
    """Open a store with its snapshot in place: building it is another benchmark's subject."""
    memory = cpersona_jit.open(folder / "memory.db", HashedVectors(), create=False)
    memory._keeper.columns = read_columns(folder)
    # No file is written meanwhile.
    memory._keeper.limits = memory._keeper.limits._replace(file_rows=1 << 62)
    return memory


def read_columns(folder: Path) -> Columns:
    """Put a snapshot together from its parts."""
    codes, signs = read_part(folder, "dense")
    grams = {size: read_part(folder, f"gram{size}") for size in GRAM_SIZES}
    return replace(
        read_part(folder, "rest"),
        codes=codes,
        signs=signs,
        gram_index={size: index for size, (_, index) in grams.items()},
    )


def _records(rows: int) -> Iterator[cpersona_jit.Record]:
    for number, text in enumerate(chat_rows(rows)):
        yield cpersona_jit.Record(
            text,
            AGENT,
            session_id=f"session {number // 40}",
            source={"type": "user", "id": f"u{number % 2}", "name": ("Mira", "健")[number % 2]},
            timestamp=str(np.datetime64("2025-01-01T00:00") + np.timedelta64(number, "m")),
        )


def _write_parts(columns: Columns, folder: Path) -> None:
    parts = {f"gram{s}": (grams_of_rows(index), index) for s, index in columns.gram_index.items()}
    parts["dense"] = (columns.codes, columns.signs)
    parts["rest"] = replace(columns, codes=None, signs=None, gram_index={}, _buffers=None)
    for name, part in parts.items():
        with (folder / f"{name}.pickle").open("wb") as file:
            pickle.dump(part, file, protocol=pickle.HIGHEST_PROTOCOL)
