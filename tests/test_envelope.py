"""Time cues: a prior on a period, never a filter, and nothing at all where none is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from adaptive_cases import (
    EVERYTHING,
    NOW,
    QUESTIONS,
    adaptive,
    answer,
    ask,
    complete,
    filled,
    talk,
    told,
)

from cpersona_jit import Memory, Record
from cpersona_jit.columns.snapshot import UNDATED
from cpersona_jit.degraded import CUE_OUT_OF_REACH
from cpersona_jit.errors import UsageError
from cpersona_jit.recall.adaptive_settings import CueWeights
from cpersona_jit.recall.envelope import DAY_US

CUES = [
    {"after": "2024-05-01", "before": "2024-05-02"},
    {"after": "2024-05-03", "certainty": "vague"},
    {"before": "2024-05-02", "certainty": "likely"},
    {"ago": {"unit": "months", "value": 1}},
    {"named": "recently"},
    {"sessions_ago": 1},
    {"sessions_ago": 3, "certainty": "vague"},
]
CUED = complete(gate=None)
DOMINANT = CueWeights(said=32.0)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    rows = [*talk(), *talk("b", times=4)]
    with filled(tmp_path_factory.mktemp("envelope"), "m.db", rows) as memory:
        yield memory


# -- recall under a cue ---------------------------------------------------------------------------


@pytest.mark.parametrize("gate", [None, 0.5])
@pytest.mark.parametrize("depth", [3, 50])
def test_no_row_becomes_unreachable_under_any_cue(
    memory: Memory, depth: int, gate: float | None
) -> None:
    chosen = complete(depth=depth, gate=gate)
    for query in QUESTIONS:
        without = {row.ref for row in ask(memory, query, chosen, limit=EVERYTHING).rows}
        for cue in CUES:
            result = ask(memory, query, chosen, limit=EVERYTHING, time_cue=cue)
            assert result.period is not None
            assert without <= {row.ref for row in result.rows}
            assert np.isfinite(result.trace.pool_score).all()


def test_without_a_cue_recall_is_as_if_there_were_none(memory: Memory) -> None:
    """The switch on, and a question that names no time: the same bytes as with the switch off."""
    for query in QUESTIONS:
        on = ask(memory, query, complete(seats=2))
        off = ask(memory, query, complete(seats=2, cues=None))
        assert on.trace.now_us is not None
        assert answer(on) == answer(off)
        assert on.trace.pool_score.tobytes() == off.trace.pool_score.tobytes()
        assert (on.trace.retrievals, on.period) == (1, None)
        assert "period" not in on.trace.contributions


@pytest.mark.parametrize(
    "cue",
    [
        {"after": "2024-03-01", "before": "2024-03-09"},
        {"sessions_ago": 99},
        {"ago": {"unit": "years", "value": 3}},
    ],
)
def test_a_period_without_rows_says_nothing(memory: Memory, cue: dict) -> None:
    for query in QUESTIONS:
        found, silent = ask(memory, query, CUED, time_cue=cue), ask(memory, query, CUED)
        assert found.degraded == (*silent.degraded, CUE_OUT_OF_REACH)
        assert told(replace(found, degraded=silent.degraded)) == told(silent)
        assert found.period is None


@pytest.mark.parametrize(
    ("query", "words", "days"),
    [
        ("What did we talk about on May 2, 2024?", "on May 2, 2024", {"2024-05-02"}),
        ("5月2日に何を話した？", "5月2日", {"2024-05-02"}),
        ("What did we say last month?", "last month", None),
    ],
)
def test_a_period_of_talk_comes_first(
    memory: Memory, query: str, words: str, days: set[str] | None
) -> None:
    result = ask(memory, query, CUED)
    assert words in result.period["words"]
    found = {row.timestamp[:10] for row in result.rows[:4]}
    assert found <= days if days else all(day.startswith("2024-05") for day in found)


def test_a_period_reaches_rows_that_the_lists_do_not(memory: Memory) -> None:
    """The second retrieval runs over the scope, under the period's mask."""
    chosen = adaptive(depth=2, cues=DOMINANT)
    cue = {"after": "2024-05-06", "before": "2024-05-06"}
    for query in QUESTIONS:
        without = ask(memory, query, chosen).trace
        result = ask(memory, query, chosen, time_cue=cue)
        assert result.trace.retrievals == 2
        assert set(without.pool_ids.tolist()) <= set(result.trace.pool_ids.tolist())
        assert [row.timestamp[:10] for row in result.rows[:2]] == ["2024-05-06"] * 2


