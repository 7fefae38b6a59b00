"""Warm-up behind the handshake: open the file, load the model, compile the kernels."""

from __future__ import annotations

import logging
import threading
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from cpersona_jit.errors import CPersonaError
from cpersona_jit.server.memory_handle import MemoryHandle

logger = logging.getLogger(__name__)


class WarmUp:
    """Server middleware that starts the warm-up once the first message has been handled.

    Starting it any earlier would make the first answer compete with the import of Numba for the
    interpreter. Until it is done, calls run on the exact NumPy path.
    """

    def __init__(self, handle: MemoryHandle) -> None:
        self._handle = handle
        self._started = False

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Pass the message on, then start the warm-up if it has not been started."""
        try:
            return await call_next(ctx)
        finally:
            if not self._started:
                self._started = True
                # A daemon: a client that leaves early must not wait for a compiler.
                threading.Thread(
                    target=warm_up, args=(self._handle,), name="warm-up", daemon=True
                ).start()


def warm_up(handle: MemoryHandle) -> None:
    """Make later calls fast; a failure is logged here, and the calls it concerns report it.

    Kernels that an earlier process compiled are loaded before anything is built with slower ones,
    and the model meanwhile. Where nobody compiled them yet, the first recalls come before: they
    would share the cores with the compiler.
    """
    model = threading.Thread(target=_load_model, args=(handle,), name="warm-up model", daemon=True)
    model.start()
    try:
        from cpersona_jit.recall import kernel_set

        if kernel_set.kernels_are_kept():
            kernel_set.warm_kernels()
    except Exception:
        logger.debug("loading the kernels failed", exc_info=True)  # it is tried again, and said
    model.join()
    _recall_nothing(handle)
    try:
        from cpersona_jit.recall import kernel_set

        kernels = kernel_set.warm_kernels()
        if not kernels.notes:
            logger.info("kernels are compiled")
        notes = kernel_set.warm_all_kernels().notes
    except Exception:
        logger.exception("kernels could not be compiled; recall stays on the slower NumPy path")
    else:
        for note in notes:
            logger.warning("%s", note)


def _load_model(handle: MemoryHandle) -> None:
    try:
        handle.get().load_model()
    except Exception:
        logger.debug("loading the model failed", exc_info=True)  # the first recall says it


def _recall_nothing(handle: MemoryHandle) -> None:
    """Build the columns and load the model."""
    try:
        for note in handle.get().recall("warm-up", agent_id="warm-up", limit=0).degraded:
            logger.info("degraded: %s", note)
    except CPersonaError as error:
        if not handle.closed:
            logger.warning("the memory is not ready: %s", error)
    except Exception:
        if not handle.closed:
            logger.exception("the first recall failed")
