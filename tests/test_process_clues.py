"""Cue propagation: what strong rows hand over to rows of their session, day, speaker, project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from adaptive_cases import EVERYTHING, QUESTIONS, adaptive, answer, ask, filled, talk

from cpersona_jit import Memory, Record
from cpersona_jit.errors import UsageError
from cpersona_jit.recall.adaptive_settings import Structure

NOTHING_ELSE = {"near": 0.0, "next_near": 0.0, "session": 0.0, "question": 0.0, "speaker": 0.0}
GROUPED_BY = {
    "session": lambda row: row.session_id and f"{row.project_id}/{row.session_id}",
    "time": lambda row: row.timestamp[:10],
    "source": lambda row: row.source.name if row.source else "",
    "project": lambda row: row.project_id,
}


def told_in_projects() -> list[Record]:
    """The talk, some of it in projects; two rows lie on one UTC day though their dates differ."""
    rows = [replace(row, project_id=("", "p", "q")[n % 3]) for n, row in enumerate(talk(times=3))]
    rows.append(Record("green tea at dawn", "a", timestamp="2024-05-02T08:00:00+09:00"))
    rows.append(Record("明け方の緑茶", "a", timestamp="2024-05-01T23:59:59Z"))
    return rows


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with filled(tmp_path_factory.mktemp("clues"), "m.db", told_in_projects()) as memory:
        yield memory


@pytest.mark.parametrize("clue", GROUPED_BY)
def test_a_clue_adds_the_mean_of_the_three_best_of_its_group(memory: Memory, clue: str) -> None:
    weighed = Structure(**NOTHING_ELSE | {clue: 0.5})
    rows = told_in_projects()
    groups = [GROUPED_BY[clue](row) for row in rows]
    if clue == "time":
        groups[-2] = "2024-05-01"  # 08:00 in Japan is the day before in UTC
    with_terms = 0
    for query in QUESTIONS:
        for depth in (5, EVERYTHING):
            trace = ask(memory, query, adaptive(structure=weighed, depth=depth)).trace
            (context,) = [s["context"] for s in trace.stages if s["stage"] == "structure"]
            assert 0.0 < context < 1.0
            terms = trace.contributions[clue]
            fused = (trace.pool_score - sum(_others(trace.contributions))).tolist()
            mine = [groups[i - 1] for i in trace.pool_ids.tolist()]
            for term, group in zip(terms.tolist(), mine, strict=True):
                best = sorted((f for f, g in zip(fused, mine, strict=True) if g == group))[-3:]
                expected = context * 0.5 * sum(best) / len(best) if group else 0.0
                assert term == pytest.approx(expected if len(set(mine)) > 1 else 0.0, abs=1e-9)
            with_terms += bool(terms.any())
    assert with_terms > 5


def _others(contributions: dict) -> list:
    evidence = ("dense", "gram3", "gram4", "blocks")
    return [part for name, part in contributions.items() if name not in evidence]


def test_clues_that_no_row_has_change_no_byte(tmp_path: Path) -> None:
    rows = [replace(row, source=None, timestamp="", project_id="", session_id="") for row in talk()]
    every = Structure(time=0.3, source=0.3, project=0.3)
    with filled(tmp_path, "m.db", rows) as bare:
        for query in QUESTIONS:
            on_, off = (ask(bare, query, s) for s in (adaptive(structure=every), adaptive()))
            assert answer(on_) == answer(off)
            assert on_.trace.pool_score.tobytes() == off.trace.pool_score.tobytes()


def test_clues_without_a_weight_have_no_term(memory: Memory) -> None:
    for query in QUESTIONS:
        plain = ask(memory, query, adaptive(structure=Structure()))
        assert not {"time", "source", "project"} & set(plain.trace.contributions)
        off = ask(memory, query, adaptive(structure=Structure(session=0.0)))
        assert "session" not in off.trace.contributions


def test_a_clue_that_all_candidates_share_keeps_the_order(tmp_path: Path) -> None:
    rows = [replace(row, project_id="p", timestamp="2024-05-01") for row in talk()]
    every = Structure(time=3.0, project=3.0)
    with filled(tmp_path, "m.db", rows) as memory:
        for query in QUESTIONS:
            on_ = ask(memory, query, adaptive(structure=every))
            off = ask(memory, query, adaptive(structure=Structure()))
            assert answer(on_) == answer(off)


def test_names_under_two_agents_are_two_groups(tmp_path: Path) -> None:
    """Who searches across agents gets each agent's own clues."""
    rows = [*talk("a", times=1, project_id="p"), *talk("b", times=1, project_id="p")[:7]]
    weighed = adaptive(structure=Structure(**NOTHING_ELSE | {"project": 1.0}), depth=EVERYTHING)
    with filled(tmp_path, "m.db", [*rows, Record("green tea", "b")]) as memory:
        found = memory.recall(
            "green tea", across_agents=True, settings=weighed, trace=True, limit=EVERYTHING
        )
        by_agent: dict[str, set] = {}
        terms = dict(
            zip(found.trace.pool_ids.tolist(), found.trace.contributions["project"], strict=True)
        )
        for n, row in enumerate(rows, 1):
            by_agent.setdefault(row.agent_id, set()).add(float(terms[n]))
        assert [len(values) for values in by_agent.values()] == [1, 1]
        assert by_agent["a"] != by_agent["b"]
        assert terms[len(rows) + 1] == 0.0


@pytest.mark.parametrize("length", [5e-324, 0, -150.0, float("nan"), 10_001])
def test_a_row_is_at_least_one_character_long(length: float) -> None:
    with pytest.raises(
        UsageError, match=r"structure\.half_length is .+; allowed: a number from 1 to"
    ):
        Structure(half_length=length)
