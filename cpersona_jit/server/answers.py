"""What every tool does around its own work: reach the memory, and wrap the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from cpersona_jit.errors import CPersonaError
from cpersona_jit.server.memory_handle import MemoryHandle

T = TypeVar("T")

WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def call(handle: MemoryHandle, work: Callable[[Any], T]) -> T:
    """Do some work on the memory; what the caller can put right is a tool error of one line."""
    try:
        return work(handle.get())
    except CPersonaError as error:
        raise ToolError(str(error)) from error


def answer(payload: Mapping[str, Any]) -> CallToolResult:
    """Wrap a response; the text is compact JSON because the agent pays for white space."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=dict(payload)
    )
