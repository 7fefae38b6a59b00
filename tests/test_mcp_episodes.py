"""The server's tools that archive episodes and correct memories, through a real client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from test_mcp_server import Agent, connect

from cpersona_jit import StoreOutcome
from cpersona_jit.server.responses import store_response

LONG = " ".join(f"On day {i} the keeper wrote down the wind and the waves." for i in range(120))
SPAN = {"start": "2026-03-01", "end": "2026-03-07"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with connect(tmp_path_factory.mktemp("episodes") / "memory.db") as agent:
        yield agent


@pytest.fixture
def agent(server: Agent, request: pytest.FixtureRequest) -> Agent:
    return Agent(server.portal, server.client, request.node.name)


def test_the_tools_say_what_they_do(agent: Agent) -> None:
    tools = {tool.name: tool for tool in agent.portal.call(agent.client.list_tools).tools}
    assert "`ep:`" in tools["archive_episode"].description
    assert set(tools["archive_episode"].input_schema["required"]) >= {"summary", "start", "end"}
    assert "history: true" in tools["update"].description
    assert tools["update"].annotations.destructive_hint


def test_an_episode_is_archived_recalled_and_read(agent: Agent) -> None:
    kept = agent.call("archive_episode", summary="京都で茶会を開いた。", keywords=["宇治"], **SPAN)
    assert kept["result"] == "stored"
    assert kept["ref"].startswith("ep:")
    row = agent.call("recall", query="宇治")["rows"][0]
    assert (row["ref"], row["content"]) == (kept["ref"], "京都で茶会を開いた。")
    assert agent.call("get_contents", refs=[kept["ref"]])["missing"] == []
    again = agent.call("archive_episode", summary="京都で茶会を開いた。", **SPAN)
    assert (again["result"], again["ref"]) == ("skipped", kept["ref"])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"end": "2026-02-01"}, "episode_ends_before_start"),
        ({"start": "spring"}, "episode_time_invalid"),
        ({"keywords": "tea"}, "keywords_invalid"),
        ({"summary": " "}, "empty_content"),
    ],
)
def test_what_is_no_episode_is_rejected(agent: Agent, fields: dict, reason: str) -> None:
    outcome = agent.call("archive_episode", **{"summary": "tea", **SPAN, **fields})
    assert (outcome["result"], outcome["reason"]) == ("rejected", reason)


def test_a_missing_end_is_told(agent: Agent) -> None:
    assert "end" in agent.refusal("archive_episode", summary="tea", start="2026-03-01")


def test_a_memory_is_corrected_and_its_earlier_text_stays_readable(agent: Agent) -> None:
    ref = agent.call("store", content="Mia lives in Porto.")["ref"]
    assert agent.call("update", ref=ref, content="Mia lives in Lisbon.") == {
        "result": "stored",
        "ref": ref,
    }
    found = agent.call("get_contents", refs=[ref], history=True)["rows"][0]
    assert found["content"] == "Mia lives in Lisbon."
    (old,) = found["history"]
    assert old["content"] == "Mia lives in Porto."
    (row,) = agent.call("get_contents", refs=[old["ref"]])["rows"]
    assert (row["content"], row["superseded_by"]) == ("Mia lives in Porto.", ref)
    refused = agent.call("update", ref=old["ref"], content="x")
    assert (refused["reason"], ref in refused["detail"]) == ("not_found", True)


def test_another_agents_row_is_not_found(agent: Agent) -> None:
    ref = agent.call("archive_episode", summary="Secret.", agent_id="someone else", **SPAN)["ref"]
    outcome = agent.call("update", ref=ref, content="x")
    assert (outcome["result"], outcome["reason"]) == ("rejected", "not_found")
    assert agent.call("get_contents", refs=[ref])["missing"] == [ref]


def test_nodes_are_told_only_when_there_are_some(agent: Agent) -> None:
    assert "nodes" not in agent.call("store", content=LONG)  # this server has no model
    assert store_response(StoreOutcome("stored", "mem:1", nodes=3)) == {
        "result": "stored",
        "ref": "mem:1",
        "nodes": 3,
    }
