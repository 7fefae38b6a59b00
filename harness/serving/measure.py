"""The record of a server: its start, recalls at once, and pings meanwhile."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from harness.machine import load_average
from harness.provenance import provenance
from harness.serving.compiling import measure_compiling
from harness.serving.recalls import AT_ONCE, measure_recalls
from harness.serving.server import measure_pings, measure_start
from harness.serving.stores import make_served_store

GOALS = {
    "initialize_s": 1.0,
    "fast_recall_s": 2.0,
    "first_compile_s": 6.0,
    "throughput_ratio": 1.4,
    "loop_late_ms": 50.0,
}
_START_ROWS = 1000  # a start is timed over so many rows
_ROUNDS, _STARTS, _PING_SECONDS = 30, 3, 10.0

Progress = Callable[[str, int, int], None]


def measure_serving(rows: int, command: str, progress: Progress) -> dict[str, Any]:
    """Measure a server of `rows` chat rows; returns the record.

    Parameters
    ----------
    rows : int
        Rows of the store that is asked by many at once.
    command : str
        What reproduces the record.
    progress : callable
        Called as ``progress(stage, done, total)``.
    """
    load_before = load_average()
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        folder = Path(name)
        starts = _starts(folder, progress)
        progress("compiling", 0, 1)
        compiling = measure_compiling()
        progress("compiling", 1, 1)
        progress("store", 0, 1)
        make_served_store(folder / "many.db", rows)
        progress("store", 1, 1)
        recalls = measure_recalls(
            folder / "many.db", _ROUNDS, lambda done: progress("recalls", done, _ROUNDS)
        )
        progress("pings", 0, 1)
        pings = measure_pings(folder / "many.db", folder / "cache0", _PING_SECONDS)
        progress("pings", 1, 1)
    found = {
        "initialize_s": max(starts["empty"]["initialize_s"], starts["filled"]["initialize_s"]),
        "fast_recall_s": starts["filled"]["fast_recall_s"],
        "first_compile_s": starts["empty"]["fast_recall_s"],
        "throughput_ratio": recalls["throughput_ratio"],
        "loop_late_ms": pings["loop"]["longest_ms"],
    }
    return {
        "record": "serving",
        "rows": rows,
        "start_rows": _START_ROWS,
        "starts": starts,
        "compiling": compiling,
        "recalls": recalls,
        "pings": pings,
        "goals": [
            {"goal": goal, "limit": limit, "found": found[goal], "reached": _reached(goal, found)}
            for goal, limit in GOALS.items()
        ],
        "at_once": AT_ONCE,
        **provenance(command, load_before),
    }


def _starts(folder: Path, progress: Progress) -> dict[str, dict[str, Any]]:
    """Medians over starts with an empty folder of compiled kernels, and with a filled one."""
    path, total = folder / "few.db", 2 * _STARTS
    make_served_store(path, _START_ROWS)
    runs: dict[str, list[dict[str, Any]]] = {"empty": [], "filled": []}
    for turn in range(_STARTS):
        for cache in ("empty", "filled"):
            runs[cache].append(measure_start(path, folder / f"cache{turn}"))
            progress("starts", len(runs["empty"]) + len(runs["filled"]), total)
    return {cache: _medians(of_cache) for cache, of_cache in runs.items()}


def _medians(runs: list[dict[str, Any]]) -> dict[str, Any]:
    times = [name for name in runs[0] if name.endswith("_s")]
    return {
        **{name: round(statistics.median(run[name] for run in runs), 2) for name in times},
        "same_answer": all(run["same_answer"] is not False for run in runs),
        "starts": len(runs),
    }


def _reached(goal: str, found: dict[str, float]) -> bool:
    if goal == "throughput_ratio":
        return found[goal] >= GOALS[goal]
    return found[goal] <= GOALS[goal]
