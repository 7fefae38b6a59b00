"""The end of stdin waits for the answers that are due, and for nothing else."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from cpersona_jit.server.pending_answers import PendingAnswers


def call(request_id: int | str) -> SessionMessage:
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=request_id, method="ping"))


def answer(request_id: int | str) -> SessionMessage:
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=request_id, result={}))


def failure(request_id: int | str) -> SessionMessage:
    error = ErrorData(code=0, message="x")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


def cancelled(request_id: int | str) -> SessionMessage:
    return SessionMessage(
        JSONRPCNotification(
            jsonrpc="2.0", method="notifications/cancelled", params={"requestId": request_id}
        )
    )


def waits(before: Callable[[PendingAnswers], None], seconds: float) -> bool:
    """Whether waiting ends by its bound."""

    async def run() -> bool:
        pending = PendingAnswers()
        before(pending)
        with anyio.move_on_after(seconds) as bound:
            await pending.wait(3600)
        return bound.cancelled_caught

    return anyio.run(run)


def settled(pending: PendingAnswers) -> None:
    for request_id in (1, "二", 3, 3):
        pending.read(call(request_id))
    pending.read(ValueError("a line"))
    pending.written(answer("二"))
    pending.written(failure(1))
    pending.written(answer(9))
    pending.read(cancelled(3))
    pending.written(answer(3))


def test_nothing_is_waited_for_when_all_is_answered_or_cancelled() -> None:
    assert not waits(settled, 60)


@pytest.mark.parametrize("written", [[], [answer(2)]])
def test_a_call_without_its_answer_is_waited_for(written: list[SessionMessage]) -> None:
    def one_open(pending: PendingAnswers) -> None:
        pending.read(call(1))
        for item in written:
            pending.written(item)

    assert waits(one_open, 0.05)


def test_the_wait_is_bounded() -> None:
    async def run() -> None:
        pending = PendingAnswers()
        pending.read(call(1))
        await pending.wait(0.01)

    anyio.run(run)


def test_the_last_answer_ends_the_wait() -> None:
    async def run() -> None:
        pending = PendingAnswers()
        pending.read(call(1))
        pending.read(call(2))

        async def later() -> None:
            for request_id in (1, 2):
                await anyio.sleep(0.01)
                pending.written(answer(request_id))

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(later)
                await pending.wait(3600)

    anyio.run(run)
