"""The record of recall speed as tables: in its report, and on the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from harness.markdown import markdown_table
from harness.summary import SUMMARY_FILE

_COLUMNS = ("variant", "process", "fastest", "recall", "fastest", "CPU")


def write_speed_record(
    folder: Path, record: dict[str, Any], text: Callable[[dict[str, Any]], str] | None = None
) -> Path:
    """Write summary.json and report.md (`report_text`, or `text`); return the report's path."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (folder / SUMMARY_FILE).write_text(summary, encoding="utf-8")
    path = folder / "report.md"
    path.write_text((text or report_text)(record), encoding="utf-8")
    return path


def report_text(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    goal, machine = record["goal"], record["machine"]
    reached = {None: "not measured", True: "reached", False: "missed"}[record["reached"]]
    parts = [
        "# Recall speed",
        f"`{record['command']}`",
        f"{record['measure']}. *Process*: {record['process']}. *Recall*: {record['recall']}. "
        f"In neither: {record['excluded']}. *Vectors alone*: one reading of all vectors, which "
        "every recall that compares them does, and which other work on the machine slows down.",
        f"{machine['cpu']}, {machine['cores']} cores; load average "
        f"{record['load_average']['before']} before, {record['load_average']['after']} after.",
        f"Goal: the whole process within {goal['milliseconds']:g} ms at {goal['rows']:,} "
        f"{goal['text']} rows: {reached}.",
    ]
    for store in record["stores"]:
        parts += [
            f"## {store['rows']:,} {store['text']} rows",
            f"{store['blocks']:,} blocks, {store['blocks_per_row']:g} a row, of "
            f"{store['median_characters']:g} characters in the median; "
            f"{store['row_megabytes']:g} MB by which rows are scored, {store['block_megabytes']:g} "
            "MB more for their blocks.",
            markdown_table(_COLUMNS, _rows(store)),
            markdown_table(
                [f"{name}, ms" for name in store["stages"]],
                [[f"{spent:.2f}" for spent in store["stages"].values()]],
            ),
        ]
    return "\n\n".join(parts) + "\n"


def recall_speed_table(record: dict[str, Any]) -> Table:
    """Say what each variant takes on each store."""
    goal = record["goal"]["milliseconds"]
    table = Table(title=f"recall, milliseconds, one thread; goal {goal:g} for the process")
    table.title_justify = "left"
    table.add_column("store", no_wrap=True)
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name == "variant" else "right", no_wrap=True)
    for store in record["stores"]:
        rows = _rows(store)
        for number, row in enumerate(rows):
            name = f"{store['rows']:,} {store['text']}" if number == 0 else ""
            table.add_row(name, *row, end_section=number == len(rows) - 1)
    return table


def _rows(store: dict[str, Any]) -> list[list[str]]:
    named = [*store["variants"], {"variant": "(vectors alone)", **store["vectors_alone"]}]
    names = ("process_ms", "process_fastest_ms", "wall_ms", "fastest_ms", "cpu_ms")
    return [
        [one["variant"], *(f"{one[name]:.2f}" if name in one else "" for name in names)]
        for one in named
    ]
