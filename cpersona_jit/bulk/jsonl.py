"""Reading JSON Lines: UTF-8, one object a line, in the memory of one line.

A byte order mark at the beginning, CRLF line ends and blank lines are no mistakes.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

from cpersona_jit.bulk.fields import Item, Unreadable, VectorReader, read_record
from cpersona_jit.errors import UsageError, shown

MAX_LINE = 4 * 2**20
_WIDE = ((codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF16_LE, "UTF-16"),
         (codecs.BOM_UTF32_BE, "UTF-32"), (codecs.BOM_UTF16_BE, "UTF-16"))  # fmt: skip


class _DuplicateKeyError(ValueError):
    """A JSON object has a key twice; `json` alone would keep the last value in silence."""


class JsonLines:
    """The records of a stream of JSON Lines.

    Parameters
    ----------
    stream : binary file
        At its beginning, or wherever `start` says.
    read_vector : callable
        See :func:`cpersona_jit.bulk.fields.read_record`.
    defaults : mapping
        Likewise.
    ignored : collection of str
        Fields to leave out.
    start : int
        Offset in bytes to go on from: an `end` of an earlier run.
    lines : int
        Lines before it.
    size : int or None
        Read no further than this offset; None reads to the end.

    Attributes
    ----------
    number : int
        Lines read so far.
    """

    def __init__(
        self,
        stream: BinaryIO,
        read_vector: VectorReader,
        defaults: Mapping[str, str],
        ignored: Collection[str] = (),
        start: int = 0,
        lines: int = 0,
        size: int | None = None,
    ) -> None:
        self._stream, self._read_vector, self._defaults = stream, read_vector, defaults
        self._ignored, self._size = tuple(ignored), size
        self._end, self.number = start, lines

    def __iter__(self) -> Iterator[Item]:
        """Yield an item per line that is not blank."""
        if self._end:
            self._stream.seek(self._end)
        for line in self._lines():
            item = self._item(line)
            if item is not None:
                yield item

    def _lines(self) -> Iterator[bytes | Unreadable]:
        while True:
            line = self._stream.readline(MAX_LINE + 1)
            if not line or (self._size is not None and self._end >= self._size):
                return
            first = self.number == 0
            self._end += len(line)
            self.number += 1
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                yield self._rest_of_long_line(len(line))
                continue
            yield _without_mark(line) if first else line

    def _rest_of_long_line(self, length: int) -> Unreadable:
        while part := self._stream.readline(MAX_LINE):
            length += len(part)
            self._end += len(part)
            if part.endswith(b"\n"):
                break
        return Unreadable(
            "line_too_long", f"the line has {length:,} bytes; at most {MAX_LINE:,} are allowed"
        )

    def _item(self, line: bytes | Unreadable) -> Item | None:
        number, end = self.number, self._end
        if isinstance(line, Unreadable):
            return Item(number, end, line)
        if line.isspace() or not line:
            return None
        fields = _object(line)
        if isinstance(fields, Unreadable):
            return Item(number, end, fields)
        for name in self._ignored:
            fields.pop(name, None)
        return read_record(number, end, fields, self._defaults, self._read_vector)


def _without_mark(line: bytes) -> bytes:
    for mark, name in _WIDE:
        if line.startswith(mark):
            raise UsageError(f"the file is {name}; allowed: UTF-8")
    return line.removeprefix(codecs.BOM_UTF8)


def _object(line: bytes) -> dict[str, Any] | Unreadable:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return Unreadable(
            "not_utf8", f"byte {error.start} of the line is {line[error.start]:#04x}: not UTF-8"
        )
    try:
        value = _decode(text)
    except _DuplicateKeyError as error:
        return Unreadable("duplicate_key", f"{error} is given twice in the line")
    except RecursionError:
        return Unreadable("invalid_json", "the line is nested too deeply")
    except ValueError as error:
        return Unreadable(
            "invalid_json", f"the line is not JSON ({shown(error)}): {shown(text.strip(), 40)!r}"
        )
    if not isinstance(value, dict):
        kind = type(value).__name__
        return Unreadable(
            "not_an_object",
            f"the line is {shown(text.strip(), 40)!r} ({kind}); allowed: a JSON object",
        )
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _DuplicateKeyError(repr(shown(twice, 60)))
    return found


_decode = json.JSONDecoder(object_pairs_hook=_unique).decode
