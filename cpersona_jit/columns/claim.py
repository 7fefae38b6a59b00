"""Writing a file beside a store: one writer at a time, and the file appears whole or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not POSIX: two processes may write, the last one's file stays
    fcntl = None


# Whoever only removes what was left behind holds it for an instant.
PATIENCE = (0.01, 0.05, 0.2)


@contextmanager
def claimed(path: str, patience: Sequence[float] = ()) -> Iterator[BinaryIO | None]:
    """Open an empty file for writing, for its owner only; None while another process writes it.

    What a process that was killed left behind is overwritten. The file is removed in the end unless
    it was moved to another name.

    Parameters
    ----------
    path : str
        Name of the unfinished file.
    patience : sequence of float
        Seconds to wait before each further try.
    """
    file = _claim(path, patience)
    if file is None:
        yield None
        return
    with file:
        os.truncate(file.fileno(), 0)
        try:
            yield file
        finally:
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    os.unlink(path)


def _claim(path: str, patience: Sequence[float]) -> BinaryIO | None:
    for pause in (0.0, *patience):
        time.sleep(pause)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        file = os.fdopen(descriptor, "r+b", buffering=0)
        if _is_ours(file, path):
            return file
        file.close()
    return None


def _is_ours(file: BinaryIO, path: str) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    # Between opening and locking another process may have finished it and moved it to its place.
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    return False


def sync_folder(path: str) -> None:
    """Bring the names in the folder of a file down to the disk, where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
