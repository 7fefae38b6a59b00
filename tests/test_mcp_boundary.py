"""The pieces of the MCP boundary that need no process: previews, spans, bad lines, schemas."""

from __future__ import annotations

import json

import mcp_types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cpersona_jit.errors import CPersonaError, UsageError
from cpersona_jit.records import Node, Row, Source, Version
from cpersona_jit.results import ContentsResult
from cpersona_jit.server.contents import contents_response, parse_wanted
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.preview import preview
from cpersona_jit.server.request_ids import is_request_id, readable_id
from cpersona_jit.server.request_lines import refusable
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.tools import memory_tools
from cpersona_jit.server.unreadable_lines import error_answer

TEXTS = st.text(st.sampled_from("ab 日本語\u0301👩\u200d👧。\n"), max_size=40)


@given(TEXTS, st.integers(0, 45))
def test_preview_is_a_pure_prefix_and_says_so_only_when_cut(content: str, limit: int) -> None:
    shown = preview(content, limit)
    assert content.startswith(shown["content"])
    if limit == 0 or len(content) <= limit:
        assert shown == {"content": content}
    else:
        assert len(shown["content"]) == limit
        assert shown["content_truncated"] is True
        assert shown["content_len"] == len(content)


def row(memory_id: int, content: str) -> Row:
    return Row(
        ref=f"mem:{memory_id}",
        id=memory_id,
        agent_id="a",
        project_id="",
        channel="",
        msg_id="m",
        content=content,
        source=Source(),
        session_id="",
        timestamp="",
        event_time=None,
        created_at=0,
        updated_at=None,
        metadata={},
        model_id=None,
        revision=1,
    )


@given(TEXTS.filter(bool), st.data())
def test_a_span_returns_exactly_that_part(content: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(1, len(content)))
    start = data.draw(st.integers(0, end - 1))
    wanted = parse_wanted([{"ref": "mem:1", "span": [start, end]}])
    response = contents_response(wanted, ContentsResult((row(1, content),), ()))
    assert [part["content"] for part in response["rows"]] == [content[start:end]]
    assert response["rows"][0]["content_len"] == len(content)
    assert response["missing"] == []
    assert "unresolved" not in response


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        ([0, 4], "span_out_of_range"),
        ([3, 4], "span_out_of_range"),
        ([-1, 2], "invalid_span"),
        ([2, 2], "invalid_span"),
        ([2, 1], "invalid_span"),
        ([0], "invalid_span"),
        ([0, 1.5], "invalid_span"),
        ([False, True], "invalid_span"),
        ("0-2", "invalid_span"),
        (None, "invalid_span"),
    ],
)
def test_a_span_that_cannot_be_met_is_never_widened(span: object, reason: str) -> None:
    wanted = parse_wanted([{"ref": "mem:1", "span": span}])
    response = contents_response(wanted, ContentsResult((row(1, "abc"),), ()))
    assert response["rows"] == []
    assert response["missing"] == []
    assert response["unresolved"] == [{"ref": "mem:1", "span": span, "reason": reason}]


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (0, "abc"),
        (1, "de"),
        (2, "node_out_of_range"),
        (-1, "invalid_node"),
        (True, "invalid_node"),
        (1.0, "invalid_node"),
        ([0, 1], "invalid_node"),
        (None, "invalid_node"),
    ],
)
def test_a_node_is_returned_exactly_or_not_at_all(node: object, told: str) -> None:
    nodes = {"mem:1": (Node(0, 3, None, None), Node(3, 5, None, None))}
    found = ContentsResult((row(1, "abcde"), row(2, "x")), (), nodes=nodes)
    response = contents_response(parse_wanted([{"ref": "mem:1", "node": node}]), found)
    if response["rows"]:
        (part,) = response["rows"]
        assert (part["content"], part["node"], part["content_len"]) == (told, node, 5)
        assert "abcde"[slice(*part["span"])] == told
    else:
        assert response["unresolved"] == [{"ref": "mem:1", "node": node, "reason": told}]
    other = contents_response(parse_wanted([{"ref": "mem:2", "node": 0}]), found)
    assert other["unresolved"][0]["reason"] == "no_nodes"


