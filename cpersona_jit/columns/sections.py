"""A file of arrays: a header that names them, and each with a checksum of its own.

::

    0   magic, 16 bytes
    16  uint32 in the writer's byte order: byte order mark, layout, length and CRC of the header
    32  header, JSON: the file's size, what the writer says about it, and of each array its name,
        type, shape, room (places in all, those behind the shape are free), offset and CRC
    ..  the arrays, each at a multiple of 4,096 bytes from the end of the header

A file is mapped copy-on-write: arrays are written to like any other, in memory alone.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

MAGIC = b"cpersona-jit/col"
LAYOUT = 1
_MARK = 0x01020304
_PREFIX = struct.Struct("=IIII")
_HEADER_AT = len(MAGIC) + _PREFIX.size
_LARGEST_HEADER = 1 << 24
_PAGE = 4096


class UnusableFileError(Exception):
    """A file of arrays that says nothing, with the reason; it is made again."""


class Sections(NamedTuple):
    """What a file of arrays holds."""

    about: dict[str, Any]
    arrays: dict[str, np.ndarray]
    room: dict[str, np.ndarray]  # the arrays with the free places behind them


def write_sections(
    file: BinaryIO,
    about: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    room: Mapping[str, int],
) -> None:
    """Write arrays from the beginning of an empty file, down to the disk.

    Parameters
    ----------
    file : binary file
        Open for writing; without buffering nothing is copied.
    about : mapping
        What JSON can hold.
    arrays : mapping of str to ndarray
        By name.
    room : mapping of str to int
        Places to keep for an array in its file, where they are more than it has.
    """
    listed, at = [], 0
    for name, array in arrays.items():
        places = max(room.get(name, 0), array.shape[0])
        crc = zlib.crc32(_bytes(array))
        listed.append([name, array.dtype.str[1:], list(array.shape), places, at, crc])
        at = _aligned(at + places * _row_bytes(array.dtype, array.shape))
    start, header = 0, b""
    while start != _aligned(_HEADER_AT + len(header)):  # the size is a part of the header
        start = _aligned(_HEADER_AT + len(header))
        told = {"size": start + at, "about": dict(about), "arrays": listed}
        header = json.dumps(told).encode()
    file.write(MAGIC + _PREFIX.pack(_MARK, LAYOUT, len(header), zlib.crc32(header)) + header)
    for (*_, offset, _), array in zip(listed, arrays.values(), strict=True):
        file.seek(start + offset)
        _write_all(file, _bytes(array))
    file.truncate(start + at)
    os.fsync(file.fileno())


def read_sections(path: str | os.PathLike[str], *, check: bool = True) -> Sections:
    """Map a file of arrays, and check every byte that means something.

    Parameters
    ----------
    path : str or path
        The file.
    check : bool
        False trusts the arrays themselves.

    Raises
    ------
    UnusableFileError
        It is not such a file, not whole, not of this machine, or not as it was written.
    OSError
        It cannot be read.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = _header(file)
        if header["size"] != size:
            raise UnusableFileError(f"it has {size} bytes of {header['size']}")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    arrays, room = {}, {}
    for name, kind, shape, places, offset, crc in header["arrays"]:
        dtype = np.dtype(kind)
        values = np.frombuffer(
            mapped, dtype, places * _row_bytes(dtype, shape) // dtype.itemsize, offset
        )
        room[name] = values.reshape(places, *shape[1:])
        arrays[name] = room[name][: shape[0]]
        if check and zlib.crc32(_bytes(arrays[name])) != crc:
            raise UnusableFileError(f"the checksum of its part {name!r} is wrong")
    if hasattr(mmap, "MADV_DONTNEED"):
        # Checking read all of it; what no recall looks at need not stay in this process's memory.
        mapped.madvise(mmap.MADV_DONTNEED)
    return Sections(header["about"], arrays, room)


def _header(file: BinaryIO) -> dict[str, Any]:
    beginning = file.read(_HEADER_AT)
    if beginning[: len(MAGIC)] != MAGIC:
        raise UnusableFileError("it does not begin like a file of columns")
    if len(beginning) < _HEADER_AT:
        raise UnusableFileError("its header is cut off")
    mark, layout, length, crc = _PREFIX.unpack_from(beginning, len(MAGIC))
    if mark != _MARK:
        raise UnusableFileError("it is from a machine of another byte order")
    if layout != LAYOUT:
        raise UnusableFileError(f"it has layout {layout}; this version reads layout {LAYOUT}")
    header = file.read(min(length, _LARGEST_HEADER))
    if len(header) < length:
        raise UnusableFileError("its header is cut off")
    if zlib.crc32(header) != crc:
        raise UnusableFileError("the checksum of its header is wrong")
    told = json.loads(header)
    start = _aligned(_HEADER_AT + length)
    for one in told["arrays"]:
        one[4] += start
    return told


def _bytes(array: np.ndarray) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _row_bytes(dtype: np.dtype, shape: tuple | list) -> int:
    return dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64))


def _aligned(at: int) -> int:
    return -(-at // _PAGE) * _PAGE


def _write_all(file: BinaryIO, data: memoryview) -> None:
    while data:  # a raw file may take less than it is given
        data = data[file.write(data) :]
