"""The file that an import reads: opened, told apart, and identified by all of its bytes."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cpersona_jit.errors import ImportFileError, UsageError

_HASHED_AT_ONCE = 4 * 2**20
_MAGIC = {
    b"\x1f\x8b": "gzip: unpack it first",
    b"\x28\xb5\x2f\xfd": "zstd: unpack it first",
    b"PK\x03\x04": "zip: unpack it first",
    b"SQLite format 3\0": "a SQLite database",
    b"ARROW1": "an Arrow file",
}


class Source(NamedTuple):
    """An open file.

    Attributes
    ----------
    stream : binary file
        At its beginning.
    is_parquet : bool
        Otherwise it is JSON Lines.
    size : int or None
        In bytes; None for a stream that ends when it ends, which cannot be read twice.
    """

    stream: BinaryIO
    is_parquet: bool
    size: int | None

    def is_file(self, path: str | os.PathLike[str]) -> bool:
        """Whether a path names this very file."""
        try:
            return os.path.samestat(os.stat(path), os.fstat(self.stream.fileno()))
        except (OSError, ValueError):
            return False


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Source]:
    """Open a file to import; ``-`` is stdin.

    Raises
    ------
    UsageError
        There is no such file, or it is of a kind that is not read.
    ImportFileError
        It cannot be read.
    """
    if os.fspath(path) == "-":
        yield _source(sys.stdin.buffer, "stdin")
        return
    name = repr(os.fspath(path))
    try:
        stream = Path(path).open("rb", buffering=2**20)  # noqa: SIM115 closed below
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise UsageError(f"{name} cannot be imported ({cause})") from error
    except OSError as error:
        raise ImportFileError(f"{name} cannot be read ({error.strerror})") from error
    with stream:
        yield _source(stream, name)


def _source(stream: BinaryIO, name: str) -> Source:
    start = stream.peek(16)[:16]  # type: ignore[attr-defined]
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            raise UsageError(f"{name} is {kind}; allowed: JSON Lines or Parquet")
    is_parquet = start.startswith(b"PAR1")
    if not is_parquet and name.lower().rstrip("'").endswith(".parquet"):
        raise UsageError(f"{name} is no Parquet file, as its name says; allowed: one that is")
    status = os.fstat(stream.fileno())
    size = status.st_size if stat.S_ISREG(status.st_mode) and stream.seekable() else None
    if is_parquet and size is None:
        raise UsageError(f"{name} is Parquet from a pipe; allowed: JSON Lines, or a Parquet file")
    return Source(stream, is_parquet, size)


def import_key(
    source: Source, options: Mapping[str, Any], progress: Callable[[int], None]
) -> str | None:
    """Return what identifies an import: the bytes of the file, and all that says how to read it.

    Parameters
    ----------
    source : Source
        Is at its beginning again afterwards.
    options : mapping
        JSON values.
    progress : callable
        Called with the number of bytes read so far.

    Returns
    -------
    str or None
        64 hex digits; None for a stream that cannot be read twice.
    """
    if source.size is None:
        return None
    digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode())
    done = 0
    while done < source.size:
        part = source.stream.read(min(_HASHED_AT_ONCE, source.size - done))
        if not part:
            break
        digest.update(part)
        done += len(part)
        progress(done)
    source.stream.seek(0)
    return digest.hexdigest()
