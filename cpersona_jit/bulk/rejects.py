"""The list of everything that was not stored, as a file of JSON Lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from typing import Any, BinaryIO

from cpersona_jit.bulk.report import Told
from cpersona_jit.errors import ImportFileError


class Rejects(AbstractContextManager):
    """A file with a line per rejected record: its number, the reason and the detail.

    When an interrupted import goes on, it is cut back to the end of the last batch that was stored.

    Parameters
    ----------
    path : str, path or None
        None writes nothing.
    place : dict, optional
        `place` of the run that was interrupted: what it wrote into the same file is kept.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, place: dict[str, Any] | None = None
    ) -> None:
        self._file: BinaryIO | None = None
        self._path = None if path is None else os.path.abspath(path)
        if path is None:
            return
        kept = place["bytes"] if place and place["file"] == self._path else 0
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            self._file = os.fdopen(descriptor, "r+b")
            with suppress(OSError):  # a pipe has no end to be cut at
                self._file.truncate(min(kept, os.fstat(descriptor).st_size))
                self._file.seek(0, os.SEEK_END)
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None) or error
            raise ImportFileError(f"{os.fspath(path)!r} cannot be written ({cause})") from error

    @property
    def place(self) -> dict[str, Any]:
        """The file and how much is in it, as JSON values."""
        written = self._file is not None and self._file.seekable()
        return {"file": self._path, "bytes": self._file.tell() if written else 0}

    def write(self, told: Iterable[Told]) -> None:
        """Write those that are rejected; with the call's end they are in the file."""
        if self._file is None:
            return
        for one in told:
            if one.status == "rejected":
                line = {"number": one.number, "reason": one.reason, "detail": one.detail}
                self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self._file.flush()

    def __exit__(self, *exc_info: Any) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
