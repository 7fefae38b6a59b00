"""Cold starts: a process of its own that opens a store, answers one question, and is measured."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .base import OverRows
from .stores import SIZES

COLUMNS = ("made", "file")
_FRESH = "harness.asv_benchmarks.fresh_process"


class ColdStart(OverRows):
    """Kernels are compiled; columns are made from SQLite, or read from their file."""

    params = (SIZES, COLUMNS)
    param_names = ("rows", "columns")

    def setup(self, stores: dict[int, Path], rows: int, columns: str) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=stores[rows])
        self.path = Path(self.folder.name) / "memory.db"
        shutil.copyfile(stores[rows] / "memory.db", self.path)
        if columns == "file":
            _fresh(self.path)  # the first process leaves the file behind

    def teardown(self, stores: dict[int, Path], rows: int, columns: str) -> None:
        self.folder.cleanup()

    def track_first_answer(self, stores: dict[int, Path], rows: int, columns: str) -> float:
        return self.measured(columns)[0]

    def track_resident(self, stores: dict[int, Path], rows: int, columns: str) -> float:
        return self.measured(columns)[1]

    def measured(self, columns: str) -> tuple[float, float]:
        if columns == "made":
            self.path.with_name("memory.db-columns").unlink(missing_ok=True)
        return _fresh(self.path)

    track_first_answer.unit = "seconds"
    track_resident.unit = "megabytes"


def _fresh(path: Path) -> tuple[float, float]:
    """Seconds from the start of a process to its first answer, and megabytes that it then holds."""
    start = time.perf_counter()
    words = [sys.executable, "-m", _FRESH, str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        answered = process.stdout.readline()
        seconds = time.perf_counter() - start
        held = process.stdout.readline()
    if process.returncode or not int(answered):
        raise RuntimeError(f"the process ended with {process.returncode}")
    return seconds, float(held)
