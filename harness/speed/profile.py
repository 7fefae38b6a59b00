"""Where the time of a recall goes: its kernels, one by one, and what lies between them."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import cpersona_jit
from cpersona_jit import Memory
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.intent import read_intent
from cpersona_jit.isolation import Axes
from cpersona_jit.recall.kernel_set import KernelSet, warm_all_kernels
from cpersona_jit.recall.process import run_process
from harness.machine import load_average
from harness.markdown import markdown_table
from harness.provenance import provenance
from harness.speed.stores import GivenVectors, make_store
from harness.speed.talk import AGENT, CHAT, NOW, QUESTIONS

LIMIT = 10
_ROUNDS = 30
_LEAST_MS = 0.01  # kernels that take less are put together
_SETTINGS = replace(DEFAULT_SETTINGS, bounds=replace(DEFAULT_SETTINGS.bounds, milliseconds=None))
PARTS = ("read the question's time", "kernels", "between kernels", "look, notes, fetch")

Progress = Callable[[str, int, int], None]


def measure_profile(sizes: Sequence[int], command: str, progress: Progress) -> dict[str, Any]:
    """Take a recall over made-up chat stores apart.

    Parameters
    ----------
    sizes : sequence of int
        Rows of the stores.
    command : str
        What reproduces the record.
    progress : callable
        Called as ``progress(store, rounds done, rounds)``.

    Returns
    -------
    dict
        The record.
    """
    load_before = load_average()
    kernels = warm_all_kernels()
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        stores = [
            _measure_store(Path(folder) / f"{rows}.db", rows, kernels, progress) for rows in sizes
        ]
    return {
        "record": "recall_profile",
        "measure": f"milliseconds of one recall, mean over {len(QUESTIONS)} questions, median of "
        f"{_ROUNDS} rounds, one thread, chat rows, every default on, no time cap",
        "stores": stores,
        **provenance(command, load_before),
    }


def _measure_store(path: Path, rows: int, kernels: KernelSet, progress: Progress) -> dict[str, Any]:
    name = f"profile, {rows:,} rows"
    progress(name, 0, _ROUNDS)
    columns = make_store(path, rows, CHAT)
    embedder, axes = GivenVectors(), Axes.agent(AGENT)
    vectors = embedder.embed(QUESTIONS, kind="query")
    rounds: list[dict[str, float]] = []
    calls: dict[str, float] = {}
    with cpersona_jit.open(path, embedder, create=False) as memory:
        for turn in range(-1, _ROUNDS):  # the first turn loads what is loaded once
            spent: dict[str, list[float]] = defaultdict(list)
            counting = _timed(kernels, spent)
            found = {"recall": 0.0, "time": 0.0, "process": 0.0}
            for question, vector in zip(QUESTIONS, vectors, strict=True):
                found["recall"] += _seconds(lambda q=question: _recall(memory, columns, q))
                found["time"] += _seconds(lambda q=question: read_intent(q, None, NOW, parse=True))
                cue = read_intent(question, None, NOW, parse=True).cue
                given = columns, question, vector, axes, _SETTINGS, cue, None, LIMIT, counting
                found["process"] += _seconds(lambda given=given: run_process(*given))
            if turn >= 0:
                kernel_times = {one: sum(times) for one, times in spent.items()}
                rounds.append(found | {f"kernel {one}": t for one, t in kernel_times.items()})
                calls = {one: len(times) / len(QUESTIONS) for one, times in spent.items()}
            progress(name, max(turn + 1, 0), _ROUNDS)
    return {"rows": rows, **_summary(rounds, calls)}


def _summary(rounds: list[dict[str, float]], calls: dict[str, float]) -> dict[str, Any]:
    medians = {
        name: float(np.median([one[name] for one in rounds])) / len(QUESTIONS) * 1e3
        for name in rounds[0]
    }
    kernels = {one: medians[f"kernel {one}"] for one in calls}
    of_kernels = sum(kernels.values())
    rest = medians["recall"] - medians["process"] - medians["time"]
    parts = (medians["time"], of_kernels, medians["process"] - of_kernels, rest)
    listed = sorted(kernels.items(), key=lambda pair: -pair[1])
    return {
        "recall_ms": round(medians["recall"], 3),
        "parts_ms": {name: round(value, 3) for name, value in zip(PARTS, parts, strict=True)},
        "kernels": [
            {"kernel": name, "calls": round(calls[name], 1), "ms": round(value, 3)}
            for name, value in listed
        ],
    }


def _timed(kernels: KernelSet, spent: dict[str, list[float]]) -> KernelSet:
    """Return the kernels with a watch on each."""

    def watched(name: str, kernel: Callable) -> Callable:
        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            result = kernel(*arguments)
            spent[name].append(time.perf_counter() - start)
            return result

        return call

    found = {field.name: getattr(kernels, field.name) for field in fields(kernels)}
    return replace(
        kernels, **{name: watched(name, one) for name, one in found.items() if callable(one)}
    )


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _recall(memory: Memory, columns: Columns, question: str) -> None:
    memory._keeper.columns = columns
    memory.recall(question, agent_id=AGENT, limit=LIMIT, settings=_SETTINGS, now=NOW)


def profile_report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    machine, load = record["machine"], record["load_average"]
    text = [
        "# Where the time of a recall goes",
        f"`{record['command']}`",
        f"{record['measure']}. *Between kernels*: Python and NumPy inside the process; each call "
        "of a kernel and each NumPy operation costs one to five microseconds however few rows "
        "there are. *Look, notes, fetch*: whether the store changed, what was done without, the "
        "rows.",
        f"{machine['cpu']}, {machine['cores']} cores; load average {load['before']} before, "
        f"{load['after']} after.",
        markdown_table(
            ("rows", "recall", *PARTS),
            [
                [f"{one['rows']:,}", f"{one['recall_ms']:.2f}"]
                + [f"{one['parts_ms'][name]:.2f}" for name in PARTS]
                for one in record["stores"]
            ],
        ),
    ]
    for store in record["stores"]:
        shown = [one for one in store["kernels"] if one["ms"] >= _LEAST_MS]
        others = sum(one["ms"] for one in store["kernels"] if one["ms"] < _LEAST_MS)
        rows = [[one["kernel"], f"{one['calls']:g}", f"{one['ms']:.3f}"] for one in shown]
        rows += [["all others", "", f"{others:.3f}"]]
        text += [
            f"## Kernels, {store['rows']:,} rows",
            markdown_table(("kernel", "calls", "ms"), rows),
        ]
    return "\n\n".join(text) + "\n"
