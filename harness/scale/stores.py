"""Stores of made-up talk of any size, with a vector for every row and block, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import cpersona_jit
from cpersona_jit import Memory
from cpersona_jit.records import parse_ref
from harness.scale.planted import Planted, PlantedVectors, planted_records
from harness.speed.talk import CHAT, LONG, SPEAKERS, Shape, records

SHAPES: dict[str, Shape] = {"chat": CHAT, "long": LONG}
COLUMNS = "-columns"
_BATCH = 4096
_NEVER = 1 << 62


class ScaleStore(NamedTuple):
    """A store on disk, and what is relevant in it.

    Attributes
    ----------
    path : Path
        The SQLite file.
    rows, text : int, str
        How many rows of which kind.
    vectors : PlantedVectors
        Its embedder.
    questions : tuple of str
        Planted questions.
    gold : list of set of int
        Ids of the rows that answer each of them.
    """

    path: Path
    rows: int
    text: str
    vectors: PlantedVectors
    questions: tuple[str, ...]
    gold: list[set[int]]


def make_store(
    path: Path, rows: int, text: str, planted: Planted, progress: Callable[[int], None]
) -> ScaleStore:
    """Write a store; vectors are made batch by batch."""
    vectors = PlantedVectors(planted, SPEAKERS)
    gold: list[set[int]] = [set() for _ in planted.questions]
    with cpersona_jit.open(path, vectors) as memory:
        outcomes = memory.store_many(
            planted_records(records(rows, SHAPES[text]), planted),
            dedup=False,
            batch_size=_BATCH,
            progress=progress,
        )
    for place, found in planted.rows.items():
        gold[found.question].add(parse_ref(outcomes[place].ref))
    return ScaleStore(path, rows, text, vectors, planted.questions, gold)


def open_built(store: ScaleStore) -> Memory:
    """Open a store with columns that were just made, and are in memory alone."""
    memory = cpersona_jit.open(store.path, store.vectors, create=False)
    memory._keeper.limits = memory._keeper.limits._replace(file_rows=_NEVER)
    memory.columns()
    return memory


def disk_bytes(path: Path) -> dict[str, int | None]:
    """Return the bytes of the SQLite file and of the file of columns, None without one."""
    columns = path.with_name(path.name + COLUMNS)
    log = path.with_name(path.name + "-wal")
    return {
        "sqlite": path.stat().st_size + (log.stat().st_size if log.exists() else 0),
        "columns": columns.stat().st_size if columns.exists() else None,
    }
