"""Calls that were read and not answered yet, so that the end of stdin can wait for them."""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse


class PendingAnswers:
    """The ids of the calls that wait for an answer."""

    def __init__(self) -> None:
        self._ids: Counter[str] = Counter()
        self._settled = anyio.Event()

    def read(self, item: SessionMessage | Exception) -> None:
        """Take notice of what was read: a call, or that the client cancels one."""
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCRequest):
            self._ids[str(message.id)] += 1
        elif (
            isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled"
        ):
            self._settle(str((message.params or {}).get("requestId")))

    def written(self, item: SessionMessage) -> None:
        """Take notice of what was written."""
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._settle(str(item.message.id))

    def _settle(self, request_id: str) -> None:
        self._ids -= Counter([request_id])  # drops what is not above 0
        if not self._ids:
            self._settled.set()
            self._settled = anyio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait until every call is answered, but no longer than that."""
        with anyio.move_on_after(seconds):
            while self._ids:
                await self._settled.wait()


class ObservedWrites:
    """A write stream whose messages `pending` sees once they are on their way.

    Parameters
    ----------
    write_stream
        That of the SDK's stdio transport.
    pending : PendingAnswers
        What takes notice of them.
    """

    def __init__(self, write_stream: Any, pending: PendingAnswers) -> None:
        self._write_stream = write_stream
        self._pending = pending

    async def send(self, item: SessionMessage) -> None:
        """Send one message."""
        await self._write_stream.send(item)
        self._pending.written(item)

    async def aclose(self) -> None:
        """Close the write stream."""
        await self._write_stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()
