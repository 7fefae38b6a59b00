"""Time cues: a prior on a period, never a filter, and nothing at all where none is given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

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
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit import Memory, Record
from cpersona_jit.columns.snapshot import UNDATED
from cpersona_jit.cues.time_cue import SessionReference, TimeCue
from cpersona_jit.recall.adaptive_settings import CueWeights
from cpersona_jit.recall.envelope import DAY_US, envelope_prior, open_envelope

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
        assert told(found) == told(silent)
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
    chosen = adaptive(depth=2, cues=CueWeights())
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
        chosen = adaptive(depth=EVERYTHING, cues=CueWeights())
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
        for cue in CUES:
            assert told(ask(memory, "tea", CUED, time_cue=cue)) == told(ask(memory, "tea", CUED))


def test_the_period_is_told_with_open_ends(memory: Memory) -> None:
    period = ask(memory, "tea", CUED, time_cue={"before": "2024-05-02"}).period
    assert (period["start_us"], period["certainty"], period["words"]) == (None, "sure", "")
    assert period["end_us"] is not None
    period = ask(memory, "tea", CUED, time_cue={"after": "2024-05-02"}).period
    assert (period["end_us"], period["weight"]) == (None, 32.0)
    counted = ask(memory, "tea", CUED, time_cue={"sessions_ago": 1}).period
    assert 0 < counted["start_us"] <= counted["end_us"]


# -- the envelope itself --------------------------------------------------------------------------


def rows_of(times: Sequence[float | None], sessions: Sequence[int] | None = None):
    """As much of a snapshot as an envelope reads; times in days, None for undated."""
    return SimpleNamespace(
        n=len(times),
        event_time=np.array([UNDATED if t is None else int(t * DAY_US) for t in times], np.int64),
        session_key=np.array([-1] * len(times) if sessions is None else sessions, np.int64),
    )


def cue_of(start: float | None, end: float | None, certainty="sure", event=False) -> TimeCue:
    ends = [None if t is None else int(t * DAY_US) for t in (start, end)]
    return TimeCue(*ends, None, certainty, "", "test", event)


def prior_of(columns, cue: TimeCue, weights: CueWeights | None = None) -> np.ndarray:
    weights = weights or CueWeights()
    envelope = open_envelope(columns, np.ones(columns.n, bool), cue, weights)
    return envelope_prior(columns, np.arange(columns.n), envelope, weights)


@given(
    st.lists(st.one_of(st.none(), st.floats(-9000, 9000)), min_size=1, max_size=12),
    st.tuples(st.floats(-9000, 9000), st.floats(0, 4000)),
    st.sampled_from(["sure", "likely", "vague"]),
    st.booleans(),
    st.sampled_from(["both", "start", "end"]),
)
def test_the_prior_is_one_inside_and_falls_with_the_distance(
    times: list, period: tuple[float, float], certainty: str, event: bool, ends: str
) -> None:
    start = period[0] if ends != "end" else None
    end = period[0] + period[1] if ends != "start" else None
    cue = cue_of(start, end, certainty, event)
    columns = rows_of([*times, period[0] if start is not None else end])  # one row is inside
    prior = prior_of(columns, cue)
    assert ((prior > 0.0) & (prior <= 1.0)).all()
    at = columns.event_time
    dated = at != UNDATED
    low = -np.inf if cue.start_us is None else cue.start_us
    high = np.inf if cue.end_us is None else cue.end_us
    inside = dated & (at >= low) & (at <= high)
    assert (prior[inside] == 1.0).all()
    assert (prior[~inside] <= 0.8).all()
    for side in (dated & (at < low), dated & (at > high)):
        distance = np.where(at < low, low - at, at - high)[side]
        falling = prior[side][np.argsort(distance, kind="stable")]
        assert (np.diff(falling) <= 1e-12).all()


def test_the_prior_follows_its_formula() -> None:
    columns = rows_of([9.0, 10.0, 12.0, 15.0, None])
    sure = prior_of(columns, cue_of(10.0, 12.0))
    expected = [0.6 * math.exp(-1 / 0.75), 1.0, 1.0, 0.6 * math.exp(-3 / 1.5), 0.6 * math.exp(-0.5)]
    np.testing.assert_allclose(sure, expected, rtol=1e-12)
    event = prior_of(columns, cue_of(10.0, 12.0, "likely", event=True))
    expected = [0.6 * math.exp(-1 / 2), 1.0, 1.0, 0.8 * math.exp(-3 / 3), 0.6 * math.exp(-0.5)]
    np.testing.assert_allclose(event, expected, rtol=1e-12)
    wide = prior_of(rows_of([0.0, 50.0]), cue_of(20.0, 120.0, "vague"))
    np.testing.assert_allclose(wide[0], 0.6 * math.exp(-20 / 35), rtol=1e-12)


def test_a_cue_weighs_by_what_it_is_about_and_how_sure_it_is() -> None:
    columns, weights = rows_of([10.0]), CueWeights(said=32, event=8, likely=0.75, vague=0.5)
    for certainty, left in (("sure", 1.0), ("likely", 0.75), ("vague", 0.5)):
        for event, full in ((False, 32.0), (True, 8.0)):
            cue = cue_of(9.0, 11.0, certainty, event)
            opened = open_envelope(columns, np.ones(1, bool), cue, weights)
            assert opened.weight == full * left


SESSIONS = rows_of(
    # of session 4, then 9 (began later, told of first), 2 (undated), none, 7 (one row undated)
    [1.0, 2.0, 5.0, 4.0, None, None, 9.0, 6.0, None],
    [4, 4, 9, 9, 2, 2, -1, 7, 7],
)
COUNTED = [
    (SessionReference("ago", 1), [7, 8]),
    (SessionReference("ago", 2), [2, 3]),
    (SessionReference("ago", 3), [0, 1]),
    (SessionReference("ago", 4), []),
    (SessionReference("ordinal", 1), [0, 1]),
    (SessionReference("ordinal", 3), [7, 8]),
    (SessionReference("ordinal", 4), []),
    (SessionReference("range", 2, 3), [2, 3, 7, 8]),
    (SessionReference("range", 3, 99), [7, 8]),
    (SessionReference("first", 2), [0, 1, 2, 3]),
    (SessionReference("last", 2), [2, 3, 7, 8]),
    (SessionReference("last", 99), [0, 1, 2, 3, 7, 8]),
]


@pytest.mark.parametrize(("session", "rows"), COUNTED, ids=str)
def test_sessions_are_counted_in_the_order_in_which_they_began(
    session: SessionReference, rows: list[int]
) -> None:
    cue = TimeCue(None, None, session, "sure", "", "test", False)
    opened = open_envelope(SESSIONS, np.ones(SESSIONS.n, bool), cue, CueWeights())
    if not rows:
        assert opened is None
        return
    assert np.flatnonzero(opened.inside).tolist() == rows
    dated = [SESSIONS.event_time[row] for row in rows if SESSIONS.event_time[row] != UNDATED]
    assert (opened.start_us, opened.end_us) == (min(dated), max(dated))


def test_sessions_out_of_sight_are_not_counted() -> None:
    admitted = np.array([True, True, False, False, True, True, True, False, False])
    cue = TimeCue(None, None, SessionReference("ago", 1), "sure", "", "test", False)
    opened = open_envelope(SESSIONS, admitted, cue, CueWeights())
    assert np.flatnonzero(opened.inside).tolist() == [0, 1]


def test_the_previous_session_in_both_languages(memory: Memory) -> None:
    for query in ("What did we discuss in our last session?", "前回の会話で何を話した？"):
        result = ask(memory, query, CUED, now=NOW)
        assert {row.session_id for row in result.rows[:4]} == {"s5"}, result.period
