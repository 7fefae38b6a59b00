"""What the tests of the file of columns share: a store with a little of everything."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
from memory_cases import BagOfWords, plain_columns

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.columns.snapshot import Columns

WORDS = ["tea", "green", "Kyoto", "抹茶", "京都で", "飲んだ", "🎉", "harbour", "quiet?"]
LONG = "海は静かだった。" * 80


def opened(
    path: Path, model: object = None, *, centred: bool = False, file_rows: int = 1
) -> Memory:
    """Open a store that gets its file of columns with its first rows."""
    model = BagOfWords(centred=centred) if model is None else model
    memory = cpersona_jit.open(path, model, wait_for_kernels=False)
    memory._keeper.limits = memory._keeper.limits._replace(file_rows=file_rows)
    return memory


def fill(path: Path, *, centred: bool = False, seed: int = 0, rows: int = 60) -> None:
    """Write rows of two agents, some of them long, in sessions, changed and deleted."""
    rng = np.random.default_rng(seed)
    with opened(path, centred=centred, file_rows=10**9) as memory:
        memory.store_many(
            (
                Record(
                    " ".join(rng.choice(WORDS, 5)) + f" {number}" + LONG * (number % 7 == 0),
                    "ab"[number % 2],
                    source=Source("user", "u", ("Mia", "愛子")[number % 3 == 0]),
                    session_id=("", "s1", "s2")[number % 3],
                    timestamp=("", "2024-05-01")[number % 5 == 0],
                )
                for number in range(rows)
            ),
            batch_size=7,
        )
        memory.delete(["mem:1", "mem:2"], agent_id="a")
        memory.update("mem:7", "changed 抹茶", agent_id="a")


def keep(path: Path, *, centred: bool = False) -> Path:
    """Give a store its file of columns, and return that."""
    with opened(path, centred=centred) as memory:
        memory.columns()
    file = Path(f"{path}-columns")
    assert file.exists()
    return file


def rebuilt(path: Path, *, centred: bool = False) -> object:
    """Return what a snapshot shows that is made from the store alone."""
    with opened(path, centred=centred, file_rows=10**9) as memory:
        memory._keeper.file.path = f"{path}-none"
        return plain_columns(memory.columns())


def is_mapped(columns: Columns) -> bool:
    """Whether the codes of a snapshot lie in a file."""
    base = columns.codes
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(getattr(base, "obj", base), mmap.mmap)
