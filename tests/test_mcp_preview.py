"""The preview tier as an agent meets it: previews, excerpts, whole rows, what it has already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_mcp_server import MIA, TEA, YUKI, Agent, connect

import cpersona_jit

FILLER = "The garden has many roses and they bloom early in June. "
LONG = FILLER * 14 + "Mia moved to Lisbon. However, she came back in May. " + FILLER * 14
庭 = "庭には薔薇がたくさんあり、六月に咲きます。"
長い = 庭 * 30 + "ユキは京都で茶道を習う。ただし、今は休んでいる。" + 庭 * 30
JOINER = " … "


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with connect(tmp_path_factory.mktemp("server") / "memory.db") as agent:
        yield agent


@pytest.fixture
def agent(server: Agent, request: pytest.FixtureRequest) -> Agent:
    return Agent(server.portal, server.client, request.node.name)


def test_only_a_cut_row_carries_an_excerpt(agent: Agent) -> None:
    for content in (LONG, 長い, "x" * 494 + " ended", MIA):
        agent.call("store", content=content)
    for query, wanted in (
        ("Where did Mia move? 京都 xxx", "Mia moved to Lisbon. However, she came back in May."),
        ("Mia xxx: 茶道を習っているのは誰？", "ユキは京都で茶道を習う。ただし、今は休んでいる。"),
    ):
        rows = {row["content"]: row for row in agent.call("recall", query=query)["rows"]}
        assert len(rows) == 4
        for content in (LONG, 長い):
            row = rows[content[:500]]
            assert row["content_len"] == len(content)
            assert len(row["excerpt"]) <= 800
            assert row["excerpt_basis"] == "blocks"
            assert all(part in content for part in row["excerpt"].split(JOINER))
        assert any(wanted in row.get("excerpt", "") for row in rows.values())
        for content in ("x" * 494 + " ended", MIA):
            assert not {"excerpt", "excerpt_basis", "content_truncated"} & set(rows[content])


def test_confidence_keeps_the_order_of_the_window(agent: Agent) -> None:
    for content in (MIA, YUKI, TEA, LONG, 長い):
        agent.call("store", content=content)
    rows = agent.call("recall", query="green tea in Lisbon 茶道")["rows"]
    found = [row["confidence"] for row in rows if "admission" not in row]
    assert found == sorted(found, reverse=True)
    assert all(0.0 < one < 1.0 for one in found)
    assert len(set(found)) > 1


def test_full_content_is_whole_and_needs_no_excerpt(agent: Agent) -> None:
    for content in (LONG, 長い, MIA):
        agent.call("store", content=content)
    found = agent.call("recall", query="Mia 茶道", full_content=True)
    assert {row["content"] for row in found["rows"]} == {LONG, 長い, MIA}
    assert "full_content_budget_chars" not in found
    for row in found["rows"]:
        assert not {"content_truncated", "content_len", "excerpt"} & set(row)


def test_what_the_budget_does_not_hold_is_cut_least_relevant_first(agent: Agent) -> None:
    contents = [f"{n} aquarium " * (n % 3 + 1) + "filler text. " * 1200 for n in range(20)]
    for content in contents:
        assert len(content) < 16_000
        agent.call("store", content=content)
    found = agent.call("recall", query="aquarium", limit=20, full_content=True)
    assert found["full_content_budget_chars"] == 200_000
    whole = ["content_truncated" not in row for row in found["rows"]]
    assert whole == sorted(whole, reverse=True)  # most relevant first
    held = sum(len(row["content"]) for row, one in zip(found["rows"], whole, strict=True) if one)
    cut = found["rows"][whole.index(False)]
    assert held <= 200_000 < held + cut["content_len"]
    assert len(cut["content"]) == 500
    assert cut["excerpt"]
    context = agent.call(
        "recall_with_context", query="aquarium", limit=20, full_content=True, conversation=[]
    )
    assert context["full_content_budget_chars"] == 200_000
    by_ref = {row["ref"]: row for row in context["rows"]}
    assert [by_ref[row["ref"]] for row in found["rows"]] == found["rows"]


def test_what_the_caller_has_is_left_out(agent: Agent) -> None:
    for content in (LONG, 長い, MIA, YUKI, TEA):
        agent.call("store", content=content)
    everything = agent.call("recall", query="Mia tea 茶道")["rows"]
    preview = next(row["content"] for row in everything if row.get("content_len") == len(LONG))
    has = [preview, "  " + YUKI + "\n", MIA.upper(), TEA[:20]]
    left = agent.call("recall", query="Mia tea 茶道", exclude_contents=has)["rows"]
    assert {row["content"] for row in left} == {長い[:500], TEA}
    one = agent.call("recall", query="Mia tea 茶道", exclude_contents=has, limit=1)["rows"]
    assert [row["ref"] for row in one if "admission" not in row] == [left[0]["ref"]]
    assert agent.call("recall", query="Mia tea 茶道", exclude_contents=None)["rows"] == everything
    text = agent.refusal("recall", query="x", exclude_contents=[5])
    assert text.startswith("recall: exclude_contents.0: ")


def test_a_recall_into_a_conversation(agent: Agent) -> None:
    refs = {
        day: agent.call("store", content=content, timestamp=day)["ref"]
        for day, content in {"2026-03-01": MIA, "2026-01-01": LONG, "": TEA}.items()
    }
    agent.call("store", content=YUKI, timestamp="2026-02-20")
    conversation = [
        {"role": "user", "content": "早い: " + 庭 * 30, "timestamp": "2026-02-01T10:00:00+09:00"},
        {"role": "assistant", "content": YUKI, "name": "Bot"},
        {"role": "user", "content": "And tea?", "timestamp": "2026-04-01"},
    ]
    found = agent.call(
        "recall_with_context",
        query="Mia tea 茶道",
        conversation=conversation,
        full_content=True,
    )
    assert found["order"] == "chronological"
    rows = found["rows"]
    assert [row.get("ref") for row in rows] == [
        refs[""],
        refs["2026-01-01"],
        None,
        None,
        refs["2026-03-01"],
        None,
    ]
    assert rows[1]["content"] == LONG
    assert rows[1]["confidence"]
    echoes = [row for row in rows if "ref" not in row]
    assert echoes[0] == {
        "role": "user",
        "content": conversation[0]["content"][:500],  # though whole rows were asked for
        "content_truncated": True,
        "content_len": len(conversation[0]["content"]),
        "timestamp": "2026-02-01T10:00:00+09:00",
    }
    assert echoes[1:] == conversation[1:]
    same = agent.call("recall", query="Mia tea 茶道", exclude_contents=[YUKI], full_content=True)
    memories = {row["ref"]: row for row in rows if "ref" in row}
    assert memories == {row["ref"]: row for row in same["rows"]}


def test_a_conversation_without_times_is_the_present(agent: Agent) -> None:
    for day, content in {"2026-03-01": MIA, "2026-04-01": TEA}.items():
        agent.call("store", content=content, timestamp=day)
    conversation = [
        {"role": "user", "content": "Hi", "timestamp": "yesterday"},
        {"role": "assistant", "content": "こんにちは"},
    ]
    rows = agent.call("recall_with_context", query="Mia tea", conversation=conversation)["rows"]
    assert [row["content"] for row in rows] == [MIA, TEA, "Hi", "こんにちは"]
    rows = agent.call("recall_with_context", query="Mia tea", conversation=[])["rows"]
    assert [row["content"] for row in rows] == [MIA, TEA]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"role": "user"}, "conversation.0.content"),
        ({"content": "x"}, "conversation.0.role"),
        ({"role": "user", "content": "x", "user": "Mia"}, "conversation.0.user"),
        ("user: x", "conversation.0"),
    ],
)
def test_a_broken_conversation_is_named(agent: Agent, entry: object, told: str) -> None:
    text = agent.refusal("recall_with_context", query="x", conversation=[entry])
    assert told in text
    assert "pydantic" not in text


def test_parts_that_cannot_be_returned_have_reasons(agent: Agent) -> None:
    ref = agent.call("store", content=MIA)["ref"]
    parts = [{"ref": ref, "node": 0}, {"ref": ref, "node": "first"}, {"ref": ref, "span": [0, 3]}]
    both = {"ref": ref, "node": 0, "span": [0, 3]}
    found = agent.call("get_contents", refs=[*parts, both])
    assert [row["content"] for row in found["rows"]] == [MIA[:3]]
    assert found["unresolved"] == [
        parts[0] | {"reason": "no_nodes"},
        parts[1] | {"reason": "invalid_node"},
    ]
    assert len(found["missing"]) == 1


def test_sizes_are_settings(tmp_path: Path) -> None:
    env = {"CPERSONA_JIT_RECALL_PREVIEW_CHARS": "100", "CPERSONA_JIT_RECALL_EXCERPT_CHARS": "60"}
    with connect(tmp_path / "memory.db", **env) as agent:
        tools = {tool.name: tool for tool in agent.portal.call(agent.client.list_tools).tools}
        assert "first 100 characters" in tools["recall"].description
        assert "60 characters" in tools["recall_with_context"].description
        agent.call("store", content=LONG)
        row = agent.call("recall", query="Where did Mia move?")["rows"][0]
        assert row["content"] == LONG[:100]
        assert 0 < len(row["excerpt"]) <= 60


def test_earlier_texts_are_listed_and_have_refs_of_their_own(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with cpersona_jit.open(db, "none") as memory:
        ref = memory.store("Mia lives in Porto.", agent_id="default", msg_id="m1").ref
        assert memory.update(ref, MIA, agent_id="default").status == "stored"
        assert memory.update(ref, YUKI, agent_id="default").status == "stored"
    with connect(db) as agent:
        row = agent.call("get_contents", refs=[ref], history=True)["rows"][0]
        assert row["content"] == YUKI
        assert [old["content"] for old in row["history"]] == [MIA, "Mia lives in Porto."]
        assert row["history"][0]["written_at"] == row["history"][1]["superseded_at"]
        old = row["history"][1]["ref"]
        (first,) = agent.call("get_contents", refs=[old])["rows"]
        assert (first["ref"], first["content"]) == (old, "Mia lives in Porto.")
        assert (first["superseded_by"], first["id"]) == (ref, "m1")
        part = {"ref": old, "span": [0, 3]}
        (first,) = agent.call("get_contents", refs=[part])["rows"]
        assert (first["content"], first["superseded_by"]) == ("Mia", ref)
        assert agent.call("get_contents", refs=[old], agent_id="other")["missing"] == [old]
        assert "history" not in agent.call("get_contents", refs=[ref])["rows"][0]
        assert agent.call("recall", query="Porto")["rows"] == []
        assert agent.call("recall", query="ユキ")["rows"][0]["content"] == YUKI


def test_a_text_longer_than_the_window_is_read_by_its_nodes(tmp_path: Path) -> None:
    text = FILLER * 40 + 長い + FILLER * 40
    with connect(tmp_path / "memory.db", "default") as agent:
        outcome = agent.call("store", content=text)
        assert outcome["nodes"] > 1
        parts = [{"ref": outcome["ref"], "node": node} for node in range(outcome["nodes"] + 1)]
        found = agent.call("get_contents", refs=parts)
        assert "".join(row["content"] for row in found["rows"]) == text
        assert [row["node"] for row in found["rows"]] == list(range(outcome["nodes"]))
        for row in found["rows"]:
            assert row["content"] == text[slice(*row["span"])]
            assert row["content_len"] == len(text)
        assert found["unresolved"] == [parts[-1] | {"reason": "node_out_of_range"}]
        row = agent.call("recall", query="茶道を習っているのは誰？")["rows"][0]
        assert "ユキは京都で茶道を習う。ただし、今は休んでいる。" in row["excerpt"]
