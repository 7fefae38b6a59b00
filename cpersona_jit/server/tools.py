"""The three tools: ``store``, ``recall`` and ``get_contents``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from cpersona_jit.errors import CPersonaError
from cpersona_jit.server import descriptions
from cpersona_jit.server import parameters as p
from cpersona_jit.server.contents import contents_response, parse_wanted
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.responses import (
    ContentsResponse,
    RecallResponse,
    StoreResponse,
    recall_response,
    store_response,
)
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.strict_tools import strict_tool

T = TypeVar("T")

WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def memory_tools(handle: MemoryHandle, settings: ServerSettings) -> list[Tool]:
    """Return the tools, bound to one memory. They block, so the SDK runs them in worker threads."""
    return [
        _store_tool(handle, settings),
        _recall_tool(handle, settings),
        _get_contents_tool(handle, settings),
    ]


def _store_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    def store(
        content: p.Content,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.StoreProject = None,
        channel: p.StoreChannel = None,
        id: p.CallerId = None,
        source: p.SourceFields = None,
        session_id: p.SessionId = None,
        timestamp: p.Timestamp = None,
        metadata: p.Metadata = None,
    ) -> Annotated[CallToolResult, StoreResponse]:
        outcome = _call(
            handle,
            lambda memory: memory.store(
                content,
                agent_id=agent_id,
                project_id=project_id or "",
                channel=channel or "",
                msg_id=id or "",
                source=source,
                session_id=session_id or "",
                timestamp=timestamp or "",
                metadata=metadata,
            ),
        )
        return _answer(store_response(outcome))

    return strict_tool(
        store, title="Store a memory", description=descriptions.STORE, annotations=WRITES
    )


def _recall_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    def recall(
        query: p.Query,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.ReadProject = None,
        channel: p.ReadChannel = None,
        limit: p.Limit = 10,
        time_cue: p.TimeCue = None,
    ) -> Annotated[CallToolResult, RecallResponse]:
        result = _call(
            handle,
            lambda memory: memory.recall(
                query,
                agent_id=agent_id,
                project_id=project_id,
                channel=channel,
                limit=limit,
                time_cue=time_cue,
            ),
        )
        return _answer(recall_response(result, settings.preview_chars))

    return strict_tool(
        recall,
        title="Recall memories",
        description=descriptions.recall_description(settings.preview_chars),
        annotations=READS,
    )


def _get_contents_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    def get_contents(
        refs: p.Refs,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.ReadProject = None,
        channel: p.ReadChannel = None,
    ) -> Annotated[CallToolResult, ContentsResponse]:
        wanted = parse_wanted(refs)
        found = _call(
            handle,
            lambda memory: memory.get_contents(
                list(dict.fromkeys(one.ref for one in wanted)),
                agent_id=agent_id,
                project_id=project_id,
                channel=channel,
            ),
        )
        return _answer(contents_response(wanted, found.rows))

    return strict_tool(
        get_contents,
        title="Read whole memories",
        description=descriptions.GET_CONTENTS,
        annotations=READS,
    )


def _call(handle: MemoryHandle, work: Callable[[Any], T]) -> T:
    try:
        return work(handle.get())
    except CPersonaError as error:
        raise ToolError(str(error)) from error


def _answer(payload: Mapping[str, Any]) -> CallToolResult:
    """Wrap a response; the text is compact JSON because the agent pays for white space."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=dict(payload)
    )
