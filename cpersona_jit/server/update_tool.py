"""The tool ``update``: another text for a stored row."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from cpersona_jit.server import descriptions
from cpersona_jit.server import parameters as p
from cpersona_jit.server.answers import answer, call
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.responses import StoreResponse, store_response
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.strict_tools import strict_tool

# The text that was there is kept, but recall does not find it any more.
REPLACES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)

Ref = Annotated[str, Field(description='Of the row, for example "mem:12" or "ep:3".')]


def update_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    """Return ``update``, bound to one memory."""

    def update(
        ref: Ref,
        content: p.Content,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.ReadProject = None,
        channel: p.ReadChannel = None,
    ) -> Annotated[CallToolResult, StoreResponse]:
        outcome = call(
            handle,
            lambda memory: memory.update(
                ref, content, agent_id=agent_id, project_id=project_id, channel=channel
            ),
        )
        return answer(store_response(outcome))

    return strict_tool(
        update, title="Correct a memory", description=descriptions.UPDATE, annotations=REPLACES
    )
