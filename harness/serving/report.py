"""The record of a server as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.table import Table

from harness.markdown import markdown_table
from harness.summary import SUMMARY_FILE

_GOALS = {
    "initialize_s": "seconds to the answer of `initialize`, at most",
    "fast_recall_s": "seconds to the first recall by kernels of an earlier process, at most",
    "first_compile_s": "seconds to the first recall by kernels that had to be compiled, at most",
    "throughput_ratio": "recalls of many clients over those of one, at least",
    "loop_late_ms": "milliseconds that the event loop is late while many recall, at most",
}


def write_serving_record(folder: Path, record: dict[str, Any]) -> Path:
    """Write summary.json and report.md; return the path of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (folder / SUMMARY_FILE).write_text(summary, encoding="utf-8")
    path = folder / "report.md"
    path.write_text(report_text(record), encoding="utf-8")
    return path


def report_text(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    machine, load, recalls = record["machine"], record["load_average"], record["recalls"]
    starts = [
        [
            cache,
            *(f"{of[name]:.2f}" for name in ("initialize_s", "first_recall_s", "fast_recall_s")),
            "yes" if of["same_answer"] else "NO",
        ]
        for cache, of in record["starts"].items()
    ]
    pings = record["pings"]
    return (
        "\n\n".join(
            [
                "# A server: its start, and many recalls at once",
                f"`{record['command']}`",
                f"{machine['cpu']}, {machine['cores']} cores; load average {load['before']} "
                f"before, {load['after']} after.",
                markdown_table(("goal", "limit", "found", ""), _goal_rows(record)),
                "## Start",
                f"Seconds from the start of the process, over {record['start_rows']:,} chat rows, "
                f"median of {record['starts']['empty']['starts']}. The first recall is asked "
                "right after `initialize`; the fast one once the server says that kernels are "
                "compiled. *Cache*: the folder of compiled kernels.",
                markdown_table(
                    ("cache", "initialize", "first recall", "fast recall", "same answer"), starts
                ),
                "Compiling, each part alone in a process of its own, CPU seconds: "
                + "; ".join(_part(one) for one in record["compiling"]),
                "## Recalls at once",
                f"{recalls['recalls']} clients, each a thread that asks again as soon as it is "
                f"answered, get {recalls['throughput_ratio']:g} times the recalls of one over "
                f"{record['rows']:,} chat rows (median of {recalls['rounds']} rounds, turn about); "
                f"two clients {recalls['two_clients_ratio']:g} times. "
                f"{recalls['recalls']} recalls that begin at one moment, in threads that slept, "
                f"take {recalls['at_once_ms']:g} ms, one after another "
                f"{recalls['one_after_another_ms']:g} ms: {recalls['burst_ratio']:g} times; behind "
                f"one lock {recalls['one_lock_ms']:g} ms, {recalls['one_lock_ratio']:g} times. The "
                f"rows are {'the same' if recalls['same_rows'] else 'NOT the same'}.",
                "## Pings meanwhile",
                f"An MCP client pings the server while it answers {record['at_once']} recalls at a "
                f"time, {pings['recalls_per_second']:g} a second with the query's embedding: "
                f"{pings['median_ms']:g} ms in the median, {pings['of_99_in_100_ms']:g} ms for 99 "
                f"in 100, {pings['longest_ms']:g} ms at most, of {pings['pings']:,}. The client's "
                "own time is in it, and the wait behind answers on one pipe. By the server's own "
                f"clock its event loop is late by {pings['loop']['of_99_in_100_ms']:g} ms in 99 of "
                f"100 looks and by {pings['loop']['longest_ms']:g} ms at most, of "
                f"{pings['loop']['looks']:,}.",
                "Controls, the same pings without any recall: " + _controls(pings["controls"]),
            ]
        )
        + "\n"
    )


def serving_table(record: dict[str, Any]) -> Table:
    """Say which goals are reached."""
    table = Table(title=f"a server of {record['rows']:,} chat rows", title_justify="left")
    for name in ("goal", "limit", "found", ""):
        table.add_column(name, justify="right" if name in ("limit", "found") else "left")
    for row in _goal_rows(record):
        table.add_row(*row)
    return table


def _part(of: dict[str, Any]) -> str:
    longest = ", ".join(f"`{one['function']}` {one['own_s']:g}" for one in of["longest"])
    return (
        f"*{of['part']}* {of['imports_s']:g} for imports and {of['compiling_s']:g} for "
        f"{of['functions']} functions (by themselves {longest})"
    )


def _controls(controls: dict[str, Any]) -> str:
    names = {"idle": "nothing else running", "busy": "two processes that only count"}
    return "; ".join(
        f"{names[name]}: {of['median_ms']:g} ms in the median, {of['of_99_in_100_ms']:g} ms for 99 "
        f"in 100, {of['longest_ms']:g} ms at most, of {of['pings']:,}"
        for name, of in controls.items()
    )


def _goal_rows(record: dict[str, Any]) -> list[list[str]]:
    return [
        [_GOALS[one["goal"]], f"{one['limit']:g}", f"{one['found']:g}", _word(one["reached"])]
        for one in record["goals"]
    ]


def _word(reached: bool) -> str:
    return "reached" if reached else "missed"
