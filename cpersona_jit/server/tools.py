"""The tools of the server; those that search are in `recall_tools`."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult

from cpersona_jit.server import descriptions
from cpersona_jit.server import parameters as p
from cpersona_jit.server.answers import READS, WRITES, answer, call
from cpersona_jit.server.contents import contents_response, parse_wanted
from cpersona_jit.server.episode_tool import archive_episode_tool
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.recall_tools import recall_tool, recall_with_context_tool
from cpersona_jit.server.reconstruct_tool import reconstruct_tool
from cpersona_jit.server.responses import (
    ContentsResponse,
    StoreResponse,
    store_response,
)
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.strict_tools import strict_tool
from cpersona_jit.server.update_tool import update_tool


def memory_tools(handle: MemoryHandle, settings: ServerSettings) -> list[Tool]:
    """Return the tools, bound to one memory. They block, so the SDK runs them in worker threads."""
    return [
        _store_tool(handle, settings),
        archive_episode_tool(handle, settings),
        update_tool(handle, settings),
        recall_tool(handle, settings),
        recall_with_context_tool(handle, settings),
        reconstruct_tool(handle, settings),
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
        outcome = call(
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
        return answer(store_response(outcome))

    return strict_tool(
        store, title="Store a memory", description=descriptions.STORE, annotations=WRITES
    )


def _get_contents_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    def get_contents(
        refs: p.Refs,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.ReadProject = None,
        channel: p.ReadChannel = None,
        history: p.History = False,
    ) -> Annotated[CallToolResult, ContentsResponse]:
        wanted = parse_wanted(refs)
        found = call(
            handle,
            lambda memory: memory.get_contents(
                list(dict.fromkeys(one.ref for one in wanted)),
                agent_id=agent_id,
                project_id=project_id,
                channel=channel,
                history=history,
                nodes=any(one.part == "node" for one in wanted),
            ),
        )
        return answer(contents_response(wanted, found, settings.full_content_chars))

    return strict_tool(
        get_contents,
        title="Read whole memories",
        description=descriptions.GET_CONTENTS,
        annotations=READS,
    )
