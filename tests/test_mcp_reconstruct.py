"""Reconstruct as an agent and as a person meet it: the tool over a real connection, the command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_mcp_server import Agent, connect

LONG = "The harbour is quiet at dawn. " * 60 + "合鍵は青い扉の裏にある。 " + "波の音。" * 100


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with connect(tmp_path_factory.mktemp("reconstruct") / "memory.db") as agent:
        yield Agent(agent.portal, agent.client, "me")


@pytest.fixture(scope="module")
def refs(agent: Agent) -> list[str]:
    texts = [
        {"content": "Mia lives in Lisbon.", "timestamp": "2025-01-01", "channel": "x", "id": "m"},
        {"content": "ミア Mia はポルトに住む。", "timestamp": "2026-01-01", "id": "m"},
        {"content": LONG},
    ]
    return [agent.call("store", **text)["ref"] for text in texts]


def test_the_tool_says_what_it_returns(agent: Agent) -> None:
    tools = {tool.name: tool for tool in agent.portal.call(agent.client.list_tools).tools}
    tool = tools["reconstruct"]
    assert "default 1, up to 10" in tool.description
    assert tool.annotations.read_only_hint
    properties = tool.input_schema["properties"]
    assert properties["count"]["anyOf"][0] == {"type": "integer", "minimum": 0}
    assert properties["max_hops"]["anyOf"][0]["maximum"] == 5
    assert {"items", "shortfall_reason", "bounds"} <= set(tool.output_schema["properties"])


def test_an_agent_reads_an_item_and_reads_on(agent: Agent, refs: list[str]) -> None:
    response = agent.call("reconstruct", query="Where does Mia live? ミア", top_k=2)
    (item,) = response["items"]
    assert item["head_ref"] == refs[1]
    assert item["claims"][0]["roles"] == [{"ref": refs[0], "role": "supersedes"}]
    assert item["excerpts"] == [{"ref": refs[0], "content": "Mia lives in Lisbon."}]
    assert response["degraded"] == ["no_embedder: recall is lexical only"]

    (item,) = agent.call("reconstruct", query="合鍵はどこ")["items"]
    assert "合鍵は青い扉の裏にある。" in item["content"]
    whole = agent.call("get_contents", refs=item["expand"])
    assert whole["rows"][0]["content"] == LONG


def test_the_tool_is_what_the_library_returns(agent: Agent, refs: list[str]) -> None:
    traced = agent.call("reconstruct", query="Mia", count=3, budget=900, trace=True)
    assert traced["effective_budget"] == 900
    assert traced["reconstruction"]["policy_version"] == "1"
    assert set(traced["candidate_refs"]) == set(refs[:2])  # found by words
    plain = agent.call("reconstruct", query="Mia", count=3, budget=900)
    assert [item["head_ref"] for item in plain["items"]] == [
        item["head_ref"] for item in traced["items"]
    ]
    assert agent.call("reconstruct", query="Mia", count=0)["shortfall_reason"] == "count_zero"
    assert agent.call("reconstruct", query="Mia", agent_id="nobody")["items"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": -1}, "count is -1; allowed: a whole number from 0"),
        ({"count": True}, "count is True"),
        ({"max_hops": 9}, "max_hops is 9; allowed: a whole number from 0 to 5"),
        ({"max_evidence": 0}, "max_evidence is 0"),
        ({"budget": 1.5}, "budget is 1.5"),
        ({"limit": 3}, "limit"),
        ({"query": ""}, "query is empty"),
    ],
)
def test_mistakes_are_said_in_one_line(agent: Agent, arguments: dict, message: str) -> None:
    said = agent.refusal("reconstruct", **({"query": "Mia"} | arguments))
    assert message in said
    assert "\n" not in said


def test_an_operator_forces_the_count(tmp_path: Path) -> None:
    with connect(tmp_path / "m.db", CPERSONA_JIT_RECONSTRUCT_FORCED_COUNT="2") as agent:
        for text in ("tea one", "tea two", "お茶 tea 三"):
            agent.call("store", content=text)
        response = agent.call("reconstruct", query="tea", count=3)
        assert (response["returned_count"], response["requested_count"]) == (2, 3)
        tools = agent.portal.call(agent.client.list_tools).tools
        (tool,) = [tool for tool in tools if tool.name == "reconstruct"]
        assert "At most 2 items are returned, whatever `count` says." in tool.description


def command(db: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    options = ["--db", str(db), "--embedder", "none"]
    return subprocess.run(
        [sys.executable, "-m", "cpersona_jit.cli.app", *arguments, *options],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_a_person_reads_items_and_their_rows(tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    for text in ("Mia moved to Lisbon.", "京都で抹茶を買った。"):
        assert command(db, "store", text, "--timestamp", "2024-05-01").returncode == 0
    done = command(db, "reconstruct", "抹茶", "--count", "2")
    lines = done.stdout.splitlines()
    assert lines[:3] == ["1.  mem:2", "京都で抹茶を買った。", "mem:2  2024-05-01"]
    assert "degraded: no_embedder" in done.stderr
    none = command(db, "reconstruct", "tea", "--count", "0")
    assert (none.returncode, none.stdout) == (0, "")
    assert "0 of at most 0 items: count_zero" in none.stderr
    assert command(tmp_path / "no.db", "reconstruct", "tea").returncode == 1
