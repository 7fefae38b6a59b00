"""The replay kernel's speed, as a ratio to NumPy doing the same work in the same run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from cpersona_jit.errors import CPersonaError
from cpersona_jit.kernels.numpy_path.replay import replay_numpy
from harness.machine import load_average
from harness.provenance import provenance
from harness.random_pool import GOLDS, MIXES, FrozenPool, frozen_pool, settings_mix
from harness.replay import SETTING_CHUNK, compiled_kernel
from harness.summary import SUMMARY_FILE

QUERIES, CANDIDATES, ARMS = 500, 200, 4
GOAL = 20.0
_ROUNDS = 15


def measure_replay_speed(command: str, progress: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Time both implementations of replay, turn about, on one thread.

    Parameters
    ----------
    command : str
        What reproduces the record.
    progress : callable
        Called as ``progress(mix, rounds done, rounds)``.

    Returns
    -------
    dict
        The record: per mix the median ratio of CPU times of paired rounds, its quartiles, and the
        median milliseconds of each implementation.

    Raises
    ------
    CPersonaError
        The implementations disagree; then there is nothing to compare.
    """
    pool = frozen_pool(QUERIES, CANDIDATES, ARMS)
    load_before = load_average()
    with threadpool_limits(1):
        mixes = [_measure(mix, pool, progress) for mix in MIXES]
    return {
        "record": "replay_speed",
        "measure": "CPU time of NumPy / CPU time of the compiled kernel, one thread each, "
        "rounds of both in alternating order, ratio per round",
        "shape": {
            "queries": QUERIES,
            "candidates": CANDIDATES,
            "arms": ARMS,
            "settings_per_call": SETTING_CHUNK,
            "relevant_per_query": GOLDS,
            "rounds": _ROUNDS,
        },
        "mixes": mixes,
        "goal": GOAL,
        "reached": all(mix["ratio"] >= GOAL for mix in mixes),
        **provenance(command, load_before),
    }


def write_record(folder: Path, record: dict[str, Any]) -> Path:
    """Write the record as the folder's summary.json and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / SUMMARY_FILE
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _measure(
    mix: str, pool: FrozenPool, progress: Callable[[str, int, int], None]
) -> dict[str, Any]:
    compiled = compiled_kernel()
    settings = settings_mix(mix, SETTING_CHUNK, ARMS, CANDIDATES // 2)
    # Also loads the compiled kernel and warms the caches of both.
    if not np.array_equal(compiled(*pool, *settings), replay_numpy(*pool, *settings)):
        raise CPersonaError(f"mix {mix!r}: the compiled kernel and NumPy give different ranks")
    seconds = np.zeros((_ROUNDS, 2))
    progress(mix, 0, _ROUNDS)
    for turn in range(_ROUNDS):
        for which in (0, 1) if turn % 2 else (1, 0):
            seconds[turn, which] = _cpu_seconds((replay_numpy, compiled)[which], pool, settings)
        progress(mix, turn + 1, _ROUNDS)
    low, ratio, high = np.percentile(seconds[:, 0] / seconds[:, 1], [25, 50, 75])
    numpy_ms, kernel_ms = np.median(seconds, axis=0) * 1e3
    return {
        "mix": mix,
        "ratio": round(float(ratio), 1),
        "quartiles": [round(float(low), 1), round(float(high), 1)],
        "numpy_ms": round(float(numpy_ms), 3),
        "kernel_ms": round(float(kernel_ms), 3),
    }


def _cpu_seconds(replay: Callable[..., np.ndarray], pool: FrozenPool, settings: tuple) -> float:
    """CPU time of one call: what other processes take of the machine is not in it."""
    start = time.thread_time()
    replay(*pool, *settings)
    return time.thread_time() - start
