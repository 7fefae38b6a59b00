"""What the command ``run`` does with a config of kind ``exit``."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from cpersona_jit.errors import CPersonaError
from harness.console import progress_bars
from harness.exit.config import ExitConfig
from harness.exit.record import measure_exit
from harness.exit.report import headline_table, write_exit_record
from harness.summary import SUMMARY_FILE


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


def rewrite_report(folder: Path) -> Path | None:
    """Write the report of an exit run again; None when the folder holds the record of another kind.

    Raises
    ------
    CPersonaError
        The record lacks what a report needs.
    """
    path = folder / SUMMARY_FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # said by whoever reads records of runs
    if not isinstance(record, dict) or record.get("record") != "exit":
        return None
    try:
        written = write_exit_record(folder, record)
        Console().print(headline_table(record))
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration, IndexError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise CPersonaError(f"{path}: not the record of an exit run ({reason})") from error
    return written
