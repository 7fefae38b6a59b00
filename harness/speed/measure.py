"""The time of a recall: variants turn about, on one thread, and what each stage takes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import cpersona_jit
from cpersona_jit import Memory
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.defaults import DEFAULT_SETTINGS, ROW_FUSION_SETTINGS
from cpersona_jit.intent import read_intent
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.int8_scan import dense_all
from cpersona_jit.kernels.quantize import quantize_query
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recall.settings import RecallSettings
from harness.machine import load_average
from harness.provenance import provenance
from harness.speed.stores import GivenVectors, make_store, scored_bytes, without_blocks
from harness.speed.talk import AGENT, CHAT, LONG, NOW, QUESTIONS, Shape

TEXTS: dict[str, Shape] = {"chat": CHAT, "long": LONG}
GOAL_MS, GOAL_TEXT, GOAL_ROWS = 4.0, "chat", 100_000
COMPLETE = "+ time cue"
LIMIT = 10
_ROUNDS = 40

Progress = Callable[[str, int, int], None]


class Variant(NamedTuple):
    """What is called, and on which snapshot."""

    name: str
    columns: Columns
    settings: RecallSettings | AdaptiveSettings


def measure_recall_speed(
    sizes: Sequence[int], texts: Sequence[str], command: str, progress: Progress
) -> dict[str, Any]:
    """Time recall over made-up stores of each size and kind of text.

    Parameters
    ----------
    sizes : sequence of int
        Rows of the stores.
    texts : sequence of str
        Some of ``TEXTS``.
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
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        stores = [
            _measure_store(Path(folder) / f"{text}{rows}.db", rows, text, progress)
            for text in texts
            for rows in sizes
        ]
    goal = [_complete(store) for store in stores if _at_goal(store)]
    return {
        "record": "recall_speed",
        "measure": f"milliseconds, median over {len(QUESTIONS)} questions in {_ROUNDS} rounds, "
        "variants turn about, one thread, kernels compiled, snapshot current, no time cap; "
        "fastest: mean over the questions of their fastest round",
        "process": "all stages that the trace names: signals, envelope, lists, structure, gate, "
        "selection of rows and seats",
        "recall": f"Memory.recall(limit={LIMIT}) as a caller waits for it: the process, and "
        "reading the question's time, a look whether the store changed, notes on what was done "
        "without, fetching the rows from the file",
        "excluded": "the query's embedding, and building or refreshing the snapshot",
        "settings": asdict(DEFAULT_SETTINGS),
        "stores": stores,
        "goal": {"milliseconds": GOAL_MS, "rows": GOAL_ROWS, "text": GOAL_TEXT},
        "reached": all(variant["process_ms"] <= GOAL_MS for variant in goal) if goal else None,
        **provenance(command, load_before),
    }


def _measure_store(path: Path, rows: int, text: str, progress: Progress) -> dict[str, Any]:
    name = f"{text}, {rows:,} rows"
    progress(name, 0, _ROUNDS)
    columns = make_store(path, rows, TEXTS[text])
    with cpersona_jit.open(path, GivenVectors(), create=False) as memory:
        variants = _variants(columns)
        timed, stages = _timed(memory, variants, lambda done: progress(name, done, _ROUNDS))
    return {
        "rows": rows,
        "text": text,
        "blocks": int(columns.block_count.sum()),
        "blocks_per_row": round(float(columns.block_count.mean()), 2),
        "median_characters": float(np.median(columns.text_length)),
        "row_megabytes": round(scored_bytes(columns) / 1e6, 1),
        "block_megabytes": round(scored_bytes(columns.blocks) / 1e6, 1),
        "variants": [
            {"variant": variant.name, **summary}
            for variant, summary in zip(variants, timed, strict=True)
        ],
        "vectors_alone": _summary(_scan_times(columns)),
        "stages": stages,
    }


def _variants(columns: Columns) -> list[Variant]:
    """The shipped default, built up part by part; before it, the fusion of whole rows."""
    complete = replace(DEFAULT_SETTINGS, bounds=replace(DEFAULT_SETTINGS.bounds, milliseconds=None))
    talk = replace(complete, cues=None)
    plain = replace(talk, structure=None)
    whole = without_blocks(columns)
    return [
        Variant("row fusion", whole, ROW_FUSION_SETTINGS),
        Variant("adaptive, whole rows", whole, plain),
        Variant("+ blocks", columns, plain),
        Variant("+ structure", columns, talk),
        Variant(COMPLETE, columns, complete),
    ]