def test_a_period_never_holds_a_row_of_another_agent(memory: Memory) -> None:
    """Only agent b spoke on these days."""
    cue = {"after": "2024-05-08", "before": "2024-05-12"}
    assert ask(memory, "tea", CUED, time_cue=cue).period is None
    assert ask(memory, "tea", CUED, time_cue=cue, agent_id="b").period["rows"] > 0


def test_rows_inside_are_ordered_as_without_the_cue(memory: Memory) -> None:
    cue = {"after": "2024-05-01", "before": "2024-05-03"}
    for query in QUESTIONS:
        chosen = adaptive(depth=EVERYTHING, cues=DOMINANT)
        plain = [row.ref for row in ask(memory, query, chosen, limit=EVERYTHING).rows]
        rows = ask(memory, query, chosen, limit=EVERYTHING, time_cue=cue).rows
        inside = [row.ref for row in rows if "2024-05-01" <= row.timestamp[:10] <= "2024-05-03"]
        assert inside == [ref for ref in plain if ref in inside]
        assert [row.ref for row in rows[: len(inside)]] == inside


def test_undated_rows_are_neither_near_nor_far(memory: Memory) -> None:
    cue = {"after": "2024-05-01", "before": "2024-05-02"}
    trace = ask(memory, "tea", adaptive(depth=EVERYTHING, cues=CueWeights()), time_cue=cue).trace
    columns = memory.columns()
    times = columns.event_time[columns.positions(trace.pool_ids)]
    term = trace.contributions["period"]
    undated = term[times == UNDATED]
    far = term[times > times.max() - DAY_US]
    inside = term[(times > UNDATED) & (times < times[times > UNDATED].min() + DAY_US)]
    assert undated.size and far.size and inside.size
    assert far.max() < undated.min() <= undated.max() < inside.min() == 0.0


def test_a_store_without_dates_takes_no_notice(tmp_path: Path) -> None:
    rows = [Record(text, "a", session_id="s") for text in ("green tea", "茶道", "the knee")]
    with filled(tmp_path, "m.db", rows) as memory:
        plain = ask(memory, "tea", CUED)
        for cue in CUES:
            cued = ask(memory, "tea", CUED, time_cue=cue)
            assert cued.degraded == (*plain.degraded, CUE_OUT_OF_REACH)
            assert told(replace(cued, degraded=plain.degraded)) == told(plain)


def test_the_period_is_told_with_open_ends(memory: Memory) -> None:
    period = ask(memory, "tea", CUED, time_cue={"before": "2024-05-02"}).period
    assert (period["start_us"], period["certainty"], period["words"]) == (None, "sure", "")
    assert period["end_us"] is not None
    period = ask(memory, "tea", CUED, time_cue={"after": "2024-05-02"}).period
    assert (period["end_us"], period["weight"]) == (None, 4.0)
    counted = ask(memory, "tea", CUED, time_cue={"sessions_ago": 1}).period
    assert 0 < counted["start_us"] <= counted["end_us"]


def test_a_moved_period_is_told(memory: Memory) -> None:
    """Nobody spoke on the day after the last day of talk; that one is near."""
    told = ask(memory, "tea", CUED, time_cue={"after": "2024-05-02", "before": "2024-05-02"})
    assert told.period["moved"] is False
    last = max(
        row.timestamp[:10]
        for row in ask(memory, "tea", CUED, limit=EVERYTHING).rows
        if row.timestamp < "2024-05-15"
    )
    empty = f"2024-05-{int(last[8:]) + 1:02d}"
    english = f"What did we discuss on May {int(empty[8:])}?"
    japanese = f"5月{int(empty[8:])}日に何を話した？"
    for query, cue in (
        ("tea", {"after": empty, "before": empty}),
        *((english, None), (japanese, None)),
    ):
        told = ask(memory, query, CUED, time_cue=cue)
        assert told.period["moved"] is True
        moved = datetime.fromtimestamp(told.period["end_us"] / 1e6, UTC)
        assert f"{moved:%Y-%m-%d}" == last
        assert told.rows[0].timestamp[:10] == last or cue is not None


def test_the_previous_session_in_both_languages(memory: Memory) -> None:
    for query in ("What did we discuss in our last session?", "前回の会話で何を話した？"):
        result = ask(memory, query, CUED, now=NOW)
        assert {row.session_id for row in result.rows[:4]} == {"s5"}, result.period


@pytest.mark.parametrize("name", ["likely", "vague", "outside"])
def test_a_share_above_one_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=rf"cues\.{name} is 1\.5; allowed: a number from 0 to 1"):
        CueWeights(**{name: 1.5})
