"""What the tests of adaptive recall share: settings, a bilingual store, and comparable answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from memory_cases import BagOfWords, plain

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.recall.adaptive_settings import (
    AdaptiveSettings,
    Bounds,
    Calibration,
    CueWeights,
    Structure,
)
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.process_trace import ProcessTrace
from cpersona_jit.recall.settings import ArmSpec
from cpersona_jit.results import RecallResult

GRAM3 = ArmSpec("gram3", "gram", size=3, term_frequency="2bit", length_exponent=0.15)
GRAM4 = ArmSpec("gram4", "gram", size=4, term_frequency="2bit", length_exponent=0.15)
UNTIMED = Bounds(milliseconds=None)
NOW = "2024-06-01T12:00:00Z"
EVERYTHING = 1000

# A talk in both languages: a speaker, a text; told over sessions of five rows.
TURNS = [
    ("Mia", "I moved to Lisbon in March and work at the aquarium now."),
    ("Ken", "Is the aquarium open on Mondays?"),
    ("Mia", "It is, and the otters are fed at noon."),
    ("Ken", "My knee hurts, the doctor said that it needs rest."),
    ("Mia", "Then no running for you this week!"),
    ("ユキ", "毎週土曜日に京都で茶道を習っています。"),
    ("Ken", "京都のどこで習っていますか？"),
    ("ユキ", "四条の小さな教室です。先生はとても親切です。"),
    ("Ken", "抹茶は苦くないですか？"),
    ("ユキ", "苦いけれど、お菓子と一緒に飲みます。"),
    ("Mia", "The staging key is K-4471, keep it safe."),
    ("Ken", "Where did you write the key down?"),
    ("Mia", "On the blue note in the left cupboard, next to the green tea."),
    ("ユキ", "先週、赤い自転車を買いました。"),
    ("Ken", "Green tea from Uji is the best tea."),
]
LONG = [
    " ".join(
        f"On day {day} the doctor looked at the knee again. Mia walked {day} steps, then had tea!"
        for day in range(1, 12)
    ),
    "".join(
        f"{day}日目、ユキは京都の茶道教室へ行った。先生は「もう一度」と言った。"
        for day in range(1, 25)
    ),
]
QUESTIONS = [
    "Where did Mia move to?",
    "What did Ken say about his knee?",
    "K-4471",
    "京都の茶道教室はどこですか",
    "ユキの自転車は何色ですか",
    "green tea in the cupboard",
    "zzqqxx",
]


def talk(agent_id: str = "a", *, times: int = 2, project_id: str = "") -> list[Record]:
    """The talk, told some times over in days that follow each other, and two long rows."""
    said = [*TURNS] * times
    rows = [
        Record(
            f"{text} ({n // len(TURNS)})" if n >= len(TURNS) else text,
            agent_id,
            project_id,
            source=Source("user", name, name),
            session_id=f"s{n // 5}",
            timestamp=f"2024-05-{n // 5 + 1:02d}T10:{n % 5:02d}:00Z" if n % 11 else "",
        )
        for n, (name, text) in enumerate(said)
    ]
    longs = [Record(text, agent_id, project_id, timestamp="2024-05-20") for text in LONG]
    return [*rows[:7], *longs, *rows[7:]]


def adaptive(
    *,
    gram3: ArmSpec = GRAM3,
    gram4: ArmSpec = GRAM4,
    depth: int = 20,
    bounds: Bounds = UNTIMED,
    **parts: object,
) -> AdaptiveSettings:
    """Settings with everything that has a switch off, and no cap on time."""
    return AdaptiveSettings(gram3, gram4, depth, bounds=bounds, **parts)


def complete(**parts: object) -> AdaptiveSettings:
    """Settings with every switch on."""
    everything = {
        "structure": Structure(),
        "cues": CueWeights(seats=2),
        "gate": -0.5,
        "seats": 2,
        "calibration": Calibration(conditional=True),
    }
    return adaptive(**(everything | parts))


CUE = {"after": "2024-05-01", "before": "2024-05-02"}
SETTINGS = {
    "plain": adaptive(),
    "shallow": adaptive(depth=3),
    "structure": adaptive(structure=Structure()),
    "complete": complete(),
    "words": adaptive(calibration=Calibration(dense_weight=0.0)),
}


def filled(folder: str | Path, name: str, rows: Sequence[Record], model: object = None) -> Memory:
    """A store of its own, with every row in it."""
    memory = cpersona_jit.open(
        Path(folder) / name, BagOfWords() if model is None else model, wait_for_kernels=False
    )
    outcomes = memory.store_many(rows, dedup=False)
    assert all(outcome.status == "stored" for outcome in outcomes)
    return memory


def untimed(trace: ProcessTrace) -> ProcessTrace:
    """A trace without wall times and the name of the kernels."""
    stages = tuple({**stage, "milliseconds": 0.0} for stage in trace.stages)
    return replace(trace, stages=stages, kernels="")


def told(result: RecallResult) -> object:
    """Everything a recall says, comparable to the last bit; wall times left out."""
    trace = None if result.trace is None else untimed(result.trace)
    return plain(replace(result, trace=trace))


def answer(result: RecallResult) -> list[tuple[str, float, str]]:
    """Reference, score and admission of each row."""
    return [(row.ref, row.score, row.admission) for row in result.rows]


def talked(folder: str | Path) -> Memory:
    """A store with the talk of agent a, and some of it again for agent b."""
    return filled(folder, "talk.db", [*talk(), *talk("b", times=1)])


def ask(memory: Memory, query: str, settings: AdaptiveSettings, **call: object) -> RecallResult:
    """Recall as agent a, four rows with a trace, at a fixed time, unless `call` says otherwise."""
    arguments = {"agent_id": "a", "limit": 4, "trace": True, "now": NOW} | call
    return memory.recall(query, settings=settings, **arguments)


def counted(kernels: KernelSet) -> tuple[KernelSet, Counter]:
    """The same kernels, how often each was called, and how many regions lists were drawn from."""
    calls: Counter = Counter()

    def counting(name: str, kernel: Callable) -> Callable:
        def call(*arguments: object) -> object:
            calls[name] += 1
            if name == "draw_rows":
                calls["regions"] += len(arguments[3])
            return kernel(*arguments)

        return call

    named = [f.name for f in fields(kernels) if f.name not in ("name", "notes")]
    return KernelSet(kernels.name, **{n: counting(n, getattr(kernels, n)) for n in named}), calls


def serve_by(kernels: KernelSet, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a memory recall by these kernels."""
    monkeypatch.setattr(memory, "_kernels", lambda: kernels)


def leading_ids(trace: ProcessTrace) -> list[int]:
    """The rows with the most dense and the most gram evidence, of those listed."""
    evidence = trace.forms @ (trace.pool_signals - trace.mean[:, None])
    found = []
    for kind in (0, 1):
        listed = np.flatnonzero(trace.pool_reached[kind])
        if listed.size:
            found.append(int(trace.pool_ids[listed[np.argmax(evidence[kind, listed])]]))
    return found
