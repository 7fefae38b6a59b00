"""What the command ``run`` does with a config of kind ``scale``."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from harness.console import progress_bars
from harness.scale.config import ScaleConfig
from harness.scale.measure import measure_scale
from harness.scale.report import stores_table, write_scale_record


def run_scale(config: ScaleConfig, data: Path | None, cache: Path, out: Path, command: str) -> Path:
    """Measure, write the record, and show latency and memory; return the path of the report."""
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_scale(config, data, cache, out, command, progress)
    path = write_scale_record(out, record)
    console = Console()
    console.print(stores_table(record))
    for one in record["skipped"]:
        console.print(f"note: no {one['part']}: {one['reason']}", highlight=False, markup=False)
    return path
