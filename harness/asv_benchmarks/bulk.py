"""Storing one memory, importing a file of them, and writing such a file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import cpersona_jit

from .base import OverRows
from .stores import AGENT, SIZES, HashedVectors

FORMATS = ("parquet", "jsonl")


def opened(path: Path) -> cpersona_jit.Memory:
    return cpersona_jit.open(path, HashedVectors(), wait_for_kernels=False)


class StoreOne(OverRows):
    """One memory into a store that has some; its snapshot is another benchmark's subject."""

    number, rounds, repeat, warmup_time = 20, 1, (1, 5, 20.0), 0

    def setup(self, stores: dict[int, Path], rows: int) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=stores[rows])
        path = Path(self.folder.name) / "memory.db"
        shutil.copyfile(stores[rows] / "memory.db", path)
        self.memory = opened(path)
        self.stored = 0

    def teardown(self, stores: dict[int, Path], rows: int) -> None:
        self.memory.close()
        self.folder.cleanup()

    def time_store(self, stores: dict[int, Path], rows: int) -> None:
        self.stored += 1
        self.memory.store(f"{self.stored}: the dentist moved it. 変更。", agent_id=AGENT)


class Bulk(OverRows):
    """A whole file into a new store, every row with its vector, and a store into a file."""

    params = (SIZES, FORMATS)
    param_names = ("rows", "format")
    number, rounds, repeat, warmup_time = 1, 1, (1, 3, 30.0), 0

    def setup(self, stores: dict[int, Path], rows: int, form: str) -> None:
        self.store = stores[rows] / "memory.db"
        self.file = stores[rows] / f"memories.{form}"
        if not self.file.exists():
            self.write(self.file, form)
        self.folder = tempfile.TemporaryDirectory(dir=stores[rows])
        self.calls = 0

    def teardown(self, stores: dict[int, Path], rows: int, form: str) -> None:
        self.folder.cleanup()

    def write(self, file: Path, form: str) -> None:
        with opened(self.store) as memory:
            memory.export_memories(file, form)

    def read(self, rows: int) -> None:
        self.calls += 1  # a store that has the file would do nothing
        with opened(Path(self.folder.name) / f"{self.calls}.db") as memory:
            stored = memory.import_file(self.file).of("stored")
        if stored != rows:
            raise RuntimeError(f"{stored} of {rows} rows were stored")

    def time_import(self, stores: dict[int, Path], rows: int, form: str) -> None:
        self.read(rows)

    def peakmem_import(self, stores: dict[int, Path], rows: int, form: str) -> None:
        self.read(rows)

    def time_export(self, stores: dict[int, Path], rows: int, form: str) -> None:
        self.write(Path(self.folder.name) / "out", form)

    def peakmem_export(self, stores: dict[int, Path], rows: int, form: str) -> None:
        self.write(Path(self.folder.name) / "out", form)
