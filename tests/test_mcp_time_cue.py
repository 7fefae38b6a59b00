"""Time cues of the ``recall`` tool: what an agent may declare, and what it is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from adaptive_cases import adaptive, filled, talk
from mcp.server.mcpserver.exceptions import ToolError
from test_mcp_server import MIA, Agent, connect

from cpersona_jit import memory as memory_module
from cpersona_jit.recall.adaptive_settings import CueWeights
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.responses import period_fields
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.tools import memory_tools

MALFORMED = [
    ({"after": "2024-05-02", "before": "2024-05-01"}, "time_cue.before: '2024-05-01'"),
    ({"after": "2999-01-01"}, "time_cue.after: '2999-01-01'"),
    ({"ago": {"unit": "day", "value": 3}}, "time_cue.ago.unit: 'day' is not known; allowed: days"),
    ({"days_ago": 3}, "time_cue: 'days_ago' is not known; allowed: after, before, ago"),
    ({"named": "recently", "certainty": 0.9}, "time_cue.certainty: 0.9"),
    ({}, "time_cue: {} is not allowed"),
    ("last week", "time_cue: 'last week' is not allowed"),
    ([1], "time_cue: [1] is not allowed"),
    (False, "time_cue: False is not allowed"),
]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with connect(tmp_path_factory.mktemp("cues") / "memory.db") as agent:
        agent.call("store", content=MIA, timestamp="2026-03-14")
        yield agent


@pytest.mark.parametrize(("cue", "told"), MALFORMED, ids=str)
def test_a_malformed_cue_is_a_tool_error_that_names_the_field(
    agent: Agent, cue: object, told: str
) -> None:
    refusal = agent.refusal("recall", query="Mia", time_cue=cue)
    assert told in refusal
    assert "allowed: " in refusal
    assert "\n" not in refusal


@pytest.mark.parametrize(
    "cue",
    [
        {"after": "2026-03-01"},
        {"before": "2026-03-20T10:00:00+09:00", "certainty": "vague"},
        {"ago": {"unit": "months", "value": 2}},
        {"named": "long_ago"},
        {"sessions_ago": 1, "certainty": "likely"},
    ],
    ids=str,
)
def test_every_form_of_a_cue_is_taken(agent: Agent, cue: dict) -> None:
    found = agent.call("recall", query="Mia", time_cue=cue)
    assert found["rows"][0]["content"] == MIA


def test_no_cue_is_no_cue(agent: Agent) -> None:
    plain = agent.call("recall", query="Mia")
    assert agent.call("recall", query="Mia", time_cue=None) == plain
    assert "period" not in plain
    assert "admission" not in plain["rows"][0]


def test_the_schema_describes_the_wire_form(agent: Agent) -> None:
    tools = {tool.name: tool for tool in agent.portal.call(agent.client.list_tools).tools}
    schema = tools["recall"].input_schema["properties"]["time_cue"]
    forms = [set(form.get("properties", ())) - {"certainty"} for form in schema["anyOf"]]
    assert forms == [{"after", "before"}, {"ago"}, {"named"}, {"sessions_ago"}, set()]
    certainty = schema["anyOf"][0]["properties"]["certainty"]
    assert certainty["enum"] == ["sure", "likely", "vague"]
    assert "time_cue" in tools["recall"].description
    assert "time_cue" not in tools["recall"].input_schema.get("required", [])


# -- with settings that read cues -----------------------------------------------------------------


@pytest.fixture
def recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., dict]]:
    """Call the tool on a memory whose default settings read cues and give seats."""
    chosen = adaptive(depth=6, seats=1, cues=CueWeights(said=32.0, seats=2))
    defaults = memory_module.Memory.recall_to_quote.__kwdefaults__
    monkeypatch.setitem(defaults, "settings", chosen)
    memory = filled(tmp_path, "m.db", talk(times=3))
    handle = MemoryHandle(lambda: memory)
    tool = {t.name: t for t in memory_tools(handle, ServerSettings(tmp_path / "m.db"))}["recall"]

    def call(**arguments: object) -> dict:
        answered = tool.fn(**arguments)
        assert json.loads(answered.content[0].text) == answered.structured_content
        return answered.structured_content

    yield call
    handle.close()


def test_a_cue_that_acts_is_answered_with_its_period(recall: Callable[..., dict]) -> None:
    cue = {"after": "2024-05-01", "before": "2024-05-02"}
    found = recall(query="tea", agent_id="a", limit=3, time_cue=cue)
    assert found["period"] == {
        "from": "2024-05-01T00:00:00Z",
        "to": "2024-05-02T23:59:59.999999Z",
    }
    assert all(row["timestamp"] < "2024-05-03" for row in found["rows"][:3])
    assert "degraded" not in found
    found = recall(query="tea", agent_id="a", time_cue={"after": "2024-05-02"})
    assert set(found["period"]) == {"from"}
    assert "period" not in recall(query="tea", agent_id="a", time_cue={"before": "1999-01-01"})
    near = {"after": "2024-04-30", "before": "2024-04-30"}
    found = recall(query="tea", agent_id="a", time_cue=near)
    assert found["period"]["moved"] and found["period"]["from"].startswith("2024-05-01")


@pytest.mark.parametrize(
    ("query", "words"),
    [("What was said on May 2, 2024?", "on May 2, 2024"), ("2024年5月2日の茶道", "2024年5月2日")],
)
def test_a_cue_of_the_query_is_told_with_its_words(
    recall: Callable[..., dict], query: str, words: str
) -> None:
    period = recall(query=query, agent_id="a")["period"]
    assert words in period["words"]
    assert period["from"] == "2024-05-02T00:00:00Z"


def test_rows_of_seats_say_how_they_were_admitted(recall: Callable[..., dict]) -> None:
    cue = {"after": "2024-05-01", "before": "2024-05-04"}
    rows = recall(query="green tea in the cupboard", agent_id="a", limit=3, time_cue=cue)["rows"]
    admissions = [row.get("admission") for row in rows]
    assert admissions[:3] == [None] * 3
    assert set(admissions[3:]) == {"reservation", "time_cue"}
    assert len(rows) <= 3 + 1 + 2


def test_a_malformed_cue_is_refused_there_too(recall: Callable[..., dict]) -> None:
    for cue, _ in MALFORMED:
        with pytest.raises(ToolError, match="time_cue"):
            recall(query="tea", agent_id="a", time_cue=cue)


def test_ends_that_are_open_are_left_out() -> None:
    period = {"start_us": None, "end_us": 0, "words": "", "moved": False}
    assert period_fields(period) == {"to": "1970-01-01T00:00:00Z"}
    assert period_fields(period | {"end_us": None, "words": "先週"}) == {"words": "先週"}
