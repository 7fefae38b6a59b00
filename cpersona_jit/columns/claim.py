"""Writing a file beside a store: one writer at a time, and the file appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not POSIX: two processes may write, the last one's file stays
    fcntl = None


@contextmanager
def claimed(path: str) -> Iterator[BinaryIO | None]:
    """Open an empty file for writing, for its owner only; None while another process writes it.

    What a process that was killed left behind is overwritten. The file is removed in the end unless
    it was moved to another name.

    Parameters
    ----------
    path : str
        Name of the unfinished file.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    with open(descriptor, "r+b", buffering=0) as file:
        if not _is_ours(file, path):
            yield None
            return
        os.truncate(descriptor, 0)
        try:
            yield file
        finally:
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    os.unlink(path)


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
