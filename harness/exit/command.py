"""What the command ``run`` does with a config of kind ``exit``."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from harness.console import progress_bars
from harness.exit.config import ExitConfig
from harness.exit.record import measure_exit
from harness.exit.report import headline_table, write_exit_record


def run_exit(config: ExitConfig, data: Path | None, cache: Path, out: Path, command: str) -> Path:
    """Measure, write the record, and show the headline; return the path of the report."""
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_exit(config, data, cache, out, command, progress)
    path = write_exit_record(out, record)
    console = Console()
    console.print(headline_table(record))
    for one in record["skipped"]:
        console.print(f"skipped: {one}", highlight=False, markup=False)
    return path
