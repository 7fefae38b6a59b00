"""What a store takes of the memory of a process that has nothing else to do.

Run as ``python -m harness.scale.resident STORE`` by `ask_fresh_process`: pages that an earlier
measurement touched would count otherwise.
"""

from __future__ import annotations

import json
import mmap
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import cpersona_jit
from cpersona_jit.recall.kernel_set import warm_kernels
from harness.scale.planted import PlantedVectors, without_plants
from harness.speed.talk import AGENT, CHAT, NOW, QUESTIONS, records

_STATUS = Path("/proc/self/status")
_WARM_ROWS = 64
_MEGABYTE = 1 << 20


def ask_fresh_process(store: Path) -> dict[str, Any] | None:
    """Open a store in a process of its own and ask the questions; None where there is no /proc.

    Returns
    -------
    dict or None
        Megabytes beyond what the same process held before: ``resident`` and its parts
        ``anonymous`` and ``mapped`` (of files; the system may take these back), and the ``peak``
        on the way. And ``first_answer_ms``, from opening the store on.
    """
    if not _STATUS.exists():
        return None
    words = [sys.executable, "-m", __name__, str(store)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(store: Path) -> dict[str, float]:
    """Measure this process; the kernels and all that a recall imports are loaded before."""
    warm_kernels()
    with (
        tempfile.TemporaryDirectory() as folder,
        cpersona_jit.open(Path(folder) / "warm.db", _vectors()) as memory,
    ):
        memory.store_many(records(_WARM_ROWS, CHAT))
        _ask_all(memory)
    _forget_peak()
    before, start = held_megabytes(), time.perf_counter()
    with cpersona_jit.open(store, _vectors(), create=False) as memory:
        memory.recall(QUESTIONS[0], agent_id=AGENT, now=NOW)
        first = time.perf_counter() - start
        _ask_all(memory)
        after = held_megabytes()
    found = {name: round(after[key] - before[key], 1) for name, key in _KEYS.items()}
    # The peak of the process is counted from what it held before, like the rest.
    found["peak"] = round(after["VmHWM"] - before["VmRSS"], 1)
    return {**found, "first_answer_ms": round(first * 1e3, 1)}


_KEYS = {"resident": "VmRSS", "anonymous": "RssAnon", "mapped": "RssFile"}


def touched_megabytes(file: Path) -> dict[str, float] | None:
    """Touch one byte of every megabyte of a file in memory; None where there is no /proc.

    A control of ``mapped``: a system that keeps a file in large pages maps one of them whole at a
    touch, so that pages count that nobody read.

    Returns
    -------
    dict or None
        Megabytes of the ``file``, and megabytes of file pages that ``grew`` resident.
    """
    size = file.stat().st_size
    if not _STATUS.exists() or size == 0:
        return None
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        before = held_megabytes()["RssFile"]
        for start in range(0, size, _MEGABYTE):
            data[start]
        grew = held_megabytes()["RssFile"] - before
    return {"file": round(size / 1e6, 1), "grew": round(max(grew, 0.0), 1)}


def _vectors() -> PlantedVectors:
    return PlantedVectors(without_plants())


def _ask_all(memory: cpersona_jit.Memory) -> None:
    for question in QUESTIONS:
        memory.recall(question, agent_id=AGENT, now=NOW)


def held_megabytes() -> dict[str, float]:
    """Return the megabytes that the system tells of this process, empty where it tells none."""
    if not _STATUS.exists():
        return {}
    lines = (line.split() for line in _STATUS.read_text(encoding="utf-8").splitlines())
    return {
        words[0][:-1]: int(words[1]) * 1024 / 1e6
        for words in lines
        if len(words) == 3 and words[2] == "kB"
    }


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return  # the peak then counts what loading took too


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
