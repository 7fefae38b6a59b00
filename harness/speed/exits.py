"""The time of the exits: what excerpts add to a recall, and what a reconstruction takes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import cpersona_jit
from cpersona_jit import Memory
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.recall.kernel_set import warm_all_kernels
from harness.machine import load_average
from harness.markdown import markdown_table
from harness.provenance import provenance
from harness.speed.measure import TEXTS
from harness.speed.stores import GivenVectors, make_store
from harness.speed.talk import AGENT, NOW, QUESTIONS

LIMIT, PREVIEW_CHARS, EXCERPT_CHARS = 10, 500, 800
COUNTS = (1, 5, 10)
RECALL, WITH_EXCERPTS = "recall", "recall with excerpts"
GOALS_MS = {WITH_EXCERPTS: 2.0, "reconstruct": 15.0}  # added to recall; whole
_ROUNDS = 30
_SETTINGS = replace(DEFAULT_SETTINGS, bounds=replace(DEFAULT_SETTINGS.bounds, milliseconds=None))

Progress = Callable[[str, int, int], None]


def measure_exit_speed(
    sizes: Sequence[int], texts: Sequence[str], command: str, progress: Progress
) -> dict[str, Any]:
    """Time the exits over made-up stores of each size and kind of text.

    Parameters
    ----------
    sizes : sequence of int
        Rows of the stores.
    texts : sequence of str
        Some of ``harness.speed.measure.TEXTS``.
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
    warm_all_kernels()
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        stores = [
            _measure_store(Path(folder) / f"{text}{rows}.db", rows, text, progress)
            for text in texts
            for rows in sizes
        ]
    return {
        "record": "exit_speed",
        "measure": f"milliseconds, median over {len(QUESTIONS)} questions in {_ROUNDS} rounds, "
        "variants turn about, one thread, kernels compiled, snapshot current, no time cap, "
        f"without the query's embedding; excerpts of at most {EXCERPT_CHARS} characters for rows "
        f"of over {PREVIEW_CHARS}, limit {LIMIT}",
        "stores": stores,
        **provenance(command, load_before),
    }


def _measure_store(path: Path, rows: int, text: str, progress: Progress) -> dict[str, Any]:
    name = f"exits, {text}, {rows:,} rows"
    progress(name, 0, _ROUNDS)
    columns = make_store(path, rows, TEXTS[text])
    with cpersona_jit.open(path, GivenVectors(), create=False) as memory:
        exits = {
            RECALL: _recall,
            WITH_EXCERPTS: _recall_with_excerpts,
            **{f"reconstruct, count {count}": _reconstruct(count) for count in COUNTS},
        }
        times = _timed(memory, columns, exits, lambda done: progress(name, done, _ROUNDS))
        memory._keeper.columns = columns
        cut = [_cut_rows(memory, question) for question in QUESTIONS]
    medians = {one: round(float(np.median(spent)), 2) for one, spent in times.items()}
    added = times[WITH_EXCERPTS] - times[RECALL]
    return {
        "rows": rows,
        "text": text,
        "milliseconds": medians,
        "excerpts_add_ms": round(float(np.median(added)), 2),
        "excerpts": round(float(np.mean(cut)), 1),
    }


def _timed(
    memory: Memory,
    columns: Columns,
    exits: dict[str, Callable[[Memory, str], object]],
    progress: Callable[[int], None],
) -> dict[str, np.ndarray]:
    """Wall milliseconds of each exit, shape (rounds, questions)."""
    names = list(exits)
    spent = {name: np.zeros((_ROUNDS, len(QUESTIONS))) for name in names}
    for turn in range(-1, _ROUNDS):  # the first turn loads what is loaded once
        for step in range(len(names)):
            name = names[(step + turn) % len(names)]
            for number, question in enumerate(QUESTIONS):
                memory._keeper.columns = columns
                start = time.perf_counter()
                exits[name](memory, question)
                if turn >= 0:
                    spent[name][turn, number] = (time.perf_counter() - start) * 1e3
        progress(max(turn + 1, 0))
    return spent


def _recall(memory: Memory, question: str) -> object:
    return memory.recall(question, agent_id=AGENT, limit=LIMIT, settings=_SETTINGS, now=NOW)


def _recall_with_excerpts(memory: Memory, question: str) -> object:
    found, quoter = memory.recall_to_quote(
        question, agent_id=AGENT, limit=LIMIT, settings=_SETTINGS, now=NOW
    )
    cut = [row for row in found.rows if len(row.content) > PREVIEW_CHARS]
    return [quoter.excerpt(row, EXCERPT_CHARS) for row in cut]


def _reconstruct(count: int) -> Callable[[Memory, str], object]:
    def call(memory: Memory, question: str) -> object:
        return memory.reconstruct(
            question, agent_id=AGENT, count=count, settings=_SETTINGS, now=NOW
        )

    return call


def _cut_rows(memory: Memory, question: str) -> int:
    rows = _recall(memory, question).rows
    return sum(len(row.content) > PREVIEW_CHARS for row in rows)


def exit_speed_report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    machine, load = record["machine"], record["load_average"]
    names = [RECALL, WITH_EXCERPTS, *(f"reconstruct, count {count}" for count in COUNTS)]
    rows = [
        [
            f"{store['rows']:,}",
            store["text"],
            *(f"{store['milliseconds'][name]:.2f}" for name in names),
            f"{store['excerpts_add_ms']:.2f}",
            f"{store['excerpts']:g}",
        ]
        for store in record["stores"]
    ]
    heads = ("rows", "text", *names, "excerpts add", "excerpts a recall")
    return (
        "\n\n".join(
            [
                "# Speed of the exits",
                f"`{record['command']}`",
                f"{record['measure']}.",
                f"{machine['cpu']}, {machine['cores']} cores; load average {load['before']} "
                f"before, {load['after']} after.",
                f"Goals at 100,000 rows: excerpts add at most {GOALS_MS[WITH_EXCERPTS]:g} ms, a "
                f"reconstruction takes at most {GOALS_MS['reconstruct']:g} ms.",
                markdown_table(heads, rows),
            ]
        )
        + "\n"
    )