def test_contents_keep_the_order_asked_for_and_one_bad_ref_fails_nothing() -> None:
    asked = [
        "mem:2",
        7,
        "nonsense",
        {"ref": "mem:1", "part": 3},
        "mem:1",
        "mem:2",
        {"ref": 4},
        None,
    ]
    response = contents_response(
        parse_wanted(asked), ContentsResult((row(1, "one"), row(2, "二")), ())
    )
    assert [part["content"] for part in response["rows"]] == ["二", "one"]
    assert response["missing"] == [
        "7",
        "nonsense",
        '{"ref": "mem:1", "part": 3}',
        '{"ref": 4}',
        "null",
    ]


@pytest.mark.parametrize(
    ("room", "kept"),
    [(0, (0, 0)), (2, (0, 1)), (3, (1, 0)), (5, (1, 1)), (7, (2, 0)), (99, (3, 2))],
)
def test_earlier_texts_come_as_far_as_there_is_room(room: int, kept: tuple[int, int]) -> None:
    texts = {"mem:1": ("町町町", "four", "x"), "mem:2": ("ab", "abc")}  # newest first
    history = {
        ref: tuple(Version(f"mem:{10**15 + n}", n, ref, text, n, n) for n, text in enumerate(own))
        for ref, own in texts.items()
    }
    found = ContentsResult((row(1, "now"), row(2, "now")), (), history=history)
    response = contents_response(parse_wanted(["mem:1", "mem:2"]), found, room)
    for shaped, count in zip(response["rows"], kept, strict=True):
        own = texts[shaped["ref"]]
        assert [text["content"] for text in shaped["history"]] == list(own[:count])
        assert shaped.get("history_omitted", 0) == len(own) - count


def unreadable(line: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


def call_line(request_id: object, content: str) -> str:
    params = {"name": "store", "arguments": {"content": content}}
    return json.dumps(
        {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
    )


@pytest.mark.parametrize("request_id", [3, "abc"])
def test_half_a_character_is_answered_under_the_id_of_its_request(request_id: object) -> None:
    answer = error_answer(unreadable(call_line(request_id, "emoji \ud83d")))
    assert answer is not None
    assert answer.id == request_id
    assert answer.error.code == mcp_types.PARSE_ERROR
    assert "lone surrogate" in answer.error.message


def test_an_id_that_cannot_be_sent_back_is_answered_without_one() -> None:
    answer = error_answer(unreadable(call_line("\udc00", "x")))
    assert answer is not None
    assert answer.id is None
    answer.model_dump_json()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("not json", mcp_types.PARSE_ERROR),
        ('{"jsonrpc": "2.0"', mcp_types.PARSE_ERROR),
        ("[1, 2]", mcp_types.INVALID_REQUEST),
        ('{"jsonrpc": "2.0", "id": 3}', mcp_types.INVALID_REQUEST),
        ('{"a":' * 100_000, mcp_types.PARSE_ERROR),
    ],
)
def test_a_line_that_is_no_message_is_answered(line: str, code: int) -> None:
    answer = error_answer(unreadable(line))
    assert answer is not None
    assert answer.error.code == code


def ping(request_id: str, params: str = "{}") -> str:
    return f'{{"jsonrpc": "2.0", "id": {request_id}, "method": "ping", "params": {params}}}'


@pytest.mark.parametrize("request_id", ["1.5", "1.0", "true", "null", "{}", "[1]", "NaN", "1e999"])
def test_an_id_that_is_no_id_is_refused(request_id: str) -> None:
    line = refusable(ping(request_id))
    answer = error_answer(unreadable(line))
    assert answer is not None
    assert (answer.id, answer.error.code) == (None, mcp_types.INVALID_REQUEST)
    assert "allowed: a string or an integer" in answer.error.message
    answer.model_dump_json()


