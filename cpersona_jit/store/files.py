"""The file of a store as the file system sees it, before SQLite does."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from cpersona_jit.errors import (
    NotAStoreError,
    ReadOnlyStoreError,
    StoreError,
    StoreFullError,
    UsageError,
)

_CREATE_ERRORS: dict[int | None, type[StoreError]] = {
    errno.EACCES: ReadOnlyStoreError,
    errno.EPERM: ReadOnlyStoreError,
    errno.EROFS: ReadOnlyStoreError,
    errno.ENOSPC: StoreFullError,
    errno.EDQUOT: StoreFullError,
}


def resolve(path: str | os.PathLike[str]) -> Path:
    """Absolute name of the file, links followed.

    Raises
    ------
    UsageError
        No name of a file: empty, bytes, or SQLite's ``:memory:``.
    StoreError
        Not a name the file system could hold.
    """
    text = os.fspath(path) if isinstance(path, str | bytes | os.PathLike) else path
    if not isinstance(text, str) or text in ("", ":memory:"):
        raise UsageError(f"path {text!r}: a store is a file; give the name of one")
    try:
        return Path(os.path.realpath(text))
    except (OSError, ValueError) as error:
        raise StoreError(f"{text!a}: this cannot be a file name ({error})") from error


def is_present(file: Path) -> bool:
    """Whether there is a file; a folder, a pipe or a file of another format is refused.

    Raises
    ------
    NotAStoreError, StoreError
    """
    try:
        status = file.stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise StoreError(f"{file}: cannot be reached ({_cause(error)})") from error
    if stat.S_ISDIR(status.st_mode):
        raise NotAStoreError(f"{file}: this is a folder; give the name of a file")
    if not stat.S_ISREG(status.st_mode):
        raise NotAStoreError(f"{file}: this is not a regular file")
    # Never open the file here: closing it would drop the locks that SQLite holds on it for another
    # connection of this process. SQLite itself refuses what is not a database, except that it
    # takes a file of one byte for an empty one.
    if status.st_size == 1:
        raise NotAStoreError(f"{file}: this is not a SQLite database")
    return True


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def create_empty(file: Path) -> None:
    """Make the empty file, for its owner only; SQLite would give it the process's permissions.

    Raises
    ------
    ReadOnlyStoreError, StoreFullError, StoreError
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if not file.exists():
            raise StoreError(f"{file}: cannot be created; its folder is a file") from None
        # Else another process made it first: it is opened like any other.
    except OSError as error:
        kind = _CREATE_ERRORS.get(error.errno, StoreError)
        raise kind(f"{file}: cannot be created ({error.strerror})") from error
