"""Freezing among other processes: one run at a time for a pool, and workers without Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def only_freezer(pool_dir: Path, progress: Callable[[str, int, int], None]) -> Iterator[None]:
    """Hold the lock of a pool, waiting for another run that freezes it.

    The operating system gives the lock back when its holder ends, however it ends; the empty
    file ``<pool>.lock`` beside the pool stays.

    Parameters
    ----------
    pool_dir : Path
        Folder of the pool; the folder it is in exists.
    progress : callable
        Told that the run waits.
    """
    lock = FileLock(pool_dir.with_name(pool_dir.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress("wait for another run to freeze", 0, 1)
        lock.acquire()
        progress("wait for another run to freeze", 1, 1)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C for a moment: processes that are started in it ignore it for good.

    A terminal sends it to every process of the run. The run ends its workers itself; each of them
    would otherwise print where it was.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does, and only it gets any
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
