"""Whole recall: the library's call without the query's embedding, and what comes before it."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import cpersona_jit
from cpersona_jit.defaults import DEFAULT_SETTINGS, ROW_FUSION_SETTINGS
from cpersona_jit.recall.kernel_set import warm_kernels

from .base import OverRows
from .chat_rows import QUERIES
from .stores import AGENT, SIZES, HashedVectors, open_warm, read_columns

PERIOD = {"after": "2025-01-01T05:00:00Z", "before": "2025-01-01T10:00:00Z"}
NOW = "2025-06-01T00:00:00Z"


class Recall(OverRows):
    """One recall with the shipped default over a current snapshot."""

    params = (SIZES, tuple(QUERIES))
    param_names = ("rows", "language")

    def setup(self, stores: dict[int, Path], rows: int, language: str) -> None:
        self.memory = open_warm(stores[rows])
        self.recall(language)  # loads the compiled kernels

    def teardown(self, stores: dict[int, Path], rows: int, language: str) -> None:
        self.memory.close()

    def recall(self, language: str) -> None:
        self.memory.recall(QUERIES[language], agent_id=AGENT)

    def time_recall(self, stores: dict[int, Path], rows: int, language: str) -> None:
        self.recall(language)

    def peakmem_recall(self, stores: dict[int, Path], rows: int, language: str) -> None:
        self.recall(language)


class RecallParts(OverRows):
    """The shipped default built up part by part; before it, the fusion of whole rows.

    The rows are one block each. What blocks cost is measured by ``harness recall-speed``.
    """

    params = (SIZES, ("row fusion", "signals", "structure", "time cue"))
    param_names = ("rows", "up_to")

    def setup(self, stores: dict[int, Path], rows: int, up_to: str) -> None:
        self.memory = open_warm(stores[rows])
        self.settings = {
            "row fusion": ROW_FUSION_SETTINGS,
            "signals": replace(DEFAULT_SETTINGS, structure=None, cues=None),
            "structure": replace(DEFAULT_SETTINGS, cues=None),
            "time cue": DEFAULT_SETTINGS,
        }[up_to]
        # The period of the rows that every store has, however small it is.
        self.when = dict(PERIOD) if up_to == "time cue" else None
        self.recall()  # loads the compiled kernels

    def teardown(self, stores: dict[int, Path], rows: int, up_to: str) -> None:
        self.memory.close()

    def recall(self) -> None:
        self.memory.recall(
            QUERIES["english"], agent_id=AGENT, settings=self.settings, time_cue=self.when, now=NOW
        )

    def time_recall(self, stores: dict[int, Path], rows: int, up_to: str) -> None:
        self.recall()

    def peakmem_recall(self, stores: dict[int, Path], rows: int, up_to: str) -> None:
        self.recall()


class FirstRecall(OverRows):
    """Opening a store and one recall; its columns are made, or read from their file."""

    params = (SIZES, ("made", "file"))
    param_names = ("rows", "columns")
    number, rounds, repeat, warmup_time = 1, 1, (1, 3, 20.0), 0

    def setup(self, stores: dict[int, Path], rows: int, columns: str) -> None:
        warm_kernels()
        self.folder, self.path = _copied(stores[rows], columns == "file")

    def teardown(self, stores: dict[int, Path], rows: int, columns: str) -> None:
        self.memory.close()  # may write a file
        self.folder.cleanup()

    def recall(self) -> None:
        self.memory = cpersona_jit.open(self.path, HashedVectors(), create=False)
        self.memory.recall(QUERIES["english"], agent_id=AGENT)

    def time_first_recall(self, stores: dict[int, Path], rows: int, columns: str) -> None:
        self.recall()

    def peakmem_first_recall(self, stores: dict[int, Path], rows: int, columns: str) -> None:
        self.recall()


class AfterOneWrite(OverRows):
    """What the next caller waits for: the snapshot in step again, and with it one recall."""

    number, rounds, repeat, warmup_time = 1, 1, (1, 9, 30.0), 0

    def setup(self, stores: dict[int, Path], rows: int) -> None:
        self.folder, path = _copied(stores[rows], True)
        self.memory = cpersona_jit.open(path, HashedVectors(), create=False)
        for text in ("The dentist moved it. 変更になりました。", "To Friday. 金曜日です。"):
            self.memory.recall(QUERIES["english"], agent_id=AGENT)
            self.memory._keeper.wait()
            self.memory.store(text, agent_id=AGENT)  # the first one makes room for more

    def teardown(self, stores: dict[int, Path], rows: int) -> None:
        self.memory.close()
        self.folder.cleanup()

    def time_refresh(self, stores: dict[int, Path], rows: int) -> None:
        self.memory.columns()

    def peakmem_refresh(self, stores: dict[int, Path], rows: int) -> None:
        self.memory.columns()

    def time_recall(self, stores: dict[int, Path], rows: int) -> None:
        self.memory.recall(QUERIES["english"], agent_id=AGENT)


class Size(OverRows):
    """Bytes per row of a store: its file, and its snapshot in memory."""

    def track_file_bytes_per_row(self, stores: dict[int, Path], rows: int) -> float:
        return (stores[rows] / "memory.db").stat().st_size / rows

    def track_snapshot_bytes_per_row(self, stores: dict[int, Path], rows: int) -> float:
        columns = read_columns(stores[rows])
        arrays = [part for part in vars(columns).values() if isinstance(part, np.ndarray)]
        arrays += [*columns.codes_by_name.values(), columns.embedded.words]
        for grams in columns.gram_index.values():
            arrays += [part for part in grams if isinstance(part, np.ndarray)]
        return sum(array.nbytes for array in arrays) / rows

    track_file_bytes_per_row.unit = track_snapshot_bytes_per_row.unit = "bytes"


def _copied(store: Path, with_columns: bool) -> tuple[tempfile.TemporaryDirectory, Path]:
    """A copy of a store that may be written to, in a folder beside it."""
    folder = tempfile.TemporaryDirectory(dir=store)
    path = Path(folder.name) / "memory.db"
    shutil.copyfile(store / "memory.db", path)
    columns = store / f"{path.name}-columns"
    if with_columns and columns.exists():
        shutil.copyfile(columns, Path(folder.name) / columns.name)
    return folder, path
