"""Many recalls at once, in the threads of one process: how much sooner all are done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import cpersona_jit
from cpersona_jit import Memory
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.recall.kernel_set import warm_all_kernels
from harness.serving.stores import KnownQuestions
from harness.speed.talk import AGENT, NOW, QUESTIONS

AT_ONCE = 8
LIMIT = 10
_TIMES = 4  # how often a client asks each question: the start of its thread is not to count
# A recall that the time limit cuts short on a busy machine would give other rows.
_SETTINGS = replace(DEFAULT_SETTINGS, bounds=replace(DEFAULT_SETTINGS.bounds, milliseconds=None))


def measure_recalls(path: Path, rounds: int, progress: Callable[[int], None]) -> dict[str, Any]:
    """Time as many recalls one after another and at once, turn about.

    Parameters
    ----------
    path : pathlib.Path
        A store of `harness.serving.stores`.
    rounds : int
        Rounds of each.
    progress : callable
        Called with the number of rounds done.

    Returns
    -------
    dict
        How many times the recalls of one client `AT_ONCE` clients get, and two, who each ask again
        as soon as they are answered. Median milliseconds of `AT_ONCE` recalls that begin at one
        moment, one after another, and the ratio; the same threads behind one lock show what threads
        cost when only one of them recalls at a time.
    """
    questions = [QUESTIONS[number % len(QUESTIONS)] for number in range(AT_ONCE)]
    alone, together, locked = np.zeros(rounds), np.zeros(rounds), np.zeros(rounds)
    many, two = np.zeros(rounds), np.zeros(rounds)
    lock = threading.Lock()
    warm_all_kernels()
    with (
        cpersona_jit.open(path, KnownQuestions(QUESTIONS), create=False) as memory,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):

        def recall(question: str) -> tuple[str, ...]:
            return tuple(row.ref for row in _recall(memory, question).rows)

        def recall_in_turn(question: str) -> tuple[str, ...]:
            with lock:
                return recall(question)

        expected = [recall(question) for question in questions]
        list(pool.map(recall, questions))  # starts the threads
        same = True
        for turn in range(rounds):
            for times, run, ask in (
                (alone, map, recall),
                (together, pool.map, recall),
                (locked, pool.map, recall_in_turn),
            ):
                start = time.perf_counter()
                found = list(run(ask, questions))
                times[turn] = time.perf_counter() - start
                same = same and found == expected
            many[turn] = _clients_ratio(recall, AT_ONCE)
            two[turn] = _clients_ratio(recall, 2)
            progress(turn + 1)
    return {
        "recalls": AT_ONCE,
        "rounds": rounds,
        "one_after_another_ms": round(float(np.median(alone)) * 1e3, 2),
        "at_once_ms": round(float(np.median(together)) * 1e3, 2),
        "one_lock_ms": round(float(np.median(locked)) * 1e3, 2),
        "one_lock_ratio": round(float(np.median(alone / locked)), 2),
        "burst_ratio": round(float(np.median(alone / together)), 2),
        "throughput_ratio": round(float(np.median(many)), 2),
        "two_clients_ratio": round(float(np.median(two)), 2),
        "same_rows": same,
    }


def _clients_ratio(recall: Callable[[str], object], clients: int) -> float:
    """Recalls a second of some clients over those of one; each asks every question some times."""

    def ask_all() -> None:
        for question in _TIMES * QUESTIONS:
            recall(question)

    start = time.perf_counter()
    for _ in range(clients):
        ask_all()
    alone = time.perf_counter() - start
    threads = [threading.Thread(target=ask_all) for _ in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return alone / (time.perf_counter() - start)


def _recall(memory: Memory, question: str) -> cpersona_jit.RecallResult:
    return memory.recall(question, agent_id=AGENT, limit=LIMIT, settings=_SETTINGS, now=NOW)
