"""The tool ``reconstruct``: memories put together from rows."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field, WithJsonSchema

from cpersona_jit.exits.reconstruct.settings import MAX_EVIDENCE, MAX_HOPS
from cpersona_jit.exits.reconstruct.shape import Reconstruction
from cpersona_jit.server import descriptions
from cpersona_jit.server import parameters as p
from cpersona_jit.server.answers import READS, answer, call
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.strict_tools import strict_tool


def _number(description: str, low: int, high: int | None = None) -> Any:
    """Annotate a number that the library checks, which names the field and what is allowed."""
    limits = {"minimum": low} if high is None else {"minimum": low, "maximum": high}
    schema = {"anyOf": [{"type": "integer", **limits}, {"type": "null"}]}
    return Annotated[Any, Field(description=description), WithJsonSchema(schema)]


Count = _number("How many items to return at most. It never changes how widely is searched.", 0)
Budget = _number("How many characters of quoted text to return at most.", 0)
TopK = _number("How many rows to build items from.", 1)
MaxHops = _number("How many steps to follow relations between rows.", 0, MAX_HOPS)
MaxEvidence = _number("How many claims an item may have.", 1, MAX_EVIDENCE)
Trace = Annotated[
    bool, Field(description="Also return policies, bounds, candidates and every default.")
]


def reconstruct_tool(handle: MemoryHandle, settings: ServerSettings) -> Tool:
    """Return ``reconstruct``, bound to one memory."""

    def reconstruct(
        query: p.Query,
        agent_id: p.AgentId = settings.agent_id,
        project_id: p.ReadProject = None,
        channel: p.ReadChannel = None,
        count: Count = None,
        budget: Budget = None,
        time_cue: p.TimeCue = None,
        top_k: TopK = None,
        max_hops: MaxHops = None,
        max_evidence: MaxEvidence = None,
        trace: Trace = False,
    ) -> Annotated[CallToolResult, Reconstruction]:
        response = call(
            handle,
            lambda memory: memory.reconstruct(
                query,
                agent_id=agent_id,
                project_id=project_id,
                channel=channel,
                count=count,
                budget=budget,
                time_cue=time_cue,
                top_k=top_k,
                max_hops=max_hops,
                max_evidence=max_evidence,
                policy=settings.reconstruct,
                trace=trace,
            ),
        )
        return answer(response)

    return strict_tool(
        reconstruct,
        title="Reconstruct memories",
        description=descriptions.reconstruct_description(settings),
        annotations=READS,
    )
