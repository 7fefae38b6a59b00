"""The intent of a recall: a declared cue wins, and what is malformed is named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from adaptive_cases import NOW, adaptive, ask, complete, filled, talk
from memory_cases import settings

from cpersona_jit import Memory
from cpersona_jit.errors import UsageError
from cpersona_jit.intent import read_intent
from cpersona_jit.recall.adaptive_settings import CueWeights
from cpersona_jit.store.timestamps import US_PER_DAY, parse_timestamp

ASKED = parse_timestamp(NOW)
DECLARED = {"after": "2024-05-01", "before": "2024-05-02"}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with filled(tmp_path_factory.mktemp("intent"), "m.db", talk()) as memory:
        yield memory


@pytest.mark.parametrize(
    ("query", "words"),
    [("What did Ken say three days ago?", "three days ago"), ("三日前に何を話した？", "三日前")],
)
def test_the_question_gives_the_cue_when_none_is_declared(query: str, words: str) -> None:
    intent = read_intent(query, None, NOW, parse=True)
    assert intent.now_us == ASKED
    assert words in intent.cue.words
    assert read_intent(query, None, NOW, parse=False).cue is None


@pytest.mark.parametrize(
    "query", ["What did Ken say three days ago?", "三日前に何を話した？", "tea"]
)
@pytest.mark.parametrize("parse", [True, False])
def test_a_declared_cue_wins(query: str, parse: bool) -> None:
    cue = read_intent(query, DECLARED, NOW, parse=parse).cue
    assert (cue.form, cue.words, cue.about_event) == ("declared.range", "", False)
    assert cue.start_us == parse_timestamp("2024-05-01")
    assert cue.end_us == parse_timestamp("2024-05-03") - 1


def test_the_clock_is_read_only_when_a_cue_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpersona_jit.intent.now_us", lambda: ASKED)
    assert read_intent("tea", None, None, parse=False) == (None, None)
    assert read_intent("tea", None, None, parse=True) == (None, ASKED)
    declared = read_intent("tea", {"named": "recently"}, None, parse=False)
    assert (declared.now_us, declared.cue.end_us) == (ASKED, ASKED)


MALFORMED = [
    ([], "time_cue"),
    ("last week", "time_cue"),
    ({}, "time_cue"),
    ({"certainty": "sure"}, "time_cue"),
    ({"days_ago": 3}, "days_ago"),
    ({"after": "2024-05-01", "named": "recently"}, "time_cue"),
    ({"after": "2024-05-02", "before": "2024-05-01"}, "time_cue.before"),
    ({"after": "2025-01-01"}, "time_cue.after"),
    ({"after": "Monday"}, "time_cue.after"),
    ({"before": 20240501}, "time_cue.before"),
    ({"ago": {"unit": "fortnights", "value": 1}}, "ago.unit"),
    ({"ago": {"unit": "days", "value": -1}}, "ago.value"),
    ({"ago": {"unit": "days", "value": 10**9}}, "ago.value"),
    ({"ago": {"unit": "days"}}, "time_cue.ago"),
    ({"ago": 3}, "time_cue.ago"),
    ({"named": "yesterday"}, "time_cue.named"),
    ({"sessions_ago": 0}, "time_cue.sessions_ago"),
    ({"sessions_ago": True}, "time_cue.sessions_ago"),
    ({"named": "recently", "certainty": 0.7}, "time_cue.certainty"),
    ({"named": "recently", "certainty": "certain"}, "time_cue.certainty"),
]


@pytest.mark.parametrize(("cue", "field"), MALFORMED, ids=str)
@pytest.mark.parametrize(
    "chosen", [complete(), adaptive(), settings()], ids=["cues", "no cues", "fused"]
)
def test_a_malformed_cue_is_refused_by_name_whatever_the_settings(
    memory: Memory, cue: object, field: str, chosen: object
) -> None:
    with pytest.raises(UsageError) as refused:
        ask(memory, "tea", chosen, time_cue=cue)
    assert field in str(refused.value)
    assert "allowed: " in str(refused.value)


@pytest.mark.parametrize(
    "now",
    [
        "",
        "yesterday",
        "2024-13-01",
        20240501,
        "9999-12-31T23:59:59-12:00",
        "0001-01-01T00:00:00+12:00",
        "1899-12-31",
    ],
)
@pytest.mark.parametrize("cue", [None, {"ago": {"unit": "years", "value": 1}}])
@pytest.mark.parametrize("chosen", [complete(), settings()], ids=["cues", "fused"])
def test_a_now_that_is_no_time_is_refused(
    memory: Memory, now: object, cue: dict | None, chosen: object
) -> None:
    with pytest.raises(UsageError, match=r"^now is .*; allowed: an ISO 8601 time"):
        ask(memory, "two days ago", chosen, now=now, time_cue=cue)


@pytest.mark.parametrize("now", ["1900-01-01", "9998-12-31T23:59:59Z", "２０２４-０６-０１"])
@pytest.mark.parametrize(
    "cue",
    [
        None,
        *({"ago": {"unit": unit, "value": 0}} for unit in ("days", "weeks", "months", "years")),
        {"named": "long_ago"},
        {"named": "recently"},
        {"sessions_ago": 1},
    ],
)
def test_any_time_of_the_calendar_can_be_asked_at(
    memory: Memory, now: str, cue: dict | None
) -> None:
    for query in ("two days ago", "三日前", "next year"):
        assert len(ask(memory, query, complete(), now=now, time_cue=cue).rows) >= 4


def test_settings_without_cues_say_that_a_declared_one_is_ignored(memory: Memory) -> None:
    for chosen in (settings(), adaptive()):
        silent = ask(memory, "tea", chosen)
        result = ask(memory, "tea", chosen, time_cue=DECLARED)
        assert silent.degraded == ()
        (note,) = result.degraded
        assert note.startswith("time_cue_ignored: ")
        assert (result.rows, result.period) == (silent.rows, None)
        # A question's own words are no request: nothing was ignored.
        assert ask(memory, "tea three days ago", chosen).degraded == ()


def test_parsing_can_be_switched_off(memory: Memory) -> None:
    query = "What did we talk about on May 2, 2024?"
    parsed = ask(memory, query, adaptive(cues=CueWeights()))
    assert (parsed.period["words"], parsed.trace.now_us) == ("on May 2, 2024", ASKED)
    off = ask(memory, query, adaptive(cues=CueWeights(parse=False)))
    assert off.period is None
    assert off.rows == ask(memory, query, adaptive()).rows


def test_the_trace_says_when_it_was_asked(memory: Memory) -> None:
    assert ask(memory, "tea", complete(), time_cue=DECLARED).trace.now_us == ASKED
    assert ask(memory, "tea", adaptive(), now=None).trace.now_us is None


@pytest.mark.parametrize("query", ["What did Ken say yesterday?", "昨日は何を話した？"])
@pytest.mark.parametrize(
    ("now", "first"),
    [
        ("2024-05-10T07:00:00+09:00", "2024-05-09T00:00:00+09:00"),
        ("2024-05-10T07:00:00-08:00", "2024-05-09T00:00:00-08:00"),
        ("2024-05-10T07:00:00", "2024-05-09T00:00:00Z"),
        ("２０２４-05-10T07:00:00+09:00", "2024-05-09T00:00:00+09:00"),
    ],
)
def test_a_day_is_one_where_the_question_is_asked(query: str, now: str, first: str) -> None:
    cue = read_intent(query, None, now, parse=True).cue
    assert cue.start_us == parse_timestamp(first)
    assert cue.end_us == cue.start_us + US_PER_DAY - 1
    ago = read_intent("tea", {"ago": {"unit": "days", "value": 1}}, now, parse=True).cue
    assert ago.start_us == parse_timestamp(first)
    assert all(end <= parse_timestamp(now) for _, end in ago.readings)


def test_an_offset_moves_no_declared_moment() -> None:
    for now in ("2024-05-10T07:00:00+09:00", "2024-05-10T07:00:00"):
        cue = read_intent("tea", DECLARED, now, parse=True).cue
        assert cue.start_us == parse_timestamp("2024-05-01")


def test_the_clock_brings_its_own_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpersona_jit.intent.now_us", lambda: ASKED)
    monkeypatch.setattr("cpersona_jit.intent.local_offset_us", lambda: 9 * 3600 * 1_000_000)
    here = read_intent("What did Ken say yesterday?", None, None, parse=True).cue
    assert (here.start_us + 9 * 3600 * 1_000_000) % US_PER_DAY == 0


@pytest.mark.parametrize("query", ["What did Ken say last week?", "先週は何を話した？"])
def test_a_period_out_of_reach_is_said(memory: Memory, query: str) -> None:
    late = "2031-05-10T07:00:00Z"
    chosen = adaptive(cues=CueWeights())
    result = memory.recall(query, agent_id="a", settings=chosen, now=late)
    assert [note for note in result.degraded if note.startswith("time_cue_out_of_reach")]
    assert result.period is None
    ago = {"ago": {"unit": "weeks", "value": 1}}
    result = memory.recall("tea", agent_id="a", settings=chosen, now=late, time_cue=ago)
    assert [note for note in result.degraded if note.startswith("time_cue_out_of_reach")]
    none = memory.recall("tea", agent_id="a", settings=chosen, now=late)
    assert not [note for note in none.degraded if note.startswith("time_cue")]
