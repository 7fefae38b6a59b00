"""How long a caller waits: variants turn about, on one thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cpersona_jit import Memory
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.intent import read_intent
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from harness.speed.talk import AGENT, NOW, QUESTIONS

LIMIT = 10
COMPLETE = replace(DEFAULT_SETTINGS, bounds=replace(DEFAULT_SETTINGS.bounds, milliseconds=None))
"""Every part of the default is on, and nothing stops early."""


def recall_latency(memories: Mapping[str, Memory], rounds: int) -> dict[str, dict[str, Any]]:
    """Time ``Memory.recall`` without the query's embedding, and the stages of its process.

    Parameters
    ----------
    memories : mapping of str to Memory
        Variants, whose snapshots are current.
    rounds : int
        Each question is asked this often, after once untimed.

    Returns
    -------
    dict of str to dict
        Milliseconds of each variant: medians, the mean over questions of the fastest round, and
        the median of every stage.
    """
    names = list(memories)
    shape = (rounds, len(QUESTIONS))
    wall, cpu, process = ({name: np.zeros(shape) for name in names} for _ in range(3))
    stages: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for turn, name in turns(names, rounds):
        for number, question in enumerate(QUESTIONS):
            spent = _ask(memories[name], question)
            of_process = _stages(memories[name], question)
            if turn < 0:
                continue
            wall[name][turn, number], cpu[name][turn, number] = spent
            process[name][turn, number] = sum(of_process.values())
            for stage, milliseconds in of_process.items():
                stages[name].setdefault(stage, []).append(milliseconds)
    return {
        name: {
            "recall_ms": median(wall[name]),
            "recall_fastest_ms": fastest(wall[name]),
            "cpu_ms": median(cpu[name]),
            "process_ms": median(process[name]),
            "stages": {stage: median(np.array(spent)) for stage, spent in stages[name].items()},
        }
        for name in names
    }


def process_times(
    memory: Memory,
    questions: Sequence[str],
    variants: Mapping[str, AdaptiveSettings],
    rounds: int,
    told: Callable[[int], None] = lambda turn: None,
) -> dict[str, np.ndarray]:
    """Time the process under several settings, turn about.

    Returns
    -------
    dict of str to ndarray
        Milliseconds of each variant, float64, shape (rounds, questions).
    """
    found = {name: np.zeros((rounds, len(questions))) for name in variants}
    for turn, name in turns(list(variants), rounds):
        for number, question in enumerate(questions):
            start = time.perf_counter()
            memory.explore(question, agent_id=AGENT, settings=variants[name], limit=LIMIT)
            if turn >= 0:
                found[name][turn, number] = (time.perf_counter() - start) * 1e3
        told(turn)
    return found


def turns(names: Sequence[str], rounds: int) -> Iterator[tuple[int, str]]:
    """Yield every name in every round, each round beginning with another one and every other one
    the other way round; round -1 loads what is loaded once.
    """
    for turn in range(-1, rounds):
        first = turn % len(names)
        order = [*names[first:], *names[:first]]
        for name in reversed(order) if turn % 2 else order:
            yield turn, name


def median(times: np.ndarray) -> float:
    """Return the median."""
    return round(float(np.median(times)), 3)


def fastest(times: np.ndarray) -> float:
    """Return the mean over the questions of their fastest round, shape (rounds, questions)."""
    return round(float(times.min(axis=0).mean()), 3)


def _ask(memory: Memory, question: str) -> tuple[float, float]:
    cpu, wall = time.thread_time(), time.perf_counter()
    memory.recall(question, agent_id=AGENT, limit=LIMIT, settings=COMPLETE, now=NOW)
    return (time.perf_counter() - wall) * 1e3, (time.thread_time() - cpu) * 1e3


def _stages(memory: Memory, question: str) -> dict[str, float]:
    cue = read_intent(question, None, NOW, parse=True).cue
    state = memory.explore(question, agent_id=AGENT, settings=COMPLETE, cue=cue, limit=LIMIT)
    return {stage["stage"]: stage["milliseconds"] for stage in state.stages}
