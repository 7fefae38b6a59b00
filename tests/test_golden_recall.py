"""Recall as it was before blocks, cues and the process existed: same rows, same order, same bits.

The file was written once, by the code of that time. It is never written again: whatever comes later
sits behind a switch, and with the switches off recall gives these answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.recall import kernel_set
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings

GOLDEN = Path(__file__).parent / "data" / "golden" / "recall.json"

DENSE = ArmSpec("dense", "dense")
GRAMS = tuple(
    ArmSpec(f"gram{size}", "gram", size, "2bit", length_exponent=0.15, idf_power=1.25)
    for size in (3, 4)
)
ALL = (DENSE, *GRAMS)
SETTINGS = {
    "score": RecallSettings(ALL, FusionSpec("score", dict.fromkeys(("dense", "gram3"), 1.0)), 200),
    "three": RecallSettings(
        ALL, FusionSpec("score", {"dense": 1.0, "gram3": 1.0, "gram4": 1.0}), 200
    ),
    "shallow": RecallSettings(
        ALL, FusionSpec("score", {"dense": 0.7, "gram3": 1.0, "gram4": 0.4}), 4
    ),
    "rrf": RecallSettings(ALL, FusionSpec("rrf", {"dense": 1.0, "gram3": 1.0}, 60.0), 200),
    "words": RecallSettings(ALL, FusionSpec("score", {"gram4": 1.0}), 200),
}
QUERIES = [
    "Where did Mia move to?",
    "tea ceremony in Kyoto",
    "What did the doctor say about the knee?",
    "京都の 茶道 教室",
    "引っ越した町の水族館",
    "zzzz",
]
CALLS = [
    {"agent_id": "a"},
    {"agent_id": "a", "project_id": ""},
    {"agent_id": "a", "project_id": "p", "channel": "c"},
    {"agent_id": "b"},
]

SHORT = [
    "Mia moved to Lisbon in March and works at the aquarium.",
    "Is the aquarium open on Mondays?",
    "ユキは毎週土曜日に京都で茶道を習っています。",
    "茶道 教室 は 京都 の 四条 に ある ?",
    "The doctor said that the knee needs rest.",
    "ok",
    "引っ越した町には大きな水族館がある。",
    "tea tea tea",
    "🎉",
    "green tea in Kyoto, twice",
]
# Longer than any chat turn: texts that blocks would part.
LONG = [
    " ".join(
        f"On day {day} the doctor looked at the knee again. Mia walked {day} steps, then had tea!"
        for day in range(1, 12)
    ),
    "".join(
        f"{day}日目、ユキは京都の茶道 教室 へ行った。先生は「もう一度」と言った。"
        for day in range(1, 25)
    ),
    "\n".join(f"- item {n}: move to town {n % 5}, see the aquarium" for n in range(40)),
]


def records() -> list[Record]:
    """Rows of two agents, dated and undated, short and long, in both languages."""
    speakers = (None, Source("user", "u1", "Mia"), Source("user", "u2", "ユキ"))
    return [
        Record(
            content,
            "b" if n % 7 == 6 else "a",
            ("", "p", "q")[n % 3],
            ("", "c")[n % 2],
            source=speakers[n % 3],
            session_id=("", "s1", "s2")[n // 3 % 3],
            timestamp=("", "2024-05-01", f"2024-05-{n + 1:02d}T10:00:00Z")[n % 3],
        )
        for n, content in enumerate([*SHORT, *LONG, *(f"{s} Again." for s in SHORT)])
    ]


def fill(memory: Memory, model: BagOfWords) -> None:
    """Store, change, delete, and leave one row without a vector."""
    memory.store_many(records())
    memory.update("mem:6", "ok, see you at the aquarium", agent_id="a")
    memory.delete(["mem:9"], agent_id="a")
    model.fails_after = 0
    memory.store("The aquarium lost its model", agent_id="a")
    model.fails_after = None


def answers(memory: Memory) -> dict[str, list]:
    """References and scores of every call; a float's JSON form gives back the same float."""
    found = {}
    for name, settings in SETTINGS.items():
        for query in QUERIES:
            for call in CALLS:
                result = memory.recall(query, limit=8, settings=settings, **call)
                key = " | ".join([name, query, *(f"{k}={v}" for k, v in call.items())])
                found[key] = [[row.ref, row.score] for row in result.rows]
    return found


@pytest.fixture(params=["numpy_kernels", "warm_kernels"])
def kernels(request: pytest.FixtureRequest) -> Callable[[], KernelSet]:
    return getattr(kernel_set, request.param)


@pytest.fixture
def memory(tmp_path: Path, kernels: Callable[[], KernelSet]) -> Iterator[Memory]:
    model = BagOfWords()
    with cpersona_jit.open(tmp_path / "m.db", model, wait_for_kernels=False) as memory:
        memory._kernels = kernels
        fill(memory, model)
        yield memory


def test_with_the_switches_off_recall_answers_as_it_did(memory: Memory) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found = answers(memory)
    assert list(found) == list(golden)
    for key, rows in golden.items():
        assert found[key] == rows, key
