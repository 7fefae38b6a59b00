"""The tools that search: ``recall`` and ``recall_with_context``."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult

from cpersona_jit.server import descriptions
from cpersona_jit.server import parameters as p
from cpersona_jit.server.answers import READS, answer, call
from cpersona_jit.server.conversation import merged
from cpersona_jit.server.exclusion import Exclusion, recall_without
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.recalled import shown_rows
from cpersona_jit.server.responses import (
    RecalledRow,
    RecallResponse,
    RecallWithContextResponse,
    recall_notes,
)
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.strict_tools import strict_tool


def recall_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    """Return ``recall``, bound to one memory."""

    def recall(
        query: p.Query,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.ReadProject = None,
        channel: p.ReadChannel = None,
        limit: p.Limit = 10,
        time_cue: p.TimeCue = None,
        exclude_contents: p.ExcludeContents = None,
        full_content: p.FullContent = False,
    ) -> Annotated[CallToolResult, RecallResponse]:
        axes = {"agent_id": agent_id, "project_id": project_id, "channel": channel}
        exclusion = Exclusion(exclude_contents or ())
        rows, rest = _recalled(
            handle, settings, exclusion, full_content, limit, query, time_cue=time_cue, **axes
        )
        return answer({"rows": rows, "order": "best_first", **rest})

    return strict_tool(
        recall,
        title="Recall memories",
        description=descriptions.recall_description(settings),
        annotations=READS,
    )


def recall_with_context_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    """Return ``recall_with_context``, bound to one memory."""

    def recall_with_context(
        query: p.Query,
        conversation: p.Conversation,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.ReadProject = None,
        channel: p.ReadChannel = None,
        limit: p.Limit = 10,
        time_cue: p.TimeCue = None,
        exclude_contents: p.ExcludeContents = None,
        full_content: p.FullContent = False,
    ) -> Annotated[CallToolResult, RecallWithContextResponse]:
        axes = {"agent_id": agent_id, "project_id": project_id, "channel": channel}
        said = [entry.content for entry in conversation]
        exclusion = Exclusion([*said, *(exclude_contents or ())])
        rows, rest = _recalled(
            handle, settings, exclusion, full_content, limit, query, time_cue=time_cue, **axes
        )
        together = merged(rows, conversation, settings.preview_chars)
        return answer({"rows": together, "order": "chronological", **rest})

    return strict_tool(
        recall_with_context,
        title="Recall memories into a conversation",
        description=descriptions.recall_with_context_description(settings),
        annotations=READS,
    )


def _recalled(
    handle: MemoryHandle,
    settings: ServerSettings,
    exclusion: Exclusion,
    full_content: bool,
    limit: int,
    query: str,
    **arguments: Any,
) -> tuple[list[RecalledRow], dict[str, Any]]:
    """Return the rows of a recall as they are shown, best first, and what else it says."""

    def recall(asked: int) -> Any:
        return call(handle, lambda memory: memory.recall_to_quote(query, limit=asked, **arguments))

    result, rows, quoter = recall_without(recall, limit, exclusion)
    shown, over_budget = shown_rows(rows, quoter, settings, full_content)
    rest = recall_notes(result)
    if over_budget:
        rest = {"full_content_budget_chars": settings.full_content_chars, **rest}
    return shown, rest
