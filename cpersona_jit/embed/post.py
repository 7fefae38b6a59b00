"""One HTTP exchange with a bound on its whole duration and on its size."""

from __future__ import annotations

import contextlib
import http.client
import queue
import socket
import threading
from collections.abc import Callable

from cpersona_jit.embed.endpoint import Endpoint
from cpersona_jit.errors import shown

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


class PostError(Exception):
    """What the server did wrong, worded to follow its name."""


def post_json(endpoint: Endpoint, body: bytes, timeout: float, max_bytes: int) -> bytes:
    """Send a JSON body and return that of the answer.

    Parameters
    ----------
    endpoint : Endpoint
        Where to send it.
    body : bytes
        JSON text.
    timeout : float
        Seconds from the name look-up to the last byte, whatever the server does.
    max_bytes : int
        Largest answer accepted.

    Raises
    ------
    PostError
        If there is no whole answer with status 200 within these bounds.
    """
    # A socket's timeout bounds one read only, and a name look-up has none, so the exchange
    # runs in a thread that can be abandoned.
    done: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()
    abandoned = threading.Event()
    sockets: list[socket.socket] = []

    def opened(sock: socket.socket) -> None:
        sockets.append(sock)
        if abandoned.is_set():
            raise PostError("was too late")

    def run() -> None:
        try:
            done.put(_exchange(endpoint.connect(timeout), endpoint.target, body, max_bytes, opened))
        except Exception as error:
            done.put(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        result = done.get(timeout=timeout)
    except queue.Empty:
        abandoned.set()
        for sock in sockets:  # wakes the thread from its read, so that it ends
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        raise PostError(f"did not answer within {timeout:g} s") from None
    if isinstance(result, PostError):
        raise result
    if isinstance(result, TimeoutError):  # one read took the whole time: the same to the caller
        raise PostError(f"did not answer within {timeout:g} s") from result
    if isinstance(result, Exception):
        what = shown(result) or type(result).__name__
        raise PostError(f"cannot be used: {what}") from result
    return result


def _exchange(
    connection: http.client.HTTPConnection,
    target: str,
    body: bytes,
    max_bytes: int,
    opened: Callable[[socket.socket], None],
) -> bytes:
    with contextlib.closing(connection):
        connection.connect()
        opened(connection.sock)
        connection.request("POST", target, body, _HEADERS)
        response = connection.getresponse()
        if response.status != 200:
            reason = shown(response.reason)
            raise PostError(f"answered with status {response.status} {reason}")
        data = response.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise PostError(f"answered with more than {max_bytes} bytes")
        if response.length:  # promised by Content-Length and never sent
            raise PostError("closed the connection in the middle of its answer")
        return data
