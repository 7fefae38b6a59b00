"""Bulk in and bulk out, measured as a user runs them: commands of their own, files of a size.

On Linux, which tells a process's own largest memory.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from cpersona_jit.embed.use import UseProvider
from cpersona_jit.errors import CPersonaError
from harness.asv_benchmarks.chat_rows import DIM, chat_rows
from harness.console import progress_bars
from harness.machine import load_average
from harness.markdown import markdown_table
from harness.provenance import provenance
from harness.speed.report import write_speed_record

FORMATS = ("parquet", "jsonl")
_WRITTEN_AT_ONCE = 16_384
_START = np.datetime64("2025-01-01T00:00")

# What the system reports of a child counts the memory of the process that started it.
_COMMAND = """
import atexit, sys
from pathlib import Path
from cpersona_jit.cli.app import main
status = Path("/proc/self/status")
atexit.register(lambda: print("VmHWM:", status.read_text().split("VmHWM:")[1], file=sys.stderr))
main()
"""

Progress = Callable[[str, int, int], None]


def run_bulk_speed(sizes: Sequence[int], out: Path, command: str) -> Path:
    """Measure, with progress on stderr, and write the record; return the path of its report."""
    out.mkdir(parents=True, exist_ok=True)
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_bulk_speed(sizes, command, progress)
    return write_speed_record(out, record, bulk_report)


def measure_bulk_speed(sizes: Sequence[int], command: str, progress: Progress) -> dict[str, Any]:
    """Time import and export of made-up chat rows with vectors of the default model.

    Parameters
    ----------
    sizes : sequence of int
        Rows of the files.
    command : str
        What reproduces the record.
    progress : callable
        Called as ``progress(file, commands done, commands)``.

    Returns
    -------
    dict
        The record.

    Raises
    ------
    CPersonaError
        A command failed.
    """
    load_before = load_average()
    runs = [_measure(rows, form, progress) for rows in sizes for form in FORMATS]
    return {
        "record": "bulk_speed",
        "measure": "Seconds of a process, from its start to its end; CPU: user and system; memory: "
        "the largest resident set. Parquet in one row group, JSON Lines with vectors as base64",
        "dim": DIM,
        "runs": [run for part in runs for run in part],
        **provenance(command, load_before),
    }


def bulk_report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    machine, load = record["machine"], record["load_average"]
    loads = f"load average {load['before']} before, {load['after']} after"
    columns = ("rows", "command", "seconds", "CPU", "rows/s", "rows/s of CPU", "peak MB", "B/row")
    return (
        "\n\n".join(
            [
                "# Bulk in, bulk out",
                f"`{record['command']}`",
                f"Made-up chat rows of about 120 characters, each with a vector of {record['dim']} "
                f"numbers. {record['measure']}. B/row: of the file that is written, the store's "
                "for an import.",
                f"{machine['cpu']}, {machine['cores']} cores; {loads}.",
                markdown_table(columns, [_row(run) for run in record["runs"]]),
            ]
        )
        + "\n"
    )


def _row(run: dict[str, Any]) -> list[str]:
    rows, wall, cpu = run["rows"], run["seconds"], run["cpu_seconds"]
    rates = [f"{rows / spent:,.0f}" for spent in (wall, cpu)]
    size = f"{run['bytes'] / rows:,.0f}"
    told = [f"{rows:,}", run["what"], f"{wall:.1f}", f"{cpu:.1f}"]
    return [*told, *rates, f"{run['peak_megabytes']:.0f}", size]


def _measure(rows: int, form: str, progress: Progress) -> list[dict[str, Any]]:
    name = f"{form}, {rows:,} rows"
    with tempfile.TemporaryDirectory() as folder:
        file, store, out = (Path(folder) / part for part in (f"in.{form}", "m.db", "out"))
        progress(name, 0, 2)
        write_rows(file, rows, form)
        imported = _run(["import", str(file), "--db", str(store)], f"import {form}", rows, store)
        progress(name, 1, 2)
        words = ["export", str(out), "--memories", "--format", form, "--db", str(store)]
        exported = _run(words, f"export {form}", rows, out)
        progress(name, 2, 2)
    return [imported, exported]


def _run(words: list[str], what: str, rows: int, written: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", _COMMAND, *words]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CPERSONA_JIT_")}
    with tempfile.TemporaryFile() as told:
        before = time.perf_counter()
        process = subprocess.Popen(command, stdout=told, stderr=told, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - before
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        said = told.read().decode("utf-8", "replace").replace(",", "")
    peak = said.rpartition("VmHWM:")[2].split()
    if process.returncode or f"{rows} " not in said or not peak:
        raise CPersonaError(f"{what} of {rows:,} rows failed: {said[-300:]}")
    return {
        "what": what,
        "rows": rows,
        "seconds": seconds,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_megabytes": int(peak[0]) / 1024,
        "bytes": written.stat().st_size,
    }


def write_rows(file: Path, rows: int, form: str) -> None:
    """Write a file to import."""
    parts = _parts(rows)
    if form == "jsonl":
        with file.open("w", encoding="utf-8") as out:
            for columns, vectors in parts:
                for at, values in enumerate(zip(*columns.values(), strict=True)):
                    record = dict(zip(columns, values, strict=True))
                    record["embedding"] = base64.b64encode(vectors[at].tobytes()).decode("ascii")
                    record["embedding_model"] = UseProvider.info.fingerprint
                    out.write(json.dumps(record, ensure_ascii=False) + "\n")
        return
    named = {"embedding_fingerprint": UseProvider.info.fingerprint}
    tables = []
    for columns, vectors in parts:
        flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), DIM)
        tables.append(pa.table({**columns, "embedding": flat}, metadata=named))
    whole = pa.concat_tables(tables)
    without = [name for name in whole.column_names if name not in ("embedding", "content")]
    pq.write_table(whole, file, use_dictionary=without, row_group_size=rows)


def _parts(rows: int) -> Iterator[tuple[dict[str, list[str]], np.ndarray]]:
    """Yield columns of texts, and vectors."""
    texts, rng = chat_rows(rows), np.random.default_rng(0)
    for start in range(0, rows, _WRITTEN_AT_ONCE):
        numbers = range(start, min(start + _WRITTEN_AT_ONCE, rows))
        columns = {
            "content": [next(texts) for _ in numbers],
            "agent_id": ["benchmark" for _ in numbers],
            "session_id": [f"session {number // 40}" for number in numbers],
            "source_id": [f"u{number % 2}" for number in numbers],
            "source_name": [("Mira", "健")[number % 2] for number in numbers],
            "timestamp": [str(_START + np.timedelta64(number, "m")) for number in numbers],
        }
        yield columns, rng.standard_normal((len(numbers), DIM), np.float32)
