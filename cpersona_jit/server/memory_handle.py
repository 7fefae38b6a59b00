"""The one open memory of a server process, opened by whoever needs it first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from cpersona_jit.errors import CPersonaError

if TYPE_CHECKING:
    from cpersona_jit.memory import Memory

# A process that is told to end waits this long for a file that is just being opened.
CLOSE_PATIENCE_SECONDS = 1.0


class MemoryHandle:
    """Opens a memory late and closes it once.

    A failed opening is not remembered: the next call tries again, so a file that was locked or a
    folder that was missing can be put right without restarting the agent.

    Parameters
    ----------
    open_memory : callable
        Opens the memory; may raise :class:`~cpersona_jit.errors.CPersonaError`.
    """

    def __init__(self, open_memory: Callable[[], Memory]) -> None:
        self._open_memory = open_memory
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._closed = False

    def get(self) -> Memory:
        """Return the open memory; blocks while another thread opens it."""
        with self._lock:
            if self._closed:
                raise CPersonaError("the server is ending; nothing was read or written")
            if self._memory is None:
                self._memory = self._open_memory()
            return self._memory

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` has begun."""
        return self._closed

    def close(self) -> None:
        """Close the memory if it is open; :meth:`get` refuses from then on."""
        free = self._lock.acquire(timeout=CLOSE_PATIENCE_SECONDS)
        try:
            self._closed = True
            if free and self._memory is not None:
                self._memory.close()
                self._memory = None
        finally:
            if free:
                self._lock.release()
