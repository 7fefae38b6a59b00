"""What the command ``peers`` does once its options are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import platformdirs
from rich.console import Console

from harness.console import progress_bars
from harness.peers.measure import measure_peers
from harness.peers.report import goals_table, write_peers_record


def run_peers(sizes: Sequence[int], data: Path | None, out: Path, command: str) -> Path:
    """Measure, write the record, and show the goals; return the path of the report."""
    out.mkdir(parents=True, exist_ok=True)  # one that cannot be made is said before the work
    cache = platformdirs.user_cache_path("cpersona-jit")
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_peers(sizes, data, cache, command, progress)
    path = write_peers_record(out, record)
    console = Console()
    console.print(goals_table(record))
    for one in record["skipped"]:
        console.print(f"note: {one['peer']}: {one['reason']}", highlight=False, markup=False)
    return path
