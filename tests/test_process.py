"""Adaptive recall gives the same bytes: by either kernels, each time, and with idle switches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from adaptive_cases import (
    CUE,
    EVERYTHING,
    QUESTIONS,
    SETTINGS,
    adaptive,
    answer,
    ask,
    complete,
    filled,
    serve_by,
    talk,
    talked,
    told,
)

from cpersona_jit import Memory, recalling
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings, Calibration, CueWeights
from cpersona_jit.recall.kernel_set import KernelSet, numpy_kernels, warm_kernels


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with talked(tmp_path_factory.mktemp("process")) as memory:
        yield memory


@pytest.mark.parametrize("name", SETTINGS)
def test_both_kernel_sets_give_the_same_bytes_and_so_does_every_call(
    memory: Memory, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for query in QUESTIONS:
        for cue in (None, CUE, {"sessions_ago": 2}):
            serve_by(numpy_kernels(), memory, monkeypatch)
            first = ask(memory, query, SETTINGS[name], time_cue=cue)
            assert told(ask(memory, query, SETTINGS[name], time_cue=cue)) == told(first)
            serve_by(warm_kernels(), memory, monkeypatch)
            compiled = ask(memory, query, SETTINGS[name], time_cue=cue)
            assert (first.trace.kernels, compiled.trace.kernels) == ("numpy", "numba")
            assert told(compiled) == told(first), (query, cue)


def test_a_store_written_in_steps_answers_as_one_written_at_once(tmp_path: Path) -> None:
    rows = talk()
    with filled(tmp_path, "once.db", rows) as once, filled(tmp_path, "steps.db", rows[:9]) as steps:
        for at in range(9, len(rows), 7):
            ask(steps, QUESTIONS[0], complete())
            steps.store_many(rows[at : at + 7], dedup=False)
        for query in QUESTIONS:
            expected = answer(ask(once, query, complete(), time_cue=CUE))
            assert answer(ask(steps, query, complete(), time_cue=CUE)) == expected


GOLDEN = Path(__file__).parent / "data" / "golden" / "adaptive.json"
CALLS = [{"agent_id": "a"}, {"agent_id": "a", "project_id": ""}, {"agent_id": "b"}]


def golden_settings() -> dict[str, AdaptiveSettings]:
    """Calibration alone, with every switch off."""
    return {
        "plain": adaptive(),
        "shallow": adaptive(depth=3),
        "conditional": adaptive(calibration=Calibration(conditional=True)),
        "rows": adaptive(calibration=Calibration(block_penalty=0.0, dense_row_share=1.0)),
    }


def golden_answers(memory: Memory, settings: dict[str, AdaptiveSettings]) -> dict[str, list]:
    """References and scores of every call; a float's JSON form gives back the same float."""
    found = {}
    for name, chosen in settings.items():
        for query in QUESTIONS:
            for call in CALLS:
                rows = ask(memory, query, chosen, limit=8, **call).rows
                key = " | ".join([name, query, *(f"{k}={v}" for k, v in call.items())])
                found[key] = [[row.ref, row.score] for row in rows]
    return found


@pytest.mark.parametrize("kernels", [numpy_kernels, warm_kernels])
def test_with_the_switches_off_recall_answers_as_plain_calibration_did(
    memory: Memory, kernels: Callable[[], KernelSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_by(kernels(), memory, monkeypatch)
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden_answers(memory, golden_settings()) == golden
    # Cues that nobody gives, and seats that nobody is left for, change no byte either.
    idle = {
        name: replace(chosen, cues=CueWeights(seats=3), gate=-100.0)
        for name, chosen in golden_settings().items()
    }
    assert golden_answers(memory, idle) == golden


def test_structure_of_rows_without_sessions_and_speakers_is_the_identity(tmp_path: Path) -> None:
    rows = [replace(row, session_id="", source=None) for row in talk()]
    with filled(tmp_path, "m.db", rows) as memory:
        for query in QUESTIONS:
            on_, off = (ask(memory, query, s) for s in (SETTINGS["structure"], SETTINGS["plain"]))
            assert answer(on_) == answer(off)
            assert on_.trace.pool_score.tobytes() == off.trace.pool_score.tobytes()


# -- depth is not count ---------------------------------------------------------------------------


def considered(memory: Memory, limit: int) -> list:
    """What a recall weighed, and how, apart from what it returned."""
    traces = [
        ask(memory, query, complete(depth=6), limit=limit, time_cue=CUE).trace
        for query in QUESTIONS
    ]
    return [
        (t.pool_ids.tolist(), t.pool_score.tolist(), t.ranking.tolist(), t.caps) for t in traces
    ]


def test_the_count_of_rows_changes_nothing_that_is_considered(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = considered(memory, 4)
    for limit in (0, 1, 2, 17, EVERYTHING):
        assert considered(memory, limit) == expected

    def mutated(columns, query, vector, axes, settings, cue, now_us, limit, kernels):
        settings = replace(settings, depth=max(limit, 1))
        return unchanged(columns, query, vector, axes, settings, cue, now_us, limit, kernels)

    unchanged = recalling.run_process
    monkeypatch.setattr(recalling, "run_process", mutated)
    assert considered(memory, 1) != expected  # what this test is for


def test_a_longer_answer_begins_with_the_shorter_one(memory: Memory) -> None:
    for query in QUESTIONS:
        whole = answer(ask(memory, query, adaptive(), limit=EVERYTHING))
        for limit in (0, 1, 5):
            assert answer(ask(memory, query, adaptive(), limit=limit)) == whole[:limit]


def test_depth_bounds_the_lists(memory: Memory) -> None:
    for depth in (1, 2, 9):
        for query in QUESTIONS:
            trace = ask(memory, query, adaptive(depth=depth)).trace
            dense, gram = trace.pool_reached.sum(axis=1)
            assert dense == depth
            assert gram <= depth
            assert trace.pool_reached.any(axis=0).all()
