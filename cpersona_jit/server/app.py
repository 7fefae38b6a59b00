"""The server process: build it, serve it over stdio, end it cleanly."""

from __future__ import annotations

import logging
import os
import signal
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

from cpersona_jit.server.descriptions import INSTRUCTIONS
from cpersona_jit.server.memory_handle import MemoryHandle
from cpersona_jit.server.pending_answers import ObservedWrites, PendingAnswers
from cpersona_jit.server.request_lines import request_lines
from cpersona_jit.server.settings import ServerSettings
from cpersona_jit.server.strict_tools import describe_errors
from cpersona_jit.server.tools import memory_tools
from cpersona_jit.server.unreadable_lines import AnsweredLines
from cpersona_jit.server.warmup import WarmUp

if TYPE_CHECKING:
    from cpersona_jit.memory import Memory

_TURN_SECONDS = 0.001  # a fifth of the interpreter's own choice


class MemoryServer(MCPServer):
    """An MCP server that answers every line it is sent, with one-line errors."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool; what the caller can put right is a :class:`ToolError` of one line."""
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                tool = self._tool_manager.get_tool(name)
                allowed = list(tool.parameters["properties"]) if tool else []
                raise ToolError(f"{name}: {describe_errors(cause, allowed)}") from cause
            if isinstance(cause, ToolError):
                raise ToolError(f"{name}: {cause}") from cause
            raise

    async def run_stdio_async(self) -> None:
        """Serve stdin and stdout until stdin ends and the calls it brought are answered.

        While serving, stray prints go to stderr.
        """
        async with stdio_server(stdin=request_lines()) as (read_stream, write_stream):
            server = self._lowlevel_server
            pending = PendingAnswers()
            await server.run(
                AnsweredLines(read_stream, write_stream, pending),
                ObservedWrites(write_stream, pending),
                server.create_initialization_options(),
            )


def build_server(settings: ServerSettings, handle: MemoryHandle) -> MemoryServer:
    """Return a server whose handshake needs neither the file, nor the model, nor Numba."""
    return MemoryServer(
        name="cpersona-jit",
        title="Long-term memory",
        version=version("cpersona-jit"),
        instructions=INSTRUCTIONS,
        tools=memory_tools(handle, settings),
        middleware=[WarmUp(handle)],
        log_level="WARNING",
    )


def serve(settings: ServerSettings) -> NoReturn:
    """Serve over stdio until stdin ends or the process is told to end; never returns.

    The exit status is 0 after a clean end and 1 after a crash. The process ends with
    :func:`os._exit`: a thread that waits for stdin, or a compiler at work, cannot be interrupted,
    and must not keep an agent's client waiting.
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="cpersona-jit: %(message)s"
    )
    logging.getLogger("cpersona_jit").setLevel(logging.INFO)
    # What answers the client waits for its turn behind every recall that computes in Python.
    sys.setswitchinterval(_TURN_SECONDS)
    handle = MemoryHandle(lambda: _open(settings))
    status = 0
    try:
        anyio.run(_serve_until_end, build_server(settings, handle), handle)
    except* BrokenPipeError:
        pass  # the client is gone: the same as the end of stdin
    except* Exception:
        logging.getLogger(__name__).exception("the server failed")
        status = 1
    _end(handle, status)


async def _serve_until_end(server: MemoryServer, handle: MemoryHandle) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal, handle)
        await server.run_stdio_async()
        tasks.cancel_scope.cancel()


async def _end_on_signal(handle: MemoryHandle) -> None:
    if sys.platform == "win32":
        return  # no signal can be awaited there; closing stdin is how clients end a server
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            await anyio.to_thread.run_sync(_end, handle, 0)


def _end(handle: MemoryHandle, status: int) -> NoReturn:
    try:
        handle.close()
    except Exception:
        logging.getLogger(__name__).exception("closing the memory failed")
        status = status or 1
    logging.shutdown()
    os._exit(status)


def _open(settings: ServerSettings) -> Memory:
    import cpersona_jit

    return cpersona_jit.open(settings.db, embedder=settings.embedder, wait_for_kernels=False)
