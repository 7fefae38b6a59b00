"""Which file an export may write: never the store it was read from, never a pipe or a device."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cpersona_jit.errors import CPersonaError, ExportError, UsageError

# SQLite's own files beside a store: replacing one loses rows as surely as replacing the store. The
# file of columns would be lost itself.
_STORE_SUFFIXES = ("", "-wal", "-shm", "-journal", "-columns", "-columns.tmp")

# The name itself is wrong; every other error is the disk's or the permissions'.
_BAD_NAME = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP)


@contextmanager
def whole_file(path: str | os.PathLike[str], store: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a file to write, which becomes `path` when the block ends well.

    Yields
    ------
    str
        A file beside the target, readable by its owner only.

    Raises
    ------
    UsageError
        No such file can be written; see `refuse_target`.
    ExportError
        Writing failed (full disk, no permission); an older file is as it was.
    """
    target = Path(path)
    try:
        refuse_target(path, store)
        # Beside the target, under a name that nobody else uses.
        descriptor, temporary = tempfile.mkstemp(prefix=".export-", dir=target.parent)
        os.close(descriptor)
        try:
            yield temporary
            os.replace(temporary, target)
        finally:
            with suppress(FileNotFoundError):  # after a success it has its final name
                os.unlink(temporary)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise _write_error(path, error) from error


def _write_error(path: str | os.PathLike[str], error: OSError | ValueError) -> CPersonaError:
    cause = getattr(error, "strerror", None) or error
    bad_name = not isinstance(error, OSError) or error.errno in _BAD_NAME
    kind = UsageError if bad_name else ExportError
    return kind(f"{os.fspath(path)!r} cannot be written ({cause})")


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
