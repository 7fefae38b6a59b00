"""Answers to lines that are no JSON-RPC message.

The SDK drops such lines without a word, which leaves the client waiting for ever. The common case
is a text cut in the middle of an emoji: JavaScript escapes the half as a lone surrogate, which is
not valid Unicode.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

HALF_A_CHARACTER = (
    "an argument holds a lone surrogate (\\ud800 to \\udfff), half of a character such as an emoji;"
    " cut texts between characters, not inside them"
)


class AnsweredLines:
    """A read stream that answers unreadable lines itself and yields every other item.

    Parameters
    ----------
    read_stream, write_stream
        The two streams of the SDK's stdio transport.
    """

    def __init__(self, read_stream: Any, write_stream: Any) -> None:
        self._read_stream = read_stream
        self._write_stream = write_stream

    @property
    def last_context(self) -> Any:
        """The sender's context of the last item, which the SDK looks for."""
        return getattr(self._read_stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next readable item."""
        while True:
            item = await self._read_stream.receive()
            answer = error_answer(item) if isinstance(item, ValidationError) else None
            if answer is None:
                return item
            await self._write_stream.send(SessionMessage(answer))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Close the read stream."""
        await self._read_stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


def error_answer(failure: ValidationError) -> JSONRPCError | None:
    """Return the JSON-RPC error for a line that failed to validate, None when none is due."""
    first = failure.errors()[0]
    if first["type"] != "json_invalid":
        return _error(None, INVALID_REQUEST, "the line is JSON but no JSON-RPC 2.0 message")
    line = first["input"]
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, f"the line is not JSON: {first['msg']}")
    if isinstance(message, dict) and "id" not in message:
        return None  # a notification: never answered
    request_id = message["id"] if isinstance(message, dict) else None
    if not isinstance(request_id, str | int) or not _is_unicode(request_id):
        request_id = None
    reason = first["msg"] if _is_unicode(message) else HALF_A_CHARACTER
    return _error(request_id, PARSE_ERROR, f"the request was not carried out: {reason}")


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(request_id: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
