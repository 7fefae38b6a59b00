"""The lines of stdin, as the SDK has to see them.

The SDK drops the id of a message when it is no string and no integer, takes the request for a
notification, and never answers it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator

import anyio
from pydantic_core import from_json

from cpersona_jit.server.request_ids import is_request_id


async def request_lines() -> AsyncIterator[str]:
    """Take stdin away from everything else in the process and yield its lines."""
    wire = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    # Never closed: a thread may wait for the next line until the process ends.
    lines = open(wire, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    async for line in anyio.wrap_file(lines):
        yield refusable(line)


def refusable(line: str) -> str:
    """Return `line`, or a message without a method, which the SDK refuses, if its id is no id."""
    try:
        message = from_json(line)
    except ValueError:
        return line
    is_request = isinstance(message, dict) and {"id", "method"} <= set(message)
    if not is_request or is_request_id(message["id"]):
        return line
    return json.dumps({"jsonrpc": "2.0", "id": message["id"]})
