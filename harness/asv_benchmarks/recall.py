"""Whole recall: the library's call without the query's embedding, and what comes before it."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import cpersona_jit
from cpersona_jit.columns.build import Model
from cpersona_jit.columns.refresh import refreshed_columns
from cpersona_jit.defaults import DEFAULT_SETTINGS, ROW_FUSION_SETTINGS
from cpersona_jit.recall.kernel_set import warm_kernels
from cpersona_jit.store.database import open_database
from cpersona_jit.store.models import list_models

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
    """Opening a store, building its snapshot, and one recall; the kernels are compiled."""

    number, rounds, repeat, warmup_time = 1, 1, (1, 3, 20.0), 0

    def setup(self, stores: dict[int, Path], rows: int) -> None:
        warm_kernels()

    def recall(self, folder: Path) -> None:
        path = folder / "memory.db"
        with cpersona_jit.open(path, HashedVectors(), create=False) as memory:
            memory.recall(QUERIES["english"], agent_id=AGENT)

    def time_first_recall(self, stores: dict[int, Path], rows: int) -> None:
        self.recall(stores[rows])

    def peakmem_first_recall(self, stores: dict[int, Path], rows: int) -> None:
        self.recall(stores[rows])


class Refresh(OverRows):
    """The snapshot after one write, from the snapshot before it."""

    number, rounds, repeat, warmup_time = 1, 1, (1, 5, 20.0), 0

    def setup(self, stores: dict[int, Path], rows: int) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=stores[rows])
        path = Path(self.folder.name) / "memory.db"
        shutil.copyfile(stores[rows] / "memory.db", path)
        with cpersona_jit.open(path, HashedVectors(), create=False) as memory:
            memory.store("The dentist moved it to Friday. 金曜日になりました。", agent_id=AGENT)
        self.conn = open_database(path, create=False)
        (stored,) = list_models(self.conn)
        self.model = Model(stored.id, stored.fingerprint, stored.dim)
        self.before = read_columns(stores[rows])
        self.kernels = warm_kernels()

    def teardown(self, stores: dict[int, Path], rows: int) -> None:
        self.conn.close()
        self.folder.cleanup()

    def refresh(self) -> None:
        refreshed_columns(self.conn, self.before, self.model, self.kernels)

    def time_after_one_write(self, stores: dict[int, Path], rows: int) -> None:
        self.refresh()

    def peakmem_after_one_write(self, stores: dict[int, Path], rows: int) -> None:
        self.refresh()


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
