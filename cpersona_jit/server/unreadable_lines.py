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

from cpersona_jit.errors import shown
from cpersona_jit.server.pending_answers import PendingAnswers
from cpersona_jit.server.request_ids import is_request_id, readable_id

LAST_ANSWERS_SECONDS = 10.0  # for calls that were read before stdin ended

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
    pending : PendingAnswers
        The calls whose answers the end of the stream waits for.
    """

    def __init__(self, read_stream: Any, write_stream: Any, pending: PendingAnswers) -> None:
        self._read_stream = read_stream
        self._write_stream = write_stream
        self._pending = pending

    @property
    def last_context(self) -> Any:
        """The sender's context of the last item, which the SDK looks for."""
        return getattr(self._read_stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next readable item."""
        while True:
            try:
                item = await self._read_stream.receive()
            except anyio.EndOfStream:
                # The SDK drops the calls at work when the stream ends.
                await self._pending.wait(LAST_ANSWERS_SECONDS)
                raise
            answer = error_answer(item) if isinstance(item, ValidationError) else None
            if answer is None:
                self._pending.read(item)
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
        return _no_message(failure)
    line = first["input"]
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(readable_id(line), PARSE_ERROR, f"the line cannot be read: {first['msg']}")
    if isinstance(message, dict) and "id" not in message:
        return None  # a notification: never answered
    request_id = message["id"] if isinstance(message, dict) else None
    if not is_request_id(request_id) or not _is_unicode(request_id):
        request_id = None
    reason = first["msg"] if _is_unicode(message) else HALF_A_CHARACTER
    return _error(request_id, PARSE_ERROR, f"the request was not carried out: {reason}")


def _no_message(failure: ValidationError) -> JSONRPCError:
    """Answer a line that is JSON and no message."""
    request_id, reason = None, "the line is JSON but no JSON-RPC 2.0 message"
    message = _whole(failure)
    # The id of a broken answer is one of ours; the client may be waiting for its own of that name.
    if "id" in message and not {"result", "error"} & set(message):
        if is_request_id(message["id"]):
            request_id = message["id"]
        else:
            told = shown(json.dumps(message["id"]), 40)
            reason = f"id is {told}; allowed: a string or an integer"
    return _error(request_id, INVALID_REQUEST, reason)


def _whole(failure: ValidationError) -> dict[str, Any]:
    """Return the object that failed: the input of the check that a field of it is there."""
    for error in failure.errors():
        if error["type"] == "missing" and len(error["loc"]) == 2:
            return error["input"]
    return {}


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(request_id: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
