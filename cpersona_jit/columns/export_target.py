"""Which file an export may write: never the store it was read from, never a pipe or a device."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cpersona_jit.errors import UsageError

# SQLite's own files beside a store: replacing one loses rows as surely as replacing the store. The
# file of columns would be lost itself.
_STORE_SUFFIXES = ("", "-wal", "-shm", "-journal", "-columns", "-columns.tmp")


def refuse_target(target: str | os.PathLike[str], store: str | os.PathLike[str]) -> None:
    """Refuse a target that must not be replaced, before anything is written.

    Parameters
    ----------
    target : str or path
        The file to write.
    store : str or path
        The store that the columns come from.

    Raises
    ------
    UsageError
        The target is one of the store's own files, by whatever name or link, or it exists and is
        not a regular file.
    OSError
        The target cannot be looked at.
    """
    real_store = os.path.realpath(store)
    for suffix in _STORE_SUFFIXES:
        own = real_store + suffix
        if _is_same(target, own):
            raise UsageError(
                f"{os.fspath(target)!r} is a file of the store itself ({own}); export to another "
                "file"
            )
    try:
        mode = Path(target).stat().st_mode  # a Path, as it is written: "" is the current folder
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise UsageError(
            f"{os.fspath(target)!r} exists and is not a regular file; only a regular file is "
            "replaced"
        )


def _is_same(target: str | os.PathLike[str], own: str) -> bool:
    # By name for a log that SQLite has not made yet, by inode for hard links and file systems
    # that know a file under several spellings.
    if os.path.normcase(os.path.realpath(target)) == os.path.normcase(own):
        return True
    try:
        return os.path.samefile(target, own)
    except FileNotFoundError:
        return False