def _timed(
    memory: Memory, variants: list[Variant], progress: Callable[[int], None]
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Summary of each variant, and the median stages of the last one."""
    calls = np.zeros((len(variants), 2, _ROUNDS, len(QUESTIONS)))
    processes = np.zeros((len(variants), _ROUNDS, len(QUESTIONS)))
    stages: dict[str, list[float]] = {}
    for turn in range(-1, _ROUNDS):  # the first turn loads what is loaded once
        for step in range(len(variants)):
            number = (step + turn) % len(variants)
            for question, text in enumerate(QUESTIONS):
                spent = _call(memory, variants[number], text)
                of_process = _process(memory, variants[number], text)
                if turn < 0:
                    continue
                calls[number, :, turn, question] = spent
                processes[number, turn, question] = sum(of_process.values())
                if number == len(variants) - 1:
                    for name, milliseconds in of_process.items():
                        stages.setdefault(name, []).append(milliseconds)
        progress(max(turn + 1, 0))
    found = []
    for variant, of_call, of_process in zip(variants, calls, processes, strict=True):
        adaptive = isinstance(variant.settings, AdaptiveSettings)
        process = {"process_ms": _median(of_process), "process_fastest_ms": _fastest(of_process)}
        found.append({**_summary(of_call), **(process if adaptive else {})})
    return found, {name: round(float(np.median(times)), 3) for name, times in stages.items()}


def _call(memory: Memory, variant: Variant, text: str) -> tuple[float, float]:
    """Wall and CPU milliseconds of a recall as a caller waits for it."""
    memory._keeper.columns = variant.columns
    cpu, wall = time.thread_time(), time.perf_counter()
    memory.recall(text, agent_id=AGENT, limit=LIMIT, settings=variant.settings, now=NOW)
    return (time.perf_counter() - wall) * 1e3, (time.thread_time() - cpu) * 1e3


def _process(memory: Memory, variant: Variant, text: str) -> dict[str, float]:
    """Wall milliseconds of the stages of the process, as its trace tells them."""
    settings = variant.settings
    if not isinstance(settings, AdaptiveSettings):
        return {}
    memory._keeper.columns = variant.columns
    cue = read_intent(text, None, NOW, parse=True).cue if settings.cues else None
    state = memory.explore(text, agent_id=AGENT, settings=settings, cue=cue, limit=LIMIT)
    return {stage["stage"]: stage["milliseconds"] for stage in state.stages}


def _scan_times(columns: Columns) -> np.ndarray:
    """What reading all vectors once takes: no recall that compares them all can be faster.

    The machine's memory decides it, and whatever else runs on the machine.
    """
    axes = Axes.agent(AGENT)
    planes, _ = quantize_query(GivenVectors().embed(QUESTIONS[:1], kind="query")[0])
    scans = [
        (of.codes, mask.words, np.empty(of.lengths.size, np.int32))
        for of, mask in (
            (columns, columns.mask(axes)),
            (columns.blocks, columns.block_mask(axes)),
        )
    ]
    found = np.zeros((2, _ROUNDS, 1))
    for turn in range(_ROUNDS):
        cpu, wall = time.thread_time(), time.perf_counter()
        for codes, words, out in scans:
            dense_all(codes, planes, words, out)
        found[:, turn, 0] = time.perf_counter() - wall, time.thread_time() - cpu
    return found * 1e3


def _summary(times: np.ndarray) -> dict[str, float]:
    """Of wall and CPU milliseconds, shape (2, rounds, questions)."""
    wall, cpu = times
    return {"wall_ms": _median(wall), "cpu_ms": _median(cpu), "fastest_ms": _fastest(wall)}


def _median(times: np.ndarray) -> float:
    return round(float(np.median(times)), 2)


def _fastest(times: np.ndarray) -> float:
    """Mean over the questions of their fastest round: what they take while the machine is free."""
    return round(float(times.min(axis=0).mean()), 2)


def _complete(store: dict[str, Any]) -> dict[str, Any]:
    return next(v for v in store["variants"] if v["variant"] == COMPLETE)


def _at_goal(store: dict[str, Any]) -> bool:
    return (store["rows"], store["text"]) == (GOAL_ROWS, GOAL_TEXT)