@pytest.mark.parametrize(
    "line",
    [ping("3"), ping('"三"'), '{"jsonrpc": "2.0", "method": "x"}', "[1]", "{", ""],
)
def test_every_other_line_is_left_as_it_is(line: str) -> None:
    assert refusable(line) == line


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        ('{"jsonrpc": "2.0", "id": 3}', 3),
        ('{"jsonrpc": "2.0", "id": "三", "method": 5}', "三"),
        ('{"id": 4, "method": "ping"}', 4),
        ('{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": 7}', 5),
        ('{"jsonrpc": "2.0", "id": 6, "result": 7}', None),  # an answer: its id is ours
        (ping("7", '{"a": ' * 5_000 + "1" + "}" * 5_000), 7),
        (ping('"八"', '{"id": 1, "a": ' * 300 + "1" + "}" * 300), "八"),
        (ping("9", '{"a": [' + "9" * 5_000 + "]}"), 9),
        ('{"params": {"id": 1, "a": "\\"id\\": 2"}, "id": 10, "method": "p', 10),
        (ping('"\\ud800"', "9" * 5_000), None),
        (ping("9" * 5_000), None),
        (ping("1.5", "9" * 5_000), None),
        ('["id", {"id": 3}, ' + "9" * 5_000, None),
        ('{"jsonrpc": "2.0", "id": "cut o', None),
        ('"' + '\\"' * 200_000, None),
    ],
    ids=range(15),
)
def test_the_id_of_a_bad_line_is_found(line: str, request_id: object) -> None:
    answer = error_answer(unreadable(line))
    assert answer is not None
    assert (answer.id, type(answer.id)) == (request_id, type(request_id))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.text(st.sampled_from('id":,{}[]\\é'), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "a", '"id"']), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_an_id_is_read_like_a_parser_reads_it(message: object, ascii_only: bool) -> None:
    wanted = message.get("id") if isinstance(message, dict) else None
    found = readable_id(json.dumps(message, ensure_ascii=ascii_only))
    assert found == (wanted if is_request_id(wanted) else None)


@pytest.mark.parametrize("line", ["", "  ", '{"method": "x", "params": "\\ud800"}'])
def test_blank_lines_and_broken_notifications_get_no_answer(line: str) -> None:
    assert error_answer(unreadable(line)) is None


def no_memory() -> None:
    raise CPersonaError("there is none")


def schemas() -> dict[str, dict]:
    settings = ServerSettings(db="unused", agent_id="mia")
    return {tool.name: tool.parameters for tool in memory_tools(MemoryHandle(no_memory), settings)}


def test_schemas_describe_every_parameter_and_allow_no_other() -> None:
    for name, schema in schemas().items():
        assert schema["additionalProperties"] is False, name
        for field, shape in schema["properties"].items():
            assert shape.get("description"), (name, field)
        assert schema["properties"]["agent_id"]["default"] == "mia"


def test_only_what_cannot_have_a_default_is_required() -> None:
    required = {name: schema["required"] for name, schema in schemas().items()}
    assert required["store"] == ["content"]
    assert required["recall"] == ["query"]
    assert required["recall_with_context"] == ["query", "conversation"]
    assert required["get_contents"] == ["refs"]


def test_settings_that_cannot_work_are_refused() -> None:
    with pytest.raises(UsageError, match="agent_id"):
        ServerSettings(db="unused", agent_id="")
    with pytest.raises(UsageError, match="-1"):
        ServerSettings(db="unused", preview_chars=-1)
    for name in ("excerpt_chars", "full_content_chars"):
        with pytest.raises(UsageError, match=f"{name} 0"):
            ServerSettings(db="unused", **{name: 0})


class Closable:
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_the_handle_opens_late_tries_again_and_closes_once() -> None:
    attempts: list[Closable] = []

    def open_memory() -> Closable:
        attempts.append(Closable())
        if len(attempts) == 1:
            raise CPersonaError("locked")
        return attempts[-1]

    handle = MemoryHandle(open_memory)
    assert attempts == []
    with pytest.raises(CPersonaError, match="locked"):
        handle.get()
    memory = handle.get()
    assert handle.get() is memory
    assert len(attempts) == 2
    handle.close()
    handle.close()
    assert memory.closed == 1
    with pytest.raises(CPersonaError, match="ending"):
        handle.get()
