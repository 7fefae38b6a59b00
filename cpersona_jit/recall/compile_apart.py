"""Compiling kernels in processes of their own: on more than one core, beside whoever waits.

Numba compiles one kernel at a time and holds the interpreter's lock for more than half of it. What
a child compiles lies in the folder of kept kernels afterwards, where this process loads it within
milliseconds. A child that fails costs nothing but its time: what is not there is compiled here.
"""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from cpersona_jit.kernels.cores import usable_cores

logger = logging.getLogger(__name__)

# Parts of what `kernel_calls` calls, each about as long to compile as the others of its set.
FIRST, LATE = ("grams", "evidence"), ("large scopes", "row fusion")
_PATIENCE_SECONDS = 120
_ROOT = Path(__file__).resolve().parent.parent.parent

_lock = threading.Lock()
_children: dict[str, subprocess.Popen] = {}


def start_compiling(parts: Iterable[str]) -> None:
    """Let a child compile each of some parts that no process has compiled yet.

    Returns at once. Nothing is started on a single core, where kernels are not kept, or where this
    interpreter cannot be started again.

    Parameters
    ----------
    parts : iterable of str
        Some of ``FIRST`` and ``LATE``. Each is started once in the life of a process.
    """
    if not _can_start():
        return
    with _lock:
        for part in parts:
            if part not in _children and not _is_kept(part):
                _start(part)


def finish_compiling(parts: Iterable[str]) -> None:
    """Wait for the children of some parts, those that were started."""
    for part in parts:
        child = _children.get(part)
        if child is None:
            continue
        try:
            status = child.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            status = child.wait()
        if status:
            logger.debug("compiling the part %r apart ended with status %s", part, status)


def _can_start() -> bool:
    from numba.core import config

    from cpersona_jit.kernels.compiled import kernel_folder

    again = bool(sys.executable) and not getattr(sys, "frozen", False)
    return again and usable_cores() > 1 and not config.DISABLE_JIT and kernel_folder() is not None


def _is_kept(part: str) -> bool:
    """Whether the kernel that a part calls last is in the folder, for the sources as they are."""
    from cpersona_jit.kernels.compiled import folder_of
    from cpersona_jit.recall.kernel_calls import LAST_COMPILED

    module, function = LAST_COMPILED[part]
    folder = folder_of(_ROOT / "cpersona_jit" / "kernels" / f"{module}.py")
    return folder is not None and any(folder.glob(f"*/{module}.{function}-*.nbc"))


def _start(part: str) -> None:
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        _children[part] = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, part],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # that of a server belongs to its client
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        logger.debug("the part %r is not compiled apart: %s", part, error)


def _compile(part: str) -> None:
    """Compile one part; what a child does."""
    from cpersona_jit.recall.kernel_calls import CALLS
    from cpersona_jit.recall.kernel_set import compiled_kernels

    gc.disable()  # a tenth of the time, for some more memory in a process that ends soon
    CALLS[part](compiled_kernels())


if __name__ == "__main__":
    _compile(sys.argv[1])
