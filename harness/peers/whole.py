"""Whole recall beside cpersona: same rows, same vectors, same questions, both at their defaults."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import cpersona_jit
from cpersona_jit import Memory
from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.recall.kernel_set import warm_all_kernels
from harness.peers.cpersona_env import PeerError
from harness.peers.cpersona_process import CpersonaProcess
from harness.peers.cpersona_side.text_vectors import DIM, text_vector
from harness.peers.figures import ENGINE, add_ratio, comparison
from harness.peers.goals import CPERSONA, RECALL
from harness.peers.installed import Skip
from harness.peers.turns import rounds_of
from harness.speed.talk import AGENT, CHAT, NOW, QUESTIONS, records

LIMIT = 10
_BATCH = 4096


class TextVectors:
    """An embedder that has a vector for every text, and those of the questions ready."""

    info = ModelInfo("given", DIM, model_fingerprint(provider="given", dim=DIM), None)

    def __init__(self) -> None:
        self._ready = {question: text_vector(question) for question in QUESTIONS}

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return a unit vector per text."""
        ready = self._ready
        return np.stack([ready[t] if t in ready else text_vector(t) for t in texts])

    def close(self) -> None:
        """Do nothing."""


def compare_whole_recall(rows: int, budget: float, python: Path | None, skip: Skip) -> dict:
    """Time recalls as their callers wait for them, without a model: wall seconds.

    Parameters
    ----------
    rows : int
        Of made-up talk, chat rows.
    budget : float
        Seconds to spend on rounds.
    python : Path or None
        Interpreter that can import cpersona; None times the engine alone.
    skip : callable
        Told when cpersona fails.

    Returns
    -------
    dict
        The comparison.
    """
    if python is not None:
        try:
            return _compare(rows, budget, python)
        except PeerError as error:
            skip(f"{CPERSONA}, {rows:,} rows", str(error))
    return _compare(rows, budget, None)


def _compare(rows: int, budget: float, python: Path | None) -> dict:
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder, facts = Path(name), {}
        if python is not None:
            peer = stack.enter_context(CpersonaProcess(python, folder / "cpersona.db"))
            facts |= peer.ask(do="describe")
            _write_rows(folder / "rows.jsonl", rows)
            peer.send(do="fill", rows=str(folder / "rows.jsonl"))
        # Both stores are filled at the same time: only recalls are timed.
        memory = stack.enter_context(_filled(folder / "engine.db", rows))
        spent = {ENGINE: partial(_ask_engine, memory)}
        if python is not None:
            facts |= peer.answer()
            spent[CPERSONA] = partial(_ask_cpersona, peer)
        cpu: dict[str, list[float]] = {one: [] for one in spent}
        for one in spent.values():
            one([])  # loads what is loaded once
        samples = {one: partial(ask, cpu[one]) for one, ask in spent.items()}
        seconds = rounds_of(samples, budget)
    found = comparison(RECALL, rows, seconds, len(QUESTIONS), dim=DIM, limit=LIMIT)
    found["cpu_milliseconds"] = {
        one: round(float(np.median(of)) / len(QUESTIONS) * 1e3, 3) for one, of in cpu.items()
    }
    if python is not None:
        found[CPERSONA] = facts
        add_ratio(found, seconds, CPERSONA)
    return found


def _filled(path: Path, rows: int) -> Memory:
    """Store the rows, and open the store anew: nothing is built or written any more."""
    warm_all_kernels()
    with cpersona_jit.open(path, TextVectors()) as memory:
        memory.store_many(records(rows, CHAT), dedup=False, batch_size=_BATCH)
        memory.recall(QUESTIONS[0], agent_id=AGENT, limit=LIMIT, now=NOW)  # builds the columns
    return cpersona_jit.open(path, TextVectors(), create=False)


def _write_rows(path: Path, rows: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for record in records(rows, CHAT):
            source = record.source
            row = {
                "agent_id": record.agent_id,
                "content": record.content,
                "timestamp": record.timestamp,
                "source": {"type": source.type, "id": source.id, "name": source.name},
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _ask_engine(memory: Memory, cpu: list[float]) -> float:
    """Recall by every question; wall seconds, and CPU seconds put at the end of ``cpu``."""
    start_cpu, start = time.process_time(), time.perf_counter()
    for question in QUESTIONS:
        memory.recall(question, agent_id=AGENT, limit=LIMIT, now=NOW)
    seconds = time.perf_counter() - start
    cpu.append(time.process_time() - start_cpu)
    return seconds


def _ask_cpersona(peer: CpersonaProcess, cpu: list[float]) -> float:
    """The same, as cpersona's process measures it: the pipe is not in it."""
    answers = [
        peer.ask(do="recall", agent=AGENT, query=question, limit=LIMIT) for question in QUESTIONS
    ]
    cpu.append(sum(answer["cpu_ms"] for answer in answers) / 1e3)
    return sum(answer["ms"] for answer in answers) / 1e3
