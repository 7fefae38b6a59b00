"""The tool ``archive_episode``: the summary of a span of time."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field, WithJsonSchema

from cpersona_jit.server import descriptions
from cpersona_jit.server import parameters as p
from cpersona_jit.server.answers import WRITES, answer, call
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.responses import StoreResponse, store_response
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.strict_tools import strict_tool

Summary = Annotated[
    str,
    Field(
        description="What happened in that time, 1 to 16,000 characters, kept word for word. It "
        "must make sense on its own, months later."
    ),
]
Start = Annotated[
    str,
    Field(description="When it began, ISO 8601, for example 2026-03-14T09:30:00+09:00."),
]
End = Annotated[
    str,
    Field(
        description="When it ended, ISO 8601, itself still inside; a date without a time is the "
        "end of that day. Never before `start`."
    ),
]
# Any value passes: the library reads keywords, and says what is wrong with them.
Keywords = Annotated[
    Any,
    Field(
        description="Words the summary should be found by beyond its own, at most 50 of at most "
        "100 characters: names, places, topics."
    ),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "array",
                    "maxItems": 50,
                    "items": {"type": "string", "minLength": 1, "maxLength": 100},
                },
                {"type": "null"},
            ]
        }
    ),
]


def archive_episode_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    """Return ``archive_episode``, bound to one memory."""

    def archive_episode(
        summary: Summary,
        start: Start,
        end: End,
        keywords: Keywords = None,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.StoreProject = None,
        channel: p.StoreChannel = None,
        id: p.CallerId = None,
        source: p.SourceFields = None,
        session_id: p.SessionId = None,
        metadata: p.Metadata = None,
    ) -> Annotated[CallToolResult, StoreResponse]:
        outcome = call(
            handle,
            lambda memory: memory.archive_episode(
                summary,
                agent_id=agent_id,
                start=start,
                end=end,
                keywords=keywords,
                project_id=project_id or "",
                channel=channel or "",
                msg_id=id or "",
                source=source,
                session_id=session_id or "",
                metadata=metadata,
            ),
        )
        return answer(store_response(outcome))

    return strict_tool(
        archive_episode,
        title="Archive an episode",
        description=descriptions.ARCHIVE_EPISODE,
        annotations=WRITES,
    )
